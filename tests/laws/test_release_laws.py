"""Laws that every method's release keeps, on small random tables.

Columns of every kind, with missing values; every promise; the written file is judged by
the naive checker, which shares no code with shoal.
"""

from __future__ import annotations

import csv
import math
import tempfile
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.naive import release as naive
from tests.on_spark import examples

import shoal
from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.measures.utility import grouping_of, utility_of
from shoal.privacy import from_document
from shoal.reports.release import written
from shoal.table.recoding import recoding_of

SLOW = ("bfs", "dfs", "incognito", "refine", "kmember-parallel")  # long to compile, or much alike
METHODS = [
    method.name
    for method in api.methods()
    if method.name not in SLOW and method.family != "microaggregation"
]
AGGREGATING = [method.name for method in api.methods() if method.family == "microaggregation"]
LAW = settings(
    max_examples=examples(25), deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip

TREE = {
    "*": {
        "north": ["oslo", "turku", "bergen"],
        "south": {"coast": ["rome", "nice"], "hill": ["bern"]},
    }
}
PARENTS = {
    "oslo": "north", "turku": "north", "bergen": "north", "north": "*", "rome": "coast",
    "nice": "coast", "coast": "south", "bern": "hill", "hill": "south", "south": "*", "*": None,
}  # fmt: skip
STEPS = ["low", "mid", "high", "top, or so"]
DAYS = [(date(2024, 2, 25) + timedelta(days=3 * i)).isoformat() for i in range(6)]

KINDS = {
    "whole": ({"kind": "numeric"}, ["-3", "0", "1", "2", "7", " 7", "7.0", "12"]),
    "real": ({"kind": "numeric"}, ["0.1", "0.2", "0.3", "-1e-3", "1e3", ".5"]),
    "guessed": ({}, ["1", "2", "3", "44"]),
    "flat": ({"kind": "categorical"}, ["a", "b", "c, d", 'e"f', "*", "[1, 2]"]),
    "tree": ({"kind": "categorical", "hierarchy": {"tree": TREE}},
             ["oslo", "turku", "bergen", "rome", "nice", "bern", "coast", "north"]),
    "steps": ({"kind": "ordinal", "order": STEPS}, STEPS),
    "days": ({"kind": "date"}, DAYS),
}  # fmt: skip
FACTS = {
    "whole": {"kind": "numeric"}, "real": {"kind": "numeric"}, "guessed": {"kind": "numeric"},
    "flat": {"kind": "categorical"}, "tree": {"kind": "categorical", "parents": PARENTS},
    "steps": {"kind": "ordinal", "order": STEPS}, "days": {"kind": "date"},
}  # fmt: skip


class Case(NamedTuple):
    kinds: tuple[str, ...]  # of the quasi-identifiers q0, q1, …
    secret: str  # kind of the sensitive column
    rows: list[dict[str, str]]
    promise: list[dict[str, object]]

    @property
    def quasi(self):
        return tuple(f"q{i}" for i in range(len(self.kinds)))

    @property
    def facts(self):
        pairs = zip(self.quasi, self.kinds, strict=True)
        return {"s": FACTS[self.secret], **{name: FACTS[kind] for name, kind in pairs}}

    def schema(self):
        pairs = zip(self.quasi, self.kinds, strict=True)
        columns = {name: {"role": "quasi", **KINDS[kind][0]} for name, kind in pairs}
        columns["s"] = {"role": "sensitive", **KINDS[self.secret][0]}
        columns["id"] = {"role": "neutral"}
        return shoal.Schema.from_document(
            {"columns": columns, "privacy": self.promise, "waive": ["id"]}
        )

    def write(self, place, rows=None):
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*self.quasi, "s", "id"], quoting=csv.QUOTE_MINIMAL)
            writer.writeheader()
            writer.writerows(self.rows if rows is None else rows)
        return place


def spread_models(secret):
    distances = ["equal", "ordered", "chi2"] + (["hierarchical"] if secret == "tree" else [])
    t = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0])
    l = st.integers(1, 3)
    of = {"column": st.just("s")}
    return st.one_of(
        st.fixed_dictionaries({"model": st.just("l-diversity"), "l": l,
                               "kind": st.sampled_from(["distinct", "entropy"]), **of}),
        st.fixed_dictionaries({"model": st.just("l-diversity"), "l": l,
                               "kind": st.just("recursive"),
                               "c": st.sampled_from([0.5, 1.0, 1.1, 2.0, 3.0]), **of}),
        st.fixed_dictionaries({"model": st.just("t-closeness"), "t": t,
                               "distance": st.sampled_from(distances), **of}),
        st.fixed_dictionaries({"model": st.just("(n,t)-closeness"), "n": st.integers(1, 12), "t": t,
                               "distance": st.sampled_from(distances), **of}),
        st.fixed_dictionaries({"model": st.just("(alpha,k)-anonymity"), "k": st.integers(1, 4),
                               "alpha": st.sampled_from([0.3, 0.5, 0.6, 0.75, 1.0]), **of}),
    )  # fmt: skip


