"""The command `compare`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from shoal.cli import options as opt
from shoal.cli.bars import bar, has_blocks
from shoal.cli.options.groups import Generated, Option, generated
from shoal.cli.render import at, rows
from shoal.core.documents import read_document
from shoal.methods.method import Method
from shoal.methods.parameters import from_texts
from shoal.methods.registry import kind_named, method_named
from shoal.privacy import Promise, from_flags
from shoal.privacy.registry import options
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.jobs.papers import Paper
    from shoal.jobs.trials import Grid, Trial
    from shoal.reports.compare import Compared, Run

_PAPERS = ("oka-2008", "kmember-2020", "categories-2022", "partitions-2018", "admissions-2018")
_WIDTH = 12
# Options of `compare` that its runs do not share, or that say nothing about a release.
_OWN = (
    "source", "methods", "request", "preset", "samples", "partitions", "release",
    "suppression_limit", "labels", "utility", "partition_by", "seeds", "also", "processes", "keep",
    "again", "report", "out", "fidelity", "learn", "json", "quiet", "goal", "max_risk", "max_loss",
    "risk",
)  # fmt: skip


def _lists() -> Generated:
    return {
        name: (
            str | None,
            Option(
                f"{each.help.rstrip('.')}; several: 2,5.", "LIST", each.default or False, each.flags
            ),
        )
        for name, each in options().items()
    }


@dataclass(frozen=True, kw_only=True)
class PromiseLists(opt.Group):
    """What is promised, several values of each word."""

    panel: ClassVar[str] = "Promise"

    asked: Mapping[str, str | None] = generated(_lists)  # type: ignore[assignment]
    replace_promise: bool = opt.option(False, "Flags replace the schema's promise: it is dropped.")

    def promises(self) -> tuple[tuple[Promise, ...], ...]:
        """Return the promise of every combination of the values."""
        known = options()
        lists = {
            name: [_value(text, known[name].kind, name) for text in opt.names(texts)]
            for name, texts in self.asked.items()
            if texts
        }
        return tuple(
            from_flags(dict(zip(lists, each, strict=True))) for each in product(*lists.values())
        )


def _value(text: str, kind: type, name: str) -> object:
    try:
        return kind(text)
    except ValueError:
        word = "whole numbers" if kind is int else "numbers"
        raise opt.refusal(f"--{name.replace('_', '-')}", f"must be {word}: 2,5,10") from None


@dataclass(frozen=True, kw_only=True)
class TrialOptions(opt.Group):
    """What is tried."""

    panel: ClassVar[str] = "Method"

    methods: str | None = opt.option(
        None,
        "What is tried; a parameter of its own: refine:effort=best.",
        "LIST",
        shown="bestcut,refine,mondrian,flash; of sets of items, their own",
    )
    release: str | None = opt.option(None, "generalize, aggregate, or both.", "LIST")
    suppression_limit: str | None = opt.option(None, "Shares that may be suppressed.", "X,Y")
    samples: str | None = opt.option(None, "Numbers of records, drawn by the seed.", "N,M")
    labels: str | None = opt.option(None, "round, tight, or both.", "LIST")
    partitions: str | None = opt.option(None, "Numbers of parts, learned side by side.", "N,M")
    partition_by: str | None = opt.option(None, "How parts are made: kmeans, random.", "LIST")
    utility: str | None = opt.option(None, "What a search minimizes; several: ncp,loss.", "LIST")
    target: str | None = opt.option(None, "Column for the measure cm.", "COLUMN")
    preset: str | None = opt.option(None, "The experiment of a paper.", "|".join(_PAPERS))
    seeds: str = opt.option("0", "One run each; the spread is shown.", "N,M")
    also: str | None = opt.option(None, "Further tables with the same columns.", "FILES")
    fidelity: bool = opt.option(False, "Measure how near each release shows the table to be.")
    learn: str | None = opt.option(
        None, "Train models on each release to tell this column, and test them.", "COLUMN"
    )
    request: str | None = opt.option(
        None, "Try these instead: a list `runs` of release requests (YAML, JSON).", "FILE"
    )
    processes: int | None = opt.option(
        None, "Runs side by side.", "N", shown="as many as cores and memory allow", panel="Engine"
    )

    def tried(self, schema: Schema) -> tuple[Method, ...]:
        """Return the methods with their parameters."""
        found = []
        for text in opt.names(self.methods or usual_methods(schema)):
            name, *own = text.split(":")
            if name == "xk":
                raise opt.refusal("--methods", "xk adds records; see `shoal recommend`")
            found.append(method_named(name, from_texts(kind_named(name), own)))
        return tuple(found)

    def limits(self) -> tuple[float | None, ...]:
        """Return the suppression limits."""
        texts = opt.names(self.suppression_limit)
        return tuple(float(str(_value(x, float, "suppression-limit"))) for x in texts) or (None,)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return the whole numbers that an option lists."""
        texts = opt.names(getattr(self, name))
        return tuple(int(str(_value(text, int, name))) for text in texts)

    def texts(self, name: str) -> tuple[str | None, ...]:
        """Return the words that an option lists; None: nothing was said."""
        return tuple(opt.names(getattr(self, name))) or (None,)

    def added_to(self, schema: Schema) -> Schema:
        """Return the schema with what is classified."""
        return schema if self.target is None else replace(schema, target=self.target)


