"""The six promises, each with tests that try to break it."""

from __future__ import annotations

import errno
import json
import pickle
import random
import re

import numpy as np
import polars as pl
import pytest
from tests import on_spark
from tests.conftest import peak_memory, start
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.core.errors import ModelFormatError, ShoalError, UnsafeReleaseError
from shoal.engines.local import recode, sorting, source, write
from shoal.methods import cut_tree, method
from shoal.model.model import RecodingModel
from shoal.table.recoding import Recoding

QUASI = ("age", "zip")
FLAGS = ("--qi", "age,zip", "--numeric", "age", "--categorical", "zip", "--sensitive", "dx",
         "--neutral", "note")  # fmt: skip
METHODS = [method.name for method in api.methods() if method.family == "mondrian"]


def table_text(records=400, seed=3, *, shuffle=None):
    rng = random.Random(seed)
    rows = [
        f"{rng.randrange(300, 340)},Zq{rng.choice('abcdef')}{rng.choice('xyz')},"
        f"Dq{rng.choice('klmno')},Nq{number:05}"
        for number in range(records)
    ]
    if shuffle is not None:
        random.Random(shuffle).shuffle(rows)
    return "age,zip,dx,note\n" + "\n".join(rows) + "\n"


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text(table_text())
    return place


def schema(*, others="fault"):
    return shoal.Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "zip": {"role": "quasi", "kind": "categorical"},
                "dx": "sensitive",
                "note": "neutral",
            },
            "others": others,
        }
    )


# 1. Fail closed.


def every_row_alone(found, models, method, setting):
    """A broken search: every distinct row is released as it is."""
    return Recoding(
        table=found,
        low=found.codes.copy(),
        high=found.codes.copy(),
        row=np.arange(found.rows),
        label=np.arange(found.rows),
        count=found.counts,
    )


@pytest.fixture
def broken_search(monkeypatch):
    def load(place):
        return (
            every_row_alone if place.endswith((":mondrian", ":bestcut", ":refine")) else real(place)
        )

    real = method.loaded
    monkeypatch.setattr(method, "loaded", load)


def test_classes_under_k_are_never_written(tmp_path, table, run, broken_search):
    before = table.read_bytes()
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", "--quiet")
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert "not safe" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert table.read_bytes() == before


def test_classes_under_k_never_replace_an_old_release(tmp_path, table, run, broken_search):
    old = tmp_path / "o.csv"
    old.write_text("the old release")
    assert run("anonymize", table, *FLAGS, "-k", 5, "--out", old, "--quiet").code == 1
    assert old.read_text() == "the old release"


def test_classes_under_k_never_reach_a_caller_in_memory(broken_search, table):
    with pytest.raises(UnsafeReleaseError):
        shoal.anonymize(pl.read_csv(table), schema(), privacy=[shoal.KAnonymity(5)])


def not_mended(tree, found, promises):
    """Regions as a broken search left them: nobody joins those that fail."""
    return cut_tree._Regions.of(tree, found).recoding(boxes=True)


@pytest.mark.parametrize("way", ["no cuts", "not mended"])
def test_classes_under_k_never_become_a_model(
    tmp_path, table, run, broken_search, way, monkeypatch
):
    if way == "no cuts":
        monkeypatch.setattr("shoal.jobs.learn.cut_regions", lambda *given: None)
    else:
        monkeypatch.setattr(cut_tree, "_holding", not_mended)
    goal = tmp_path / "m.json"
    answer = run("learn", table, *FLAGS, "-k", 5, "--model", goal, "--quiet")
    assert answer.code == 1
    assert not goal.exists()


def test_cuts_of_a_broken_search_are_taken_out_until_they_keep_the_promise(
    tmp_path, table, run, broken_search
):
    goal, out = tmp_path / "m.json", tmp_path / "o.csv"
    assert run("learn", table, *FLAGS, "-k", 5, "--model", goal, "--quiet").code == 0
    assert min(RecodingModel.load(goal).counts) >= 5
    shoal.encode(table, goal, out=out)
    assert shoal.verify(out, schema(), privacy=[shoal.KAnonymity(5)]).holds


