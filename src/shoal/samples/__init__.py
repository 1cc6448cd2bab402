"""Generated tables to try shoal on: no row describes a real person.

Importing this room is cheap; NumPy and Polars are loaded when a table is made.
"""

# The functions share their names with the modules they live in. Importing them here, at
# once, binds the names to the functions for good: a later `import shoal.samples.zipf`
# finds the module already loaded and leaves the name alone.
from shoal.samples.hospital import hospital
from shoal.samples.linked import LinkedSample, linked_hospital
from shoal.samples.writer import SampleFiles
from shoal.samples.zipf import zipf

__all__ = ["LinkedSample", "SampleFiles", "hospital", "linked_hospital", "zipf"]
