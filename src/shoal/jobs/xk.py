"""xk-anonymity as a whole job: recommend, carry out, verify what is written, publish."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.core.documents import Document, Json
from shoal.core.errors import OutputError, UnsafeReleaseError
from shoal.core.spreadsheet import is_guarded
from shoal.engines.local import xk as engine
from shoal.engines.local.blanked import verify_release
from shoal.engines.local.person_file import with_made_up, with_persons, write_persons
from shoal.engines.local.proportional import proportional_sample
from shoal.engines.local.records import inputs_of, person_place
from shoal.engines.local.source import open_source
from shoal.engines.local.write import all_or_nothing, write_frame
from shoal.formats.endings import format_to_write
from shoal.jobs.documents import public_document
from shoal.jobs.faults import Fault
from shoal.jobs.requests import RecommendRequest, XkRequest, refuse, replaced_faults
from shoal.methods.xk.choices import Choices, asked_diversity
from shoal.methods.xk.outcome import Outcome
from shoal.methods.xk.recommendation import Recommendation
from shoal.privacy import Verdict
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import ReleaseReport, Risk, Verification


@dataclass(frozen=True, kw_only=True)
class XkRelease:
    """A verified release and the account of it."""

    outcome: Outcome
    results: tuple[Verdict, ...]
    risks: tuple[Risk, Risk]
    seconds: float
    warnings: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    repeats: Mapping[str, Json] | None = None
    request: Document | None = None

    @property
    def privacy(self) -> list[Document]:
        """Return how the written release stands against each model."""
        return [result.to_document() for result in self.results]

    def to_document(self) -> dict[str, object]:
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
            **({} if self.request is None else {"request": self.request}),
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
            request=self.request,
        )


def recommend(request: RecommendRequest) -> Recommendation:
    """Recommend the fraction of k for a table, and work out what every technique gives on it."""
    refuse(replaced_faults(request.schema))
    return engine.recommend(
        request.table, request.schema, request.k,
        choices=request.choices, separator=request.separator,
    )  # fmt: skip


def release_xk(request: XkRequest) -> XkRelease:
    """Make a table xk-anonymous, write it, verify the file, and only then publish it.

    Raises:
        NoSolutionError: every record would be suppressed, or more than the limit allows.
        UnsafeReleaseError: the file did not verify; nothing was written.
    """
    began = time.perf_counter()
    refuse(replaced_faults(request.schema))
    out, safe = request.out, request.output.spreadsheet_safe
    if request.output.person_file is not None and not request.schema.person:
        refuse([Fault("--person-file: goes with --person")])
    is_guarded(format_to_write(Path(out)), safe, where=str(out))
    inputs = (*request.output.inputs, *inputs_of(request.table))
    made = engine.apply(
        request.table, request.schema, request.k, xk=request.xk, choices=request.choices,
        seed=request.seed, separator=request.separator, steps=_steps_apart(request.steps, out),
    )  # fmt: skip
    with (
        person_place(
            request.output.person_file, (*inputs, out), is_needed=made.people is not None
        ) as people,
        all_or_nothing(out, inputs=inputs) as temporary,
    ):
        separator = request.separator or ","
        write_frame(made.released, temporary, separator=separator, spreadsheet_safe=safe)
        if made.people is not None:
            write_persons(made.people.to_frame(), people, is_kept=True)
        verified = _verified(request, temporary, separator, made, people)
        if request.false_records is not None:
            _write_marks(made, request.false_records, inputs=(*inputs, out))
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
        request=public_document(request),
    )


def _verified(
    request: XkRequest, file: Path, separator: str, made: engine.Applied, people: Path
) -> Sequence[Verification]:
    """Judge the written file, before anybody sees it.

    people: who stands behind each of its records, where persons are counted.
    """
    choices = request.choices or Choices()
    written, schema = open_source(file, separator=separator), request.schema
    if made.people is not None:
        written, names = with_persons(written, people)
        written, names = with_made_up(written, names, made.marks()["false_row"].to_list())
        schema = schema.with_person(names)
    found = verify_release(
        written,
        schema,
        request.k,
        diversity=asked_diversity(request.schema, choices),
        blanked=choices.techniques.sensitive_suppression,
        separator=separator,
    )
    if not all(result.holds for result in found):
        wrong = sum(result.violating_records for result in found)
        raise UnsafeReleaseError(
            problem=f"{wrong} released records break the promise; nothing was written"
        )
    return found


def sample_proportionally(
    table: object,
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
    drawn = proportional_sample(table, by, records, seed=seed, separator=separator)
    with all_or_nothing(out, inputs=inputs_of(table), private=True) as temporary:
        write_frame(drawn, temporary, separator=separator or ",")
    return drawn.height


def _steps_apart(steps: str | Path | None, out: str | Path) -> Path | None:
    """Return the folder of the steps; refuse the one that the release goes to."""
    if steps is None:
        return None
    if Path(out).absolute().resolve().is_relative_to(Path(steps).absolute().resolve()):
        raise OutputError(
            where=str(steps), problem="holds raw data; write the release to another folder"
        )
    return Path(steps)


def _write_marks(made: engine.Applied, path: str | Path, *, inputs: tuple[str | Path, ...]) -> None:
    with all_or_nothing(path, inputs=inputs, private=True) as temporary:
        write_frame(made.marks(), temporary)
