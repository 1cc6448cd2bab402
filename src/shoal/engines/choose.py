"""Which engine a table belongs to: the only place that asks what kind a table is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.formats.spark_table import SparkTable

if TYPE_CHECKING:
    from shoal.engines.base import Engine


def engine_for(table: object) -> Engine:
    """Return the engine of a table; Spark is loaded only if the table is Spark's.

    Raises:
        MissingExtraError, InputError: it is Spark's, and there is no PySpark or no Java.
    """
    if isinstance(table, SparkTable) or type(table).__module__.startswith("pyspark."):
        from shoal.engines.spark.session import require

        require()
        from shoal.engines.spark.engine import SparkEngine

        return SparkEngine()
    from shoal.engines.local.engine import LocalEngine

    return LocalEngine()
