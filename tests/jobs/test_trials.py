"""What is tried side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.jobs.people import files_in, plain_schema

from shoal.core.errors import PrivacyError, SchemaError
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.trials import Grid, called, trials_from
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema


def grid(table, schema, *methods, ks=(4, 8), **words):
    return Grid(
        tables=(table,), schema=schema, methods=tuple(method_named(m) for m in methods),
        promises=tuple((KAnonymity(k),) for k in ks), **words,
    )  # fmt: skip


@pytest.fixture
def files(tmp_path):
    return files_in(tmp_path)


def test_every_combination_is_tried_once_and_named_by_what_differs():
    found = grid(
        "a.csv", plain_schema(), "bestcut", "oka", releases=("generalize", "aggregate"),
        limits=(0.0, 0.1), seeds=(0, 3),
    ).trials()  # fmt: skip
    assert len(found) == len({each.name for each in found}) == 2 * 2 * 2 * 2 * 2
    assert found[0].name == "bestcut k=4 release=generalize suppression-limit=0.0 seed=0"
    assert found[1].words[-2:] == ("--seed", "3")
    assert {each.facts["group"] for each in found} == {
        each.name.rpartition(" ")[0] for each in found
    }


def test_a_promise_that_is_looser_than_the_schemas_is_refused():
    with pytest.raises(PrivacyError):
        grid("a.csv", plain_schema(), "bestcut", ks=(2,)).trials()
    (found,) = grid("a.csv", plain_schema(), "bestcut", ks=(2,), replace_promise=True).trials()
    assert found.request.schema.privacy == (KAnonymity(2),)


def test_runs_come_from_a_file_of_requests(files):
    base = ReleaseRequest(table=str(files.table), schema=Schema.load(files.schema))
    document = {
        "runs": [
            {"name": "fine", "method": {"name": "refine", "effort": "fast"}},
            {"method": "mondrian", "seed": 2},
        ]
    }
    found = trials_from(document, base, where="runs.yaml")
    assert [each.name for each in found] == ["fine", "mondrian, run 2"]
    assert found[1].request == replace(base, method=method_named("mondrian"), seed=2)
    assert found[0].facts["promise"] == {"k": 4}


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({}, "a list of release requests"),
        ({"runs": [{"methd": "oka"}]}, "did you mean 'method'"),
        ({"runs": [{"job": "verify", "method": "oka"}]}, "run 1"),
        ({"runs": [{"name": "a"}, {"name": "a"}]}, "stand twice"),
    ],
)
def test_a_file_that_describes_no_runs_is_refused(files, document, word):
    base = ReleaseRequest(table=str(files.table), schema=Schema.load(files.schema))
    with pytest.raises(SchemaError, match=word):
        trials_from(document, base, where="runs.yaml")


def test_samples_and_partitions_are_named_and_a_sample_has_no_command():
    found = grid(
        "a.csv", plain_schema(), "mondrian", ks=(4,), samples=(20, None), partitions=(None, 2)
    ).trials()
    assert [each.name for each in found] == [
        "mondrian k=4 partitions=none records=20", "mondrian k=4 partitions=2 records=20",
        "mondrian k=4 partitions=none records=all", "mondrian k=4 partitions=2 records=all",
    ]  # fmt: skip
    assert [bool(each.words) for each in found] == [False, False, True, True]
    assert found[3].words[-2:] == ("--partitions", "2")
    assert found[1].request.partitions == 2


def test_labels_what_is_minimized_and_how_parts_are_made_may_be_lists():
    found = grid(
        "a.csv", plain_schema(), "bestcut", ks=(4,), labels=("round", "tight"),
        utilities=("ncp", "loss"), partitions=(2,), partition_by=("kmeans", "random"),
    ).trials()  # fmt: skip
    assert len(found) == len({each.name for each in found}) == 2 * 2 * 2
    last = found[-1]
    assert last.name == "bestcut partition-by=random k=4 labels=tight utility=loss"
    assert last.request.labels == "tight"
    assert last.request.schema.utility == "loss"
    assert last.request.partition_by == "random"
    assert (last.facts["labels"], last.facts["minimizes"]) == ("tight", "loss")
    assert "--labels tight --utility loss --partitions 2 --partition-by random" in " ".join(
        last.words
    )
    with pytest.raises(SchemaError, match="round, tight"):
        grid("a.csv", plain_schema(), "bestcut", labels=("rond",)).trials()


def test_what_is_asked_twice_is_tried_once_and_tables_of_one_name_are_told_apart():
    found = grid("x/a.csv", plain_schema(), "bestcut", "bestcut", ks=(4, 4)).trials()
    assert [each.name for each in found] == ["bestcut k=4"]
    base = grid("x/a.csv", plain_schema(), "bestcut", ks=(4,))
    found = replace(base, tables=("x/a.csv", "y/a.csv", "b.csv")).trials()
    assert [each.name for each in found] == [
        "bestcut k=4 of a.csv (1)", "bestcut k=4 of a.csv (2)", "bestcut k=4 of b.csv",
    ]  # fmt: skip
    assert [each.request.table for each in found] == ["x/a.csv", "y/a.csv", "b.csv"]


def test_a_table_is_called_by_its_file():
    assert (called("x/stays.csv"), called(object())) == ("stays.csv", "table")
