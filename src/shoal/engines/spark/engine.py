"""The engine on Spark: whatever PySpark reads, counted and written there."""

from __future__ import annotations

from shoal.core.errors import MethodError
from shoal.core.spreadsheet import is_guarded
from shoal.core.watch import watcher
from shoal.engines.base import Output
from shoal.engines.spark.session import running_tasks
from shoal.engines.spark.source import open_table
from shoal.engines.spark.table import TableOnSpark
from shoal.engines.spark.write import kind_of


class SparkEngine:
    """Works on a Spark cluster, or on Spark in this process."""

    name = "spark"

    def check_output(self, output: Output) -> None:
        """Refuse a place that cannot be written, before any work is done."""
        if output.keep_order:
            raise MethodError(problem="--keep-order needs the local engine; Spark sorts a release")
        if output.class_file is not None:
            raise MethodError(problem="--class-file needs the local engine: Spark keeps no order")
        if output.person_file is not None:
            raise MethodError(problem="--person-file needs the local engine: Spark keeps no order")
        if output.file is not None:
            is_guarded(kind_of(output.file), output.spreadsheet_safe, where=str(output.file))

    def open(self, table: object, *, separator: str | None = None) -> TableOnSpark:
        """Open a Spark DataFrame, or what a `SparkTable` names."""
        source = open_table(table, separator=separator)
        watcher().ask(lambda: running_tasks(source.session))
        return TableOnSpark(source)

    def open_release(self, table: object, *, separator: str | None = None) -> TableOnSpark:
        """Open a table that is probably sorted by its values."""
        return self.open(table, separator=separator)
