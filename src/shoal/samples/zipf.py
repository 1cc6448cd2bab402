"""Tables whose columns follow a Zipf distribution ([lim2018], section IV-C)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shoal.core.errors import MethodError
from shoal.samples.writer import (
    Progress,
    SampleFiles,
    check_numbers,
    chunk_sizes,
    place,
    write_sample,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_SCHEMA = """\
# {attributes} columns of numbers from 0 to {last}, drawn from a Zipf distribution with
# exponent {exponent}: 0 is uniform; the larger it is, the more records share a value.
# {records} records, seed {seed}. All columns are independent of each other.
version: 1

columns:
{columns}

others: drop

# A strict promise: nothing may be suppressed. With many columns and a small exponent
# almost every record is unique; a limit of 0.05 or so then saves much detail.
privacy:
  - {{model: k-anonymity, k: 3}}
  - {{model: l-diversity, l: {l}, column: {sensitive}}}

suppression_limit: 0.0
"""


def zipf(
    out: str | os.PathLike[str],
    records: int = 10_000,
    *,
    seed: int = 0,
    attributes: int = 16,
    exponent: float = 1.0,
    values: int = 16,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SampleFiles:
    """Write a table of independent Zipf-distributed columns to `out`, and its schema beside it.

    The columns are a01, a02, …; all are quasi-identifiers but the last, which is sensitive.
    Each holds the numbers 0 … values − 1. Which number is the most frequent one differs from
    column to column, so that the order of the numbers says nothing about their frequency.

    Args:
        out: the table; .csv, .csv.gz, .parquet, .jsonl or .arrow.
        records: number of rows, at least 1; memory does not grow with it.
        seed: chooses the table.
        attributes: number of columns, at least 2.
        exponent: s of P(rank r) ∝ r^−s; 0 is uniform. The Adult table fits about 1.
        values: distinct values of a column. 16 gives a ladder of three levels, four to a group.
        overwrite: replace files that are there already.
        progress: called with the number of rows made so far.

    Guarantee:
        The same arguments give the same bytes, for any number of threads.

    Raises:
        MethodError: an argument is not a number that can be meant.
        OutputError: a file exists already, or the place cannot be written to.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = zipf(f"{folder}/z.csv", records=2, seed=1, attributes=3)
        ...     files.table.read_text().splitlines()[0]
        'a01,a02,a03'
    """
    check_numbers(
        records=(records, 1, 2**40),
        seed=(seed, 0, 2**63),
        attributes=(attributes, 2, 1000),
        values=(values, 2, 1_000_000),
    )
    _check_exponent(exponent)
    names = column_names(attributes)
    files = place(out)
    schema = _schema_text(names, records, seed=seed, exponent=exponent, values=values)
    return write_sample(
        files,
        frames(names, records, seed=seed, exponent=exponent, values=values),
        texts={files.schema: schema},
        overwrite=overwrite,
        progress=progress,
    )


def column_names(attributes: int) -> list[str]:
    """Return the names of the columns.

    Example:
        >>> column_names(16)[0], column_names(16)[-1], column_names(100)[0]
        ('a01', 'a16', 'a001')
    """
    width = max(2, len(str(attributes)))
    return [f"a{number:0{width}}" for number in range(1, attributes + 1)]


def probabilities(values: int, exponent: float) -> NDArray[np.float64]:
    """Return the probability of each rank, the most frequent first.

    Example:
        >>> [round(float(p), 3) for p in probabilities(3, 1.0)]
        [0.545, 0.273, 0.182]
    """
    import numpy as np

    weights = np.arange(1, values + 1, dtype=np.float64) ** -exponent
    share: NDArray[np.float64] = weights / weights.sum()
    return share


def frames(
    names: list[str], records: int, *, seed: int, exponent: float, values: int
) -> Iterator[pl.DataFrame]:
    """Yield the table in chunks; each has a random stream of its own."""
    import numpy as np
    import polars as pl

    def stream(*key: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=key)))

    cumulative = np.cumsum(probabilities(values, exponent))
    cumulative /= cumulative[-1]  # exactly 1 at the end: no draw can fall behind the last rank
    shuffler = stream(0)
    numbers = {name: shuffler.permutation(values) for name in names}
    for chunk, rows in enumerate(chunk_sizes(records)):
        random = stream(1, chunk)
        yield pl.DataFrame(
            {
                name: numbers[name][np.searchsorted(cumulative, random.random(rows), side="right")]
                for name in names
            }
        )


def _check_exponent(exponent: float) -> None:
    if isinstance(exponent, bool) or not isinstance(exponent, int | float):
        raise MethodError(problem="exponent must be a number")
    if not (math.isfinite(exponent) and exponent >= 0):
        raise MethodError(problem="exponent must be 0 or more, and finite")


def _schema_text(names: list[str], records: int, *, seed: int, exponent: float, values: int) -> str:
    quasi = "{role: quasi, kind: numeric, hierarchy: {order: {fanout: 4}}}"
    lines = [f"  {name}: {quasi}" for name in names[:-1]]
    lines.append(f"  {names[-1]}: {{role: sensitive, kind: categorical}}")
    return _SCHEMA.format(
        attributes=len(names),
        last=values - 1,
        exponent=exponent,
        records=records,
        seed=seed,
        columns="\n".join(lines),
        l=min(3, values),
        sensitive=names[-1],
    )
