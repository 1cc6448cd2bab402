"""Adult with a made-up column of sets, and the drugs of the diabetes table: judged by hand."""

from __future__ import annotations

import gzip
import io
import random
from collections import Counter
from itertools import combinations

import polars as pl
import pytest

import shoal
from shoal.methods.registry import method_named

pytestmark = pytest.mark.local("columns of sets")

FAST = method_named("itemsets", {"effort": "fast"})
ADULT = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
         "occupation", "relationship", "race", "sex", "gain", "loss", "hours", "country",
         "income"]  # fmt: skip
FIRST_DRUG, LAST_DRUG = "metformin", "metformin-pioglitazone"


def adult(folder, records: int) -> pl.DataFrame:
    """Return some columns of Adult, and what people of an occupation may have bought."""
    text = gzip.decompress((folder / "adult" / "adult.data.gz").read_bytes())
    table = pl.read_csv(
        io.BytesIO(text.replace(b", ", b",")), has_header=False, new_columns=ADULT, n_rows=records,
        infer_schema=False,
    )  # fmt: skip
    chance = random.Random(29)
    weights = [1 / (n + 1) for n in range(30)]
    sets = []
    for occupation in table["occupation"].to_list():
        bought = {f"p{n:02}" for n in chance.choices(range(30), weights, k=chance.randint(0, 4))}
        if chance.random() < 0.5:
            bought.add(f"work {len(occupation) % 7}")
        sets.append("|".join(sorted(bought)))
    return table.select("age", "education", "sex").with_columns(items=pl.Series(sets))


def diabetes(folder, records: int) -> pl.DataFrame:
    """Return three columns of the diabetes table, and its 23 drugs as one set."""
    text = gzip.decompress((folder / "diabetes_130" / "diabetic_data.csv.gz").read_bytes())
    table = pl.read_csv(io.BytesIO(text), infer_schema=False, n_rows=records)
    names = table.columns[table.columns.index(FIRST_DRUG) : table.columns.index(LAST_DRUG) + 1]
    assert len(names) == 23
    rows = table.select(names).rows()
    drugs = [
        "|".join(f"{name} {dose}" for name, dose in zip(names, row, strict=True) if dose != "No")
        for row in rows
    ]
    return table.select("age", "gender", "race").with_columns(items=pl.Series(drugs))


def rarest(cells: list[str], m: int) -> int:
    """Return the least support of a set of up to m labels that a record holds; 0: none does."""
    count: Counter[tuple[str, ...]] = Counter()
    for cell in cells:
        held = sorted({*cell.split("|")} - {""})
        for size in range(1, m + 1):
            count.update(combinations(held, size))
    return min(count.values(), default=0)


def assert_k_km(table: pl.DataFrame, quasi: list[str], k: int, m: int) -> int:
    """Hold a release to (k, k^m)-anonymity; return how many classes it has."""
    classes: dict[tuple[object, ...], list[str]] = {}
    for row in table.iter_rows(named=True):
        classes.setdefault(tuple(row[name] for name in quasi), []).append(row["items"] or "")
    for cells in classes.values():
        assert len(cells) >= k
        least = rarest(cells, m)
        assert least == 0 or least >= k
    return len(classes)


def released(table: pl.DataFrame, quasi: list[str], k: int, m: int, **more) -> shoal.Release:
    release = shoal.anonymize(
        table, qi=[*quasi, "items"], set=["items"], k=k, m=m, attacks=False, **more
    )
    assert assert_k_km(release.table, quasi, k, m) == release.report.classes
    assert release.report.privacy[0].holds
    assert shoal.verify(release.table, qi=[*quasi, "items"], set=["items"], k=k, m=m).holds
    return release


def test_adult_with_sets_keeps_k_km(data):
    release = released(adult(data, 600), ["age", "education", "sex"], 5, 2)
    assert release.table.height == 600 - release.report.suppressed
    assert not shoal.verify(
        adult(data, 600), qi=["age", "education", "sex", "items"], set=["items"], k=5, m=2
    ).holds


def test_the_drugs_of_patients_alone_keep_km(data):
    table = diabetes(data, 2000)
    release = shoal.anonymize(
        table.select("items"), qi=["items"], set=["items"], k=5, m=2, method=FAST, attacks=False
    )
    assert rarest(table["items"].to_list(), 2) == 1
    assert rarest(release.table["items"].to_list(), 2) >= 5
    assert release.table.height == 2000
    assert release.report.facts["sets"]["kept_occurrences"] > 0.5


def test_the_drugs_are_found_to_be_sets(data):
    found = shoal.infer(diabetes(data, 2000))
    assert found.schema.sets == ("items",)


@pytest.mark.nightly
@pytest.mark.parametrize("m", [1, 2])
def test_all_of_adult_with_sets_keeps_k_km(data, m):
    table = adult(data, 40_000)
    release = released(table, ["age", "education", "sex"], 10, m)
    assert release.report.facts["sets"]["occurrences"] > 50_000
    assert release.report.suppressed < 0.05 * table.height


@pytest.mark.nightly
def test_all_drugs_of_all_patients_keep_k_km(data):
    table = diabetes(data, 200_000)
    assert table.height == 101_766
    release = released(table, ["age", "gender", "race"], 10, 2)
    alone = shoal.anonymize(
        table.select("items"), qi=["items"], set=["items"], k=10, m=2, attacks=False
    )
    assert rarest(alone.table["items"].to_list(), 2) >= 10
    assert alone.report.utility["ncp"] <= release.report.columns["items"] + 0.05
