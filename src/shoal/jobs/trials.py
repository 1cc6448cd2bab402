"""What is tried side by side: releases, each by a request and a name that tells it apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError
from shoal.engines.base import Checks
from shoal.jobs.documents import request_document, request_from
from shoal.jobs.requests import ReleaseRequest
from shoal.methods.method import Method
from shoal.privacy import Promise
from shoal.schema.attribute import labels_named
from shoal.schema.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One release that is tried.

    Attributes:
        name: what tells it from the others.
        request: what is asked; where the release goes does not matter.
        sample: it is tried on so many records of the table, drawn by its seed; None: on all.
        words: what a command line says for what it is tried with; none for a sample.
        facts: the table, the method, the promise … as plain data, to group runs by.
    """

    name: str
    request: ReleaseRequest
    sample: int | None = None
    words: tuple[str, ...] = ()
    facts: Document = field(default_factory=dict)


class _Point(NamedTuple):
    """One combination; a field a list of `Grid`, in its order."""

    table: tuple[str, object]  # what it is called among them, and itself
    sample: int | None
    method: Method
    promise: tuple[Promise, ...]
    release: str | None
    limit: float | None
    words: tuple[str | None, str | None]  # of the schema: labels, and what is minimized
    parts: tuple[int | None, str]  # how many, and how they are made
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Every combination of what is tried.

    Attributes:
        tables: each has the columns of the schema.
        samples: numbers of records that are drawn of each table; None: all of them.
        schema: has a promise of its own, or none; `promises` are kept beside it, or
            (`replace_promise`) in its place.
        releases: "generalize", "aggregate", or None: what the method is made for.
        limits: suppression limits; None: the schema's.
        labels: "round" or "tight"; None: the schema's.
        utilities: what a search minimizes; None: the schema's.
        partitions: parts that are learned side by side; None: the table as a whole.
        partition_by: how parts are made, "kmeans" or "random".
        fidelity, learn: measured of each release; see `Checks`.
    """

    tables: tuple[object, ...]
    schema: Schema
    methods: tuple[Method, ...]
    samples: tuple[int | None, ...] = (None,)
    promises: tuple[tuple[Promise, ...], ...] = ((),)
    releases: tuple[str | None, ...] = (None,)
    limits: tuple[float | None, ...] = (None,)
    labels: tuple[str | None, ...] = (None,)
    utilities: tuple[str | None, ...] = (None,)
    partitions: tuple[int | None, ...] = (None,)
    partition_by: tuple[str, ...] = ("kmeans",)
    seeds: tuple[int, ...] = (0,)
    replace_promise: bool = False
    infer: bool = True
    separator: str | None = None
    fidelity: bool = False
    learn: str | None = None

    def trials(self) -> tuple[Trial, ...]:
        """Return a trial for each combination, once; names say what differs."""
        lists = (
            _told_apart(self.tables), self.samples, self.methods, self.promises, self.releases,
            self.limits, tuple(product(self.labels, self.utilities)),
            tuple(product(self.partitions, self.partition_by)), self.seeds,
        )  # fmt: skip
        found = [self._trial(_Point(*each)) for each in product(*lists)]
        return tuple({each.name: each for each in found}.values())

    def _schema(self, at: _Point) -> Schema:
        """Return the schema of a combination."""
        schema = self.schema.with_promise(
            at.promise, suppression_limit=at.limit, replace_promise=self.replace_promise
        )
        labels, utility = at.words
        if labels is not None:
            schema = replace(schema, labels=labels_named(labels))
        return schema if utility is None else replace(schema, utility=utility)

    def _trial(self, at: _Point) -> Trial:
        (called_so, table), (labels, utility) = at.table, at.words
        partitions, partition_by = at.parts
        request = ReleaseRequest(
            table=table, schema=self._schema(at), method=at.method, release=at.release,
            infer=self.infer, partitions=partitions, partition_by=partition_by,
            seed=at.seed, separator=self.separator,
            checks=Checks(attacks="none", fidelity=self.fidelity, learn=self.learn),
        )  # fmt: skip
        own = {name: value for name, value in at.method.to_document().items() if name != "name"}
        how = ["partition-by=random"] if partition_by == "random" else []
        parts = [at.method.name, *(f"{name}={value}" for name, value in own.items()), *how]
        method = " ".join(parts)
        asked, promised = _asked(at.promise)
        words = ["--method", at.method.name]
        words += [word for name, value in own.items() for word in ("--set", f"{name}={value}")]
        words += promised
        parts = [method, *(f"{name}={value}" for name, value in asked.items())]
        for flag, value, several in (
            ("--release", at.release, len(self.releases) > 1),
            ("--suppression-limit", at.limit, len(self.limits) > 1),
            ("--labels", labels, len(self.labels) > 1),
            ("--utility", utility, len(self.utilities) > 1),
            ("--partitions", partitions, len(self.partitions) > 1),
            ("--partition-by", partition_by if how else None, False),
            ("--seed", at.seed or None, False),
        ):
            if value is not None:
                words += [flag, str(value)]
            if several:
                parts.append(f"{flag[2:]}={value if value is not None else 'none'}")
        parts += [f"records={at.sample or 'all'}"] if len(self.samples) > 1 else []
        parts += [f"of {called_so}"] if len(self.tables) > 1 else []
        name = " ".join(parts)
        facts: Document = {
            "table": called_so, "method": method, "promise": asked,
            "release": at.release, "suppression_limit": at.limit, "labels": labels,
            "minimizes": utility, "partitions": partitions, "sample": at.sample,
            "seed": at.seed, "group": name,
        }  # fmt: skip
        if len(self.seeds) > 1:
            name += f" seed={at.seed}"
        return Trial(
            name=name, request=request, sample=at.sample, facts=facts,
            words=() if at.sample else tuple(words),
        )  # fmt: skip


def _asked(promise: tuple[Promise, ...]) -> tuple[dict[str, Json], list[str]]:
    """Return the parameters of a promise, and how a command line says them."""
    asked: dict[str, Json] = {}
    words: list[str] = []
    for each in promise:
        for option in each.options:
            value = getattr(each, option.parameter, None)
            if value is not None and str(value) != option.default:
                words += [min(option.flags, key=len), str(value)]
                asked[option.name] = value
    return asked, words


def trials_from(document: object, base: ReleaseRequest, *, where: str) -> tuple[Trial, ...]:
    """Return the trials that a file describes: `runs`, a list of release requests.

    base: what holds where a run says nothing else (the table, the schema …). A run may have a
        `name`.

    Raises:
        SchemaError: names everything that is wrong with a run.
    """
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or not all(isinstance(each, dict) for each in runs):
        raise SchemaError(where=where, faults=["`runs` must be a list of release requests"])
    usual = request_document(base)
    found = []
    for number, run in enumerate(runs, start=1):
        own = {name: value for name, value in run.items() if name != "name"}
        request = request_from({**usual, **own}, where=f"{where}, run {number}")
        if not isinstance(request, ReleaseRequest):
            raise SchemaError(where=f"{where}, run {number}", faults=["is not a release"])
        method = request.method.name
        name = str(run.get("name", f"{method}, run {number}"))
        k = max((promise.least_records for promise in request.schema.privacy), default=1)
        facts: Document = {
            "table": called(request.table), "method": method, "promise": {"k": k},
            "release": request.release, "suppression_limit": request.schema.suppression_limit,
            "seed": request.seed, "group": name,
        }  # fmt: skip
        found.append(Trial(name=name, request=request, facts=facts))
    twice = {each.name for each in found if [x.name for x in found].count(each.name) > 1}
    if twice:
        raise SchemaError(where=where, faults=[f"{len(twice)} names of runs stand twice"])
    return tuple(found)


def _told_apart(tables: tuple[object, ...]) -> list[tuple[str, object]]:
    """Return each table with what it is called: files of one name in two folders get a number."""
    names = [called(table) for table in tables]
    return [
        (name if names.count(name) == 1 else f"{name} ({names[:place].count(name) + 1})", table)
        for place, (name, table) in enumerate(zip(names, tables, strict=True))
    ]


def called(table: object) -> str:
    """Return what a table is called among the runs."""
    return Path(os.fspath(table)).name if isinstance(table, (str, os.PathLike)) else "table"
