from __future__ import annotations

import os
import stat
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import call

import shoal
from shoal import api
from shoal.core.errors import InputError
from shoal.engines.local.source import open_source
from shoal.formats import csv_file
from shoal.formats.csv_check import check_csv
from shoal.formats.csv_file import CsvFile, lines_above, plain_copy

pytestmark = pytest.mark.local("Spark reads UTF-8; see the last test")

BODY = "größe;straße\n" + "180;Königsweg\n175;Am Dölzig\n" * 3
FLAGS = ("--qi", "größe", "--neutral", "straße", "--waive", "straße", "-k", "3")
ENCODINGS = ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"]


def released(place: Path, *more: str) -> pl.DataFrame:
    out = place.with_name("release.csv")
    answer = call("anonymize", str(place), *FLAGS, "--out", str(out), "--quiet", *more)
    assert answer.code == 0, answer.err
    return pl.read_csv(out, separator=";", infer_schema=False)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("above", [0, 3])
def test_a_file_in_another_encoding_is_released_as_utf_8(
    tmp_path: Path, encoding: str, above: int
) -> None:
    place = tmp_path / "t.csv"
    lines = "Übersicht\n\nStand; 1.1.2024; Seite 1\n" if above else ""
    place.write_bytes((lines + BODY).encode(encoding))
    found = released(place, "--encoding", encoding, "--skip-lines", str(above))
    assert found.columns == ["größe", "straße"]
    assert sorted(set(found["straße"])) == ["Am Dölzig", "Königsweg"]
    assert found.height == 6


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_names_the_encoding(tmp_path: Path, encoding: str) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(BODY.encode(encoding))
    assert released(place).height == 6
    answer = call("verify", str(place), "--qi", "größe", "-k", "3")
    assert answer.code == 0, answer.err


def test_bytes_that_are_not_utf_8_are_refused_with_the_encoding_that_fits(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(BODY.encode("cp1252"))
    for command in (("anonymize", "--out", str(tmp_path / "r.csv")), ("verify",), ("risk",)):
        flags = FLAGS if command[0] == "anonymize" else ("--qi", "größe")
        more = ("-k", "2") if command[0] == "verify" else ()
        answer = call(command[0], str(place), *command[1:], *flags, *more)
        assert answer.code == 2
        assert "cp1252 would fit: say --encoding cp1252" in answer.err
    answer = call("verify", str(place), "--qi", "größe", "-k", "2", "--encoding", "utf-8")
    assert answer.code == 2


def test_an_encoding_that_does_not_fit_or_is_none_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(b"a;b\n1;\x81\n")
    with pytest.raises(InputError, match="do not fit --encoding cp1252"):
        open_source(CsvFile(place, encoding="cp1252"))
    for name in ("no-such", "rot13", "base64"):
        with pytest.raises(InputError, match="no such encoding"):
            CsvFile(place, encoding=name)
    with pytest.raises(InputError, match="latin-1 would fit"):
        open_source(CsvFile(place, skip_lines=1))
    place.write_bytes(b"a;b\n1;2\n")
    with pytest.raises(InputError, match="fewer lines"):
        open_source(CsvFile(place, skip_lines=3))
    with pytest.raises(InputError, match="0 or more"):
        CsvFile(place, skip_lines=-1)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="only CSV files"):
        open_source(CsvFile(tmp_path / "t.parquet", encoding="cp1252"))


@pytest.mark.parametrize(("text", "lines"), [
    ("a,b\n1,2\n", 0),
    ("Report\n\na,b\n1,2\n3,4\n", 2),
    ("Report;;\n;;\na;b;c\n1;2;3\n", 2),
    ("Made 2024, by us\nWard, 7\na;b;c\n1,5;2;3\n1;2;3\n", 2),
    ('x;y\n"one\ntwo";2\n3;4\n', 0),
    ("a\n1\n2\n", 0),
    ("", 0),
])  # fmt: skip
def test_lines_above_the_header_are_found(text: str, lines: int) -> None:
    assert lines_above(text) == lines


