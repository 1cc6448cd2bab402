"""Releases side by side: what each was like, and which of them no other one beats."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from shoal.core.documents import Document, Json
from shoal.reports.face import Face, percent
from shoal.reports.fidelity import measured_figures

COLUMNS = (
    "name", "table", "method", "promise", "release", "suppression_limit", "seed", "ncp", "loss",
    "il", "dm", "aecs", "sse_loss", "risk_average", "risk_maximum", "classes", "smallest_class",
    "released", "suppressed", "k_marginal", "query_error", "seconds", "cpu_seconds", "megabytes",
    "front", "error",
)  # fmt: skip
"""The columns of the table of runs."""
_COUNTS = ("records", "persons", "released", "suppressed", "classes", "smallest_class")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run:
    """One release that was tried.

    Attributes:
        name: what tells it from the others.
        words: what a command line says for what it was tried with.
        facts: table, method, promise … as plain data; `group` is the name without the seed.
        request: the request that repeats it, without values of the data.
        found: what its process answered: the report, or the error.
        is_new: it was run for this answer, and not kept from an earlier one.
        front: no other run of the table has less risk and less loss.
    """

    name: str
    words: tuple[str, ...] = ()
    facts: Document = field(default_factory=dict)
    request: Document = field(default_factory=dict)
    found: Document = field(default_factory=dict)
    is_new: bool = True
    front: bool = False

    @property
    def error(self) -> str | None:
        """Return why there is no release; None where there is one."""
        error = self.found.get("error")
        return str(error.get("problem", "failed")) if isinstance(error, dict) else None

    @property
    def report(self) -> Mapping[str, Json]:
        """Return the report of the release; empty where there is none."""
        return _mapping(_mapping(self.found.get("result")).get("report"))

    @property
    def table(self) -> str:
        """Return what the table is called that it is a release of."""
        return str(self.facts.get("table"))

    @property
    def loss(self) -> float | None:
        """Return the loss (NCP)."""
        return _number(_mapping(self.report.get("utility")).get("ncp"))

    @property
    def measured(self) -> Mapping[str, float]:
        """Return the figures of fidelity and of models trained on it, where that was asked for."""
        return measured_figures(self.report)

    @property
    def risk(self) -> Mapping[str, Json]:
        """Return the risk of the release: on average, and of whoever is easiest to find."""
        after = _mapping(_mapping(self.report.get("risk")).get("after"))
        if not after:
            return {}
        return {"average": after.get("global_risk"), "maximum": after.get("maximum")}

    def row(self) -> Document:
        """Return the run as a row of plain cells."""
        report, result = self.report, _mapping(self.found.get("result"))
        utility = _mapping(report.get("utility"))
        promise = _mapping(self.facts.get("promise"))
        seconds = _mapping(report.get("seconds"))
        cells: Document = {
            **{name: self.facts.get(name) for name in COLUMNS[1:7]},
            "name": self.name,
            "promise": " ".join(f"{name}={value}" for name, value in promise.items()),
            **{name: utility.get(name) for name in ("ncp", "loss", "il", "dm", "aecs", "sse_loss")},
            "risk_average": self.risk.get("average"),
            "risk_maximum": self.risk.get("maximum"),
            **{
                name: report.get(name)
                for name in ("classes", "smallest_class", "released", "suppressed")
            },
            "k_marginal": self.measured.get("k-marginal"),
            "query_error": self.measured.get("query error"),
            "seconds": seconds.get("total"),
            "cpu_seconds": result.get("cpu_seconds"),
            "megabytes": result.get("megabytes"),
            "front": self.front,
            "error": self.error,
        }
        return {name: cells[name] for name in COLUMNS}

    def to_document(self) -> Document:
        """Return the run as plain data."""
        result = _mapping(self.found.get("result"))
        report = self.report
        return {
            "name": self.name,
            **self.facts,
            "request": self.request,
            "words": list(self.words),
            **{name: report.get(name) for name in _COUNTS},
            "privacy": report.get("privacy", []),
            "risk": dict(self.risk),
            "utility": dict(_mapping(report.get("utility"))),
            "measured": dict(self.measured),
            "fidelity": report.get("fidelity"),
            "learning": report.get("learning"),
            "column_loss": dict(_mapping(report.get("column_loss"))),
            "sizes": result.get("sizes", []),
            "seconds": dict(_mapping(report.get("seconds"))),
            "cpu_seconds": result.get("cpu_seconds"),
            "megabytes": result.get("megabytes"),
            "notices": report.get("notices", []),
            "is_new": self.is_new,
            "front": self.front,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Compared:
    """Every run, in the order asked, and how long all of them took."""

    runs: tuple[Run, ...]
    seconds: float = 0.0
    paper: Document | None = None  # an experiment's claims, each beside what was measured

    @property
    def front(self) -> tuple[Run, ...]:
        """Return the runs that no other one beats."""
        return tuple(run for run in self.runs if run.front)

    def rows(self) -> list[Document]:
        """Return a row for each run, for a table of any library."""
        return [run.row() for run in self.runs]

    def spread(self) -> list[Document]:
        """Return, for runs that differ by the seed alone, the median loss and its ends."""
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(str(run.facts.get("group", run.name)), []).append(run)
        return [
            {"name": name, "runs": len(runs), "ncp": _ends([run.loss for run in runs])}
            for name, runs in groups.items()
            if len(runs) > 1
        ]

    def to_document(self) -> Document:
        """Return all of it as plain data."""
        records = [run.report.get("records") for run in self.runs if run.error is None]
        return {
            "table": {"records": records[0] if records else None},
            "runs": [run.to_document() for run in self.runs],
            "spread": list(self.spread()),
            "seconds": self.seconds,
            "run_seconds": round(sum(_run_seconds(self.runs)), 3),
            "repeated": sum(run.is_new for run in self.runs),
            **({} if self.paper is None else {"paper": self.paper}),
        }

    to_dict = to_document

    def to_csv(self) -> str:
        """Return the table of runs as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({n: "" if v is None else v for n, v in row.items()} for row in self.rows())
        return text.getvalue()

    def face(self) -> Face:
        """Return what a notebook shows of it: the runs that no other one beats."""
        rows = [
            (run.name, f"loss {percent(run.loss or 0.0)}", f"risk {percent(average_risk(run))}")
            for run in sorted(self.front, key=lambda run: run.loss or 0.0)
        ]
        failed = sum(run.error is not None for run in self.runs)
        return Face(
            title=f"{len(self.runs):,} releases compared, {len(self.front):,} that none beats",
            facts={"failed": f"{failed:,}", **{name: f"{a}, {b}" for name, a, b in rows}},
        )

    def __repr__(self) -> str:
        return self.face().line("Compared")

    def _repr_html_(self) -> str:
        return self.face().html()


