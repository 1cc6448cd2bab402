from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import rounding as naive

from shoal.core.grids import ClockGrid, DateGrid, NumberGrid, RankGrid, digits_of

EASY = settings(deadline=None, max_examples=60)
WHOLE = st.integers(-(10**9), 10**9)
CENTS = st.decimals(-(10**6), 10**6, places=2)
DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31))


def ends(span):
    return Fraction(span.low), Fraction(span.high)


@EASY
@given(low=WHOLE, width=st.integers(1, 10**6))
def test_whole_numbers_are_snapped_as_the_naive_twin_does(low, width):
    span = NumberGrid(0).span(str(low), str(low + width))
    assert ends(span) == naive.number_interval((Fraction(low), Fraction(low + width)), 0)
    assert span.label == f"{span.low}–{span.high}"
    assert (span.begin, span.end) == (float(span.low), float(span.high))


@EASY
@given(low=CENTS, width=st.decimals("0.01", "99999", places=2))
def test_numbers_with_a_fraction_are_snapped_as_the_naive_twin_does(low, width):
    span = NumberGrid(2).span(str(low), str(low + width))
    assert ends(span) == naive.number_interval((Fraction(low), Fraction(low + width)), 2)


@EASY
@given(low=st.integers(0, 100), high=st.integers(0, 100), bounds=st.tuples(WHOLE, WHOLE))
def test_intervals_stop_at_the_declared_domain_unless_values_do_not(low, high, bounds):
    low, high = sorted((low, high + 101))
    bounds = (min(bounds) % 40, min(bounds) % 40 + 1 + max(bounds) % 200)
    span = NumberGrid(0, bounds).span(str(low), str(high))
    assert ends(span) == naive.number_interval((Fraction(low), Fraction(high)), 0, bounds)


@pytest.mark.parametrize(
    ("digits", "bounds", "low", "high", "label"),
    [
        (0, None, "17", "90", "10–99"),
        (0, (17, 90), "17", "90", "17–90"),
        (0, (16.5, 90.9), "17", "90", "17–90"),
        (0, (20, 60), "17", "90", "10–99"),
        (0, None, "23", "24", "22–25"),
        (0, None, "20", "21", "20–23"),
        (0, None, "25", "29", "24–29"),
        (0, (19, 60), "19", "20", "19–21"),
        (0, (19, 60), "20", "21", "19–21"),
        (0, (0, 1), "0", "1", "0–1"),
        (0, None, "-3", "2", "-4–3"),
        (0, None, "9007199254740992", "9007199254740993", "9007199254740992–9007199254740995"),
        (2, None, "12.34", "12.39", "12.34–12.4"),
        (2, (12.345, 12.385), "12.35", "12.38", "12.34–12.39"),
        (1, None, "-0.3", "0.2", "-0.4–0.2"),
    ],
)
def test_labels_of_numbers(digits, bounds, low, high, label):
    assert NumberGrid(digits, bounds).span(low, high).label == label


@pytest.mark.parametrize(
    ("low", "high"), [("1e25", "1.2e25"), ("-1e300", "1e300"), ("0", "1e-300")]
)
def test_very_large_and_very_small_numbers_are_covered(low, high):
    span = NumberGrid(max(digits_of(low), digits_of(high))).span(low, high)
    assert Fraction(span.low) <= Fraction(low) < Fraction(high) <= Fraction(span.high)
    assert NumberGrid(0).read(span.label) == span


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize(
    "bounds", [*((low, high) for low in (0, 1, 2, 7, 15) for high in (17, 18, 40, 49, 60))]
)
def test_no_interval_says_that_somebody_has_one_certain_value(digits, bounds):
    """Whoever knows the grid tries every pair of ends that would be written the same way."""
    texts = [str(n / 10**digits) if digits else str(n) for n in range(bounds[0], bounds[1] + 1)]
    grid = NumberGrid(digits, tuple(bound / 10**digits for bound in bounds))
    ends = {}
    for i, first in enumerate(texts):
        for last in texts[i + 1 :]:
            lows, highs = ends.setdefault(grid.span(first, last).label, (set(), set()))
            lows.add(first)
            highs.add(last)
    assert all(len(lows) > 1 and len(highs) > 1 for lows, highs in ends.values())


def test_without_a_declared_domain_no_interval_does_either():
    """Numbers from 0 to 199; what a run beyond them is written as does not count."""
    ends = {}
    for first in range(200):
        for last in range(first + 1, 200):
            span = NumberGrid(0).span(str(first), str(last))
            lows, highs = ends.setdefault(span, (set(), set()))
            lows.add(first)
            highs.add(last)
    inside = [both for span, both in ends.items() if span.begin >= 0 and span.end < 200]
    assert len(inside) > 300
    assert all(len(lows) > 1 and len(highs) > 1 for lows, highs in inside)


