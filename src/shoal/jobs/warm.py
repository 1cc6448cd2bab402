"""Compile every kernel beforehand, so that no first run has to: `shoal warm`.

What a kernel is compiled for are the types that it is given, so real jobs are run on a tiny
table: every method under a promise of k, under one with a compiled form, and under one that is
asked in Python, because each of these compiles something else.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from shoal.core.documents import Document
from shoal.core.errors import MissingExtraError, ShoalError
from shoal.jobs.compose import compose
from shoal.jobs.encode import encode
from shoal.jobs.infer import infer
from shoal.jobs.learn import learn
from shoal.jobs.release import release
from shoal.jobs.requests import (
    Checks,
    ComposeRequest,
    EncodeRequest,
    InferRequest,
    LearnRequest,
    Output,
    ReleaseRequest,
    RiskRequest,
)
from shoal.jobs.risk import risk
from shoal.kernels import cache
from shoal.methods import registry
from shoal.privacy import BetaLikeness, KAnonymity, LDiversity, Promise
from shoal.schema.attribute import Labels
from shoal.schema.schema import Attribute, Kind, Role, Schema

_K = KAnonymity(2)
_PROMISES: tuple[tuple[Promise, ...], ...] = (
    (_K,),
    (_K, LDiversity(2, column="s")),
    (_K, BetaLikeness(9.0, column="s")),
)
_SEARCHES: dict[str, list[dict[str, object]]] = {
    "kmember": [{"cm": True}],
    "kmember-parallel": [{"cm": True}],
    "refine": [{"effort": "fast"}],
}
"""Options with which a method compiles something else than without them."""


@dataclass(frozen=True, slots=True)
class Warmed:
    """What one job compiled, and what it found compiled already."""

    job: str
    compiled: int
    loaded: int
    seconds: float


def warm() -> Iterator[Warmed]:
    """Run one job after the other on a tiny table, and say what each compiled."""
    with tempfile.TemporaryDirectory(prefix="shoal-warm-") as folder:
        table = Path(folder) / "table.csv"
        lines = [f"{20 + i % 7},{'abc'[i % 3]},{'xyz'[i // 4 % 3]},{i % 7}" for i in range(36)]
        lines.append("99,d,x,99")  # alone: something for a search to suppress
        table.write_text("\n".join(["n,c,s,p", *lines, ""]), encoding="utf-8")
        for name, job in _jobs(table):
            before, began = cache.made(), time.perf_counter()
            with suppress(ShoalError):  # a method may find nothing: then its kernels ran in vain
                job()
            after, seconds = cache.made(), time.perf_counter() - began
            compiled, loaded = after.compiled - before.compiled, after.loaded - before.loaded
            yield Warmed(name, compiled, loaded, seconds)
    cache.warmed()


def folder() -> Path | None:
    """Return where compiled kernels are kept; None: nowhere."""
    return cache.place()


def _jobs(table: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    for name in registry.METHODS:
        yield name, partial(_search, table, name)
    yield "refine, centroids", partial(_release, table, "refine", form="aggregate")
    for name in ("bestcut", "refine", "kmember", "flash"):
        yield f"{name}, persons", partial(_search, table, name, person=("p",))
    yield "infer", partial(infer, InferRequest(table=table, max_size=3))
    yield "risk", partial(risk, RiskRequest(table=table, schema=_schema()))
    yield "encode", partial(_encode, table)
    yield "compose", partial(_compose, table)
    yield "bound", partial(_bound, table)
    yield "target", partial(_target, table)
    yield "sets", partial(_sets, table)


def _schema() -> Schema:
    kinds = {"n": Kind.NUMERIC, "c": Kind.CATEGORICAL}
    quasi = [Attribute(name=name, role=Role.QUASI, kind=kind) for name, kind in kinds.items()]
    sensitive = Attribute(name="s", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    removed = Attribute(name="p", role=Role.IDENTIFYING)
    return Schema(attributes=(*quasi, sensitive, removed), suppression_limit=0.5)


def _search(table: Path, method: str, *, person: tuple[str, ...] = ()) -> None:
    for promise in _PROMISES:
        for search in ({}, *_SEARCHES.get(method, [])):
            with suppress(ShoalError):
                _release(table, method, promise=promise, search=search, person=person)


def _release(
    table: Path,
    method: str,
    *,
    form: str | None = None,
    promise: tuple[Promise, ...] = (_K,),
    search: dict[str, object] | None = None,
    person: tuple[str, ...] = (),
) -> Path:
    search = search or {}
    out = table.with_name("release.csv")
    out.unlink(missing_ok=True)
    schema = replace(_schema(), privacy=promise, target="s" if "cm" in search else None)
    request = ReleaseRequest(
        table=table,
        schema=schema.with_person(person) if person else schema,
        method=registry.method_named(method, search),
        release=form,
        output=Output(out=out),
    )
    release(request)
    return out


def _compose(table: Path) -> None:
    made = _release(table, "mondrian")
    schema = replace(_schema(), privacy=(_K,))
    compose(ComposeRequest(table=table, schema=schema, releases=(made, made)))


def _bound(table: Path) -> None:
    schema = replace(_schema(), privacy=(_K,), labels=Labels.TIGHT)
    with suppress(MissingExtraError):  # SciPy is an extra
        release(ReleaseRequest(table=table, schema=schema, checks=Checks(bound=5.0)))


def _target(table: Path) -> None:
    schema = replace(_schema(), privacy=(_K,), utility="information", target="s")
    for name in ("bestcut", "refine"):
        method = registry.method_named(name)
        release(ReleaseRequest(table=table, schema=schema, method=method))


def _sets(table: Path) -> None:
    baskets = table.with_name("sets.csv")
    rows = ["|".join("abcdef"[i % 6 : i % 6 + 1 + i % 4]) for i in range(40)]
    baskets.write_text("\n".join(["items", *rows, ""]), encoding="utf-8")
    promise: Document = {"model": "km-anonymity", "k": 2, "m": 2}
    columns: Document = {"items": {"role": "quasi", "kind": "set"}}
    schema = Schema.from_document({"columns": columns, "privacy": [promise]})
    release(ReleaseRequest(table=baskets, schema=schema))


def _encode(table: Path) -> None:
    model = learn(LearnRequest(table=table, schema=replace(_schema(), privacy=(_K,)))).model
    output = Output(out=table.with_name("encoded.csv"))
    encode(EncodeRequest(table=table, model=model, safe=True, output=output))
    frame = pl.read_csv(table)  # texts where they lie in memory
    encode(EncodeRequest(table=frame, model=model, safe=True))
