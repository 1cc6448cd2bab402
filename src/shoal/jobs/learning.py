"""Train models on a release, and test them on records that were held out.

A table is parted. For each part in turn, the others are released as a request asks, and models
are trained on that release; they are tested on the part, whose records go through the same
recoding. Beside them: models of the raw records, of marginals alone (which no release is needed
for), and the commonest value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from statistics import mean
from typing import Protocol, cast

import polars as pl

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError
from shoal.core.watch import NOBODY, tell, watched_by, watcher
from shoal.engines.base import Checks, Output
from shoal.engines.choose import engine_for
from shoal.engines.local.learning import Folded, Tables, check_values, parts_of, score_fold
from shoal.engines.local.source import open_source
from shoal.jobs.learn import learn
from shoal.jobs.requests import LearnRequest, ReleaseRequest
from shoal.measures.learning.models import check_extra
from shoal.schema.schema import Schema

WAYS = ("raw", "release", "control", "raw_on_release")
SCORES = ("macro_f1", "auc", "accuracy")


class Made(Protocol):
    """A verified release; see `jobs.release`."""

    @property
    def table(self) -> object:
        """Return it."""

    @property
    def schema(self) -> Schema:
        """Return the schema that it was released by."""


def check_learning(request: ReleaseRequest, target: str, columns: Sequence[str]) -> None:
    """Refuse a target that a release does not have as it is, and a platform without models.

    Raises:
        SchemaError: says what to do.
        MissingExtraError: scikit-learn is not installed.
    """
    check_extra()
    schema = request.schema
    if engine_for(request.table).name != "local":
        raise SchemaError(where="--learn", faults=["needs the local engine"])
    kept = {each.name for each in schema.attributes if each.is_kept and each.release is None}
    if target not in columns:
        raise SchemaError(where="--learn", faults=[f"the table has no column {target!r}"])
    if target not in kept:
        fault = f"{target!r} must be released as it is: --sensitive or --neutral {target}"
        raise SchemaError(where="--learn", faults=[fault])
    if not schema.quasi:
        raise SchemaError(where="--learn", faults=["there are no quasi-identifiers to learn from"])


def check_target(request: ReleaseRequest, target: str, columns: Sequence[str]) -> None:
    """Refuse, before anything is written, what cannot be learned once the release is.

    Raises:
        InputError: the target has one value, or too many.
        SchemaError, MissingExtraError: see `check_learning`.
    """
    check_learning(request, target, columns)
    check_values(open_source(request.table, separator=request.separator), target)


def learning(
    request: ReleaseRequest, target: str, made_by: Callable[[ReleaseRequest], Made]
) -> Document:
    """Return how well models of the release do on records held out, beside others.

    made_by: makes the release that a request asks for.

    Guarantee:
        Recoding, features and models are learned on the training part alone.

    Raises:
        InputError: the target has one value, or too many.
        SchemaError, MissingExtraError: see `check_learning`.
    """
    source = open_source(request.table, separator=request.separator)
    check_learning(request, target, source.columns)
    parts = parts_of(source, request.schema, target, seed=request.seed)
    tell("learning")
    watching, found = watcher(), []
    for fold in range(parts.folds):
        watching.advance(fold, parts.folds)
        train, test = parts.split(fold)
        asked = _part_of(request, train)
        with watched_by(NOBODY):  # what counts is how many parts are done
            made = made_by(asked)
            coded = test  # a model of drawn values takes values
            if request.release != "draw":
                model = learn(_learned(asked)).model
                coded = model.encode(test, on_unseen="nearest", suppressed="star").table
        tables = Tables(train, cast("pl.DataFrame", made.table), test, coded)
        found.append(score_fold(tables, made.schema, target, seed=request.seed))
    return {
        "target": target,
        "records": parts.frame.height,
        "of": parts.of,
        "without_target": parts.dropped,
        "folds": parts.folds,
        "majority": _ends([each.majority for each in found]),
        "models": _models(found),
    }


def _part_of(request: ReleaseRequest, train: object) -> ReleaseRequest:
    """Return the request of a part: the same, but nothing is written or measured."""
    return replace(
        request, table=train, output=Output(), checks=Checks(attacks="none"), separator=None,
        nested_in=None, ledger=None, waive_composition=(), after=None, counterfeits=None,
        false_records=None, counterfeit_table=None, epsilon=None, budget=None,
    )  # fmt: skip


def _learned(request: ReleaseRequest) -> LearnRequest:
    """Return what learns the same recoding; a model replaces nothing."""
    words = {each.name: getattr(request, each.name) for each in fields(LearnRequest)}
    schema = replace(request.schema, labels=request.labels)
    return LearnRequest(**{**words, "schema": schema})


def _models(found: Sequence[Folded]) -> dict[str, Json]:
    return {
        name: {
            way: {
                score: _ends([each.models[name][way][score] for each in found]) for score in SCORES
            }
            for way in WAYS
        }
        for name in found[0].models
    }


def _ends(values: Sequence[float | None]) -> Document | None:
    """Return the mean over the parts and its ends; None where one of them is not known."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    return {
        "mean": round(mean(known), 6), "least": round(min(known), 6), "most": round(max(known), 6),
    }  # fmt: skip
