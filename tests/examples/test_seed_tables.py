"""The printed examples: [lin2008], tables 1 to 3, and [netshiunda2020], tables 1.1 and 1.2."""

from __future__ import annotations

import csv
from fractions import Fraction

import polars as pl
import pytest
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.hierarchies.tree import Hierarchy

PATIENTS = """ZipCode,Gender,Age,Disease,Expense
75275,Male,22,Flu,100
75277,Male,23,Cancer,3000
75278,Male,24,HIV+,5000
75275,Male,33,Diabetes,2500
75275,Female,38,Diabetes,2800
75275,Female,36,Diabetes,2600
"""
ATTRIBUTE_LEVEL = [("7527*", "Person", "[21-30]")] * 3 + [("7527*", "Person", "[31-40]")] * 3
CELL_LEVEL = [("7527*", "Male", "[21-25]")] * 3 + [("75275", "Person", "[31-40]")] * 3
QUASI = ("ZipCode", "Gender", "Age")

AGE = Hierarchy.from_rows(
    "Age",
    [
        ("22", "[21-25]", "[21-30]", "[21-40]"), ("23", "[21-25]", "[21-30]", "[21-40]"),
        ("24", "[21-25]", "[21-30]", "[21-40]"), ("33", "[31-35]", "[31-40]", "[21-40]"),
        ("36", "[36-40]", "[31-40]", "[21-40]"), ("38", "[36-40]", "[31-40]", "[21-40]"),
    ],
)  # fmt: skip
GENDER = Hierarchy.from_rows("Gender", [("Male", "Person"), ("Female", "Person")])
ZIP = Hierarchy.from_rows(
    "ZipCode", [(code, "7527*", "752**") for code in ("75275", "75277", "75278")]
)


def patients():
    return pl.DataFrame(
        list(csv.DictReader(PATIENTS.splitlines())), schema_overrides={"Expense": pl.String}
    )


def with_labels(frame, labels, quasi):
    columns = list(zip(*labels, strict=True))
    return frame.with_columns(
        pl.Series(name, column) for name, column in zip(quasi, columns, strict=True)
    )


def hospital(**more):
    trees = {"ZipCode": ZIP, "Gender": GENDER, "Age": AGE}
    return shoal.Schema(
        attributes=(
            *(
                shoal.Attribute(
                    name=name, role=shoal.Role.QUASI, kind=shoal.Kind.CATEGORICAL, hierarchy=tree
                )
                for name, tree in trees.items()
            ),
            shoal.Attribute(name="Disease", role=shoal.Role.SENSITIVE),
            shoal.Attribute(name="Expense", role=shoal.Role.NEUTRAL),
        ),
        **more,
    )


@pytest.mark.parametrize("labels", [ATTRIBUTE_LEVEL, CELL_LEVEL], ids=["table 2", "table 3"])
def test_both_printed_releases_are_3_anonymous_and_not_4_anonymous(labels):
    release = with_labels(patients(), labels, QUASI)
    found = shoal.verify(release, hospital(), privacy=[shoal.KAnonymity(3)])
    assert found.holds
    assert (found.records, found.classes, found.smallest_class) == (6, 2, 3)
    assert not shoal.verify(release, hospital(), privacy=[shoal.KAnonymity(4)]).holds


@pytest.mark.parametrize("labels", [ATTRIBUTE_LEVEL, CELL_LEVEL], ids=["table 2", "table 3"])
def test_the_printed_labels_stand_above_their_values(labels):
    for row, released in zip(patients().iter_rows(named=True), labels, strict=True):
        for tree, name, label in zip((ZIP, GENDER, AGE), QUASI, released, strict=True):
            value, node = tree.index(row[name]), tree.index(label)
            assert tree.lca([value, node]) == node


def test_homogeneity_the_second_class_has_one_disease_only():
    release = with_labels(patients(), CELL_LEVEL, QUASI)
    found = shoal.verify(release, hospital(), privacy=[shoal.KAnonymity(3), shoal.LDiversity(2)])
    assert not found.holds
    assert [result.holds for result in found.privacy] == [True, False]
    assert found.violating_records == 3


def test_cell_level_loses_less_than_attribute_level():
    losses = [
        shoal.metrics(patients(), with_labels(patients(), labels, QUASI), hospital())["utility"]
        for labels in (CELL_LEVEL, ATTRIBUTE_LEVEL)
    ]
    # D(class) = Σ H(common ancestor) / H(tree). Table 3: (1/2 + 0 + 1/3) · 3 + (0 + 1 + 2/3) · 3.
    assert losses[0]["il"] == pytest.approx(7.5)
    assert losses[1]["il"] == pytest.approx(6 * (1 / 2 + 1 + 2 / 3))
    assert losses[0]["ncp"] < losses[1]["ncp"]


@pytest.mark.parametrize("seed", range(8))
def test_wfcm_makes_table_3_of_table_1(seed):
    options = {"method": "wfcm", "seed": seed, "labels": "tight"}
    made = api.anonymize(patients(), hospital(), privacy=[shoal.KAnonymity(3)], **options)
    assert set(made.table.select(QUASI).cast(pl.String).rows()) == set(CELL_LEVEL)
    assert made.report.utility["il"] == pytest.approx(7.5)