@dataclass(frozen=True, kw_only=True)
class PageOptions(opt.Group):
    """Where the answer goes."""

    panel: ClassVar[str] = "Output"

    report: str | None = opt.option(
        None, "One page with everything (.html); or on paper: .pdf, .md, .json.", "FILE"
    )
    out: str | None = opt.option(None, "The table of runs (.csv).", "FILE")
    keep: str | None = opt.option(
        None, "Finished runs; they are not run again.", "DIR", shown="the user's folder of caches"
    )
    again: bool = opt.option(False, "Run everything again; keep nothing.")

    def kept(self) -> Path | None:
        """Return the folder for finished runs."""
        if self.again:
            return None
        return Path(self.keep) if self.keep is not None else usual_folder()

    def check(self, inputs: Sequence[str | Path]) -> None:
        """Refuse places that cannot be written, before any work is done."""
        from shoal.jobs.places import check_place
        from shoal.jobs.report import check_report

        if self.report is not None:
            check_report(self.report, inputs=tuple(inputs))
        if self.out is not None:
            if Path(self.out).suffix.lower() != ".csv":
                raise opt.refusal("--out", "the table of runs is a CSV file; name it .csv")
            check_place(self.out, inputs=inputs)

    def write(self, found: Compared, commands: Mapping[str, str]) -> None:
        """Write what was asked for."""
        from shoal.jobs.compare import write_page, write_table

        if self.out is not None:
            write_table(found, self.out)
        if self.report is not None:
            write_page(found, self.report, commands)


@opt.command(
    examples="""
    # four methods, three k: risk against loss, on one page
    shoal compare stays.csv --schema stays.schema.yaml \\
        --methods bestcut,mondrian -k 5,10 --report compare.html
    # the spread over seeds
    shoal compare stays.csv --schema stays.schema.yaml --methods oka -k 5 \\
        --seeds 0,1 --out runs.csv
    """
)
def compare(
    context: typer.Context,
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows", "engine", "master"))],
    columns: opt.ColumnOptions,
    promised: PromiseLists,
    tried: TrialOptions,
    page: PageOptions,
    answer: opt.AnswerOptions,
) -> int:
    """Release a table in several ways side by side, verify and measure each; publish none."""
    from shoal.jobs.compare import CompareRequest
    from shoal.jobs.compare import compare as job
    from shoal.jobs.trials import Grid

    others = tuple(opt.names(tried.also))
    page.check((*place.files(), *columns.files(), *others))
    schema = tried.added_to(columns.read())
    grid = Grid(
        tables=(place.input(), *(place.file(each) for each in others)),
        schema=schema, methods=tried.tried(schema), promises=promised.promises(),
        releases=tried.texts("release"), limits=tried.limits(), labels=tried.texts("labels"),
        utilities=tried.texts("utility"), seeds=tried.numbers("seeds") or (0,),
        samples=tried.numbers("samples") or (None,),
        partitions=tried.numbers("partitions") or (None,),
        partition_by=tuple(opt.names(tried.partition_by)) or ("kmeans",),
        replace_promise=promised.replace_promise,
        infer=columns.infer, separator=place.sep, fidelity=tried.fidelity, learn=tried.learn,
    )  # fmt: skip
    trials, paper = _tried(tried, grid)
    request = CompareRequest(trials=trials, processes=tried.processes, keep=page.kept())
    found = job(request)
    found = found if paper is None else replace(found, paper=paper.said(found))
    commands = commands_of(context, place.source, trials)
    page.write(found, commands)
    document = found.to_document()
    runs = [{**run.to_document(), "command": commands.get(run.name)} for run in found.runs]
    answer.print({**document, "runs": runs}, "\n".join(_lines(found, commands)))
    return 0 if any(run.error is None for run in found.runs) else 1


def _tried(tried: TrialOptions, grid: Grid) -> tuple[tuple[Trial, ...], Paper | None]:
    """Return the trials: of a paper, of a file, or every combination."""
    if tried.preset is not None:
        from shoal.jobs.papers import paper_named

        paper = paper_named(tried.preset)
        return paper.trials(grid), paper
    return (grid.trials() if tried.request is None else _asked(tried.request, grid)), None


def _asked(file: str, grid: Grid) -> tuple[Trial, ...]:
    """Return the trials of a file, with the table and the schema of the command line."""
    from shoal.jobs.requests import ReleaseRequest
    from shoal.jobs.trials import trials_from

    base = ReleaseRequest(
        table=grid.tables[0], schema=grid.schema, infer=grid.infer, separator=grid.separator
    )
    return trials_from(read_document(file), base, where=file)


