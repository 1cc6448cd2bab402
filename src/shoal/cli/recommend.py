"""The command `recommend`, and what `anonymize --method xk` hands on to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.core.documents import read_document
from shoal.core.errors import SchemaError
from shoal.schema.schema import Kind, Role, Schema

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
Steps = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="xk: pairs and table after each step; RAW DATA, stays inside."
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--suppression-limit", metavar="X", help="Share of records that may be suppressed."
    ),
]

_XK_ONLY = (
    "xk", "techniques", "ranking", "generalize", "suppress_cells", "level", "gradual",
    "false_records", "steps",
)  # fmt: skip
# What `anonymize --method xk` honours beside; -k and --l make a promise that it can keep.
_XK_TOO = (
    "source", "out", "report", "table", "query", "schema", "qi", "sensitive", "identifying",
    "neutral", "waive", "numeric", "categorical", "date", "hierarchies", "missing",
    "fold_case", "k", "l", "l_kind", "replace_promise", "method", "suppression_limit", "seed",
    "threads", "sep", "encoding", "skip_lines", "spreadsheet_safe", "json", "quiet",
)  # fmt: skip

_APPLIED = ("xk", "false_records", "steps", "suppression_limit", "seed")  # with recommend --apply


def check_options(context: typer.Context, method: str) -> None:
    """Refuse what `anonymize` would ignore: xk's own options elsewhere, all others with xk."""
    given = {
        str(parameter.name): max(parameter.opts, key=len)
        for parameter in context.command.params
        if _is_given(context, str(parameter.name))
    }
    if method == "xk":
        known = {*_XK_ONLY, *_XK_TOO}
        ignored = [option for name, option in given.items() if name not in known]
        said = "not with --method xk, which keeps k-anonymity and distinct l-diversity only"
    else:
        ignored = [option for name, option in given.items() if name in _XK_ONLY]
        said = "goes with --method xk" if len(ignored) == 1 else "go with --method xk"
    if ignored:
        raise SchemaError(where="options", faults=[f"{', '.join(ignored)}: {said}"])


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def stated_limit(flag: float | None, schema: str | None) -> float | None:
    """Return the suppression limit of the flag, or the one that a schema file states."""
    if flag is not None or schema is None:
        return flag
    document = read_document(schema)
    stated = document.get("suppression_limit") if isinstance(document, dict) else None
    return stated if isinstance(stated, (int, float)) else None


@opt.promising("k", "l")
def recommend(
    context: typer.Context,
    source: opt.Input,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    neutral: opt.Neutral = None,
    waive: opt.Waive = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    fold_case: opt.FoldCase = False,
    asked: opt.Asked = None,
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
    steps: Steps = None,
    suppression_limit: Limit = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same bytes.")] = 0,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
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
        fold_case=fold_case,
    )  # fmt: skip
    promised = opt.with_promise(read, asked, replace_promise=replace_promise).with_waived(
        opt.names(waive)
    )
    choices = choices_of(
        techniques, prefer, min_precision, ranking=ranking, generalize=generalize,
        suppress_cells=suppress_cells, level=level, gradual=gradual, missing=missing,
        suppression_limit=stated_limit(suppression_limit, schema),
    )  # fmt: skip
    wanted = k_of(promised)
    if apply != (out is not None):
        raise SchemaError(where="recommend", faults=["--apply and --out FILE go together"])
    idle = [] if apply else [name for name in _APPLIED if _is_given(context, name)]
    if idle:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise SchemaError(where="recommend", faults=[f"{named}: only with --apply"])
    place = opt.file_of(source, encoding, skip_lines)
    found = api.recommend(place, promised, wanted, choices=choices, separator=sep)
    document = found.to_document()
    if apply and out is not None:
        done = api.release_xk(
            place, promised, wanted, out=out, xk=xk, choices=choices, seed=seed,
            separator=sep, false_records=false_records, steps=steps,
            inputs=opt.files_of(place, schema, hierarchies),
        )  # fmt: skip
        document["applied"] = done.to_document()
    if json:
        print(as_json(document))
        return 0
    print(found.table())
    print()
    print("\n".join(found.explanation()))
    print("\nAll techniques worked out on this table; no other way beats these:\n")
    print(found.frontier_table())
    print("\n".join(found.notices), end="\n" if found.notices else "")
    if apply and out is not None:
        print(f"\nCarried out, in {out}:")
        print("\n".join(applied_lines(done)))
    return 0


def applied_lines(done: Any) -> list[str]:
    """Say what was carried out, what must not be overlooked second, the columns last."""
    from shoal.cli.render import role_rows, warning_lines

    head, *rest = done.outcome.summary()
    roles = [f"  {name:<12}{text}" for name, text in role_rows(done.roles)]
    return [head, *warning_lines(done.warnings), *rest, *roles]


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
    suppression_limit: float | None,
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
        suppression_limit=suppression_limit,
    )
