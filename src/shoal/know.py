"""Knowing a table and its release: roles, risk, and attacks that are carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.core.errors import MethodError
from shoal.engines.local.attack import Attacker
from shoal.engines.local.csv_file import CsvFile, proposed
from shoal.engines.local.infer import Inference, preset_frame
from shoal.engines.local.infer import infer as infer_source
from shoal.engines.local.persons import repeats_as_it_stands
from shoal.engines.local.recode import Part
from shoal.engines.local.risk import check_question
from shoal.engines.local.risk import risk as risk_source
from shoal.engines.local.source import Source, format_of, format_to_write, open_source
from shoal.engines.local.write import all_or_nothing, write_parts, write_text
from shoal.engines.spark.source import is_on_spark
from shoal.measures.attacks.result import Comparison
from shoal.measures.risk.persons import FEW_PEOPLE, asked_k
from shoal.measures.risk.report import RiskReport
from shoal.methods.infer.propose import schema_text
from shoal.schema.schema import Others, Schema

__all__ = ["attack", "infer", "risk", "write_preset", "write_schema"]


def infer(
    table: Any,
    *,
    max_size: int = 5,
    seconds: float = 60,
    threshold: float = 1.0,
    separator: str | None = None,
) -> Inference:
    """Say what each column seems to be and which sets of columns identify people."""
    if is_on_spark(table):
        from shoal import spark

        return spark.infer(
            table, separator=separator, max_size=max_size, seconds=seconds, threshold=threshold
        )
    read = _proposed(table)
    source = open_source(read, separator=separator)
    found = infer_source(source, max_size=max_size, seconds=seconds, threshold=threshold)
    return replace(found, read_as=read) if isinstance(read, CsvFile) else found


def _proposed(table: Any) -> Any:
    """Return how a file seems to be meant; what is no CSV file stays what it is."""
    if isinstance(table, (str, PathLike)) and not isinstance(table, CsvFile):
        table = CsvFile(Path(table))
    is_csv = isinstance(table, CsvFile) and format_of(Path(table)).startswith("csv")
    return proposed(table) if is_csv else table


def write_schema(found: Inference, out: str | Path, *, inputs: Sequence[str | Path] = ()) -> None:
    """Write the proposed schema, with the reasons as comments, for a person to edit."""
    write_text(out, found.schema_text(), inputs=tuple(inputs))


def write_preset(
    table: Any,
    found: Inference,
    name: str,
    *,
    as_of: date | None = None,
    schema_out: str | Path | None = None,
    table_out: str | Path | None = None,
    separator: str | None = None,
) -> tuple[str, ...]:
    """Carry out the steps of a preset; return what a person must still do.

    Args:
        table: the table that `found` was inferred from.
        found: its columns and verdicts.
        name: such as hipaa-safe-harbor.
        as_of: the day that decides who is over 89.
        schema_out: where to write the schema of the prepared table.
        table_out: where to write the prepared table, in the order of its values.
        separator: of a CSV file.
    """
    preset = found.preset(name, as_of=as_of)
    source = open_source(_proposed(table), separator=separator)
    inputs = (Path(table),) if isinstance(table, (str, PathLike)) else ()
    if table_out is not None:
        format_to_write(Path(table_out))
        frame = source.collect(preset_frame(source, preset))
        frame = frame.sort(frame.columns, nulls_last=False)
        with all_or_nothing(table_out, inputs=inputs) as temporary:
            write_parts(iter([Part(frame, None)]), temporary, separator=source.separator)
    if schema_out is not None:
        text = schema_text(preset.schema, {}, notices=preset.notices)
        write_text(schema_out, text, inputs=inputs)
    return preset.notices


def risk(
    table: Any,
    schema: Schema,
    *,
    population: Any = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    household: str | None = None,
    max_size: int | None = None,
    separator: str | None = None,
) -> RiskReport:
    """Measure how easily people are found in a table as it stands."""
    if is_on_spark(table):
        from shoal import spark

        return spark.risk(
            table, schema, population=population, separator=separator,
            sampling_fraction=sampling_fraction, weights=weights, household=household,
            max_size=max_size,
        )  # fmt: skip
    source = open_source(table, separator=separator)
    found = risk_source(
        source,
        schema,
        population=None if population is None else open_source(population),
        sampling_fraction=sampling_fraction,
        weights=weights,
        household=household,
        max_size=max_size,
    )
    few = repeats_as_it_stands(source, schema, asked_k(schema.privacy, FEW_PEOPLE))
    return replace(found, repeats=few)


def check_risk(
    table: Any,
    schema: Schema,
    *,
    population: Any = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    household: str | None = None,
    separator: str | None = None,
) -> None:
    """Refuse a question about risk that cannot be answered, before any work is done.

    Raises:
        InputError: a column is missing.
        MethodError: choices that do not go together.
    """
    check_question(
        open_source(table, separator=separator),
        list(schema.quasi),
        None if population is None else open_source(population),
        sampling_fraction,
        weights,
        household,
    )


def risk_before_after(
    original: Any,
    release: Any,
    schema: Schema,
    *,
    population: Any = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    household: str | None = None,
    special: bool = True,
    centroids: bool = False,
    separator: str | None = None,
) -> tuple[RiskReport, RiskReport]:
    """Measure the risk of a table and of its release by the same rules.

    A column of weights or households that was not released cannot be used by whoever reads
    the release, and is left out of its measure. People of a population belong to a released
    class when its labels cover their values; centroids cover nothing, so nobody can tell.
    """
    everybody = None if population is None else open_source(population)
    found: list[RiskReport] = []
    for table in (original, release):
        source = open_source(table, separator=separator)
        have = set(source.columns)
        domains = None
        if everybody is not None and found:
            before = open_source(original, separator=separator)
            domains = Attacker(
                before, source, replace(schema, others=Others.DROP, waive=())
            ).table.domains
            source = source.as_labels()
        found.append(
            risk_source(
                source,
                schema,
                population=None if found and centroids else everybody,
                sampling_fraction=sampling_fraction,
                weights=weights if weights in have or not found else None,
                household=household if household in have or not found else None,
                special=special,
                domains=domains,
            )
        )
    return found[0], found[1]


def attack(
    original: Any,
    release: Any,
    schema: Schema,
    *,
    register: Any = None,
    key: str | None = None,
    everything: bool = False,
    centroids: bool = False,
    targets: int = 500,
    seed: int = 0,
    separator: str | None = None,
) -> tuple[Comparison, ...]:
    """Attack a table and its release; compare both with guessing.

    Args:
        original: the table, to attack and to score by.
        release: what was made of it.
        schema: quasi-identifiers and sensitive columns.
        register: an outside table that the attacker holds.
        key: the column that says who is who in the register and in the original.
        everything: every attack; otherwise singling out, linkability and inference.
        centroids: the release holds centroids: the attacker looks for the nearest one.
        targets: how many people are attacked.
        seed: chooses them.
        separator: of CSV files.
    """
    if (register is None) != (key is None):
        raise MethodError(problem="a register and the key column that joins it go together")
    attacker = Attacker(
        open_source(original, separator=separator),
        open_source(release, separator=separator).as_labels(),
        replace(schema, others=Others.DROP, waive=()),
        seed=seed,
        targets=targets,
        centroids=centroids,
    )
    outside: Source | None = None if register is None else open_source(register)
    if everything:
        return attacker.all(outside, key=key)
    return attacker.three_questions(outside, key=key)