def with_front(runs: Sequence[Run]) -> Iterator[Run]:
    """Mark the runs of each table that no other one beats in risk and loss together.

    A run is beaten by one that has no more of both, and less of one of them.
    """
    for run in runs:
        rivals = (each for each in runs if _data(each) == _data(run))
        is_beaten = any(_beats(each, run) for each in rivals)
        yield replace(run, front=run.error is None and run.loss is not None and not is_beaten)


def _data(run: Run) -> tuple[object, object]:
    """Return what a run released: a table, and how many of its records."""
    return run.facts.get("table"), run.facts.get("sample")


def _beats(one: Run, other: Run) -> bool:
    if one.error is not None or one.loss is None or other.loss is None:
        return False
    first, second = (one.loss, average_risk(one)), (other.loss, average_risk(other))
    return first != second and all(a <= b for a, b in zip(first, second, strict=True))


def figure(run: Run, name: str) -> float | None:
    """Return a figure of a run by its name in `COLUMNS`; None: it has none."""
    return _number(run.row().get(name))


def average_risk(run: Run) -> float:
    """Return the share of records, or persons, that are expected to be found."""
    return risk_of(run, "average")


def risk_of(run: Run, which: str) -> float:
    """Return the risk of a release: "average", or "maximum", of whoever is easiest to find."""
    return _number(run.risk.get(which)) or 0.0


def _run_seconds(runs: Iterable[Run]) -> Iterator[float]:
    for run in runs:
        if run.is_new:
            yield _number(_mapping(run.report.get("seconds")).get("total")) or 0.0


def _ends(values: Iterable[float | None]) -> Document:
    known = [value for value in values if value is not None]
    if not known:
        return {"median": None, "least": None, "most": None}
    return {"median": median(known), "least": min(known), "most": max(known)}


def _mapping(value: object) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
