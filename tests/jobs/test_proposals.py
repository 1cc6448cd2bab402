"""Releases of tables whose quasi-identifiers came without a hierarchy."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.engines.base import Output
from shoal.jobs.infer import infer
from shoal.jobs.learn import learn
from shoal.jobs.measure import measure
from shoal.jobs.proposals import proposals
from shoal.jobs.release import release
from shoal.jobs.requests import InferRequest, LearnRequest, MetricsRequest, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.samples.hospital import hospital
from shoal.schema.flags import schema_from_flags
from shoal.schema.schema import Kind, Proposals, Role, Schema

QUASI = ("birth_date", "sex", "zip")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return hospital(tmp_path_factory.mktemp("stays") / "stays.csv", records=600, seed=3).table


def plain(k=5):
    schema = schema_from_flags({Role.QUASI: QUASI, Role.SENSITIVE: ("diagnosis",)}, {})
    return schema.with_promise([KAnonymity(k)])


def made(table, **words):
    return release(ReleaseRequest(table=table, schema=plain(), **words))


def test_the_mask_that_infer_knows_is_used_and_said_in_one_line(table):
    found = made(table)
    (notice,) = [text for text in found.report.notices if "--no-infer" in text]
    assert "'zip' (masked" in notice
    assert "'birth_date' (dates)" in notice
    assert "'sex'" not in notice
    kinds = {a.name: a.kind for a in found.schema.attributes}
    assert (kinds["birth_date"], kinds["zip"]) == (Kind.DATE, Kind.CATEGORICAL)


def test_without_infer_nothing_is_proposed_and_more_is_lost(table):
    without = made(table, infer=False)
    assert not [text for text in without.report.notices if "infer" in text]
    assert without.schema.attribute("zip").hierarchy is None
    assert made(table).report.utility["ncp"] < 0.7 * without.report.utility["ncp"]


@pytest.mark.parametrize("method", ["bestcut", "flash"])
def test_what_is_proposed_is_what_infer_writes_into_a_schema(table, method):
    """The same hierarchies, and so the same bytes as with the schema that `infer` wrote."""
    found = made(table, method=method_named(method))
    document = infer(InferRequest(table=table, max_size=1)).schema_document()
    proposed = {name: document["columns"][name] for name in QUASI}
    schema = Schema.from_document(
        {
            "columns": {**proposed, "diagnosis": "sensitive"},
            "others": "drop",
            "privacy": [{"model": "k-anonymity", "k": 5}],
        }
    )
    asked = ReleaseRequest(table=table, schema=schema, method=method_named(method), infer=False)
    assert found.table.equals(release(asked).table)
    if method == "flash":  # its levels are those of the calendar and the mask
        assert found.schema.attribute("birth_date") == schema.attribute("birth_date")


def test_a_written_request_repeats_the_release_to_the_byte(table, tmp_path):
    from shoal.jobs.documents import request_document, request_from

    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    asked = ReleaseRequest(table=str(table), schema=plain(), output=Output(out=str(one)))
    release(asked)
    written = request_document(asked)
    assert "infer" not in written  # the default
    written["output"] = {"out": str(two)}
    release(request_from(written))
    assert one.read_bytes() == two.read_bytes()


def test_a_model_holds_the_proposed_mask_and_masks_what_it_never_saw(table):
    model = learn(LearnRequest(table=table, schema=plain())).model
    assert model.schema.attribute("zip").hierarchy is not None
    assert model.columns[-1].mask is not None


@pytest.mark.parametrize("method", ["bestcut", "flash"])
def test_the_measures_of_a_release_are_those_of_its_report(table, method):
    found = made(table, method=method_named(method))
    asked = MetricsRequest(table=table, release=found.table, schema=plain())
    measured = measure(asked)
    assert measured["utility"]["ncp"] == pytest.approx(found.report.utility["ncp"])


def test_levels_are_built_for_the_methods_that_choose_them():
    assert proposals(infer=False) is Proposals.NONE
    assert proposals(infer=True) is Proposals.LEVELS
    assert proposals(infer=True, method=method_named("flash")) is Proposals.LEVELS
    assert proposals(infer=True, method=method_named("auto")) is Proposals.TREES


def test_a_table_of_another_shape_is_released_as_well():
    """Dirty cells, a column of one value, a column without any value."""
    frame = pl.DataFrame(
        {
            "birth_date": ["1950-01-01", "", "?", "1950-13-01"] * 5,
            "sex": [None] * 20,
            "zip": ["0042", "42", "x-1", None] * 5,
            "diagnosis": ["a", "b"] * 10,
        }
    )
    for method in ("auto", "flash"):
        found = made(frame, method=method_named(method))
        assert found.report.released == 20
