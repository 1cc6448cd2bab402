"""Kept columns: strong signs stop a release, fine values are told, labels are neither."""

import pytest
from tests.methods.infer.test_roles import facts

from shoal.core.errors import SchemaError
from shoal.methods.infer.kept import Finding, KeptCheck, judge_kept
from shoal.schema.schema import Schema


def finding(*args, **more):
    found = judge_kept(facts(*args, **more))
    return None if found is None else found.finding


@pytest.mark.parametrize(
    ("header", "values", "more"),
    [
        ("full_name", [f"Zq{i} Xw{i}" for i in range(900)], {}),
        ("first_name", [f"Zq{chr(97 + i)}" for i in range(26)], {"records": 90_000}),
        ("mrn", [f"A{i:06}" for i in range(900)], {}),
        ("mrn", [f"{i}" for i in range(10)], {"records": 10, "form": "integer"}),
        ("patient_nbr", [f"{i}" for i in range(700)], {"form": "integer"}),
        ("zzz", [f"zz{i}@example.org" for i in range(900)], {}),
        ("zzz", ["+49 30 1234567", "030 1234568", "0171 1234569"], {"records": 3}),
        ("zzz", ["DE89370400440532013000", "GB82WEST12345698765432"], {"records": 2}),
        ("zzz", [f"Vromamu Quist{chr(97 + i % 26)}{'x' * i}" for i in range(600)], {}),
        ("zzz", [f"Q{i:07}" for i in range(1000)], {"words": 1.0}),
        ("zzz", [f"{i}" for i in range(1000)], {"form": "integer", "lowest": 1, "highest": 1000}),
    ],
)
def test_names_record_numbers_and_addresses_identify_whatever_the_header_says(header, values, more):
    assert finding(header, values, **more) is Finding.IDENTIFIES


@pytest.mark.parametrize(
    ("header", "values", "more"),
    [
        ("cost", [f"{i}.{i % 90 + 10}" for i in range(900)], {"form": "decimal"}),
        ("admitted_at", [f"2024-03-17 10:{i:03}" for i in range(900)], {"form": "date"}),
        ("remark", [f"was here with {i}" for i in range(900)], {"words": 4.0, "length": 14.0}),
        ("zzz", [f"{i * 977}" for i in range(1000)],
         {"form": "integer", "lowest": 0, "highest": 976023}),
    ],
)  # fmt: skip
def test_fine_values_and_free_text_nearly_identify(header, values, more):
    found = judge_kept(facts(header, values, **more))
    assert found.finding is Finding.NEARLY
    assert f"--waive {header}" in found.text


@pytest.mark.parametrize(
    ("header", "values", "more"),
    [
        ("diagnosis", ["I21", "J18", "S72"], {}),
        ("income", [f"{i}000" for i in range(90)], {"form": "integer"}),
        ("class", ["<=50K", ">50K"], {}),
        ("salary", ["1000-1999", "2000-2999", "3000-3999"], {}),
        ("PUMA", [f"36-{i:05}" for i in range(20)], {"records": 27_000}),
        ("department_id", [f"D{i}" for i in range(60)], {}),
        ("product_name", [f"Zq {chr(97 + i)}" for i in range(26)], {}),
        ("ndc", [f"0002-{1000 + i}-80" for i in range(90)], {}),
        ("ip", ["192.0.2.7", "192.0.2.8"], {}),
        ("name", [], {"missing": 1000}),
    ],
)
def test_codes_amounts_and_labels_do_not_stop_a_release(header, values, more):
    assert finding(header, values, **more) is None


def test_a_waived_column_stops_nothing_and_is_listed():
    schema = Schema.from_document({"columns": {"age": "quasi", "mrn": "neutral"}, "waive": ["mrn"]})
    columns = [facts("mrn", [f"A{i:06}" for i in range(900)])]
    with pytest.raises(SchemaError, match=r"--identifying mrn.*--waive mrn") as caught:
        KeptCheck.of(columns, ()).refuse("table")
    assert "A000" not in str(caught.value)
    waived = KeptCheck.of(columns, schema.waive)
    waived.refuse("table")
    assert waived.warnings == ()
    roles = waived.roles(schema, ["age", "mrn", "other"])
    assert roles["mrn"]["waived"]
    assert roles["mrn"]["finding"] == "identifies"
    assert (roles["age"]["kept"], roles["other"]["released"]) == (False, False)
