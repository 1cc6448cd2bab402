"""The command `stats`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.budget import BudgetOptions
from shoal.schema.schema import Schema

STATISTICS = (
    "count", "sum", "mean", "min", "max", "variance", "moment", "quantile", "histogram",
)  # fmt: skip


@opt.command(
    examples="""
    # a budget first, then questions that are charged to it
    shoal budget set stays.csv --epsilon 2 --ledger ledger.db
    shoal stats stays.csv mean --column stay_days --lower 0 --upper 60 \\
        --epsilon 0.5 --ledger ledger.db
    shoal stats stays.csv count --where 'stay_days >= 10' \\
        --epsilon 0.2 --ledger ledger.db
    """
)
def stats(
    place: Annotated[opt.InputOptions, opt.Use(without=("engine", "master", "driver_rows"))],
    statistic: Annotated[
        str,
        typer.Argument(
            metavar="STATISTIC",
            help=" ".join(STATISTICS),
            rich_help_panel="Question",
        ),
    ],
    cost: BudgetOptions,
    columns: Annotated[opt.ColumnOptions, opt.Use(only=("schema", "missing"))],
    answer: opt.AnswerOptions,
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What it is about.", rich_help_panel="Question"),
    ] = None,
    lower: Annotated[
        float | None, typer.Option(help="Lowest possible value.", rich_help_panel="Question")
    ] = None,
    upper: Annotated[
        float | None, typer.Option(help="Highest possible value.", rich_help_panel="Question")
    ] = None,
    order: Annotated[
        int | None, typer.Option(metavar="N", help="Of a moment.", rich_help_panel="Question")
    ] = None,
    central: Annotated[
        bool, typer.Option("--central", help="A central moment.", rich_help_panel="Question")
    ] = False,
    alpha: Annotated[
        float | None, typer.Option(help="Of a quantile, 0 … 1.", rich_help_panel="Question")
    ] = None,
    bins: Annotated[
        int | None, typer.Option(metavar="N", help="Of a histogram.", rich_help_panel="Question")
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Named cells of a histogram.", rich_help_panel="Question"
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns that group.", rich_help_panel="Question"),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[COL=]A,B", help="The groups, named in advance.", rich_help_panel="Question"
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="Which records, such as 'age >= 18'.", rich_help_panel="Question"),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Whose rows belong together.", rich_help_panel="Question"
        ),
    ] = None,
    max_rows: Annotated[
        int | None,
        typer.Option(metavar="M", help="Rows of one person at most.", rich_help_panel="Question"),
    ] = None,
    if_missing: Annotated[
        str | None,
        typer.Option(
            metavar="count|drop|lower|middle|upper|X",
            help="What a missing number counts as.",
            rich_help_panel="Question",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Of the error bar.", rich_help_panel="Question")
    ] = 0.95,
) -> int:
    """Answer a statistical question with differential privacy, charged to a budget."""
    from shoal.jobs import statistics as job

    found = job.stats(
        place.input(), statistic, column=column, separator=place.sep,
        schema=None if columns.schema is None else Schema.load(columns.schema),
        dataset=cost.dataset, ledger=cost.ledger, accounting=cost.accounting,
        epsilon=cost.epsilon, delta=cost.delta, rho=cost.rho, by=opt.names(by), groups=groups or (),
        lower=lower, upper=upper, order=order, central=central or None, alpha=alpha, bins=bins,
        categories=tuple(opt.names(categories)) or None, where=where, entity=entity,
        max_rows=max_rows, missing=_number_or_word(if_missing),
        markers=tuple(opt.names(columns.missing)) or None, confidence=confidence,
    )  # fmt: skip
    if answer.quiet and not answer.json:
        print(found.value)
    else:
        answer.print(found.to_document(), str(found))
    return 0


def _number_or_word(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
