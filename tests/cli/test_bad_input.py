"""Bad input, one test each: one line that says where, what and how to go on, and nothing left."""

from __future__ import annotations

import gzip
import json
import random
import re
import resource
import signal
import stat
import time
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from tests.conftest import call, peak_memory, start
from tests.on_spark import ARROW

# Every cell below is a word or a number that no message of ours would use by itself.
GOOD = "age,zip,dx\n741,Zqaa,Zqflu\n742,Zqaa,Zqhiv\n743,Zqbb,Zqflu\n744,Zqbb,Zqhiv\n"
FLAGS = ("--qi", "age,zip", "--numeric", "age", "--sensitive", "dx")
GO_ON = re.compile(
    r"\b(add|ask|bring|check|choose|close|create|declare|end|export|fill|free|give|install|keep|"
    r"let|make|mend|must be|name|pair|put|remove|rename|repair|save|see|try|use|write)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module", autouse=True)
def _compiled(tmp_path_factory):
    """Compile the kernels first, so that no message about it joins the line under test."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "t.csv").write_text(GOOD)
    call("anonymize", folder / "t.csv", *FLAGS, "-k", 2, "--out", folder / "o.csv", "--quiet")


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def cells_of(text):
    return {cell for cell in re.split(r"[,;\n\r\"]+", text) if len(cell.strip()) >= 3}


def assert_refusal(answer, *words, code=2, secret="", go_on=True):
    assert answer.code == code, answer
    assert answer.out == ""
    assert answer.err.endswith("\n")
    assert answer.err.count("\n") == 1, f"not one line: {answer.err!r}"
    assert answer.err.startswith("shoal: ")
    for word in words:
        assert word in answer.err, f"{word!r} is not in {answer.err!r}"
    text = re.sub(r"/\S*/", "", answer.err)  # folders of the test, which are named after it
    assert GO_ON.search(text) or not go_on, f"does not say how to go on: {text!r}"
    leaked = [cell for cell in cells_of(secret.partition("\n")[2]) if cell.strip() in text]
    assert not leaked, f"the message shows {len(leaked)} values of the data"


def refuse(
    folder, content, *words, code=2, flags=FLAGS, promise=("-k", "2"), name="t.csv", go_on=True
):
    """Anonymize a bad table; expect a refusal and an untouched folder."""
    table = folder / name
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = snapshot(folder)
    out = folder / "release.csv"
    answer = call("anonymize", table, *flags, *promise, "--out", out, "--quiet")
    secret = content.decode("latin-1") if isinstance(content, bytes) else content
    assert_refusal(answer, *words, code=code, secret=secret, go_on=go_on)
    assert snapshot(folder) == before, "something was left behind"
    return answer


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_empty_file(tmp_path, text):
    refuse(tmp_path, text, "t.csv", "empty")


@pytest.mark.parametrize("text", ["age,zip,dx\n", "age,zip,dx", "age,zip,dx\n\n\n"])
def test_header_only(tmp_path, text):
    refuse(tmp_path, text, "t.csv", "no record")


def test_one_row_cannot_be_2_anonymous(tmp_path):
    refuse(tmp_path, "age,zip,dx\n741,Zqaa,Zqflu\n", "k=2", code=1)


def test_one_row_is_1_anonymous(tmp_path, run):
    (tmp_path / "t.csv").write_text("age,zip,dx\n741,Zqaa,Zqflu\n")
    out = tmp_path / "o.csv"
    assert run("anonymize", tmp_path / "t.csv", *FLAGS, "-k", 1, "--out", out).code == 0
    assert out.read_text() == "age,zip,dx\n741,Zqaa,Zqflu\n"


@pytest.mark.parametrize("k", ["0", "-3"])
def test_k_below_1(tmp_path, k):
    refuse(tmp_path, GOOD, "k-anonymity", "at least 1", promise=("-k", k))


@pytest.mark.parametrize("k", ["abc", "2.5", ""])
def test_k_that_is_no_number(tmp_path, k):
    refuse(tmp_path, GOOD, "-k", promise=("-k", k))


def test_k_above_the_number_of_records(tmp_path):
    refuse(tmp_path, GOOD, "k=5", "4", code=1, promise=("-k", "5"))


def test_l_without_a_sensitive_column(tmp_path):
    flags = ("--qi", "age,zip", "--numeric", "age")
    refuse(tmp_path, GOOD, "sensitive", flags=flags, promise=("-k", "2", "--l", "2"))


def test_l_above_the_number_of_values(tmp_path):
    refuse(tmp_path, GOOD, "l=3", code=1, promise=("-k", "2", "--l", "3"))


def test_no_promise_at_all(tmp_path):
    refuse(tmp_path, GOOD, "-k", promise=())


def test_unknown_column(tmp_path):
    refuse(tmp_path, GOOD, "t.csv", "'nosuch'", flags=("--qi", "age,nosuch"))


def test_a_column_with_two_roles(tmp_path):
    refuse(tmp_path, GOOD, "'age'", flags=("--qi", "age,zip", "--sensitive", "age"), go_on=False)


def test_duplicate_header(tmp_path):
    refuse(tmp_path, "age,zip,age,dx\n741,Zqaa,742,Zqflu\n", "t.csv", "'age'", "twice")


def test_header_without_a_name(tmp_path):
    refuse(tmp_path, "age,zip,,dx\n741,Zqaa,742,Zqflu\n", "t.csv", "no name")


def test_short_row(tmp_path):
    refuse(tmp_path, GOOD + "745,Zqcc\n", "t.csv", "line 6", "fewer fields")


def test_long_row(tmp_path):
    refuse(tmp_path, GOOD + "745,Zqcc,Zqflu,Zqmore\n", "t.csv", "line 6", "more fields")


def test_blank_line_between_records(tmp_path):
    refuse(tmp_path, GOOD + "\n745,Zqcc,Zqflu\n", "t.csv", "line 6", "blank")


@pytest.mark.parametrize(
    "tail", [b"745,Zq\xfcmlaut,Zqflu\n", b"745,Zqaa,Zqcut\xc3"], ids=["inside", "cut off"]
)
def test_invalid_utf_8(tmp_path, tail):
    refuse(tmp_path, GOOD.encode() + tail, "t.csv", "UTF-8")


def test_utf_16(tmp_path):
    """With its mark it is read; without it the message says how."""
    refuse(tmp_path, GOOD.encode("utf-16-le"), "t.csv", "--encoding utf-16-le", go_on=False)


def test_invalid_utf_8_is_seen_by_verify_too(tmp_path, run):
    (tmp_path / "t.csv").write_bytes(b"age,zip\n741,Zq\xff\n741,Zq\xff\n")
    answer = run("verify", tmp_path / "t.csv", "--qi", "age,zip", "-k", 2)
    assert_refusal(answer, "t.csv", "UTF-8")


@pytest.mark.parametrize("header", [b"age,zip,dx", b'"age","zip","dx"'])
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, run, header):
    body = GOOD.split("\n", 1)[1].encode()
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + header + b"\n" + body)
    out = tmp_path / "o.csv"
    assert run("anonymize", tmp_path / "t.csv", *FLAGS, "-k", 2, "--out", out).code == 0
    assert out.read_bytes().startswith(b"age,zip,dx\n")
    (tmp_path / "plain.csv").write_text(GOOD)
    plain = tmp_path / "p.csv"
    run("anonymize", tmp_path / "plain.csv", *FLAGS, "-k", 2, "--out", plain)
    assert plain.read_bytes() == out.read_bytes()


def test_quotes_and_separators_inside_values_come_through(tmp_path, run):
    import csv

    notes = ["a,b", 'say "hi"', "two\nlines", "x;y", " spaces ", "c\rd", "\u2028", "'", "a\tb", "#"]
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "zip", "note, or what"])
        writer.writerows([741, "Z,q" if i % 2 else 'Z"q', note] for i, note in enumerate(notes))
    schema = tmp_path / "s.json"
    columns = {"age": "quasi", "zip": "quasi", "note, or what": "neutral"}
    schema.write_text(json.dumps({"columns": columns}))
    assert run("anonymize", table, "--schema", schema, "-k", 2, "--out", out).code == 0
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    assert rows[0] == ["age", "zip", "note, or what"]
    assert sorted(row[2] for row in rows[1:]) == sorted(notes)
    assert {row[1] for row in rows[1:]} == {"Z,q", 'Z"q'}


@pytest.mark.parametrize("tail", ['745,Zq"cc,Zqflu\n', '745,"Zqcc,Zqflu\n', '745,"Zq"cc,Zqflu\n'])
def test_stray_and_open_quotes(tmp_path, tail):
    refuse(tmp_path, GOOD + tail, "t.csv", "quote")


def test_numbers_written_with_spaces_are_numbers(tmp_path, run):
    (tmp_path / "t.csv").write_text("age,zip\n 741,Zqaa\n741 ,Zqaa\n  742  ,Zqaa\n742,Zqaa\n")
    out = tmp_path / "o.csv"
    flags = ("--qi", "age,zip", "--numeric", "age")
    assert run("anonymize", tmp_path / "t.csv", *flags, "-k", 2, "--out", out).code == 0
    assert out.read_text() == "age,zip\n741,Zqaa\n741,Zqaa\n742,Zqaa\n742,Zqaa\n"


@pytest.mark.parametrize("odd", ["Zqseven", "7 41", '"7,410"', "0x2e5", "741_0", "nan", "inf"])
def test_mixed_types_in_a_numeric_column(tmp_path, odd):
    refuse(tmp_path, GOOD + f"{odd},Zqaa,Zqflu\n", "'age'", "1 of 5", "not numbers")


def test_mixed_types_in_a_date_column(tmp_path):
    text = "age,zip,dx\n2024-02-30,Zqaa,Zqflu\n2024-02-28,Zqaa,Zqflu\n"
    refuse(tmp_path, text, "'age'", "1 of 2", flags=("--qi", "age,zip", "--date", "age"))


@pytest.mark.parametrize("kind", ["--numeric", "--categorical", "--date"])
def test_an_all_null_column_is_one_value(tmp_path, run, kind):
    (tmp_path / "t.csv").write_text("age,zip\n,Zqaa\n,Zqaa\n,Zqbb\n,Zqbb\n")
    out = tmp_path / "o.csv"
    answer = run(
        "anonymize", tmp_path / "t.csv", "--qi", "age,zip", kind, "age", "-k", 2, "--out", out,
        "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["classes"] == 2
    assert out.read_text() == "age,zip\n,Zqaa\n,Zqaa\n,Zqbb\n,Zqbb\n"


@pytest.mark.parametrize("kind", ["parquet", "jsonl", ARROW])
def test_an_all_null_column_of_a_typed_file(tmp_path, run, kind):
    frame = pl.DataFrame({"age": [None] * 4, "zip": ["Zqaa", "Zqaa", "Zqbb", "Zqbb"]})
    table, out = tmp_path / f"t.{kind}", tmp_path / "o.csv"
    {"parquet": frame.write_parquet, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}[kind](
        table
    )
    answer = run("anonymize", table, "--qi", "age,zip", "-k", 2, "--out", out)
    assert answer.code == 0, answer.err


def hierarchy_folder(folder, text, column="zip"):
    place = folder / "trees"
    place.mkdir()
    (place / f"hierarchy_{column}.csv").write_text(text)
    return ("--hierarchies", str(place))


def test_a_value_missing_from_its_hierarchy(tmp_path):
    flags = hierarchy_folder(tmp_path, "Zqaa;Zqtop\nZqcc;Zqtop\n")
    refuse(tmp_path, GOOD, "'zip'", "1 of 2", "hierarchy", flags=(*FLAGS, *flags))


def test_a_hierarchy_file_with_a_cycle(tmp_path):
    flags = hierarchy_folder(tmp_path, "Zqaa;Zqbb;Zqtop\nZqbb;Zqaa;Zqtop\n")
    answer = refuse(tmp_path, GOOD, "hierarchy_zip.csv", flags=(*FLAGS, *flags))
    assert re.search(r"level \d|cycle", answer.err)


def test_a_hierarchy_tree_with_a_cycle(tmp_path):
    (tmp_path / "s.json").write_text(
        json.dumps({"columns": {"age": "quasi", "dx": "sensitive",
            "zip": {"role": "quasi", "hierarchy": {"tree": {"Zqr": {"Zqaa": {"Zqr": None}}}}}}})
    )  # fmt: skip
    refuse(tmp_path, GOOD, "'zip'", flags=("--schema", str(tmp_path / "s.json")))


def test_a_hierarchy_with_two_roots(tmp_path):
    flags = hierarchy_folder(tmp_path, "Zqaa;Zqtop\nZqbb;Zqtip\n")
    refuse(tmp_path, GOOD, "hierarchy_zip.csv", "root", flags=(*FLAGS, *flags))


def test_an_empty_hierarchy_file(tmp_path):
    flags = hierarchy_folder(tmp_path, "")
    refuse(tmp_path, GOOD, "hierarchy_zip.csv", flags=(*FLAGS, *flags))


def out_to(folder, out, *more):
    table = folder / "t.csv"
    table.write_text(GOOD)
    before = snapshot(folder)
    answer = call("anonymize", table, *FLAGS, "-k", 2, "--out", out, *more, "--quiet")
    return answer, before


@pytest.mark.parametrize("place", ["t.csv/o.csv", "nosuch/o.csv"])
def test_an_unwritable_folder(tmp_path, place):
    answer, before = out_to(tmp_path, tmp_path / place)
    assert_refusal(answer, place, secret=GOOD)
    assert snapshot(tmp_path) == before


def test_an_output_that_is_a_folder(tmp_path):
    (tmp_path / "o.csv").mkdir()
    answer, before = out_to(tmp_path, tmp_path / "o.csv")
    assert_refusal(answer, "o.csv", "folder", secret=GOOD)
    assert snapshot(tmp_path) == before


def test_an_output_with_an_unknown_ending(tmp_path):
    answer, before = out_to(tmp_path, tmp_path / "o.docx")
    assert_refusal(answer, "o.docx", secret=GOOD, go_on=False)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("how", ["same", "dotted", "symlink", "hardlink"])
def test_an_output_that_is_the_input(tmp_path, how):
    (tmp_path / "t.csv").write_text(GOOD)
    out = {"same": tmp_path / "t.csv", "dotted": tmp_path / "." / "x" / ".." / "t.csv"}.get(
        how, tmp_path / "o.csv"
    )
    (tmp_path / "x").mkdir()
    if how == "symlink":
        out.symlink_to(tmp_path / "t.csv")
    if how == "hardlink":
        out.hardlink_to(tmp_path / "t.csv")
    answer, before = out_to(tmp_path, out)
    assert_refusal(answer, "input", secret=GOOD)
    assert snapshot(tmp_path) == before


def test_a_report_that_is_the_release_leaves_nothing(tmp_path):
    answer, before = out_to(tmp_path, tmp_path / "o.csv", "--report", tmp_path / "o.csv")
    assert_refusal(answer, "o.csv", secret=GOOD, go_on=False)
    assert snapshot(tmp_path) == before


def test_an_unwritable_report_leaves_no_release(tmp_path):
    goal = tmp_path / "nosuch" / "r.html"
    answer, before = out_to(tmp_path, tmp_path / "o.csv", "--report", goal)
    assert_refusal(answer, "r.html", secret=GOOD, go_on=False)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("command", ["anonymize", "verify"])
@pytest.mark.parametrize("fault", ["cut", "flipped", "not gzip"])
def test_a_damaged_gzip_file(tmp_path, command, fault):
    packed = gzip.compress((GOOD + "745,Zqcc,Zqflu\n" * 3000).encode())
    broken = {
        "cut": packed[: len(packed) // 2],
        "flipped": packed[:20] + bytes(byte ^ 255 for byte in packed[20:24]) + packed[24:],
        "not gzip": GOOD.encode(),
    }[fault]
    table = tmp_path / "t.csv.gz"
    table.write_bytes(broken)
    more = ("--out", tmp_path / "o.csv") if command == "anonymize" else ()
    answer = call(command, table, *FLAGS, "-k", 2, *more, "--quiet")
    assert_refusal(answer, "t.csv.gz", secret=GOOD, go_on=False)
    assert list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl"])
def test_a_damaged_typed_file(tmp_path, ending):
    refuse(tmp_path, b"PAR1 Zqnothing {]", f"t.{ending}", name=f"t.{ending}", go_on=False)


@pytest.mark.parametrize(
    "schema",
    ['{"version": ' + "9" * 5000 + "}", "[" * 100_000, '{"columns": {"age": NaN}}', "", "null",
     '{"columns": {"age": "quasi", "age": "quasi"}}', '{"columns": {"age": "zzz"}}', "\x00"],
    ids=["huge number", "deep", "nan", "empty", "null", "key twice", "no such role", "zero byte"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_a_damaged_schema(tmp_path, schema, ending):
    place = tmp_path / f"s.{ending}"
    place.write_text(schema)
    refuse(tmp_path, GOOD, "s." + ending, flags=("--schema", str(place)), go_on=False)


@pytest.mark.parametrize("text", ["version: 2024-99-99", "a: &a [*a]", "a: !!python/object:x {}"])
def test_a_hostile_yaml_schema(tmp_path, text):
    place = tmp_path / "s.yaml"
    place.write_text(text)
    refuse(tmp_path, GOOD, "s.yaml", flags=("--schema", str(place)), go_on=False)


# What the system does to a process: limits, signals, memory. One table serves them.

SYSTEM = pytest.mark.xdist_group("system")

LARGE_FLAGS = ("anonymize", "--qi", "age,zip", "--sensitive", "dx", "-k", "5", "--quiet")


class Large(NamedTuple):
    """A table that takes a moment to write, its release, and how long that took a process."""

    table: Path
    release: bytes
    seconds: float


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """Write 50,000 records, 10,000 of them different; release them in a process of its own."""
    rng = random.Random(1)
    lines = [f"{rng.randrange(90)},{rng.randrange(700)},{rng.randrange(9)}" for _ in range(10_000)]
    place = tmp_path_factory.mktemp("large") / "large.csv"
    place.write_text("age,zip,dx\n" + ("\n".join(lines) + "\n") * 5)
    out = place.with_name("o.csv")
    began = time.perf_counter()
    process = start(*LARGE_FLAGS, place, "--out", out)
    assert process.wait(120) == 0, process.stderr.read()
    return Large(place, out.read_bytes(), time.perf_counter() - began)


@pytest.fixture
def full_disk():
    """No file of this process may become larger: the system answers as for a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@SYSTEM
