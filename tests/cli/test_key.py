"""`shoal key`, and what `anonymize` does with keys."""

from __future__ import annotations

import json

import pytest

from shoal.cli.main import main


def write(place):
    rows = "".join(f"P{i},{20 + i % 5},n{i}\n" for i in range(200))
    place.write_text("patient_id,age,name\n" + rows)
    return str(place)


def test_a_key_is_made_once_and_told_apart(tmp_path, capsys):
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert main(["key", one]) == main(["key", two]) == 0
    capsys.readouterr()
    marks = []
    for place in (one, one, two):
        assert main(["key", place, "--fingerprint", "--json"]) == 0
        marks.append(json.loads(capsys.readouterr().out)["fingerprint"])
    assert marks[0] == marks[1] != marks[2]
    assert main(["key", one]) == 2
    assert "never overwritten" in capsys.readouterr().err


@pytest.mark.local("keys do not travel to a cluster")
def test_pseudonyms_masks_and_the_key_on_the_command_line(tmp_path, capsys):
    key, out = str(tmp_path / "key"), tmp_path / "o.csv"
    assert main(["key", key]) == 0
    asked = ["anonymize", write(tmp_path / "t.csv"), "--qi", "age", "-k", "2", "--no-attacks"]
    more = ["--pseudonym", "patient_id", "--mask", "name=first:1", "--key", key]
    assert main([*asked, *more, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "replaced    patient_id: replaced by pseudonyms (HMAC-SHA256" in printed
    assert "name: masked" in printed
    assert out.read_text().startswith("patient_id,age,name\n")
    assert "P1" not in out.read_text()
    assert main([*asked, *more, "--out", key]) == 2
    assert "also an input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--pseudonym", "patient_id"], "--key: needed for 'patient_id'"),
        (["--pseudonym", "age", "--fresh"], "'age' is quasi: only an identifying column"),
        (["--pseudonym", "name", "--mask", "name=first:1", "--fresh"], "in two ways"),
        (["--mask", "name"], "must be such as ssn=last:4"),
        (["--shift", "name"], "needs --shift-by"),
        (["--pseudonym", "name", "--key", "k", "--fresh"], "not both"),
        (["--pseudonym", "nam", "--fresh"], "no such column in the table"),
    ],
)
@pytest.mark.local("keys do not travel to a cluster")
def test_what_cannot_be_meant_is_refused(tmp_path, capsys, more, problem):
    asked = ["anonymize", write(tmp_path / "t.csv"), "--qi", "age", "-k", "2"]
    assert main([*asked, *more, "--out", str(tmp_path / "o.csv")]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "o.csv").exists()
