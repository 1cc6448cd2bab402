"""Names are not published: kept columns are looked at before a table leaves."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import SchemaError
from shoal.engines.local import kept, source
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release

K5 = [{"model": "k-anonymity", "k": 5}]


def people(records=400, seed=1):
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [chance.randint(20, 60) for _ in range(records)],
            "mrn": [f"M{i * 37 % records:06}" for i in range(records)],
            "full_name": [f"Zq{chr(97 + i % 26)} Xw{'y' * (i % 40)}" for i in range(records)],
            "contact": [f"zz{i}@example.org" for i in range(records)],
            "cost": [round(chance.uniform(10, 99_999), 2) for _ in range(records)],
            "dx": [chance.choice(["I21", "J18", "S72"]) for _ in range(records)],
        }
    )


def schema(**more):
    columns = {"age": {"role": "quasi", "kind": "numeric"}, "dx": "sensitive", "cost": "neutral",
               "mrn": "neutral", "full_name": "neutral", "contact": "neutral"}  # fmt: skip
    return shoal.Schema.from_document({"columns": columns, "privacy": K5, **more})


NAMED = ("mrn", "full_name", "contact")


def test_names_record_numbers_and_addresses_stop_a_release():
    with pytest.raises(SchemaError) as caught:
        api.anonymize(people(), schema())
    assert len(caught.value.faults) == 3
    for name in NAMED:
        assert f"--identifying {name}" in str(caught.value)
        assert f"--waive {name}" in str(caught.value)
    assert "example.org" not in str(caught.value)


def test_columns_that_nobody_named_are_asked_too():
    quasi = {"columns": {"age": "quasi"}, "others": "keep", "privacy": K5}
    with pytest.raises(SchemaError, match="full_name"):
        api.anonymize(people(), shoal.Schema.from_document(quasi))


@pytest.mark.parametrize("how", ["schema", "argument"])
def test_a_waiver_releases_the_column_and_is_listed_with_every_role(how):
    asked = schema(waive=list(NAMED)) if how == "schema" else schema()
    release = api.anonymize(people(), asked, waive=() if how == "schema" else NAMED)
    document = release.report.to_document()
    assert set(document["roles"]) == set(people().columns)
    assert [n for n, about in document["roles"].items() if about["waived"]] == list(NAMED)
    assert document["roles"]["age"] == {
        "role": "quasi", "released": True, "kept": False, "replaced": None, "waived": False,
        "finding": None, "why": None,
    }  # fmt: skip
    page = to_html(of_release(release.report))
    assert page.count("waived by name") == 3
    for name in people().columns:
        assert f"<td>{name}</td>" in page


def test_a_cost_to_the_cent_is_a_warning_that_says_how_to_make_it_coarser():
    release = api.anonymize(people(), schema(), waive=NAMED)
    (warning,) = release.report.warnings
    assert "'cost'" in warning
    assert "Round it" in warning
    assert not api.anonymize(people(), schema(), waive=(*NAMED, "cost")).report.warnings


def test_learn_warns_and_encode_stops():
    model, report = api.learn_with_report(people(), schema())
    assert len(report.warnings) == 4
    for safe in (False, True):
        with pytest.raises(SchemaError, match="--waive mrn"):
            api.encode(people(), model, safe=safe)
    done = api.encode(people(), model, safe=True, waive=NAMED)
    assert done.report.released
    assert [w for w in done.warnings if "'cost'" in w]
    assert done.to_document()["warnings"] == list(done.warnings)


def test_a_model_that_was_learned_with_a_waiver_keeps_it(tmp_path):
    model, _ = api.learn_with_report(people(), schema(waive=list(NAMED)))
    api.write_model(model, tmp_path / "m.json")
    again = shoal.RecodingModel.load(tmp_path / "m.json")
    assert api.encode(people(), again).report.released


def test_verify_says_the_same_as_warnings_and_its_verdict_stays():
    release = api.anonymize(people(), schema(), waive=(*NAMED, "cost")).table
    found = api.verify(release, schema())
    assert found.holds
    assert len(found.warnings) == 4
    assert api.verify(release, schema(waive=[*NAMED, "cost"])).warnings == ()
    # A table may hold what no flag names.
    plain = shoal.Schema.from_document({"columns": {"age": "quasi"}, "privacy": K5,
                                        "others": "drop"})  # fmt: skip
    assert len(api.verify(release, plain).warnings) == 4


def test_verify_tells_identifying_columns_that_are_still_there():
    asked = {"columns": {"age": "quasi", "mrn": "identifying"}, "privacy": K5}
    found = api.verify(people(), shoal.Schema.from_document(asked))
    assert found.warnings[0] == "identifying, and still in the table: 'mrn'"


@pytest.mark.local("xk")
def test_xk_stops_too(tmp_path):
    out = tmp_path / "o.csv"
    with pytest.raises(SchemaError, match="--waive mrn"):
        api.release_xk(people(), schema(privacy=[]), k=5, out=out)
    assert not out.exists()


def test_a_large_table_is_counted_whole_and_looked_at_in_part():
    records = kept.ROWS + 5000
    frame = pl.DataFrame(
        {
            "age": [30 + i % 7 for i in range(records)],
            "code": [f"{i}" for i in range(records)],
            "few": [f"Z{i % 40}" for i in range(records)],
        }
    )
    asked = shoal.Schema.from_document(
        {"columns": {"age": "quasi", "code": "neutral", "few": "neutral"}, "privacy": K5}
    )
    with pytest.raises(SchemaError, match=f"{records} different values") as caught:
        api.anonymize(frame, asked)
    assert len(caught.value.faults) == 1


@pytest.mark.local("how one engine counts")
@pytest.mark.parametrize("weights", [None, pl.Series([2, 1, 3, 1, 5, 1])])
def test_coded_texts_are_counted_by_their_codes(weights):
    texts = (
        pl.Series(["a", "", None, "b", "a", kept.MARKS[0]])
        if weights is None
        else pl.Series(["a", "b", "?" if "?" in kept.MARKS else "", None, "b", "c"])
    )
    there = [text is not None and text not in ("", *kept.MARKS) for text in texts]
    each = [1] * len(texts) if weights is None else weights.to_list()
    found = kept._of_codes(texts.cast(pl.Categorical), weights)
    wanted = {text for text, is_there in zip(texts, there, strict=True) if is_there}
    records = sum(many for many, is_there in zip(each, there, strict=True) if is_there)
    assert found == (records, len(wanted))


@pytest.mark.local("larger than memory")
def test_a_table_larger_than_memory_is_looked_at_in_one_pass(tmp_path, monkeypatch):
    people(30_000).write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(kept, "_BATCH", 4000)
    with pytest.raises(SchemaError) as caught:
        api.anonymize(tmp_path / "t.csv", schema())
    assert len(caught.value.faults) == 3


@pytest.mark.local("the estimate of one engine")
@pytest.mark.parametrize("distinct", [3, 4096, 50_000])
def test_distinct_values_are_estimated_within_a_few_percent(distinct):
    sketch = kept._Sketch()
    values = pl.Series([f"v{i % distinct}" for i in range(120_000)])
    for at in range(0, 120_000, 7000):
        sketch.add(values.slice(at, 7000))
    assert sketch.distinct(120_000) == pytest.approx(distinct, rel=0.06)


@pytest.mark.local("command line")
def test_the_command_line_stops_with_exit_code_2_and_says_how_to_go_on(tmp_path, run):
    people().write_csv(tmp_path / "t.csv")
    out = tmp_path / "o.csv"
    flags = ("--qi", "age", "--sensitive", "dx", "--neutral", "mrn,full_name,cost", "-k", 5)
    answer = run("anonymize", tmp_path / "t.csv", *flags, "--out", out)
    assert answer.code == 2
    assert "--identifying mrn" in answer.err
    assert not out.exists()
    waived = ("--waive", "mrn,full_name")
    answer = run("anonymize", tmp_path / "t.csv", *flags, *waived, "--out", out, "--no-attacks")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[1].startswith("  WARNING     column 'cost'")
    assert "  kept        mrn, full_name, cost" in lines
    assert [line for line in lines if line.startswith("  WAIVED      mrn: ")]
    answer = run("anonymize", tmp_path / "t.csv", *flags, *waived, "--out", out, "--json")
    assert json.loads(answer.out)["roles"]["mrn"]["waived"]
    answer = run("verify", out, "--qi", "age", "-k", 5)
    assert answer.code == 0
    assert answer.out.splitlines()[1].startswith("  WARNING     column 'mrn'")
    answer = run("anonymize", tmp_path / "t.csv", *flags, "--method", "xk", "--out", out)
    assert answer.code == 2
    answer = run("anonymize", tmp_path / "t.csv", *flags, "--waive", "age", "--out", out)
    assert (answer.code, "only a kept column" in answer.err) == (2, True)
