"""An attacker who sees many answers on two neighbouring tables learns no more than was paid for."""

from __future__ import annotations

import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from tests.dp.tables import ask, copies, epsilon_seen, names

pytestmark = pytest.mark.slow

MANY = 3_000
BASE = [{"x": 3.0, "person": "a"}, {"x": 4.0, "person": "b"}, {"x": 4.0, "person": "c"}]
EXTREME = [{"x": 10.0, "person": "z"}]
MISSING = [{"x": None, "person": "z"}]
BOUNDS = (0.0, 10.0)

QUESTIONS = [
    ("count", {}),
    ("sum", {"bounds": BOUNDS}),
    ("mean", {"bounds": BOUNDS}),
    ("variance", {"bounds": BOUNDS}),
    ("moment", {"bounds": BOUNDS, "order": 2}),
    ("histogram", {"bounds": BOUNDS, "bins": 2}),
]


def crowd(low: int, high: int) -> list[dict]:
    """Return records on the two rungs of a ladder from 0 to 1, enough of them to be answered."""
    return [{"x": 0}] * low + [{"x": 1}] * high


# Tables at the tipping point: one record more makes the other rung the better one.
RANKS = [
    ("quantile", {"alpha": 0.5}, crowd(40, 40), [{"x": 1}]),
    ("min", {}, crowd(11, 70), [{"x": 0}]),
    ("max", {}, crowd(70, 11), [{"x": 1}]),
]


def outputs(rows: list[dict], statistic: str, many: int, **options) -> list[list[float]]:
    """Return samples of every number that is released: the value, the parts, the missing."""
    column = None if statistic == "count" else "x"
    found = ask(copies(rows, many), statistic, column, **names(many), **options)
    if statistic == "histogram":
        cells = len(found.cells)
        named = [r.value for r in found.results if r.label[0] != "(others)"]
        return [named[i::cells] for i in range(cells)]
    columns = [[-1e9 if r.value is None else float(r.value) for r in found.results]]
    for i in range(len(found.results[0].parts)):
        columns.append([float(r.parts[i].value) for r in found.results])
    if found.results[0].missing is not None:
        columns.append([float(r.missing) for r in found.results])
    return columns


def worst(first: list[dict], second: list[dict], statistic: str, many: int, **options) -> float:
    delta = options.pop("audit_delta", 0.0)
    pairs = zip(
        outputs(first, statistic, many, **options),
        outputs(second, statistic, many, **options),
        strict=True,
    )
    return max(epsilon_seen(one, two, delta=delta) for one, two in pairs)


@pytest.mark.parametrize(("statistic", "options"), QUESTIONS)
@pytest.mark.parametrize("extra", [EXTREME, MISSING], ids=["extreme", "missing"])
def test_no_more_than_epsilon_leaks(statistic, options, extra):
    many = MANY if statistic != "variance" else 1_200
    seen = worst(BASE, BASE + extra, statistic, many, epsilon=1.0, **options)
    assert seen <= 1.0


@pytest.mark.parametrize(("statistic", "options", "rows", "extra"), RANKS)
def test_no_more_than_epsilon_leaks_from_a_rank(statistic, options, rows, extra):
    seen = worst(rows, rows + extra, statistic, 5_000, epsilon=1.0, bounds=(0, 1), **options)
    assert 0.03 < seen <= 1.0  # half of epsilon at most, for scores that may move both ways


@pytest.mark.parametrize(("statistic", "options"), QUESTIONS[:3])
def test_no_more_than_epsilon_and_delta_leak_from_gaussian_noise(statistic, options):
    seen = worst(BASE, BASE + EXTREME, statistic, MANY, accounting="approximate", epsilon=1.0,
                 delta=1e-3, audit_delta=1e-3, **options)  # fmt: skip
    assert seen <= 1.0


@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
def test_all_rows_of_a_person_together_leak_no_more_than_epsilon(statistic):
    options = {} if statistic == "count" else {"bounds": BOUNDS}
    crowd = EXTREME * 9
    seen = worst(BASE, BASE + crowd, statistic, MANY, epsilon=1.0, entity="person", max_rows=2,
                 **options)  # fmt: skip
    assert seen <= 1.0


def test_the_audit_has_teeth():
    """Twice the promised epsilon is found out, and a promise that is kept is nearly used up."""
    honest = worst(BASE, BASE + EXTREME, "count", MANY, epsilon=1.0)
    cheat = worst(BASE, BASE + EXTREME, "count", MANY, epsilon=2.0)
    unlimited = worst(BASE, BASE + EXTREME * 9, "count", MANY, epsilon=1.0)
    assert 0.6 < honest <= 1.0 < cheat
    assert unlimited > 1.0  # nine rows of one person without --entity: row privacy only
