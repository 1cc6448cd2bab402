"""Inference on real and generated tables."""

import json
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import infer as naive
from tests.on_spark import examples

from shoal import api
from shoal.core.documents import parse_yaml
from shoal.core.errors import InputError
from shoal.engines.local.infer import preset_frame
from shoal.engines.local.source import open_source
from shoal.samples import hospital
from shoal.schema.schema import Role, Schema

_HEADER = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
)
ADULT = _HEADER.split()


@pytest.fixture(scope="session")
def adult15(data):
    """Return the original Adult table, all 15 columns, without records that miss a value."""
    path = data / "adult" / "adult.data.gz"
    if not path.is_file():
        pytest.skip("adult/adult.data.gz is not in the data folder")
    frame = pl.read_csv(path, has_header=False, new_columns=ADULT, infer_schema=False)
    frame = frame.with_columns(pl.all().str.strip_chars()).drop_nulls()
    return frame.filter(~pl.any_horizontal(pl.all() == "?"))


@pytest.fixture(scope="session")
def stays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    return hospital(folder / "stays.csv", 3000, seed=3)


def test_adult_with_all_its_columns(adult15):
    api.infer(adult15.head(100), max_size=3)  # compiles the kernels
    found = api.infer(adult15, max_size=15)
    assert found.search.complete
    assert found.named(Role.NEUTRAL) == ()
    assert found.named(Role.IDENTIFYING) == ()
    assert found.named(Role.SENSITIVE) == ("capital-gain", "capital-loss", "income")
    best = found.to_document()["sets"][0]
    assert best["columns"] == ["fnlwgt"]
    assert best["distinction"] == pytest.approx(20263 / 30162)
    rows = adult15.rows()
    for each in found.search.sets[::40]:
        expected = naive.measures(rows, each.columns)
        measured = (each.residual_entropy, each.distinction, each.separation)
        assert measured == pytest.approx(expected)


@pytest.mark.slow
def test_fifty_columns_of_hospital_encounters(data):
    path = data / "diabetes_130" / "diabetic_data.csv.gz"
    if not path.is_file():
        pytest.skip("diabetes_130 is not in the data folder")
    found = api.infer(path, max_size=4, seconds=60)
    assert found.search.complete
    assert found.named(Role.IDENTIFYING) == ("encounter_id",)
    assert found.named(Role.PERSON) == ("patient_nbr",)
    assert found.named(Role.NEUTRAL) == ()
    known = {"race", "gender", "age", "weight", "payer_code", "time_in_hospital"}
    assert known <= set(found.named(Role.QUASI))
    assert {"diag_1", "diag_2", "diag_3", "A1Cresult", "insulin"} <= set(
        found.named(Role.SENSITIVE)
    )
    assert found.to_document()["sets"][0]["columns"] == ["encounter_id"]


def test_restaurants(data):
    path = data / "sf_restaurant_scores" / "restaurant_scores_lives_flat.csv.gz"
    if not path.is_file():
        pytest.skip("sf_restaurant_scores is not in the data folder")
    found = api.infer(path, max_size=3)
    assert found.named(Role.IDENTIFYING) == (
        "business_id", "business_name", "business_address", "business_phone_number",
        "inspection_id", "violation_id",
    )  # fmt: skip
    assert found.named(Role.NEUTRAL) == ()
    assert {"business_postal_code", "business_latitude", "inspection_date"} <= set(
        found.named(Role.QUASI)
    )


def test_the_hospital_sample_is_understood_and_its_schema_can_be_used(stays):
    found = api.infer(stays.table)
    own = Schema.load(stays.schema)
    assert found.named(Role.IDENTIFYING) == own.named(Role.IDENTIFYING)
    assert set(own.quasi) <= set(found.named(Role.QUASI))
    assert "diagnosis" in found.named(Role.SENSITIVE)
    document = parse_yaml(found.schema_text(), where="proposal")
    assert document == found.schema_document()
    schema = Schema.from_document(document)
    assert set(schema.quasi) == set(found.named(Role.QUASI))


