"""What releases by persons lose on a real table with several records a person."""

from __future__ import annotations

import polars as pl
import pytest

from shoal import api

QUASI = [
    "race", "gender", "age", "weight", "admission_type_id", "discharge_disposition_id",
    "time_in_hospital", "payer_code", "medical_specialty",
]  # fmt: skip
LONG = pytest.mark.nightly


@pytest.fixture(scope="module")
def stays(data):
    place = data / "diabetes_130" / "diabetic_data.csv.gz"
    if not place.is_file():
        pytest.skip("diabetes_130 is not in the data folder")
    return pl.read_csv(place, infer_schema=False, columns=[*QUASI, "patient_nbr", "diag_1"])


@pytest.mark.local("Spark counts records")
@pytest.mark.parametrize(
    ("method", "k", "most"),
    [
        ("bestcut", 5, 0.0610), ("bestcut", 10, 0.0905), ("bestcut", 50, 0.1710),
        pytest.param("refine", 5, 0.0520, marks=LONG),
        pytest.param("refine", 10, 0.0850, marks=LONG),
    ],
)  # fmt: skip
def test_every_class_has_k_patients_at_little_loss(stays, method, k, most):
    made = api.anonymize(
        stays,
        qi=QUASI,
        person="patient_nbr",
        missing=["?"],
        k=k,
        method=method,
        keep_order=True,
        labels="tight",
    )
    assert made.report.suppressed == 0
    assert made.report.utility["ncp"] <= most
    released = made.table.select(QUASI).with_columns(stays["patient_nbr"])
    patients = released.group_by(QUASI).agg(pl.col("patient_nbr").n_unique())["patient_nbr"]
    assert patients.min() >= k
    assert patients.sum() >= 71_518


@pytest.mark.local("Spark counts records")
@pytest.mark.parametrize("method", ["bestcut", pytest.param("refine", marks=LONG)])
def test_two_diagnoses_of_two_patients_are_in_every_class(stays, method):
    made = api.anonymize(
        stays, qi=QUASI, sensitive=["diag_1"], person="patient_nbr", missing=["?"], k=5, l=2,
        method=method, keep_order=True,
    )  # fmt: skip
    seen = made.table.select([*QUASI, "diag_1"]).with_columns(stays["patient_nbr"])
    counts = seen.group_by(QUASI).agg(pl.col("patient_nbr", "diag_1").n_unique())
    assert counts["patient_nbr"].min() >= 5
    assert counts["diag_1"].min() >= 2
