import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kaca
from tests.methods.clustering.tables import groups_of, groups_of_members, records, tables
from tests.methods.lattice.tables import adult_table
from tests.naive import clustering as naive

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.clustering.kaca import merge_classes
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes


@settings(max_examples=60, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6), short=st.sampled_from([0, 256]))
def test_fast_classes_are_the_papers_classes(table, k, short):
    data, rows = records(table)
    expected = naive.kaca(data, k, domains=table.domains)
    row, label, count = merge_classes(
        table.codes, table.counts, space=space_of(table.domains, short=short), k=k
    )
    found = groups_of_members(row, label, count)
    assert found == groups_of(expected, rows)


@pytest.mark.parametrize("beta", [1.0, 2.0])
@pytest.mark.parametrize("weights", ["height", "example"])
@settings(max_examples=30, deadline=None)
@given(table=tables(), k=st.integers(1, 6), short=st.sampled_from([0, 256]))
def test_weighted_classes_are_those_of_definition_5_or_of_its_example(
    weights, beta, table, k, short
):
    data, rows = records(table)
    weight = {"height": naive.height_weight, "example": naive.example_weight}[weights](beta)
    expected = naive.kaca(data, k, domains=table.domains, weight=weight)
    space = space_of(table.domains, short=short, power=beta, example=weights == "example")
    found = groups_of_members(*merge_classes(table.codes, table.counts, space=space, k=k))
    assert found == groups_of(expected, rows)


def test_kaca_follows_the_formula_unless_the_example_is_asked_for():
    # Of two classes that (a, 0) may join one is 45 years and one step of two away, the other
    # of the same age, but with nothing except the root in common.
    tree = Hierarchy.from_tree("place", {"*": {"north": ["a", "b"], "south": ["x"]}})
    place = tree_domain("place", Kind.CATEGORICAL, ["a", "b", "x"], tree, missing=False, weight=1.0)
    age = line_domain("age", Kind.NUMERIC, ["1", "2", "3"], [0.0, 45.0, 100.0])
    codes = np.array([[0, 0], [0, 2], [1, 1]], dtype=np.int32)  # (a, 0), (x, 0), (b, 45)
    table = from_codes((age, place), codes, np.array([1, 2, 2]))
    by_formula = kaca(table, [KAnonymity(2)])
    by_example = kaca(table, [KAnonymity(2)], weights="example")
    labels = [recoding.label[0] == recoding.label[2] for recoding in (by_formula, by_example)]
    assert labels == [True, False]  # (a, 0) joins (b, 45) by 0.45 + 0.33 < 1, not by 0.45 + 0.67


@pytest.mark.parametrize("options", [{"weights": "depth"}, {"beta": -1.0}])
def test_impossible_weights_are_refused(options):
    with pytest.raises(MethodError, match="weights must be"):
        kaca(None, [KAnonymity(2)], **options)


def test_the_formula_loses_less_than_the_example_on_5000_adult_records(adult):
    whole = adult_table(adult.hierarchies)
    drawn = np.random.default_rng(0).multivariate_hypergeometric(
        whole.counts, 5_000, method="marginals"
    )
    table = from_codes(whole.domains, whole.codes[drawn > 0], drawn[drawn > 0])
    for k in (5, 10, 25):
        by_formula, by_example = (
            utility_of(grouping_of(kaca(table, [KAnonymity(k)], weights=w), target=None))["ncp"]
            for w in ("height", "example")
        )
        assert by_formula < by_example
