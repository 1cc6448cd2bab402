"""Exploring: methods and parameters side by side, as points of risk against loss; choose one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from nicegui import ui
from nicegui.element import Element
from nicegui.events import EChartPointClickEventArguments

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError
from shoal.methods.registry import METHODS
from shoal.web import charts
from shoal.web.charts import Look, Point
from shoal.web.child import Job, Standing
from shoal.web.live import follow, told
from shoal.web.panels.lattice import lattice_view
from shoal.web.plain import listed
from shoal.web.project import SCHEMA, Project
from shoal.web.state import State
from shoal.web.texts import Texts

USUAL = ("bestcut", "refine", "mondrian", "flash")
SIZES = (2, 3, 5, 10, 20, 50)
LIMITS = (0.0, 0.01, 0.02, 0.05, 0.1)
SAMPLE, MANY = 20_000, 100_000
"""Records of a sample, and from how many on one is proposed."""
_OFTEN = 0.4
_MOST_LISTED = 100


class Tried(NamedTuple):
    """What was tried so far: a row for each run, and whether more are to come."""

    rows: tuple[Document, ...]
    is_running: bool
    is_stale: bool = False


def build(project: Project, texts: Texts) -> None:
    """Draw what is tried, the points that come in, and the one that is chosen."""
    Element("p").classes("lead")._text = texts("explore.lead")
    follow(project, partial(_asking, project, texts), key=lambda: _is_ready(project))
    ui.timer(_OFTEN, _Drawn(project, texts).renew)


def tried(project: Project) -> Tried:
    """Return what was tried so far."""
    job = project.job
    if job is not None and job.is_running and job.name == "compare":
        return Tried(finished(job), is_running=True)
    found = project.results.get("compare", {})
    kept = found.get("runs")
    rows = tuple(each for each in listed(kept) if isinstance(each.get("choice"), dict))
    is_stale = bool(rows) and found.get("asked_for") != _question(project)
    return Tried(rows, is_running=False, is_stale=is_stale)


def finished(job: Job) -> tuple[Document, ...]:
    """Return the runs of a comparison that are there already."""
    front = job.parts[-1].get("front") if job.parts else []
    names = front if isinstance(front, list) else []
    runs = [row for each in job.parts if isinstance(row := each.get("run"), dict)]
    return tuple({**row, "front": row.get("name") in names} for row in runs)


def _question(project: Project) -> str:
    """Return what a comparison depends on, beside what it tries itself."""
    own = ("privacy", "suppression_limit")
    schema = {name: value for name, value in project.state.schema.items() if name not in own}
    return json.dumps([project.state.table, schema], sort_keys=True)


def _is_ready(project: Project) -> bool:
    roles = [e.get("role") if isinstance(e, dict) else e for e in project.state.columns.values()]
    return project.state.table is not None and "quasi" in roles


def _asking(project: Project, texts: Texts) -> None:
    """Draw what is to be tried."""
    if not _is_ready(project):
        Element("p").classes("muted")._text = texts("explore.not_ready")
        return
    with Element("div").classes("asking"):
        methods = ui.select(
            list(METHODS), value=list(USUAL), multiple=True, with_input=True,
            new_value_mode="add-unique", label=texts("explore.methods"),
        ).props("outlined dense use-chips behavior=menu")  # fmt: skip
        sizes = ui.select(
            [str(k) for k in SIZES], value=["3", "5", "10"], multiple=True, with_input=True,
            new_value_mode="add-unique", label=texts("explore.sizes"),
        ).props("outlined dense use-chips behavior=menu")  # fmt: skip
        limits = ui.select(
            {limit: texts.percent(limit, digits=0) for limit in LIMITS}, value=[], multiple=True,
            label=texts("explore.limits"),
        ).props("outlined dense use-chips behavior=menu")  # fmt: skip
    records = _records(project)
    with Element("div").classes("row-line"):
        start = ui.button(texts("explore.compare"), icon="play_arrow")
        sample = ui.checkbox(texts("explore.sample", n=SAMPLE), value=(records or 0) > MANY)
        sample.set_visibility((records or 0) > SAMPLE)
        Element("span").classes("muted small")._text = texts("explore.hint")

    def go() -> None:
        asked = question(
            project, methods=methods.value or [], sizes=sizes.value or [],
            limits=limits.value or [], sample=SAMPLE if sample.value else None,
        )  # fmt: skip
        compare(project, asked)

    start.on_click(told(go))


def question(
    project: Project, *, methods: Sequence[object], sizes: Sequence[object],
    limits: Sequence[object], sample: int | None,
) -> Document:  # fmt: skip
    """Return what the child is asked to compare.

    Raises:
        SchemaError: a size is no whole number, or nothing is to be compared.
        InputError: what is compared would be kept outside the folder.
    """
    keep = project.folder.name(project.folder.below(project.place / "results" / "compare"))
    names: list[Json] = [str(each) for each in methods]
    numbers: list[Json] = [_size(each) for each in sizes]
    shares: list[Json] = [float(str(each)) for each in limits]
    return {
        "request": {**project.document, "schema": project.folder.name(project.place / SCHEMA)},
        "methods": names, "k": numbers, "limits": shares, "sample": sample, "keep": keep,
    }  # fmt: skip


def _size(value: object) -> int:
    text = str(value).strip()
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise SchemaError(where="compare", faults=["k must be whole numbers of at least 1"])
    return int(text)


def compare(project: Project, asked: Document) -> None:
    """Have releases compared; the answer remembers what it was asked for.

    Of a comparison that was cancelled, or failed, what was finished stays.
    """
    asked_for = _question(project)

    def ended(job: Job) -> None:
        runs = finished(job)
        if runs and job.standing in (Standing.CANCELLED, Standing.FAILED):
            project.results["compare"] = {"runs": [*runs], "asked_for": asked_for}
        found = project.results.get("compare")
        if found is not None and "asked_for" not in found:
            found["asked_for"] = asked_for

    project.start("compare", asked, ended)


def _records(project: Project) -> int | None:
    found = project.results.get("infer", {}).get("records")
    return found if isinstance(found, int) else None


def use(project: Project, row: Document, texts: Texts) -> None:
    """Make a run the project's request: its method, its promise and its limit."""
    choice = row.get("choice")
    assert isinstance(choice, dict)

    def make(state: State) -> State:
        after = state.with_release(method=choice.get("method"))
        return after.with_schema(
            privacy=choice.get("privacy"), suppression_limit=choice.get("suppression_limit")
        )

    project.change(texts("explore.used", name=str(row.get("name"))), make)