@pytest.mark.parametrize("method", [m.name for m in api.methods() if m.family == "mondrian"])
def test_shoal_makes_a_3_anonymous_release_of_table_1(method, tmp_path):
    source = tmp_path / "patients.csv"
    source.write_text(PATIENTS)
    out = tmp_path / "release.csv"
    shoal.anonymize(
        source,
        hospital(),
        privacy=[shoal.KAnonymity(3)],
        out=out,
        method=method,
    )
    rows = naive.read(out)
    assert naive.broken(rows, QUASI, [{"model": "k-anonymity", "k": 3}], columns={}) == 0
    assert shoal.metrics(source, out, hospital())["utility"]["ncp"] < 1


# [netshiunda2020] prints the hierarchies as patterns: DD, [DD,DD], ** and DDDDD, DDDD*, …, *****.
LOTTERY = [
    ("Edvin", "Male", "40", "23051", "100 SEK", "Cancer"),
    ("Robert", "Male", "32", "70825", "200 SEK", "Flu"),
    ("Alva", "Female", "40", "23051", "150 SEK", "Cancer"),
    ("Eleanor", "Female", "38", "23038", "170 SEK", "Typhus"),
    ("Ebbe", "Female", "29", "81307", "195 SEK", "Flu"),
    ("Signe", "Female", "34", "23038", "200 SEK", "Typhus"),
    ("Axel", "Male", "39", "23051", "150 SEK", "Cancer"),
]
LOTTERY_RELEASE = [
    ("****", "[39,40]", "23051"), ("****", "[29,32]", "*****"), ("****", "[39,40]", "23051"),
    ("Female", "[34,38]", "23038"), ("****", "[29,32]", "*****"), ("Female", "[34,38]", "23038"),
    ("****", "[39,40]", "23051"),
]  # fmt: skip
LOTTERY_QUASI = ("Gender", "Age", "Zip Code")
LOTTERY_TREES = {
    "Gender": Hierarchy.from_rows("Gender", [("Male", "****"), ("Female", "****")]),
    "Age": Hierarchy.from_rows(
        "Age",
        [
            ("39", "[39,40]", "**"), ("40", "[39,40]", "**"), ("29", "[29,32]", "**"),
            ("32", "[29,32]", "**"), ("34", "[34,38]", "**"), ("38", "[34,38]", "**"),
        ],
    ),
    "Zip Code": Hierarchy.from_rows(
        "Zip Code",
        [
            tuple(code[: 5 - stars] + "*" * stars for stars in range(6))
            for code in ("23051", "70825", "23038", "81307")
        ],
    ),
}  # fmt: skip


def lottery():
    names = ("Names", "Gender", "Age", "Zip Code", "LSPW", "DS")
    return pl.DataFrame(LOTTERY, schema=dict.fromkeys(names, pl.String), orient="row")


def lottery_schema():
    return shoal.Schema(
        attributes=(
            shoal.Attribute(name="Names", role=shoal.Role.IDENTIFYING),
            *(
                shoal.Attribute(
                    name=name, role=shoal.Role.QUASI, kind=shoal.Kind.CATEGORICAL, hierarchy=tree
                )
                for name, tree in LOTTERY_TREES.items()
            ),
            shoal.Attribute(name="LSPW", role=shoal.Role.SENSITIVE),
            shoal.Attribute(name="DS", role=shoal.Role.SENSITIVE),
        )
    )


def test_table_1_2_is_2_anonymous_and_protects_one_of_two_sensitive_columns():
    release = with_labels(lottery().drop("Names"), LOTTERY_RELEASE, LOTTERY_QUASI)
    schema = lottery_schema()
    assert shoal.verify(release, schema, privacy=[shoal.KAnonymity(2)]).holds
    assert not shoal.verify(release, schema, privacy=[shoal.KAnonymity(3)]).holds
    spread = shoal.verify(release, schema, privacy=[shoal.LDiversity(2)])
    assert {result.model.column: result.holds for result in spread.privacy} == {
        "LSPW": True,
        "DS": False,
    }
    # All three classes have one diagnosis only.
    assert spread.violating_records == 7


def test_names_never_reach_a_release_of_table_1_1():
    made = shoal.anonymize(lottery(), lottery_schema(), privacy=[shoal.KAnonymity(2)]).table
    assert "Names" not in made.columns
    text = made.write_csv()
    assert not any(name in text for name, *_ in LOTTERY)


def distortion(tree, label, *, from_root):
    """WHD of [netshiunda2020], definition 5, with the height weight 1 / i and beta = 1.

    `from_root` numbers the steps as the definition does, the one below the root first;
    otherwise the step above the values comes first.
    """
    steps = tree.levels - 1
    lost = steps - tree.depths[tree.index(label)]  # counted from the values upwards
    weights = [Fraction(1, step) for step in range(1, steps + 1)]
    upwards = weights[::-1] if from_root else weights
    return sum(upwards[:lost], Fraction(0)) / sum(weights)


def first_record(*, from_root):
    released = zip(LOTTERY_TREES.values(), LOTTERY_RELEASE[0], strict=True)
    return [distortion(tree, label, from_root=from_root) for tree, label in released]


def test_the_distortion_of_the_first_record_is_1_67():
    parts = first_record(from_root=False)
    assert [round(float(part), 2) for part in parts] == [1.00, 0.67, 0.00]
    assert round(float(sum(parts)), 2) == 1.67


def test_the_definition_itself_numbers_the_other_way_and_gives_1_33():
    # The printed 0.67 for the age weighs the step next to the value with 1; definition 5
    # gives 1 to the step below the root, and so 1/3. Nothing else in the example changes.
    assert sum(first_record(from_root=True)) == Fraction(4, 3)