@pytest.mark.local("a limit of one process")
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet", "arrow"])
def test_a_full_disk(tmp_path, large, full_disk, ending):
    out = tmp_path / f"o.{ending}"
    out.write_text("the old file")
    answer = call(*LARGE_FLAGS, large.table, "--out", out)
    assert_refusal(answer, f"o.{ending}")
    assert out.read_text() == "the old file"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.sampled
@SYSTEM
@pytest.mark.slow
@pytest.mark.local("a process of its own")
@pytest.mark.parametrize("moments", [2, pytest.param(9, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_write_leaves_the_old_file_or_the_new_one(tmp_path, large, name, moments):
    out = tmp_path / "o.csv"
    rng = random.Random(int(name))
    for moment in (rng.uniform(0.25, 1.02) for _ in range(moments)):
        out.write_bytes(b"the old file")
        process = start(*LARGE_FLAGS, large.table, "--out", out)
        time.sleep(moment * large.seconds)
        process.send_signal(name)
        _, complaint = process.communicate(timeout=60)
        assert out.read_bytes() in (b"the old file", large.release)
        if process.returncode == 0:
            assert out.read_bytes() == large.release
        left = [path for path in tmp_path.iterdir() if path != out]
        if name == signal.SIGKILL:
            for path in left:  # a killed process cannot clean up; the file is a hidden one
                assert path.name.startswith(".o.csv.")
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert len(left) <= 1  # the run before left nothing that this one did not remove
        else:
            assert not left
            assert complaint.count("\n") <= 1, complaint
            assert "Traceback" not in complaint


STUCK = """
import sys, time
from shoal.cli.main import main
from shoal.engines.local import records
def verify_table(*_):
    print("written", flush=True)
    time.sleep(60)
records.verify_table = verify_table
sys.exit(main(sys.argv[1:]))
"""


@SYSTEM
@pytest.mark.local("a process of its own")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_after_a_kill_the_unverified_release_is_private_and_the_next_run_removes_it(
    tmp_path, large, ending
):
    out = tmp_path / f"o.{ending}"
    process = start(*LARGE_FLAGS, large.table, "--out", out, python=("-c", STUCK))
    assert process.stdout.readline() == "written\n", process.stderr.read()
    process.kill()
    process.communicate(timeout=60)
    (left,) = tmp_path.iterdir()
    assert left.stat().st_size > 0
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    assert call(*LARGE_FLAGS, large.table, "--out", out).code == 0
    assert list(tmp_path.iterdir()) == [out]
    assert stat.S_IMODE(out.stat().st_mode) & 0o400


@pytest.mark.slow
@pytest.mark.local("memory of one process")
@pytest.mark.parametrize(
    ("size", "most"),
    [
        pytest.param(2**27, 640 * 2**20, id="128 MiB"),
        pytest.param(2**30, 1.5 * 2**30, id="1 GiB", marks=pytest.mark.nightly),
    ],
)
def test_one_class_takes_little_memory(tmp_path, size, most):
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    line = b"41,Zurich,a rather long and always equal remark of a patient,flu\n"
    block = line * (2**20 // len(line))
    with table.open("wb") as file:
        file.write(b"age,place,note,dx\n")
        for _ in range(size // len(block) + 1):
            file.write(block)
    records = (table.stat().st_size - 18) // len(line)
    assert table.stat().st_size >= size - 2**20
    try:
        said = (tmp_path / "said").open("w+")
        process = start(
            "anonymize", table, "--qi", "age,place", "--neutral", "note", "--sensitive", "dx",
            "-k", 5, "--out", out, "--json", stdout=said,
        )  # fmt: skip
        peak = peak_memory(process)
        assert process.returncode == 0, process.stderr.read()
        said.seek(0)
        document = json.load(said)
        assert document["released"] == records
        assert document["classes"] == 1
        assert peak < most, f"{peak / 2**20:.0f} MiB for one distinct tuple"
        assert out.stat().st_size == table.stat().st_size
    finally:
        table.unlink()
        out.unlink(missing_ok=True)
