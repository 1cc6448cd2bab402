"""Laws of round labels: whatever the method and the promise, no end of an interval is a value
that one person's record decides, and the promise holds for what is written.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.test_release_laws import (
    AGGREGATING,
    LAW,
    METHODS,
    PARENTS,
    STEPS,
    cases,
    folder,
    release,
)
from tests.naive import release as naive
from tests.naive import rounding
from tests.on_spark import examples

from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.reports.release import written

FEWER = settings(LAW, max_examples=examples(15))
LINES = {"whole": "numeric", "real": "numeric", "guessed": "numeric", "days": "date"}
LEVELS = {"local-suppression", *(m.name for m in api.methods() if m.family == "lattice")}


def number(text):
    return Fraction(text.strip())


def is_right(label, members, whole, kind):
    """Say whether a label is what the naive twin writes for the values of a class."""
    values = {value.strip() for value in members}
    if label == "*" or label == "":
        return "" in values
    if "" in values:
        return False
    if kind == "numeric":
        numbers = {number(value) for value in values}
        if len(numbers) == 1:
            return number(label) == next(iter(numbers))
        digits = rounding.decimals([str(float(v)) for v in whole if v.strip()])
        digits = 0 if all(number(v).denominator == 1 for v in whole if v.strip()) else digits
        return rounding.read_numbers(label) == rounding.number_interval(numbers, digits)
    if len(values) == 1:
        return {label} == values
    days = {rounding.datetime.fromisoformat(value).date() for value in values}
    return rounding.read_dates(label) == rounding.date_interval(days)


def is_right_rank(label, members):
    """Say whether a label of an ordered column is what the naive twin writes."""
    values = {value.strip() for value in members}
    if label in ("*", "") or "" in values:
        return "" in values
    ranks = {Fraction(STEPS.index(value)) for value in values}
    if len(ranks) == 1:
        return {label} == values
    low, high = rounding.number_interval(ranks, 0, (0, len(STEPS) - 1))
    return label == f"[{STEPS[int(low)]}, {STEPS[int(high)]}]"


@pytest.mark.sampled
@pytest.mark.parametrize("method", [*METHODS, *AGGREGATING])
@FEWER
@given(case=cases())
def test_a_round_release_holds_and_its_intervals_are_those_of_the_grid(method, case):
    with folder() as place:
        report = release(case, place, method, labels="round", release="generalize")
        if report is None:
            return
        rows = naive.read(place / "o.csv")
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        assert report.released == len(rows) == len(case.rows) - report.suppressed
        assert report.classes == len(naive.classes(rows, case.quasi))
        original = {row["id"]: row for row in case.rows}
        for key, members in naive.classes(rows, case.quasi).items():
            for name, kind, label in zip(case.quasi, case.kinds, key, strict=True):
                own = [original[row["id"]][name] for row in members]
                if kind in LINES:
                    whole = [row[name] for row in case.rows]
                    if method not in LEVELS:
                        assert is_right(label, own, whole, LINES[kind])
                    continue
                if kind == "steps" and method not in LEVELS:
                    assert is_right_rank(label, own)
                facts = {**case.facts[name], "values": {row[name] for row in case.rows}}
                assert all(naive.covers(label, value, facts) for value in own)
                if kind == "tree" and method not in LEVELS and len(set(own)) > 1:
                    assert rounding.lifted(PARENTS, label) == label


@pytest.mark.parametrize("method", ["bestcut", "mondrian", "kmember", "oka"])
@FEWER
@given(case=cases())
def test_round_labels_lose_no_less_and_are_read_back(method, case):
    with folder() as one, folder() as two:
        tight = release(case, one, method, labels="tight")
        report = release(case, two, method, labels="round")
        assert (tight is None) == (report is None)
        if report is None:
            return
        assert report.utility["ncp"] >= tight.utility["ncp"] - 1e-9
        rows = naive.read(two / "o.csv")
        months = [name for name, kind in zip(case.quasi, case.kinds, strict=True) if kind == "days"]
        if not all(any("–" in row[name] for row in rows) for name in months):
            return  # months alone may as well be a level of the calendar
        found = api.metrics(two / "t.csv", two / "o.csv", case.schema(), starred=False)
        for name, value in written(report.utility).items():
            again = found["utility"][name]
            if name == "usefulness":  # labels may cover more than a class holds
                assert again >= value - 1e-9
            elif value is not None and again is not None and not isinstance(value, str):
                assert again == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("method", ["bestcut", "mondrian", "kmember"])
@FEWER
@given(case=cases(), seed=st.randoms(use_true_random=False))
def test_the_order_of_records_and_the_threads_change_nothing(method, case, seed):
    with folder() as one, folder() as two:
        first = release(case, one, method, threads=1, labels="round")
        mixed = list(case.rows)
        seed.shuffle(mixed)
        second = release(case._replace(rows=mixed), two, method, threads=2, labels="round")
        assert (first is None) == (second is None)
        if first is not None:
            assert (one / "o.csv").read_bytes() == (two / "o.csv").read_bytes()


@pytest.mark.parametrize("method", ["bestcut", "mondrian", "refine"])
@FEWER
@given(case=cases())
def test_a_model_releases_what_it_was_learned_for_and_keeps_the_promise(method, case):
    with folder() as place:
        table = case.write(place / "t.csv")
        try:
            model = api.learn(table, case.schema(), method=method, labels="round")
        except NoSolutionError:
            return
        api.encode(table, model, out=place / "o.csv", safe=True)
        rows = naive.read(place / "o.csv")
        if not rows:
            return
        assert naive.broken(rows, case.quasi, case.promise, columns=case.facts) == 0
        original = {row["id"]: row for row in case.rows}
        for row in rows:
            for name, kind in zip(case.quasi, case.kinds, strict=True):
                label, value = row[name], original[row["id"]][name]
                if kind in LINES and "–" in label:
                    assert rounding.covers(label, value, LINES[kind])
                elif kind in LINES and label not in ("*", "") and kind != "days":
                    assert number(label) == number(value)
