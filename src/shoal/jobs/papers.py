"""Experiments of papers as presets of `compare`: what was tried, and what was claimed.

A claim says that one method has less of a measure than another one. What was measured is
put beside it: the median ratio, and in how many of the cases the claim is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from types import MappingProxyType

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError
from shoal.core.suggest import did_you_mean
from shoal.jobs.trials import Grid, Trial
from shoal.methods.catalogue import (
    Flash,
    KMember,
    KMemberParallel,
    KModes,
    MdavGeneric,
    Mondrian,
    MondrianCategorical,
    MondrianUnordered,
    Oka,
    SaMdav,
    SaMondrian,
    SMdav,
)
from shoal.methods.method import Method
from shoal.privacy import KAnonymity
from shoal.reports.compare import Compared, Run

MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "ncp": "information loss (NCP)",
        "cm": "classification error (CM)",
        "dm": "discernibility (DM)",
        "sse_loss": "loss (SSE)",
        "class-entropy": "entropy-based utility",
        "seconds": "time of the search",
    }
)
"""What claims are about, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One method has less of a measure than another one.

    Attributes:
        figure: where the paper shows it.
        text: what it says, in our words.
        less, more: the methods, as runs name them.
        over: what the figure varies: "k" (or the number of parts), or "records".
    """

    figure: str
    text: str
    measure: str
    less: str
    more: str
    over: str = "k"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """The accuracy that a paper gives for a model, at one k, beside that of raw records."""

    figure: str
    model: str
    k: int
    said: float
    raw: float

    def measured(self, runs: Sequence[Run]) -> Document:
        """Return what was measured at this k, method by method: raw, release, marginals alone."""
        texts = []
        for run in runs:
            promise, found = run.facts.get("promise"), run.report.get("learning")
            if isinstance(promise, dict) and promise.get("k") == self.k and isinstance(found, dict):
                models, majority = found.get("models"), found.get("majority")
                ways = models.get(self.model) if isinstance(models, dict) else None
                texts.append(f"{run.facts.get('method')}: {_in_words(ways, majority)}")
        claim = f"{self.model}: accuracy {self.said:.1%}, of raw records {self.raw:.1%}."
        figure = f"{self.figure}, k = {self.k}"
        measured = "; ".join(texts) or "not measured: there is no such run"
        return {"figure": figure, "claim": claim, "measured": measured}


def _in_words(ways: Json, majority: Json) -> str:
    """Say the accuracy of a model in every way that it was trained and tested."""
    named = (
        ("raw_on_release", "trained on raw and tested on recoded (as the paper did)"),
        ("release", "trained on the release"),
        ("raw", "raw"),
        ("control", "marginals alone"),
    )
    texts = []
    for way, words in named:
        scores = ways.get(way) if isinstance(ways, dict) else None
        found = scores.get("accuracy") if isinstance(scores, dict) else None
        if isinstance(found, dict):
            texts.append(f"{words} {found['mean']:.1%}")
    if isinstance(majority, dict):
        texts.append(f"commonest value {majority['mean']:.1%}")
    return ", ".join(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """An experiment: its key in docs/references.bib, what it tried, what it claims.

    Attributes:
        sizes: numbers of records, tried with `k_of_sizes`; the rest is tried on `records`.
        target: it measures the classification error, so that a target column is needed.
        accuracies: of models that are trained to tell the target, as the paper gives them.
    """

    key: str
    about: str
    methods: tuple[Method, ...]
    ks: tuple[int, ...]
    claims: tuple[Claim, ...]
    records: int | None = None
    sizes: tuple[int, ...] = ()
    k_of_sizes: int = 15
    partitions: tuple[int | None, ...] = (None,)
    partition_by: tuple[str, ...] = ("kmeans",)
    release: str | None = None
    target: bool = False
    accuracies: tuple[Accuracy, ...] = ()

    def trials(self, base: Grid) -> tuple[Trial, ...]:
        """Return what the paper tried, on the table and schema of a grid.

        Raises:
            SchemaError: it needs a target column.
        """
        if self.target and base.schema.target is None:
            raise SchemaError(where="--preset", faults=["name the target column: --target COLUMN"])
        grid = replace(
            base, methods=self.methods, promises=tuple((KAnonymity(k),) for k in self.ks),
            samples=(self.records,), partitions=self.partitions, releases=(self.release,),
            partition_by=self.partition_by,
            learn=base.schema.target if self.accuracies else base.learn,
        )  # fmt: skip
        found = grid.trials()
        if self.sizes:
            by_size = replace(grid, promises=((KAnonymity(self.k_of_sizes),),), samples=self.sizes)
            found += by_size.trials()
        return tuple({each.name: each for each in found}.values())

    def said(self, found: Compared) -> Document:
        """Return the paper's claims, each beside what was measured."""
        claims: list[Json] = [
            {"figure": each.figure, "claim": each.text, "measured": _measured(each, found.runs)}
            for each in self.claims
        ]
        claims += [each.measured(found.runs) for each in self.accuracies]
        return {"key": self.key, "about": self.about, "claims": claims}