@st.composite
def cases(draw, fewest=1):
    kinds = tuple(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3)))
    secret = draw(st.sampled_from(["flat", "tree", "whole", "steps"]))

    def cell(kind):
        few = KINDS[kind][1]
        return st.sampled_from([*few, ""])

    size = draw(st.integers(fewest, 24))
    rows = []
    for number in range(size):
        row = {f"q{i}": draw(cell(kind)) for i, kind in enumerate(kinds)}
        rows.append({**row, "s": draw(cell(secret)), "id": f"n{number}"})
    promise = [{"model": "k-anonymity", "k": draw(st.integers(1, 4))}]
    promise += draw(st.lists(spread_models(secret), max_size=2))
    return Case(kinds, secret, rows, promise)


@contextmanager
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def release(case, place, method, **options):
    """Return the report, or None where even one class for all breaks the promise."""
    out = place / "o.csv"
    try:
        made = api.anonymize(
            case.write(place / "t.csv"), case.schema(), out=out,
            method=method, **{"labels": "tight", **options},
        )  # fmt: skip
    except NoSolutionError:
        assert not out.exists()
        whole = [{**row, **dict.fromkeys(case.quasi, "*")} for row in case.rows]
        assert naive.broken(whole, case.quasi, case.promise, columns=case.facts)
        return None
    return made.report


@pytest.mark.parametrize("method", METHODS)
@LAW
@given(case=cases())
def test_a_release_holds_covers_and_loses_no_record(method, case):
    with folder() as place:
        report = release(case, place, method)
        if report is None:
            return
        rows = naive.read(place / "o.csv")
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        assert report.released == len(rows) == len(case.rows) - report.suppressed
        assert report.classes == len(naive.classes(rows, case.quasi))
        original = {row["id"]: row for row in case.rows}
        assert len({row["id"] for row in rows}) == len(rows)
        for row in rows:
            mine = original[row["id"]]
            assert row["s"] == mine["s"]
            for name in case.quasi:
                facts = {**case.facts[name], "values": {each[name] for each in case.rows}}
                assert naive.covers(row[name], mine[name], facts)


FEWER = settings(LAW, max_examples=examples(15))


@pytest.mark.parametrize("method", [*AGGREGATING, "mondrian"])
@FEWER
@given(case=cases(), seed=st.randoms(use_true_random=False))
def test_a_release_of_centroids_holds_and_loses_no_record(method, case, seed):
    with folder() as place, folder() as other:
        report = release(case, place, method, release="aggregate", threads=1)
        if report is None:
            return
        rows = naive.read(place / "o.csv")
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        assert report.released == len(rows) == len(case.rows) - report.suppressed
        assert report.classes == len(naive.classes(rows, case.quasi))
        original = {row["id"]: row["s"] for row in case.rows}
        assert all(original[row["id"]] == row["s"] for row in rows)
        assert len({row["id"] for row in rows}) == len(rows)
        loss = report.utility["sse_loss"]
        assert loss >= -1e-9
        if all(facts["kind"] == "numeric" for name, facts in case.facts.items() if name != "s"):
            assert loss <= 100 * len(case.quasi) + 1e-9  # no class is worse than all as one
        mixed = list(case.rows)
        seed.shuffle(mixed)
        again = release(case._replace(rows=mixed), other, method, release="aggregate", threads=2)
        assert again is not None
        assert (place / "o.csv").read_bytes() == (other / "o.csv").read_bytes()


@pytest.mark.parametrize("method", AGGREGATING)
@FEWER
@given(case=cases())
def test_groups_for_centroids_can_be_generalized_too(method, case):
    with folder() as place:
        report = release(case, place, method, release="generalize")
        if report is None:
            return
        rows = naive.read(place / "o.csv")
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        assert report.classes == len(naive.classes(rows, case.quasi))
        original = {row["id"]: row for row in case.rows}
        for row in rows:
            for name in case.quasi:
                facts = {**case.facts[name], "values": {each[name] for each in case.rows}}
                assert naive.covers(row[name], original[row["id"]][name], facts)
        found = api.metrics(place / "t.csv", place / "o.csv", case.schema(), starred=False)
        for name in ("ncp", "dm", "loss", "aecs"):
            assert found["utility"][name] == pytest.approx(report.utility[name], abs=1e-9), name


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
@LAW
@given(case=cases(), seed=st.randoms(use_true_random=False))
def test_the_order_of_records_and_the_threads_change_nothing(method, case, seed):
    with folder() as one, folder() as two:
        first = release(case, one, method, threads=1)
        mixed = list(case.rows)
        seed.shuffle(mixed)
        second = release(case._replace(rows=mixed), two, method, threads=2)
        assert (first is None) == (second is None)
        if first is not None:
            assert (one / "o.csv").read_bytes() == (two / "o.csv").read_bytes()
            assert first.utility == second.utility


