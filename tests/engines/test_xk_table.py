"""xk-anonymity on tables whose persons have several records, judged by a count of its own."""

from collections import defaultdict
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal import api
from shoal.core.errors import InputError, MethodError, NoSolutionError, SchemaError
from shoal.engines.base import Output
from shoal.engines.local.xk import Choices, apply, recommend
from shoal.jobs.xk import release_xk
from shoal.jobs.xk_requests import XkRequest
from shoal.methods.xk.pipeline import COMBINATIONS, Techniques
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("xk-anonymity")

COLUMNS = {
    "who": "person", "sex": "quasi",
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": {"width": [10, 20]}}},
    "ill": "sensitive",
}  # fmt: skip
SCHEMA = Schema.from_document({"columns": COLUMNS, "waive": ["ill", "who"]})
TEXTS = {"who": pl.String, "sex": pl.String, "age": pl.String, "ill": pl.String}


def frame_of(rows):
    return pl.DataFrame(rows, schema=TEXTS, orient="row")


def stays(persons=60):
    """Return persons with one to nine records, and some records that say nobody."""
    return frame_of([
        (f"P{p}" if (p + n) % 11 else None, "FM"[p % 2], str(30 + 7 * (p % 7)), "xyz"[(p + n) % 3])
        for p in range(persons)
        for n in range(1 + (p % 3) ** 3)
    ])  # fmt: skip


def classes(made):
    """Return, for each released tuple, the persons and values of its records, false ones apart."""
    found = defaultdict(lambda: ([], []))
    lines = zip(made.released.iter_rows(), made.people, made.false_rows, strict=True)
    for (sex, age, ill), who, is_false in lines:
        found[sex, age][int(is_false)].append((who, ill))
    return found


