"""What a release and a model have in common: open → count → search, each once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shoal.core.errors import InputError, MethodError, NoSolutionError, PrivacyError, SchemaError
from shoal.core.secret_keys import Keys
from shoal.core.watch import tell, watcher
from shoal.engines.base import Classes, Counts, Records, Search, Table
from shoal.engines.choose import engine_for
from shoal.engines.counts import CountsHere
from shoal.inference.kept import KeptCheck
from shoal.jobs.auto import choose
from shoal.jobs.clock import Clock
from shoal.jobs.proposals import proposals
from shoal.jobs.requests import LearnRequest, ReleaseRequest
from shoal.measures.risk.persons import asked_k
from shoal.methods.catalogue import Auto, BestCut, Refine
from shoal.methods.coarse import Coarse
from shoal.methods.judging import judge_recoding, one_class
from shoal.methods.method import Method, Setting
from shoal.methods.registry import resolve
from shoal.privacy import Promise, expand
from shoal.schema.linked import LinkedSchema
from shoal.schema.schema import Kind, Schema
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.target_order import target_orders

if TYPE_CHECKING:
    from shoal.engines.base import ClassNumbers


@dataclass
class Opened:
    """A table that was opened and counted for a request.

    Attributes:
        schema: every column named, with the kinds and date formats that were found out.
        promise: the schema's, a model for each sensitive column that it speaks of.
    """

    request: LearnRequest
    table: Table
    schema: Schema
    promise: tuple[Promise, ...]
    records: Records
    counts: Counts
    kept: KeptCheck
    clock: Clock

    def search(self, *, learns: bool) -> tuple[Search, Classes]:
        """Run the method; kernels are loaded, or compiled, before its clock starts.

        Raises:
            NoSolutionError: even the whole table as one class does not meet the promise, or
                more records would be suppressed than were allowed.
        """
        request, counts = self.request, self.counts
        # A table that stays on the cluster is cut there, whatever it is for.
        method, release = resolve(
            request.method, release=request.release, learns=learns or counts.is_distributed
        )
        if self.schema.utility == "information" and isinstance(method, Refine):
            method = BestCut()  # both cut; what refine would improve is the loss alone
        search = Search(
            method=method,
            release=release,
            promise=self.promise,
            setting=Setting(
                suppression_limit=self.schema.suppression_limit,
                utility=self.schema.utility,
                target=self.schema.target,
                seed=request.seed,
                threads=request.threads,
            ),
            partitions=self._partitions(),
        )
        self._check_reachable(search)
        with self.clock.time("compile", is_told=False):
            counts.compile(search, self.clock.progress)
        with self.clock.time("learn"):
            seconds = getattr(method, "seconds", None)
            if seconds:
                watcher().limit(seconds)
            is_open = isinstance(request.method, Auto) and self.schema.utility != "information"
            if is_open and isinstance(counts, CountsHere):
                choice = choose(counts, search, learns=learns)
                search = replace(search, method=choice.method, why=choice.why)
            classes = counts.search(search)
        check_limit(classes.recoding.suppressed, classes.recoding.table.records, self.schema)
        return search, classes

    def _partitions(self) -> Coarse | None:
        request = self.request
        if request.partitions is None:
            return None
        return Coarse(request.partitions, request.partition_by, request.seed, request.threads)

    def _check_reachable(self, search: Search) -> None:
        """Refuse, before any search, a promise that the whole table as one class breaks."""
        table = self.counts.table
        for model in self.promise:
            if table.people < model.least_records:
                raise out_of_reach(model, table, table.people)
        if search.method.family == "lattice":  # finer classes may hold where one class does not
            return
        for result in judge_recoding(one_class(table), self.promise):
            if not result.holds:
                raise out_of_reach(result.model, table, result.value)


@contextmanager
def opened(
    request: LearnRequest,
    clock: Clock,
    *,
    check: Callable[[Table], None] | None = None,
    earlier: Callable[[Table, Schema], ClassNumbers] | None = None,
) -> Iterator[Opened]:
    """Read a table down to its counts.

    Args:
        request: what is asked.
        clock: counts the seconds.
        check: of a table that is to be released: looks at it before any work, and a kept column
            that is an identifier is refused.
        earlier: gives the class of each record in an earlier release that the new one is to be
            nested in; None: it is not.
    """
    with clock.time("read"):
        table = engine_for(request.table).open(request.table, separator=request.separator)
        if check is not None:
            check(table)
        known = replace(
            request.schema,
            proposals=proposals(infer=request.infer, method=request.method),
            labels=request.labels,
        )
        tell("count")
        fitted, promise, counted = fit(known, table.columns, request.method, table.where)
        if fitted.utility == "information":
            before = table.records(fitted, counted, Keys.of(request.key))
            known = informed(known, before.count().table, fitted.target, k=asked_k(promise))
            fitted, promise, counted = fit(known, table.columns, request.method, table.where)
        within = None if earlier is None else earlier(table, fitted)
        records = table.records(fitted, counted, Keys.of(request.key), earlier=within)
        ordered = isinstance(request, ReleaseRequest) and request.output.keep_order
        kept = records.check_kept(ordered=ordered)
        if check is not None:
            kept.refuse(table.where)
        counts = records.count()
    try:
        check_values(fitted, counts.table)
        yield Opened(request, table, counts.schema, promise, records, counts, kept, clock)
    finally:
        counts.close()


def informed(schema: Schema, table: FrequencyTable, target: str | None, *, k: int) -> Schema:
    """Return the schema with categories in the order of what they say of a target.

    So any run of them may be a label, whatever hierarchy they had.

    Raises:
        MethodError: the target is recoded, or not counted.
    """
    if target is None or target not in [domain.name for domain in table.sensitive_domains]:
        raise MethodError(
            problem="--for needs a column that is released as it is: --sensitive or --neutral"
        )
    return schema.with_attributes(
        replace(
            schema.attribute(name), kind=Kind.ORDINAL, order=order, hierarchy=None, distance=None
        )
        for name, order in target_orders(table, target, k=k).items()
    )


def promise_of(schema: Schema | LinkedSchema) -> tuple[Promise, ...]:
    """Return what a schema promises; there must be something."""
    if not schema.privacy:
        raise PrivacyError(model="none", problem="no promise was given; ask for one, such as -k 5")
    return schema.privacy


def fit(
    schema: Schema, columns: Sequence[str], method: Method, where: str
) -> tuple[Schema, tuple[Promise, ...], list[str]]:
    """Return the schema for a table, its promise, and the columns that must be counted for it.

    These are the sensitive columns that the promise or the method looks at, and the target.

    Raises:
        InputError: no column is a quasi-identifier.
    """
    fitted = replace(schema, privacy=promise_of(schema)).fit(columns, where=where)
    if not fitted.quasi:
        raise InputError(
            where="schema", problem="no quasi-identifier; name the columns to recode (--qi a,b)"
        )
    promise = tuple(expand(fitted.privacy, fitted.sensitive))
    counted = dict.fromkeys(m.column for m in promise if m.column is not None)
    if method.spreads:
        counted |= dict.fromkeys(fitted.sensitive)
    if fitted.target is not None and fitted.target not in fitted.quasi:
        counted[fitted.target] = None
    return fitted, promise, list(counted)


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


def check_limit(suppressed: int, records: int, schema: Schema | LinkedSchema) -> None:
    """Refuse a recoding that suppresses more records than were allowed."""
    if suppressed > math.floor(schema.suppression_limit * records + 1e-9):
        least = math.ceil(suppressed / records * 1e6) / 1e6
        raise NoSolutionError(
            problem=(
                f"{suppressed} of {records} records would have to be suppressed, more "
                f"than the limit allows; ask for less, or allow --suppression-limit {least:g}"
            )
        )


def out_of_reach(model: Promise, table: FrequencyTable, value: float | None) -> NoSolutionError:
    """Return the refusal of a promise that the whole table as one class breaks."""
    asked = ", ".join(f"{k}={v}" for k, v in model.shown().items())
    counted = "" if table.persons is None else f", counted by {table.people} persons,"
    return NoSolutionError(
        problem=(
            f"{model.name} ({asked}) cannot be met: all {table.records} records as one class"
            f"{counted} reach "
            f"{value}. Ask for less, or bring more records"
        )
    )
