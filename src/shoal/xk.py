"""xk-anonymity as a whole job: recommend, carry out, verify what is written, publish."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.core.errors import OutputError, UnsafeReleaseError
from shoal.core.spreadsheet import is_guarded
from shoal.engines.local.adaptive import Applied, apply, recommend, verify_release
from shoal.engines.local.proportional import proportional_sample
from shoal.engines.local.recode import Part
from shoal.engines.local.source import format_to_write
from shoal.engines.local.write import all_or_nothing, write_parts
from shoal.methods.adaptive.choices import Choices, asked_diversity
from shoal.methods.adaptive.outcome import Outcome
from shoal.methods.adaptive.pipeline import Techniques
from shoal.privacy import Verdict
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import ReleaseReport, Risk
from shoal.schema.schema import Schema

__all__ = [
    "Choices",
    "Techniques",
    "XkRelease",
    "recommend",
    "release_xk",
    "sample_proportionally",
]


@dataclass(frozen=True, kw_only=True)
class XkRelease:
    """A verified release and the account of it."""

    outcome: Outcome
    results: tuple[Verdict, ...]
    risks: tuple[Risk, Risk]
    seconds: float
    warnings: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: Mapping[str, Any] | None = None

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Return how the written release stands against each model."""
        return [result.to_document() for result in self.results]

    def to_document(self) -> dict[str, Any]:
        """Return the account with the fields that every release has."""
        return {
            "method": "xk",
            **self.outcome.to_document(),
            "classes": self.outcome.pairs_after,
            "privacy": self.privacy,
            "roles": {name: dict(role) for name, role in self.roles.items()},
            "repeats": None if self.repeats is None else dict(self.repeats),
            "warnings": list(self.warnings),
            "seconds": {"total": round(self.seconds, 6)},
        }

    def report(self) -> ReleaseReport:
        """Return the account as a report, to be written as a page."""
        found = self.outcome
        measures = {
            "precision (%)": found.precision,
            "precision of the quasi-identifiers (%)": found.quasi_precision,
            "data loss (% of the records)": found.data_loss,
            "cell loss (% of the cells)": found.cell_loss,
            "QP remain (%)": found.qp_remain,
            "QP precision (%)": found.qp_precision,
        }
        return ReleaseReport(
            method=f"xk, xk = {found.xk}, techniques {found.technique}",
            records=found.records,
            released=found.originals,
            suppressed=found.suppressed,
            classes=found.pairs_after,
            smallest_class=found.smallest_pair,
            privacy=self.results,
            utility=measures,
            risk_before=self.risks[0],
            risk_after=self.risks[1],
            seconds={"total": self.seconds},
            columns=found.column_loss,
            warnings=(*self.warnings, *found.falsified()),
            roles=self.roles,
            repeats=self.repeats,
        )


def release_xk(
    table: Any,
    schema: Schema,
    k: int,
    *,
    out: str | Path,
    xk: int | None = None,
    choices: Choices | None = None,
    seed: int = 0,
    separator: str | None = None,
    false_records: str | Path | None = None,
    steps: str | Path | None = None,
    inputs: tuple[str | Path, ...] = (),
    spreadsheet_safe: bool | None = None,
) -> XkRelease:
    """Make a table xk-anonymous, write it, verify the file, and only then publish it.

    Args:
        table: a path or a frame.
        schema: roles, kinds and hierarchies of its columns.
        k: records that a released pair has, false ones included.
        out: where to write the release.
        xk: original records that a released pair has; the recommended number if None.
        choices: techniques, diversity and columns.
        seed: chooses the records that false ones copy.
        separator: of a CSV file.
        false_records: where to write the numbers of the false rows; it stays inside.
        steps: a new folder for the pairs and the table after each step; raw data, so it
            stays inside and must not hold the release.
        inputs: further files that must not be overwritten.
        spreadsheet_safe: of CSV output: an apostrophe before texts that begin like a formula.

    Raises:
        NoSolutionError: every record would be suppressed, or more than the limit allows.
        UnsafeReleaseError: the file did not verify; nothing was written.
    """
    began = time.perf_counter()
    is_guarded(format_to_write(Path(out)), spreadsheet_safe, where=str(out))
    inputs = (*inputs, *((Path(table),) if isinstance(table, (str, PathLike)) else ()))
    asked = choices or Choices()
    trail = None if steps is None else _apart(Path(steps), out)
    made = apply(
        table, schema, k, xk=xk, choices=asked, seed=seed, separator=separator, steps=trail
    )
    diversity = asked_diversity(schema, asked)
    with all_or_nothing(out, inputs=inputs) as temporary:
        write_parts(
            iter([Part(made.released, None)]), temporary, separator=separator or ",",
            spreadsheet_safe=spreadsheet_safe,
        )  # fmt: skip
        verified = verify_release(
            temporary,
            schema,
            k,
            diversity=diversity,
            blanked=asked.techniques.sensitive_suppression,
            separator=separator or ",",
        )
        if not all(result.holds for result in verified):
            wrong = sum(result.violating_records for result in verified)
            raise UnsafeReleaseError(
                problem=f"{wrong} released records break the promise; nothing was written"
            )
        if false_records is not None:
            _write_marks(made, false_records, inputs=(*inputs, out))
    results = tuple(each for result in verified for each in result.privacy)
    found = made.outcome
    left = little_left(records=found.records, suppressed=found.suppressed)
    return XkRelease(
        outcome=found,
        results=results,
        risks=made.risks,
        seconds=time.perf_counter() - began,
        warnings=(*void_promise(each.model for each in results), *left, *made.warnings),
        roles=made.roles,
        repeats=made.repeats,
    )


def sample_proportionally(
    table: Any,
    by: Sequence[str],
    records: int,
    *,
    out: str | Path,
    seed: int = 0,
    separator: str | None = None,
) -> int:
    """Write a sample in which every stratum keeps its share; return its records.

    The sample is raw data: only this user may read the file. See `proportional_sample`.
    """
    format_to_write(Path(out))
    inputs = (Path(table),) if isinstance(table, (str, PathLike)) else ()
    drawn = proportional_sample(table, by, records, seed=seed, separator=separator)
    with all_or_nothing(out, inputs=inputs, private=True) as temporary:
        write_parts(iter([Part(drawn, None)]), temporary, separator=separator or ",")
    return drawn.height


def _apart(steps: Path, out: str | Path) -> Path:
    """Return the folder of the steps; refuse the one that the release goes to."""
    if Path(out).absolute().resolve().is_relative_to(steps.absolute().resolve()):
        raise OutputError(
            where=str(steps), problem="holds raw data; write the release to another folder"
        )
    return steps


def _write_marks(made: Applied, path: str | Path, *, inputs: tuple[Any, ...]) -> None:
    with all_or_nothing(path, inputs=inputs, private=True) as temporary:
        write_parts(iter([Part(made.marks(), None)]), temporary)