def test_lines_above_the_header_are_found_by_infer_and_said(tmp_path: Path) -> None:
    place, schema = tmp_path / "t.csv", tmp_path / "s.yaml"
    place.write_bytes(("Übersicht\n\n" + BODY).encode("cp1252"))
    found = api.infer(place)
    assert list(found.to_document()["columns"]) == ["größe", "straße"]
    assert found.to_document()["input"] == {"encoding": "cp1252", "skip_lines": 2}
    answer = call("infer", str(place), "--out", str(schema))
    assert "--encoding cp1252 --skip-lines 2" in answer.out
    assert released(place, "--encoding", "cp1252", "--skip-lines", "2").height == 6
    assert api.infer(pl.DataFrame({"a": [1]})).read_as is None


def test_a_table_below_other_lines_is_refused_with_the_way_out(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("Report, 2024\nage,sex,ill\n3,f,x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2.*--skip-lines N"):
        open_source(place)
    place.write_text("Report\nage,sex\n3,f\n3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 4: has fewer fields"):
        open_source(CsvFile(place, skip_lines=1))


def test_a_name_that_stands_twice_in_the_header_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("age,sex,age\n1,f,2\n", encoding="utf-8")
    asked = [("anonymize", "--out", str(tmp_path / "r.csv"), "-k", "2"), ("verify", "-k", "2")]
    for command, *more in (*asked, ("risk",)):
        answer = call(command, str(place), "--qi", "sex", *more)
        assert answer.code == 2
        assert "the header names 'age' twice" in answer.err
    assert call("infer", str(place)).code == 2


@pytest.mark.parametrize("text", [
    "a;b,c\n1;2\n3;4\n",  # as many commas as semicolons in the header
    "a, b;c, d;e\n1;2;3\n4,5;5,5;6\n",
    'a;"b,c,d"\n1;2\n',
])  # fmt: skip
def test_the_separator_is_the_one_that_every_line_has(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert open_source(tmp_path / "t.csv").separator == ";"


def test_the_copy_is_private_and_gone_with_its_keeper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "t.csv").write_bytes(BODY.encode("utf-16"))
    found = plain_copy(CsvFile(tmp_path / "t.csv"))
    assert found is not None
    place, keeper = found
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    if csv_file._OPEN_FILES.is_dir():
        assert not os.listdir(tmp_path / "tmp")  # no name: a kill leaves nothing
    monkeypatch.setattr(csv_file, "_OPEN_FILES", tmp_path / "none")
    found = plain_copy(CsvFile(tmp_path / "t.csv"))
    assert found is not None
    assert stat.S_IMODE(found[0].stat().st_mode) == 0o600
    assert found[0].read_text(encoding="utf-8") == BODY
    place = found[0]
    del keeper, found
    assert not place.exists()


def test_the_input_is_not_overwritten_whatever_its_encoding(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(BODY.encode("cp1252"))
    answer = call("anonymize", str(place), *FLAGS, "--encoding", "cp1252", "--out", str(place))
    assert answer.code == 2
    assert place.read_bytes() == BODY.encode("cp1252")


def test_a_model_is_learned_from_and_encodes_such_files(tmp_path: Path) -> None:
    place, model, out = (tmp_path / name for name in ("t.csv", "m.json", "o.csv"))
    place.write_bytes(("Titel\n" + BODY).encode("cp1252"))
    how = ("--encoding", "cp1252", "--skip-lines", "1")
    answer = call("learn", str(place), *FLAGS, "--model", str(model), *how)
    assert answer.code == 0, answer.err
    answer = call("encode", str(model), str(place), "--out", str(out), *how)
    assert answer.code == 0, answer.err
    assert pl.read_csv(out, separator=";")["straße"].n_unique() == 2
    answer = call("metrics", str(place), str(out), "--qi", "größe", *how)
    assert answer.code == 0, answer.err
    answer = call("encode", str(model), "-", *how)
    assert answer.code == 2


def test_spark_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(BODY.encode("cp1252"))
    how = ("--encoding", "cp1252", "--engine", "spark")
    answer = call("verify", str(place), "--qi", "größe", "-k", "2", *how)
    assert answer.code == 2
    assert "need the local engine" in answer.err
    place.write_bytes(BODY.encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16 text; save it as UTF-8"):
        check_csv(place)


def test_the_public_name() -> None:
    assert shoal.CsvFile is CsvFile


@pytest.mark.parametrize("text", ["a,a,b\n1,2,3\n4,5,6\n", "a;a\n1;2\n3;4\n"])
def test_a_doubled_name_is_no_line_above_the_table(tmp_path: Path, text: str) -> None:
    assert lines_above(text) == 0
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match="twice"):
        api.infer(tmp_path / "t.csv")
