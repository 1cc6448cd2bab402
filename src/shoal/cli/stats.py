"""The commands `stats` and `budget`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.core.errors import SchemaError

budget = typer.Typer(
    no_args_is_help=True, help="Set, show and log privacy budgets.", add_completion=False
)

Ledger = Annotated[
    str | None,
    typer.Option(metavar="FILE|URI", help="Where budgets are kept (SQLite, PostgreSQL)."),
]
Dataset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the data set (default: fingerprint).")
]
Epsilon = Annotated[float | None, typer.Option(help="What it may cost (or --rho).")]
Delta = Annotated[float | None, typer.Option(help="For the Gaussian kind.")]
Rho = Annotated[float | None, typer.Option(help="Cost in zero-concentrated accounting.")]
AccountingOption = Annotated[
    str | None, typer.Option(metavar="KIND", help="pure, approximate or zcdp.")
]
MaybeInput = Annotated[str | None, typer.Argument(metavar="[INPUT]", help="The table.")]


def stats(
    source: opt.Input,
    statistic: Annotated[
        str,
        typer.Argument(
            metavar="STATISTIC",
            help="count sum mean min max variance moment quantile histogram",
        ),
    ],
    column: Annotated[str | None, typer.Option(metavar="NAME", help="What it is about.")] = None,
    lower: Annotated[float | None, typer.Option(help="Lowest possible value.")] = None,
    upper: Annotated[float | None, typer.Option(help="Highest possible value.")] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    accounting: AccountingOption = None,
    order: Annotated[int | None, typer.Option(metavar="N", help="Of a moment.")] = None,
    central: Annotated[bool, typer.Option("--central", help="A central moment.")] = False,
    alpha: Annotated[float | None, typer.Option(help="Of a quantile, 0 … 1.")] = None,
    bins: Annotated[int | None, typer.Option(metavar="N", help="Of a histogram.")] = None,
    categories: Annotated[
        str | None, typer.Option(metavar="A,B", help="Named cells of a histogram.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="A,B", help="Columns that group.")] = None,
    groups: Annotated[
        list[str] | None, typer.Option(metavar="[COL=]A,B", help="The groups, named in advance.")
    ] = None,
    where: Annotated[str | None, typer.Option(help="Which records, such as 'age >= 18'.")] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose rows belong together.")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", metavar="M", help="Rows of one person at most.")
    ] = None,
    if_missing: Annotated[
        str | None,
        typer.Option("--if-missing", help="count, drop, lower, middle, upper or a number."),
    ] = None,
    missing: opt.Missing = None,
    confidence: Annotated[float, typer.Option(help="Of the error bar.")] = 0.95,
    ledger: Ledger = None,
    dataset: Dataset = None,
    schema: opt.SchemaFile = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    table: opt.Table = None,
    query: opt.Query = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Answer a statistical question with differential privacy, charged to a budget."""
    from shoal import api
    from shoal.cli.render import as_json
    from shoal.schema.schema import Schema

    place = opt.file_of(source, encoding, skip_lines)
    found = api.stats(
        opt.input_of(place, table, query), statistic, column=column,
        schema=None if schema is None else Schema.load(schema), by=opt.names(by),
        groups=groups or (), dataset=dataset, ledger=ledger, accounting=accounting, separator=sep,
        lower=lower, upper=upper, epsilon=epsilon, delta=delta, rho=rho, order=order,
        central=central or None, alpha=alpha, bins=bins,
        categories=tuple(opt.names(categories)) or None, where=where, entity=entity,
        max_rows=max_rows, missing=_number_or_word(if_missing),
        markers=tuple(opt.names(missing)) or None, confidence=confidence,
    )  # fmt: skip
    if json:
        print(as_json(found.to_document()))
    else:
        print(found.value if quiet else found)
    return 0


def _number_or_word(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _account(facts: dict[str, Any]) -> str:
    unit = "rho" if facts["accounting"] == "zcdp" else "epsilon"
    return (
        f"{facts['dataset'][:23]}: {unit} {facts['spent'][unit]:g} of "
        f"{facts['limit'][unit]:g} spent, "
        f"{facts['remaining']:g} of epsilon left ({facts['accounting']})"
    )


def _entry(facts: dict[str, Any]) -> str:
    amounts = (f"{name} {facts[name]:g}" for name in ("epsilon", "delta", "rho") if facts[name])
    asked = facts["question"]
    what = " ".join(str(asked[key]) for key in ("statistic", "column") if asked.get(key))
    line = f"{facts['number']:>4}  {facts['at'][:19]}  {facts['who']}  {facts['event']:<7}"
    return f"{line} {', '.join(amounts):<16} {what}".rstrip()


@budget.command("set")
def set_limit(
    source: MaybeInput = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    accounting: AccountingOption = None,
    dataset: Dataset = None,
    ledger: Ledger = None,
    json: opt.Json = False,
) -> int:
    """Open the budget of a data set, or change its limit."""
    from shoal import api
    from shoal.cli.render import as_json

    if source is None and dataset is None:
        raise SchemaError(where="budget set", faults=["name a table, or --dataset NAME"])
    account = api.budget_set(
        source, dataset=dataset, ledger=ledger, epsilon=epsilon, delta=delta, rho=rho,
        accounting=accounting,
    )  # fmt: skip
    print(as_json(account.to_document()) if json else _account(account.to_document()))
    return 0


@budget.command("show")
def show(
    source: MaybeInput = None,
    dataset: Dataset = None,
    ledger: Ledger = None,
    json: opt.Json = False,
) -> int:
    """Show what may be spent and what was spent."""
    from shoal import api
    from shoal.cli.render import as_json

    accounts = api.budget_show(source, dataset=dataset, ledger=ledger)
    if json:
        print(as_json({"accounts": [account.to_document() for account in accounts]}))
    else:
        lines = [_account(account.to_document()) for account in accounts]
        print("\n".join(lines) or "no budget was set yet")
    return 0


@budget.command("log")
def log(
    source: MaybeInput = None,
    dataset: Dataset = None,
    ledger: Ledger = None,
    json: opt.Json = False,
) -> int:
    """List every charge and every limit, oldest first."""
    from shoal import api
    from shoal.cli.render import as_json

    entries = api.budget_log(source, dataset=dataset, ledger=ledger)
    if json:
        print(as_json({"entries": [entry.to_document() for entry in entries]}))
    else:
        print("\n".join(_entry(e.to_document()) for e in entries) or "nothing was charged yet")
    return 0
