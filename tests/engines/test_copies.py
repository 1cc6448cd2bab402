from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal.core.errors import NoSolutionError, SchemaError
from shoal.engines.local.xk import Choices, apply, recommend
from shoal.methods.xk.pipeline import COMBINATIONS
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("xk-anonymity")

SCHEMA = Schema.from_document(
    {"columns": {"sex": "quasi", "age": "quasi", "ill": "sensitive", "wage": "neutral"}}
)
QUASI = ["sex", "age"]


def people(wages, *, ills=("flu", "cold")):
    """Return 120 records in classes of 3 and of 7, with these wages in turn."""
    sizes = [3, 7] * 12
    ages = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    rows = len(ages)
    return pl.DataFrame({
        "sex": ["F"] * rows, "age": ages, "ill": [ills[i % len(ills)] for i in range(rows)],
        "wage": [wages[i % len(wages)] for i in range(rows)],
    })  # fmt: skip


def waived(*names):
    return replace(SCHEMA, waive=names)


UNIQUE = [f"{1000 + 17 * i}.{i:02}" for i in range(120)]


def test_a_unique_neutral_column_exposes_copies_and_is_refused_unless_waived_by_name():
    with pytest.raises(SchemaError, match=r"'wage' would tell about 100 %.*--waive wage") as caught:
        apply(people(UNIQUE), SCHEMA, 5, xk=3)
    assert not any(wage in str(caught.value) for wage in UNIQUE)
    made = apply(people(UNIQUE), waived("wage"), 5, xk=3)
    assert made.outcome.added > 0
    assert any("'wage' tells about 100.0 %" in warning for warning in made.warnings)


@pytest.mark.parametrize("times", [2, 3, 4])
def test_a_nearly_unique_column_is_refused_too(times):
    wages = [UNIQUE[i] for i in range(120 // times)]
    with pytest.raises(SchemaError, match="'wage'"):
        apply(people(wages), SCHEMA, 5, xk=3)


def test_a_sensitive_column_that_exposes_copies_is_refused_too():
    table = people(["low", "high"], ills=UNIQUE)
    with pytest.raises(SchemaError, match="'ill'"):
        apply(table, SCHEMA, 5, xk=3)
    assert apply(table, waived("ill"), 5, xk=3).outcome.added


def test_columns_that_many_share_and_releases_without_copies_need_no_waiver():
    assert apply(people(["low", "middle", "high"]), SCHEMA, 5, xk=3).outcome.added
    assert apply(people(UNIQUE), SCHEMA, 5, xk=5).outcome.added == 0


def test_a_column_of_missing_values_exposes_nothing_and_a_single_one_does():
    assert apply(people([None]), SCHEMA, 5, xk=3).outcome.added
    table = people(["low"]).with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise(pl.col("wage")).alias("wage")
    )
    found = apply(table, SCHEMA, 5, xk=3)  # one of 36 records that may be copied: a warning
    assert any("'wage' tells about" in warning for warning in found.warnings)


def test_columns_that_tell_copies_only_together_are_a_warning():
    ills = [f"ill {i}" for i in range(6)]
    table = people([f"wage {i}" for i in range(10)], ills=ills)
    found = apply(table, SCHEMA, 5, xk=3)
    assert any("all columns together tell about 100.0 %" in w for w in found.warnings)


def test_recommend_says_which_columns_would_be_refused():
    found = recommend(people(UNIQUE), SCHEMA, 5)
    if found.recommended.added:
        assert any("'wage'" in notice and "--waive" in notice for notice in found.notices)
    found = recommend(people(UNIQUE), SCHEMA, 5, choices=Choices(preference="originals"))
    assert found.recommended.added
    assert any("'wage'" in notice and "--waive" in notice for notice in found.notices)
    quiet = recommend(people(UNIQUE), waived("wage"), 5, choices=Choices(preference="originals"))
    assert not any("--waive" in notice for notice in quiet.notices)


@settings(max_examples=40, deadline=None)
@given(
    wages=st.lists(st.sampled_from(["1", "2", "3", " 1", "", None, "x" * 9]), min_size=5,
                   max_size=50),
    k=st.integers(2, 7), data=st.data(), techniques=st.sampled_from(COMBINATIONS),
)  # fmt: skip
def test_the_share_of_false_records_that_a_column_tells_is_the_naive_one(
    wages, k, data, techniques
):
    techniques = replace(techniques, generalization=False)  # there is no hierarchy
    random = np.random.default_rng(len(wages))
    table = pl.DataFrame({
        "sex": random.choice(["F", "M"], len(wages)),
        "age": random.choice(["20", "30"], len(wages)),
        "ill": random.choice(["flu", "cold", "gout"], len(wages)), "wage": wages,
    }, schema_overrides={"wage": pl.String})  # fmt: skip
    chosen = Choices(techniques=techniques, diversity=2)
    try:
        found = apply(
            table, waived("ill", "wage"), k, xk=data.draw(st.integers(1, k)), choices=chosen
        )
    except NoSolutionError:
        return
    rows = [
        (tuple(row[name] for name in QUASI), row, false)
        for row, false in zip(
            found.released.iter_rows(named=True), found.false_rows.tolist(), strict=True
        )
    ]
    for name in ("ill", "wage"):
        blank = name == "ill" and techniques.sensitive_suppression
        expected = naive.told(rows, [name], fewer_than=min(k, 5), blanked=blank)
        assert found.exposure.columns[name] == pytest.approx(expected)
    everything = naive.told(rows, found.released.columns, fewer_than=2)
    assert found.exposure.together == pytest.approx(everything)
