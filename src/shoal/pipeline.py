"""One run through the house: read → frequencies → search → report. The api drives it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.core.errors import (
    InputError,
    NoSolutionError,
    PrivacyError,
    SchemaError,
    UnsafeReleaseError,
)
from shoal.core.interruptible import interruptible
from shoal.engines.local.frequencies import Frequencies, frequencies, with_kinds
from shoal.engines.local.kept import check_kept
from shoal.engines.local.persons import repeats_of_release
from shoal.engines.local.recode import Recoder, starred
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.verify import verify_source
from shoal.measures.risk.persons import Repeats, asked_k
from shoal.measures.utility import Grouping, column_losses, grouping_of, utility_of
from shoal.methods import registry
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.infer.kept import KeptCheck
from shoal.methods.judging import judge_recoding, one_class
from shoal.methods.lattice.measures import ALIASES
from shoal.methods.partitions import Coarse, learn_parts
from shoal.methods.recoding import Recoding, joined, with_centroids
from shoal.methods.to_model import Trial, model_of
from shoal.model.model import RecodingModel
from shoal.privacy import Promise, Verdict, expand
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import (
    OLD_NAMES,
    ReleaseReport,
    Risk,
    Verification,
    stars_removed,
)
from shoal.schema.schema import Schema
from shoal.schema.sensitive import notices

Progress = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a release is to be made; the defaults are the safe ones."""

    method: str = "auto"
    release: str | None = None  # generalize or aggregate; None: what the method is made for
    partitions: int | None = None  # learn on so many parts side by side, and join them
    partition_by: str = "kmeans"
    suppressed: str = "remove"
    keep_order: bool = False
    spreadsheet_safe: bool | None = None  # see core.spreadsheet; None: what suits the format
    seed: int = 0
    threads: int | None = None
    separator: str | None = None
    progress: Progress = _silent
    inputs: tuple[str | Path, ...] = ()  # further files that must not be overwritten
    search: Mapping[str, Any] = field(default_factory=dict)


def for_release(options: Options, *, is_far: bool = False) -> Options:
    """Return the options with the method that `auto` stands for where a table is released.

    is_far: the table's distinct tuples do not fit the machine that searches, so that it is cut
    where it lies.
    """
    if options.method != "auto" or options.release == "aggregate" or is_far:
        return options
    return replace(options, method=registry.AUTO_RELEASE)


def promise_of(schema: Schema, privacy: Iterable[Promise] | None) -> tuple[Promise, ...]:
    """Return the schema's promise with what was asked for beside it; there must be one."""
    models = schema.with_promise(privacy or ()).privacy
    if not models:
        raise PrivacyError(model="none", problem="no promise was given; ask for one, such as -k 5")
    return models


def fit(
    schema: Schema,
    privacy: Iterable[Promise] | None,
    columns: Sequence[str],
    *,
    where: str,
    options: Options,
) -> tuple[Schema, list[Promise], list[str]]:
    """Return the schema for a table, its promise, and the columns that must be counted for it.

    These are the sensitive columns that the promise or the method looks at, and the target.

    Raises:
        InputError: no column is a quasi-identifier.
    """
    promised = replace(schema, privacy=promise_of(schema, privacy))
    fitted = promised.fit(columns, where=where)
    if not fitted.quasi:
        raise InputError(
            where="schema", problem="no quasi-identifier; name the columns to recode (--qi a,b)"
        )
    models = list(expand(fitted.privacy, fitted.sensitive))
    spread = dict.fromkeys(m.column for m in models if m.column is not None)
    if registry.find(options.method, release=options.release).spreads:
        spread |= dict.fromkeys(fitted.sensitive)
    if fitted.target is not None and fitted.target not in fitted.quasi:
        spread[fitted.target] = None
    return fitted, models, list(spread)


def _risk(sizes: Any) -> Risk:
    return Risk(
        records=int(sizes.sum()),
        classes=len(sizes),
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        unique=int((sizes == 1).sum()),
    )


