"""Whole jobs on Spark: the same runs as the local engine's, with the same words and answers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.spreadsheet import is_guarded
from shoal.engines.local.encode import Encoded
from shoal.engines.local.frequencies import with_kinds
from shoal.engines.local.infer import Inference
from shoal.engines.local.source import Source
from shoal.engines.spark import encode as encoding
from shoal.engines.spark import infer as inferring
from shoal.engines.spark import metrics as measuring
from shoal.engines.spark import risk as risking
from shoal.engines.spark.by_class import far_judged, far_sse_loss, far_told, with_far_centroids
from shoal.engines.spark.far import DRIVER_ROWS, Far, FarTable
from shoal.engines.spark.far_parts import far_parts, parts_for
from shoal.engines.spark.frequencies import SparkFrequencies, frequencies_or_far
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.lattice import far_lattice
from shoal.engines.spark.mondrian import far_mondrian
from shoal.engines.spark.parts import Task, learn_parts
from shoal.engines.spark.persons import (
    count_people,
    present,
    repeating,
    repeats_as_it_stands,
    repeats_of,
)
from shoal.engines.spark.recode import Recoder
from shoal.engines.spark.source import SparkSource, SparkTable, open_table, open_written
from shoal.engines.spark.trial import FarTrial
from shoal.engines.spark.verify import verify_table
from shoal.engines.spark.write import all_or_nothing, kind_of
from shoal.measures.risk.persons import FEW_PEOPLE, Repeats, asked_k, told
from shoal.measures.risk.report import RiskReport
from shoal.measures.utility import Grouping
from shoal.methods import registry
from shoal.methods.frequency import FrequencyTable
from shoal.methods.infer.kept import beside, left_in
from shoal.methods.judging import judge_recoding
from shoal.methods.partitions import Coarse
from shoal.methods.recoding import Recoding, joined
from shoal.methods.to_model import Trial
from shoal.model.model import RecodingModel
from shoal.pipeline import Job, Options, check_values, first_rows, fit, for_release, promise_of
from shoal.privacy import Promise, Verdict
from shoal.privacy.emptiness import void_promise
from shoal.reports.release import ReleaseReport, Verification
from shoal.schema.schema import Schema

__all__ = ["anonymize", "encode", "infer", "learn_with_report", "metrics", "risk", "verify"]


@dataclass
class SparkJob(Job):
    """One run on Spark: counting, recoding and judging there, the search where it fits."""

    table: SparkSource | None = None
    most: int = DRIVER_ROWS  # rows that are brought to the driver
    far: FarTable | None = None  # the frequency table, where it does not fit the driver
    told: ReleaseReport | None = None
    found: Far | None = None  # then: the recoding, and keys with their classes on Spark
    said: tuple[str, ...] = ()  # what is to be known of how a far table was searched

    @classmethod
    def on(
        cls,
        table: Any,
        schema: Schema,
        privacy: Iterable[Promise] | None,
        options: Options,
        *,
        publishes: bool = False,
    ) -> SparkJob:
        """Read a table down to its frequency table; see `Job.open`."""
        started, cpu = time.perf_counter(), time.process_time()
        options.progress("read")
        if options.keep_order:
            raise MethodError(problem="--keep-order needs the local engine; Spark sorts a release")
        opened = open_table(table, separator=options.separator)
        fitted, models, spread = fit(
            schema, privacy, opened.columns, where=opened.where, options=options
        )
        opened.check([name for name in opened.columns if name in fitted.released])
        kept = check_kept(opened, fitted.kept, fitted.waive)
        if publishes:
            kept.refuse(opened.where)
        asked = getattr(table, "driver_rows", None)
        most = DRIVER_ROWS if asked is None else int(asked)
        coded, counted, piles, sums = frequencies_or_far(
            opened, fitted, sensitive=spread, most=most
        )
        far = None if counted is not None else FarTable.of(coded, piles, sums)
        here = counted if far is None else far.hollow
        assert here is not None
        check_values(fitted, here)
        known = SparkFrequencies(here, coded.coders, coded.columns, coded)
        fitted = fitted.with_date_formats(known.formats)
        plain = Source(
            where=opened.where, columns=opened.columns, format="frame", separator=opened.separator
        )
        return cls(
            source=plain,
            schema=with_kinds(fitted, here.sensitive_domains),
            models=tuple(models),
            options=options,
            lazy=pl.LazyFrame(),
            counted=known,
            seconds={"read": time.perf_counter() - started},
            cpu={"read": time.process_time() - cpu},
            started=started,
            kept=kept,
            table=opened,
            most=most,
            far=far,
        )

    @property
    def account(self) -> ReleaseReport:
        """Return the report of a release that was made."""
        assert self.told is not None
        return self.told

    @property
    def opened(self) -> SparkSource:
        """Return the table on Spark."""
        assert self.table is not None
        return self.table

    def search(self) -> Recoding:
        """Search on the driver, or, where the frequency table does not fit it, by jobs."""
        if self.far is None:
            return super().search()
        method = registry.find(self.options.method, release=self.options.release)
        self._check_enough(self.far.hollow.records)
        if method.family != "lattice":
            self._check_whole(self.far.hollow)
        with self.clock("learn"):
            self.found = self._learned_far(method, self.far)
            if method.release == "aggregate":
                self.found = with_far_centroids(self.far, self.found, method.centroid)
            elif method.family == "microaggregation":
                self.found = self.found.moved(joined(self.found.recoding))
        self._check_limit(self.found.recoding)
        return self.found.recoding

    def _learned_far(self, method: registry.Method, table: FarTable) -> Far:
        """Search a table that stays on Spark."""
        parts, limit = self.options.partitions, self.schema.suppression_limit
        if parts is None and method.name == "mondrian":
            return far_mondrian(table, self.models)
        if parts is None and method.family == "lattice":
            known = ("aggregate", "seconds")
            found = far_lattice(
                table,
                self.models,
                method=method.name,
                most=self.most,
                utility=self.schema.utility,
                suppression_limit=limit,
                **{k: v for k, v in self.options.search.items() if k in known},
            )
            classes = found.recoding.classes
            if classes > self.most:
                self.said = (
                    f"the best levels have {classes:,} classes, more than the driver takes "
                    f"({self.most:,}); they were brought there all the same",
                )
            return found
        if parts is None:
            parts = parts_for(table.rows, self.most)
            self.said = (
                f"{table.rows:,} distinct tuples are more than the driver takes ({self.most:,}): "
                f"{method.name} was learned on {parts} parts of them, which are joined "
                "(say how many with --partitions, or allow more with --driver-rows)",
            )
        with suppress(NoSolutionError):  # a method that is not made for the promise says so here
            first = first_rows(table.hollow, self.models)
            method.run(first, self.models, **self.options.search)
        return far_parts(
            table,
            self._task(table.hollow),
            coarse=Coarse(parts, self.options.partition_by, self.options.seed),
            suppression_limit=limit,
        )

    def forget(self) -> None:
        """Let Spark drop what it kept for this run."""
        kept = () if self.far is None else (self.far.piles,)
        for frame in (*kept, *(() if self.found is None else self.found.kept)):
            frame.unpersist()

    def report(
        self,
        recoding: Recoding,
        verified: Verification | None,
        *,
        results: tuple[Verdict, ...] = (),
    ) -> ReleaseReport:
        """Put the account together; the original tuples of a class may be far away."""
        made = super().report(recoding, verified, results=results)
        if self.far is None:
            return made
        return replace(made, records=self.far.risk.records, risk_before=self.far.risk)

    def _grouping(self, recoding: Recoding) -> Grouping:
        """Describe the classes; what they do to their tuples is worked out where these are."""
        found = super()._grouping(recoding)
        if self.far is None or self.found is None:
            return found
        told = far_told(self.far, self.found, target=self._target())
        if self.found.is_bare:
            found = replace(found, spread=told.spread, minority=told.minority)
        return replace(found, diversity=told.diversity)

    def _repeats(self, recoding: Recoding) -> Repeats | None:
        found = repeating(self.opened, self.schema)
        if found is None:
            return None
        column, counted = found
        k = asked_k(self.models)
        who = present(self.opened, column, self.schema.missing).alias("who")
        classed = self.recoder(recoding).classed(self.opened.name(column), who)
        few = count_people(self.opened, classed, ["class"], k)
        return repeats_of(column, counted, k, few)

    def _squared_loss(self, recoding: Recoding) -> float | None:
        if self.far is None or self.found is None or recoding.released is None:
            return super()._squared_loss(recoding)
        return far_sse_loss(self.far, self.found)

    def judged_classes(self, recoding: Recoding) -> tuple[Verdict, ...]:
        """Judge the classes of a recoding, where their sensitive values are."""
        if self.far is not None and self.found is not None and self.found.is_bare:
            return far_judged(self.far, self.found, self.models)
        return tuple(judge_recoding(recoding, self.models))

    def model(
        self, recoding: Recoding, report: ReleaseReport, *, trial: Trial | None = None
    ) -> RecodingModel:
        """Return the recoding as a model; it is tried where the tuples are."""
        if self.far is not None:
            trial = FarTrial(self.far, most=self.most)
        return super().model(recoding, report, trial=trial)

    def judged_stars(self, recoding: Recoding) -> Verification:
        """Judge the release with suppressed records as the root, where its tuples are."""
        if self.far is None:
            return super().judged_stars(recoding)
        recoder = self.recoder(recoding)
        released = open_table(recoder.frame().toDF(*recoder.columns))
        return verify_table(released, self.schema, self.models)

    def _learned(self, method: registry.Method, table: FrequencyTable) -> Recoding:
        """Search here, or on parts of the table on the executors."""
        parts = self.options.partitions
        if parts is None:
            return super()._learned(method, table)
        coarse = Coarse(parts, self.options.partition_by, self.options.seed)
        return learn_parts(
            self.opened.session,
            table,
            self._task(table),
            coarse=coarse,
            suppression_limit=self.schema.suppression_limit,
        )

    def _task(self, table: FrequencyTable) -> Task:
        """Return what an executor must know to learn on a part of a table."""
        return Task(
            domains=table.domains,
            sensitive_domains=table.sensitive_domains,
            whole=tuple(table.reference(c) for c in range(len(table.sensitive_domains))),
            models=self.models,
            method=self.options.method,
            release=self.options.release,
            options={
                "seed": self.options.seed,
                "suppression_limit": self.schema.suppression_limit,
                "utility": self.schema.utility,
                "target": self.schema.target,
                **self.options.search,
            },
        )

    def _notices(self) -> tuple[str, ...]:
        return (*self.said, *super()._notices())

    def judged(self, written: SparkSource, recoding: Recoding) -> Verification:
        """Judge what was written; raise if it does not hold or is not all there."""
        verified = verify_table(written, self.schema, self.models)
        return self.check_verified(verified, recoding)

    def recoder(self, recoding: Recoding, *, typed: bool = False) -> Recoder:
        """Return what turns the records into released ones."""
        assert isinstance(self.counted, SparkFrequencies)
        return Recoder(
            self.opened, self.schema, self.counted.coded, recoding,
            star=self.star, typed=typed, far=self.found,
            most=0 if self.far is None else self.far.most,
        )  # fmt: skip


def anonymize(
    table: Any,
    schema: Schema,
    *,
    out: str | Path | None = None,
    options: Options,
) -> tuple[Any, ReleaseReport, Schema]:
    """Release a table: search, recode, verify what Spark wrote, and only then publish it.

    Returns:
        The table (None when it was written), its report and the schema it was released by.
    """
    if out is not None:
        # What cannot be written is refused before the work.
        is_guarded(kind_of(out), options.spreadsheet_safe, where=str(out))
    job = SparkJob.on(table, schema, None, options, publishes=True)
    job.options = for_release(options, is_far=job.far is not None)
    try:
        return _released(job, table, out), job.account, job.schema
    finally:
        job.forget()


def _released(job: SparkJob, table: Any, out: str | Path | None) -> Any:
    """Search, recode, verify, publish; return the table unless it was written."""
    recoding = job.search()
    job.settle_stars(recoding)
    if not recoding.classes:
        raise NoSolutionError(problem="every record would have to be suppressed")
    if out is None:
        recoder = job.recoder(recoding, typed=True)
        with job.clock("encode"):
            released = recoder.frame().toDF(*recoder.columns).persist()
        with job.clock("verify"):
            verified = job.judged(open_table(released), recoding)
        job.told = job.report(recoding, verified)
        return released
    spark = job.opened.session
    place = table.place if isinstance(table, SparkTable) else None
    inputs = (place,) if isinstance(place, (str, Path)) else ()
    separator = job.opened.separator
    files = (*inputs, *job.options.inputs)
    with all_or_nothing(
        spark, out, inputs=files, separator=separator,
        spreadsheet_safe=job.options.spreadsheet_safe,
    ) as goal:  # fmt: skip
        recoder = job.recoder(recoding, typed=goal.kind in ("parquet", "orc"))
        with job.clock("encode"):
            goal.write(recoder.frame(), recoder.columns)
        with job.clock("verify"):
            written = open_written(
                spark, goal.address(), goal.kind, columns=recoder.columns, separator=separator
            )
            verified = job.judged(written, recoding)
        job.stage("write")
    del recoder  # its labels are as many as there are classes
    job.told = job.report(recoding, verified)
    return None


def learn_with_report(
    table: Any,
    schema: Schema,
    *,
    options: Options,
) -> tuple[RecodingModel, ReleaseReport]:
    """Learn a recoding; return the model and the account of how it was found."""
    job = SparkJob.on(table, schema, None, options)
    try:
        recoding = job.search()
        with job.clock("verify"):
            results = job.judged_classes(recoding)
        return job.learned(recoding, results)
    finally:
        job.forget()


def encode(table: Any, model: RecodingModel, **choices: Any) -> Encoded:
    """Apply a model to a table."""
    return encoding.encode(table, model, **choices)


def verify(
    release: Any,
    schema: Schema,
    *,
    separator: str | None = None,
) -> Verification:
    """Judge a table as it stands, whoever made it."""
    models = promise_of(schema, None)
    source = open_table(release, separator=separator)
    verified = verify_table(source, schema.judged().fit(source.columns, where=source.where), models)
    kept = beside(schema, source.columns)
    warnings = check_kept(source, kept, schema.waive).warnings
    repeats = repeats_as_it_stands(source, schema, asked_k(models))
    left = left_in(schema, source.columns)
    return told(verified, repeats, (*void_promise(models), *left, *warnings))


def metrics(
    original: Any,
    release: Any,
    schema: Schema,
    *,
    starred: bool | None = None,
    separator: str | None = None,
) -> dict[str, Any]:
    """Measure a release against the table it was made from, by its labels alone."""
    before = open_table(original, separator=separator)
    after = open_table(release, separator=separator).as_labels()
    fitted = replace(schema, privacy=()).fit(before.columns, where=before.where)
    return measuring.measure_release(before, after, fitted, starred=starred)


def risk(
    table: Any, schema: Schema, *, population: Any = None, separator: str | None = None, **more: Any
) -> RiskReport:
    """Measure how easily people are found in a table as it stands."""
    source = open_table(table, separator=separator)
    everybody = None if population is None else open_table(population)
    found = risking.risk(source, schema, population=everybody, **more)
    few = repeats_as_it_stands(source, schema, asked_k(schema.privacy, FEW_PEOPLE))
    return replace(found, repeats=few)


def infer(table: Any, *, separator: str | None = None, **more: Any) -> Inference:
    """Say what each column seems to be and which sets of columns identify people."""
    return inferring.infer(open_table(table, separator=separator), **more)
