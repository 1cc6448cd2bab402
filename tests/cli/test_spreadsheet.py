"""--spreadsheet-safe: no cell of a release is a formula, and the release verifies as written."""

from __future__ import annotations

import csv
import json
import random

import pytest
from tests.conftest import call, start

NOTES = ['=HYPERLINK("x")', "+49 30 1", "-", "@sum", "plain", "-3.5", "'=1", "\tx"]
RHESUS = ["+", "-", "unknown"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheet")
    rng = random.Random(4)
    with (folder / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["degrees", "group", "rhesus", "note"])
        for _ in range(300):
            writer.writerow([rng.randrange(-40, 0), rng.choice(["-a", "=b", "c"]),
                             rng.choice(RHESUS), rng.choice(NOTES)])  # fmt: skip
    (folder / "s.yaml").write_text(
        "columns:\n"
        "  degrees: {role: quasi, kind: numeric}\n"
        "  group: {role: quasi, kind: categorical}\n"
        "  rhesus: {role: sensitive, kind: ordinal, order: ['-', unknown, '+']}\n"
        "  note: neutral\n"
        "privacy:\n"
        "  - {model: k-anonymity, k: 5}\n"
        "  - {model: l-diversity, l: 2, column: rhesus}\n"
        "  - {model: t-closeness, t: 0.4, distance: ordered, column: rhesus}\n"
    )
    return folder


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def assert_no_formula(found):
    begins = [cell for row in found for cell in row.values() if cell[:1] in tuple("=+-@\t\r\n")]
    assert all(is_number(cell) for cell in begins if cell), begins


@pytest.mark.parametrize("more", [(), ("--keep-order",), ("--method", "mondrian")])
@pytest.mark.local("--keep-order")
def test_a_release_has_no_formula_and_verifies_as_it_is_written(files, tmp_path, more):
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.csv"
    command = ("anonymize", files / "t.csv", "--schema", files / "s.yaml", "--waive", "note")
    assert call(*command, "--out", plain, "--quiet", *more).code == 0
    answer = call(*command, "--out", safe, "--json", "--attacks", "--spreadsheet-safe", *more)
    assert answer.code == 0, answer.err
    found = rows(safe)
    assert_no_formula(found)
    assert {row["rhesus"] for row in found} == {"'+", "'-", "unknown"}
    assert '\'=HYPERLINK("x")' in {row["note"] for row in found}
    assert "-3.5" in {row["note"] for row in found}
    assert {row["group"] for row in found} & {"'-a", "'=b"}  # labels of quasi-identifiers

    def judged(path):
        return json.loads(call("verify", path, "--schema", files / "s.yaml", "--json").out)

    assert judged(safe)["privacy"] == judged(plain)["privacy"]
    assert all(result["holds"] for result in judged(safe)["privacy"])

    def measured(path):
        made = call("metrics", files / "t.csv", path, "--schema", files / "s.yaml", "--json")
        assert made.code == 0, made.err
        return json.loads(made.out)

    assert measured(safe) == measured(plain)
    again = call(*command, "--out", plain, "--json", "--attacks", *more)
    assert json.loads(again.out)["attacks"] == json.loads(answer.out)["attacks"]


def test_it_is_off_for_csv_unless_asked_for(files, tmp_path):
    out = tmp_path / "o.csv"
    call("anonymize", files / "t.csv", "--schema", files / "s.yaml", "--waive", "note",
         "--out", out, "--quiet")  # fmt: skip
    assert {row["rhesus"] for row in rows(out)} == set(RHESUS)


def test_it_goes_with_csv_output_only(files, tmp_path):
    answer = call("anonymize", files / "t.csv", "--schema", files / "s.yaml", "--waive", "note",
                  "--out", tmp_path / "o.parquet", "--spreadsheet-safe")  # fmt: skip
    assert answer.code == 2
    assert "--spreadsheet-safe goes with CSV output" in answer.err


@pytest.mark.parametrize("more", [(), ("--safe",)])
def test_encode_has_no_formula_and_verifies(files, tmp_path, more):
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    made = call("learn", files / "t.csv", "--schema", files / "s.yaml", "--waive", "note",
                "--model", model, "--quiet")  # fmt: skip
    assert made.code == 0, made.err
    answer = call("encode", model, files / "t.csv", "--out", out, "--spreadsheet-safe", "--quiet",
                  *more)  # fmt: skip
    assert answer.code == 0, answer.err
    assert_no_formula(rows(out))
    if more:
        assert call("verify", out, "--schema", files / "s.yaml").code == 0


@pytest.mark.local("a stream")
def test_a_stream_of_csv_has_no_formula(files, tmp_path):
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    call("learn", files / "t.csv", "--schema", files / "s.yaml", "--waive", "note",
         "--model", model, "--quiet")  # fmt: skip
    with (files / "t.csv").open() as given, out.open("w") as goal:
        process = start("encode", model, "-", "--spreadsheet-safe", stdin=given, stdout=goal)
        assert process.wait(60) == 0, process.stderr.read()
    assert_no_formula(rows(out))
    assert len(rows(out)) == 300


@pytest.mark.local("--method xk")
def test_xk_has_no_formula(files, tmp_path):
    out = tmp_path / "o.csv"
    answer = call("anonymize", files / "t.csv", "--qi", "group", "--sensitive", "rhesus", "-k", 5,
                  "--method", "xk", "--out", out, "--spreadsheet-safe", "--quiet")  # fmt: skip
    assert answer.code == 0, answer.err
    assert_no_formula(rows(out))
    assert call("verify", out, "--qi", "group", "-k", 5).code == 0
