"""The commands `anonymize` and `learn`."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.cli import recommend as rec
from shoal.cli.know import attack_lines, risk_lines
from shoal.cli.progress import stages
from shoal.core.errors import SchemaError
from shoal.schema.schema import Kind, Role, Schema

ATTACKED = 100_000  # a larger table is attacked only when asked for: it is read again for it

Method = Annotated[str, typer.Option(metavar="NAME", help="See `shoal methods`.")]
Utility = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What a lattice search minimizes: loss, dm, aecs, level-sum (old name: height), "
        "precision-loss, non-uniform-entropy (old name: entropy), entropy-monotone, ncp, or seed "
        "003's class-entropy and height-utility.",
        show_default="loss",
    ),
]
Aggregate = Annotated[
    str | None, typer.Option(metavar="HOW", help="Of the columns: geometric, arithmetic or max.")
]
Seconds = Annotated[float | None, typer.Option(metavar="S", help="Time that a search may take.")]
Effort = Annotated[str | None, typer.Option(help="refine: fast, normal or best.")]
Iterations = Annotated[int | None, typer.Option(metavar="N", help="oka, wfcm: rounds.")]
Gamma = Annotated[
    float | None, typer.Option(metavar="X", help="vmdav: how readily a group takes more than k.")
]
Absorb = Annotated[
    bool, typer.Option("--absorb", help="sa-mdav: rare tuples join large groups near them.")
]
Persist = Annotated[
    bool | None,
    typer.Option(help="sa-mondrian and its kin: try every cut of a column.", show_default="on"),
]
Cm = Annotated[bool, typer.Option("--cm", help="kmember: keep equal --target values together.")]
ReleaseAs = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="HOW",
        help="A class releases: generalize (intervals, ancestors) or aggregate (centroids).",
        show_default="the method's own",
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(metavar="M", help="Learn on M parts of the table side by side, then join them."),
]
PartitionBy = Annotated[str, typer.Option(metavar="HOW", help="Parts: kmeans or random.")]
Explain = Annotated[bool, typer.Option("--explain", help="Say why the chosen levels won.")]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column for the measure cm.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Same seed, same bytes.")]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Threads (default: all cores).")]


@opt.promising()
def anonymize(
    context: typer.Context,
    source: opt.Input,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="The release.")] = None,
    report: Annotated[str | None, typer.Option(metavar="FILE", help="Report (.html).")] = None,
    table: opt.Table = None,
    query: opt.Query = None,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    neutral: opt.Neutral = None,
    waive: opt.Waive = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    date_format: opt.DateFormat = None,
    dates: opt.Dates = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    fold_case: opt.FoldCase = False,
    asked: opt.Asked = None,
    replace_promise: opt.ReplacePromise = False,
    method: Method = "auto",
    release: ReleaseAs = None,
    partitions: Partitions = None,
    partition_by: PartitionBy = "kmeans",
    suppression_limit: rec.Limit = None,
    utility: Utility = None,
    aggregate: Aggregate = None,
    seconds: Seconds = None,
    effort: Effort = None,
    iterations: Iterations = None,
    gamma: Gamma = None,
    absorb: Absorb = False,
    persist: Persist = None,
    cm: Cm = False,
    explain: Explain = False,
    target: Target = None,
    suppressed: Annotated[
        str,
        typer.Option(metavar="KIND", help="Suppressed records: remove, or star (all *)."),
    ] = "remove",
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Keep the input's order of records (it may reveal them)."
        ),
    ] = False,
    spreadsheet_safe: opt.SpreadsheetSafe = None,
    xk: rec.Xk = None,
    techniques: rec.TechniquesOption = "none",
    ranking: rec.Ranking = None,
    generalize: rec.Generalize = None,
    suppress_cells: rec.SuppressCells = None,
    level: rec.Level = 1,
    gradual: rec.Gradual = False,
    false_records: rec.FalseRecords = None,
    steps: rec.Steps = None,
    attacks: Annotated[
        bool | None,
        typer.Option(
            "--attacks/--no-attacks",
            help="Measure and attack table and release (--attacks: in every way) and compare.",
            show_default="on up to 100,000 records",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Everybody the records may come from: journalist risk."),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(metavar="X", help="Share of the population in the table: journalist risk."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Sampling weights: journalist risk.")
    ] = None,
    household: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Who lives together: household risk.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    driver_rows: opt.DriverRows = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Turn a table into a verified release."""
    rec.check_options(context, method)
    _limit_threads(threads)
    from shoal import api
    from shoal.cli.render import as_json, summary

    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive, Role.IDENTIFYING: identifying,
         Role.NEUTRAL: neutral},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
        fold_case=fold_case,
    )  # fmt: skip
    read = opt.with_dates(read, date_format, dates)
    if utility is not None and "utility" not in api.method_options(method):
        raise SchemaError(where="--utility", faults=["goes with a lattice method, such as flash"])
    chosen = _with_choices(
        opt.with_promise(read, asked, replace_promise=replace_promise),
        suppression_limit,
        utility,
        target,
    ).with_waived(opt.names(waive))
    goal = opt.out_path(out, command="anonymize")
    place = opt.file_of(source, encoding, skip_lines)
    files = opt.files_of(place, schema, hierarchies)
    is_far = opt.on_spark(engine, master)
    if not (is_far and opt.is_elsewhere(str(out))):
        api.check_place(goal, inputs=files)
    if report is not None:
        api.check_report(report, inputs=(*files, goal))
    people: dict[str, Any] = {"population": population, "sampling_fraction": sampling_fraction,
              "weights": weights, "household": household}  # fmt: skip
    about_risk = any(value is not None for value in people.values())
    if about_risk and (is_far or attacks is False):
        named = ", ".join(f"--{name.replace('_', '-')}" for name, v in people.items() if v)
        fault = f"{named}: not with --no-attacks or --engine spark"
        raise SchemaError(where="options", faults=[fault])
    if about_risk:
        api.check_risk(opt.input_of(place, table, query), chosen, separator=sep, **people)
    if is_far and attacks:
        raise SchemaError(where="--engine", faults=["--attacks need the local engine"])
    if method == "xk":
        choices = rec.choices_of(
            techniques, "none", None, ranking=ranking, generalize=generalize,
            suppress_cells=suppress_cells, level=level, gradual=gradual, missing=missing,
            suppression_limit=rec.stated_limit(suppression_limit, schema),
        )  # fmt: skip
        done = api.release_xk(
            opt.input_of(place, table, query), chosen, rec.k_of(chosen), out=goal, xk=xk,
            choices=choices, seed=seed, separator=sep, false_records=false_records,
            steps=steps, inputs=files, spreadsheet_safe=spreadsheet_safe,
        )  # fmt: skip
        if report is not None:
            api.write_report(done.report(), report, inputs=(*files, goal))
        if json:
            print(as_json(done.to_document()))
        elif not quiet:
            print("\n".join(rec.applied_lines(done)))
        return 0
    with stages(quiet=quiet or json) as progress:
        made = api.anonymize(
            opt.input_of(place, table, query, engine, master, driver_rows),
            chosen,
            out=out if is_far else goal,
            options=replace(
                _options(
                    method,
                    (release, partitions, partition_by),
                    sep,
                    seed,
                    threads,
                    progress,
                    suppressed,
                    keep_order,
                    files,
                    {
                        "aggregate": aggregate,
                        "seconds": seconds,
                        "effort": effort,
                        "iterations": iterations,
                        "gamma": gamma,
                        "absorb": absorb or None,
                        "persist": persist,
                        "cm": cm or None,
                    },
                ),
                spreadsheet_safe=spreadsheet_safe,
            ),
        )
    if report is not None:
        api.write_report(made.report, report, inputs=(*files, goal))
    found: list[dict[str, Any]] = []
    risks: dict[str, Any] | None = None
    unasked = attacks is None and not quiet and not is_far
    if attacks or about_risk or (unasked and made.report.records <= ATTACKED):
        original = opt.input_of(place, table, query)
        tried = api.attack(
            original, goal, made.schema, everything=attacks is True, seed=seed, separator=sep,
            centroids=made.report.utility["sse_loss"] is not None,
        )  # fmt: skip
        found = [each.to_document() for each in tried]
        pair = api.risk_before_after(
            original, goal, made.schema, **people, special=attacks is True, separator=sep,
            centroids=made.report.utility["sse_loss"] is not None,
        )  # fmt: skip
        risks = {"before": pair[0].to_document(), "after": pair[1].to_document()}
    if json:
        print(as_json({**made.report.to_document(), "risk": risks, "attacks": found}))
    elif not quiet:
        lines = [summary(made.report, out=out)]
        lines += (
            []
            if risks is None
            else risk_lines(
                risks["before"], risks["after"], records=made.report.repeats is not None
            )
        )
        print("\n".join([*lines, *attack_lines(found)]))
        _print_explanation(made.report, wanted=explain)
    return 0


