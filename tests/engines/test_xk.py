from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks import adaptive as benchmark
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal.core.errors import InputError, MethodError, NoSolutionError
from shoal.engines.local.xk import Choices, apply, recommend, verify_release
from shoal.methods.xk.pipeline import COMBINATIONS, Techniques
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("xk-anonymity")

DECADES = {"intervals": {"width": [10, 20]}}
SCHEMA = Schema.from_document({
    "columns": {
        "name": "identifying",
        "sex": {"role": "quasi", "kind": "categorical"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": DECADES},
        "illness": "sensitive",
        "wage": "neutral",
    },
    "waive": ["wage", "illness"],
})  # fmt: skip
QUASI = ["sex", "age"]


def people(records=400, seed=0):
    random = np.random.default_rng(seed)
    return pl.DataFrame({
        "name": [f"person {i}" for i in range(records)],
        "sex": random.choice(["F", "M", "-"], records, p=[0.49, 0.49, 0.02]),
        "age": np.clip(random.normal(40, 9, records), 18, 90).astype(int).astype(str),
        "illness": random.choice(["flu", "cold", "gout", ""], records, p=[0.6, 0.2, 0.1, 0.1]),
        "wage": np.round(random.lognormal(8, 1, records), 2),
    }).with_columns(pl.col("illness").replace("", None))  # fmt: skip


def choices(label="-", **options):
    return Choices(techniques=Techniques.parse(label), **options)


@pytest.mark.parametrize("techniques", COMBINATIONS, ids=lambda t: t.label)
@pytest.mark.parametrize("gradual", [False, True])
def test_every_combination_keeps_the_promise_under_the_naive_checker(techniques, gradual):
    chosen = Choices(techniques=techniques, diversity=2, gradual=gradual)
    found = apply(people(), SCHEMA, 5, xk=3, choices=chosen)
    blanked = techniques.sensitive_suppression
    assert naive.is_safe(found.released, QUASI, 5, diversity={"illness": 2}, blanked=blanked)
    assert found.released.height == found.outcome.total
    assert found.outcome.smallest_pair >= 5


@pytest.mark.parametrize("techniques", COMBINATIONS, ids=lambda t: t.label)
def test_the_order_of_the_table_decides_nothing(techniques):
    table = people()
    chosen = Choices(techniques=techniques, diversity=2)
    one = apply(table, SCHEMA, 5, xk=2, choices=chosen, seed=3)
    two = apply(table.sample(fraction=1, shuffle=True, seed=9), SCHEMA, 5, xk=2, choices=chosen,
                seed=3)  # fmt: skip
    assert one.released.equals(two.released)
    assert np.array_equal(one.false_rows, two.false_rows)


@pytest.mark.parametrize("techniques", COMBINATIONS, ids=lambda t: t.label)
def test_a_release_needs_no_second_treatment(techniques):
    chosen = Choices(techniques=techniques, diversity=2)
    once = apply(people(), SCHEMA, 5, xk=3, choices=chosen)
    flat = Schema.from_document({"columns": {
        "sex": "quasi", "age": {"role": "quasi", "kind": "categorical"}, "illness": "sensitive",
        "wage": "neutral"}, "waive": ["wage", "illness"]})  # fmt: skip
    kept = Techniques(sensitive_suppression=techniques.sensitive_suppression)
    again = apply(once.released, flat, 5, xk=5, choices=Choices(techniques=kept, diversity=2))
    assert (again.outcome.suppressed, again.outcome.added) == (0, 0)
    assert again.released.equals(once.released)


def test_another_seed_copies_other_records():
    one = apply(people(), SCHEMA, 5, xk=2, seed=1)
    two = apply(people(), SCHEMA, 5, xk=2, seed=2)
    assert not one.released.equals(two.released)
    assert one.outcome.added == two.outcome.added


def test_false_records_copy_a_record_of_their_pair_and_are_marked_outside_the_release():
    table = people()
    found = apply(table, SCHEMA, 5, xk=2)
    assert found.released.columns == ["sex", "age", "illness", "wage"]
    false, real = found.released.filter(found.false_rows), found.released.filter(~found.false_rows)
    assert false.height == found.outcome.added > 0
    assert found.released[found.marks()["false_row"] - 1].equals(false)
    originals = Counter(
        table.drop("name").with_columns(pl.col("sex").replace("-", None)).iter_rows()
    )
    assert not Counter(real.iter_rows()) - originals
    assert all(row in originals for row in false.iter_rows())


def test_rows_are_sorted_by_what_is_released():
    found = apply(people(), SCHEMA, 5, xk=2, choices=choices("gcs", diversity=2))
    assert found.released.equals(found.released.sort(found.released.columns, nulls_last=False))


def test_empty_marks_are_one_missing_value():
    table = pl.DataFrame({"sex": ["-", "NA", "", None, " - ", "F", "F", "F", "F", "F"]})
    schema = Schema.from_document({"columns": {"sex": "quasi"}})
    found = apply(table, schema, 5, xk=5)
    assert found.released["sex"].null_count() == 5
    assert found.outcome.pairs_before == 2
    other = recommend(table, schema, 5, choices=Choices(marks=["-"]))
    assert other.pairs == 3  # "NA" is a value now; blank is always missing


def test_empty_marks_of_the_sensitive_column_are_not_different_values():
    table = pl.DataFrame({"sex": ["F"] * 5, "illness": ["-", "NA", "", None, "-"]})
    schema = Schema.from_document({"columns": {"sex": "quasi", "illness": "sensitive"}})
    with pytest.raises(NoSolutionError, match="has 1 different values"):
        apply(table, schema, 5, choices=Choices(diversity=2))


def test_several_sensitive_columns_are_kept_diverse_each():
    table = people().with_columns(pl.Series("job", [f"job {i % 3}" for i in range(400)]))
    schema = Schema.from_document({"columns": {
        "name": "identifying", "sex": "quasi", "illness": "sensitive", "job": "sensitive",
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": DECADES}, "wage": "neutral",
    }, "waive": ["wage", "illness"]})  # fmt: skip
    wanted = {"illness": 2, "job": 3}
    for label in ("gc", "gcs"):
        found = apply(table, schema, 5, xk=3, choices=choices(label, diversity=wanted))
        blanked = label == "gcs"
        assert naive.is_safe(found.released, QUASI, 5, diversity=wanted, blanked=blanked)
    assert found.outcome.lost.blanked > 0


def test_the_schema_s_promise_gives_the_diversity():
    schema = SCHEMA.with_promise([KAnonymity(5), LDiversity(3, column="illness")])
    assert recommend(people(), schema, 5).criteria.diversity == 3


def test_the_ranking_comes_from_weights_or_from_the_user():
    cells = choices("c")
    found = apply(people(), SCHEMA, 5, xk=3, choices=cells)
    assert "*" in found.released["age"].to_list()  # the last column is the least important
    turned = choices("c", ranking=["age", "sex"])
    found = apply(people(), SCHEMA, 5, xk=3, choices=turned)
    assert "*" in found.released["sex"].to_list()
    document = SCHEMA.to_document()
    document["columns"]["age"]["weight"] = 2
    found = apply(people(), Schema.from_document(document), 5, xk=3, choices=cells)
    assert "*" in found.released["sex"].to_list()


def test_generalized_cells_climb_as_far_as_asked():
    one = apply(people(), SCHEMA, 5, xk=3, choices=choices("g"))
    two = apply(people(), SCHEMA, 5, xk=3, choices=choices("g", level=2))
    assert one.outcome.lost.generalized > 0
    assert two.outcome.suppressed <= one.outcome.suppressed
    with pytest.raises(MethodError, match="no hierarchy of three levels"):
        apply(people(), SCHEMA, 5, xk=3, choices=choices("g", generalized="sex"))


def test_xk_is_the_recommended_one_where_none_is_given():
    chosen = choices("gc", preference="originals")
    expected = recommend(people(), SCHEMA, 5, choices=chosen)
    found = apply(people(), SCHEMA, 5, choices=chosen)
    assert found.outcome.xk == expected.recommended.xk
    assert found.outcome.prediction == expected.prediction()


def test_k_1_changes_nothing():
    found = apply(people(), SCHEMA, 1)
    assert (found.outcome.suppressed, found.outcome.added, found.outcome.precision) == (0, 0, 100)


def test_k_2_fills_every_single_record_or_none():
    table = people()
    all_filled = apply(table, SCHEMA, 2, xk=1)
    assert all_filled.outcome.suppressed == 0
    plain = apply(table, SCHEMA, 2, xk=2)
    assert plain.outcome.added == 0
    assert plain.outcome.suppressed == all_filled.outcome.added


def test_a_table_where_nothing_reaches_xk_is_answered():
    table = pl.DataFrame({"sex": [f"secret {i}" for i in range(9)]})
    schema = Schema.from_document({"columns": {"sex": "quasi"}})
    with pytest.raises(NoSolutionError, match="no pair reaches xk = 2") as caught:
        apply(table, schema, 5, xk=2)
    assert "secret" not in str(caught.value)
    assert recommend(table, schema, 5).recommended.xk == 1


def test_a_diversity_above_the_number_of_values_is_answered():
    # Where cells may be blanked, a missing value is none of the l: it would look like a blank.
    for label, known in (("-", 4), ("s", 3)):
        text = rf"has {known} different values.*at most {known}"
        with pytest.raises(NoSolutionError, match=text) as caught:
            recommend(people(), SCHEMA, 5, choices=choices(label, diversity=5))
        assert "flu" not in str(caught.value)


def test_sensitive_suppression_needs_a_sensitive_column_and_a_diversity():
    schema = Schema.from_document({"columns": {"sex": "quasi"}, "others": "drop"})
    with pytest.raises(MethodError, match="there is no sensitive column"):
        apply(people(), schema, 5, choices=choices("s"))
    with pytest.raises(MethodError, match="2 or more"):
        apply(people(), SCHEMA, 5, choices=choices("s"))
    with pytest.raises(MethodError, match="needs a sensitive column"):
        recommend(people(), schema, 5, choices=Choices(diversity=2))
    with pytest.raises(MethodError, match="not a sensitive column"):
        recommend(people(), SCHEMA, 5, choices=Choices(diversity={"wage": 2}))


def test_a_schema_without_quasi_identifiers_is_refused():
    schema = Schema.from_document({"columns": {"wage": "neutral"}, "others": "drop"})
    with pytest.raises(InputError, match="no quasi-identifier"):
        recommend(people(), schema, 5)


def test_columns_that_hold_no_plain_values_are_refused():
    table = people().with_columns(pl.col("wage").implode().over(pl.int_range(pl.len())))
    with pytest.raises(InputError, match="'wage': holds List values"):
        apply(table, SCHEMA, 5, xk=3)


def test_generalization_needs_a_hierarchy():
    schema = Schema.from_document({"columns": {"sex": "quasi"}, "others": "drop"})
    with pytest.raises(MethodError, match="at least three levels"):
        apply(people(), schema, 5, xk=1, choices=choices("g"))


def test_the_caller_s_table_is_left_alone_and_files_are_read(tmp_path):
    table = people()
    before = table.clone()
    direct = apply(table, SCHEMA, 5, xk=3)
    assert table.equals(before)
    table.write_csv(tmp_path / "people.csv")
    from_file = apply(tmp_path / "people.csv", SCHEMA, 5, xk=3)
    assert from_file.released.select(QUASI).equals(direct.released.select(QUASI))


def test_numbers_are_quasi_identifiers_too():
    table = people().with_columns(pl.col("age").cast(pl.Int64))
    found = apply(table, SCHEMA, 5, xk=3, choices=choices("gc"))
    assert naive.is_safe(found.released, QUASI, 5)
    assert found.outcome.lost.generalized > 0


def test_verify_release_lets_blanked_classes_pass_only_where_blanking_is_declared():
    frame = pl.DataFrame(
        {"sex": ["F"] * 5 + ["M"] * 5, "age": ["30"] * 10,
         "illness": [None] * 5 + ["flu", "cold", "flu", "cold", "flu"]}
    )  # fmt: skip
    wanted = {"illness": 2}
    strict = verify_release(frame, SCHEMA, 5, diversity=wanted)
    assert [result.holds for result in strict] == [True, False]
    lenient = verify_release(frame, SCHEMA, 5, diversity=wanted, blanked=True)
    assert all(result.holds for result in lenient)
    poor = frame.with_columns(illness=pl.lit("flu"))
    assert not verify_release(poor, SCHEMA, 5, diversity=wanted, blanked=True)[1].holds
    assert not verify_release(frame, SCHEMA, 6, diversity={})[0].holds


@settings(max_examples=25, deadline=None)
@given(
    ages=st.lists(st.sampled_from(["21", "22", "29", "35", "36", "NA"]), min_size=1, max_size=40),
    k=st.integers(1, 5), data=st.data(),
)  # fmt: skip
def test_releases_of_small_tables_are_safe(ages, k, data):
    ages = [*ages, "21", "35"]  # without any number there would be no groups to build
    random = np.random.default_rng(len(ages))
    table = pl.DataFrame({
        "sex": random.choice(["F", "M"], len(ages)), "age": ages,
        "illness": random.choice(["flu", "cold"], len(ages)), "name": ages, "wage": ages,
    })  # fmt: skip
    techniques = data.draw(st.sampled_from([t for t in COMBINATIONS if "S" not in t.label]))
    chosen = Choices(techniques=techniques, gradual=data.draw(st.booleans()))
    xk = data.draw(st.integers(1, k))
    try:
        found = apply(table, SCHEMA, k, xk=xk, choices=chosen)
    except NoSolutionError:
        return
    assert naive.is_safe(found.released, QUASI, k)
    assert naive.is_safe(found.released.filter(~found.false_rows), QUASI, xk)


@pytest.mark.parametrize("techniques", COMBINATIONS, ids=lambda t: t.label)
@pytest.mark.parametrize("gradual", [False, True])
def test_recommend_predicts_exactly_what_carrying_it_out_gives(techniques, gradual):
    chosen = Choices(techniques=techniques, diversity=2, gradual=gradual)
    found = recommend(people(), SCHEMA, 5, choices=chosen)
    outcome = apply(people(), SCHEMA, 5, choices=chosen).outcome
    assert (found.expected.techniques, found.expected.xk) == (techniques, outcome.xk)
    assert found.expected.tally.precision == outcome.precision
    assert found.expected.data_loss == outcome.data_loss
    text = " ".join(found.explanation())
    assert f"a precision of {outcome.precision:.2f} % and a data loss of" in text
    assert found.to_document()["expected"]["precision"] == outcome.precision


def test_recommend_works_out_all_eight_techniques_and_prints_the_frontier():
    found = recommend(people(), SCHEMA, 5, choices=Choices(diversity=2))
    assert {way.techniques for way in found.ways} == set(COMBINATIONS)
    for way in found.ways:
        outcome = apply(
            people(), SCHEMA, 5, xk=way.xk, choices=Choices(techniques=way.techniques, diversity=2)
        ).outcome
        assert (way.tally.precision, way.data_loss) == (outcome.precision, outcome.data_loss)
        expected = outcome.prediction
        assert way.to_document()["precision_range"] == [expected.low, expected.high]
    document = found.to_document()
    front = document["frontier"]
    assert [way["data_loss"] for way in front] == sorted(way["data_loss"] for way in front)
    assert [way["precision"] for way in front] == sorted(way["precision"] for way in front)
    assert "paper's range" in found.frontier_table()
    assert len(found.frontier_table().splitlines()) <= len(front) + 2


def test_where_the_paper_s_range_is_left_the_recommendation_says_so():
    rows = [(f"a{i // 2}", str(i)) for i in range(60)] + [("b", "1")] * 2 + [("b", "2")] * 3
    table = pl.DataFrame(rows, schema=["sex", "age"], orient="row")
    schema = Schema.from_document({"columns": {"sex": "quasi", "age": "quasi"}})
    chosen = choices("c")
    found = recommend(table, schema, 5, choices=chosen)
    assert found.expected.is_in_range is False
    assert "this table leads out of it" in " ".join(found.explanation())
    assert apply(table, schema, 5, choices=chosen).outcome.precision == pytest.approx(
        found.expected.tally.precision
    )


def test_a_minimum_precision_is_held_against_what_the_techniques_give():
    plain = recommend(people(), SCHEMA, 5, choices=Choices(preference="originals"))
    least = plain.recommended.precision - 0.5
    chosen = choices("gc", preference="originals", minimum_precision=least)
    found = recommend(people(), SCHEMA, 5, choices=chosen)
    assert found.expected.tally.precision >= least
    assert apply(people(), SCHEMA, 5, choices=chosen).outcome.precision >= least


def test_the_alternative_is_worked_out_exactly_too():
    chosen = choices("-", minimum_precision=100)
    found = recommend(people(), SCHEMA, 5, choices=chosen)
    assert found.recommended.xk == 5
    outcome = apply(people(), SCHEMA, 5, xk=found.alternative.xk, choices=chosen).outcome
    expected = found.to_document()["alternative"]["expected"]
    assert (expected["precision"], expected["data_loss"]) == (outcome.precision, outcome.data_loss)
    assert f"gives a precision of {outcome.precision:.2f} %" in " ".join(found.explanation())


def test_techniques_that_do_not_apply_to_a_table_are_left_out():
    flat = Schema.from_document({"columns": {"sex": "quasi"}, "others": "drop"})
    found = recommend(people(), flat, 5)
    assert {way.techniques.label for way in found.ways} == {"-", "C"}


@settings(max_examples=25, deadline=None)
@given(
    ills=st.lists(st.sampled_from(["flu", "cold", "", "NA", None]), min_size=6, max_size=40),
    k=st.integers(2, 4), techniques=st.sampled_from(COMBINATIONS),
)  # fmt: skip
def test_dirty_tables_are_worked_out_as_the_naive_twin_does(ills, k, techniques):
    ills = [*ills, "flu", "cold"]
    sexes = ["FM"[i % 2] for i in range(len(ills))]
    ages = [["21", "22", "-", "35"][i % 4] for i in range(len(ills))]
    table = pl.DataFrame({"sex": sexes, "age": ages, "illness": ills, "name": ages, "wage": sexes})
    blank = techniques.sensitive_suppression
    try:
        found = recommend(table, SCHEMA, k, choices=Choices(techniques=techniques, diversity=2))
    except NoSolutionError:
        return
    records = [
        ((sex, None if age == "-" else age), (None if ill in ("", "NA", None) else ill,))
        for sex, age, ill in zip(sexes, ages, ills, strict=True)
    ]
    up = {"21": "[20, 30)", "22": "[20, 30)", "35": "[30, 40)"}
    label = techniques.label.lower().strip("-")
    for way in found.ways:
        if way.techniques != techniques:
            continue
        expected = naive.measures(
            records, k=k, xk=way.xk, groups=[{}, up], columns=4, wanted=[2], techniques=label,
            missing_counts=not blank,
        )  # fmt: skip
        assert 100 * way.tally.share == expected["precision"]
        assert way.tally.suppressed == expected["suppressed"]
    made = apply(
        table, SCHEMA, k, xk=found.ways[0].xk,
        choices=Choices(techniques=found.ways[0].techniques, diversity=2),
    )  # fmt: skip
    lenient = found.ways[0].techniques.sensitive_suppression
    assert naive.is_safe(made.released, QUASI, k, diversity={"illness": 2}, blanked=lenient)


def test_suppression_limit_0_refuses_and_says_how_many_would_be_suppressed():
    suppressed = apply(people(), SCHEMA, 5, xk=3).outcome.suppressed
    text = rf"{suppressed} of 400 records would be suppressed"
    with pytest.raises(NoSolutionError, match=text):
        apply(people(), SCHEMA, 5, xk=3, choices=Choices(suppression_limit=0))
    share = suppressed / 400
    enough = apply(people(), SCHEMA, 5, xk=3, choices=Choices(suppression_limit=share))
    assert enough.outcome.suppressed == suppressed
    with pytest.raises(NoSolutionError, match="suppression limit"):
        apply(people(), replace(SCHEMA, suppression_limit=0.001), 5, xk=3)
    assert apply(people(), SCHEMA, 5, xk=1, choices=Choices(suppression_limit=0)).outcome.added
    with pytest.raises(MethodError, match="between 0 and 1"):
        Choices(suppression_limit=2)


def _cases():
    for number, case in enumerate(benchmark.CASES):
        marks = [pytest.mark.slow] if case.name == "analytics" else []
        yield pytest.param(case, id=f"{case.name}-{number}", marks=marks)


@pytest.mark.sampled
@pytest.mark.parametrize("case", list(_cases()))
def test_the_prediction_contains_the_outcome_of_all_eight_techniques(case):
    if case.name != "hospital" and not benchmark.DATA.is_dir():
        pytest.skip("no real data: set SHOAL_DATA to the folder that has them")
    for techniques in COMBINATIONS:
        outcome = case.apply(techniques).outcome
        assert outcome.is_in_range
        assert outcome.is_within_loss
        assert outcome.is_in_bounds
