"""Fidelity and models in words."""

from __future__ import annotations

import pytest

from shoal.reports.fidelity import (
    WAYS,
    fidelity_words,
    learning_note,
    learning_rows,
    learning_words,
    measured_figures,
)


def ends(value):
    """Return a mean as reports have it."""
    return None if value is None else {"mean": value, "least": value, "most": value}


SCORES = {"macro_f1": ends(0.5), "auc": ends(None), "accuracy": ends(0.75)}
LEARNED = {
    "target": "t", "records": 100, "of": 400, "folds": 3, "majority": ends(0.6825),
    "models": {"random forest": dict.fromkeys(WAYS, SCORES)},
}  # fmt: skip
FIDELITY = {
    "k_marginal": 949.6124, "pmse": 0.01, "pmse_ratio": 9.5, "sampled": {},
    "query_error": {"mean": 0.0469, "median": 0.0138, "queries": 200},
    "total_variation": {"a": 0.01, "b": 0.2}, "kolmogorov_smirnov": {"a": 0.05, "c": None},
    "correlation_change": None, "association_change": {"mean": 0.02, "largest": 0.1},
    "unique_exact_matches": {"records": 3, "unique": 1400, "share": 0.002},
}  # fmt: skip


def test_every_measure_has_a_line_with_the_worst_column_by_name():
    lines = {name: text for name, text, _ in fidelity_words(FIDELITY)}
    assert lines == {
        "k-marginal score": "949.6",
        "query error": "4.69 % (median 1.38 %)",
        "pMSE ratio": "9.5",
        "total variation": "0.2000 in b",
        "Kolmogorov–Smirnov": "0.0500 in a",
        "associations": "0.0200 (largest 0.1000)",
        "unique exact matches": "3 of 1,400",
    }


@pytest.mark.parametrize("nothing", [None, {}, "text"])
def test_of_nothing_nothing_is_said(nothing):
    assert fidelity_words(nothing) == learning_words(nothing) == []
    assert measured_figures({"fidelity": nothing, "learning": nothing}) == {}


def test_models_are_told_by_what_they_were_trained_on():
    rows = learning_rows(LEARNED)
    assert [row[1] for row in rows] == list(WAYS.values())
    assert rows[0] == ("random forest", "raw records", "0.500", "–", "0.750")
    lines = learning_words(LEARNED)
    assert lines[0][1] == "macro-F1 0.500, accuracy 75 %"
    assert lines[-1][:2] == ("commonest value alone", "accuracy 68.25 %")
    note = learning_note(LEARNED)
    assert "on 100 records of 400, drawn by chance, in 3 parts" in note
    assert "68.25 %" in note


def test_runs_are_compared_by_figures_that_are_known():
    found = measured_figures({"fidelity": FIDELITY, "learning": LEARNED})
    assert found == {
        "k-marginal": 949.6124, "query error": 0.0469, "pMSE ratio": 9.5,
        "RF F1 raw": 0.5, "RF F1 release": 0.5, "RF F1 control": 0.5,
    }  # fmt: skip
