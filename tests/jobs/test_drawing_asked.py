"""What a drawn release asks of an engine: which k its marginals have, and what its report says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.jobs.people import PEOPLE, plain_schema

from shoal.engines.drawing.drawing import DRAWN, Drawing
from shoal.jobs.drawn import LEAST, drawing_of, is_drawn, with_drawn
from shoal.jobs.faults import draw_faults
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.privacy import KAnonymity, LDiversity
from shoal.reports.release import ReleaseReport, Risk
from shoal.schema.attribute import Labels
from shoal.schema.schema import Schema

RISK = Risk(records=4, classes=1, smallest_class=4, unique=0)
REPORT = ReleaseReport(
    method="bestcut",
    records=4,
    released=4,
    suppressed=0,
    classes=1,
    smallest_class=4,
    privacy=(),
    utility={"ncp": 0.5},
    risk_before=RISK,
    risk_after=RISK,
    seconds={},
    warnings=("another warning",),
    facts={"printed": {"labels": "levels"}, "fidelity": None},
)


def request(**words):
    return ReleaseRequest(table=PEOPLE, schema=plain_schema(), **words)


@pytest.mark.parametrize(
    ("promise", "k"),
    [
        ((KAnonymity(7),), 7),
        ((KAnonymity(1),), LEAST),
        ((LDiversity(4, column="x"),), 4),
        ((KAnonymity(3), LDiversity(5, column="x")), 5),
        ((), LEAST),
    ],
)
def test_marginals_have_the_k_of_the_promise(promise, k):
    search = SimpleNamespace(release="draw")
    assert drawing_of(request(seed=9), search, promise, ("age",)) == Drawing(seed=9, k=k)


@pytest.mark.parametrize("release", ["generalize", "aggregate"])
def test_other_releases_are_not_drawn(release):
    assert drawing_of(request(), SimpleNamespace(release=release), (), ()) is None


def test_labels_are_tight_where_nobody_reads_them_unless_asked():
    assert request(release="draw").labels is Labels.TIGHT
    assert request().labels is Labels.ROUND
    schema = Schema.from_document({"columns": {"a": "quasi"}, "labels": "round"})
    asked = ReleaseRequest(table=PEOPLE, schema=schema, release="draw")
    assert asked.labels is Labels.ROUND


def test_the_report_says_first_that_values_are_drawn():
    found = with_drawn(REPORT, {"note": DRAWN, "fidelity": {"k_marginal": 900}}, None)
    assert found.warnings == (DRAWN, "another warning")
    assert next(iter(found.facts)) == "drawn"
    assert found.facts["printed"] == {"labels": "drawn"}
    assert found.facts["fidelity"] == {"k_marginal": 900}
    assert "fidelity" not in found.facts["drawn"]
    assert "reappearing" not in found.facts["drawn"]
    assert "values drawn" in repr(found)
    assert "values drawn" not in repr(REPORT)


def test_who_reappears_stands_in_the_report():
    found = with_drawn(REPORT, {"note": DRAWN}, {"members": {"share": 0.2}})
    assert found.facts["drawn"]["reappearing"] == {"members": {"share": 0.2}}
    assert found.facts["fidelity"] is None


def test_what_was_drawn_is_known_by_what_it_can_do():
    assert is_drawn(SimpleNamespace(compare_labels=None))
    assert not is_drawn(SimpleNamespace(verify=None))


def test_a_person_file_and_a_pseudonym_of_the_person_do_not_go_with_it():
    (fault,) = draw_faults(plain_schema(), Output(person_file="who.csv"))
    assert "nobody's" in fault.problem
    linked = Schema.from_document(
        {"columns": {"a": "quasi", "who": {"role": "person", "release": "pseudonym"}}}
    )
    (fault,) = draw_faults(linked, Output())
    assert "pseudonym" in fault.problem
    assert draw_faults(plain_schema(), Output()) == []
