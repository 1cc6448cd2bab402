"""The figures of the papers, each from one `shoal compare --preset`, drawn, with its claims.

    python -m benchmarks.papers [preset …]

writes docs/guides/papers.md and its pictures. Finished runs are kept by `compare`, so that a
second run only draws. Data are looked for in $SHOAL_DATA or beside the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from benchmarks.measure import DATA, ROOT, USUAL
from benchmarks.run import _stamp as stamp

PAGE = ROOT / "docs" / "guides" / "papers.md"
IMAGES = ROOT / "docs" / "images"
HEAD = """# The figures of the papers, measured again

Written by `python -m benchmarks.papers`; no number is typed by hand. Each section is one command;
its answer has every run, verified, and the claims of the paper with what was measured beside them.
Times are of this implementation on one machine, not of the papers'. Where a claim does not hold
here, the guide on [clustering](clustering.md) says what was found out about it.

"""
Run = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One picture: a measure over k, records or parts, a line for each method.

    Attributes:
        over: "k", "sample" or "partitions".
    """

    name: str
    title: str
    measure: Callable[[Run], float | None]
    unit: str
    over: str = "k"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One command, and the figures that are drawn of its answer."""

    preset: str
    title: str
    words: Sequence[str]
    table: Callable[[Path], Path]
    figures: tuple[Figure, ...]
    note: str = ""


def utility(name: str) -> Callable[[Run], float | None]:
    """Return what reads a measure of utility off a run."""
    return lambda run: run["utility"].get(name)


def seconds(run: Run) -> float | None:
    """Return the time of the search."""
    return run["seconds"].get("learn")


def risk(run: Run) -> float | None:
    """Return the expected share of records that are found."""
    return run["risk"].get("average")


def accuracy(run: Run) -> float | None:
    """Return the accuracy of logistic regression trained on the release."""
    models = (run.get("learning") or {}).get("models", {})
    return models.get("logistic regression", {}).get("release", {}).get("accuracy", {}).get("mean")


def _adult(folder: Path) -> Path:
    out = folder / "adult.csv"
    pl.read_csv(DATA / "adult_arx" / "adult.csv.gz", separator=";").write_csv(out)
    return out


def _restaurant(folder: Path) -> Path:
    """Write the restaurant scores without records that miss a value, as the paper did."""
    columns = [*RESTAURANT, "risk_category"]
    path = DATA / "sf_restaurant_scores" / "restaurant_scores_lives_flat.csv.gz"
    frame = pl.read_csv(path, infer_schema=False, columns=columns)
    kept = frame.filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "")))
    out = folder / "restaurant.csv"
    kept.write_csv(out)
    return out


def _admissions(folder: Path) -> Path:
    out = folder / "admissions.csv"
    out.write_bytes((DATA / "ucla_binary" / "binary.csv").read_bytes())
    return out


RESTAURANT = ("business_name", "business_postal_code", "inspection_score", "inspection_type")
TREES = ("--hierarchies", str(DATA / "adult_arx"))
ADULT = ("--qi", ",".join(USUAL), *TREES)
SALARY = ("--sensitive", "salary-class", "--target", "salary-class")
_LOSS, _TIME = "loss (NCP)", "seconds of the search"
EXPERIMENTS = (
    Experiment(
        preset="kmember-2020", title="Netshiunda 2020, on Adult", table=_adult,
        words=(*ADULT, *SALARY),
        figures=(
            Figure(name="4-1", title="Figure 4.1: information loss",
                   measure=utility("ncp"), unit=_LOSS),
            Figure(name="4-3", title="Figure 4.3: information loss over the records, k = 15",
                   measure=utility("ncp"), unit=_LOSS, over="sample"),
            Figure(name="4-4", title="Figure 4.4: classification error",
                   measure=utility("cm"), unit="CM"),
            Figure(name="4-5", title="Figure 4.5: discernibility",
                   measure=utility("dm"), unit="DM"),
            Figure(name="4-7", title="Figure 4.7: time", measure=seconds, unit=_TIME),
            Figure(name="4-9", title="Figure 4.9: time over the records, k = 15", measure=seconds,
                   unit=_TIME, over="sample"),
        ),
    ),
    Experiment(
        preset="kmember-2020", title="Netshiunda 2020, on restaurant scores", table=_restaurant,
        words=("--qi", ",".join(RESTAURANT), "--numeric", "inspection_score",
               "--sensitive", "risk_category", "--target", "risk_category"),
        figures=(
            Figure(name="4-2", title="Figure 4.2: information loss",
                   measure=utility("ncp"), unit=_LOSS),
            Figure(name="4-6", title="Figure 4.6: discernibility",
                   measure=utility("dm"), unit="DM"),
            Figure(name="4-8", title="Figure 4.8: time", measure=seconds, unit=_TIME),
            Figure(name="4-10", title="Figure 4.10: time over the records, k = 15", measure=seconds,
                   unit=_TIME, over="sample"),
        ),
    ),
    Experiment(
        preset="oka-2008", title="Lin and Wei 2008, on Adult", table=_adult, words=ADULT,
        figures=(
            Figure(name="oka-3", title="Figure 3: information loss",
                   measure=utility("ncp"), unit=_LOSS),
            Figure(name="oka-4", title="Figure 4: time", measure=seconds, unit=_TIME),
        ),
    ),
    Experiment(
        preset="categories-2022", title="Veltmann 2022, on Adult (occupation, native country)",
        table=_adult, words=("--qi", "occupation,native-country", *TREES),
        note="The hierarchies are those of `adult_arx`; with WordNet's, as the paper has them, see "
        "[microaggregation](microaggregation.md).",
        figures=(
            Figure(name="sa-loss", title="Figure 14: loss", measure=utility("sse_loss"),
                   unit="loss, % of SST"),
            Figure(name="sa-risk", title="Tables of risk: global risk", measure=risk,
                   unit="records found, expected share"),
        ),
    ),
    Experiment(
        preset="partitions-2018", title="Lim 2018, on Adult: parts", table=_adult, words=ADULT,
        figures=(
            Figure(name="parts-5", title="Figure 5: utility over the number of parts",
                   measure=utility("class-entropy"), unit="entropy of the classes, bits",
                   over="partitions"),
            Figure(name="parts-4", title="Figure 4: time over the number of parts",
                   measure=seconds, unit=_TIME, over="partitions"),
        ),
    ),
    Experiment(
        preset="admissions-2018", title="Lim 2018, on admissions: models of a release",
        table=_admissions,
        words=("--qi", "gre,gpa,rank", "--sensitive", "admit", "--target", "admit"),
        figures=(
            Figure(name="admissions", title="Table I: accuracy of logistic regression",
                   measure=accuracy, unit="accuracy, trained on the release"),
        ),
    ),
)  # fmt: skip


def main(wanted: Sequence[str]) -> None:
    """Run the experiments (all if none is named) and write their sections and pictures."""
    sections = _sections()
    for each in EXPERIMENTS:
        if not wanted or each.preset in wanted:
            print(f"{each.title} …", flush=True)
            sections[each.title] = _section(each)
    known = [each.title for each in EXPERIMENTS if each.title in sections]
    body = "\n".join(f"## {title}\n\n{sections[title].strip()}\n" for title in known)
    PAGE.write_text(f"{HEAD}{body}", encoding="utf-8")


def _sections() -> dict[str, str]:
    if not PAGE.exists():
        return {}
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def _section(each: Experiment) -> str:
    with tempfile.TemporaryDirectory() as folder:
        table = each.table(Path(folder))
        words = [*each.words, "--preset", each.preset]
        asked = [sys.executable, "-m", "shoal", "compare", str(table), *words, "--json", "--quiet"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout)
    shown = [word if "/" not in word else Path(word).name for word in words]
    runs = [run for run in answer["runs"] if run["error"] is None]
    lines = [
        stamp(), "", f"    shoal compare {table.name} {' '.join(shown)}", "",
        f"{len(runs)} of {len(answer['runs'])} were made and verified. {each.note}".strip(),
        "", "| figure | the paper says | measured |", "| --- | --- | --- |",
    ]  # fmt: skip
    lines += [
        f"| {c['figure']} | {c['claim']} | {c['measured']} |" for c in answer["paper"]["claims"]
    ]
    for figure in each.figures:
        name = f"papers-{figure.name}.svg"
        (IMAGES / name).write_text(draw(figure, runs), encoding="utf-8")
        lines += ["", f"![{figure.title}](../images/{name})"]
    return "\n".join(lines)


def curves(figure: Figure, runs: Sequence[Run]) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each method: the median of runs that are alike."""
    sizes = [run.get("sample") for run in runs]
    usual = max(sizes, key=sizes.count)
    ks = {run["promise"]["k"] for run in runs if run.get("sample") != usual}
    found: dict[str, dict[float, list[float]]] = {}
    for run in runs:
        over_records = figure.over == "sample"
        if over_records and ks and run["promise"]["k"] not in ks:
            continue
        if not over_records and run.get("sample") != usual:
            continue
        x = run["promise"]["k"] if figure.over == "k" else run.get(figure.over)
        value = figure.measure(run)
        if x is not None and value is not None:
            found.setdefault(run["method"], {}).setdefault(x, []).append(value)
    return {
        name: sorted((x, median(values)) for x, values in points.items())
        for name, points in found.items()
    }


WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 760, 360, 72, 36, 48, 230
COLOURS = ("#1f77b4", "#d1495b", "#0b6e4f", "#edae49", "#6a4c93", "#8c1c3f", "#444444")
AXES = {"k": "k", "sample": "records", "partitions": "parts"}


def draw(figure: Figure, runs: Sequence[Run]) -> str:
    """Return the figure as SVG: a line for each method, from 0 up, named at its end."""
    lines = curves(figure, runs)
    xs = sorted({x for points in lines.values() for x, _ in points})
    top = max((y for points in lines.values() for _, y in points), default=1.0) * 1.08 or 1.0
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - xs[0]) / ((xs[-1] - xs[0]) or 1)
        return LEFT + wide * share, HEIGHT - BOTTOM - high * y / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{figure.title}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{figure.title}</text>',
    ]
    for mark in (top * share / 4 for share in range(5)):
        x, y = at(xs[0], mark)
        parts.append(
            f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
            f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{mark:.3g}</text>'
        )
    for x in xs:
        place = at(x, 0)
        parts.append(
            f'<text x="{place[0]:.1f}" y="{place[1] + 18:.1f}" text-anchor="middle">{x:g}</text>'
        )
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{AXES[figure.over]} → {figure.unit}</text>')
    room = {}
    height = HEIGHT - BOTTOM + 15.0
    for name, points in sorted(lines.items(), key=lambda item: item[1][-1][1]):
        height = min(at(*points[-1])[1] + 4, height - 15)  # so that no name covers another
        room[name] = height
    for place, (name, points) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'
            for x, y in (at(*point) for point in points)
        )
        parts.append(
            f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
            f'<text x="{WIDTH - RIGHT + 8}" y="{room[name]:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    main(sys.argv[1:])
