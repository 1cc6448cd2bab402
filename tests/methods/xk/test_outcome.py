import json
from dataclasses import replace

import pytest
from tests.methods.xk.coded import coded_rows

from shoal.methods.xk.candidates import Prediction
from shoal.methods.xk.outcome import CellLoss, outcome_of, precision
from shoal.methods.xk.pipeline import Plan, Techniques, carry_out

# Table 7 and Table 10 of [brown2019]: its tables have 20 columns, and every cell counts.
SEED = [
    # originals with modifications, added, generalized, suppressed, blanked, printed precision
    (28411, 10068, 2420, 0, 0, 73.6779),  # 30k, five quasi-identifiers, 1/3G
    (25991, 7463, 0, 0, 392, 77.6332),  # 1/3S: the 392 records that 1/3 without S suppresses
    (26149, 844, 6224, 0, 0, 96.2968),  # 3/4G
    (25036, 0, 7267, 0, 0, 99.2743),  # plain k, G
]


@pytest.mark.parametrize(
    ("originals", "added", "generalized", "suppressed", "blanked", "printed"), SEED
)
def test_precision_is_that_of_the_seed(originals, added, generalized, suppressed, blanked, printed):
    lost = CellLoss(generalized=generalized, suppressed=suppressed, blanked=blanked)
    assert precision(originals, added, columns=20, lost=lost) == pytest.approx(printed, abs=6e-5)


def carried(label, *, xk=3, prediction=None):
    records = [
        *[(("b1", "a1"), ("x",))] * 3, *[(("b1", "a1"), ("y",))] * 2,
        *[(("b1", "b1"), ("x",)), (("b1", "b2"), ("x",)), (("b1", "b2"), ("y",))],
        (("a1", "a1"), ("x",)),
    ]  # fmt: skip
    rows = coded_rows(records, columns=2, sensitive=1)
    diversity = {"s0": 2} if "s" in label else {}
    plan = Plan(k=5, xk=xk, techniques=Techniques.parse(label), diversity=diversity)
    return outcome_of(carry_out(rows, plan), prediction=prediction)


def test_cells_records_and_losses_are_counted():
    found = carried("g")
    assert (found.records, found.originals, found.suppressed, found.added) == (9, 8, 1, 2)
    assert (found.unmodified, found.lost) == (5, CellLoss(generalized=3))
    assert (found.pairs_before, found.pairs_after, found.smallest_pair) == (4, 2, 5)
    assert found.precision == pytest.approx(100 * (8 * 3 - 1.5) / 30)
    assert found.quasi_precision == pytest.approx(100 * (8 * 2 - 1.5) / 20)
    assert found.data_loss == pytest.approx(100 / 9)
    assert found.cell_loss == pytest.approx(100 * (3 + 1.5) / 27)


def test_blanked_cells_count_against_all_cells_but_not_against_the_quasi_identifiers():
    found = carried("gs")
    assert found.lost == CellLoss(generalized=3, blanked=1)
    assert found.precision == pytest.approx(100 * (8 * 3 - 2.5) / 30)
    assert found.quasi_precision == pytest.approx(100 * (8 * 2 - 1.5) / 20)


def test_an_outcome_is_compared_with_its_prediction():
    good = carried("g", prediction=Prediction(low=70, high=80, data_loss=12, bounds=(70.0, 80.0)))
    assert (good.is_in_range, good.is_within_loss, good.is_in_bounds) == (True, True, True)
    bad = carried("g", prediction=Prediction(low=80, high=90, data_loss=11, bounds=(80.0, 90.0)))
    assert (bad.is_in_range, bad.is_within_loss, bad.is_in_bounds) == (False, False, False)
    assert carried("g").is_in_range is None


def test_the_document_is_plain_data_and_says_what_false_records_are():
    document = carried("gc").to_document()
    assert json.loads(json.dumps(document)) == document
    assert "copies" in document["false_records"]
    assert document["cells"] == {"generalized": 3, "suppressed": 0, "blanked": 0}
    assert document["released"] == document["originals"] + document["added"]


def test_the_summary_says_that_statistics_are_affected():
    text = " ".join(carried("g").summary())
    assert "2 of 10 released records are false" in text
    assert "counts, sums and tests" in text
    assert "pairs of 3 original records, not of 5" in text
    assert carried("g").to_document()["fewest_originals"] == 3


# Table 10 of [brown2019] (30k, five quasi-identifiers, 8,584 pairs): pairs of the release that the
# table had; all pairs of the release (End QP of Table 4); QP remain and QP precision as printed.
PAIRS = [
    (4652, 5941, 54.1938, 78.3033),  # 1/3GCS
    (2947, 4361, 34.3313, 67.5762),  # 1/2GCS
    (2963, 3475, 34.5177, 85.2662),  # 1/2CS
    (2847, 3989, 33.1664, 71.3713),  # 1/2GS
    (1977, 2549, 23.0312, 77.5598),  # 3/4G
    (1553, 2777, 18.0918, 55.9237),  # TGCS
    (1572, 1987, 18.3131, 79.1142),  # TCS
    (1438, 2395, 16.7521, 60.0418),  # TGS
]


@pytest.mark.parametrize(("remaining", "after", "remain", "exact"), PAIRS)
def test_qp_remain_and_qp_precision_are_those_of_the_seed(remaining, after, remain, exact):
    found = replace(carried("g"), pairs_before=8584, pairs_after=after, pairs_remaining=remaining)
    assert found.qp_remain == pytest.approx(remain, abs=6e-5)
    assert found.qp_precision == pytest.approx(exact, abs=6e-5)
    document = found.to_document()
    assert (document["qp_remain"], document["qp_precision"]) == (
        found.qp_remain, found.qp_precision,
    )  # fmt: skip


# Where a figure of Tables 7, 9, 10 or 17 is a misprint, the others of its column say so:
# (records, suppressed, added, total, difference), as corrected in the guide.
CORRECTED = [
    (60_000, 1401, 1338, 59_937, 63),  # Table 7, 60k 3/4GC: total printed as 5937
    (120_000, 394, 13_983, 133_589, 13_589),  # 120k 1/3GC: added 1983, difference 1589
    (180_000, 682, 1321, 180_639, 639),  # 180k 3/4C: suppressed 1321, difference 0
    (180_000, 4476, 1678, 177_202, 2798),  # 180k 3/4G: suppressed 1678, difference 0
    (30_000, 5130, 597, 25_467, 4533),  # Table 10, 3/4C: added 5897
    (250_000, 756, 96, 249_340, 660),  # Table 9, D3 3/4G: suppressed 7856
    (300_000, 5554, 3852, 298_298, 1702),  # Table 17, 300k 1/2: total 294446
]


@pytest.mark.parametrize(("records", "suppressed", "added", "total", "difference"), CORRECTED)
def test_misprints_of_tables_7_9_10_and_17_are_corrected_by_their_own_columns(
    records, suppressed, added, total, difference
):
    assert records - suppressed + added == total
    assert abs(added - suppressed) == difference


def test_the_corrected_average_of_180k_in_table_7_prefers_a_half():
    three_quarters = (10416 + 608 + 639 + 2798) / 4
    assert three_quarters == 3615.25
    assert three_quarters > 3538.5  # 1/2k as printed: the seed says the opposite