@pytest.mark.parametrize(
    "promise",
    [("--l", 5), ("--l", 4, "--l-kind", "entropy"), ("--l", 3, "--l-kind", "recursive", "--c", 1),
     ("--t", 0.01), ("--t", 0.01, "--t-distance", "chi2"), ("--t", 0.01, "--t-distance", "ordered"),
     ("-k", 2, "--alpha", 0.3), ("--n", 300, "--t", 0.01)],
)  # fmt: skip
def test_a_search_that_ignores_a_model_is_caught(tmp_path, table, run, broken_search, promise):
    # Round labels would join the classes, and what joins them judges them again.
    asked = [*FLAGS, *promise, "--labels", "tight", "--out", tmp_path / "o.csv", "--quiet"]
    answer = run("anonymize", table, *asked)
    assert answer.code == 1, answer
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.fixture
def broken_recoder(monkeypatch):
    """Return a way to spoil what the engine of this run is about to write."""

    def here(spoil):
        real = recode.Recoder._released

        def released(self, batch, labels):
            return recode.Chunk(spoil(real(self, batch, labels).whole()), None)

        monkeypatch.setattr(recode.Recoder, "_released", released)

    def there(spoil):
        from shoal.engines.spark.recode import Recoder

        real = Recoder.frame

        def frame(self):
            found = real(self)
            named = pl.from_arrow(found.toDF(*self.columns).toArrow())
            return found.sparkSession.createDataFrame(spoil(named).to_arrow()).toDF(*found.columns)

        monkeypatch.setattr(Recoder, "frame", frame)

    return here if on_spark.Engine.name == "local" else there


def test_a_recoder_that_mixes_up_rows_is_caught(tmp_path, table, run, broken_recoder):
    def lonely(frame):
        zips = ["999", *frame["zip"].cast(pl.String).to_list()[1:]]
        return frame.with_columns(pl.Series("zip", zips))

    broken_recoder(lonely)
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", "--quiet")
    assert answer.code == 1
    assert not (tmp_path / "o.csv").exists()


def test_a_lost_class_is_caught(tmp_path, table, run, broken_recoder):
    def forgetful(frame):
        keys = list(zip(frame["age"].cast(pl.String), frame["zip"].cast(pl.String), strict=True))
        return frame.filter([key != keys[0] for key in keys])

    broken_recoder(forgetful)
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", "--quiet")
    assert answer.code in (1, 3), "a release that lost a whole class was called done"
    assert not (tmp_path / "o.csv").exists()


# 2. All or nothing on disk.


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize("old", [None, "the old release"])
def test_a_disk_that_fails_at_the_last_moment(tmp_path, table, run, monkeypatch, moment, old):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "o.csv"
    if old:
        out.write_text(old)
    monkeypatch.setattr(write.os, moment, fail)
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert (out.read_text() if out.exists() else None) == old
    assert {path.name for path in tmp_path.iterdir()} == ({"t.csv", "o.csv"} if old else {"t.csv"})


def test_an_interrupt_after_the_rename_does_not_say_that_nothing_was_written(
    tmp_path, table, run, monkeypatch
):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "flush_folder", interrupt)
    out = tmp_path / "o.csv"
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet")
    assert not (out.exists() and "nothing was written" in answer.err)


def test_a_hierarchy_file_is_an_input_and_never_overwritten(tmp_path, table, run):
    folder = tmp_path / "trees"
    folder.mkdir()
    tree = folder / "hierarchy_zip.csv"
    tree.write_text("".join(f"Zq{a}{b};Zq{a};*\n" for a in "abcdef" for b in "xyz"))
    before = tree.read_bytes()
    answer = run(
        "anonymize", table, *FLAGS, "--hierarchies", folder, "-k", 5, "--out", tree, "--quiet"
    )
    assert tree.read_bytes() == before
    assert answer.code == 2


def test_a_schema_file_is_an_input_and_never_overwritten(tmp_path, table, run):
    place = tmp_path / "s.json"
    place.write_text(json.dumps(schema().to_document()))
    before = place.read_bytes()
    answer = run("learn", table, "--schema", place, "-k", 5, "--model", place, "--quiet")
    assert place.read_bytes() == before
    assert answer.code == 2