@EASY
@given(low=DAYS, width=st.integers(1, 40_000))
def test_days_are_snapped_as_the_naive_twin_does(low, width):
    high = min(low.toordinal() + width, date(9999, 12, 31).toordinal())
    span = DateGrid().span(low.isoformat(), date.fromordinal(high).isoformat())
    begin, end = naive.date_interval((low, date.fromordinal(high)))
    assert (span.low, span.high) == (begin.isoformat(), f"{end.isoformat()} 23:59:59.999999")
    assert span.begin == begin.toordinal()
    assert end.toordinal() < span.end < end.toordinal() + 1
    assert naive.read_dates(span.label) == (begin, end)


@pytest.mark.parametrize(
    ("low", "high", "label"),
    [
        ("2023-04-03", "2023-04-09", "2023-04"),
        ("2023-04-03", "2023-06-30", "2023-Q2"),
        ("2023-04-03", "2023-05-30", "2023-04–2023-05"),
        ("2023-01-03", "2023-12-30", "2023"),
        ("1947-05-20", "1954-01-01", "1947–1954"),
        ("1947-05-20", "1961-01-01", "1946–1961"),
        ("1903-05-20", "2019-01-01", "1900–2019"),
        ("2023-03-31 23:59:59.999999", "2023-03-31 08:00:00", "2023-03"),
    ],
)
def test_labels_of_dates(low, high, label):
    assert DateGrid().span(low, high).label == label


@EASY
@given(a=WHOLE, b=WHOLE, c=WHOLE, d=WHOLE)
def test_two_runs_with_one_interval_have_it_together(a, b, c, d):
    a, b, c, d = (n % 1000 for n in (a, b, c, d))
    grid = NumberGrid(0)
    one, two = (grid.span(str(min(p)), str(max(p) + 1)) for p in ((a, b), (c, d)))
    both = grid.span(str(min(a, b, c, d)), str(max(a, b, c, d) + 1))
    if one == two:
        assert both == one
    assert both.end - both.begin >= max(one.end - one.begin, two.end - two.begin)


@EASY
@given(a=DAYS, days=st.lists(st.integers(0, 3000), min_size=4, max_size=4))
def test_two_runs_of_days_with_one_interval_have_it_together(a, days):
    texts = [date.fromordinal(min(a.toordinal() + n, 3652059)).isoformat() for n in days]
    grid = DateGrid()
    one, two, both = (grid.span(min(few), max(few)) for few in (texts[:2], texts[2:], texts))
    if one == two:
        assert both == one
    assert both.end - both.begin >= max(one.end - one.begin, two.end - two.begin)


@EASY
@given(low=WHOLE, width=st.integers(1, 10**6))
def test_a_label_of_numbers_is_read_back(low, width):
    span = NumberGrid(0).span(str(low), str(low + width))
    assert NumberGrid(0).read(span.label) == span


@EASY
@given(low=DAYS, width=st.integers(0, 40_000))
def test_a_label_of_dates_is_read_back(low, width):
    high = date.fromordinal(min(low.toordinal() + width, 3652059))
    span = DateGrid().span(low.isoformat(), high.isoformat())
    assert DateGrid().read(span.label) == span


@EASY
@given(low=st.times(), high=st.times())
def test_times_of_day_are_snapped_to_whole_hours(low, high):
    low, high = sorted((low, high))
    span = ClockGrid().span(low.isoformat(), high.isoformat())
    assert span.low <= low.isoformat() <= high.isoformat() <= span.high
    assert span.label[2:5] == ":00"
    assert span.label.endswith(":59")
    assert ClockGrid().read(span.label) == span
    day = timedelta(days=1)
    place = timedelta(hours=high.hour, minutes=high.minute, seconds=high.second) / day
    assert span.begin <= place <= span.end


@pytest.mark.parametrize(
    "label",
    ["", "20", "20-24", "20–", "–24", "a–b", "20–24–30", "1,5–2", "[20, 24]", "nan–inf", "1_0–20"],
)
def test_other_texts_are_no_intervals_of_numbers(label):
    assert NumberGrid(0).read(label) is None


@pytest.mark.parametrize(
    "label",
    ["", "2023-13", "2023-00", "2023-Q5", "0000", "1961–1947", "2023-04-01", "2020s", "23", "–1947",
     "1947–", "1947–1961–1970"],
)  # fmt: skip
def test_other_texts_are_no_intervals_of_dates(label):
    assert DateGrid().read(label) is None


@pytest.mark.parametrize("label", ["", "08:00", "12:00–08:59", "25:00–26:59", "08–11"])
def test_other_texts_are_no_intervals_of_times(label):
    assert ClockGrid().read(label) is None


@EASY
@given(size=st.integers(2, 40), data=st.data())
def test_values_of_an_order_are_snapped_as_their_ranks(size, data):
    order = tuple(f"v{i}" for i in range(size))
    low, high = sorted(
        data.draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=2, unique=True))
    )
    span = RankGrid(order).span(order[low], order[high])
    wanted = naive.number_interval((Fraction(low), Fraction(high)), 0, (0, size - 1))
    assert (span.begin, span.end) == wanted
    assert span.label == f"[v{wanted[0]}, v{wanted[1]}]"
    assert RankGrid(order).read(span.label) is None


def test_digits_behind_the_point():
    assert [digits_of(text) for text in ("7", "-1.25", "1e3", "1.5e-3", "0")] == [0, 2, 0, 4, 0]
