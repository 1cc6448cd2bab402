"""What a notebook shows: everything escaped."""

from __future__ import annotations

from shoal.privacy import KAnonymity, Verdict
from shoal.reports.face import Face, percent, promise_rows


def test_every_text_is_escaped():
    evil = "<img onerror=x>"
    face = Face(title=evil, facts={evil: evil}, rows=[(evil,), (evil,)], warnings=[evil])
    assert "<img" not in face.html()
    assert face.html().count("&lt;img") == 6


def test_a_repr_is_one_line_and_counts_the_warnings():
    assert Face(title="2 records").line("Release") == "<Release: 2 records>"
    assert Face(title="t", warnings=["w"]).line("R") == "<R: t; 1 warnings>"
    assert "<table>" not in Face(title="t").html()


def test_a_broken_promise_is_said_so():
    rows = promise_rows([Verdict(model=KAnonymity(3), holds=False, value=2.0)])
    assert rows[1] == ("k-anonymity k=3", "2", "BROKEN")
    assert percent(0.125) == "12.50 %"
