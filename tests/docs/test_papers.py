"""The page of the papers' figures: every preset and every figure is on it, drawn and linked."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import papers

from shoal.jobs.papers import PAPERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "guides" / "papers.md").read_text(encoding="utf-8")
THESIS = {f"4-{number}" for number in range(1, 11)}


def test_every_preset_and_every_figure_is_on_the_page_with_its_picture():
    assert {each.preset for each in papers.EXPERIMENTS} == set(PAPERS)
    figures = [figure for each in papers.EXPERIMENTS for figure in each.figures]
    assert {each.name for each in figures} >= THESIS
    for experiment in papers.EXPERIMENTS:
        assert f"## {experiment.title}\n" in PAGE
        assert f"--preset {experiment.preset}" in PAGE
    for figure in figures:
        name = f"papers-{figure.name}.svg"
        assert f"({'../images/' + name})" in PAGE
        picture = (DOCS / "images" / name).read_text(encoding="utf-8")
        assert len(re.findall("<polyline", picture)) >= 1, "an empty picture"
        assert len(re.findall("<circle", picture)) >= 3


def test_every_claim_stands_beside_what_was_measured():
    for paper in PAPERS.values():
        for claim in paper.claims:
            assert claim.text in PAGE
    assert "not measured" not in PAGE
    assert PAGE.count("raw 71") >= 1 or PAGE.count("commonest value") >= 3


def test_points_are_medians_of_runs_that_are_alike_and_lines_have_one_k():
    def run(k, sample, loss):
        return {"promise": {"k": k}, "sample": sample, "method": "m", "utility": {"ncp": loss}}

    runs = [run(5, 2000, 0.3), run(5, 2000, 0.1), run(5, 2000, 0.2), run(10, 2000, 0.5),
            run(15, 400, 0.9), run(15, 2000, 0.6)]  # fmt: skip
    over_k = papers.Figure(name="x", title="x", measure=papers.utility("ncp"), unit="")
    over_records = papers.Figure(
        name="x", title="x", measure=papers.utility("ncp"), unit="", over="sample"
    )
    assert papers.curves(over_k, runs) == {"m": [(5, 0.2), (10, 0.5), (15, 0.6)]}
    assert papers.curves(over_records, runs) == {"m": [(400, 0.9), (2000, 0.6)]}
