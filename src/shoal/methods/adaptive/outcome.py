"""What a carried-out plan did to a table, and whether it was foreseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.methods.adaptive.candidates import Prediction, fraction_name
from shoal.methods.adaptive.correlation import Correlations, correlations_of
from shoal.methods.adaptive.pipeline import Carried
from shoal.methods.adaptive.rows import BLANK, GENERALIZED, SUPPRESSED, pairs_of

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
        """Return the loss as seed 004 counts it: half a point or a whole one a cell."""
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
        technique: the seed's letters, such as GC.
        columns: cells of a released record.
        unmodified: original records released as they were.
        smallest_pair: records of the smallest pair, false ones included.
        fewest_originals: the smallest number of original records in a pair.
        precision: over all released cells, in percent.
        quasi_precision: over the quasi-identifiers alone, in percent.
        data_loss: suppressed records, in percent of the records.
        cell_loss: lost cells, those of suppressed records included, in percent of all cells.
        prediction: what was foreseen for this threshold.
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
    smallest_pair: int
    fewest_originals: int
    lost: CellLoss
    precision: float
    quasi_precision: float
    data_loss: float
    cell_loss: float
    correlations: Correlations
    prediction: Prediction | None = None

    @property
    def total(self) -> int:
        """Return the released records, false ones included."""
        return self.originals + self.added

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

    def to_document(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "k": self.k,
            "xk": self.xk,
            "fraction": fraction_name(self.k, self.xk),
            "techniques": self.technique,
            "gradual": self.gradual,
            "records": self.records,
            "released": self.total,
            "originals": self.originals,
            "unmodified": self.unmodified,
            "added": self.added,
            "suppressed": self.suppressed,
            "difference": abs(self.added - self.suppressed),
            "pairs": {"before": self.pairs_before, "after": self.pairs_after},
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
            "correlations": self.correlations.to_document(),
            "false_records": FALSE_RECORDS if self.added else None,
            "prediction": self._comparison(),
        }

    def _comparison(self) -> dict[str, Any] | None:
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

    def summary(self) -> list[str]:
        """Return a few sentences for people."""
        lines = [
            f"{self.originals:,} of {self.records:,} records are released, {self.unmodified:,} of "
            f"them unchanged; {self.suppressed:,} are suppressed ({self.data_loss:.2f} %).",
            f"The precision is {self.precision:.2f} %, in {self.pairs_after:,} pairs of at least "
            f"{self.smallest_pair} records.",
        ]
        if self.added:
            lines.append(
                f"{self.added:,} of {self.total:,} released records are false: {FALSE_RECORDS}."
            )
            lines.append(
                f"Whoever recognizes copies finds pairs of {self.fewest_originals} original "
                f"record{'' if self.fewest_originals == 1 else 's'}, not of {self.k}."
            )
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
    width = columns or len(rows.columns) + len(rows.sensitive_names)
    counts = np.where(rows.kept, rows.counts, 0)
    records, originals = int(rows.counts.sum()), int(counts.sum())
    added = int(rows.false[rows.kept].sum())
    blank = (rows.sensitive == BLANK).sum(axis=1)
    lost = CellLoss(
        generalized=int(counts @ (rows.cells == GENERALIZED).sum(axis=1)),
        suppressed=int(counts @ (rows.cells == SUPPRESSED).sum(axis=1)),
        blanked=int(counts @ blank),
    )
    touched = (rows.cells != 0).any(axis=1) | (blank > 0)
    quasi = CellLoss(generalized=lost.generalized, suppressed=lost.suppressed)
    after = pairs_of(rows)
    kept_points = originals * width - lost.points
    return Outcome(
        k=carried.plan.k,
        xk=carried.plan.xk,
        technique=carried.plan.techniques.label,
        gradual=carried.plan.gradual,
        records=records,
        columns=width,
        originals=originals,
        unmodified=int(counts[~touched].sum()),
        added=added,
        suppressed=records - originals,
        pairs_before=len(pairs_of(carried.before).records),
        pairs_after=carried.confirmation.pairs,
        smallest_pair=int((after.records + after.false).min(initial=records + added)),
        fewest_originals=int(after.records.min(initial=records)),
        lost=lost,
        precision=precision(originals, added, columns=width, lost=lost),
        quasi_precision=precision(originals, added, columns=len(rows.columns), lost=quasi),
        data_loss=100 * (records - originals) / records,
        cell_loss=100 * (records * width - kept_points) / (records * width),
        correlations=correlations_of(carried.before, rows),
        prediction=prediction,
    )