def _measured(claim: Claim, runs: Sequence[Run]) -> str:
    """Say how far a claim is true of runs."""
    pairs = list(_pairs(claim, runs))
    if not pairs:
        return "not measured: there are no two runs to compare"
    ratios = [one / other for one, other in pairs if other > 0]
    true = sum(one < other for one, other in pairs)
    middle = f"{median(ratios):.2f} times" if ratios else "equal to"
    name = MEASURES[claim.measure]
    return f"{name}: {claim.less} has {middle} that of {claim.more}; less in {true} of {len(pairs)}"


def _pairs(claim: Claim, runs: Sequence[Run]) -> Iterator[tuple[float, float]]:
    """Yield the measure of both methods, for runs that are alike in all else."""
    figure = _figure(claim.measure)
    found: dict[tuple[object, ...], dict[str, list[float]]] = {}
    for run in runs:
        value = figure(run)
        promise = run.facts.get("promise")
        if value is None or not isinstance(promise, dict) or not _belongs(claim, run, runs):
            continue
        alike = (
            run.facts.get("table"), promise.get("k"), run.facts.get("sample"),
            run.facts.get("partitions"),
        )  # fmt: skip
        found.setdefault(alike, {}).setdefault(str(run.facts.get("method")), []).append(value)
    for by_method in found.values():
        if claim.less in by_method and claim.more in by_method:
            yield median(by_method[claim.less]), median(by_method[claim.more])


def _belongs(claim: Claim, run: Run, runs: Sequence[Run]) -> bool:
    """Say whether a run is part of the figure: all sizes at one k, or all k at the usual size."""
    sizes = [each.facts.get("sample") for each in runs]
    usual = max(sizes, key=sizes.count)
    promises = [each.facts.get("promise") for each in runs if each.facts.get("sample") != usual]
    if claim.over == "records":
        return not promises or run.facts.get("promise") == promises[0]
    return run.facts.get("sample") == usual


def _figure(measure: str) -> Callable[[Run], float | None]:
    """Return what reads a measure off a run."""

    def read(run: Run) -> float | None:
        if run.error is not None:
            return None
        group, name = ("seconds", "learn") if measure == "seconds" else ("utility", measure)
        values = run.report.get(group)
        value = values.get(name) if isinstance(values, dict) else None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if is_number else None  # type: ignore[arg-type]

    return read


_KS = (2, 5, 10, 15, 25, 35, 50)
_OLD, _NEW = "kmember", "kmember-parallel"