def leaks(text, frame):
    """Return the columns some of whose values stand in a text; short ones are everywhere."""
    words = set(text.replace('"', " ").replace("'", " ").replace(",", " ").split())
    found = []
    for name in frame.columns:
        values = frame[name].cast(pl.String).drop_nulls().unique().to_list()
        for value in values:
            is_short = len(value) < 4 or (len(value) < 7 and value.replace(".", "").isdigit())
            if not is_short and (value in words or (" " in value and value in text)):
                found.append(name)
                break
    return found


def test_no_output_holds_a_value_of_the_table(stays, adult15):
    for table in (pl.read_csv(stays.table, infer_schema=False), adult15.head(5000)):
        found = api.infer(table, max_size=4)
        texts = [
            json.dumps(found.to_document(), ensure_ascii=False),
            json.dumps(found.schema_document(), ensure_ascii=False),
            found.schema_text(),
            repr(found),
            json.dumps(dict(found.preset("hipaa-safe-harbor").schema)),
        ]
        for text in texts:
            assert leaks(text, table) == []


def test_values_of_every_form_stay_inside():
    values = {
        "contact": [f"qzx{i}@example.org" for i in range(60)],
        "seen": [f"{i:02}.03.20{i:02}" for i in range(1, 25)] + ["17.11.2024"] * 36,
        "remark": [f"Qzworp {i} spoke with Brulstwick about the leg for hours" for i in range(60)],
        "x": [str(9_000_000_001 + 7919 * i) for i in range(60)],
        "level": ["Qlow", "Qmid", "Qhigh"] * 20,
        "amount": [f"{i}987.35" for i in range(60)],
    }
    frame = pl.DataFrame(values)
    found = api.infer(frame)
    text = json.dumps(found.to_document()) + found.schema_text() + repr(found)
    for column in values.values():
        assert not any(value in text for value in column)
    assert found.verdicts["remark"].free_text
    assert found.named(Role.IDENTIFYING) == ("contact", "remark", "x")


def test_marks_of_missing_values_do_not_spoil_a_form():
    frame = pl.DataFrame(
        {"age": ["34", "?", "51", None, ""] * 9, "x": ["a", "b", "c", "d", "e"] * 9}
    )
    found = api.infer(frame)
    assert str(found.verdicts["age"].kind) == "numeric"
    assert found.columns[0].missing == 27
    assert found.schema_document()["missing"] == ["?"]


def test_types_of_other_formats_are_read_as_they_are():
    frame = pl.DataFrame(
        {
            "day": [date(2024, 1, d) for d in range(1, 29)],
            "flag": [True, False] * 14,
            "size": [d * 1.5 for d in range(28)],
            "zip": [1000 + d for d in range(28)],
        }
    )
    found = api.infer(frame)
    kinds = {name: str(verdict.kind) for name, verdict in found.verdicts.items()}
    assert kinds == {"day": "date", "flag": "categorical", "size": "numeric", "zip": "categorical"}


def test_an_empty_table_is_refused_and_nested_columns_too():
    with pytest.raises(InputError, match="no record"):
        api.infer(pl.DataFrame({"a": pl.Series([], dtype=pl.String)}))
    with pytest.raises(InputError, match="not plain ones"):
        api.infer(pl.DataFrame({"a": [[1], [2]]}))


def test_one_record_and_an_all_missing_column():
    found = api.infer(pl.DataFrame({"name": ["Qx Zy"], "b": [None]}))
    assert found.named(Role.IDENTIFYING) == ("name",)
    assert found.records == 1