# 3. No value leaks.


def test_no_message_or_report_holds_a_value(tmp_path, table, run):
    report = tmp_path / "r.html"
    out = tmp_path / "o.csv"
    said = [
        run("anonymize", table, *FLAGS, "-k", 5, "--l", 2, "--out", out, "--report", report),
        run("anonymize", table, *FLAGS, "-k", 5, "--l", 2, "--out", out, "--json"),
        run("learn", table, *FLAGS, "-k", 5, "--model", tmp_path / "m.json", "--json"),
        run("verify", out, "--qi", "age,zip", "--sensitive", "dx", "-k", 5, "--l", 2, "--json"),
        run("metrics", table, out, "--qi", "age,zip", "--numeric", "age", "--json"),
        run("anonymize", table, *FLAGS, "-k", 4000, "--out", out),
        run("anonymize", table, *FLAGS, "-k", 5, "--l", 9, "--out", out),
        run("anonymize", table, "--qi", "zip,note", "--numeric", "zip,note", "-k", 5, "--out", out),
        run("anonymize", table, "--qi", "zip", "--date", "zip", "-k", 5, "--out", out),
        run("verify", table, "--qi", "age,zip", "--sensitive", "dx", "-k", 50, "--l", 9),
    ]
    texts = [answer.out + answer.err for answer in said] + [report.read_text()]
    values = set(re.findall(r"[ZDN]q\w+", table.read_text()))
    assert len(values) > 400
    for text in texts:
        assert not values & set(re.findall(r"\w+", text))


def test_a_model_holds_no_sensitive_or_neutral_value(tmp_path, table, run):
    goal = tmp_path / "m.json"
    assert run("learn", table, *FLAGS, "-k", 5, "--l", 2, "--model", goal, "--quiet").code == 0
    assert not re.search(r"[DN]q\w+", goal.read_text())


def test_a_bug_of_ours_shows_its_kind_but_not_its_text(tmp_path, table, run, monkeypatch):
    def fail(*_, **__):
        raise ValueError("could not convert Zqax")

    monkeypatch.setattr(method.Method, "search", fail)
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", "--quiet")
    assert answer.code == 3
    assert "ValueError" in answer.err
    assert "Zqax" not in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_frame_with_mixed_types_is_refused_without_a_value():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [41, "Zqalice", 43], "zip": ["a", "b", "c"]})
    flags = shoal.Schema.from_document({"columns": {"age": "quasi", "zip": "quasi"}})
    with pytest.raises(ShoalError) as caught:  # a foreign error may quote the data
        shoal.anonymize(frame, flags, privacy=[shoal.KAnonymity(2)])
    assert "Zqalice" not in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_sorted_by_what_is_released(tmp_path, table, run, method):
    out = tmp_path / "o.csv"
    run("anonymize", table, *FLAGS, "-k", 5, "--method", method, "--out", out, "--quiet")
    rows = [tuple(row[name] for name in (*QUASI, "dx", "note")) for row in naive.read(out)]
    assert rows == sorted(rows)


@pytest.mark.local("--keep-order")
def test_keep_order_is_a_stated_choice(tmp_path, table, run):
    out, kept = tmp_path / "o.csv", tmp_path / "k.csv"
    run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet")
    run("anonymize", table, *FLAGS, "-k", 5, "--keep-order", "--out", kept, "--quiet")
    original = [row["note"] for row in naive.read(table)]
    assert [row["note"] for row in naive.read(kept)] == original
    assert [row["note"] for row in naive.read(out)] != original
    assert sorted(kept.read_text().split("\n")) == sorted(out.read_text().split("\n"))


