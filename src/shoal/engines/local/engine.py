"""The local engine: files, databases and frames, read and written by Polars."""

from __future__ import annotations

from pathlib import Path

from shoal.core.spreadsheet import is_guarded
from shoal.engines.base import Output
from shoal.engines.local.records import open_written
from shoal.engines.local.source import open_source
from shoal.engines.local.table import LocalTable
from shoal.formats.endings import format_to_write


class LocalEngine:
    """Works on this machine."""

    name = "local"

    def check_output(self, output: Output) -> None:
        """Refuse a place that cannot be written, before any work is done."""
        kind = None if output.file is None else format_to_write(Path(output.file))
        is_guarded(kind, output.spreadsheet_safe, where=str(output.file or "table"))

    def open(self, table: object, *, separator: str | None = None) -> LocalTable:
        """Open a path, a CsvFile, a Database or a frame."""
        return LocalTable(open_source(table, separator=separator))

    def open_release(self, table: object, *, separator: str | None = None) -> LocalTable:
        """Open a table that is probably sorted by its values."""
        return LocalTable(open_written(table, separator))
