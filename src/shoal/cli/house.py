"""The commands `methods`, `sample` and `hierarchy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.core.errors import SchemaError

hierarchy = typer.Typer(
    no_args_is_help=True, help="Build, draw and check value hierarchies.", add_completion=False
)


def methods(json: opt.Json = False) -> int:
    """List the methods that find a recoding."""
    from shoal import api
    from shoal.cli.render import as_json

    rows = api.method_list()
    if json:
        chosen = {"auto": api.auto_method(), "auto_model": api.auto_method(model=True)}
        print(as_json({"methods": rows, **chosen}))
        return 0
    width = max(len(row["name"]) for row in rows) + 2
    print(
        f"auto chooses {api.auto_method()} for a release, {api.auto_method(model=True)} for a model"
    )
    family = ""
    for row in rows:
        if row["family"] != family:
            family = row["family"]
            print(f"\n{family}")
        print(f"  {row['name']:<{width}}{row['summary']}")
    return 0


def sample(
    which: Annotated[
        str, typer.Argument(metavar="hospital|zipf|proportional", help="Which table to make.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The table (.csv, .parquet …).")],
    records: Annotated[int, typer.Option(metavar="N", help="Number of records.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="S", help="Same seed, same bytes.")] = 0,
    exponent: Annotated[float, typer.Option(help="zipf: the exponent; 0 is uniform.")] = 1.0,
    attributes: Annotated[int, typer.Option(help="zipf: number of columns.")] = 16,
    values: Annotated[int, typer.Option(help="zipf: values per column.")] = 16,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files.")] = False,
    source: Annotated[
        str | None, typer.Option("--from", metavar="INPUT", help="proportional: the table.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="proportional: columns whose values keep their share."),
    ] = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
) -> int:
    """Write a made-up table with its schema and hierarchies, or a sample of a table (raw data)."""
    from shoal import api
    from shoal.cli.render import as_json

    if which == "proportional":
        if source is None or not opt.names(by):
            fault = "proportional needs --from INPUT and --by COLUMN"
            raise SchemaError(where="sample", faults=[fault])
        if Path(out).exists() and not overwrite:
            raise SchemaError(where=out, faults=["is there already; --overwrite replaces it"])
        drawn = api.sample_proportionally(
            opt.file_of(source, encoding, skip_lines),
            opt.names(by),
            records,
            out=out,
            seed=seed,
            separator=sep,
        )
        document = {"table": out, "records": drawn}
        print(as_json(document) if json else f"{drawn:,} records in {out}; they are raw data")
        return 0
    if which not in ("hospital", "zipf"):
        fault = "there are two samples, hospital and zipf, and proportional"
        raise SchemaError(where="sample", faults=[fault])
    if source or by or sep or encoding or skip_lines:
        fault = "--from, --by, --sep, --encoding and --skip-lines go with proportional"
        raise SchemaError(where="sample", faults=[fault])
    extra = {} if which == "hospital" else {
        "exponent": exponent, "attributes": attributes, "values": values
    }  # fmt: skip
    files = api.sample(which, out, records=records, seed=seed, overwrite=overwrite, **extra)
    if json:
        print(as_json({"table": str(files.table), "schema": str(files.schema), "records": records}))
    else:
        print(f"{records:,} records in {files.table}, their schema in {files.schema}")
    return 0


@hierarchy.command("build")
def build(
    table: opt.Input,
    column: Annotated[str, typer.Option(metavar="NAME", help="The column.")],
    out: Annotated[str, typer.Option(metavar="FILE", help="Hierarchy file (CSV).")],
    width: Annotated[
        str | None, typer.Option(metavar="5,10", help="Intervals of these widths, level by level.")
    ] = None,
    count: Annotated[
        str | None, typer.Option(metavar="8,4,2", help="Groups with equally many values.")
    ] = None,
    cuts: Annotated[
        str | None,
        typer.Option(metavar="18,30,65", help="Explicit cuts; levels apart by ';', finest first."),
    ] = None,
    top: Annotated[float | None, typer.Option(help="Numbers from here on become one: 90+.")] = None,
    bottom: Annotated[float | None, typer.Option(help="Numbers up to here become one.")] = None,
    mask: Annotated[
        bool, typer.Option("--mask", help="Mask from the right: 75275, 7527*, …")
    ] = False,
    dates: Annotated[
        bool, typer.Option("--dates", help="Day, month, quarter, year, decade.")
    ] = False,
    order: Annotated[
        int | None, typer.Option(metavar="N", help="Groups of N neighbours in their order.")
    ] = None,
    missing: opt.Missing = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
) -> int:
    """Build a hierarchy for a column from the values that occur in it."""
    from shoal import api

    entry = _builder(width, count, cuts, top, bottom, mask=mask, dates=dates, order=order)
    tree = api.build_hierarchy(
        opt.file_of(table, encoding, skip_lines),
        column,
        entry,
        out=out,
        separator=sep,
        missing=opt.names(missing),
    )
    print(f"{len(tree.leaves):,} values in {tree.height + 1} levels in {out}")
    return 0


def _builder(
    width: str | None,
    count: str | None,
    cuts: str | None,
    top: float | None,
    bottom: float | None,
    *,
    mask: bool,
    dates: bool,
    order: int | None,
) -> dict[str, object]:
    intervals: dict[str, object] = {}
    if width:
        intervals["width"] = [_number(part) for part in width.split(",")]
    if count:
        intervals["count"] = [int(_number(part)) for part in count.split(",")]
    if cuts:
        intervals["cuts"] = [[_number(p) for p in level.split(",")] for level in cuts.split(";")]
    chosen: list[dict[str, object]] = []
    if top is not None or bottom is not None:
        ends = {k: v for k, v in (("top", top), ("bottom", bottom)) if v is not None}
        inner = {"intervals": intervals} if intervals else {}
        chosen.append({"top_bottom": {**ends, **inner}})
    elif intervals:
        chosen.append({"intervals": intervals})
    for name, wanted in (("mask", mask), ("dates", dates)):
        chosen += [{name: {}}] if wanted else []
    chosen += [{"order": {"fanout": order}}] if order is not None else []
    if len(chosen) != 1:
        raise SchemaError(
            where="hierarchy build",
            faults=[
                "choose one of --width, --count, --cuts, --top/--bottom, --mask, --dates, --order"
            ],
        )
    return chosen[0]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SchemaError(
            where="hierarchy build", faults=["widths, counts and cuts are numbers"]
        ) from None


@hierarchy.command("wordnet")
def wordnet(
    column: Annotated[str, typer.Option(metavar="NAME", help="The column.")],
    mapping: Annotated[
        str, typer.Option("--map", metavar="FILE", help="CSV: value; lemma; sense; under.")
    ],
    folder: Annotated[
        str, typer.Option("--dict", metavar="DIR", help="Folder of data.noun and index.noun.")
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="Hierarchy file (CSV).")],
    root: Annotated[
        str | None, typer.Option(metavar="SYNSET", help="Cut here, such as country or country#2.")
    ] = None,
) -> int:
    """Build a hierarchy from WordNet's hypernyms."""
    from shoal import api

    tree = api.wordnet_hierarchy(column, mapping, folder, root=root, out=out)
    print(f"{len(tree):,} nodes in {tree.height + 1} levels in {out}")
    return 0


@hierarchy.command("show")
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Hierarchy (CSV, YAML or JSON).")],
    lines: Annotated[int, typer.Option(metavar="N", help="At most this many lines.")] = 200,
) -> int:
    """Draw a hierarchy as a tree."""
    from shoal import api

    print(api.draw_hierarchy(file, max_lines=lines))
    return 0


@hierarchy.command("check")
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Hierarchy (CSV, YAML or JSON).")],
    table: Annotated[
        str | None, typer.Option(metavar="INPUT", help="A table whose values it must know.")
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="The table's column.")] = None,
    missing: opt.Missing = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
) -> int:
    """Check that a file is a tree with one root, and that it knows a table's values."""
    from shoal import api

    if (table is None) != (column is None):
        raise SchemaError(where="hierarchy check", faults=["--table and --column go together"])
    tree = api.check_hierarchy(
        file,
        table=None if table is None else opt.file_of(table, encoding, skip_lines),
        column=column,
        separator=sep,
        missing=opt.names(missing),
    )
    known = "" if table is None else f"; it knows every value of {column!r}"
    print(
        f"a tree: {len(tree.leaves):,} leaves, {len(tree):,} nodes, {tree.height + 1} levels{known}"
    )
    return 0