class _Drawn:
    """What is drawn of a comparison; each part is drawn anew when what it shows has changed."""

    def __init__(self, project: Project, texts: Texts) -> None:
        self.project, self.texts = project, texts
        self.chosen: list[str] = []
        self._chart: ui.echart | None = None
        self._seen = 0
        follow(
            project,
            self._said,
            key=lambda: (tried(project)._replace(rows=self._rows()[:1]), self._problem()),
        )
        self._place = Element("div")
        follow(project, self._points, key=lambda: (self._rows(), *self._common()))
        follow(project, self._table, key=lambda: (self._rows(), *self._common()))
        follow(
            project, self._detail,
            key=lambda: (*self._common(), id(project.results.get("lattice"))),
        )  # fmt: skip

    def _common(self) -> tuple[object, ...]:
        return tuple(self.chosen), self.project.is_dark

    def _rows(self) -> tuple[Document, ...]:
        return tried(self.project).rows

    def renew(self) -> None:
        """Draw anew what has come in, in all tabs."""
        found = tried(self.project)
        if found.is_running and len(found.rows) != self._seen:
            self._seen = len(found.rows)
            self.project.tell()

    def _problem(self) -> str | None:
        """Return why the last comparison came to nothing, or to a part."""
        job = self.project.job
        return job.error if job is not None and job.name == "compare" else None

    def _said(self) -> None:
        """Say how it stands, where no points do."""
        found, texts, problem = tried(self.project), self.texts, self._problem()
        if problem is not None:
            Element("div").classes("note bad").props("role=alert")._text = problem
        if not found.rows:
            key = "waiting" if found.is_running else "nothing"
            Element("p").classes("muted")._text = texts(f"explore.{key}")
        elif found.is_stale:
            Element("p").classes("note")._text = texts("explore.stale")

    def _points(self) -> None:
        """Draw the points; the chart stays the same, for a new one would flicker."""
        made = [row for row in self._rows() if not row.get("error")]
        points = [
            Point(str(row.get("name")), str(row.get("method")), number(row.get("loss")),
                  number(risk(row).get("average")), bool(row.get("front")))
            for row in made
        ]  # fmt: skip
        look = Look(self.texts, self.project.is_dark)
        options = charts.points(points, look, chosen=self.chosen[0] if self.chosen else None)
        self._place.set_visibility(bool(points))
        if self._chart is not None:
            self._chart.options.clear()
            self._chart.options.update(options)
            self._chart.update()
        elif points:
            with self._place:
                self._chart = ui.echart(options, on_point_click=self._clicked, renderer="svg")
                self._chart.classes("chart")

    def _clicked(self, event: EChartPointClickEventArguments) -> None:
        if any(row.get("name") == event.name for row in self._rows()):
            self.choose(event.name)

    def choose(self, name: str) -> None:
        """Choose a run, or let it go."""
        self.chosen[:] = [] if self.chosen == [name] else [name]
        self.project.tell()

    def _table(self) -> None:
        """Draw the runs as a table: the points for whoever uses no mouse, and the refusals."""
        texts, rows = self.texts, self._rows()
        if not rows:
            return
        names = ("name", "loss", "risk", "highest", "classes", "smallest", "suppressed", "seconds")
        label = f'aria-label="{texts("explore.runs")}"'
        with Element("div").classes("scroll runs"), Element("table").classes("plain").props(label):
            with Element("thead"), Element("tr"):
                for name in names:
                    cell = Element("th").props("scope=col").classes("" if name == "name" else "num")
                    cell._text = texts(f"explore.col_{name}")
            with Element("tbody"):
                for row in sorted(rows, key=_order)[:_MOST_LISTED]:
                    self._row(row)

    def _row(self, row: Document) -> None:
        texts, name = self.texts, str(row.get("name"))
        is_chosen = self.chosen == [name]
        with Element("tr").classes("chosen" if is_chosen else ""):
            with Element("td"):
                button = ui.button(name, on_click=partial(self.choose, name))
                button.props(f"flat dense no-caps align=left aria-pressed={str(is_chosen).lower()}")
                if row.get("front"):
                    star = Element("span").classes("best").props("role=img")
                    star._text, star.props["aria-label"] = "★", texts("explore.front")
                    star.props["title"] = texts("explore.front")
            if row.get("error"):
                Element("td").classes("unsafe-text").props("colspan=7")._text = str(row["error"])
                return
            for text in (
                texts.percent(number(row.get("loss")), digits=2),
                texts.percent(number(risk(row).get("average")), digits=2),
                texts.percent(number(risk(row).get("maximum")), digits=2),
                *(texts.said(whole(row.get(key)))
                  for key in ("classes", "smallest_class", "suppressed")),
                texts.seconds(number(row.get("seconds"))),
            ):  # fmt: skip
                Element("td").classes("num")._text = text

    def _detail(self) -> None:
        """Draw the chosen run, and the lattice around it."""
        texts = self.texts
        row = next((row for row in self._rows() if row.get("name") in self.chosen), None)
        if row is None or row.get("error"):
            return
        look = Look(texts, self.project.is_dark)
        with Element("div").classes("detail"):
            with Element("div").classes("spread"):
                Element("h3")._text = str(row.get("name"))
                ask = ui.button(texts("explore.use"), icon="check")
                ask.on_click(told(partial(use, self.project, row, texts)))
            levels = row.get("levels")
            if isinstance(levels, dict) and levels:
                lattice_view(self.project, row, look)


def risk(row: Document) -> Document:
    """Return the risk of a run: average, and of whoever is easiest to find."""
    found = row.get("risk")
    return found if isinstance(found, dict) else {}


def number(value: Json) -> float:
    """Return a number; nothing known is 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def whole(value: Json) -> int | None:
    """Return a whole number; None: nothing is known."""
    return value if isinstance(value, int) else None


def _order(row: Document) -> tuple[bool, float]:
    return bool(row.get("error")), number(row.get("loss"))
