"""The report of a table as it stands."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.reports.about import About
from shoal.reports.html import to_html
from shoal.reports.of_risk import of_risk
from shoal.reports.profile import load_profile

AGES = [30] * 3 + [40] * 12 + [50]


def measured(**words):
    return shoal.risk(pl.DataFrame({"age": AGES, "who": range(16)}), qi=["age"], **words)


def test_figures_are_those_of_the_measured_risk():
    found = of_risk(measured().to_document(), quasi=["age"])
    assert [each.share for each in found.decision.numbers] == pytest.approx([1.0, 3 / 16, 1.0])
    assert dict(zip(found.risk.sizes.names, found.risk.sizes.after, strict=True))["1"] == 1
    assert found.utility is None
    assert found.risk.columns == {"age": 1.0}
    assert "1. For the decision" in to_html(found)


def test_persons_are_counted_where_they_are_named():
    found = of_risk(measured(person="who").to_document())
    assert found.risk.unit == "person"
    assert "16 persons" in found.decision.what[0]


def test_a_profile_is_held_against_it():
    about = About(profile=load_profile("cms-cell-size"))
    held = of_risk(measured().to_document(), about).decision.profile
    assert not held.passed
    assert held.failures == ("the smallest class has 1 records, where 11 are asked for",)


def test_outsiders_learn_no_small_count():
    found = of_risk(measured().to_document(), About(audience="external"), quasi=["age"])
    assert found.decision.what[1].startswith("fewer than 5 records are alone")
    assert found.risk.sizes is None  # 12 of 16 would say that 4 are left
    assert found.risk.columns == {}
