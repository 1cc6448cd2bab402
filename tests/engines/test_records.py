"""The records of a local table: counted once, recoded, written all or nothing, read again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.core.errors import InputError, MethodError, OutputError
from shoal.core.secret_keys import Keys
from shoal.engines.base import Output, Search
from shoal.engines.local import records as module
from shoal.engines.local.records import (
    LocalRecords,
    LocalWritten,
    inputs_of,
    learn_on_threads,
    open_written,
)
from shoal.engines.local.source import open_source
from shoal.methods.coarse import Coarse
from shoal.methods.method import Setting
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind, Schema

pytestmark = pytest.mark.local("a part of the local engine itself")

SCHEMA = Schema.from_document({"columns": {"id": "identifying", "age": "quasi", "ill": "sensitive",
                                           "note": "neutral"}})  # fmt: skip
FRAME = pl.DataFrame({
    "note": ["n"] * 12, "age": [str(a) for a in (20, 21, 22, 30, 31, 32) * 2],
    "id": [f"p{i % 4}" for i in range(12)], "ill": ["1", "2", "3"] * 4,
})  # fmt: skip
PROMISE = (KAnonymity(3),)


def records(table=FRAME, counted=("ill",)):
    return LocalRecords.read(open_source(table), SCHEMA, counted, Keys())


def classes_of(opened, **more):
    asked = Search(method=method_named("mondrian"), release="generalize", promise=PROMISE,
                   setting=Setting(), **more)  # fmt: skip
    return opened.count().search(asked)


def test_counting_finds_kinds_out_and_is_done_once(monkeypatch):
    opened = records()
    counts = opened.count()
    assert counts.table.records == 12
    assert counts.schema.attribute("ill").kind is Kind.NUMERIC
    monkeypatch.setattr(module, "frequencies", None)  # it would be called again
    assert opened.count().table is counts.table


def test_only_what_is_released_is_read():
    opened = records()
    assert opened.lazy.collect_schema().names() == ["note", "age", "ill"]
    assert "id" not in opened.lazy.collect().columns


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_of_text_files_everything_that_is_counted_is_dictionary_coded(tmp_path, name):
    place = tmp_path / name
    FRAME.write_csv(place) if name == "t.csv" else FRAME.write_parquet(place)
    opened = records(place)
    assert set(opened.coded) == ({"age", "ill"} if name == "t.csv" else {"age"})
    assert opened.lazy.collect_schema()["age"] == pl.Categorical


def test_a_release_comes_back_as_the_kind_of_table_that_was_given():
    for table in (FRAME, FRAME.lazy()):
        opened = records(table)
        with opened.recode(classes_of(opened), Output(), star=False) as written:
            assert written.verify(SCHEMA, PROMISE).holds
            assert type(written.table) is type(table)
            released = written.table.lazy().collect()
    assert released.columns == ["note", "age", "ill"]
    assert released.height == 12
    assert released["age"].value_counts()["count"].min() >= 3


def test_a_file_is_published_at_the_end_and_not_at_all_if_something_is_raised(tmp_path):
    opened, out = records(), tmp_path / "r.csv"
    classes = classes_of(opened)
    writing = opened.recode(classes, Output(out=out), star=False)
    assert writing.__enter__().verify(SCHEMA, PROMISE).holds
    assert not out.exists()
    error = KeyError()
    assert not writing.__exit__(KeyError, error, None)
    assert not list(tmp_path.iterdir())
    with opened.recode(classes, Output(out=out), star=False) as written:
        assert written.table is None
    assert pl.read_csv(out).height == 12


def test_no_input_is_overwritten(tmp_path):
    place, other = tmp_path / "t.csv", tmp_path / "other.csv"
    FRAME.write_csv(place)
    FRAME.write_csv(other)
    opened = records(place)
    classes = classes_of(opened)
    for output in (Output(out=place), Output(out=other, inputs=(other,))):
        with pytest.raises(OutputError, match="is also an input"):
            opened.recode(classes, output, star=False).__enter__()
    assert inputs_of(str(place)) == inputs_of(place) == (place,)
    assert inputs_of(FRAME) == ()


def test_people_behind_the_records_are_counted():
    opened = records()
    found = opened.repeats(classes_of(opened), 3, star=False)
    assert found.column == "id"
    alone = records(FRAME.with_columns(pl.Series("id", [f"p{i}" for i in range(12)])))
    assert alone.repeats(classes_of(alone), 3, star=False) is None


def test_parts_are_learned_side_by_side_and_joined():
    opened = records()
    found = classes_of(opened, partitions=Coarse(2, "kmeans", 0))
    assert found.recoding.sizes.sum() == 12
    assert found.judge(PROMISE)[0].holds
    asked = Search(method=method_named("mondrian"), release="generalize", promise=PROMISE,
                   setting=Setting(threads=4), partitions=Coarse(2, "kmeans", 0))  # fmt: skip
    again = learn_on_threads(opened.count().table, asked)
    assert again.label.tolist() == found.recoding.label.tolist()  # whatever the threads


def test_starred_records_are_judged_before_they_are_written():
    opened = records()
    found = opened.judge_starred(classes_of(opened), PROMISE)
    assert found.holds
    assert found.records == 12


def test_a_written_file_that_is_not_sorted_is_opened_as_any_other(tmp_path):
    place = tmp_path / "r.csv"
    FRAME.sample(fraction=200, with_replacement=True, shuffle=True, seed=1).write_csv(place)
    assert open_written(place, None).weight is None
    assert open_written(FRAME, None).columns == tuple(FRAME.columns)


EARLIER = np.array([0, 0, 0, 1, 1, 1] * 2, dtype=np.int32)


def nested(earlier=EARLIER, table=FRAME):
    return LocalRecords.read(open_source(table), SCHEMA, ("ill",), Keys(), earlier)


def test_earlier_classes_stand_beside_the_records_and_never_in_a_release():
    opened = nested()
    assert opened.is_nested
    counted = opened.count().table
    assert sorted(set(counted.earlier.tolist())) == [0, 1]
    with opened.recode(classes_of(opened), Output(), star=False) as written:
        assert set(written.table.columns) == {"note", "age", "ill"}
        found = written.class_numbers()
    assert len(found) == 12
    pairs = set(zip(EARLIER.tolist(), found.tolist(), strict=True))
    assert len(pairs) == len(set(found.tolist()))  # each class lies inside an earlier one
    plain = records()
    assert not plain.is_nested
    assert plain.count().table.earlier is None


def test_what_a_written_release_numbers_is_what_its_class_file_says(tmp_path):
    opened, file = records(), tmp_path / "c.csv"
    output = Output(out=tmp_path / "o.csv", class_file=file)
    with opened.recode(classes_of(opened), output, star=False) as written:
        found = written.class_numbers().tolist()
    assert found == [int(line) for line in file.read_text(encoding="ascii").split()[1:]]
    with pytest.raises(MethodError, match="no classes of its own"):
        LocalWritten(open_source(FRAME)).class_numbers()


def test_earlier_classes_must_fit_the_records(monkeypatch):
    with pytest.raises(InputError, match="changed while it was read"):
        nested(EARLIER[:5])
    monkeypatch.setattr(module.Source, "fits_memory", lambda _: False)
    with pytest.raises(MethodError, match="does not fit memory"):
        nested()
