"""Verification: what is written is read again and judged class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_hash, person_key
from shoal.engines.refusals import check_columns
from shoal.engines.trajectories import judge_trajectories, persons_alike
from shoal.engines.verification import ROWS, judge_cells, judged_columns
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.privacy import MUniqueness, Promise, expand
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


def verify_table(source: Source, schema: Schema, promise: Sequence[Promise]) -> Verification:
    """Judge the table as it is written.

    Raises:
        InputError: a column is missing, there is no record, or sensitive values do not fit
            their column's scale.
    """
    models = expand(promise, schema.sensitive)
    if schema.person and any(isinstance(model, MUniqueness) for model in models):
        return _verify_with_counterfeits(source, schema, models)
    columns = judged_columns(schema, promise)
    check_columns(source.where, source.columns, [*columns, *schema.person])
    lazy = source.scan([*columns, *schema.person], coded=columns)
    if schema.person:
        key = person_key if schema.trajectories else person_hash
        lazy = lazy.with_columns(key(schema.person, schema.missing))
    keys = [*columns, PERSON] if schema.person else columns
    cells = source.collect(lazy.group_by(keys).agg(source.records.alias(ROWS)))
    judge = judge_trajectories if schema.trajectories else judge_cells
    return judge(cells, schema, promise, where=source.where)


def _verify_with_counterfeits(
    source: Source, schema: Schema, models: Sequence[Promise]
) -> Verification:
    """Judge a release over time: sizes by persons, sensitive values by records.

    A record of nobody is a counterfeit, so that it never makes a class larger; a reader cannot tell
    it from others, so that it counts where values are counted.
    """
    sizes = [model for model in models if model.column is None]
    values = [model for model in models if model.column is not None]
    people = verify_table(source, schema, sizes)
    records = verify_table(source, schema.without_person(), values)
    verdicts = dict(zip([*sizes, *values], (*people.privacy, *records.privacy), strict=True))
    return replace(
        people,
        privacy=tuple(verdicts[model] for model in models),
        violating_records=max(people.violating_records, records.violating_records),
        warnings=tuple(dict.fromkeys((*people.warnings, *records.warnings))),
    )


def trajectories_of(source: Source, schema: Schema) -> TrajectoryRisk:
    """Count the persons of a table whose records, all together, nobody else has.

    Raises:
        InputError: a column is missing, or no record says who it is about.
    """
    quasi = list(schema.quasi)
    check_columns(source.where, source.columns, [*quasi, *schema.person])
    lazy = source.scan([*quasi, *schema.person], coded=quasi)
    lazy = lazy.with_columns(person_key(schema.person, schema.missing))
    cells = source.collect(lazy.group_by([*quasi, PERSON]).agg(source.records.alias(ROWS)))
    return TrajectoryRisk.of(persons_alike(cells, schema, where=source.where))
