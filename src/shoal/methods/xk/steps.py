"""The seven steps of [brown2019], each a function of its own.

    1 unify            empty marks become one missing value
    2 diversify        pairs that are not diverse are removed, or their sensitive cell blanked
    3 generalize       one column climbs a step of its hierarchy in pairs under xk
    4 suppress_cells   one column is suppressed in pairs still under xk
    5 fill             pairs of xk … k-1 records get false records; smaller ones are marked
    6 suppress         what is marked is removed
    7 confirm          nothing is left to change

Steps 2 to 6 take rows and return new ones; none alters what it was given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.methods.xk.candidates import PairCounts
from shoal.methods.xk.rows import (
    BLANK,
    GENERALIZED,
    SUPPRESSED,
    Pairs,
    Rows,
    diversity_of,
    pairs_of,
)

EMPTY_MARKS = ("", "-", "NA")
"""What [brown2019] reads as "no information given"."""


def unify(values: Sequence[str | None], marks: Collection[str] = EMPTY_MARKS) -> list[str | None]:
    """Step 1: replace every mark of an empty cell by the missing value, None.

    Example:
        >>> unify(["F", " - ", "NA", "", None])
        ['F', None, None, None, None]
    """
    known = {mark.strip() for mark in marks}
    return [None if value is None or value.strip() in known else value for value in values]


def diversify(rows: Rows, diversity: Mapping[str, int], *, blank: bool = False) -> Rows:
    """Step 2: see to it that every pair has l different values in each sensitive column.

    Columns are taken one after another.

    Args:
        rows: the table.
        diversity: l for each sensitive column.
        blank: blank the sensitive cells of a pair that is not diverse, and keep its records.
    """
    kept, sensitive = rows.kept.copy(), rows.sensitive.copy()
    for name, wanted in diversity.items():
        column = rows.sensitive_names.index(name)
        now = replace(rows, kept=kept.copy())
        poor = _poor(now, column, wanted)
        if blank:
            sensitive[poor, column] = BLANK
        else:
            kept[poor] = False
    return replace(rows, kept=kept, sensitive=sensitive)


def undiverse_pairs(rows: Rows, diversity: Mapping[str, int]) -> PairCounts:
    """Count the pairs that are not diverse in some sensitive column, by their size."""
    pairs = pairs_of(rows)
    poor = np.zeros(len(pairs.records), dtype=np.bool_)
    for name, wanted in diversity.items():
        poor |= diversity_of(rows, pairs, column=rows.sensitive_names.index(name)) < wanted
    return pairs.sizes(poor)


def _poor(rows: Rows, column: int, wanted: int) -> NDArray[np.bool_]:
    pairs = pairs_of(rows)
    poor = diversity_of(rows, pairs, column=column) < wanted
    return _in_pairs(pairs, poor)


def _in_pairs(pairs: Pairs, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows of the chosen pairs."""
    return np.append(chosen, False)[pairs.of_row]  # of_row -1 finds the False at the end


def generalize(rows: Rows, column: int, *, xk: int, places: Sequence[int] | None = None) -> Rows:
    """Step 3: one column of the pairs under xk climbs a step of its hierarchy.

    Args:
        rows: the table.
        column: the quasi-identifier to generalize.
        xk: pairs with this many records (or persons) are left alone.
        places: the quasi-identifiers that make a pair; all of them if None.
    """
    spec = rows.columns[column]
    return _recoded(rows, column, spec.up[rows.codes[:, column]], xk=xk, places=places)


def suppress_cells(
    rows: Rows, column: int, *, xk: int, places: Sequence[int] | None = None
) -> Rows:
    """Step 4: one column of the pairs under xk is suppressed. Arguments as in `generalize`."""
    star = np.full(len(rows.counts), rows.columns[column].star, dtype=np.int32)
    return _recoded(rows, column, star, xk=xk, places=places)


def _recoded(
    rows: Rows,
    column: int,
    goal: NDArray[np.int32],
    *,
    xk: int,
    places: Sequence[int] | None,
) -> Rows:
    pairs = pairs_of(rows, places)
    changed = _in_pairs(pairs, pairs.people < xk) & (goal != rows.codes[:, column])
    codes, cells = rows.codes.copy(), rows.cells.copy()
    codes[changed, column] = goal[changed]
    # A group that is the whole column tells nothing: such a cell counts as suppressed.
    is_star = goal == rows.columns[column].star
    cells[changed, column] = np.where(is_star, SUPPRESSED, GENERALIZED)[changed]
    return replace(rows, codes=codes, cells=cells)


def fill(rows: Rows, *, k: int, xk: int, random: np.random.Generator) -> Rows:
    """Step 5: fill pairs of xk … k-1 records up to k with false records; mark smaller ones.

    A false record is a copy of one of the pair's original records, each as likely as the
    others, with all its columns. So a pair that is diverse stays diverse. Where persons are
    counted, each false record is a made-up person of its own, and the pair lacks persons.
    """
    pairs = pairs_of(rows)
    small = pairs.people < xk
    lacking = np.where(small, 0, np.maximum(k - pairs.people - pairs.false, 0))
    false = rows.false + _copies(rows, pairs, lacking=lacking, random=random)
    return replace(rows, false=false, marked=_in_pairs(pairs, small))


def _copies(
    rows: Rows, pairs: Pairs, *, lacking: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Return how often each row is copied when every pair draws from its own records."""
    order = np.argsort(pairs.of_row, kind="stable")[np.count_nonzero(pairs.of_row < 0) :]
    upto = np.cumsum(rows.counts[order])
    starts = np.cumsum(pairs.records) - pairs.records
    drawn_by = np.repeat(np.arange(len(lacking)), lacking)
    drawn = starts[drawn_by] + random.integers(0, pairs.records[drawn_by])
    source = order[np.searchsorted(upto, drawn, side="right")]
    return np.bincount(source, minlength=len(rows.counts)).astype(np.int64)


def suppress(rows: Rows) -> Rows:
    """Step 6: remove the rows that are marked."""
    return replace(rows, kept=rows.kept & ~rows.marked, marked=np.zeros_like(rows.marked))


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What step 7 finds: how much is released, and what would still have to change."""

    pairs: int
    records: int
    small_pairs: int
    undiverse_pairs: int

    @property
    def holds(self) -> bool:
        """Say whether nothing is left to change."""
        return not self.small_pairs and not self.undiverse_pairs


def confirm(rows: Rows, *, k: int, diversity: Mapping[str, int]) -> Confirmation:
    """Step 7: count again, and find pairs that are too small or not diverse.

    A pair whose sensitive cells are all blanked has nothing left to tell, so it passes.
    """
    pairs = pairs_of(rows)
    sizes = pairs.people + pairs.false
    poor = np.zeros(len(sizes), dtype=np.bool_)
    for name, wanted in diversity.items():
        found = diversity_of(rows, pairs, column=rows.sensitive_names.index(name))
        poor |= (found < wanted) & (found > 0)
    return Confirmation(
        pairs=len(sizes),
        records=int((pairs.records + pairs.false).sum()),
        small_pairs=int((sizes < k).sum()),
        undiverse_pairs=int(poor.sum()),
    )
