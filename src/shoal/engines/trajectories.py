"""Judging a table in which a pseudonym says which records are of one person.

As in `verification`, nothing here knows how a release came about: a trajectory is the multiset of
texts that stand in the quasi-identifier columns of a person's records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.person_key import PERSON
from shoal.engines.refusals import no_record, nobody
from shoal.engines.verification import ROWS, JudgedBy, judge_by
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.privacy import Promise, Verdict, expand
from shoal.reports.release import Verification
from shoal.schema.schema import Schema

TRAJECTORY = "\x00trajectory"
_TUPLE, _PLACE = "\x00tuple", "\x00place"


def judge_trajectories(
    cells: pl.DataFrame, schema: Schema, promise: Sequence[Promise], *, where: str
) -> Verification:
    """Judge a table by what its persons have in common, all records of each taken together.

    A promise must hold for the persons of every trajectory. One about sensitive values must hold
    for each tuple of a trajectory, too, because somebody may know which record is meant, and for
    each tuple in the whole table, because somebody may know one record alone. Classes and the
    smallest of them are those of trajectories. A record of nobody breaks every promise.

    cells: see `verification.judge_cells`; with a column PERSON.
    """
    quasi = list(schema.quasi)
    seen = _with_trajectories(cells, quasi)
    views = [[TRAJECTORY]]
    if any(model.column is not None for model in expand(promise, schema.sensitive)):
        views += [[TRAJECTORY, *quasi], quasi]
    judged = [judge_by(seen, view, schema, promise, where=where) for view in views]
    first = judged[0].verified
    return replace(
        first,
        violating_records=_violating(seen, judged, views),
        privacy=tuple(
            _worst(results)
            for results in zip(*(each.verified.privacy for each in judged), strict=True)
        ),
        trajectories=TrajectoryRisk.of(_sizes(seen)).to_document(),
    )


def persons_alike(cells: pl.DataFrame, schema: Schema, *, where: str) -> NDArray[np.int64]:
    """Return how many persons share each different trajectory.

    Raises:
        InputError: there is no record, or none says who it is about.
    """
    if not cells.height:
        raise no_record(where)
    sizes = _sizes(_with_trajectories(cells, list(schema.quasi)))
    if not len(sizes):
        raise nobody(where, schema.person)
    return sizes


def _with_trajectories(cells: pl.DataFrame, quasi: list[str]) -> pl.DataFrame:
    """Return the cells with the trajectory of their person: each tuple, and how often it is there.

    It is written out as a text, so that equal ones are equal and no others.
    """
    number = cells.select(quasi).unique(maintain_order=True).with_row_index(_TUPLE)
    placed = cells.join(number, on=quasi, how="left", nulls_equal=True, maintain_order="left")
    counted = placed.group_by(PERSON, _TUPLE).agg(pl.col(ROWS).sum()).sort(_TUPLE)
    one = pl.concat_str(pl.col(_TUPLE), pl.col(ROWS), separator="*")
    whole = (
        counted.filter(pl.col(PERSON).is_not_null())
        .with_columns(one.alias(_PLACE))
        .group_by(PERSON, maintain_order=True)
        .agg(pl.col(_PLACE).str.join("+").alias(TRAJECTORY))
    )
    return placed.drop(_TUPLE).join(whole, on=PERSON, how="left", maintain_order="left")


def _sizes(seen: pl.DataFrame) -> NDArray[np.int64]:
    known = seen.filter(pl.col(PERSON).is_not_null())
    sizes = known.group_by(TRAJECTORY).agg(pl.col(PERSON).n_unique())
    return sizes[PERSON].to_numpy().astype(np.int64)


def _violating(seen: pl.DataFrame, judged: list[JudgedBy], views: list[list[str]]) -> int:
    """Return the records that break a promise in at least one view."""
    numbered = seen.with_row_index(_PLACE)
    wrong: set[int] = set()
    for each, view in zip(judged, views, strict=True):
        found = numbered.join(each.failing, on=view, how="semi", nulls_equal=True)
        wrong.update(found[_PLACE].to_list())
    return int(seen[ROWS].gather(sorted(wrong)).sum()) if wrong else 0


def _worst(results: Sequence[Verdict]) -> Verdict:
    """Return the verdict of several views on one promise."""
    found = results[0]
    for other in results[1:]:
        found = found.merge(other)
    return replace(found, violating_records=max(each.violating_records for each in results))
