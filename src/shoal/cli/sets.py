"""What commands say of tables with a column of sets."""

from __future__ import annotations

import typer

from shoal.cli import options as opt
from shoal.cli.xk import given
from shoal.jobs.requests import RiskRequest
from shoal.schema.schema import Schema

_HONOURED = (
    "source", "sep", "encoding", "skip_lines", "table", "query", "schema", "qi", "sensitive",
    "identifying", "person", "numeric", "categorical", "date", "set", "set_sep", "hierarchies",
    "missing", "json", "max_risk", "gate",
)  # fmt: skip


def risk_of_sets(
    context: typer.Context,
    place: opt.InputOptions,
    schema: Schema,
    answer: opt.JsonOptions,
    *,
    max_risk: float | None,
    gate: str,
) -> int:
    """Count the records that a few items pin down."""
    from shoal.jobs.set_answers import risk_sets

    ignored = [option for name, option in given(context).items() if name not in _HONOURED]
    if ignored:
        raise opt.refusal("options", f"{', '.join(ignored)}: not with a column of sets")
    found = risk_sets(RiskRequest(table=place.input(), schema=schema, separator=place.sep))
    document, passed = found.to_document(), True
    if max_risk is not None:
        passed = found.within(max_risk, measure=gate)
        document["gate"] = {"measure": gate, "max_risk": max_risk, "passed": passed}
    answer.print(document, "\n".join(found.lines()))
    return 0 if passed else 1
