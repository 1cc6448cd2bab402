"""The command `recommend`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from shoal.cli import options as opt
from shoal.cli.compare import commands_of, usual_folder
from shoal.cli.xk import XkOptions, applied_lines, given
from shoal.jobs.requests import Output

_FILE = opt.Use(only=("source", "sep", "encoding", "skip_lines", "sheet"))
_APPLIED = ("xk", "false_records", "steps", "suppression_limit", "seed")  # with --apply


@dataclass(frozen=True, kw_only=True)
class GoalOptions(opt.Group):
    """What is to be as small as possible, and what must not be exceeded."""

    panel: ClassVar[str] = "Question"

    goal: str | None = opt.option(
        None, "The least loss (with --max-risk) or the least risk (with --max-loss).", "loss|risk"
    )
    max_risk: float | None = opt.option(None, "With --goal loss: a share, such as 0.09.", "X")
    max_loss: float | None = opt.option(None, "With --goal risk: a share, such as 0.2.", "X")
    risk: str = opt.option(
        "maximum", "Of whoever is easiest to find, or on average.", "maximum|average"
    )

    def is_asked(self) -> bool:
        """Say whether a goal is asked for; refuse a bound that has none, or not its own."""
        if self.goal is None:
            if self.max_risk is not None or self.max_loss is not None:
                raise opt.refusal("--goal", "say loss (with --max-risk) or risk (with --max-loss)")
            return False
        own, other = (
            ("--max-risk", "--max-loss") if self.goal == "loss" else ("--max-loss", "--max-risk")
        )
        bounds = {"--max-risk": self.max_risk, "--max-loss": self.max_loss}
        if bounds[own] is None or bounds[other] is not None:
            raise opt.refusal("--goal", f"{self.goal} goes with {own} X, not with {other}")
        return True


def _reach(
    context: typer.Context,
    goal: GoalOptions,
    place: opt.InputOptions,
    columns: opt.ColumnOptions,
    promised: opt.PromiseOptions,
    answer: opt.JsonOptions,
) -> int:
    """Compare methods, limits and k; answer with the command to run."""
    from shoal.jobs.goal import GoalRequest, reach

    most = goal.max_risk if goal.goal == "loss" else goal.max_loss
    request = GoalRequest(
        table=place.file(place.source), schema=columns.read(promised), minimize=str(goal.goal),
        most=most or 0.0, risk=goal.risk, separator=place.sep, keep=usual_folder(),
    )  # fmt: skip
    found = reach(request)
    command = commands_of(context, place.source, [found.trial])[found.best.name]
    document = found.compared.to_document()
    row = found.best.row()
    lines = [
        f"the least {goal.goal} of {len(found.compared.runs):,} releases within the bound",
        f"  run         {found.best.name}",
        f"  loss        {found.best.loss or 0.0:.2%} of the information (NCP)",
        f"  risk        {row['risk_average']:.2%} on average, {row['risk_maximum']:.2%} at worst",
        f"  suppressed  {row['suppressed']:,} records",
        f"  command     {command}",
    ]
    best = {**found.best.to_document(), "command": command}
    answer.print({"best": best, **document}, "\n".join(lines))
    return 0


@opt.command(
    examples="""
    # the least loss with nobody easier to find than one in five
    shoal recommend stays.csv --schema stays.schema.yaml \\
        --goal loss --max-risk 0.2
    # which fraction of k is enough, and what each choice costs
    shoal recommend stays.csv --schema stays.schema.yaml -k 4 --replace-promise
    """
)
def recommend(
    context: typer.Context,
    place: Annotated[opt.InputOptions, _FILE],
    columns: Annotated[opt.ColumnOptions, opt.Use(without=("date_format", "dates", "infer"))],
    promised: Annotated[opt.PromiseOptions, opt.Use(only=("k", "l", "replace_promise"))],
    xk: XkOptions,
    goal: GoalOptions,
    method: Annotated[opt.MethodOptions, opt.Use(only=("suppression_limit", "seed"))],
    written: Annotated[opt.OutputOptions, opt.Use(only=("out",))],
    answer: opt.JsonOptions,
    prefer: Annotated[
        str,
        typer.Option(
            metavar="originals|precision",
            help="What counts more; else neither.",
            rich_help_panel="Method",
        ),
    ] = "none",
    min_precision: Annotated[
        float | None,
        typer.Option(metavar="P", help="Lowest precision, percent.", rich_help_panel="Method"),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Carry it out; needs --out.", rich_help_panel="Output")
    ] = False,
) -> int:
    """Recommend a release that reaches a goal, or the fraction of k (xk-anonymity)."""
    from shoal import api

    if goal.is_asked():
        return _reach(context, goal, place, columns, promised, answer)
    schema, limit = columns.read(promised), method.suppression_limit
    choices = xk.choices(columns, limit, prefer=prefer, min_precision=min_precision)
    if apply != (written.out is not None):
        raise opt.refusal("recommend", "--apply and --out FILE go together")
    if written.out == "-":
        raise opt.refusal("--out", "recommend writes a file; give its name")
    idle = {} if apply else given(context, among=_APPLIED)
    if idle:
        named = ", ".join(idle[name] for name in _APPLIED if name in idle)
        raise opt.refusal("recommend", f"{named}: only with --apply")
    table = place.file(place.source)
    found = api.recommend(table, schema, choices=choices, separator=place.sep)
    document = found.to_document()
    lines = [
        found.table(),
        "",
        *found.explanation(),
        "\nAll techniques worked out on this table; no other way beats these:\n",
        found.frontier_table(),
        *found.notices,
    ]
    if apply:
        output = Output(out=written.out, inputs=(*place.files(), *columns.files()))
        done = xk.release(place, schema, choices, output=output, seed=method.seed)
        document["applied"] = done.to_document()
        lines += [f"\nCarried out, in {written.out}:", *applied_lines(done)]
    answer.print(document, "\n".join(lines))
    return 0