rows = st.lists(
    st.tuples(
        st.sampled_from([*"abcdefg", "", " a", "A", None]), st.sampled_from(["F", "M", "-"]),
        st.sampled_from(["30", "31", "38", None]), st.sampled_from(["x", "y", None]),
    ),
    min_size=1, max_size=40,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(rows=rows, k=st.integers(1, 5), data=st.data(), techniques=st.sampled_from(COMBINATIONS))
def test_every_pair_has_xk_persons_who_exist_and_false_records_make_them_k(
    rows, k, data, techniques
):
    xk = data.draw(st.integers(1, k))
    chosen = Choices(techniques=techniques, diversity=2)
    try:
        made = apply(frame_of(rows), SCHEMA, k, xk=xk, choices=chosen)
    except (NoSolutionError, InputError):
        return
    except MethodError:  # no column has groups: without an age, there are no intervals
        assert techniques.generalization
        assert {age for _, _, age, _ in rows} == {None}
        return
    blank = techniques.sensitive_suppression
    for real, false in classes(made).values():
        people = {who for who, _ in real} - {None}
        assert len(people) >= xk
        assert len(people) + len(false) >= k
        assert all(who is None for who, _ in false)
        if blank and {ill for _, ill in real} == {None}:
            continue
        pair = [{"who": who, "sensitive": [ill]} for who, ill in real]
        assert naive.different(pair, 0, missing_counts=not blank) >= 2


@pytest.mark.parametrize("techniques", COMBINATIONS, ids=lambda t: t.label)
def test_persons_of_one_record_each_are_released_as_without_the_column(techniques):
    table = stays().with_columns(who=pl.int_range(pl.len()).cast(pl.String))
    alone = replace(
        SCHEMA, attributes=tuple(a for a in SCHEMA.attributes if a.name != "who"), waive=("ill",)
    )
    chosen = Choices(techniques=techniques, diversity=2)
    one = apply(table, SCHEMA, 5, xk=3, choices=chosen, seed=2)
    two = apply(table.drop("who"), alone, 5, xk=3, choices=chosen, seed=2)
    assert one.released.equals(two.released)
    assert one.false_rows.tolist() == two.false_rows.tolist()
    found, plain = (
        recommend(t, s, 5, choices=Choices(diversity=2)).to_document()
        for t, s in ((table, SCHEMA), (table.drop("who"), alone))
    )
    assert found == plain


def test_a_person_with_all_records_is_one_person():
    table = stays().with_columns(who=pl.lit("P1"))
    with pytest.raises(NoSolutionError, match="no pair reaches xk = 2 persons"):
        apply(table, SCHEMA, 5, xk=2)
    assert recommend(table, SCHEMA, 5).recommended.suppressed == 0  # all are filled up
    with pytest.raises(InputError, match="no record says who it is about"):
        apply(table.with_columns(who=pl.lit("")), SCHEMA, 5, xk=1)


def test_what_is_recommended_is_what_comes_out():
    for label in ("-", "gc", "s"):
        chosen = Choices(techniques=Techniques.parse(label), diversity=2)
        found = recommend(stays(), SCHEMA, 7, choices=chosen)
        made = apply(stays(), SCHEMA, 7, choices=chosen)
        assert found.expected.tally.added == made.outcome.added == sum(made.false_rows)
        assert found.expected.tally.suppressed == made.outcome.suppressed
        assert found.criteria.unit == "persons"


def known():
    """Return the stays of which it is said whose they are: others stop what verifies values."""
    return stays().filter(pl.col("who").is_not_null() & (pl.col("who") != ""))


def test_the_release_verifies_with_both_files_and_with_one_by_its_real_persons(tmp_path):
    out, who, false = (tmp_path / name for name in ("r.csv", "who.csv", "false.csv"))
    asked = XkRequest(
        table=known(), schema=SCHEMA.with_promise([KAnonymity(9), LDiversity(2, column="ill")]),
        k=9, xk=4, output=Output(out=out, person_file=who), false_records=false,
    )  # fmt: skip
    done = release_xk(asked)
    assert done.outcome.added > 0
    assert out.read_text().splitlines()[0] == "sex,age,ill"
    assert who.stat().st_mode & 0o777 == 0o600
    plain = Schema.from_document({"columns": {"sex": "quasi", "age": "quasi", "ill": "sensitive"}})
    asking = {"privacy": [KAnonymity(9), LDiversity(2, column="ill")], "person_file": who}
    both = api.verify(out, plain, false_records=false, **asking)
    assert both.holds
    assert any("does not exist" in line for line in both.warnings)
    assert not any("\x00" in line for line in both.warnings)  # the person file is not released
    alone = api.verify(out, plain, **asking)
    assert not alone.holds
    assert alone.smallest_class == done.outcome.fewest_originals >= 4
    with pytest.raises(SchemaError, match="--person-file"):
        api.verify(out, plain, privacy=[KAnonymity(9)], false_records=false)
    for text in ("false_row\n1\n1\n", "false_row\n0\n", "false_row\nx\n", "row\n1\n"):
        false.write_text(text)
        with pytest.raises(InputError, match=r"false records|different records"):
            api.verify(out, plain, false_records=false, **asking)


def test_blanked_cells_are_verified_by_persons(tmp_path):
    out, who, false = (tmp_path / name for name in ("r.csv", "who.csv", "false.csv"))
    table = known().with_columns(
        ill=pl.when(pl.col("sex") == "F").then(pl.lit("x")).otherwise("ill")
    )
    chosen = Choices(techniques=Techniques.parse("s"), diversity=2)
    done = release_xk(XkRequest(
        table=table, schema=SCHEMA, k=9, xk=4, choices=chosen,
        output=Output(out=out, person_file=who), false_records=false,
    ))  # fmt: skip
    assert done.outcome.lost.blanked > 0
    plain = Schema.from_document({"columns": {"sex": "quasi", "age": "quasi", "ill": "sensitive"}})
    asking = {"privacy": [KAnonymity(9), LDiversity(2, column="ill")], "blanked": True}
    assert api.verify(out, plain, person_file=who, false_records=false, **asking).holds
    assert not api.verify(out, plain, person_file=who, **asking).holds


def test_a_value_that_one_person_has_in_all_records_tells_a_copy():
    table = stays().with_columns(bill=pl.col("who").fill_null("none"))
    columns = {**COLUMNS, "bill": "neutral"}
    schema = Schema.from_document({"columns": columns, "waive": ["ill"]})
    with pytest.raises(SchemaError, match="'bill'"):
        apply(table, schema, 9, xk=4)


def test_a_pseudonym_of_the_person_is_refused():
    who = {"role": "person", "release": "pseudonym"}
    schema = Schema.from_document({"columns": {**COLUMNS, "who": who}})
    with pytest.raises(MethodError, match="pseudonym links"):
        recommend(stays(), schema, 5)
