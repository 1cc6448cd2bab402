"""The command `recommend`, and what `anonymize --method xk` hands on to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.core.errors import SchemaError
from shoal.core.flags import PromiseFlags
from shoal.core.schema import Kind, Role, Schema

TechniquesOption = Annotated[
    str,
    typer.Option(
        "--techniques", metavar="gcs", help="xk: g generalize, c suppress cells, s blank sensitive."
    ),
]
Prefer = Annotated[str, typer.Option(metavar="WHAT", help="originals or precision; else none.")]
MinPrecision = Annotated[
    float | None, typer.Option("--min-precision", metavar="P", help="Lowest precision, percent.")
]
Xk = Annotated[int | None, typer.Option("--xk", help="xk itself (default: the recommended one).")]
Ranking = Annotated[
    str | None, typer.Option(metavar="A,B", help="xk: quasi-identifiers by importance.")
]
Generalize = Annotated[str | None, typer.Option(metavar="COL", help="xk: column to generalize.")]
SuppressCells = Annotated[
    str | None, typer.Option("--suppress-cells", metavar="COL", help="xk: column to suppress in.")
]
Level = Annotated[int, typer.Option(metavar="N", help="xk: steps a generalized cell climbs.")]
Gradual = Annotated[
    bool, typer.Option("--gradual", help="xk: introduce quasi-identifiers one by one.")
]
FalseRecords = Annotated[
    str | None,
    typer.Option("--false-records", metavar="FILE", help="xk: which rows are false; stays inside."),
]


def recommend(
    source: opt.Input,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    neutral: opt.Neutral = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    k: opt.K = None,
    l: opt.L = None,  # noqa: E741
    replace_promise: opt.ReplacePromise = False,
    techniques: TechniquesOption = "none",
    prefer: Prefer = "none",
    min_precision: MinPrecision = None,
    apply: Annotated[bool, typer.Option("--apply", help="Carry it out; needs --out.")] = False,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="The release.")] = None,
    xk: Xk = None,
    ranking: Ranking = None,
    generalize: Generalize = None,
    suppress_cells: SuppressCells = None,
    level: Level = 1,
    gradual: Gradual = False,
    false_records: FalseRecords = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same bytes.")] = 0,
    sep: opt.Sep = None,
    json: opt.Json = False,
) -> int:
    """Recommend the fraction of k (xk-anonymity), predict the outcome, carry it out."""
    from shoal import api
    from shoal.cli.render import as_json

    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive, Role.IDENTIFYING: identifying,
         Role.NEUTRAL: neutral},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
    )  # fmt: skip
    asked = opt.with_promise(read, PromiseFlags(k=k, l=l), replace_promise=replace_promise)
    choices = choices_of(
        techniques, prefer, min_precision, ranking=ranking, generalize=generalize,
        suppress_cells=suppress_cells, level=level, gradual=gradual, missing=missing,
    )  # fmt: skip
    wanted = k_of(asked)
    if apply != (out is not None):
        raise SchemaError(where="recommend", faults=["--apply and --out FILE go together"])
    found = api.recommend(source, asked, wanted, choices=choices, separator=sep)
    document = found.to_document()
    if apply and out is not None:
        done = api.release_xk(
            source, asked, wanted, out=out, xk=xk, choices=choices, seed=seed,
            separator=sep, false_records=false_records,
        )  # fmt: skip
        document["applied"] = done.to_document()
    if json:
        print(as_json(document))
        return 0
    print(found.table())
    print()
    print("\n".join(found.explanation()))
    if apply and out is not None:
        print(f"\nCarried out, in {out}:")
        print("\n".join(done.outcome.summary()))
    return 0


def k_of(schema: Schema) -> int:
    """Return the k of the promise."""
    found = [int(getattr(model, "k", 0)) for model in schema.privacy if hasattr(model, "k")]
    if not found:
        raise SchemaError(where="options", faults=["xk-anonymity needs -k N"])
    return max(found)


def choices_of(
    techniques: str,
    prefer: str,
    min_precision: float | None,
    *,
    ranking: str | None,
    generalize: str | None,
    suppress_cells: str | None,
    level: int,
    gradual: bool,
    missing: str | None,
) -> Any:
    """Return the choices that the options stand for."""
    from shoal.api import Choices, Techniques

    return Choices(
        techniques=Techniques.parse(techniques),
        preference=prefer,
        minimum_precision=min_precision,
        ranking=opt.names(ranking),
        generalized=generalize,
        suppressed=suppress_cells,
        level=level,
        gradual=gradual,
        marks=None if missing is None else opt.names(missing),
    )
