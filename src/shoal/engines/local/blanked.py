"""Verification of releases whose sensitive cells may have been blanked.

Sensitive suppression empties the sensitive cells of classes that are not diverse. What that
means for a judge:

* A class whose cells of a column are all empty tells nothing about the column: it passes.
* In every other class an empty cell counts as no value at all. It is no wildcard and no
  further value: the cells that are filled must hold l different values by themselves.
* Where persons are counted, the filled cells must belong to l different persons.
* A mark of a missing value, such as NA, is not an empty cell, and no value either: a class
  that holds nothing but such marks does not pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from shoal.core.errors import MethodError
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.verify import verify_table
from shoal.privacy import KAnonymity, LDiversity, Promise, Verdict, expand
from shoal.reports.release import Verification
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale

_ROWS, _EMPTY, _VALUE = "\x00rows", "\x00empty", "\x00value"


def verify_release(
    released: object,
    schema: Schema,
    k: int,
    *,
    diversity: Mapping[str, int],
    blanked: bool = False,
    separator: str | None = None,
) -> list[Verification]:
    """Judge a release as it is written: first k-anonymity, then each column's l-diversity.

    Args:
        released: a path, a table, or one that is opened already.
        schema: names the quasi-identifiers and sensitive columns.
        k: records that every class must have.
        diversity: l for each sensitive column.
        blanked: sensitive cells may have been blanked; see the head of this file.
        separator: of a CSV file.
    """
    source = released if isinstance(released, Source) else None
    source = source or open_source(released, separator=separator)
    models = [LDiversity(wanted, column=name) for name, wanted in diversity.items()]
    found = [verify_table(source, schema, [KAnonymity(k)])]
    for model in models:
        judge = verify_blanked if blanked else verify_table
        found.append(judge(source, schema, [model]))
    return found


def verify_blanked(source: Source, schema: Schema, models: Sequence[Promise]) -> Verification:
    """Judge a table whose sensitive cells may have been blanked.

    Raises:
        MethodError: a model about which a blanked cell leaves nothing to say.
        InputError: a column is missing, or there is no record.
    """
    whole = verify_table(source, schema, [m for m in models if isinstance(m, KAnonymity)])
    results, warnings = list(whole.privacy), list(whole.warnings)
    for model in expand(tuple(models), schema.sensitive):
        if isinstance(model, LDiversity) and model.kind == "distinct":
            judged = _judge(source, schema, model)
            results += judged.privacy
            warnings += judged.warnings
        elif not isinstance(model, KAnonymity):
            raise MethodError(
                problem="--blanked goes with k-anonymity and distinct l-diversity, "
                f"not {model.name}"
            )
    # A class may break several models; each counts its records, so their sum is at most too high.
    violating = sum(result.violating_records for result in results)
    return replace(
        whole,
        violating_records=min(violating, whole.records),
        privacy=tuple(results),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _judge(source: Source, schema: Schema, model: LDiversity) -> Verification:
    """Judge one column: empty classes pass, and elsewhere only filled cells are values."""
    name, quasi = str(model.column), list(schema.quasi)
    whole = verify_table(source, schema, [model])  # says which column is missing
    scale = Scale.of(schema, name, [model])
    keys = [*quasi, name, *schema.person]
    lazy = source.scan(keys, coded=quasi)
    cells = source.collect(lazy.group_by(keys).agg(source.records.alias(_ROWS)))
    texts = cells[name].cast(pl.String)
    value_of = {text: scale.text(text) is not None for text in texts.unique().to_list()}
    cells = cells.with_columns(
        (texts.is_null() | (texts.str.strip_chars() == "")).alias(_EMPTY),
        pl.Series(_VALUE, [value_of[text] for text in texts.to_list()], dtype=pl.Boolean),
    )
    cells = cells.filter(~pl.col(_EMPTY).all().over(quasi))
    unknown = cells.filter(~pl.col(_VALUE).any().over(quasi))  # marks only: nothing shows l values
    lost = int(unknown[_ROWS].sum())
    result = Verdict(model=model, holds=not lost, value=0 if lost else None, violating_records=lost)
    filled = _filled(cells, quasi)
    if filled.height:
        judged = Source(
            where=source.where,
            columns=(*keys,),
            format=source.format,
            frame=filled.select(*keys, _ROWS).lazy(),
            weight=_ROWS,
        )
        known = verify_table(judged, schema, [model]).privacy[0]
        result = replace(
            known,
            holds=known.holds and not lost,
            value=0 if lost else known.value,
            violating_records=known.violating_records + lost,
        )
    return replace(whole, privacy=(result,), violating_records=result.violating_records)


def _filled(cells: pl.DataFrame, quasi: list[str]) -> pl.DataFrame:
    """Return the cells that hold a value; one of each class stands for the others, too.

    So each class keeps the number of its records.
    """
    empty = pl.col(_ROWS).filter(~pl.col(_VALUE)).sum().over(quasi)
    is_first = pl.int_range(pl.len()).over(quasi) == 0
    return (
        cells.with_columns(empty.alias(_EMPTY))
        .filter(pl.col(_VALUE))
        .with_columns(pl.col(_ROWS) + pl.when(is_first).then(pl.col(_EMPTY)).otherwise(0))
    )
