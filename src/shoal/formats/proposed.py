"""How a file seems to be meant, where nobody said so: encoding, lines above the header."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.formats.csv_file import CsvFile, proposed
from shoal.formats.endings import format_of
from shoal.formats.excel import proposed_excel


def proposed_reading(table: object) -> object:
    """Return how a file seems to be meant; what is no CSV file stays what it is."""
    if isinstance(table, (str, os.PathLike)) and not isinstance(table, CsvFile):
        table = CsvFile(Path(table))
    if not isinstance(table, CsvFile):
        return table
    kind = format_of(Path(table))
    if kind == "xlsx":
        return proposed_excel(table)
    return proposed(table) if kind.startswith("csv") else table
