from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.core.errors import InputError, PrivacyError, SchemaError
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Attribute, Kind, Others, Role, Schema

DOCUMENT = {
    "columns": {
        "name": "identifying",
        "age": {"role": "quasi", "kind": "numeric", "weight": 2},
        "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
        "size": {"role": "quasi", "kind": "ordinal", "order": ["S", "M", "L"]},
        "place": {"role": "quasi", "hierarchy": {"tree": {"*": {"north": ["a", "b"]}}}},
        "illness": {"role": "sensitive", "kind": "categorical"},
    },
    "others": "drop",
    "missing": ["?", "NA"],
    "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
    "suppression_limit": 0.05,
    "target": "illness",
}


def test_a_document_says_everything_and_comes_back_the_same() -> None:
    schema = Schema.from_document(DOCUMENT)
    assert schema.quasi == ("age", "zip", "size", "place")
    assert schema.released == ("age", "zip", "size", "place", "illness")
    assert schema.privacy == (KAnonymity(5), LDiversity(2))
    assert schema.attribute("age").weight == 2
    assert isinstance(schema.attribute("place").hierarchy, Hierarchy)
    again = Schema.from_document(json.loads(json.dumps(schema.to_document())))
    assert again == schema


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_document(
            {
                "columns": {
                    "a": {"role": "quasy"},
                    "b": {"role": "quasi", "kind": "number"},
                    "c": {"role": "neutral", "hierarchy": {"mask": {}}},
                    "d": {"role": "quasi", "colour": "red"},
                    "e": {"role": "quasi", "weight": -1},
                    "f": {"role": "quasi", "kind": "ordinal"},
                },
                "privacy": [{"model": "k-anonymity", "k": 0}, {"model": "l-diversity", "l": 2}],
                "suppression_limit": 2,
                "extra": 1,
            },
            where="schema.yaml",
        )
    faults = caught.value.faults
    assert str(caught.value).startswith(f"schema.yaml: {len(faults)} faults: (1) ")
    for part in ("'a'", "'b'", "'c'", "'d'", "'e'", "'f'", "'extra'", "k must be at least 1"):
        assert any(part in fault for fault in faults), part


