"""Utility constraints: no label crosses what a data owner allows, whatever is asked."""

from __future__ import annotations

import json
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.test_transactions import MIXED, shop
from tests.naive import itemsets as naive

import shoal
from shoal.cli.main import main
from shoal.core.errors import MethodError, SchemaError
from shoal.schema.flags import with_utility_constraints
from shoal.schema.schema import Schema
from shoal.table.item_labels import read_label

pytestmark = pytest.mark.local("columns of sets")

WORDS = {"qi": ["items"], "set": ["items"], "k": 3, "m": 2}
ROWS = ["a", "b", "a", "b", "a|c", "b|d", "c", "d", "e", "c", "d"]
TABLE = pl.DataFrame({"items": ROWS})


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.txt"
    path.write_text("a|b\n\nc|d\n")
    return path


def labels_of(table) -> list[frozenset[str]]:
    return [frozenset(cell.split("|")) - {""} for cell in table["items"]]


def crosses(table, sets) -> bool:
    """Say whether a label stands for several items that are not all in one set."""
    for record in labels_of(table):
        for label in record:
            items = set(read_label(label, "|"))
            if len(items) > 1 and not any(items <= set(each) for each in sets):
                return True
    return False


@pytest.mark.parametrize("method", ["coat", "pcta"])
def test_labels_stay_within_and_the_promise_holds(groups, method):
    release = shoal.anonymize(TABLE, **WORDS, method=method, utility_constraints=groups)
    assert not crosses(release.table, ["ab", "cd"])
    assert naive.rarest(labels_of(release.table), 2) >= 3
    assert release.report.facts["sets"]["suppressed_occurrences"] > 0  # e may go with nothing
    free = shoal.anonymize(TABLE, **WORDS, method=method)
    assert free.report.facts["sets"]["suppressed_occurrences"] == 0
    assert crosses(free.table, ["ab", "cd"])


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=3), min_size=4, max_size=16),
    st.integers(2, 3),
    st.sampled_from([("ab", "cdef"), ("abc", "de"), ("abcdef",), ("a", "b", "c")]),
    st.sampled_from(["coat", "pcta"]),
)
def test_whatever_the_table_no_label_crosses(rows, k, sets, method):
    table = pl.DataFrame({"items": ["|".join(sorted(row)) for row in rows]})
    schema = {
        "columns": {
            "items": {"role": "quasi", "kind": "set", "utility_constraints": [*map(list, sets)]}
        },
        "privacy": [{"model": "km-anonymity", "k": k, "m": 2}],
    }
    release = shoal.anonymize(table, schema, method=method)
    assert not crosses(release.table, sets)
    found = naive.rarest(labels_of(release.table), 2)
    assert found == 0 or found >= k
    assert release.table.height == len(rows)


def test_without_a_method_constraints_are_for_coat(groups):
    release = shoal.anonymize(TABLE, **WORDS, utility_constraints=groups)
    asked = shoal.anonymize(TABLE, **WORDS, utility_constraints=groups, method="coat")
    assert release.report.method == asked.report.method == "coat"
    assert release.table.equals(asked.table)


def test_each_class_of_other_columns_keeps_them():
    items = sorted({item for cell in MIXED["items"] for item in cell.split("|")} - {""})
    sets = [items[:4], items[4:]]
    schema = {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"}, "sex": "quasi",
            "items": {"role": "quasi", "kind": "set", "utility_constraints": sets},
        },
        "others": "drop",
        "privacy": [{"model": "km-anonymity", "k": 4, "m": 2}],
    }  # fmt: skip
    release = shoal.anonymize(MIXED, schema, method="coat")
    assert not crosses(release.table, sets)
    for _, part in release.table.group_by("age", "sex"):
        assert naive.rarest(labels_of(part), 2) in (0, *range(4, 241))


@pytest.mark.parametrize("method", ["itemsets", "apriori", "lra", "vpa"])
def test_methods_that_would_ignore_them_are_refused(groups, method):
    with pytest.raises(MethodError, match=f"{method} takes no utility constraints"):
        shoal.anonymize(TABLE, **WORDS, utility_constraints=groups, method=method)


def test_a_requirement_is_met_within_them(groups, tmp_path):
    wanted = tmp_path / "requirements.txt"
    wanted.write_text("a|c\n")
    release = shoal.anonymize(
        TABLE, qi=["items"], set=["items"], k=4, requirements=str(wanted),
        utility_constraints=groups, method="coat",
    )  # fmt: skip
    rows = labels_of(release.table)
    fits = sum(
        all(any(item in read_label(label, "|") for label in row) for item in "ac") for row in rows
    )
    assert fits == 0 or fits >= 4
    assert not crosses(release.table, ["ab", "cd"])
    assert any("e" in row for row in rows)  # nobody asks anything of it


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("ab", "list of lists"),
        (["ab"], "list of lists"),
        ([[]], "list of lists"),
        ([[1, 2]], "list of lists"),
        ([["a", "secret"], ["secret"]], "twice"),
    ],
)
def test_what_are_no_sets_of_items_is_refused(listed, text):
    column = {"role": "quasi", "kind": "set", "utility_constraints": listed}
    with pytest.raises(SchemaError, match=text) as caught:
        Schema.from_document({"columns": {"items": column}})
    assert "secret" not in str(caught.value)


def test_they_go_with_sets_and_are_written_but_not_shown(groups):
    with pytest.raises(SchemaError, match="--utility-constraints"):
        shoal.anonymize(TABLE, qi=["items"], k=2, utility_constraints=groups)
    with pytest.raises(SchemaError, match="go with a column of sets"):
        Schema.from_document({"columns": {"x": {"role": "quasi", "utility_constraints": [["a"]]}}})
    plain = Schema.from_document({"columns": {"items": {"role": "quasi", "kind": "set"}}})
    assert with_utility_constraints(plain, None) is plain
    found = with_utility_constraints(plain, groups)
    assert found.attributes[0].utility_constraints == (("a", "b"), ("c", "d"))
    assert Schema.from_document(found.to_document()) == found
    assert "'a'" not in repr(found.attributes[0])
    release = shoal.anonymize(TABLE, found, k=3, m=2)
    assert '["a"' not in json.dumps(release.to_dict()["request"])


def test_from_the_command_line(groups, tmp_path, capsys):
    path, out = tmp_path / "shop.csv", tmp_path / "release.csv"
    TABLE.write_csv(path)
    words = ["--qi", "items", "--set", "items", "-k", "3", "--m", "2"]
    asked = ["--utility-constraints", str(groups), "--out", str(out)]
    assert main(["anonymize", str(path), *words, *asked]) == 0
    assert "km-anonymity k=3, m=2: holds" in capsys.readouterr().out
    assert not crosses(pl.read_csv(out).fill_null(""), ["ab", "cd"])
    asked[1] = str(tmp_path / "none.txt")
    assert main(["anonymize", str(path), *words, *asked]) == 2
    capsys.readouterr()


def test_sets_of_all_items_are_no_constraint_at_all(tmp_path):
    table = shop(60, 6)
    items = sorted({item for cell in table["items"] for item in cell.split("|")} - {""})
    path = tmp_path / "all.txt"
    path.write_text("|".join(items))
    free = shoal.anonymize(table, **WORDS, method="coat")
    same = shoal.anonymize(table, **WORDS, method="coat", utility_constraints=path)
    assert free.table.equals(same.table)
    pairs = {frozenset(pair) for row in labels_of(same.table) for pair in combinations(row, 2)}
    assert all(naive.support(labels_of(same.table), pair) >= 3 for pair in pairs)
