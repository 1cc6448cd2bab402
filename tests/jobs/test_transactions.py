"""Tables with sets: released, verified, measured; seed 000's Tables 1.3 and 1.4; bad input."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.naive import itemsets as naive

import shoal
from shoal.core.errors import (
    InputError,
    MethodError,
    NoSolutionError,
    SchemaError,
    UnsafeReleaseError,
)
from shoal.engines.itemsets import CountedSets
from shoal.methods.registry import method_named
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("columns of sets")

TABLE_1_3 = pl.DataFrame(
    {
        "name": ["Nash", "Pandelani", "Katlego", "Dineo", "Thompho", "Risuna", "Thabang"],
        "items": [
            "Asthma products|Eye products", "Asthma products|Eye products|Beef",
            "Eye products|Beef", "Asthma products|Skin products|Beef", "Asthma products|Beef",
            "Eye products|Bread", "Skin products|Beef",
        ],
    }
)  # fmt: skip
EYE, BEEF = "(Asthma products, Eye products)", "(Beef, Bread, Skin products)"
TABLE_1_4 = pl.DataFrame({"items": [EYE, *[f"{EYE}|{BEEF}"] * 5, BEEF]})
REQUIREMENT = {
    "columns": {"name": "identifying", "items": {"role": "quasi", "kind": "set"}},
    "privacy": [
        {"model": "privacy-requirements", "k": 4, "items": [["Asthma products", "Skin products"]]}
    ],
}
FAST = method_named("itemsets", {"effort": "fast"})


def cells(table, separator="|"):
    return [frozenset(cell.split(separator)) - {""} for cell in table["items"]]


def shop(records=300, items=20, seed=0):
    chance = random.Random(seed)
    weights = [1 / (n + 1) for n in range(items)]
    return pl.DataFrame(
        {
            "items": [
                "|".join(
                    sorted({f"i{n:02}" for n in chance.choices(range(items), weights, k=size)})
                )
                for size in (chance.randint(0, 5) for _ in range(records))
            ]
        }
    )


def test_table_1_3_breaks_the_requirement_of_seed_000():
    schema = Schema.from_document(REQUIREMENT)
    before = shoal.verify(TABLE_1_3, schema)
    assert not before.holds
    assert before.privacy[0].value == 1


def test_table_1_4_keeps_it_and_so_does_less():
    schema = Schema.from_document(
        {**REQUIREMENT, "columns": {"items": {"role": "quasi", "kind": "set"}}}
    )
    after = shoal.verify(TABLE_1_4, schema)
    assert after.holds
    assert after.privacy[0].value == 5
    lost = shoal.metrics(TABLE_1_3.drop("name"), TABLE_1_4, schema)["sets"]["ncp"]
    assert lost == pytest.approx(0.375)
    release = shoal.anonymize(TABLE_1_3, REQUIREMENT)
    assert release.report.utility["ncp"] == pytest.approx(0.09375)  # these two alone, merged
    assert shoal.verify(release.table, schema).holds


@pytest.mark.parametrize("method", ["itemsets", "pcta", "coat"])
def test_the_requirement_is_met_by_every_method_that_takes_it(method):
    release = shoal.anonymize(TABLE_1_3, REQUIREMENT, method=method)
    labels = [cell.split("|") for cell in release.table["items"]]
    fits = sum(
        any("Asthma" in label for label in row) and any("Skin" in label for label in row)
        for row in labels
    )
    assert fits == 0 or fits >= 4
    assert release.table.columns == ["items"]
    assert "Nash" not in release.table.write_csv()


@pytest.mark.parametrize(("k", "m"), [(3, 1), (5, 2), (4, 3)])
def test_a_release_is_verified_by_code_of_its_own(tmp_path, k, m):
    path, out = tmp_path / "shop.csv", tmp_path / "release.csv"
    shop().write_csv(path)
    release = shoal.anonymize(path, qi=["items"], set=["items"], k=k, m=m, out=out, method=FAST)
    written = cells(pl.read_csv(out).fill_null(""))
    assert len(written) == 300
    assert naive.rarest(written, m) >= k
    assert release.report.smallest_class == naive.rarest(written, m)
    assert release.report.facts["sets"]["suppressed_occurrences"] == 0
    found = shoal.verify(out, qi=["items"], set=["items"], k=k, m=m)
    assert found.holds
    assert not shoal.verify(out, qi=["items"], set=["items"], k=300, m=m).holds


def test_k_alone_is_about_any_number_of_items():
    release = shoal.anonymize(shop(), qi=["items"], set=["items"], k=4, method=FAST)
    written = cells(release.table)
    assert all(naive.support(written, record) >= 4 for record in written if record)


def test_measures_of_files_are_those_of_the_report():
    table = shop()
    release = shoal.anonymize(table, qi=["items"], set=["items"], k=5, m=2, method=FAST)
    found = shoal.metrics(table, release.table, qi=["items"], set=["items"])
    ours = release.report.facts["sets"]
    for name in ("ncp", "kept_occurrences", "suppressed_occurrences", "labels", "query_error"):
        assert found["sets"][name] == pytest.approx(ours[name])
    nothing = shoal.metrics(table, table, qi=["items"], set=["items"])["sets"]
    assert nothing["ncp"] == nothing["query_error"] == 0
    assert nothing["kept_occurrences"] == nothing["frequent_recall"] == nothing["top_sets"] == 1


def test_risk_is_counted_by_the_items_that_are_known():
    found = shoal.risk(TABLE_1_3.select("items"), qi=["items"], set=["items"])
    records = cells(TABLE_1_3)
    for known, most in (("1", 1), ("2", 2), ("3", 3), ("all", None)):
        assert found.by[known].unique == naive.rare_records(records, 2, most)
    assert found.within(1.0)
    assert not found.within(0.2)


MIXED = pl.DataFrame(
    {
        "age": [20 + n % 40 for n in range(240)],
        "sex": ["f", "m"] * 120,
        "items": shop(240, 8, seed=3)["items"],
        "note": ["x", "y", "z"] * 80,
    }
)


def mixed(k=4, m=2, **more):
    return shoal.anonymize(
        MIXED, qi=["age", "sex", "items"], set=["items"], neutral=["note"], k=k, m=m, **more
    )


def test_beside_other_quasi_identifiers_every_class_keeps_km():
    release = mixed()
    assert release.table.columns == ["age", "sex", "items", "note"]
    assert release.table.height == 240
    sizes = []
    for _, part in release.table.group_by("age", "sex"):
        sizes.append(part.height)
        assert naive.rarest(cells(part), 2) in (0, *range(4, 241))
    assert min(sizes) >= 4
    assert release.report.classes == len(sizes)
    assert sorted(release.table["note"]) == sorted(MIXED["note"])
    assert shoal.verify(release.table, qi=["age", "sex", "items"], set=["items"], k=4, m=2).holds


def test_another_method_recodes_the_other_columns_and_l_diversity_is_kept_beside():
    schema = {
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "sex": "quasi",
                    "items": {"role": "quasi", "kind": "set"}, "note": "sensitive"},
        "privacy": [{"model": "km-anonymity", "k": 4, "m": 1}, {"model": "l-diversity", "l": 2}],
    }  # fmt: skip
    release = shoal.anonymize(MIXED, schema, method="mondrian")
    for _, part in release.table.group_by("age", "sex"):
        assert part["note"].n_unique() >= 2
        assert naive.rarest(cells(part), 1) in (0, *range(4, 241))
    names = [each["model"] for each in release.report.to_document()["privacy"]]
    assert sorted(names) == ["km-anonymity", "l-diversity"]


def test_classes_beside_the_sets_grow_until_these_lose_no_more_than_is_allowed():
    plain = mixed().report
    bound = plain.facts["sets"]["ncp"] / 2
    release = mixed(method=method_named("itemsets", {"effort": "fast", "bound": bound}))
    assert release.report.facts["sets"]["ncp"] <= bound
    assert release.report.classes < plain.classes
    for _, part in release.table.group_by("age", "sex"):
        assert naive.rarest(cells(part), 2) in (0, *range(4, 241))
    never = mixed(method=method_named("itemsets", {"effort": "fast", "bound": 0.0}))
    assert never.report.classes == 1  # as far as it goes


def test_a_sensitive_item_is_told_no_more_than_was_promised(tmp_path):
    table, out = shop(200, 8), tmp_path / "out.csv"
    schema = {
        "columns": {"items": {"role": "quasi", "kind": "set"}},
        "privacy": [
            {"model": "km-anonymity", "k": 4, "m": 2},
            {"model": "rho-uncertainty", "rho": 0.3, "items": ["i03", "i06"], "m": 2},
        ],
    }
    assert not shoal.verify(table, schema).holds
    release = shoal.anonymize(table, schema, method=FAST, out=str(out))
    assert all(verdict.holds for verdict in release.report.privacy)
    assert 0 < release.report.facts["sets"]["suppressed_occurrences"] < 0.5
    records = cells(pl.read_csv(out, infer_schema=False).fill_null(""))
    assert naive.rarest(records, 2) >= 4
    for item in ("i03", "i06"):
        shown = [frozenset(item if item in label else label for label in r) for r in records]
        assert naive.confidence(shown, item, 2) <= 0.3


def test_rows_of_a_person_are_joined_to_one_set():
    long = pl.DataFrame({"who": list("aabbccdd"), "items": list("xyxyxyxz")})
    release = shoal.anonymize(long, qi=["items"], set=["items"], person="who", k=2, m=2)
    assert release.table.height == 4
    assert release.table.columns == ["items"]
    assert naive.rarest(cells(release.table), 2) >= 2
    uneven = long.with_columns(note=pl.Series(list("12345678")))
    with pytest.raises(InputError, match="differs between the rows of a person"):
        shoal.anonymize(
            uneven, qi=["items"], set=["items"], person="who", neutral=["note"], k=2, m=2
        )
    with pytest.raises(InputError, match="who it is about"):
        shoal.anonymize(
            long.with_columns(who=None), qi=["items"], set=["items"], person="who", k=2, m=2
        )


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
def test_lists_come_out_as_lists(kind):
    frame = pl.DataFrame({"items": [["a", "b"], ["a"], [], None, ["b", None, "b"], ["a", "b"]]})
    given = {
        "polars": frame, "lazy": frame.lazy(), "arrow": frame.to_arrow(),
        "pandas": pd.DataFrame({"items": frame["items"].to_list()}),
    }[kind]  # fmt: skip
    table = shoal.anonymize(given, qi=["items"], set=["items"], k=2, m=2).table
    assert type(table) is type(given)
    made = pl.from_pandas(table) if kind == "pandas" else table
    made = pl.from_arrow(made) if isinstance(made, pa.Table) else made.lazy().collect()
    assert isinstance(made.schema["items"], pl.List)
    assert sorted(map(tuple, made["items"].to_list())) == [
        (), (), ("a",), ("a", "b"), ("a", "b"), ("b",)
    ]  # fmt: skip


def test_files_of_baskets_and_of_json(tmp_path):
    rows = [["a", "b"]] * 3 + [["a"]] * 3 + [[]]
    bare, out = tmp_path / "shop.txt", tmp_path / "release.basket"
    bare.write_text("".join(",".join(row) + "\n" for row in rows))
    words = {"qi": ["items"], "set": ["items"], "set_sep": ",", "k": 3, "m": 2}
    shoal.anonymize(bare, out=out, **words)
    assert sorted(out.read_text().split("\n")) == ["", "", "a", "a", "a", "a,b", "a,b", "a,b"]
    assert shoal.verify(out, **words).records == 7
    path = tmp_path / "lists.csv"
    pl.DataFrame({"items": [json.dumps(row) for row in rows]}).write_csv(path)
    made = tmp_path / "lists_release.csv"
    shoal.anonymize(path, out=made, **{**words, "set_sep": "json"})
    assert sorted(json.loads(cell) for cell in pl.read_csv(made)["items"]) == sorted(rows)
    jsonl = tmp_path / "lists.jsonl"
    pl.DataFrame({"items": rows}).write_ndjson(jsonl)
    released = tmp_path / "release.jsonl"
    shoal.anonymize(jsonl, out=released, qi=["items"], set=["items"], k=3, m=2)
    assert sorted(pl.read_ndjson(released)["items"].to_list()) == sorted(rows)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    for out in (one, other):
        shoal.anonymize(shop(), qi=["items"], set=["items"], k=5, m=2, out=out, method=FAST, seed=4)
    assert one.read_bytes() == other.read_bytes()


def test_nothing_is_written_where_verification_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(CountedSets, "rarest", lambda *_: (1, 2))
    out = tmp_path / "release.csv"
    with pytest.raises(UnsafeReleaseError, match="km-anonymity"):
        shoal.anonymize(shop(), qi=["items"], set=["items"], k=5, m=2, out=out, method=FAST)
    assert list(tmp_path.iterdir()) == []


SETS = {"qi": ["items"], "set": ["items"], "k": 2, "m": 2}


@pytest.mark.parametrize(
    ("table", "words", "error", "text"),
    [
        (pl.DataFrame({"items": ["a"]}), {}, NoSolutionError, "1 records are fewer than k = 2"),
        (pl.DataFrame({"items": []}, schema={"items": pl.String}), {}, InputError, "no record"),
        (pl.DataFrame({"items": [1, 2]}), {}, InputError, "holds no sets"),
        (pl.DataFrame({"items": [["x|y"], ["x|y"]]}), {}, InputError, "1 items hold"),
        (pl.DataFrame({"items": ["a|b", "a"]}), {"set_sep": "json"}, InputError, "in JSON"),
        (pl.DataFrame({"other": ["a"]}), {}, SchemaError, "no such column"),
        (shop(20), {"method": "flash"}, MethodError, "recodes no sets"),
        (shop(20), {"method": "apriori"}, MethodError, "hierarchy of the items"),
        (shop(20), {"l": 2, "sensitive": ["items"]}, SchemaError, "items"),
        (shop(20), {"suppressed": "star"}, SchemaError, "column of sets"),
        (shop(20), {"partitions": 2}, SchemaError, "column of sets"),
    ],
)
def test_bad_input_is_refused_in_a_line_that_helps(table, words, error, text):
    with pytest.raises(error, match=text):
        shoal.anonymize(table, **{**SETS, **words})


def test_a_requirement_over_unknown_items_would_protect_nobody():
    with pytest.raises(SchemaError, match="1 of 2 items do not occur") as caught:
        shoal.anonymize(
            TABLE_1_3,
            {**REQUIREMENT, "privacy": [
                {"model": "privacy-requirements", "k": 4, "items": [["Beef", "Secret"]]}]},
        )  # fmt: skip
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("m", [2, 9])
def test_records_without_items_and_m_beyond_any_record_are_no_trouble(m):
    table = pl.DataFrame({"items": ["", None, "a|b", "b|a", "a|a|b"]})
    release = shoal.anonymize(table, qi=["items"], set=["items"], k=3, m=m)
    assert sorted(release.table["items"].to_list()) == ["", "", "a|b", "a|b", "a|b"]
    alone = shoal.anonymize(pl.DataFrame({"items": [None, ""]}), qi=["items"], set=["items"], k=2)
    assert alone.table["items"].to_list() == ["", ""]
    few = pl.DataFrame({"items": ["", "", "a"]})
    assert shoal.anonymize(few, **SETS).report.facts["sets"]["suppressed_occurrences"] == 1


def test_kept_columns_that_identify_stop_the_release():
    table = shop(60).with_columns(mail=pl.Series([f"p{n}@example.org" for n in range(60)]))
    with pytest.raises(SchemaError, match="mail"):
        shoal.anonymize(table, qi=["items"], set=["items"], neutral=["mail"], k=2, m=1)
    waived = shoal.anonymize(
        table, qi=["items"], set=["items"], neutral=["mail"], waive=["mail"], k=2, m=1
    )
    assert waived.table.width == 2


def test_groceries_keep_more_than_the_marks():
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "groceries"
    if not folder.exists():
        pytest.skip("groceries are not here (SHOAL_DATA)")
    release = shoal.anonymize(
        folder / "groceries.txt", qi=["items"], set=["items"], set_sep=",", k=5, m=2, method=FAST
    )
    found = release.report.facts["sets"]
    assert found["ncp"] < 0.0045
    assert found["suppressed_occurrences"] == 0
    assert naive_pairs(release.table["items"]) >= 5


def naive_pairs(column):
    counts: dict[tuple[str, ...], int] = {}
    for cell in column:
        for each in naive.subsets(frozenset(cell.split(",")), 2):
            key = tuple(sorted(each))
            counts[key] = counts.get(key, 0) + 1
    return min(counts.values())
