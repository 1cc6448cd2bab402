"""Where a release goes, and what is measured of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.cli.options.output import CheckOptions, OutputOptions
from shoal.core.errors import OutputError, SchemaError
from shoal.jobs.requests import ATTACKED, Checks, Output


def test_the_output_is_what_the_options_say(tmp_path):
    out = tmp_path / "o.csv"
    asked = OutputOptions(out=str(out), suppressed="star", keep_order=True, spreadsheet_safe=True)
    found = asked.output("anonymize", on_spark=False, inputs=("t.csv",))
    assert found == Output(
        out=out, suppressed="star", keep_order=True, spreadsheet_safe=True, inputs=("t.csv",)
    )
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_writes_must_be_told_where():
    for nowhere in (None, ""):
        with pytest.raises(SchemaError) as caught:
            OutputOptions(out=nowhere).output("encode", on_spark=False, inputs=())
        assert str(caught.value) == (
            "options: encode needs --out FILE (or --out -, standard output)"
        )


@pytest.mark.parametrize("out", ["t.csv", "./t.csv", "none/o.csv", "."])
def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age\n1\n")
    with pytest.raises(OutputError):
        OutputOptions(out=out).output("anonymize", on_spark=False, inputs=("t.csv",))
    assert Path("t.csv").read_text() == "age\n1\n"


def test_on_spark_a_url_is_not_looked_at_and_a_place_stays_as_it_is_written(tmp_path):
    asked = OutputOptions(out="hdfs://host/o.parquet")
    assert asked.output("anonymize", on_spark=True, inputs=()).out == "hdfs://host/o.parquet"
    folder = str(tmp_path / "o.parquet")
    assert OutputOptions(out=folder).output("encode", on_spark=True, inputs=()).out == folder


@pytest.mark.parametrize(
    ("attacks", "reads", "on_spark", "found"),
    [
        (None, True, False, Checks(attacks="some", most_records=ATTACKED)),
        (None, False, False, Checks(attacks="none", most_records=ATTACKED)),
        (True, False, False, Checks(attacks="all")),
        (False, True, False, Checks(attacks="none")),
        (None, True, True, Checks(attacks="none")),
        (False, True, True, Checks(attacks="none")),
    ],
)
def test_attacks_are_carried_out_where_they_are_asked_for_or_read(attacks, reads, on_spark, found):
    assert CheckOptions(attacks=attacks).checks(on_spark=on_spark, reads=reads) == found


def test_attacks_need_the_local_engine():
    with pytest.raises(SchemaError) as caught:
        CheckOptions(attacks=True).checks(on_spark=True, reads=True)
    assert str(caught.value) == "--engine: --attacks need the local engine"


def test_what_is_known_of_people_goes_into_the_checks():
    asked = CheckOptions(population="p.csv", weights="w", household="h", sampling_fraction=0.5)
    assert asked.people() == {
        "population": "p.csv", "weights": "w", "household": "h", "sampling_fraction": 0.5,
    }  # fmt: skip
    found = asked.checks(on_spark=False, reads=False)
    assert (found.attacks, found.population, found.weights) == ("some", "p.csv", "w")