def test_a_promise_is_checked_against_the_columns() -> None:
    with pytest.raises(SchemaError, match="needs a sensitive column"):
        Schema.from_document(
            {"columns": {"a": "quasi"}, "privacy": [{"model": "l-diversity", "l": 2}]}
        )


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (["age"], "'zip': no such column in the table; check the name"),
        (["age", "zip_code"], "'zip': no such column in the table; did you mean 'zip_code'?"),
        (["age", "zip", "zip"], "'zip' stands twice in the header"),
        (["age", "zip", "extra"], "have no role: 'extra'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(columns: list[str], problem: str) -> None:
    schema = Schema.from_document({"columns": {"age": "quasi", "zip": "quasi"}})
    with pytest.raises(SchemaError, match=problem):
        schema.fit(columns)


def test_other_columns_are_dropped_or_kept_only_when_the_schema_says_so() -> None:
    schema = Schema.from_document({"columns": {"age": "quasi"}, "others": "drop"})
    assert schema.fit(["age", "extra"]).released == ("age",)
    schema = Schema.from_document({"columns": {"age": "quasi"}, "others": "keep"})
    fitted = schema.fit(["age", "extra"])
    assert fitted.released == ("age", "extra")
    assert fitted.attribute("extra").role is Role.NEUTRAL


def test_a_column_named_twice_is_a_fault_in_code_in_json_and_in_yaml(tmp_path: Path) -> None:
    twice = Attribute(name="a", role=Role.QUASI)
    with pytest.raises(SchemaError, match="named 2 times"):
        Schema(attributes=(twice, twice))
    text = "columns:\n  a: quasi\n  a: neutral\n"
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(InputError, match="named twice: 'a'"):
        Schema.load(tmp_path / "s.yaml")
    (tmp_path / "s.json").write_text('{"columns": {"a": "quasi", "a": "neutral"}}')
    with pytest.raises(InputError, match="named twice: 'a'"):
        Schema.load(tmp_path / "s.json")


def test_hierarchy_paths_are_relative_to_the_schema_file(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("F;*\nM;*\n")
    (tmp_path / "s.yaml").write_text("columns:\n  sex: {role: quasi, hierarchy: trees/sex.csv}\n")
    hierarchy = Schema.load(tmp_path / "s.yaml").attribute("sex").hierarchy
    assert isinstance(hierarchy, Hierarchy)
    assert hierarchy.height == 1


def test_a_missing_hierarchy_file_is_a_fault_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("columns:\n  sex: {role: quasi, hierarchy: none.csv}\n")
    with pytest.raises(SchemaError, match=r"column 'sex': .*no such file"):
        Schema.load(tmp_path / "s.yaml")


def test_a_distance_is_chosen_for_each_column() -> None:
    document = {
        "columns": {
            "job": {"role": "quasi", "distance": "weighted", "beta": 0},
            "land": {"role": "quasi", "distance": "path"},
            "age": "quasi",
        }
    }
    schema = Schema.from_document(document)
    found = [(a.distance, a.beta) for a in schema.attributes]
    assert found == [("weighted", 0.0), ("path", 1.0), (None, 1.0)]
    assert Schema.from_document(schema.to_document()) == schema


def test_unknown_distances_are_faults() -> None:
    columns = {
        "a": {"role": "quasi", "distance": "far"},
        "b": {"role": "quasi", "beta": -1},
        "c": {"role": "quasi", "distance": 3},
        "d": {"role": "quasi", "beta": "x"},
    }
    with pytest.raises(SchemaError) as caught:
        Schema.from_document({"columns": columns})
    assert len(caught.value.faults) == 4


# --- what is made of a schema


def simple(**options) -> Schema:
    document = {
        "columns": {"n": "identifying", "a": "quasi", "s": "sensitive", "c": "neutral"},
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
        "target": "c", "waive": ["c"], "suppression_limit": 0.1, **options,
    }  # fmt: skip
    return Schema.from_document(document)


def test_columns_are_named_by_their_roles() -> None:
    schema = simple()
    assert (schema.quasi, schema.sensitive, schema.kept) == (("a",), ("s",), ("s", "c"))
    assert schema.released == ("a", "s", "c")
    assert schema.named(Role.IDENTIFYING) == ("n",)
    with pytest.raises(SchemaError, match="column 'x': the schema does not name it"):
        schema.attribute("x")


def test_a_verification_judges_classes_and_their_spread_alone() -> None:
    judged = simple(others="keep").judged()
    assert [a.name for a in judged.attributes] == ["a", "s"]
    assert judged.others is Others.DROP
    assert (judged.privacy, judged.target, judged.waive) == ((), None, ())


def test_a_promise_that_is_asked_for_joins_the_one_that_is_made() -> None:
    schema = simple().with_promise([KAnonymity(7)])
    assert schema.privacy == (KAnonymity(7), LDiversity(2))
    assert schema.suppression_limit == 0.1
    assert simple().with_promise([], suppression_limit=0).suppression_limit == 0
    with pytest.raises(PrivacyError, match="the schema promises k-anonymity k=5"):
        simple().with_promise([KAnonymity(4)])


def test_a_promise_is_replaced_only_when_that_is_said() -> None:
    assert simple().with_promise([KAnonymity(2)], replace_promise=True).privacy == (KAnonymity(2),)
    with pytest.raises(PrivacyError, match="nothing takes the promise's place"):
        simple().with_promise([], replace_promise=True)


def test_waivers_add_up_and_only_kept_columns_can_be_waived() -> None:
    assert simple().with_waived(["s", "c"]).waive == ("c", "s")
    for name in ("n", "a"):
        with pytest.raises(SchemaError, match="only a kept column can be waived"):
            simple().with_waived([name])


def test_a_waived_column_must_be_kept_by_the_table() -> None:
    kept = Schema.from_document({"columns": {"a": "quasi"}, "others": "keep", "waive": ["x"]})
    assert kept.fit(["a", "x"]).released == ("a", "x")
    dropped = Schema.from_document({"columns": {"a": "quasi"}, "others": "drop", "waive": ["x"]})
    for schema, columns in ((kept, ["a"]), (dropped, ["a", "x"])):
        with pytest.raises(SchemaError, match="column 'x' is waived but not kept"):
            schema.fit(columns)


def test_what_was_found_out_of_columns_takes_the_place_of_what_was_said() -> None:
    found = [
        Attribute(name=name, role=Role.QUASI, kind=Kind.DATE, date_format="%d.%m.%Y")
        for name in ("a", "nobody")
    ]
    schema = simple().with_attributes(found)
    assert schema.attribute("a").date_format == "%d.%m.%Y"
    assert schema.attribute("c") == simple().attribute("c")
    assert len(schema.attributes) == len(simple().attributes)


@pytest.mark.parametrize("target", ["n", "nobody"])
def test_a_target_is_a_released_column(target: str) -> None:
    with pytest.raises(SchemaError, match=f"target '{target}' is not a released column"):
        simple(target=target)


@pytest.mark.parametrize(("header", "mark"), [("a;b;c", ";"), ("a\tb", "\t"), ("a, b|c|d", "|")])
def test_a_table_read_with_the_wrong_separator_is_told_apart(header, mark):
    schema = Schema.from_document({"columns": {"a": "quasi", "b": "quasi"}})
    with pytest.raises(SchemaError, match="say --sep") as caught:
        schema.fit([header], where="t.csv")
    assert caught.value.faults[0].endswith(f"--sep '{mark}'")


def test_one_column_whose_name_holds_a_separator_may_be_meant():
    schema = Schema.from_document({"columns": {"a;b": "quasi"}})
    assert schema.fit(["a;b"], where="t.csv").quasi == ("a;b",)
    with pytest.raises(SchemaError, match="'x': no such column"):
        Schema.from_document({"columns": {"x": "quasi"}}).fit(["y"], where="t.csv")