@opt.promising()
def learn(
    source: opt.Input,
    model: Annotated[str, typer.Option(metavar="FILE", help="Where to write the model.")],
    table: opt.Table = None,
    query: opt.Query = None,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    neutral: opt.Neutral = None,
    waive: opt.Waive = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    date_format: opt.DateFormat = None,
    dates: opt.Dates = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    fold_case: opt.FoldCase = False,
    asked: opt.Asked = None,
    replace_promise: opt.ReplacePromise = False,
    method: Method = "auto",
    release: ReleaseAs = None,
    partitions: Partitions = None,
    partition_by: PartitionBy = "kmeans",
    suppression_limit: rec.Limit = None,
    utility: Utility = None,
    aggregate: Aggregate = None,
    seconds: Seconds = None,
    effort: Effort = None,
    iterations: Iterations = None,
    gamma: Gamma = None,
    absorb: Absorb = False,
    persist: Persist = None,
    cm: Cm = False,
    explain: Explain = False,
    target: Target = None,
    seed: Seed = 0,
    threads: Threads = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    driver_rows: opt.DriverRows = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Learn a recoding and write it as a model (JSON)."""
    _limit_threads(threads)
    from shoal import api
    from shoal.cli.render import as_json, summary

    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive, Role.IDENTIFYING: identifying,
         Role.NEUTRAL: neutral},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
        fold_case=fold_case,
    )  # fmt: skip
    read = opt.with_dates(read, date_format, dates)
    if utility is not None and "utility" not in api.method_options(method):
        raise SchemaError(where="--utility", faults=["goes with a lattice method, such as flash"])
    chosen = _with_choices(
        opt.with_promise(read, asked, replace_promise=replace_promise),
        suppression_limit,
        utility,
        target,
    ).with_waived(opt.names(waive))
    place = opt.file_of(source, encoding, skip_lines)
    files = opt.files_of(place, schema, hierarchies)
    api.check_place(model, inputs=files)
    with stages(quiet=quiet or json) as progress:
        learned, report = api.learn_with_report(
            opt.input_of(place, table, query, engine, master, driver_rows),
            chosen,
            options=_options(
                method,
                (release, partitions, partition_by),
                sep,
                seed,
                threads,
                progress,
                search={
                    "aggregate": aggregate,
                    "seconds": seconds,
                    "effort": effort,
                    "iterations": iterations,
                    "gamma": gamma,
                    "absorb": absorb or None,
                    "persist": persist,
                    "cm": cm or None,
                },
                model=True,
            ),
        )
    began = time.perf_counter()
    api.write_model(learned, model, inputs=files)
    report = report.with_seconds("write", time.perf_counter() - began)
    if json:
        print(as_json(report.to_document()))
    elif not quiet:
        print(summary(report, out=None))
        print(f"  model       {model}")
        _print_explanation(report, wanted=explain)
    return 0


def _print_explanation(report: Any, *, wanted: bool) -> None:
    if wanted:
        lines = report.facts.get("explanation") or ["this method has no levels to explain"]
        print("\n".join(lines))


def _limit_threads(threads: int | None) -> None:
    """Tell Polars before it starts how many threads it may use."""
    if threads is None:
        return
    if threads < 1:
        raise SchemaError(where="--threads", faults=["must be at least 1"])
    os.environ["POLARS_MAX_THREADS"] = str(threads)


def _with_choices(
    schema: Schema, limit: float | None, utility: str | None, target: str | None
) -> Schema:
    if limit is not None:
        schema = replace(schema, suppression_limit=limit)
    if utility is not None:
        schema = replace(schema, utility=utility)
    return schema if target is None else replace(schema, target=target)


def _options(
    method: str,
    how: tuple[str | None, int | None, str],
    sep: str | None,
    seed: int,
    threads: int | None,
    progress: Any,
    suppressed: str = "remove",
    keep_order: bool = False,
    files: tuple[Any, ...] = (),
    search: dict[str, Any] | None = None,
    model: bool = False,
) -> Any:
    from shoal.api import Options

    opt.is_star(suppressed)
    return Options(
        method=method,
        release=how[0],
        partitions=how[1],
        partition_by=how[2],
        separator=sep,
        seed=seed,
        threads=threads,
        progress=progress,
        suppressed=suppressed,
        keep_order=keep_order,
        inputs=files,
        search=_searched(method, how[0], search or {}, model=model),
    )


def _searched(
    method: str, release: str | None, search: dict[str, Any], *, model: bool
) -> dict[str, Any]:
    """Refuse options that the method would ignore."""
    from shoal import api

    given = {name: value for name, value in search.items() if value is not None}
    is_auto = method == "auto" and release != "aggregate"
    known = api.method_options(api.auto_method(model=model) if is_auto else method, release=release)
    ignored = [f"--{name}" for name in given if name not in known]
    if ignored:
        fault = f"{', '.join(ignored)}: not for --method {method}"
        raise SchemaError(where="options", faults=[fault])
    return given