@dataclass
class Job:
    """One run from an open table to a report; keeps the time of every stage."""

    source: Source
    schema: Schema
    models: tuple[Promise, ...]
    options: Options
    lazy: pl.LazyFrame
    counted: Frequencies
    seconds: dict[str, float]
    cpu: dict[str, float]
    started: float
    star: bool = False
    more_notices: tuple[str, ...] = ()
    kept: KeptCheck = field(default_factory=KeptCheck)
    coded: tuple[str, ...] = ()  # columns that are read dictionary-coded

    @classmethod
    def open(
        cls,
        table: Any,
        schema: Schema,
        privacy: Iterable[Promise] | None,
        options: Options,
        *,
        publishes: bool = False,
    ) -> Job:
        """Read a table down to its frequency table.

        With `publishes`, a kept column that is an identifier is refused.
        """
        started, cpu = time.perf_counter(), time.process_time()
        options.progress("read")
        source = open_source(table, separator=options.separator)
        fitted, models, spread = fit(
            schema, privacy, source.columns, where=source.where, options=options
        )
        # Only the columns that are recoded may change their type; of text files, all that
        # are counted come dictionary-coded, which is smaller.
        coded = [*fitted.quasi]
        if source.shape is not None:
            coded += [*fitted.sensitive, *spread]
        lazy = source.scan([c for c in source.columns if c in fitted.released], coded=coded)
        if source.fits_memory():
            lazy = source.collect(lazy).lazy()
        kept = check_kept(source, lazy, fitted.kept, fitted.waive)
        if publishes:
            kept.refuse(source.where)
        counted = frequencies(source, lazy, fitted, sensitive=spread)
        check_values(fitted, counted.table)
        fitted = fitted.with_date_formats(counted.formats)
        return cls(
            source=source,
            schema=with_kinds(fitted, counted.table.sensitive_domains),
            models=tuple(models),
            options=options,
            lazy=lazy,
            counted=counted,
            seconds={"read": time.perf_counter() - started},
            cpu={"read": time.process_time() - cpu},
            started=started,
            kept=kept,
            coded=tuple(coded),
        )

    def stage(self, name: str) -> None:
        """Tell that a stage begins."""
        self.options.progress(name)
        self.seconds.setdefault(name, 0.0)
        self.cpu.setdefault(name, 0.0)

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        """Add the time of a piece of work to its stage."""
        self.stage(name)
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] += time.perf_counter() - wall
        self.cpu[name] += time.process_time() - cpu

    def search(self) -> Recoding:
        """Run the method; kernels are loaded, or compiled, before its clock starts."""
        method = registry.find(self.options.method, release=self.options.release)
        table = self.counted.table
        self._check_enough(table.records)
        if method.family != "lattice":  # finer classes may hold where all records together do not
            self._check_whole(table)
        if method.must_compile():
            self.options.progress("compile")
        wall, cpu = time.perf_counter(), time.process_time()
        with suppress(NoSolutionError):  # two records need not meet anything
            tiny = first_rows(table, self.models)
            interruptible(lambda: method.run(tiny, self.models, **self.options.search))
        self.seconds["compile"] = time.perf_counter() - wall
        self.cpu["compile"] = time.process_time() - cpu
        with self.clock("learn"):
            recoding = interruptible(lambda: self._found(method, table))
        self._check_limit(recoding)
        return recoding

    def _found(self, method: registry.Method, table: FrequencyTable) -> Recoding:
        """Search, and give each class what it releases."""
        recoding = self._learned(method, table)
        if method.release == "aggregate":
            return _aggregated(recoding, method.centroid)
        return joined(recoding) if method.family == "microaggregation" else recoding

    def _learned(self, method: registry.Method, table: FrequencyTable) -> Recoding:
        """Search the whole table, or its parts side by side."""
        limit, parts = self.schema.suppression_limit, self.options.partitions

        def one(part: FrequencyTable) -> Recoding:
            return method.run(
                part,
                self.models,
                seed=self.options.seed,
                threads=self.options.threads if parts is None else 1,
                suppression_limit=limit,
                utility=self.schema.utility,
                target=self.schema.target,
                **self.options.search,
            )

        if parts is None:
            return one(table)
        coarse = Coarse(parts, self.options.partition_by, self.options.seed, self.options.threads)
        return learn_parts(table, self.models, one, coarse=coarse, suppression_limit=limit)

    def _check_limit(self, recoding: Recoding) -> None:
        """Refuse a recoding that suppresses more records than were allowed."""
        records, limit = recoding.table.records, self.schema.suppression_limit
        if recoding.suppressed > math.floor(limit * records + 1e-9):
            least = math.ceil(recoding.suppressed / records * 1e6) / 1e6
            raise NoSolutionError(
                problem=(
                    f"{recoding.suppressed} of {records} records would have to be suppressed, more "
                    f"than the limit allows; ask for less, or allow --suppression-limit {least:g}"
                )
            )

    def _check_enough(self, records: int) -> None:
        """Refuse a table with fewer records than one class needs, before any search."""
        for model in self.models:
            if records < model.least_records:
                raise _out_of_reach(model, records, records)

    def _check_whole(self, table: FrequencyTable) -> None:
        """Refuse a promise that even the whole table as one class does not keep."""
        for result in judge_recoding(one_class(table), self.models):
            if not result.holds:
                raise _out_of_reach(result.model, table.records, result.value)

    def settle_stars(self, recoding: Recoding) -> None:
        """Decide whether suppressed records can be released as the root.

        They are a class like any other, and part of what closeness compares with: where the
        release would break the promise with them, they are removed; a notice says so.
        """
        self.star = self.options.suppressed == "star" and recoding.suppressed > 0
        if not self.star:
            return
        judged = self.judged_stars(recoding)
        if not judged.holds:
            self.star = False
            failed = [result.model.name for result in judged.privacy if not result.holds]
            self.more_notices = (*self.more_notices, stars_removed(recoding.suppressed, failed))

    def judged_stars(self, recoding: Recoding) -> Verification:
        """Judge the release with suppressed records as the root, before it is written."""
        return verify_source(starred(recoding), self.schema, self.models)

    def verify(self, source: Source, recoding: Recoding) -> Verification:
        """Judge what was written; raise if it does not hold or is not all there."""
        return self.check_verified(verify_source(source, self.schema, self.models), recoding)

    def check_verified(self, verified: Verification, recoding: Recoding) -> Verification:
        """Return the verdict; raise if the release does not hold or is not all there."""
        starred = recoding.suppressed if self.star else 0
        expected = int(recoding.sizes.sum()) + starred
        if verified.records != expected:
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.records} records were written where {expected} should be; "
                    "nothing was published"
                )
            )
        if not verified.holds:
            failed = ", ".join(r.model.name for r in verified.privacy if not r.holds)
            raise UnsafeReleaseError(
                problem=(
                    f"{verified.violating_records} of {verified.records} released records break "
                    f"{failed}; nothing was written"
                )
            )
        return verified

    def report(
        self,
        recoding: Recoding,
        verified: Verification | None,
        *,
        results: tuple[Verdict, ...] = (),
    ) -> ReleaseReport:
        """Put the account together: what was promised, lost and spent."""
        with self.clock("measure"):
            grouping = self._grouping(recoding)
            utility = {**utility_of(grouping), "sse_loss": self._squared_loss(recoding)}
            repeats = self._repeats(recoding)
        sizes = recoding.sizes
        for name in ("write", "learn", "encode", "verify"):
            self.seconds.setdefault(name, 0.0)
        return ReleaseReport(
            method=registry.find(self.options.method, release=self.options.release).name,
            records=self.counted.table.records,
            released=int(sizes.sum()) + (recoding.suppressed if self.star else 0),
            suppressed=recoding.suppressed,
            classes=recoding.classes if verified is None else verified.classes,
            smallest_class=int(sizes.min()) if verified is None else verified.smallest_class,
            privacy=results if verified is None else verified.privacy,
            utility=utility,
            columns=column_losses(grouping, self.schema.quasi),
            risk_before=_risk(self.counted.table.tuple_sizes),
            risk_after=_risk(sizes),
            seconds=self._spent(),
            facts={**recoding.facts, "cpu_seconds": _rounded(self.cpu)},
            warnings=(
                *self._emptiness(recoding, utility),
                *(() if repeats is None else (repeats.text,)),
                *self.kept.warnings,
            ),
            repeats=None if repeats is None else repeats.to_document(),
            notices=self._notices(),
            roles=self.kept.roles(self.schema, self.source.columns),
        )

    def _emptiness(
        self, recoding: Recoding, utility: Mapping[str, float | None]
    ) -> tuple[str, ...]:
        """Say that nothing is promised, or that hardly anything is left."""
        left = little_left(
            records=self.counted.table.records,
            suppressed=recoding.suppressed,
            ncp=utility["ncp"],
            sse_loss=utility["sse_loss"],
        )
        return (*void_promise(self.models), *left)

    def _repeats(self, recoding: Recoding) -> Repeats | None:
        """Count the people of the released classes, where an identifying column repeats."""
        recoder = Recoder(
            self.source, self.lazy, self.schema, self.counted, recoding, star=self.star
        )
        return repeats_of_release(recoder, self.coded, asked_k(self.models))

    def _spent(self) -> dict[str, float]:
        return _rounded({**self.seconds, "total": time.perf_counter() - self.started})

    def learned(
        self, recoding: Recoding, results: tuple[Verdict, ...]
    ) -> tuple[RecodingModel, ReleaseReport]:
        """Return the model and the account of it, the time of building the model included.

        Raises:
            NoSolutionError: every record is suppressed.
            UnsafeReleaseError: the judged classes do not keep the promise.
        """
        if not recoding.classes:
            raise NoSolutionError(problem="every record would have to be suppressed")
        if not all(result.holds for result in results):
            raise UnsafeReleaseError(problem="the learned classes do not keep the promise")
        report = self.report(recoding, None, results=results)
        with self.clock("model"):
            model = self.model(recoding, report)
        facts = {**report.facts, "cpu_seconds": _rounded(self.cpu)}
        return model, replace(report, seconds=self._spent(), facts=facts)

    def _grouping(self, recoding: Recoding) -> Grouping:
        return grouping_of(recoding, target=self._target())

    def _squared_loss(self, recoding: Recoding) -> float | None:
        """Return the loss of centroids; None where boxes are released."""
        if recoding.released is None:
            return None
        from shoal.measures.aggregation import sse_loss

        return sse_loss(recoding, recoding.released)

    def _target(self) -> str | None:
        if self.schema.target is not None:
            return self.schema.target
        names = [domain.name for domain in self.counted.table.sensitive_domains]
        return names[0] if names else None

    def _notices(self) -> tuple[str, ...]:
        found = list(self.more_notices)
        asked = self.schema.utility
        if asked in ALIASES:
            found.append(
                f"--utility {asked} is an old name: {ALIASES[asked]} was minimized; what was "
                f"reported as {asked} is {OLD_NAMES[asked]}"
            )
        domains = self.counted.table.sensitive_domains
        found += notices({d.name: d.scale.read(d.labels) for d in domains if d.scale is not None})
        known = {a.name for a in self.schema.attributes}
        left = [name for name in self.source.columns if name not in known]
        if left:
            named = ", ".join(repr(name) for name in left)
            found.append(
                f"left out, because nobody gave them a role: {named} (keep one with --neutral)"
            )
        return tuple(found)

    def model(
        self, recoding: Recoding, report: ReleaseReport, *, trial: Trial | None = None
    ) -> RecodingModel:
        """Return the recoding as a model: released cells and how classes combine them."""
        released = None if recoding.released is None else list(zip(*recoding.released, strict=True))
        return model_of(
            recoding,
            self.schema,
            method=report.method,
            utility=report.utility,
            released=released,
            trial=trial,
        )


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(spent, 6) for name, spent in seconds.items()}


