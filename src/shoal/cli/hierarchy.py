"""The commands `hierarchy …`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from shoal.cli import options as opt

if TYPE_CHECKING:
    from shoal.hierarchies.tree import Hierarchy

hierarchy = typer.Typer(
    no_args_is_help=True, help="Build, draw and check value hierarchies.", add_completion=False
)

TreeFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Hierarchy (CSV, YAML or JSON).", rich_help_panel="Input"),
]
Column = Annotated[str, typer.Option(metavar="COLUMN", help="The column.", rich_help_panel="Input")]
Out = Annotated[
    str, typer.Option(metavar="FILE", help="Hierarchy file (CSV).", rich_help_panel="Output")
]
_FILE = opt.Use(only=("source", "sep", "encoding", "skip_lines"))
_MISSING = opt.Use(only=("missing",))


@dataclass(frozen=True, kw_only=True)
class BuilderOptions(opt.Group):
    """What a hierarchy is built by: one of them."""

    panel: ClassVar[str] = "Builder"

    width: str | None = opt.option(None, "Intervals of these widths, level by level.", "5,10")
    count: str | None = opt.option(None, "Groups with equally many values.", "8,4,2")
    cuts: str | None = opt.option(
        None, "Explicit cuts; levels apart by ';', finest first.", "18,30,65"
    )
    top: float | None = opt.option(None, "Numbers from here on become one: 90+.")
    bottom: float | None = opt.option(None, "Numbers up to here become one.")
    mask: bool = opt.option(False, "Mask from the right: 75275, 7527*, …")
    dates: bool = opt.option(False, "Day, month, quarter, year, decade.")
    order: int | None = opt.option(None, "Groups of N neighbours in their order.", "N")

    def entry(self) -> Mapping[str, object]:
        """Return the builder as a schema has it; refuse none, or more than one."""
        intervals: dict[str, object] = {}
        if self.width:
            intervals["width"] = _numbers(self.width)
        if self.count:
            intervals["count"] = [int(number) for number in _numbers(self.count)]
        if self.cuts:
            intervals["cuts"] = [_numbers(level) for level in self.cuts.split(";")]
        ends = {"top": self.top, "bottom": self.bottom}
        given: dict[str, object] = {n: end for n, end in ends.items() if end is not None}
        chosen: dict[str, object] = {}
        if given:
            inner = {"intervals": intervals} if intervals else {}
            chosen["top_bottom"] = {**given, **inner}
        elif intervals:
            chosen["intervals"] = intervals
        chosen |= {n: {} for n, wanted in (("mask", self.mask), ("dates", self.dates)) if wanted}
        if self.order is not None:
            chosen["order"] = {"fanout": self.order}
        if len(chosen) != 1:
            raise opt.refusal(
                "hierarchy build",
                "choose one of --width, --count, --cuts, --top/--bottom, --mask, --dates, --order",
            )
        return chosen


def _counts(tree: Hierarchy, out: str | None) -> Mapping[str, object]:
    return {"leaves": len(tree.leaves), "nodes": len(tree), "levels": tree.height + 1, "out": out}


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise opt.refusal("hierarchy build", "widths, counts and cuts are numbers") from None


@hierarchy.command("build")
@opt.command(
    examples="""
    # 75275, 7527*, 752**, …
    shoal hierarchy build stays.csv --column zip --mask --out hierarchy_zip.csv
    # days in intervals of 5, then of 10
    shoal hierarchy build stays.csv --column stay_days --width 5,10 \\
        --out hierarchy_days.csv
    """
)
def build(
    place: Annotated[opt.InputOptions, _FILE],
    column: Column,
    out: Out,
    builder: BuilderOptions,
    columns: Annotated[opt.ColumnOptions, _MISSING],
    answer: opt.JsonOptions,
) -> int:
    """Build a hierarchy for a column from the values that occur in it."""
    from shoal.jobs import hierarchy as job

    entry = builder.entry()
    values = job.ColumnValues(
        table=place.file(place.source),
        column=column,
        separator=place.sep,
        missing=opt.names(columns.missing),
    )
    tree = job.build_hierarchy(values, entry, out=out)
    answer.print(
        _counts(tree, out), f"{len(tree.leaves):,} values in {tree.height + 1} levels in {out}"
    )
    return 0


@hierarchy.command("wordnet")
@opt.command(
    examples="""
    # words.csv: value; lemma; sense; under
    shoal hierarchy wordnet --column job --map words.csv --dict wordnet \\
        --out hierarchy_job.csv
    """
)
def wordnet(
    column: Column,
    mapping: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="FILE",
            help="CSV: value; lemma; sense; under.",
            rich_help_panel="Input",
        ),
    ],
    folder: Annotated[
        str,
        typer.Option(
            "--dict",
            metavar="DIR",
            help="Folder of data.noun and index.noun.",
            rich_help_panel="Input",
        ),
    ],
    out: Out,
    answer: opt.JsonOptions,
    root: Annotated[
        str | None,
        typer.Option(
            metavar="SYNSET",
            help="Cut here, such as country or country#2.",
            rich_help_panel="Builder",
        ),
    ] = None,
) -> int:
    """Build a hierarchy from WordNet's hypernyms."""
    from shoal.jobs import hierarchy as job

    tree = job.wordnet_hierarchy(column, mapping, folder, root=root, out=out)
    answer.print(_counts(tree, out), f"{len(tree):,} nodes in {tree.height + 1} levels in {out}")
    return 0


@hierarchy.command("show")
@opt.command(
    examples="""
    shoal hierarchy show hierarchy_zip.csv --lines 20
    """
)
def show(
    file: TreeFile,
    lines: Annotated[
        int, typer.Option(metavar="N", help="At most this many lines.", rich_help_panel="Output")
    ] = 200,
) -> int:
    """Draw a hierarchy as a tree."""
    from shoal.jobs import hierarchy as job

    print(job.draw_hierarchy(file, max_lines=lines))
    return 0


@hierarchy.command("check")
@opt.command(
    examples="""
    # is it a tree, and does it know every value of the column?
    shoal hierarchy check hierarchy_zip.csv --table stays.csv --column zip
    """
)
def check(
    file: TreeFile,
    files: opt.FileOptions,
    columns: Annotated[opt.ColumnOptions, _MISSING],
    answer: opt.JsonOptions,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="INPUT", help="A table whose values it must know.", rich_help_panel="Input"
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The table's column.", rich_help_panel="Input"),
    ] = None,
) -> int:
    """Check that a file is a tree with one root, and that it knows a table's values."""
    from shoal.jobs import hierarchy as job

    if (table is None) != (column is None):
        raise opt.refusal("hierarchy check", "--table and --column go together")
    values, known = None, ""
    if table is not None and column is not None:
        values = job.ColumnValues(
            table=files.file(table),
            column=column,
            separator=files.sep,
            missing=opt.names(columns.missing),
        )
        known = f"; it knows every value of {column!r}"
    tree = job.check_hierarchy(file, values)
    counts = f"{len(tree.leaves):,} leaves, {len(tree):,} nodes, {tree.height + 1} levels"
    answer.print(_counts(tree, None), f"a tree: {counts}{known}")
    return 0
