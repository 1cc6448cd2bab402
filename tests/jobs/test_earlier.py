"""A release that is a coarser or a finer view of an earlier one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ADULT_QUASI
from tests.jobs.people import PEOPLE, files_in, plain_schema
from tests.jobs.test_compose import SMALL, classes_in
from tests.naive.composition import meet_sizes
from tests.naive.nested import is_nested

from shoal.core.errors import InputError, MethodError, NoSolutionError, OutputError, SchemaError
from shoal.engines.base import Output
from shoal.jobs.compose import compose
from shoal.jobs.learn import learn
from shoal.jobs.places import write_model
from shoal.jobs.release import release
from shoal.jobs.requests import ComposeRequest, LearnRequest, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.samples import hospital
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("class files keep the order of the input")


def released(folder, name, table, schema, k, **words):
    """Release a table; return its report and its class file."""
    made = release(
        ReleaseRequest(
            table=table, schema=schema.with_promise([KAnonymity(k)], replace_promise=True),
            output=Output(out=folder / f"{name}.csv", class_file=folder / f"{name}.classes.csv"),
            **{"method": method_named("bestcut"), **words},
        )
    )  # fmt: skip
    return made.report, folder / f"{name}.classes.csv"


@given(SMALL, st.sampled_from([(2, 4), (4, 2), (3, 3)]), st.sampled_from(["mondrian", "oka"]))
@settings(max_examples=40, deadline=None)
def test_both_together_keep_what_the_finer_one_keeps(tmp_path_factory, rows, ks, method):
    folder = tmp_path_factory.mktemp("nested")
    table = pl.DataFrame(rows, schema=["age", "job", "ill"], orient="row")
    schema = Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"}, "job": "quasi", "ill": "sensitive",
            }
        }
    )  # fmt: skip
    first, second = ks
    _, earlier = released(folder, "a", table, schema, first, method=method_named(method))
    report, later = released(folder, "b", table, schema, second, nested_in=earlier)
    truth = list(zip(classes_in(earlier), classes_in(later), strict=True))
    assert min(meet_sizes(truth)) >= min(ks)
    view = report.facts["nested"]["view"]
    if view == "coarser":
        assert is_nested(*zip(*truth, strict=True))
    weaker = schema.with_promise([KAnonymity(min(ks))], replace_promise=True)
    files = (earlier, later)
    assert compose(ComposeRequest(table=table, schema=weaker, class_files=files)).holds
    released_rows = pl.read_csv(folder / "b.csv", infer_schema=False)
    assert released_rows.group_by("age", "job").len()["len"].min() >= second


def test_the_classes_of_a_model_count_as_a_release(tmp_path):
    schema = plain_schema()
    model = tmp_path / "m.json"
    found = learn(LearnRequest(table=PEOPLE, schema=schema, method=method_named("mondrian")))
    write_model(found.model, model)
    report, classes = released(tmp_path, "b", PEOPLE, schema, 9, nested_in=model)
    assert report.smallest_class >= 9
    assert any("coarser view" in text for text in report.notices)
    request = ComposeRequest(table=PEOPLE, schema=schema, models=(model,), class_files=(classes,))
    assert compose(request).holds


def test_records_that_the_earlier_release_left_out_stay_out(tmp_path):
    earlier = tmp_path / "c.csv"
    numbers = "\n".join(str(-1 if i == 7 else i // 20) for i in range(40))
    earlier.write_text(f"class\n{numbers}\n", encoding="ascii")
    with pytest.raises(NoSolutionError):
        released(tmp_path, "b", PEOPLE, plain_schema(), 4, nested_in=earlier)
    schema = replace(plain_schema(), suppression_limit=0.05)
    _, classes = released(tmp_path, "b", PEOPLE, schema, 4, nested_in=earlier)
    assert [i for i, c in enumerate(classes_in(classes)) if c == -1] == [7]


def test_persons_are_counted_in_both_directions(tmp_path):
    table = PEOPLE.with_columns(who=pl.Series([i // 2 for i in range(40)]))
    schema = plain_schema().with_person(["who"])
    _, first = released(tmp_path, "a", table, schema, 3)
    for k in (6, 2):
        report, classes = released(tmp_path, f"b{k}", table, schema, k, nested_in=first)
        assert report.smallest_class >= k
        weaker = schema.with_promise([KAnonymity(min(k, 3))], replace_promise=True)
        request = ComposeRequest(table=table, schema=weaker, class_files=(first, classes))
        assert compose(request).holds


def test_auto_says_what_it_chose(tmp_path):
    _, first = released(tmp_path, "a", PEOPLE, plain_schema(), 4)
    report, _ = released(
        tmp_path, "b", PEOPLE, plain_schema(), 8, nested_in=first, method=method_named("auto")
    )
    assert any("auto chose bestcut" in text for text in report.notices)


def test_what_cannot_be_nested_is_refused(tmp_path):
    files = files_in(tmp_path)
    _, first = released(tmp_path, "a", PEOPLE, plain_schema(), 4)
    ask = ReleaseRequest(table=PEOPLE, schema=plain_schema(), nested_in=first)
    pseudonym = Schema.from_document(
        {
            "columns": {
                "age": "quasi", "ill": "sensitive",
                "job": {"role": "person", "release": "pseudonym"},
            },
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )  # fmt: skip
    with pytest.raises(SchemaError, match="3 faults"):
        release(replace(ask, release="aggregate", partitions=2, schema=pseudonym))
    with pytest.raises(MethodError, match="take bestcut, refine or mondrian"):
        release(replace(ask, method=method_named("flash")))
    with pytest.raises(InputError, match="40 lines for 39 records"):
        release(replace(ask, table=PEOPLE.head(39)))
    with pytest.raises(InputError, match="class"):
        release(replace(ask, nested_in=files.table))
    with pytest.raises(OutputError, match="also an input"):
        release(replace(ask, output=Output(out=first)))


@pytest.mark.slow
def test_the_hospital_sample_loses_no_more_than_an_independent_release(tmp_path):
    files = hospital(tmp_path / "stays.csv", 10_000)
    check_loss(tmp_path, files.table, Schema.load(files.schema))


@pytest.mark.slow
def test_adult_loses_no_more_than_an_independent_release(adult, tmp_path):
    columns = {
        name: {"role": "quasi", "hierarchy": f"adult_hierarchy_{name}.csv"}
        for name in ADULT_QUASI.split(",")
    }
    columns["age"] = {"role": "quasi", "kind": "numeric"}
    document = {"columns": columns, "others": "drop"}
    check_loss(tmp_path, adult.table, Schema.from_document(document, folder=adult.hierarchies))


def check_loss(folder, table, schema):
    """k = 5, then 10: nobody below 5 in the meet, at most 1.02 times the loss; and back."""
    files = {k: released(folder, str(k), table, schema, k) for k in (5, 10)}
    for first, second in ((5, 10), (10, 5)):
        report, classes = released(
            folder, "nested", table, schema, second, nested_in=files[first][1]
        )
        assert report.utility["ncp"] <= 1.02 * files[second][0].utility["ncp"]
        weaker = schema.with_promise([KAnonymity(5)], replace_promise=True)
        together = (files[first][1], classes)
        found = compose(ComposeRequest(table=table, schema=weaker, class_files=together))
        assert found.holds
        assert found.below[5] == 0
