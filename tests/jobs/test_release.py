"""A release as a whole job: opened once, coded once, verified before anybody sees it."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import (
    MethodError,
    NoSolutionError,
    OutputError,
    SchemaError,
    ShoalError,
    UnsafeReleaseError,
)
from shoal.engines import coding
from shoal.engines.base import Checks, Output
from shoal.engines.local import records
from shoal.engines.local import source as local_source
from shoal.jobs.release import check_verified, release
from shoal.jobs.requests import ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness, Verdict
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


def asked(table=PEOPLE, **words):
    """Return a request; `promise` takes the place of that of the schema."""
    schema = words.pop("schema", plain_schema())
    promise = words.pop("promise", None)
    if promise is not None:
        schema = replace(schema, privacy=promise)
    return ReleaseRequest(table=table, schema=schema, **words)


def calls_of(monkeypatch, module, name, key):
    """Count the calls of a function wherever shoal knows it; key: what is counted of the first."""
    import_module("shoal.engines.local.engine")  # or it would come later, and keep the counter
    real, found = getattr(module, name), Counter()

    def counted(first, *args, **words):
        found[key(first)] += 1
        return real(first, *args, **words)

    for each in list(sys.modules.values()):
        if getattr(each, "__name__", "").startswith("shoal.") and vars(each).get(name) is real:
            monkeypatch.setattr(each, name, counted)
    return found


@pytest.mark.local("counts what the local engine does")
@pytest.mark.parametrize("attacks", ["none", "all"])
def test_a_table_is_opened_once_and_so_is_its_release(tmp_path, monkeypatch, attacks):
    files = files_in(tmp_path)
    out = files.path("r.csv")
    opened = calls_of(monkeypatch, local_source, "open_source", str)
    release(
        asked(
            files.table, output=Output(out=out, suppressed="star"), checks=Checks(attacks=attacks)
        )
    )
    assert opened[str(files.table)] == 1
    assert set(opened) <= {str(files.table), str(out)}  # the release, to be attacked
    assert opened[str(out)] == (attacks == "all")


@pytest.mark.local("counts what the local engine does")
@pytest.mark.parametrize("frame", [False, True])
def test_each_column_is_coded_once(tmp_path, monkeypatch, frame):
    files = files_in(tmp_path)
    plain = calls_of(monkeypatch, coding, "code_column", lambda series: series.name)
    sensitive = calls_of(monkeypatch, coding, "code_sensitive", lambda series: series.name)
    promise = (KAnonymity(3), LDiversity(2, column="ill"), TCloseness(0.9, column="ill"))
    release(asked(PEOPLE if frame else files.table, promise=promise))
    assert plain == {"age": 1, "job": 1}
    assert sensitive == {"ill": 1}


def test_what_is_released_keeps_the_promise_and_nothing_else_is_changed():
    done = release(asked())
    table = done.table
    assert isinstance(table, pl.DataFrame)
    assert table.columns == PEOPLE.columns
    assert smallest_of(table) >= 4
    assert Counter(table["ill"]) == Counter(PEOPLE["ill"])
    assert done.report.released == table.height == 40
    assert done.compared is None
    assert done.schema.quasi == ("age", "job")


def smallest_of(table):
    """Return the size of the smallest class, counted here."""
    return min(Counter(table.select("age", "job").rows()).values())


def test_stages_are_told_in_their_order():
    told = []
    done = release(asked(), progress=told.append)
    order = [stage for stage in told if stage != "compile"]
    assert order == ["read", "learn", "encode", "verify", "write", "measure"]
    assert set(order) | {"total"} <= set(done.report.seconds)


def test_a_release_in_a_file_is_the_one_that_is_returned(tmp_path):
    out = tmp_path / "r.csv"
    done = release(asked(output=Output(out=out)))
    assert done.table is None
    assert out.read_text() == release(asked()).table.write_csv()


@pytest.mark.parametrize(("others", "is_starred"), [(1, False), (4, True)])
def test_suppressed_records_are_released_as_the_root_where_that_keeps_the_promise(
    others, is_starred
):
    rare = PEOPLE.head(others).with_columns(
        job=pl.Series([f"rare {i}" for i in range(others)], dtype=pl.String)
    )
    columns = {**plain_schema().to_document()["columns"], "age": "neutral"}
    request = asked(
        pl.concat([PEOPLE, rare]),
        schema=plain_schema(columns=columns, suppression_limit=0.1),
        method=method_named("flash"),
    )
    removed = release(request)
    starred = release(replace(request, output=Output(suppressed="star")))
    assert removed.report.suppressed == starred.report.suppressed == others
    assert removed.report.released == removed.table.height == 40
    assert starred.report.released == starred.table.height == 40 + others * is_starred
    assert (starred.table["job"] == "*").sum() == others * is_starred
    assert any("would break k-anonymity" in text for text in starred.report.notices) != is_starred


def test_nothing_is_written_when_verification_fails(tmp_path, monkeypatch):
    broken = Verification(
        records=40, classes=2, smallest_class=1, violating_records=7,
        privacy=(Verdict(model=KAnonymity(4), holds=False, value=1),),
    )  # fmt: skip
    monkeypatch.setattr(records.LocalWritten, "verify", lambda *_: broken)
    with pytest.raises(UnsafeReleaseError, match="7 of 40 released records break k-anonymity"):
        release(asked(output=Output(out=tmp_path / "r.csv")))
    monkeypatch.setattr(records.LocalWritten, "verify", lambda *_: replace(broken, records=39))
    with pytest.raises(UnsafeReleaseError, match="39 records were written where 40 should be"):
        release(asked(output=Output(out=tmp_path / "r.csv")))
    assert list(tmp_path.iterdir()) == []


def test_a_verification_that_holds_passes():
    holds = Verification(
        records=4, classes=1, smallest_class=4, violating_records=0,
        privacy=(Verdict(model=KAnonymity(4), holds=True, value=4),),
    )  # fmt: skip
    check_verified(holds, 4)
    with pytest.raises(UnsafeReleaseError):
        check_verified(holds, 5)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"promise": ()}, ShoalError),
        ({"promise": (KAnonymity(41),)}, NoSolutionError),
        ({"promise": (LDiversity(4, column="ill"),)}, NoSolutionError),
        ({"promise": (AlphaKAnonymity(0.9, 2, column="ill", values=["Alice"]),)}, SchemaError),
        ({"threads": 0}, SchemaError),
        ({"release": "melt"}, MethodError),
        ({"output": Output(out="r.nothing")}, ShoalError),
        ({"checks": Checks(attacks="some", weights="weight")}, ShoalError),
    ],
)
def test_what_cannot_be_released_is_refused_without_a_value(words, error):
    with pytest.raises(error) as caught:
        release(asked(**words))
    assert not any(value in str(caught.value) for value in ("Alice", "gout", "welder"))


def test_an_input_is_not_overwritten(tmp_path):
    files = files_in(tmp_path)
    before = files.table.read_bytes()
    for output in (
        Output(out=files.table),
        Output(out=files.tree, inputs=(files.tree,)),
    ):
        with pytest.raises(OutputError):
            release(asked(files.table, output=output))
    assert files.table.read_bytes() == before


def test_a_column_that_identifies_stops_a_release_until_it_is_waived():
    table = PEOPLE.with_columns(pl.Series("mail", [f"p{i}@example.org" for i in range(40)]))
    columns = {**plain_schema().to_document()["columns"], "mail": "neutral"}
    with pytest.raises(SchemaError, match="mail") as caught:
        release(asked(table, schema=plain_schema(columns=columns)))
    assert "example.org" not in str(caught.value)
    done = release(asked(table, schema=plain_schema(columns=columns, waive=["mail"])))
    assert done.report.roles["mail"]["waived"]


@pytest.mark.local("attacks")
def test_attacks_are_carried_out_where_they_are_asked_for():
    assert release(asked(checks=Checks(attacks="some", most_records=39))).compared is None
    found = release(asked(checks=Checks(attacks="some", most_records=40))).compared
    assert found.before.records == found.after.records == 40
    assert len(found.attacks) == 3
    people = Checks(attacks="some", most_records=1, sampling_fraction=0.5)
    assert release(asked(checks=people)).compared is not None


@pytest.mark.parametrize("rows", [0, 1])
def test_no_records_and_one_record_are_no_release(rows):
    with pytest.raises(ShoalError):
        release(asked(PEOPLE.head(rows)))


def test_missing_values_are_values():
    table = PEOPLE.with_columns(
        job=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise(pl.col("job"))
    )
    done = release(asked(table))
    assert done.table.height == 40
    assert smallest_of(done.table) >= 4


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(tmp_path):
    files = files_in(tmp_path)
    schema = Schema.load(files.schema)
    texts = []
    for threads in (1, 2):
        out = files.path(f"r{threads}.csv")
        release(asked(files.table, schema=schema, output=Output(out=out), threads=threads, seed=5))
        texts.append(out.read_bytes())
    assert texts[0] == texts[1]
