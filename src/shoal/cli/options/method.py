"""How a recoding is found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypedDict

from shoal.cli.options.groups import Generated, Group, Option, generated, option
from shoal.cli.options.input import refusal
from shoal.cli.render import rows
from shoal.core.suggest import did_you_mean
from shoal.methods.method import ALIASES, MEASURES, Method
from shoal.methods.parameters import choices, from_texts
from shoal.methods.registry import METHODS, kind_named, method_named, resolve
from shoal.reports.release import ReleaseReport
from shoal.schema.attribute import USUAL_LABELS, labels_named
from shoal.schema.schema import Schema

# What the parameters of methods are called here; a method's own words explain the rest.
_PARAMETERS: Mapping[str, tuple[str | None, str]] = {
    "aggregate": (None, "How the losses of columns are joined."),
    "seconds": ("S", "Time that a search may take."),
    "effort": (None, "refine: how long it looks."),
    "iterations": ("N", "oka, wfcm: rounds."),
    "gamma": ("X", "vmdav: how readily a group takes more than k."),
    "absorb": (None, "sa-mdav: rare tuples join large groups near them."),
    "persist": (None, "sa-mondrian and its kin: try every cut of a column."),
    "cm": (None, "kmember: keep equal --target values together."),
}


def _parameter_options() -> Generated:
    """Return an option for each parameter of a method that has a name here.

    A truth that is off by default has one flag, one that is on has two.
    """
    known = {each.name: each for kind in METHODS.values() for each in kind.parameters()}
    words = {
        each.name: "|".join(choices(kind, each.name))
        for kind in METHODS.values()
        for each in kind.parameters()
    }
    found = {}
    for name, (metavar, text) in _PARAMETERS.items():
        about = Option(text, metavar or words[name], known[name].default is not True or "on")
        if known[name].default is False:
            about = about._replace(flags=(f"--{name}",))
        kind = next((k for k in (bool, int, float) if known[name].type.startswith(k.__name__)), str)
        found[name] = (kind | None, about)
    return found


def own_flags() -> Mapping[str, str]:
    """Return the parameters of methods that have an option of their own, and how it is written."""
    return {name: f"--{name}" for name in _PARAMETERS}


class MethodWords(TypedDict):
    """What a request says of the search; see `LearnRequest`."""

    method: Method
    release: str | None
    epsilon: float | None
    budget: str | None
    partitions: int | None
    partition_by: str
    seed: int
    threads: int | None


@dataclass(frozen=True, kw_only=True)
class MethodOptions(Group):
    """How the recoding is found."""

    panel: ClassVar[str] = "Method"

    method: str = option("auto", "See `shoal methods`.", "NAME")
    release: str | None = option(
        None,
        "A class releases intervals and ancestors, or centroids; or values are drawn from labels.",
        "generalize|aggregate|draw",
        shown="the method's own",
    )
    labels: str | None = option(
        None,
        "Intervals end at round numbers, months, quarters, years (no person's value), or at the "
        "smallest and largest value of a class.",
        "round|tight",
        shown=str(USUAL_LABELS),
    )
    partitions: int | None = option(
        None, "Learn on M parts of the table side by side, then join them.", "M"
    )
    partition_by: str = option("kmeans", "How parts are made.", "kmeans|random")
    suppression_limit: float | None = option(None, "Share of records that may be suppressed.", "X")
    utility: str | None = option(
        None,
        f"What a search minimizes. Lattices: {', '.join(MEASURES[:-1])} or {MEASURES[-1]}; "
        "clusterings: ncp, loss or target; refine: sse, too.",
        "NAME",
        shown="loss for lattices, else ncp",
    )
    set: list[str] | None = option(  # noqa: RUF009
        None,
        "A parameter of the method (see `shoal methods NAME`); or COLUMN: it holds sets of items. "
        "May be repeated.",
        "NAME=VALUE",
    )
    parameters: Mapping[str, object] = generated(_parameter_options)
    explain: bool = option(False, "Say why the chosen levels won.")
    target: str | None = option(None, "Column for the measure cm.", "COLUMN")
    aim: str | None = option(
        None,
        "Keep what says most of this column; it is released as it is (bestcut, refine).",
        "COLUMN",
        flags=("--for",),
    )
    epsilon: float | None = option(
        None, "With --release draw: marginals with Laplace noise, for so much of the budget."
    )
    budget: str | None = option(
        None, "The ledger that --epsilon is charged to.", "FILE|URI", shown="as in shoal stats"
    )
    seed: int = option(0, "Same seed, same bytes.", "N", panel="Engine")
    threads: int | None = option(None, "Threads.", "N", shown="all cores", panel="Engine")

    def limit_threads(self) -> None:
        """Tell Polars before it starts how many threads it may use."""
        if self.threads is not None and self.threads > 0:
            os.environ["POLARS_MAX_THREADS"] = str(self.threads)

    def added_to(self, schema: Schema) -> Schema:
        """Return the schema with what flags say of the search."""
        if self.aim is not None:
            if self.utility is not None or self.target is not None:
                raise refusal("--for", "stands for --utility information --target COLUMN")
            self._check_utility("information")
            schema = replace(schema, utility="information", target=self.aim)
        if self.utility is not None:
            self._check_utility(self.utility)
        if self.suppression_limit is not None:
            schema = replace(schema, suppression_limit=self.suppression_limit)
        if self.utility is not None:
            schema = replace(schema, utility=self.utility)
        if self.labels is not None:
            schema = replace(schema, labels=labels_named(self.labels))
        return schema if self.target is None else replace(schema, target=self.target)

    def _check_utility(self, name: str) -> None:
        """Refuse what the method would not minimize; `auto` stands for `refine`."""
        method = method_named("refine" if self.method == "auto" else self.method)
        if not method.utilities:
            raise refusal("--utility", "goes with a lattice method, such as flash, or a clustering")
        if ALIASES.get(name, name) not in method.utilities:
            meant = did_you_mean(name, method.utilities, before=", ") or ";"
            known = ", ".join(method.utilities)
            text = f"--method {self.method} knows no measure {name!r}{meant} choose one of {known}"
            raise refusal("--utility", text)

    def words(self, *, learns: bool) -> MethodWords:
        """Return what a request says of the search; refuse options that it would ignore.

        learns: a model is learned.
        """
        asked = method_named(self.method)
        if learns and self.method == "auto" and self.utility is not None:  # Mondrian
            raise refusal("--utility", "goes with a lattice method, such as flash, or a clustering")
        resolve(asked, release=self.release, learns=learns)  # refuses a release that is none
        given = {name: value for name, value in self.parameters.items() if value is not None}
        known = {each.name for each in asked.parameters()}
        ignored = [f"--{name}" for name in given if name not in known]
        if ignored:
            named = ", ".join(ignored)
            text = f"{named}: not for --method {self.method}; see `shoal methods {self.method}`"
            raise refusal("options", text)
        own = from_texts(kind_named(self.method), [each for each in self.set or () if "=" in each])
        twice = [f"--{name} and --set {name}" for name in own if name in given]
        if twice:
            raise refusal("options", f"{', '.join(twice)} say the same; keep one of them")
        return {
            "method": method_named(self.method, {**given, **own}),
            "release": self.release,
            "epsilon": self.epsilon,
            "budget": self.budget,
            "partitions": self.partitions,
            "partition_by": self.partition_by,
            "seed": self.seed,
            "threads": self.threads,
        }

    def explanation(self, report: ReleaseReport) -> list[str]:
        """Return why the chosen levels won, if that was asked for."""
        if not self.explain:
            return []
        lines = rows(report.facts, "explanation") or ["this method has no levels to explain"]
        return [str(line) for line in lines]