@pytest.mark.local("--keep-order")
@pytest.mark.parametrize("method", METHODS)
def test_keep_order_holds_for_a_table_larger_than_memory(tmp_path, table, run, monkeypatch, method):
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(recode, "BATCH", 37)
    out = tmp_path / "o.csv"
    answer = run(
        "anonymize", table, *FLAGS, "-k", 5, "--method", method, "--keep-order", "--out", out,
        "--quiet",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert [row["note"] for row in naive.read(out)] == [row["note"] for row in naive.read(table)]


# 4. Same seed, same bytes.


@pytest.mark.parametrize("method", METHODS)
def test_shuffled_input_gives_the_same_bytes(tmp_path, run, method):
    made = set()
    for number in (None, 1, 2):
        place, out = tmp_path / f"t{number}.csv", tmp_path / f"o{number}.csv"
        place.write_text(table_text(shuffle=number))
        run("anonymize", place, *FLAGS, "-k", 5, "--method", method, "--out", out, "--quiet")
        made.add(out.read_bytes())
    assert len(made) == 1


@pytest.mark.local("memory of one process")
@pytest.mark.parametrize("method", METHODS)
def test_shuffled_input_larger_than_memory_gives_the_same_bytes(tmp_path, run, monkeypatch, method):
    inside = tmp_path / "inside.csv"
    (tmp_path / "t.csv").write_text(table_text())
    command = ("-k", 5, "--method", method, "--quiet")
    run("anonymize", tmp_path / "t.csv", *FLAGS, *command, "--out", inside)
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(recode, "BATCH", 37)
    monkeypatch.setattr(sorting, "RUN_BYTES", 5000)
    for number in (1, 2):
        place, out = tmp_path / f"t{number}.csv", tmp_path / f"o{number}.csv"
        place.write_text(table_text(shuffle=number))
        answer = run("anonymize", place, *FLAGS, *command, "--out", out)
        assert answer.code == 0, answer.err
        assert out.read_bytes() == inside.read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_model_does_not_depend_on_the_order_of_the_input(tmp_path, run, method):
    made = set()
    for number in (None, 1):
        place, goal = tmp_path / f"t{number}.csv", tmp_path / f"m{number}.json"
        place.write_text(table_text(shuffle=number))
        run("learn", place, *FLAGS, "-k", 5, "--method", method, "--model", goal, "--quiet")
        made.add(goal.read_bytes())
    assert len(made) == 1


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.local("a process of its own")
@pytest.mark.parametrize("method", METHODS)
def test_one_and_two_threads_give_the_same_bytes(tmp_path, adult, method):
    made = set()
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.csv"
        process = start(
            "anonymize", adult.table, *adult.flags, "-k", 10, "--sensitive", "salary-class",
            "--l", 2, "--method", method, "--threads", threads, "--out", out, "--quiet",
            env={"POLARS_MAX_THREADS": threads, "NUMBA_NUM_THREADS": threads},
        )  # fmt: skip
        assert process.wait(120) == 0, process.stderr.read()
        made.add(out.read_bytes())
    assert len(made) == 1


# 5. A model file is data.


@pytest.fixture(scope="module")
def model_document():
    frame = pl.read_csv(table_text().encode())
    return shoal.learn(frame, schema(), privacy=[shoal.KAnonymity(5)]).to_document()


def test_a_model_survives_its_file(tmp_path, model_document):
    place = tmp_path / "m.json"
    first = RecodingModel.from_document(model_document)
    place.write_text(first.to_json())
    assert RecodingModel.load(place).to_json() == first.to_json()


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"[]", b"{}", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"format": "shoal-model"}',
     pickle.dumps({"format": "shoal-model"}), b'{"format":"shoal-model","version":99}',
     b'{"format":"shoal-model","version":1,"version":1}'],
)  # fmt: skip
def test_a_damaged_model_file_is_refused(tmp_path, text):
    place = tmp_path / "m.json"
    place.write_bytes(text)
    with pytest.raises(ShoalError):
        RecodingModel.load(place)


BAD = (None, True, -1, 1.5, 2**80, "x", [], {}, [None], [[-1]], [["a"]], {"x": None}, "__import__")


@pytest.mark.parametrize(
    "key", ["method", "records", "suppressed", "utility", "schema", "columns", "regions", "levels"]
)
def test_an_untrusted_model_can_at_worst_be_refused(model_document, key):
    for value in BAD:
        try:
            RecodingModel.from_document({**model_document, key: value})
        except ModelFormatError:
            continue


