"""A report for outsiders, fuzzed against its table: it has nothing that the release has not."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.jobs.report import ReportRequest, report
from shoal.reports.about import About
from shoal.reports.external import shown, threshold
from shoal.reports.html import to_html
from shoal.reports.markdown import to_markdown
from shoal.reports.profile import load_profile

WORDS = [f"{a}{b}zzq" for a in "bcdfgh" for b in "klmnpr"]  # found nowhere else in a report
TREE = {"*": {f"{a}-all": [word for word in WORDS if word[0] == a] for a in "bcdfgh"}}
SCHEMA = {
    "columns": {
        "place": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": TREE}},
        "pay": {"role": "quasi", "kind": "numeric"},
        "ill": {"role": "sensitive"},
        "name": {"role": "identifying"},
    }
}


@st.composite
def tables(draw):
    """Draw a table whose values are found nowhere else."""
    size = draw(st.integers(12, 60))
    places = draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))
    pay = draw(st.lists(st.integers(7_000_001, 7_000_099), min_size=size, max_size=size))
    ill = draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=size, max_size=size))
    names = [f"person{i}qqx" for i in range(size)]
    return pl.DataFrame({"place": places, "pay": pay, "ill": ill, "name": names})


def counts_in(document, path=()):
    """Yield every number of a document that counts something, with where it stands."""
    if isinstance(document, dict):
        for name, each in document.items():
            yield from counts_in(each, (*path, name))
    elif isinstance(document, list):
        for each in document:
            yield from counts_in(each, path)
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield path, document


SHARES = {"share", "limit", "after", "low", "high", "guessing", "loss", "losses", "version"}


@settings(max_examples=30, deadline=None)
@given(
    tables(),
    st.sampled_from([2, 3, 5]),
    st.sampled_from(["mondrian", "flash", "bestcut", "mdav"]),
    st.booleans(),
    st.sampled_from([None, "us-schools"]),
)
def test_nothing_of_the_table_is_in_it_that_the_release_does_not_show(
    table, k, method, attacks, profile
):
    least = k if profile is None else max(k, 10)
    words = {"method": method, "pictures": True, "attacks": attacks, "suppression_limit": 0.2,
             "fidelity": True}  # fmt: skip
    made = shoal.anonymize(table, SCHEMA, k=k, **words)
    asked = ReportRequest(audience="external", table="t.csv", schema=made.schema, profile=profile)
    found = report(made, asked)
    document = found.to_document()
    texts = [json.dumps(document, ensure_ascii=False), to_html(found), to_markdown(found)]
    published = "\n".join(made.table.cast(pl.String).fill_null("").write_csv().splitlines()[1:])
    for value in {*table["place"], *map(str, table["pay"]), *table["name"]}:
        if value not in published:
            assert all(value not in text for text in texts)
    for column in document["columns"]:
        bars = column["bars"]
        assert column["name"] != "name"
        if bars is not None:
            assert bars["before"] is None
            assert all(number >= least for number in bars["after"])
            assert sum(bars["after"]) in (0, made.report.released)
            cells = {str(cell) for cell in made.table[column["name"]]}
            for label in set(bars["names"]) - {"all others", "(missing)"}:
                assert label in cells or float(label) in map(float, cells)
    sizes = document["risk"]["sizes"]
    if sizes is not None:
        assert all(number >= least for number in sizes["after"])
        left = made.report.released - sum(sizes["after"])
        assert left >= least or left == 0
    for each in document["risk"]["attacks"]:
        right = each["after"] * each["targets"]
        assert min(right, each["targets"] - right) >= least or right in (0, each["targets"])
    assert document["making"]["request"] is None
    assert not document["making"]["hierarchies"]
    assert not {"input"} & set(document["making"]["hashes"])
    for path, number in counts_in(document):
        if not SHARES & set(path):
            assert number >= least or number == 0, path
    assert {each["worst"] for each in document["decision"]["promises"]} == {"–"}
    named = {each["name"] for each in document["utility"]["fidelity"]}
    assert named <= {"k-marginal score", "pMSE ratio"}
    assert_no_small_number(document["decision"]["what"] + prose(document["risk"]), least)


def prose(risk):
    """Return the sentences of the risk, without what they say in per cent."""
    said = [*risk["not_protected"], *(each["answer"] for each in risk["questions"])]
    return [re.sub(r"(under )?[\d.,]+ %", "", text) for text in said]


def assert_no_small_number(sentences, k):
    for text in sentences:
        plain = re.sub(r"Attack \(.*?\)|fewer than \d+", "", text)
        for number in re.findall(r"(?<![\w.-])\d[\d,]*(?![\w.])", plain):
            value = int(number.replace(",", ""))
            assert value >= k or value == 0, text


def test_what_is_inside_stays_inside(tmp_path):
    table = tmp_path / "in.csv"
    pl.DataFrame({"age": [30, 31, 32, 33, 50, 51, 52, 53], "memo": list("abcdefgh")}).write_csv(
        table
    )
    out = tmp_path / "out.csv"
    made = shoal.anonymize(table, qi=["age"], neutral=["memo"], k=4, out=out, pictures=True,
                           waive=["memo"])  # fmt: skip
    both = {
        audience: report(
            made, ReportRequest(audience=audience, table=table, release=out)
        ).to_document()
        for audience in ("internal", "external")
    }
    inside, outside = both["internal"], both["external"]
    assert set(inside["making"]["hashes"]) == {"input", "release"}
    assert set(outside["making"]["hashes"]) == {"release"}
    assert inside["making"]["waivers"]
    assert not outside["making"]["waivers"]
    assert inside["making"]["facts"]["seed"] == "0"
    assert set(outside["making"]["facts"]) == {"method"}
    assert not outside["making"]["notices"]
    assert outside["utility"]["associations"] is None
    assert all(each["before"] is None for each in outside["risk"]["attackers"])
    assert inside["making"]["hashes"]["input"] not in json.dumps(outside)


def test_models_of_the_raw_records_stay_inside():
    frame = pl.DataFrame({"age": [*range(20, 60)] * 2, "bought": ["y", "n"] * 40})
    made = shoal.anonymize(frame, qi=["age"], sensitive=["bought"], k=5, learn="bought",
                           method="mondrian", pictures=True)  # fmt: skip
    both = {
        audience: report(made, ReportRequest(audience=audience)).to_document()["utility"]
        for audience in ("internal", "external")
    }
    inside, outside = ({row[1] for row in each["models"]} for each in both.values())
    assert inside == {"raw records", "the release", "marginals alone", "raw, tested on recoded"}
    assert outside == {"the release", "marginals alone"}
    assert both["internal"]["models_note"]
    assert not both["external"]["models_note"]  # it counts records


def test_few_suppressed_records_are_not_counted():
    ages = [30] * 20 + [50] * 20 + [90, 91]
    made = shoal.anonymize(
        pl.DataFrame({"age": ages}), qi=["age"], k=5, method="mondrian", pictures=True,
        suppression_limit=0.1,
    )  # fmt: skip
    found = report(made, ReportRequest(audience="external")).to_document()
    assert shown(made.report.suppressed, 5) in found["decision"]["what"][0]
    assert f" of {made.report.records} " not in json.dumps(found)


def test_losses_are_in_whole_per_cent_so_that_no_range_follows_from_them():
    """Widths of labels are published; an exact share of the range would give its ends away."""
    ages = [*range(20, 60)] * 3 + [1_234_567] * 6
    made = shoal.anonymize(
        pl.DataFrame({"age": ages, "town": ["a", "b"] * 63}), qi=["age", "town"], k=5,
        method="mondrian", pictures=True,
    )  # fmt: skip
    found = report(made, ReportRequest(audience="external")).to_document()
    (loss,) = (each["share"] for each in found["decision"]["numbers"] if each["name"] == "loss")
    columns = [each["loss"] for each in found["columns"]]
    texts = [each["text"] for each in found["utility"]["measures"]]
    shares = [loss, *columns, *found["utility"]["losses"].values()]
    shares += [float(text) for text in texts if text != "not known"]
    assert len(shares) >= 6
    assert all(share == round(share, 2) for share in shares)
    exact = made.report.columns
    assert any(each not in (0, 1) for each in exact.values())
    assert all(abs(found["utility"]["losses"][name] - exact[name]) <= 0.01 for name in exact)


def test_the_threshold_is_the_largest_that_anybody_asked_for():
    verdicts = shoal.anonymize(pl.DataFrame({"a": [1, 2, 3]}), qi=["a"], k=3).report.privacy
    outside = {"audience": "external"}
    assert threshold(verdicts, About()) == 0
    assert threshold(verdicts, About(**outside)) == 3
    assert threshold((), About(**outside)) == 5
    cms = load_profile("cms-cell-size")
    assert threshold(verdicts, About(**outside, profile=cms)) == 11


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (4, "fewer than 5"), (5, "5")])
def test_small_counts_are_said_in_words(number, text):
    assert shown(number, 5) == text
