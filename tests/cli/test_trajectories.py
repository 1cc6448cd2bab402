"""Releases that keep a pseudonym of the person, from the command line."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict

import pytest

from shoal.cli.main import main

pytestmark = pytest.mark.local("trajectories")

WORDS = ["--qi", "age,ward", "--person", "patient", "--release-person", "pseudonym"]
PERSONS = 60


@pytest.fixture
def stays(tmp_path):
    """Sixty patients with one to three stays each, and one with seven."""
    lines = ["patient,age,ward,diagnosis"]
    for i in range(PERSONS):
        for stay in range(7 if i == 0 else 1 + i % 3):
            illness = ("flu", "gout", "asthma")[(i + stay) % 3]
            lines.append(f"patient-{i},{20 + (7 * i + stay) % 40},w{(i + stay) % 4},{illness}")
    place = tmp_path / "stays.csv"
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def answer(capsys, *words):
    code = main([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def trajectories(path):
    found = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["patient"]].append((row["age"], row["ward"]))
    return Counter(tuple(sorted(each)) for each in found.values())


def test_a_release_is_made_verified_and_measured(stays, tmp_path, capsys):
    out = tmp_path / "release.csv"
    limits = ["-k", "3", "--suppression-limit", "0.05"]
    code, made = answer(
        capsys, "anonymize", stays, *WORDS, *limits, "--method", "bestcut", "--out", out
    )
    assert code == 0
    assert min(trajectories(out).values()) >= 3
    assert made["persons"] == PERSONS
    assert made["suppressed"] == 4  # the patient with seven stays releases three
    assert made["trajectories"]["unique_before"] > made["trajectories"]["unique"] == 0
    assert made["roles"]["patient"]["replaced"].startswith("replaced by new numbers")
    assert "patient-" not in out.read_text(encoding="utf-8")
    code, verified = answer(capsys, "verify", out, *WORDS, "-k", "3")
    assert (code, verified["holds"], verified["records"]) == (0, True, made["released"])
    assert verified["smallest_class"] == verified["trajectories"]["smallest"] >= 3
    code, risk = answer(capsys, "risk", out, *WORDS)
    assert (code, risk["trajectories"]) == (0, verified["trajectories"])


def test_a_release_of_records_that_is_linked_again_is_not_safe(stays, tmp_path, capsys):
    out, people = tmp_path / "release.csv", tmp_path / "people.csv"
    plain = ["--qi", "age,ward", "--person", "patient", "-k", "3", "--method", "bestcut"]
    code, _ = answer(capsys, "anonymize", stays, *plain, "--out", out, "--person-file", people)
    assert code == 0
    with out.open() as left, people.open() as right:
        pairs = zip(left.read().splitlines(), right.read().splitlines(), strict=True)
        lines = [f"{one},{two}" for one, two in pairs]
    linked = tmp_path / "linked.csv"
    linked.write_text("\n".join([lines[0].replace("person", "patient"), *lines[1:]]) + "\n")
    code, apart = answer(capsys, "verify", linked, "--qi", "age,ward", "--person", "patient", "-k3")
    assert (code, apart["holds"]) == (0, True)
    assert any("links the records of a person" in text for text in apart["warnings"])
    code, found = answer(capsys, "verify", linked, *WORDS, "-k", "3")
    assert (code, found["holds"]) == (1, False)
    assert found["violating_records"] > 0


def test_what_it_says_in_words(stays, tmp_path, capsys):
    out = tmp_path / "release.csv"
    limits = ["-k", "3", "--suppression-limit", "0.05", "--method", "bestcut"]
    assert main(["anonymize", str(stays), *WORDS, *limits, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "0 of one person alone (before: " in said
    assert "removed" not in [line.split()[0] for line in said.splitlines() if "patient" in line]
    assert main(["risk", str(stays), *WORDS]) == 0
    assert "records that nobody else has" in capsys.readouterr().out


def test_a_gate_looks_at_whole_persons(stays, tmp_path, capsys):
    out = tmp_path / "release.csv"
    limits = ["-k", "4", "--suppression-limit", "0.05", "--method", "bestcut"]
    assert main(["anonymize", str(stays), *WORDS, *limits, "--out", str(out)]) == 0
    assert main(["risk", str(out), *WORDS, "--max-risk", "0.25"]) == 0
    assert main(["risk", str(stays), *WORDS, "--max-risk", "0.25"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--suppression-limit", "0"], "--suppression-limit"),
        (["--person-file", "people.csv"], "says whose a record is"),
        (["--key", "project.key"], "nothing depends on a key"),
        (["--suppressed", "star"], "take remove"),
        (["--partitions", "2"], "takes persons apart"),
        (["--method", "flash"], "take bestcut"),
        (["--method", "mdav"], "take bestcut"),
        (["--pseudonym", "diagnosis", "--fresh"], "links the records of a person"),
        (["--pseudonym", "patient", "--fresh"], "--release-person pseudonym"),
    ],
)
def test_what_cannot_be_promised_is_refused(stays, tmp_path, capsys, more, said):
    out = tmp_path / "release.csv"
    command = ["anonymize", str(stays), *WORDS, "-k", "3", *more, "--out", str(out)]
    assert main(command) in (1, 2)
    assert said in capsys.readouterr().err
    assert not out.exists()
