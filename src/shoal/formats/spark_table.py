"""A table that Spark reads, named without Spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SparkTable:
    """A table to be read by Spark: say it once, and every job runs there.

    Attributes:
        place: a path or URL that Spark reads (.parquet, .csv, .csv.gz, .jsonl, .orc), `table:`
            and the name of a table in the catalogue, or a frame.
        master: where to run; None: the running session, or all cores of this machine.
        separator: of a CSV file; found out if None.
        driver_rows: distinct tuples that may be collected on the driver; a table with more of
            them is searched where it is.
    """

    place: object
    master: str | None = None
    separator: str | None = None
    driver_rows: int | None = None
