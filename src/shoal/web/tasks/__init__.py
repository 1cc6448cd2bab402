"""What a child process does for the page: a file a task, each with `run(asked, tell)`."""

from __future__ import annotations

NAMES = ("columns", "compare", "hierarchy", "infer", "lattice", "release", "risk", "rows")
"""The tasks that a child knows; each is a module of this folder."""