PAPERS: Mapping[str, Paper] = MappingProxyType(
    {
        "oka-2008": Paper(
            key="lin2008",
            about="one-pass k-means against greedy k-member, on Adult",
            methods=(Oka(), KMember()),
            ks=(10, 20, 30, 40, 50),
            claims=(
                Claim(
                    figure="Figure 3", measure="ncp", less="oka", more=_OLD,
                    text="OKA consistently causes less information loss than k-member.",
                ),
                Claim(
                    figure="Figure 4", measure="seconds", less="oka", more=_OLD,
                    text="OKA takes much less time than k-member.",
                ),
            ),
        ),
        "kmember-2020": Paper(
            key="netshiunda2020",
            about="greedy k-member and its parallel form, with and without the classification "
            "metric, on 2,000 records of Adult and of restaurant scores",
            methods=(KMember(), KMember(cm=True), KMemberParallel(), KMemberParallel(cm=True)),
            ks=_KS,
            records=2000,
            sizes=(400, 800, 1200, 1600, 2000),
            target=True,
            claims=(
                Claim(
                    figure="Figures 4.1 and 4.2", measure="ncp", less=_OLD, more=_NEW,
                    text="The new algorithm is close to the old one on Adult and loses more on "
                    "restaurant scores.",
                ),
                Claim(
                    figure="Figure 4.3", measure="ncp", less=_OLD, more=_NEW, over="records",
                    text="The new algorithm loses more at every number of records (k = 15).",
                ),
                Claim(
                    figure="Figure 4.4", measure="cm", less=f"{_OLD} cm=True", more=_OLD,
                    text="With the classification metric the classification error is mostly "
                    "smaller.",
                ),
                Claim(
                    figure="Figures 4.5 and 4.6", measure="dm", less=_OLD, more=_NEW,
                    text="The discernibility penalty of the new algorithm is slightly higher.",
                ),
                Claim(
                    figure="Figures 4.7 and 4.8", measure="seconds", less=_NEW, more=_OLD,
                    text="The new algorithm is faster where there are processors for it.",
                ),
                Claim(
                    figure="Figures 4.9 and 4.10", measure="seconds", less=_NEW, more=_OLD,
                    over="records",
                    text="The time of the new algorithm grows linearly with the records, that of "
                    "the old one faster.",
                ),
            ),
        ),
        "categories-2022": Paper(
            key="veltmann2022",
            about="microaggregation of categories: S-MDAV, SA-MDAV and Mondrian by the hierarchy",
            methods=(
                KModes(), MdavGeneric(), SMdav(), SaMdav(), MondrianUnordered(),
                MondrianCategorical(), SaMondrian(),
            ),
            ks=(2, 3, 4, 5, 6, 7, 8, 9, 10),
            release="aggregate",
            claims=(
                Claim(
                    figure="Figure 13", measure="sse_loss", less="mondrian-categorical",
                    more="mondrian-unordered",
                    text="The order of the hierarchy halves the loss of a random order.",
                ),
                Claim(
                    figure="Figures 13 and 14", measure="sse_loss", less="sa-mondrian",
                    more="sa-mdav",
                    text="For most k, semantic adaptive Mondrian loses less than SA-MDAV.",
                ),
                Claim(
                    figure="Figures 13 and 14", measure="sse_loss", less="sa-mondrian",
                    more="mondrian-categorical",
                    text="Semantic adaptive Mondrian mostly loses less than simple Mondrian.",
                ),
            ),
        ),
        "partitions-2018": Paper(
            key="lim2018",
            about="coarse-grained parallel learning: utility and time over the number of parts",
            methods=(Mondrian(),),
            ks=(3,),
            partitions=(2, 4, 8, 16, 32),
            partition_by=("kmeans", "random"),
            claims=(
                Claim(
                    figure="Figure 5", measure="ncp", less="mondrian",
                    more="mondrian partition-by=random",
                    text="Parts by k-means keep the utility; random parts lose more, the more "
                    "there are.",
                ),
            ),
        ),
        "admissions-2018": Paper(
            key="lim2018",
            about="models of a release: who is admitted, by gre, gpa and rank; the commonest value "
            "alone is right in 68.25 % of the 400 records",
            methods=(Mondrian(), Flash()),
            ks=(2, 3, 4),
            target=True,
            claims=(),
            accuracies=tuple(
                Accuracy(figure="Table I", model="logistic regression", k=k, said=said, raw=0.693)
                for k, said in ((2, 0.635), (3, 0.625), (4, 0.595))
            ),
        ),
    }
)  # fmt: skip


def paper_named(name: str) -> Paper:
    """Return an experiment by its name.

    Raises:
        SchemaError: there is none of this name.
    """
    if name not in PAPERS:
        meant = did_you_mean(name, PAPERS) or f"; there are {', '.join(PAPERS)}"
        raise SchemaError(where="--preset", faults=[f"no experiment {name!r}{meant}"])
    return PAPERS[name]