def usual_methods(schema: Schema) -> str:
    """Return what is tried of a table; where sets of items alone identify, methods for these."""
    if not schema.sets or set(schema.quasi) - set(schema.sets):
        return "bestcut,refine,mondrian,flash"
    along = any(schema.attribute(name).hierarchy is not None for name in schema.sets)
    return "itemsets,apriori,lra,vpa,pcta,coat" if along else "itemsets,pcta,coat"


def usual_folder() -> Path:
    """Return where finished runs are kept: among the user's caches, for the user alone."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "shoal" / "compare"


def commands_of(context: typer.Context, source: str, trials: Sequence[Trial]) -> dict[str, str]:
    """Return the command that repeats each run."""
    shared = []
    for each in context.command.params:
        name = str(each.name)
        given = context.get_parameter_source(name)
        if given is None or given.name != "COMMANDLINE" or name in _OWN or name in options():
            continue
        value, flag = context.params[name], max(each.opts, key=len)
        if isinstance(value, bool):
            shared.append(flag if value else each.secondary_opts[0])
        else:
            several = value if isinstance(value, (list, tuple)) else [value]
            shared += [word for one in several for word in (flag, str(one))]
    found = {}
    for trial in (each for each in trials if each.words):
        table = trial.request.table
        file = str(table) if isinstance(table, (str, os.PathLike)) else source
        words = ["shoal", "anonymize", file, *shared, *trial.words, "--out", "release.csv"]
        found[trial.name] = shlex.join(words)
    return found


def _lines(found: Compared, commands: Mapping[str, str]) -> list[str]:
    """Return the runs as a table, least loss first, with the front marked."""
    runs = sorted(found.runs, key=lambda run: (run.error is not None, run.loss or 0.0, run.name))
    width = max((len(run.name) for run in runs), default=4)
    done = sum(run.error is None for run in runs)
    lines = [f"{done:,} of {len(runs):,} releases were made and verified; none was published"]
    head = f"loss (NCP){'':<{_WIDTH + 1}}risk: average  highest  suppressed  seconds     MB"
    lines.append(f"    {'run':<{width}}  {head}")
    blocks = has_blocks()
    for run in runs:
        mark = "●" if run.front else " "
        if run.error is not None:
            lines.append(f"  ✗ {run.name:<{width}}  {run.error}")
            continue
        row, drawn = run.row(), bar(run.loss or 0.0, blocks=blocks, width=_WIDTH)
        lines.append(
            f"  {mark} {run.name:<{width}}  {run.loss or 0.0:>7.4f} {drawn:<{_WIDTH}}  "
            f"{_share(row['risk_average']):>13} {_share(row['risk_maximum']):>8}  "
            f"{row['suppressed']:>10,}  {_seconds(row['seconds']):>7}  "
            f"{_whole(row['megabytes']):>5}"
        )
    best = min(found.front, key=lambda run: run.loss or 0.0, default=None)
    lines.append("● no other run has less risk and less loss together")
    lines += _measured(runs, width)
    for each in found.spread():
        low, middle, high = (at(each, "ncp", end) for end in ("least", "median", "most"))
        if middle is not None:
            runs_of = f"over {each['runs']} seeds"
            lines.append(f"  {each['name']}: loss {low:.4f} – {middle:.4f} – {high:.4f} {runs_of}")
    lines += _said(found)
    if best is not None and best.name in commands:
        lines.append(f"  least loss: {commands[best.name]}")
    return lines


def _measured(runs: Sequence[Run], width: int) -> list[str]:
    """Return fidelity and learning of the runs as a table, where they were measured."""
    every = list(dict.fromkeys(name for run in runs for name in run.measured))
    names = [name for name in every if not name.endswith((" raw", " control"))]
    if not names:
        return []
    lines = [f"    {'run':<{width}}  " + "  ".join(names)]
    for run in runs:
        cells = [run.measured.get(name) for name in names]
        texts = ["–" if cell is None else f"{cell:.4g}" for cell in cells]
        padded = (f"{text:>{len(name)}}" for text, name in zip(texts, names, strict=True))
        lines.append(f"    {run.name:<{width}}  " + "  ".join(padded))
    for way, words in (("raw", "raw records"), ("control", "marginals alone, without a release")):
        beside = {
            name.removesuffix(way): run.measured[name]
            for run in runs
            for name in every
            if name.endswith(f" {way}") and name in run.measured
        }
        if beside:
            lines.append(f"    {words}: " + ", ".join(f"{n}{v:.4f}" for n, v in beside.items()))
    return lines


def _said(found: Compared) -> list[str]:
    """Return a paper's claims, each with what was measured below it."""
    if found.paper is None:
        return []
    lines = [f"[{found.paper['key']}]: {found.paper['about']}"]
    for each in rows(found.paper, "claims"):
        figure, claim, measured = (at(each, name) for name in ("figure", "claim", "measured"))
        lines += [f"  {figure}: {claim}", f"    measured: {measured}"]
    return lines


def _share(value: object) -> str:
    return f"{value:.2%}" if isinstance(value, float) else "–"


def _seconds(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "–"


def _whole(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) else "–"
