"""Attacks on persons: what the attacker knows, who is scored, and what is refused."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import person_attacks as naive

from shoal import api
from shoal.cli.main import main
from shoal.core.errors import InputError, MethodError
from shoal.engines.base import Checks
from shoal.jobs.release import release
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.schema.schema import Schema

COLUMNS = {
    "a": {"role": "quasi", "kind": "numeric"},
    "b": {"role": "quasi", "kind": "categorical"},
    "s": {"role": "sensitive", "kind": "categorical"},
    "who": {"role": "person"},
}
SCHEMA = {
    "columns": COLUMNS, "missing": ["?"], "suppression_limit": 1.0,
    "privacy": [{"model": "k-anonymity", "k": 2}],
}  # fmt: skip
RECORD = st.tuples(
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["x", "y"]),
    st.sampled_from(["flu", "hiv", ""]),
    st.sampled_from(["p", "q", "r", "s", "t", "", "?"]),
)


def frame_of(records):
    return pl.DataFrame(records, schema=["a", "b", "s", "who"], orient="row")


def person_of(text):
    return None if text in ("", "?", None) else text


def naive_records(rows, persons):
    return [((row["a"], row["b"]), person_of(who), row["s"] or None)
            for row, who in zip(rows, persons, strict=True)]  # fmt: skip


def made(folder, records, method="mondrian", **checks):
    """Release records to files; return the report, the rows, and who is behind each of them."""
    out, people = folder / "out.csv", folder / "people.csv"
    found = release(
        ReleaseRequest(
            table=frame_of(records), schema=Schema.from_document(SCHEMA),
            method=method_named(method), output=Output(out=out, person_file=people),
            checks=Checks(**checks),
        )
    )  # fmt: skip
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with people.open(newline="") as file:
        who = [line[0] for line in list(csv.reader(file))[1:]]
    return found, rows, who


@settings(max_examples=40, deadline=None)
@given(records=st.lists(RECORD, min_size=2, max_size=14))
def test_table_and_release_are_attacked_by_the_definitions(tmp_path_factory, records):
    folder = tmp_path_factory.mktemp("attack")
    if len({person_of(r[3]) for r in records} - {None}) < 2:
        return
    found, rows, who = made(folder, records, attacks="some")
    alone, linkage, named = found.compared.attacks
    own = naive_records(frame_of(records).to_dicts(), [r[3] for r in records])
    written = naive_records(rows, who)
    for result, table in ((alone.before, own), (alone.after, written)):
        assert result.success == pytest.approx(float(naive.singled_out(table)))
        assert result.targets == len(naive.people(table))
    for result, table in ((named.before, own), (named.after, written)):
        right, guess = naive.named(table)
        assert result.success == pytest.approx(float(right))
        assert result.baseline == pytest.approx(float(guess))
    assert alone.after.success == 0.0  # two persons in every class
    assert linkage.before.targets == len(naive.people(own))
    again = api.attack(
        frame_of(records), folder / "out.csv", SCHEMA, person_file=folder / "people.csv"
    )
    assert [each.to_document() for each in again] == [
        each.to_document() for each in found.compared.attacks
    ]


def stays():
    """Return stays of ten patients, each of whom has all stays with the same values."""
    return [
        (str(1 + i % 5), "xy"[i % 2], ["flu", "hiv"][i % 3 == 0], f"p{i % 10}")
        for i in range(40)
    ]  # fmt: skip


def test_a_known_record_finds_the_share_of_their_records_that_fit(tmp_path):
    found, rows, who = made(tmp_path, stays(), method="bestcut", attacks="some")
    _, linkage, _ = found.compared.attacks
    own = naive_records(frame_of(stays()).to_dicts(), [r[3] for r in stays()])
    targets = sorted({(person, name) for name, person, _ in own})
    assert linkage.before.success == pytest.approx(
        float(naive.linked(own, targets, lambda known, name: known == name))
    )

    def covers(known, name):
        low, _, high = name[0].strip("[]").replace("–", ", ").partition(", ")
        return int(low) <= int(known[0]) <= int(high or low) and name[1] in (known[1], "*")

    written = naive_records(rows, who)
    assert linkage.after.success == pytest.approx(float(naive.linked(written, targets, covers)))
    assert linkage.after.baseline == 0.1


def test_who_asks_for_every_attack_is_told_which_are_left_out(tmp_path):
    found, _, _ = made(tmp_path, stays(), attacks="all")
    assert len(found.compared.attacks) == 3
    assert any("left out" in notice for notice in found.report.notices)


def test_the_command_line_attacks_with_a_person_file(tmp_path, capsys):
    table = tmp_path / "t.csv"
    frame_of(stays()).write_csv(table)
    made(tmp_path, stays())
    words = ["risk", str(table), "--qi", "a,b", "--sensitive", "s", "--person", "who",
             "--release", str(tmp_path / "out.csv")]  # fmt: skip
    people = ["--person-file", str(tmp_path / "people.csv")]
    assert main([*words, *people, "--attacks", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    names = ["singling out", "linkage", "homogeneity"]
    assert [each["attack"] for each in said["attacks"]][:3] == names
    assert "values that labels print" in {each["attack"] for each in said["attacks"]}
    assert said["attacks"][0]["after"]["targets"] == 10
    assert any("left out" in notice for notice in said["notices"])
    assert main(words) == 2
    assert "--person-file" in capsys.readouterr().err
    assert main([*words[:4], *people]) == 2
    assert "--release" in capsys.readouterr().err


def test_what_attacks_on_persons_cannot_be_asked_is_refused(tmp_path):
    _, rows, _ = made(tmp_path, stays())
    people, table = tmp_path / "people.csv", frame_of(stays())
    out = tmp_path / "out.csv"
    with pytest.raises(MethodError, match="leave the key out"):
        api.attack(table, out, SCHEMA, person_file=people, register=table, key="who")
    with pytest.raises(MethodError, match="goes with --person"):
        api.attack(table, out, qi=["a", "b"], person_file=people)
    linked = {**SCHEMA, "columns": {**COLUMNS, "who": {"role": "person", "release": "pseudonym"}}}
    with pytest.raises(MethodError, match="links all of them"):
        api.attack(table, out, linked)
    short = tmp_path / "short.csv"
    short.write_text("person\np1\n")
    with pytest.raises(InputError, match=f"1 lines for {len(rows)} records"):
        api.attack(table, out, SCHEMA, person_file=short)
    nobody = tmp_path / "nobody.csv"
    nobody.write_text("person\n" + '""\n' * len(rows))
    with pytest.raises(InputError, match="no record says who"):
        api.attack(table, out, SCHEMA, person_file=nobody)
