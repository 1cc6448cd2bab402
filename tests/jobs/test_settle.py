"""The collector's files: all or nothing, whatever was sent, whenever it is killed."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter

import pytest
from tests.golden.generate import table
from tests.methods.test_cut_tree import made

from shoal import edge
from shoal.core.errors import InputError, NoSolutionError, OutputError, PrivacyError
from shoal.jobs.settle import SettleRequest, drift_of_encoded, read_records, settle_files
from shoal.privacy import KAnonymity

_, MODEL = made(4)
ENCODER = edge.load(MODEL)
PEOPLE = table().to_dicts()


def sent(place, first, last):
    """Write what devices sent of some people; a note tells them apart."""
    rows = [{**ENCODER.encode(PEOPLE[i]), "note": i} for i in range(first, last)]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def notes(place):
    """Return the notes of a file of JSON lines."""
    if not place.exists():
        return []
    return [json.loads(line)["note"] for line in place.read_text(encoding="utf-8").splitlines()]


def asked(folder, name="sent.jsonl", **words):
    return SettleRequest(
        **{"model": MODEL, "encoded": [folder / name], "out": folder / "batch.jsonl", **words}
    )


def test_a_batch_of_several_files_is_sorted_and_whole(tmp_path):
    places = [sent(tmp_path / f"{i}.jsonl", 100 * i, 100 * i + 100) for i in range(3)]
    found = settle_files(asked(tmp_path, encoded=places))
    out = (tmp_path / "batch.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(out) == found["released"] == 300 - found["suppressed"]
    rows = [[str(value) for value in json.loads(line).values()] for line in out]
    assert rows == sorted(rows)
    settle_files(asked(tmp_path, encoded=places[::-1], out=tmp_path / "again.jsonl"))
    assert (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines() == out


def test_csv_and_lines_of_json_say_the_same(tmp_path):
    place = sent(tmp_path / "sent.jsonl", 0, 200)
    rows = list(read_records(place))
    with (tmp_path / "sent.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    settle_files(asked(tmp_path, out=tmp_path / "a.csv"))
    settle_files(asked(tmp_path, "sent.csv", out=tmp_path / "b.csv"))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_records_wait_once_and_are_released_once(tmp_path):
    waiting = tmp_path / "waiting.jsonl"
    released = []
    for day in range(4):
        sent(tmp_path / "sent.jsonl", 100 * day, 100 * day + 100)
        out = tmp_path / f"day{day}.jsonl"
        found = settle_files(asked(tmp_path, waiting=waiting, out=out))
        released += notes(out)
        assert len(notes(waiting)) == found["waiting"]
        assert not set(notes(waiting)) & set(released)
        sizes = Counter(tuple(row[n] for n in ENCODER.names) for row in read_records(out))
        assert min(sizes.values(), default=4) >= 4
    assert len(released) == len(set(released))
    assert waiting.stat().st_mode & 0o077 == 0
    assert len(released) + len(notes(waiting)) <= 400


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no record"),
        ("\n\n", "there is no record"),
        ("a,b\n", "there is no record"),
        ('{"age": "1"}\n[]\n', "line 2 is not one JSON object"),
        ('{"age": "1"}\n\n{"age"\n', "line 3 is not one JSON object"),
        ('{"age": "1"}\n7\n', "line 2 is not one JSON object"),
        ("{" + '"a":[' * 100_000 + "\n", "line 1 is not one JSON object"),
    ],
)
def test_what_is_no_file_of_records_is_refused_and_nothing_is_written(tmp_path, text, problem):
    (tmp_path / "sent.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        settle_files(asked(tmp_path))
    assert not (tmp_path / "batch.jsonl").exists()


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        settle_files(asked(tmp_path))
    (tmp_path / "sent.jsonl").write_bytes(b'{"age": "\xff"}\n')
    with pytest.raises(InputError, match="not utf-8"):
        settle_files(asked(tmp_path))


def test_an_input_is_not_overwritten(tmp_path):
    place = sent(tmp_path / "sent.jsonl", 0, 50)
    before = place.read_bytes()
    with pytest.raises(OutputError):
        settle_files(asked(tmp_path, out=place))
    with pytest.raises(OutputError):
        settle_files(asked(tmp_path, waiting=place, out=tmp_path / "b.jsonl"))
    assert place.read_bytes() == before


def test_too_few_are_no_batch_and_may_wait(tmp_path):
    sent(tmp_path / "sent.jsonl", 0, 3)
    with pytest.raises(NoSolutionError):
        settle_files(asked(tmp_path))
    found = settle_files(asked(tmp_path, waiting=tmp_path / "waiting.jsonl"))
    assert not (tmp_path / "batch.jsonl").exists()
    assert sorted(notes(tmp_path / "waiting.jsonl")) == [0, 1, 2]
    assert found["verification"] is None


def test_less_than_the_model_promises_is_refused_before_anything_is_written(tmp_path):
    sent(tmp_path / "sent.jsonl", 0, 100)
    with pytest.raises(PrivacyError):
        settle_files(asked(tmp_path, privacy=(KAnonymity(2),)))
    assert not (tmp_path / "batch.jsonl").exists()


def test_drift_of_files(tmp_path):
    place = tmp_path / "m.json"
    place.write_text(MODEL.to_json(), encoding="utf-8")
    chance = random.Random(1)
    some = [ENCODER.encode(chance.choice(PEOPLE)) for _ in range(400)]
    usual = tmp_path / "usual.jsonl"
    usual.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    assert not drift_of_encoded(place, [usual]).learn_again
    other = tmp_path / "other.jsonl"
    other.write_text((json.dumps(some[0]) + "\n") * 400, encoding="utf-8")
    assert drift_of_encoded(place, [other]).learn_again
    with pytest.raises(InputError):
        drift_of_encoded(place, [tmp_path / "none.jsonl"])