def _out_of_reach(model: Promise, records: int, value: float | None) -> NoSolutionError:
    asked = ", ".join(f"{k}={v}" for k, v in model.parameters().items() if k != "values")
    return NoSolutionError(
        problem=(
            f"{model.name} ({asked}) cannot be met: all {records} records as one class reach "
            f"{value}. Ask for less, or bring more records"
        )
    )


def _aggregated(recoding: Recoding, distance: str | None) -> Recoding:
    from shoal.methods.microaggregation.centroids import centroids

    return with_centroids(recoding, centroids(recoding, distance=distance))


def check_values(schema: Schema, table: FrequencyTable) -> None:
    """Refuse a promise about values that do not occur: it would protect nobody."""
    named = {text for model in schema.privacy for text in getattr(model, "values", None) or ()}
    values = {d.name: {text for text in named if _occurs(text, d)} for d in table.sensitive_domains}
    kinds = dict.fromkeys(schema.sensitive, "")
    faults = [
        fault
        for model in schema.privacy
        for fault in model.check(kinds, hierarchies=set(kinds), values=values)
    ]
    if faults:
        raise SchemaError(where="schema", faults=faults)


def _occurs(text: str, domain: Domain) -> bool:
    """Say whether a value that a promise names is one of a column."""
    plain = text if domain.scale is None else domain.scale.text(text)
    label = plain if plain is None or domain.scale is None else domain.scale.label(plain)
    return label is not None and label in domain.labels


def first_rows(table: FrequencyTable, models: Sequence[Promise]) -> FrequencyTable:
    """Return a tiny table: enough to load or compile the kernels of a search.

    Its rows have records enough for k, so that a search finds something to do with them.
    """
    most = min(table.rows, 2)
    enough = 2 * max((model.least_records for model in models), default=1) + 1
    return FrequencyTable(
        domains=table.domains,
        codes=np.ascontiguousarray(table.codes[:most]),
        counts=np.full(most, enough, dtype=np.int64),
        sensitive_domains=table.sensitive_domains,
        sensitive=np.ascontiguousarray(table.sensitive[:most]),
    )
