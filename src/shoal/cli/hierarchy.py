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
_FILE = opt.Use(only=("source", "sep", "encoding", "skip_lines", "sheet"))
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


@dataclass(frozen=True, kw_only=True)
class WordNetOptions(opt.Group):
    """Where the senses of a column's values are, or are to be found, and the way up."""

    panel: ClassVar[str] = "Builder"

    mapping: str | None = opt.option(
        None, "CSV: value; lemma; sense; under; use.", "FILE", flags=("--map",), panel="Input"
    )
    table: str | None = opt.option(
        None, "Propose the senses of this table's values, in place of --map.", "INPUT",
        panel="Input",
    )  # fmt: skip
    root: str | None = opt.option(None, "Cut here, such as country or country#2.", "SYNSET")
    through: str | None = opt.option(
        None, "Lead ways up through these where they can, such as organism.", "SYNSET,…"
    )

    def check(self) -> None:
        """Refuse both, or neither; and what a proposal does not look at."""
        if (self.mapping is None) == (self.table is None):
            raise opt.refusal(
                "hierarchy wordnet",
                "give --map, the senses that were chosen; or --table, to have some proposed",
            )
        if self.table is not None and (self.root or self.through):
            raise opt.refusal("hierarchy wordnet", "--root and --through go with --map")


@hierarchy.command("wordnet")
@opt.command(
    examples="""
    # the senses of each value, with what they mean: move the x to the right one
    shoal hierarchy wordnet --column job --table staff.csv --dict wordnet \\
        --out words.csv
    # words.csv: value; lemma; sense; under; use
    shoal hierarchy wordnet --column job --map words.csv --dict wordnet \\
        --out hierarchy_job.csv
    """
)
def wordnet(
    column: Column,
    asked: WordNetOptions,
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
    files: opt.FileOptions,
    columns: Annotated[opt.ColumnOptions, _MISSING],
    answer: opt.JsonOptions,
) -> int:
    """Build a hierarchy from WordNet's hypernyms, or propose senses for a column's values."""
    from shoal.jobs import hierarchy as job

    asked.check()
    if asked.mapping is not None:
        through = opt.names(asked.through)
        tree = job.wordnet_hierarchy(
            column, asked.mapping, folder, root=asked.root, through=through, out=out
        )
        text = f"{len(tree):,} nodes in {tree.height + 1} levels in {out}"
        answer.print(_counts(tree, out), text)
        return 0
    assert asked.table is not None
    values = job.ColumnValues(
        table=files.file(asked.table),
        column=column,
        separator=files.sep,
        missing=opt.names(columns.missing),
    )
    found = job.propose_senses(values, folder, out=out)
    number, unknown = sum(map(len, found.values())), sum(not each for each in found.values())
    open_text = f"; {unknown:,} values are no noun there and need one" if unknown else ""
    answer.print(
        {"values": len(found), "senses": number, "unknown": unknown, "out": out},
        f"{number:,} senses of {len(found):,} values in {out}{open_text}. Move the x of a value to "
        "the sense that is meant, then give the file as --map",
    )
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
