"""Releases side by side on paper: everything of the page, as blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reports.test_compare import BROKEN, run_of

from shoal.reports.blocks import Chart, Code, Heading, Section, Table
from shoal.reports.compare import Compared, Run, with_front
from shoal.reports.compare_paper import MOST_FRONT, blocks_of, to_markdown, to_pdf

HOSTILE = "<b>*run*</b> | #panic"


def with_k(name, loss, risk, k, **facts):
    run = run_of(name, loss, risk)
    report = {
        **run.report, "column_loss": {"age": loss, "sex": 0.0},
        "seconds": {"total": 0.5}, "fidelity": None,
    }  # fmt: skip
    found = {"result": {"report": report, "sizes": [0, 3, 1], "megabytes": 120.5}}
    return Run(name=name, facts={**run.facts, "promise": {"k": k}, **facts}, found=found)


def compared(*runs, **words):
    return Compared(runs=tuple(with_front(list(runs))), **words)


def flat(blocks):
    for each in blocks:
        yield each
        if isinstance(each, Section):
            yield from flat(each.blocks)


def titles(found):
    blocks = flat(blocks_of(found, {}))
    return [each.text for each in blocks if isinstance(each, Heading)]


USUAL = (with_k("m k=2", 0.1, 0.4, 2), with_k(HOSTILE, 0.2, 0.2, 5), with_k("m k=9", 0.5, 0.3, 9))


def test_it_has_every_part_of_the_page():
    found = compared(*USUAL, BROKEN)
    blocks = list(flat(blocks_of(found, {"m k=2": "shoal anonymize t.csv"})))
    assert titles(found) == [
        "Releases side by side", "Risk against loss", "loss (NCP) over k", "risk, average over k",
        "risk, highest over k", "seconds over k", "megabytes over k", "What no other one beats",
        "m k=2", HOSTILE, "All runs", "Not made",
    ]  # fmt: skip
    assert [each.text for each in blocks if isinstance(each, Code)] == ["shoal anonymize t.csv"]
    drawn = [each for each in blocks if isinstance(each, Chart)]
    assert len(drawn) == 6 + 2 * 2  # plots, and loss by column and class sizes of each
    assert all(each.lines for each in drawn)
    every, failed = (each for each in blocks if isinstance(each, Table))
    assert [row[0] for row in every.rows] == ["● m k=2", f"● {HOSTILE}", "m k=9"]
    assert failed.rows == (("broken", "nothing"),)


def test_a_line_is_what_differs_by_k_alone():
    runs = [
        with_k("a", 0.1, 0.4, 2, labels="round"), with_k("b", 0.2, 0.3, 5, labels="round"),
        with_k("c", 0.1, 0.5, 2, labels="tight"), with_k("d", 0.2, 0.6, 5, labels="tight"),
        with_k("e", 0.9, 0.6, 5, labels="other"),
    ]  # fmt: skip
    charts = [each for each in flat(blocks_of(compared(*runs), {})) if isinstance(each, Chart)]
    assert charts[1].lines == (
        "m labels=round: 0.1 at 2, 0.2 at 5", "m labels=tight: 0.1 at 2, 0.2 at 5",
    )  # fmt: skip


def test_a_long_front_is_shown_in_part_and_says_so():
    runs = [with_k(f"r{i:02}", i / 100, 1 - i / 100, 2) for i in range(MOST_FRONT + 3)]
    text = to_markdown(compared(*runs))
    assert text.count("Below: loss by column") == MOST_FRONT
    assert "and 3 more; see the table" in text


def test_claims_spread_and_fidelity_are_said_where_there_are_some():
    paper = {"key": "x", "about": "y", "claims": [
        {"figure": "F 1", "claim": "less", "measured": "0.5 times"}]}  # fmt: skip
    runs = [with_k(f"o{seed}", 0.1 + seed / 10, 0.2, 2, group="o", seed=seed) for seed in (0, 1, 2)]
    found = compared(*runs, paper=paper)
    assert titles(found)[1] == "What [x] says"
    text = to_markdown(found)
    assert "| F 1 | less | 0.5 times |" in text
    assert "| o | 3 | 0.1 | 0.2 | 0.3 |" in text


def test_where_nothing_was_made_the_reasons_are_left():
    found = compared(BROKEN)
    assert titles(found) == ["Releases side by side", "Not made"]
    assert "nothing" in to_markdown(found)


def test_the_pdf_is_tagged_and_the_same_twice():
    pytest.importorskip("typst", reason="shoal[report] is not installed")
    found = compared(*USUAL, BROKEN)
    pdf = to_pdf(found, {"m k=2": "shoal anonymize #x"})
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf
    assert pdf == to_pdf(found, {"m k=2": "shoal anonymize #x"})
    other = replace(found, runs=found.runs[:1])
    assert pdf != to_pdf(other)