def test_a_region_that_names_no_cell_is_refused(model_document):
    regions = [list(region) for region in RecodingModel.from_document(model_document).regions]
    plain = {key: value for key, value in model_document.items() if key != "tree"}
    for wrong in (10**6, -1):
        bad = [[wrong] * len(region) for region in regions]
        with pytest.raises(ModelFormatError):
            RecodingModel.from_document({**plain, "regions": bad})
    with pytest.raises(ModelFormatError, match="a tree and regions"):
        RecodingModel.from_document({**model_document, "regions": regions})


@pytest.mark.parametrize("part", ["cut", "left"])
def test_a_tree_that_names_no_cut_is_refused(model_document, part):
    tree = model_document["tree"]
    for wrong in (10**6, -1):
        for at in range(len(tree[part])):
            bad = [*tree[part]]
            bad[at] = wrong
            with pytest.raises(ModelFormatError):
                RecodingModel.from_document({**model_document, "tree": {**tree, part: bad}})


# 6. Memory follows the distinct tuples.


RUN = """
import sys
from shoal import api
from shoal.cli.main import main
from shoal.engines.local import recode, source
source.KEEP_BYTES, recode.BATCH = 0, 50_000
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.nightly  # test_memory_does_not_follow_bytes_… is in every run
@pytest.mark.local("memory of one process")
def test_three_times_the_records_do_not_take_more_memory(tmp_path):
    """Few distinct tuples, long remarks; nothing is kept between the passes."""
    peaks, sizes = [], []
    note = "n" * 150
    body = "".join(f"{300 + i % 40},Zq{i % 7},Dq{i % 5},{note}\n" for i in range(14_000)).encode()
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    for times in (120, 360):  # below that, the reader still fills its buffers (bounded, 250 MiB)
        place.write_bytes(b"age,zip,dx,note\n" + body * times)
        sizes.append(place.stat().st_size)
        process = start(
            "anonymize", place, *FLAGS, "-k", 5, "--out", out, "--quiet", python=("-c", RUN)
        )
        peaks.append(peak_memory(process))
        assert process.returncode == 0, process.stderr.read()
    grown, more = peaks[1] - peaks[0], sizes[1] - sizes[0]
    assert grown < more / 3, f"{grown / 2**20:.0f} MiB more for {more / 2**20:.0f} MiB of text"


SMALL = """
import sys
from shoal.cli.main import main
from shoal.engines.local import sorting, source
source.KEEP_BYTES, source.BATCH_BYTES, sorting.RUN_BYTES = 0, 2 * 2**20, 8 * 2**20
sys.exit(main(sys.argv[1:]))
"""
READER = {"POLARS_CSV_CHUNK_SIZE": str(2**20)}  # or it reads most of a small file ahead


def _peak_of_a_release(place, out):
    process = start(
        "anonymize", place, "--qi", "sex,zip", "--neutral", "note", "-k", 5, "--method",
        "mondrian", "--out", out, "--quiet", "--threads", 2,
        python=("-c", SMALL), env=READER,
    )  # fmt: skip
    peak = peak_memory(process)
    assert process.returncode == 0, process.stderr.read()
    return peak


@pytest.mark.local("memory of one process")
def test_memory_does_not_follow_bytes_when_every_record_is_different(tmp_path):
    """26 tuples, and beside them a text of 900 bytes that no other record has."""
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    peaks, sizes = [], []
    for records in (45_000, 135_000):
        with place.open("w") as file:
            file.write("sex,zip,note\n")
            for i in range(records):
                number = (i * 2_654_435_761) % 2**32
                file.write(f"{'mf'[i % 2]},{i // 2 % 13},{f'{number:08x} ' * 100}\n")
        sizes.append(place.stat().st_size)
        peaks.append(min(_peak_of_a_release(place, out) for _ in range(2)))
        lines = out.read_text().split("\n")[1:-1]
        assert len(lines) == records
        assert lines == sorted(lines)
        assert [path.name for path in tmp_path.iterdir() if path not in (place, out)] == []
    grown, more = peaks[1] - peaks[0], sizes[1] - sizes[0]
    assert more > 80_000_000
    # All of it in memory took four times the bytes; what a busy machine adds varies.
    assert grown < more / 3, f"{grown / 2**20:.0f} MiB more for {more / 2**20:.0f} MiB of text"
