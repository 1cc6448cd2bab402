"""Releases side by side: rows, the front, the spread."""

from __future__ import annotations

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from shoal.reports.compare import COLUMNS, Compared, Run, average_risk, risk_of, with_front


def run_of(name, loss, risk, *, table="t", group=None, is_new=True):
    report = {
        "records": 9, "released": 9, "suppressed": 0, "classes": 3, "smallest_class": 3,
        "utility": {"ncp": loss}, "risk": {"after": {"global_risk": risk, "maximum": 2 * risk}},
        "seconds": {"total": 0.5},
    }  # fmt: skip
    facts = {"table": table, "method": "m", "promise": {"k": 3}, "group": group or name}
    return Run(name=name, facts=facts, found={"result": {"report": report}}, is_new=is_new)


FACTS = {"table": "t", "method": "m", "promise": {"k": 3}, "group": "broken"}
BROKEN = Run(
    name="broken", facts=FACTS, found={"error": {"kind": "NoSolutionError", "problem": "nothing"}}
)


def naive_front(points):
    """Return the places of points that no other one beats, by the definition."""
    return {
        i
        for i, (x, y) in enumerate(points)
        if not any(a <= x and b <= y and (a < x or b < y) for a, b in points)
    }


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_the_front_is_what_no_other_run_beats(points):
    runs = [run_of(str(i), x / 10, y / 10) for i, (x, y) in enumerate(points)]
    found = [int(run.name) for run in with_front([*runs, BROKEN]) if run.front]
    assert set(found) == naive_front(points)


def test_runs_of_another_table_are_no_rivals():
    runs = [run_of("a", 0.1, 0.1), run_of("b", 0.2, 0.2, table="other"), BROKEN]
    assert [run.front for run in with_front(runs)] == [True, True, False]


def test_a_run_without_a_release_has_its_reason_and_no_figure():
    assert BROKEN.error == "nothing"
    assert (BROKEN.loss, dict(BROKEN.risk), average_risk(BROKEN)) == (None, {}, 0.0)
    row = BROKEN.row()
    assert tuple(row) == COLUMNS
    assert row["error"] == "nothing"


def test_risks_are_those_of_the_release():
    run = run_of("a", 0.1, 0.25)
    assert (risk_of(run, "average"), risk_of(run, "maximum")) == (0.25, 0.5)


def test_seeds_give_a_spread():
    runs = [run_of(f"a seed={i}", loss, 0.1, group="a") for i, loss in enumerate((0.3, 0.1, 0.2))]
    found = Compared(runs=(*runs, run_of("b", 0.5, 0.1))).spread()
    assert found == [{"name": "a", "runs": 3, "ncp": {"median": 0.2, "least": 0.1, "most": 0.3}}]


def test_all_of_it_is_a_document_and_a_table():
    runs = tuple(with_front([run_of("a", 0.1, 0.2), BROKEN, run_of("b", 0.3, 0.4, is_new=False)]))
    found = Compared(runs=runs, seconds=1.0)
    document = json.loads(json.dumps(found.to_document()))
    assert document["table"] == {"records": 9}
    assert [run["front"] for run in document["runs"]] == [True, False, False]
    assert document["run_seconds"] == 0.5  # what was kept took no time
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["name"] for row in rows] == ["a", "broken", "b"]
    assert rows[1]["ncp"] == ""
    assert "3 releases compared" in repr(found)
    assert "loss 10.00 %" in found._repr_html_()
