"""Linked tables on this machine: opened, checked, joined, judged, and given new keys."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from shoal.core.errors import InputError, SchemaError
from shoal.core.secret_keys import Keys
from shoal.engines.linked import judge_linked, key_faults, persons_alike, refuse_keys, with_keys
from shoal.engines.local.linked import LinkedRecords, OpenTables, places_of, write_tables
from shoal.formats.database import Database
from shoal.methods.linked.search import search_linked
from shoal.methods.method import Setting
from shoal.methods.registry import method_named
from shoal.schema.attribute import Proposals
from shoal.schema.linked import LinkedSchema

pytestmark = pytest.mark.local("linked tables")

DOCUMENT = {
    "tables": {
        "patients": {"key": "id", "columns": {"name": "identifying", "age": "quasi"}},
        "stays": {
            "key": "stay", "parent": "patients", "foreign_key": "who",
            "columns": {"ward": "quasi", "illness": "sensitive", "cost": "neutral"},
        },
        "drugs": {"parent": "stays", "columns": {"drug": "quasi"}},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 2},
        {"model": "l-diversity", "l": 2, "column": "stays.illness"},
    ],
    "suppression_limit": 1.0,
}  # fmt: skip
SCHEMA = LinkedSchema.from_document(DOCUMENT)


def frames(**changes):
    """Return two patients with a stay each, and a third one without."""
    found = {
        "patients": pl.DataFrame(
            {"id": ["a", "b", "c"], "name": ["x", "y", "z"], "age": ["30", "30", "40"]}
        ),
        "stays": pl.DataFrame(
            {
                "stay": ["1", "2"], "who": ["a", "b"], "ward": ["w", "w"],
                "illness": ["flu", "gout"], "cost": ["7", "8"],
            }
        ),
        "drugs": pl.DataFrame({"stay": ["1", "2"], "drug": ["asp", "asp"]}),
    }  # fmt: skip
    return {**found, **changes}


def keyed(tables):
    return {t.name: with_keys(tables[t.name], t) for t in SCHEMA.tables}


def opened(tables, schema=SCHEMA):
    return OpenTables.of(tables, schema, separator=None)


def read(tables, schema=SCHEMA):
    return LinkedRecords.read(opened(tables, schema), Proposals.TREES, Keys.of(None))


def searched(records, k=2):
    tables = [each.counts for each in records.tables]
    return search_linked(tables, k, method_named("bestcut"), Setting(suppression_limit=1.0))


def test_keys_that_are_in_order_have_no_faults():
    assert key_faults(keyed(frames()), SCHEMA) == []
    refuse_keys(keyed(frames()), SCHEMA, where="tables")


def test_keys_are_compared_as_texts_without_spaces_around_them():
    numbers = frames()["patients"].with_columns(id=pl.Series([1, 2, 3]))
    stays = frames()["stays"].with_columns(who=pl.Series([" 1", "2 "]))
    assert key_faults(keyed(frames(patients=numbers, stays=stays)), SCHEMA) == []


def test_faults_of_keys_are_counted():
    tables = frames(
        patients=frames()["patients"].with_columns(id=pl.Series(["a", "a", None])),
        stays=frames()["stays"].with_columns(
            who=pl.Series(["a", "gone"]), stay=pl.Series(["", "2"])
        ),
        drugs=pl.DataFrame({"stay": ["1", None, "7"], "drug": ["x", "y", "z"]}),
    )
    assert key_faults(keyed(tables), SCHEMA) == [
        "table 'patients': 1 rows have no 'id'",
        "table 'patients': 1 rows repeat a 'id' of another row",
        "table 'stays': 1 rows have no 'stay'",
        "table 'stays': 1 rows have a 'who' that is not in 'patients'",
        "table 'drugs': 1 rows have no 'stay'",
        "table 'drugs': 2 rows have a 'stay' that is not in 'stays'",
    ]
    with pytest.raises(InputError, match="Mend the keys") as caught:
        opened(tables).verify()
    assert "gone" not in str(caught.value)


def test_a_mark_of_missing_values_is_no_mark_in_a_key():
    schema = LinkedSchema.from_document({**DOCUMENT, "missing": ["2", "a"]})
    found = opened(frames(), schema).verify()
    assert found.persons == 3


def test_persons_are_alike_by_all_rows_of_all_tables():
    assert sorted(persons_alike(keyed(frames()), SCHEMA).tolist()) == [1, 2]
    other = pl.DataFrame({"stay": ["1", "2"], "drug": ["asp", "ibu"]})
    assert persons_alike(keyed(frames(drugs=other)), SCHEMA).tolist() == [1, 1, 1]
    more = pl.DataFrame({"stay": ["1", "2", "2"], "drug": ["asp", "asp", "asp"]})
    assert persons_alike(keyed(frames(drugs=more)), SCHEMA).tolist() == [1, 1, 1]


def test_a_null_is_a_value_of_its_own_and_not_the_empty_text():
    null = frames()["patients"].with_columns(age=pl.Series(["30", None, None]))
    empty = frames()["patients"].with_columns(age=pl.Series(["30", None, ""]))
    none = pl.DataFrame(schema=frames()["stays"].schema)
    nothing = pl.DataFrame(schema=frames()["drugs"].schema)
    for patients, sizes in ((null, [1, 2]), (empty, [1, 1, 1])):
        tables = frames(patients=patients, stays=none, drugs=nothing)
        assert sorted(persons_alike(keyed(tables), SCHEMA).tolist()) == sizes


def test_names_of_columns_do_not_get_in_each_others_way():
    """Columns that are called like tables, or like what a join needs."""
    document = {
        "tables": {
            "a": {"key": "k", "columns": {"b": "quasi", "tree": "quasi", "len": "quasi"}},
            "b": {"parent": "a", "columns": {"a": "quasi", "right": "sensitive"}},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}],
        "suppression_limit": 1,
    }
    schema = LinkedSchema.from_document(document)
    tables = {
        "a": pl.DataFrame({"k": [1, 2], "b": ["x"] * 2, "tree": ["y"] * 2, "len": ["z"] * 2}),
        "b": pl.DataFrame({"k": [1, 2], "a": ["x"] * 2, "right": ["s", "t"]}),
    }
    assert opened(tables, schema).verify().holds
    records = read(tables, schema)
    made = records.released(searched(records))
    assert made["b"].rows() == [(1, "x", "s"), (2, "x", "t")]


def test_what_is_judged():
    found = opened(frames()).verify()
    assert not found.holds
    assert (found.records, found.persons, found.classes, found.smallest_class) == (7, 3, 2, 1)
    assert found.violating_records == 1  # the patient without a stay
    k, diverse = found.privacy
    assert (k.holds, k.value, diverse.holds, diverse.value) == (False, 1, True, 2)
    assert diverse.model.column == "stays.illness"
    assert found.trajectories["unique"] == 1
    both = frames(patients=frames()["patients"].head(2))
    assert opened(both).verify().holds


def test_a_promise_about_a_table_without_rows_holds():
    none = {name: frame.clear() for name, frame in frames().items()}
    same = frames()["patients"].with_columns(age=pl.lit("30"))
    found = opened({**none, "patients": same}).verify()
    assert found.holds
    assert found.privacy[1].value is None


def test_without_a_person_there_is_nothing_to_judge():
    none = {name: frame.clear() for name, frame in frames().items()}
    with pytest.raises(InputError, match="no record"):
        opened(none).verify()
    with pytest.raises(InputError, match="no record"):
        read(none)
    with pytest.raises(InputError, match="no record"):
        judge_linked(keyed(none), SCHEMA, where="tables")


def test_missing_columns_are_named():
    with pytest.raises(InputError, match="ward"):
        opened(frames(stays=frames()["stays"].drop("ward"))).verify()
    with pytest.raises(SchemaError) as caught:
        read(frames(stays=frames()["stays"].drop("ward"), drugs=frames()["drugs"].drop("stay")))
    assert any("table 'stays': column 'ward'" in fault for fault in caught.value.faults)
    assert any("table 'drugs': no column 'stay'" in fault for fault in caught.value.faults)


def test_every_table_must_be_there(tmp_path):
    with pytest.raises(InputError, match="no table 'stays'; no table 'drugs'"):
        places_of({"patients": frames()["patients"]}, SCHEMA)
    with pytest.raises(InputError, match="must be a folder"):
        places_of(3, SCHEMA)
    with pytest.raises(InputError, match="no such folder"):
        places_of(tmp_path / "nowhere", SCHEMA)
    database = Database(uri="sqlite:///x.db", table="patients")
    found = places_of(database, SCHEMA)
    assert [place.table for place in found.values()] == ["patients", "stays", "drugs"]


def test_tables_are_read_in_an_order_of_their_own():
    turned = {name: frame.reverse() for name, frame in frames().items()}
    one, two = read(frames()), read(turned)
    for a, b in zip(one.tables, two.tables, strict=True):
        names = [name for name in a.columns if name not in a.about.keys]
        assert a.frame.select(names).equals(b.frame.select(names))
        assert "flu" not in repr(a)


def test_records_find_their_parents_and_persons():
    records = read(frames())
    patients, stays, drugs = records.tables
    assert patients.counts.above == -1
    assert stays.counts.above == 0
    assert drugs.counts.above == 1
    who = patients.frame["id"].gather(stays.counts.parent).to_list()
    assert who == stays.frame["who"].to_list()
    stay = stays.frame["stay"].gather(drugs.counts.parent).to_list()
    assert stay == drugs.frame["stay"].to_list()
    whose = drugs.counts.table.persons[drugs.counts.row]
    assert patients.frame["id"].gather(whose.tolist()).to_list() == ["a", "b"]


def test_a_release_numbers_its_rows_by_what_they_release():
    records = read(frames())
    made = records.released(searched(records))
    assert made["patients"].columns == ["id", "age"]
    assert made["patients"].rows() == [(1, "30"), (2, "30")]
    assert made["stays"].rows() == [(1, 1, "w", "flu", "7"), (2, 2, "w", "gout", "8")]
    assert made["drugs"].rows() == [(1, "asp"), (2, "asp")]


def test_new_keys_do_not_depend_on_old_ones():
    other = {"a": "zz", "b": "0", "c": "m"}
    renamed = frames(
        patients=frames()["patients"].with_columns(pl.col("id").replace(other)),
        stays=frames()["stays"].with_columns(pl.col("who").replace(other)),
    )
    made = []
    for tables in (frames(), renamed):
        records = read(tables)
        made.append(records.released(searched(records)))
    assert all(made[0][name].equals(made[1][name]) for name in made[0])


def test_kept_columns_keep_their_types():
    stays = frames()["stays"].with_columns(pl.col("cost").cast(pl.Int64))
    records = read(frames(stays=stays))
    assert records.released(searched(records))["stays"]["cost"].dtype == pl.Int64


def test_what_is_done_to_each_column_is_told():
    roles = {name: role for each in read(frames()).tables for name, role in each.roles().items()}
    assert roles["patients.name"]["released"] is False
    assert roles["stays.ward"]["role"] == "quasi"
    for key in ("patients.id", "stays.stay", "stays.who", "drugs.stay"):
        assert "new numbers" in roles[key]["replaced"]
        assert roles[key]["released"] is True


def test_a_kept_identifier_stops_the_release_with_its_table():
    people = pl.DataFrame(
        {"id": [f"{i}" for i in range(40)], "age": ["30"] * 40,
         "name": [f"p{i}@example.org" for i in range(40)]}
    )  # fmt: skip
    document = {**DOCUMENT, "tables": {**DOCUMENT["tables"]}}
    document["tables"]["patients"] = {"key": "id", "columns": {"name": "neutral", "age": "quasi"}}
    schema = LinkedSchema.from_document(document)
    none = {name: frame.clear() for name, frame in frames().items()}
    with pytest.raises(SchemaError, match="table 'patients': column 'name'") as caught:
        read({**none, "patients": people}, schema)
    assert "example.org" not in str(caught.value)
    assert read({**none, "patients": people}, schema.with_waived(["patients.name"])).tables


def test_dates_of_a_person_are_shifted_alike_in_all_tables():
    shifted = {"role": "identifying", "release": {"shift": {"by": "id", "fresh": True}}}
    document = {
        "tables": {
            "patients": {
                "key": "id",
                "columns": {"age": "quasi", "first": shifted},
            },
            "stays": {
                "parent": "patients", "foreign_key": "id",
                "columns": {"day": shifted},
            },
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "suppression_limit": 1,
    }  # fmt: skip
    schema = LinkedSchema.from_document(document).with_waived(["patients.first", "stays.day"])
    tables = {
        "patients": pl.DataFrame(
            {"id": ["a", "b"], "age": ["1", "1"], "first": ["2024-01-01", "2024-01-01"]}
        ),
        "stays": pl.DataFrame({"id": ["a", "b"], "day": ["2024-01-11", "2024-01-11"]}),
    }
    records = read(tables, schema)
    made = records.released(searched(records))
    both = made["patients"].join(made["stays"], on="id")
    days = both["day"].str.to_date() - both["first"].str.to_date()
    assert days.dt.total_days().to_list() == [10, 10]
    assert "2024-01-01" not in both["first"].to_list()


def test_written_tables_are_read_again(tmp_path):
    records = read(frames())
    made = records.released(searched(records))
    separators = dict.fromkeys(made, ";")
    write_tables(
        made, dict.fromkeys(made, ".csv"), tmp_path, separators=separators, spreadsheet_safe=None
    )
    assert (tmp_path / "stays.csv").read_text().splitlines()[0] == "stay;who;ward;illness;cost"
    assert opened(tmp_path).verify().holds
    assert records.endings() == dict.fromkeys(made, ".csv")
    assert records.separators() == dict.fromkeys(made, ",")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".arrow"])
def test_the_ending_of_a_table_is_that_of_its_file(tmp_path, ending):
    for name, frame in frames().items():
        write_tables(
            {name: frame}, {name: ending}, tmp_path, separators={name: ","}, spreadsheet_safe=None
        )
    assert set(read(tmp_path).endings().values()) == {ending}


def test_frames_of_pandas_are_tables():
    tables = {name: pd.DataFrame(frame.to_dicts()) for name, frame in frames().items()}
    assert sorted(read(tables).persons_alike().tolist()) == [1, 2]


def test_warnings_name_what_is_still_in_tables():
    found = opened(frames()).warnings()
    assert found == ("table 'patients': identifying, and still in the table: 'name'",)
