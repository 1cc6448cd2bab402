"""What a carried-out plan did to a table, and whether it was foreseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.methods.xk.candidates import Prediction, fraction_name
from shoal.methods.xk.correlation import Correlations, correlations_of
from shoal.methods.xk.pipeline import Carried, Plan
from shoal.methods.xk.rows import BLANK, GENERALIZED, SUPPRESSED, Rows, pairs_of

FALSE_RECORDS = (
    "each false record copies all columns of a record of its pair, drawn at random; "
    "counts, sums and tests on the release include them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLoss:
    """Cells of released original records that no longer hold their value."""

    generalized: int = 0
    suppressed: int = 0
    blanked: int = 0

    @property
    def points(self) -> float:
        """Return the loss as [brown2019] counts it: half a point or a whole one a cell."""
        return self.generalized / 2 + self.suppressed + self.blanked


def precision(originals: int, added: int, *, columns: int, lost: CellLoss) -> float:
    """Return the precision of a release in percent.

    A cell of an original record counts 1, a generalized one a half, a suppressed one 0;
    false records count 0 and stand in the divisor.

    Example:
        >>> round(precision(28411, 10068, columns=20, lost=CellLoss(generalized=2420)), 4)
        73.6779
    """
    cells = (originals + added) * columns
    return 100 * (originals * columns - lost.points) / cells if cells else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The account of one carried-out plan.

    Attributes:
        technique: the paper's letters, such as GC.
        columns: cells of a released record.
        unmodified: original records released as they were.
        smallest_pair: records (or persons) of the smallest pair, false ones included.
        pairs_remaining: pairs of the release that the table had, too.
        fewest_originals: the smallest number of original records (or persons) in a pair.
        precision: over all released cells, in percent.
        quasi_precision: over the quasi-identifiers alone, in percent.
        data_loss: suppressed records, in percent of the records.
        cell_loss: lost cells, those of suppressed records included, in percent of all cells.
        column_loss: share of each quasi-identifier's cells that were lost, those of suppressed
            records included.
        prediction: what was foreseen for this threshold.
        persons: of the table, and those with a record in the release; None where records are
            persons.
    """

    k: int
    xk: int
    technique: str
    gradual: bool
    records: int
    columns: int
    originals: int
    unmodified: int
    added: int
    suppressed: int
    pairs_before: int
    pairs_after: int
    pairs_remaining: int
    smallest_pair: int
    fewest_originals: int
    lost: CellLoss
    precision: float
    quasi_precision: float
    data_loss: float
    cell_loss: float
    column_loss: Mapping[str, float]
    correlations: Correlations
    prediction: Prediction | None = None
    persons: tuple[int, int] | None = None

    @property
    def unit(self) -> str:
        """Return what k and xk count."""
        return "record" if self.persons is None else "person"

    @property
    def total(self) -> int:
        """Return the released records, false ones included."""
        return self.originals + self.added

    @property
    def qp_remain(self) -> float:
        """Return the pairs of the table that the release still has, in percent of them."""
        return 100 * self.pairs_remaining / self.pairs_before

    @property
    def qp_precision(self) -> float:
        """Return the pairs of the release that the table had, in percent of the release's."""
        return 100 * self.pairs_remaining / self.pairs_after

    @property
    def is_in_range(self) -> bool | None:
        """Say whether the precision lies in the predicted range; None without a prediction."""
        if self.prediction is None:
            return None
        return self.prediction.low <= self.precision <= self.prediction.high

    @property
    def is_in_bounds(self) -> bool | None:
        """Say whether the precision lies in the predicted bounds; None where they do not apply."""
        if self.prediction is None or self.gradual:
            return None
        low, high = self.prediction.bounds
        return low - 1e-9 <= self.precision <= high + 1e-9  # both are rounded

    @property
    def is_within_loss(self) -> bool | None:
        """Say whether the data loss stays within the predicted one."""
        if self.prediction is None:
            return None
        return self.data_loss <= self.prediction.data_loss

    def to_document(self) -> dict[str, object]:
        """Return the outcome as plain data."""
        return {
            "k": self.k,
            "xk": self.xk,
            "fraction": fraction_name(self.k, self.xk),
            "techniques": self.technique,
            "gradual": self.gradual,
            "records": self.records,
            "persons": None if self.persons is None else self.persons[0],
            "persons_released": None if self.persons is None else self.persons[1],
            "released": self.total,
            "originals": self.originals,
            "unmodified": self.unmodified,
            "added": self.added,
            "suppressed": self.suppressed,
            "difference": abs(self.added - self.suppressed),
            "pairs": {
                "before": self.pairs_before,
                "after": self.pairs_after,
                "remaining": self.pairs_remaining,
            },
            "qp_remain": self.qp_remain,
            "qp_precision": self.qp_precision,
            "smallest_class": self.smallest_pair,
            "fewest_originals": self.fewest_originals,
            "cells": {
                "generalized": self.lost.generalized,
                "suppressed": self.lost.suppressed,
                "blanked": self.lost.blanked,
            },
            "precision": self.precision,
            "quasi_precision": self.quasi_precision,
            "data_loss": self.data_loss,
            "cell_loss": self.cell_loss,
            "column_loss": dict(self.column_loss),
            "correlations": self.correlations.to_document(),
            "false_records": FALSE_RECORDS if self.added else None,
            "prediction": self._comparison(),
        }

    def _comparison(self) -> dict[str, object] | None:
        if self.prediction is None:
            return None
        return {
            "precision_range": [self.prediction.low, self.prediction.high],
            "precision_bounds": list(self.prediction.bounds),
            "max_data_loss": self.prediction.data_loss,
            "precision_in_range": self.is_in_range,
            "precision_in_bounds": self.is_in_bounds,
            "data_loss_within": self.is_within_loss,
        }

    def falsified(self) -> list[str]:
        """Say what false records mean for whoever reads the release; nothing without any."""
        if not self.added:
            return []
        return [
            f"{self.added:,} of {self.total:,} released records are false: {FALSE_RECORDS}.",
            f"Whoever recognizes copies finds pairs of {self.fewest_originals} original "
            f"{self.unit}{'' if self.fewest_originals == 1 else 's'}, not of {self.k}.",
        ]

    def summary(self) -> list[str]:
        """Return a few sentences for people."""
        lines = [
            f"{self.originals:,} of {self.records:,} records are released, {self.unmodified:,} of "
            f"them unchanged; {self.suppressed:,} are suppressed ({self.data_loss:.2f} %).",
            f"The precision is {self.precision:.2f} %, in {self.pairs_after:,} pairs of at least "
            f"{self.smallest_pair} {self.unit}s.",
            f"{self.qp_remain:.2f} % of the {self.pairs_before:,} pairs remain (QP remain); "
            f"{self.qp_precision:.2f} % of the released ones were there before (QP precision).",
        ]
        if self.persons is not None:
            there, left = self.persons
            lines.append(
                f"{left:,} of {there:,} persons have records in it; each false record stands for "
                "a person who does not exist."
            )
        lines += self.falsified()
        if self.prediction is not None:
            found = "lies in" if self.is_in_range else "lies outside"
            kept = "within" if self.is_within_loss else "above"
            lines.append(
                f"The precision {found} the predicted {self.prediction.low} … "
                f"{self.prediction.high} %, the data loss stays {kept} the predicted "
                f"{self.prediction.data_loss} %."
            )
        change = self.correlations.largest_change
        if change is not None:
            lines.append(f"The largest change of a correlation is {change:.4f}.")
        return lines


