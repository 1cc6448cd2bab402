"""Experiments of papers: what is tried, and what is said of the claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.jobs.people import PEOPLE, plain_schema
from tests.reports.test_compare import run_of

from shoal.cli.compare import _PAPERS
from shoal.core.errors import SchemaError
from shoal.jobs.compare import CompareRequest, compare
from shoal.jobs.papers import MEASURES, PAPERS, Claim, Paper, paper_named
from shoal.jobs.trials import Grid
from shoal.methods.catalogue import KMember, Oka
from shoal.reports.compare import Compared

REFERENCES = Path(__file__).parents[2] / "docs" / "references.bib"
CLAIM = Claim(figure="Figure 1", text="a loses less.", measure="ncp", less="a", more="b")


def base(**words):
    return Grid(tables=(PEOPLE,), schema=plain_schema(**words), methods=(), replace_promise=True)


def test_the_command_line_names_every_paper_and_every_paper_is_cited():
    assert tuple(PAPERS) == _PAPERS
    cited = REFERENCES.read_text(encoding="utf-8")
    for paper in PAPERS.values():
        assert f"{{{paper.key}," in cited
        for claim in paper.claims:
            names = {trial.facts["method"] for trial in replace(paper, target=False).trials(base())}
            assert {claim.less, claim.more} <= names
            assert claim.measure in MEASURES


def test_sizes_are_tried_beside_every_k_and_nothing_twice():
    paper = Paper(
        key="x", about="", methods=(KMember(), Oka()), ks=(2, 5), claims=(), records=20,
        sizes=(10, 20), k_of_sizes=5,
    )  # fmt: skip
    names = [trial.name for trial in paper.trials(base())]
    assert len(names) == len(set(names))
    assert "kmember k=2" in names
    assert "oka k=5 records=10" in names


def test_a_target_is_asked_for():
    with pytest.raises(SchemaError, match="--target"):
        PAPERS["kmember-2020"].trials(base())
    assert PAPERS["kmember-2020"].trials(base(target="ill"))


def test_an_unknown_paper_is_answered_with_the_nearest():
    with pytest.raises(SchemaError, match="did you mean 'oka-2008'"):
        paper_named("oka-2009")


def of(method, k, loss, sample=None):
    run = run_of(f"{method} {k} {sample}", loss, 0.1)
    facts = {**run.facts, "method": method, "promise": {"k": k}, "sample": sample}
    return replace(run, facts=facts)


def measured(claim, *runs):
    paper = Paper(key="x", about="", methods=(), ks=(), claims=(claim,))
    return paper.said(Compared(runs=runs))["claims"][0]["measured"]


def test_a_claim_is_compared_at_each_k():
    runs = [of("a", 2, 0.1), of("b", 2, 0.2), of("a", 5, 0.4), of("b", 5, 0.3), of("c", 5, 0.1)]
    assert measured(CLAIM, *runs).endswith("less in 1 of 2")
    assert "0.92 times" in measured(CLAIM, *runs)


def test_a_claim_over_sizes_looks_at_one_k_and_all_sizes():
    runs = [of("a", k, 0.1, 20) for k in (2, 3, 4)] + [of("b", k, 0.2, 20) for k in (2, 3, 4)]
    runs += [of("a", 4, 0.3, 10), of("b", 4, 0.2, 10)]
    assert measured(CLAIM, *runs).endswith("less in 3 of 3")
    assert measured(replace(CLAIM, over="records"), *runs).endswith("less in 1 of 2")


def test_a_claim_about_nothing_that_was_run_says_so():
    assert measured(CLAIM, of("a", 2, 0.1)).startswith("not measured")


@pytest.mark.local("compare")
@pytest.mark.xdist_group("compare")
@pytest.mark.usefixtures("lent_workers")
def test_a_paper_is_run_on_a_sample_of_a_table(tmp_path):
    paper = replace(PAPERS["oka-2008"], ks=(4, 5), records=24)
    trials = paper.trials(base())
    found = compare(CompareRequest(trials=trials, keep=tmp_path))
    assert {run.report["records"] for run in found.runs} == {24}
    said = paper.said(found)
    assert said["key"] == "lin2008"
    assert all("of 2" in each["measured"] for each in said["claims"])
    again = compare(CompareRequest(trials=trials, keep=tmp_path))
    assert not any(run.is_new for run in again.runs)


def test_accuracies_of_a_paper_stand_beside_what_was_measured():
    ends = {"mean": 0.7, "least": 0.6, "most": 0.8}
    ways = {way: {"accuracy": ends} for way in ("raw", "release", "control", "raw_on_release")}
    learned = {"models": {"logistic regression": ways}, "majority": {**ends, "mean": 0.6825}}
    made = run_of("flash k=2", 0.1, 0.1)
    run = replace(made, facts={**made.facts, "method": "flash", "promise": {"k": 2}})
    result = dict(run.found["result"])
    result["report"] = {**result["report"], "learning": learned}
    known = replace(run, found={"result": result})
    paper = PAPERS["admissions-2018"]
    lines = {each["figure"]: each["measured"] for each in
             paper.said(Compared(runs=(known,)))["claims"]}  # fmt: skip
    assert "flash: trained on raw and tested on recoded" in lines["Table I, k = 2"]
    assert "commonest value 68.2" in lines["Table I, k = 2"]
    assert lines["Table I, k = 3"] == "not measured: there is no such run"
    target = plain_schema(target="ill").target
    trials = paper.trials(replace(base(), schema=plain_schema(target="ill")))
    assert {trial.request.checks.learn for trial in trials} == {target}
