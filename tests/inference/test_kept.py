"""Kept columns: strong signs stop a release, fine values are told, labels are neither."""

import pytest
from tests.inference.test_roles import facts

from shoal.core.errors import SchemaError
from shoal.inference.kept import Finding, KeptCheck, beside, judge_kept, left_in
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


SCHEMA = Schema.from_document(
    {"columns": {"age": "quasi", "mrn": "identifying", "dx": "sensitive", "ward": "neutral"}}
)


def test_what_stands_beside_the_quasi_identifiers_is_asked():
    columns = ["dx", "age", "mrn", "ward", "unknown"]
    assert beside(SCHEMA, columns) == ["dx", "ward", "unknown"]


def test_identifiers_that_are_still_there_are_named():
    assert left_in(SCHEMA, ["age", "mrn"]) == ("identifying, and still in the table: 'mrn'",)
    assert left_in(SCHEMA, ["age"]) == ()


@pytest.mark.parametrize(
    ("values", "more", "remedy"),
    [
        ([f"was here with {i}" for i in range(900)], {"words": 4.0}, "Leave free text out"),
        ([f"2024-03-17 10:{i:03}" for i in range(900)], {"form": "date"}, "Cut it to the month"),
        ([f"{i}.5" for i in range(900)], {"form": "decimal"}, "Round it, or recode it"),
        ([f"two words{i}" for i in range(600)], {"words": 2.0}, "Join its values into groups"),
    ],
)  # fmt: skip
def test_the_remedy_fits_the_column(values, more, remedy):
    found = judge_kept(facts("zzz", values, **more))
    assert remedy in found.text
    assert found.text.endswith("if it is meant as it is: --waive zzz")
    assert not any(value in found.text for value in values)


@pytest.mark.parametrize(
    ("values", "records", "found"),
    [(600, 1200, Finding.NEARLY), (600, 1201, None), (20, 20, Finding.NEARLY), (19, 19, None)],
)
def test_nearly_means_fewer_than_two_records_for_a_value_and_not_a_handful(values, records, found):
    sample = [f"{i}.5" for i in range(values)]
    assert finding("zzz", sample, records=records, form="decimal") is found


def test_counted_numbers_identify_and_scattered_ones_nearly_do():
    values = [str(i) for i in range(1000)]
    counted = {"form": "integer", "lowest": 1, "highest": 1500}
    assert finding("zzz", values, **counted) is Finding.IDENTIFIES
    assert finding("zzz", values, **{**counted, "highest": 1502}) is Finding.NEARLY
    assert finding("zzz", values, form="integer", leading_zeros=True) is Finding.IDENTIFIES
    assert finding("zzz", values, form="integer", widths=1, length=7.0) is Finding.IDENTIFIES


def test_every_fault_is_named_together_and_fine_columns_only_warn():
    columns = [
        facts("mrn", [f"A{i:06}" for i in range(900)]),
        facts("mail", [f"zz{i}@example.org" for i in range(900)]),
        facts("cost", [f"{i}.5" for i in range(900)], form="decimal"),
    ]
    check = KeptCheck.of(columns, ())
    with pytest.raises(SchemaError) as caught:
        check.refuse("people.csv")
    assert len(caught.value.faults) == 2
    assert len(check.warnings) == 3
    assert [each.name for each in KeptCheck.of(columns, ["mrn"]).asked] == ["mail", "cost"]
    KeptCheck.of(columns[2:], ()).refuse("people.csv")


def test_an_empty_column_says_nothing():
    assert judge_kept(facts("mrn", [], records=0)) is None
    assert KeptCheck.of([], ()) == KeptCheck()
