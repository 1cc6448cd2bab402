"""The audit trail of xk-anonymity: pairs and table after each step, as CSV files.

The files hold the data as they were before they were made safe. They are for the people who
may see the table itself: mode 0600, in a folder of their own, never beside the release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import reason
from shoal.core.errors import OutputError
from shoal.engines.local.write import all_or_nothing, write_frame
from shoal.methods.xk.rows import Rows, diversity_of, pairs_of


class StepTable(NamedTuple):
    """The records between two steps, which of them are false, and which are to be removed.

    people: who each record is about, where persons are counted; a false record is nobody's.
    """

    records: pl.DataFrame
    is_false: NDArray[np.bool_]
    is_marked: NDArray[np.bool_]
    people: pl.Series | None = None


@dataclass(frozen=True)
class StepFiles:
    """Writes two files a step: `<step>-pairs.csv` and `<step>-table.csv`."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> StepFiles:
        """Make the folder, or take an empty one.

        Raises:
            OutputError: it is a file, holds something, or cannot be made.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise OutputError(
                    where=str(folder),
                    problem="is not empty; name a new folder, so that no two runs are mixed",
                )
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(
                where=str(folder), problem=f"cannot be a folder of steps: {reason(error)}"
            ) from None
        return cls(folder)

    def write(self, name: str, rows: Rows, table: StepTable) -> None:
        """Write the pairs and the table after a step."""
        self._write(f"{name}-pairs.csv", pairs_frame(rows))
        self._write(f"{name}-table.csv", _marked(table))

    def _write(self, name: str, frame: pl.DataFrame) -> None:
        with all_or_nothing(self.folder / name, private=True) as temporary:
            write_frame(frame, temporary)


def pairs_frame(rows: Rows) -> pl.DataFrame:
    """Return the pairs with their records, false records and diversity, in their order."""
    pairs = pairs_of(rows)
    at = np.full(len(pairs.records), -1, dtype=np.int64)
    kept = np.flatnonzero(rows.kept)
    at[pairs.of_row[kept]] = kept  # any row of a pair shows its quasi-identifiers
    names = [column.name for column in rows.columns]
    columns = [
        pl.Series(column.name, [column.labels[code] for code in rows.codes[at, place]], pl.String)
        for place, column in enumerate(rows.columns)
    ]
    counts = {"records": pairs.records}
    if rows.persons is not None:
        counts["persons"] = pairs.people
    counts["false_records"] = pairs.false
    for place, name in enumerate(rows.sensitive_names):
        counts[f"diversity_{name}"] = diversity_of(rows, pairs, column=place)
    for label, numbers in counts.items():
        columns.append(pl.Series(_free(label, names), numbers))
        names.append(columns[-1].name)
    return pl.DataFrame(columns).sort(names[: len(rows.columns)], nulls_last=False)


def _marked(table: StepTable) -> pl.DataFrame:
    names = table.records.columns
    return table.records.with_columns(
        pl.Series(_free("is_false", names), table.is_false),
        pl.Series(_free("is_to_be_suppressed", names), table.is_marked),
    )


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that no column has."""
    known = set(taken)
    while name in known:
        name += "_"
    return name
