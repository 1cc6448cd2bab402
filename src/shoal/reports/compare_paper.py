"""Releases side by side on paper: the same blocks as in reports, for a PDF and for Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from shoal.core.documents import Json
from shoal.reports import charts
from shoal.reports.blocks import Block, Code, Heading, Section, Table, Text
from shoal.reports.compare import Compared, Run, figure
from shoal.reports.document import Bars
from shoal.reports.markdown import markdown_of
from shoal.reports.pdf import pdf_of
from shoal.reports.plots import Point, over, scatter
from shoal.reports.words import percent

TITLE = "Releases side by side"
MOST_FRONT = 12
"""Runs of the front that are shown one by one."""
_FIGURES = {
    "loss (NCP)": "ncp",
    "risk, average": "risk_average",
    "risk, highest": "risk_maximum",
    "seconds": "seconds",
    "megabytes": "megabytes",
}
_OVER = ("k", "records", "parts")


def to_pdf(found: Compared, commands: Mapping[str, str] | None = None) -> bytes:
    """Return the comparison as a PDF; commands: what repeats each run, by its name."""
    return pdf_of(blocks_of(found, commands or {}), title=TITLE)


def to_markdown(found: Compared, commands: Mapping[str, str] | None = None) -> str:
    """Return the comparison as Markdown; commands: what repeats each run, by its name."""
    return markdown_of(blocks_of(found, commands or {}))


def blocks_of(found: Compared, commands: Mapping[str, str]) -> tuple[Block, ...]:
    """Return the blocks of the comparison, top to bottom; never a value of the table."""
    made = [run for run in found.runs if run.error is None]
    return (
        Heading(text=TITLE, level=1),
        Text(text=lead(found), tone="lead"),
        *_claims(found),
        *_plots(made),
        *_front(found, commands),
        *_table(made),
        *_measured(made),
        *_spread(found),
        *_failures(found),
    )


def lead(found: Compared) -> str:
    """Say in a sentence or two what was tried."""
    done = sum(run.error is None for run in found.runs)
    return (
        f"{done:,} of {len(found.runs):,} releases were made and verified; none was published. "
        f"{len(found.front):,} of them are beaten by no other one in risk and loss together."
    )


def _claims(found: Compared) -> Iterator[Block]:
    if found.paper is None:
        return
    claims = found.paper.get("claims")
    rows = [
        tuple(str(each.get(name)) for name in ("figure", "claim", "measured"))
        for each in (claims if isinstance(claims, list) else [])
        if isinstance(each, dict)
    ]
    yield Heading(text=f"What [{found.paper['key']}] says", level=2)
    yield Text(text=str(found.paper["about"]))
    yield Table(head=("figure", "the paper says", "measured here"), rows=tuple(rows))


def _points(runs: Sequence[Run], x: str, y: str) -> tuple[Point, ...]:
    pairs = [(run, figure(run, x), figure(run, y)) for run in runs]
    return tuple(
        Point(
            name=run.name, group=str(run.facts.get("method")), x=one, y=other,
            is_front=run.front, is_pale=not run.front, table=run.table,
        )
        for run, one, other in pairs
        if one is not None and other is not None
    )  # fmt: skip


def _plots(made: Sequence[Run]) -> Iterator[Block]:
    points = _points(made, "ncp", "risk_average")
    if points:
        yield Section(
            blocks=(
                Heading(text="Risk against loss", level=2),
                Text(
                    text="Each point is a verified release. Pale ones are beaten by another one of "
                    "the same table in risk and loss together; the others are joined.",
                    tone="note",
                ),
                scatter(points, "loss (NCP)", "risk, average"),
            )
        )
    for name in _OVER:
        for title, measure in _FIGURES.items():
            drawn = _over(made, name, measure)
            if drawn:
                head = Heading(text=f"{title} over {name}", level=3)
                yield Section(blocks=(head, over(drawn, name, title)))


def _over(made: Sequence[Run], name: str, measure: str) -> tuple[Point, ...]:
    """Return a measure over what several runs differ by: lines of what is alike otherwise."""
    read = _places()[name]
    groups: dict[str, list[Point]] = {}
    for run in made:
        x, y = read(run), figure(run, measure)
        if x is not None and y is not None:
            group = _alike(run, name, made)
            groups.setdefault(group, []).append(Point(name=run.name, group=group, x=x, y=y))
    lines = [each for each in groups.values() if len({point.x for point in each}) > 1]
    return tuple(point for each in lines for point in each)


def _places() -> dict[str, Callable[[Run], float | None]]:
    def fact(name: str) -> Callable[[Run], float | None]:
        return lambda run: _plain(run.facts.get(name))

    def k(run: Run) -> float | None:
        promise = run.facts.get("promise")
        return _plain(promise.get("k")) if isinstance(promise, dict) else None

    return {"k": k, "records": fact("sample"), "parts": fact("partitions")}


def _plain(value: Json) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def _alike(run: Run, name: str, runs: Sequence[Run]) -> str:
    """Return what a line stands for: the method, and what else the runs differ by."""
    parts = {key: _told(run, key) for key in _TOLD}
    differs = [key for key in _TOLD if len({_told(each, key) for each in runs}) > 1]
    own = [parts[key] for key in differs if key not in ("method", name) and parts[key]]
    return " ".join([parts["method"], *own])


_TOLD = ("method", "table", "promise", "release", "suppression_limit", "labels", "minimizes",
         "k", "records", "parts")  # fmt: skip


def _told(run: Run, key: str) -> str:
    """Return a fact of a run in a word; the promise without its k, which has its own."""
    if key in _OVER:
        value = _places()[key](run)
        return "" if value is None else f"{key}={value:g}"
    fact = run.facts.get(key)
    if key == "promise":
        rest = fact.items() if isinstance(fact, dict) else ()
        return " ".join(f"{name}={value}" for name, value in rest if name != "k")
    if fact is None:
        return ""
    return str(fact) if key in ("method", "table", "release") else f"{key}={fact}"


def _front(found: Compared, commands: Mapping[str, str]) -> Iterator[Block]:
    front = sorted(found.front, key=lambda run: (run.loss or 0.0, run.name))
    if not front:
        return
    yield Heading(text="What no other one beats", level=2)
    for run in front[:MOST_FRONT]:
        blocks: list[Block] = [Heading(text=run.name, level=3), Text(text=_facts(run))]
        losses = run.report.get("column_loss")
        if isinstance(losses, dict):
            pairs = [(name, _plain(each) or 0.0) for name, each in losses.items()]
            pairs.sort(key=lambda pair: -pair[1])
            blocks.append(charts.shares("loss by column", pairs))
        sizes = _sizes(run)
        if sizes is not None:
            blocks.append(charts.bars("classes by their number of records", sizes))
        if run.name in commands:
            blocks.append(Code(text=commands[run.name]))
        yield Section(blocks=tuple(blocks))
    if len(front) > MOST_FRONT:
        yield Text(text=f"and {len(front) - MOST_FRONT:,} more; see the table.", tone="note")


def _facts(run: Run) -> str:
    row = run.row()
    return (
        f"Loss {percent(run.loss)}, risk {percent(_plain(row['risk_average']))} on average and "
        f"{percent(_plain(row['risk_maximum']))} at worst; {row['classes']:,} classes, "
        f"{row['suppressed']:,} records suppressed. Below: loss by column, and classes by their "
        "number of records."
    )


def _sizes(run: Run) -> Bars | None:
    sizes = run.to_document()["sizes"]
    if not isinstance(sizes, list) or not sizes:
        return None
    names = ["1" if not i else f"{2**i:,} – {2 ** (i + 1) - 1:,}" for i in range(len(sizes))]
    counts = [_plain(each) or 0.0 for each in sizes]
    first = next((i for i, number in enumerate(counts) if number), 0)
    return Bars(names=tuple(names[first:]), before=None, after=tuple(counts[first:]), unit="class")


def _table(made: Sequence[Run]) -> Iterator[Block]:
    if not made:
        return
    rows = []
    for run in sorted(made, key=lambda run: (run.loss or 0.0, run.name)):
        row = run.row()
        rows.append(
            (
                f"{'● ' if run.front else ''}{run.name}", _number(row["ncp"]),
                _number(row["risk_average"]), _number(row["risk_maximum"]),
                _number(row["classes"]), _number(row["suppressed"]), _number(row["seconds"]),
                _number(row["megabytes"]),
            )
        )  # fmt: skip
    head = ("run", "loss", "risk, average", "highest", "classes", "suppressed", "seconds", "MB")
    yield Heading(text="All runs", level=2)
    yield Table(head=head, rows=tuple(rows), numbers=tuple(range(1, len(head))))
    yield Text(text="● No other run has less risk and less loss together.", tone="note")


def _number(value: Json) -> str:
    number = _plain(value)
    if number is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _measured(made: Sequence[Run]) -> Iterator[Block]:
    names = list(dict.fromkeys(name for run in made for name in run.measured))
    if not names:
        return
    yield Heading(text="Fidelity and models", level=2)
    rows = []
    for run in made:
        texts = (f"{name} {run.measured[name]:.4g}" for name in names if name in run.measured)
        rows.append((run.name, "; ".join(texts)))
    yield Table(head=("run", "measured"), rows=tuple(rows))


def _spread(found: Compared) -> Iterator[Block]:
    rows = []
    for each in found.spread():
        ends = each["ncp"]
        if isinstance(ends, dict) and ends.get("median") is not None:
            told = [_number(ends[name]) for name in ("least", "median", "most")]
            rows.append((str(each["name"]), str(each["runs"]), *told))
    if rows:
        yield Heading(text="Loss over seeds", level=2)
        head = ("run", "seeds", "least", "median", "most")
        yield Table(head=head, rows=tuple(rows), numbers=(1, 2, 3, 4))


def _failures(found: Compared) -> Iterator[Block]:
    rows = [(run.name, run.error) for run in found.runs if run.error is not None]
    if rows:
        yield Heading(text="Not made", level=2)
        yield Table(head=("run", "why"), rows=tuple(rows))
