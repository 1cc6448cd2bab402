"""The commands `budget …`, and what they share with `stats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from shoal.cli import options as opt
from shoal.cli.render import at

budget = typer.Typer(
    no_args_is_help=True, help="Set, show and log privacy budgets.", add_completion=False
)


@dataclass(frozen=True, kw_only=True)
class BudgetOptions(opt.Group):
    """What may be spent, and where that is kept."""

    panel: ClassVar[str] = "Budget"

    epsilon: float | None = opt.option(None, "What it may cost (or --rho).")
    delta: float | None = opt.option(None, "For the Gaussian kind.")
    rho: float | None = opt.option(None, "Cost in zero-concentrated accounting.")
    accounting: str | None = opt.option(None, "How costs add up.", "pure|approximate|zcdp")
    dataset: str | None = opt.option(None, "Name of the data set (default: fingerprint).", "NAME")
    ledger: str | None = opt.option(
        None, "Where budgets are kept (SQLite, PostgreSQL).", "FILE|URI"
    )


MaybeInput = Annotated[
    str | None, typer.Argument(metavar="[INPUT]", help="The table.", rich_help_panel="Input")
]
Kept = Annotated[BudgetOptions, opt.Use(only=("dataset", "ledger"))]


@budget.command("set")
@opt.command(
    examples="""
    # epsilon 1 for every question together
    shoal budget set stays.csv --epsilon 1 --ledger budget.db
    """
)
def set_limit(asked: BudgetOptions, answer: opt.JsonOptions, source: MaybeInput = None) -> int:
    """Open the budget of a data set, or change its limit."""
    from shoal.jobs.statistics import budget_set

    if source is None and asked.dataset is None:
        raise opt.refusal("budget set", "name a table, or --dataset NAME")
    account = budget_set(
        source, dataset=asked.dataset, ledger=asked.ledger, epsilon=asked.epsilon,
        delta=asked.delta, rho=asked.rho, accounting=asked.accounting,
    )  # fmt: skip
    document = account.to_document()
    answer.print(document, _account(document))
    return 0


@budget.command("show")
@opt.command(
    examples="""
    shoal budget show --ledger budget.db
    """
)
def show(kept: Kept, answer: opt.JsonOptions, source: MaybeInput = None) -> int:
    """Show what may be spent and what was spent."""
    from shoal.jobs.statistics import budget_show

    accounts = budget_show(source, dataset=kept.dataset, ledger=kept.ledger)
    found = [account.to_document() for account in accounts]
    text = "\n".join(_account(each) for each in found)
    answer.print({"accounts": found}, text or "no budget was set yet")
    return 0


@budget.command("log")
@opt.command(
    examples="""
    shoal budget log --ledger budget.db --json
    """
)
def log(kept: Kept, answer: opt.JsonOptions, source: MaybeInput = None) -> int:
    """List every charge and every limit, oldest first."""
    from shoal.jobs.statistics import budget_log

    entries = budget_log(source, dataset=kept.dataset, ledger=kept.ledger)
    found = [entry.to_document() for entry in entries]
    text = "\n".join(_entry(each) for each in found)
    answer.print({"entries": found}, text or "nothing was charged yet")
    return 0


def _account(facts: dict[str, object]) -> str:
    unit = "rho" if facts["accounting"] == "zcdp" else "epsilon"
    return (
        f"{str(facts['dataset'])[:23]}: {unit} {at(facts, 'spent', unit):g} of "
        f"{at(facts, 'limit', unit):g} spent, "
        f"{facts['remaining']:g} of epsilon left ({facts['accounting']})"
    )


def _entry(facts: dict[str, object]) -> str:
    amounts = (f"{name} {facts[name]:g}" for name in ("epsilon", "delta", "rho") if facts[name])
    asked = [at(facts, "question", key) for key in ("statistic", "column")]
    what = " ".join(str(word) for word in asked if word)
    line = f"{facts['number']:>4}  {str(facts['at'])[:19]}  {facts['who']}  {facts['event']:<7}"
    return f"{line} {', '.join(amounts):<16} {what}".rstrip()