RANGES = {
    "ncp": (0, 1), "cm": (0, 1), "precision": (0, 1), "loss": (0, 1), "il": (0, None),
    "dm": (0, None), "aecs": (1, None), "entropy": (0, None), "height": (0, None),
    "usefulness": (0, None), "protection": (0, None),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
@LAW
@given(case=cases())
def test_measures_lie_in_their_ranges_and_follow_from_the_labels(method, case):
    with folder() as place:
        report = release(case, place, method)
        if report is None:
            return
        records = len(case.rows)
        for name, (low, high) in RANGES.items():
            value = report.utility[name]
            if value is not None:
                assert math.isfinite(value) or name == "protection"
                assert low - 1e-9 <= value <= (math.inf if high is None else high + 1e-9), name
        assert records <= report.utility["dm"] <= records**2
        assert report.utility["il"] <= records * len(case.quasi) + 1e-9
        assert report.utility["entropy"] <= math.log2(records) + 1e-9
        assert all(-1e-9 <= share <= 1 + 1e-9 for share in report.columns.values())
        found = api.metrics(place / "t.csv", place / "o.csv", case.schema(), starred=False)
        for name, value in written(report.utility).items():
            again = found["utility"][name]
            if name == "usefulness":  # labels may cover more than a class holds
                assert again >= value - 1e-9
            elif isinstance(value, str):  # protection may be infinite
                assert again == value
            elif value is not None and again is not None:
                assert again == pytest.approx(value, abs=1e-9), name
        assert found["suppressed"] == report.suppressed
        assert found["classes"] == report.classes


@LAW
@given(case=cases())
def test_verify_agrees_with_the_naive_checker_on_any_table(case):
    with folder() as place:
        found = api.verify(case.write(place / "t.csv"), case.schema())
        counts = naive.violators(case.rows, case.quasi, case.promise, columns=case.facts)
        unique = list({from_document(model): model for model in case.promise}.values())
        wanted = naive.violators(case.rows, case.quasi, unique, columns=case.facts)
        assert [result.violating_records for result in found.privacy] == wanted
        assert found.holds == (not any(counts))
        groups = naive.classes(case.rows, case.quasi)
        assert (found.records, found.classes) == (len(case.rows), len(groups))
        assert found.smallest_class == min(map(len, groups.values()))
        assert found.violating_records == naive.broken(
            case.rows, case.quasi, case.promise, columns=case.facts
        )


@pytest.mark.parametrize("method", METHODS)
@LAW
@given(case=cases(fewest=4), data=st.data())
def test_a_coarser_recoding_never_loses_less(method, case, data):
    with folder() as place:
        source = open_source(case.write(place / "t.csv"))
        schema = case.schema().fit(source.columns)
        columns = [*schema.quasi, "s"]
        table = frequencies(
            source, source.scan(columns, coded=columns), schema, sensitive=["s"]
        ).table
    fine = api.registry.method_named(method).search(table, [shoal.KAnonymity(1)])
    if fine.classes < 2:
        return
    one, two = data.draw(
        st.lists(st.integers(0, fine.classes - 1), min_size=2, max_size=2, unique=True)
    )
    low, high = fine.low.copy(), fine.high.copy()
    low[one] = low[two] = np.minimum(fine.low[one], fine.low[two])
    high[one] = high[two] = np.maximum(fine.high[one], fine.high[two])
    # Boxes are compared with boxes: a full-domain search may release a node above its box.
    pieces = (fine.row, fine.label, fine.count)
    fine = recoding_of(table, fine.low, fine.high, pieces)
    coarse = recoding_of(table, low, high, pieces)
    before, after = (utility_of(grouping_of(found, target="s")) for found in (fine, coarse))
    for name in ("il", "ncp", "dm", "cm", "aecs", "loss"):
        assert after[name] >= before[name] - 1e-9, name
    for name in ("precision", "height", "entropy"):
        assert after[name] <= before[name] + 1e-9, name


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
@LAW
@given(case=cases(), seed=st.integers(0, 3))
def test_the_same_seed_gives_the_same_bytes(method, case, seed):
    with folder() as one, folder() as two:
        first = release(case, one, method, seed=seed)
        release(case, two, method, seed=seed)
        if first is not None:
            assert (one / "o.csv").read_bytes() == (two / "o.csv").read_bytes()
