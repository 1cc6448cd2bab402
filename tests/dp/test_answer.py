"""An answer as plain data."""

from __future__ import annotations

from shoal.dp.answer import Answer, Part, Result


def answer(**changes) -> Answer:
    facts = {
        "statistic": "mean", "column": "age", "results": (Result(value=None, within=None),),
        "epsilon": 0.5, "delta": 0.0, "rho": None, "accounting": "pure",
        "mechanism": "discrete laplace", "scale": 2.0, "scale_unit": "records", "unit": "column",
        "confidence": 0.95, "remaining": 0.5, "privacy_unit": "one row", "dataset": "d",
    }  # fmt: skip
    return Answer(**{**facts, **changes})


def test_no_value_is_null_and_said_in_words():
    found = answer()
    assert found.to_document()["value"] is None
    assert found.to_document()["accuracy"]["within"] is None
    assert "no answer" in str(found)


def test_the_widest_bar_stands_for_all_groups():
    results = tuple(Result(value=1.0, within=w, label=(str(w),)) for w in (1.0, 3.0, 2.0))
    found = answer(results=results)
    assert found.within == 3.0
    assert found.to_document()["groups"][1]["group"] == ["3.0"]


def test_parts_are_told():
    part = Part(of="count", value=3, scale=1.0, mechanism="discrete laplace")
    found = answer(results=(Result(value=3, within=2, parts=(part,), missing=1, missing_within=2),))
    assert found.to_document()["parts"] == [part.to_document()]
    assert found.to_document()["missing"] == {"value": 1, "within": 2}