@pytest.mark.local("presets")
def test_safe_harbor_does_what_the_rule_says():
    frame = pl.DataFrame(
        {
            "name": [f"Qx{i} Zy{i}" for i in range(6)],
            "age": ["34", "89", "90", "103", "0", "-4"],
            "birth_date": [
                "1990-05-01",
                "1935-01-01",
                "1934-12-31",
                "1921-02-02",
                None,
                "2024-01-01",
            ],
            "admission": ["2023-12-31", "2024-01-01", "2022-02-28", "2022-03-01", "2022-03-02", ""],
            "zip": ["75275", "03601", "89301", "75275-1234", "7527", None],
            "city": ["Qtown", "Zville", "Qtown", "Zville", "Qtown", "Zville"],
            "sex": ["F", "M", "F", "M", "F", "M"],
        }
    )
    found = api.infer(frame)
    preset = found.preset("hipaa-safe-harbor", as_of=date(2024, 6, 30))
    after = preset_frame(open_source(frame), preset).collect()
    assert after.columns == ["age", "birth_date", "admission", "zip", "sex"]
    assert after["age"].to_list() == ["34", "89", "90+", "90+", "0", None]
    assert after["birth_date"].to_list() == ["1990", "1935", "<=1934", "<=1934", None, "2024"]
    assert after["admission"].to_list() == [2023, 2024, 2022, 2022, 2022, None]
    assert after["zip"].to_list() == ["752", "000", "000", "752", "000", None]


@pytest.mark.local("presets")
def test_safe_harbor_on_the_hospital_sample_can_be_anonymized(stays):
    source = open_source(stays.table)
    preset = api.infer(stays.table).preset("hipaa-safe-harbor", as_of=date(2024, 6, 30))
    schema = Schema.from_document(preset.schema)
    table = preset_frame(source, preset).collect()
    release = api.anonymize(table, schema)
    assert release.report.smallest_class >= 5


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 4), min_size=2, max_size=30),
    st.sampled_from([0.4, 1.0, 2.0]),
)
def test_sets_of_a_small_table_are_those_of_brute_force(rows, threshold):
    frame = pl.DataFrame(rows, schema=["w", "x", "y", "z"], orient="row")
    found = api.infer(frame, max_size=4, threshold=threshold)
    expected = naive.minimal_sets(rows, max_size=4, threshold=threshold)
    assert sorted(s.columns for s in found.search.sets) == sorted(expected)


def typed_notes(records=2000):
    """A table with German phone numbers in what people typed, under several headers."""
    calls = [i < 743 for i in range(records)]
    return pl.DataFrame(
        {
            "age": [20 + i % 60 for i in range(records)],
            "sex": ["FM"[i % 2] for i in range(records)],
            "diagnosis": [["I21", "J18", "S72"][i % 3] for i in range(records)],
            # Hardly any of the texts differ, so that counts do not show what they are.
            "note": ["Tel. 030 1234567" if c else "ok" for c in calls],
            "befund": [f"Rueckruf unter 030 {i:07}" if c else "ohne" for i, c in enumerate(calls)],
            "treatment": [
                f"bitte Frau Zq{i % 90} nebenan fragen" if c else "keine"
                for i, c in enumerate(calls)
            ],
            "zustand": ["ruhig" if i % 2 else "Konto DE89 3704 0044 0532 0130 00"
                        for i in range(records)],
            "ward": [["unit one", "unit two"][i % 2] for i in range(records)],
        }
    )  # fmt: skip


@pytest.mark.local("presets")
def test_a_german_phone_number_in_free_text_does_not_survive_safe_harbor(tmp_path, run):
    typed_notes().write_csv(tmp_path / "t.csv")
    out, prepared = tmp_path / "s.yaml", tmp_path / "p.csv"
    answer = run("infer", tmp_path / "t.csv", "--preset", "hipaa-safe-harbor", "--out", out,
                 "--prepared", prepared)  # fmt: skip
    assert answer.code == 0
    schema = Schema.load(out)
    assert set(schema.released) == {"age", "sex", "diagnosis"}
    text = prepared.read_text()
    for word in ("030", "Tel", "Zq", "DE89"):
        assert word not in text
    assert "free text is left out" in answer.out


def test_infer_knows_phone_numbers_and_ibans_inside_texts():
    found = api.infer(typed_notes())
    for name, what in (("note", "phone numbers"), ("befund", "phone numbers"), ("zustand", "IBAN")):
        verdict = found.verdicts[name]
        assert verdict.role is Role.IDENTIFYING
        assert what in verdict.why