def outcome_of(
    carried: Carried, *, columns: int = 0, prediction: Prediction | None = None
) -> Outcome:
    """Measure a carried-out plan.

    Args:
        carried: from `carry_out`.
        columns: cells of a released record; quasi-identifiers and sensitive columns if 0.
        prediction: what was foreseen, to be compared.
    """
    rows = carried.after
    found = tally_of(carried, columns=columns)
    after = pairs_of(rows)
    quasi = CellLoss(generalized=found.lost.generalized, suppressed=found.lost.suppressed)
    kept_points = found.originals * found.columns - found.lost.points
    cells = found.records * found.columns
    return Outcome(
        k=carried.plan.k,
        xk=carried.plan.xk,
        technique=carried.plan.techniques.label,
        gradual=carried.plan.gradual,
        records=found.records,
        columns=found.columns,
        originals=found.originals,
        unmodified=found.unmodified,
        added=found.added,
        suppressed=found.suppressed,
        pairs_before=len(pairs_of(carried.before).records),
        pairs_after=carried.confirmation.pairs,
        pairs_remaining=_remaining(carried.before, rows),
        smallest_pair=int((after.people + after.false).min(initial=found.total)),
        fewest_originals=int(after.people.min(initial=found.records)),
        lost=found.lost,
        precision=found.precision,
        quasi_precision=precision(
            found.originals, found.added, columns=len(rows.columns), lost=quasi
        ),
        data_loss=100 * found.suppressed / found.records,
        cell_loss=100 * (cells - kept_points) / cells,
        column_loss=_column_loss(rows),
        correlations=correlations_of(carried.before, rows),
        prediction=prediction,
        persons=None if rows.persons is None else (carried.before.people(), rows.people()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Records and cells of a carried-out plan, counted."""

    records: int
    columns: int
    originals: int
    unmodified: int
    added: int
    lost: CellLoss

    @property
    def total(self) -> int:
        """Return the released records, false ones included."""
        return self.originals + self.added

    @property
    def suppressed(self) -> int:
        """Return the records that are not released."""
        return self.records - self.originals

    @property
    def precision(self) -> float:
        """Return the precision over all released cells, in percent."""
        return precision(self.originals, self.added, columns=self.columns, lost=self.lost)

    @property
    def share(self) -> Fraction:
        """Return the precision as an exact share; 0 where nothing is released."""
        cells = self.total * self.columns
        kept = Fraction(self.originals * self.columns) - Fraction(self.lost.points)
        return kept / cells if cells else Fraction(0)


def tally_of(carried: Carried, *, columns: int = 0) -> Tally:
    """Count records and cells of a carried-out plan; arguments as in `outcome_of`."""
    rows = carried.after
    added = int(rows.false[rows.kept].sum())
    return _tally(carried.before, rows, kept=rows.kept, added=added, columns=columns)


def foreseen_tally(before: Rows, rows: Rows, plan: Plan, *, columns: int = 0) -> Tally:
    """Count what steps 5 and 6 would release, without drawing a false record.

    Args:
        before: the table before step 2.
        rows: the same after step 4.
        plan: the thresholds.
        columns: as in `outcome_of`.
    """
    pairs = pairs_of(rows)
    large = pairs.people >= plan.xk
    added = int(np.maximum(plan.k - pairs.people[large], 0).sum())
    kept = np.append(large, False)[pairs.of_row]  # of_row -1 finds the False at the end
    return _tally(before, rows, kept=kept, added=added, columns=columns)


def _tally(before: Rows, rows: Rows, *, kept: NDArray[np.bool_], added: int, columns: int) -> Tally:
    counts = np.where(kept, rows.counts, 0)
    blanked = ((rows.sensitive == BLANK) & (before.sensitive != BLANK)).sum(axis=1)
    touched = (rows.cells != 0).any(axis=1) | (blanked > 0)
    return Tally(
        records=int(rows.counts.sum()),
        columns=columns or len(rows.columns) + len(rows.sensitive_names),
        originals=int(counts.sum()),
        unmodified=int(counts[~touched].sum()),
        added=added,
        lost=CellLoss(
            generalized=int(counts @ (rows.cells == GENERALIZED).sum(axis=1)),
            suppressed=int(counts @ (rows.cells == SUPPRESSED).sum(axis=1)),
            blanked=int(counts @ blanked),
        ),
    )


def _column_loss(rows: Rows) -> dict[str, float]:
    counts = np.where(rows.kept, rows.counts, 0)
    records = int(rows.counts.sum())
    halves = (rows.cells == GENERALIZED) + 2 * (rows.cells == SUPPRESSED).astype(np.int64)
    lost = (counts @ halves) / 2 + (records - int(counts.sum()))
    return {
        column.name: float(points / records)
        for column, points in zip(rows.columns, lost, strict=True)
    }


def _remaining(before: Rows, after: Rows) -> int:
    """Count the pairs of the release that stood in the table as they are."""
    both = pairs_of(
        replace(
            after,
            codes=np.concatenate((before.codes, after.codes)),
            kept=np.concatenate((before.kept, after.kept)),
            counts=np.concatenate((before.counts, after.counts)),
            false=np.concatenate((before.false, after.false)),
            persons=None,
        )
    )
    had, has = np.split(both.of_row, 2)
    return len(np.intersect1d(had[before.kept], has[after.kept]))
