"""When nothing meets the promise: what is in the way, and which limit would do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import search
from tests.methods.lattice.cases import people, random_case

from shoal.core.errors import NoSolutionError
from shoal.methods.lattice import shortage as module
from shoal.methods.lattice.shortage import no_solution, smallest_limit
from shoal.methods.lattice.space import space_of
from shoal.privacy import KAnonymity, LDiversity


def test_no_solution_names_the_column_and_the_limit():
    # Alone, the twenties are spread enough; all together they are not.
    table = people([21] * 4 + [41] * 6, "f" * 10, ["flu", "gout"] * 2 + ["flu"] * 6)
    promise = [LDiversity(1.9, "entropy", column="diagnosis")]
    with pytest.raises(NoSolutionError, match=r"'diagnosis'.*") as caught:
        search(table, promise, suppression_limit=0.1)
    assert "smallest limit that would do is 0.6" in str(caught.value)
    assert caught.value.exit_code == 1
    assert search(table, promise, suppression_limit=0.6).suppressed == 6


def test_too_few_records_for_any_class():
    with pytest.raises(NoSolutionError, match=r"no larger limit would do.*'age'"):
        search(people([21, 35], "fm"), [KAnonymity(3)], suppression_limit=1.0)


def test_smallest_limit_allows_what_it_says():
    assert smallest_limit(0, 10) == 0
    assert smallest_limit(1458, 30162) == pytest.approx(0.048339)
    assert int(smallest_limit(1, 3) * 3 + 1e-9) == 1


@pytest.mark.parametrize("dense", [0, 2**18])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), promise=st.sampled_from(["k3", "distinct", "entropy"]))
def test_the_smallest_limit_is_that_of_brute_force(dense, seed, promise):
    space, models, naive = random_case(seed, promise, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)  # both kinds of search
        error = no_solution(space, tuple(models), limit=0.0, threads=1)
    fewest = min((len(naive.split(node)[1]) for node in naive.nodes()), default=naive.n)
    if fewest == naive.n:
        assert error.facts["smallest_limit"] is None
    else:
        limit = error.facts["smallest_limit"]
        assert fewest <= limit * naive.n + 1e-9 < fewest + 1


def test_the_tightest_quasi_identifier_is_the_one_that_fails_most_alone():
    table = people([21, 22, 33, 34], "ffff")
    error = no_solution(space_of(table), (KAnonymity(2),), limit=0.0, threads=1)
    assert "'age': left as it is, it alone makes 4 records fail" in str(error)


def test_no_value_of_the_data_is_shown():
    table = people([21, 22, 33], "fmf", ["flu", "flu", "flu"])
    error = no_solution(space_of(table), (LDiversity(2, column="diagnosis"),), limit=0.0, threads=1)
    assert "'diagnosis'" in str(error)
    assert not {"flu", "21", "20s"} & set(str(error).replace("'", " ").split())


@given(suppressed=st.integers(0, 500), more=st.integers(0, 10**7))
def test_the_smallest_limit_allows_so_many_and_no_more(suppressed, more):
    records = suppressed + more + 1
    limit = smallest_limit(suppressed, records)
    assert suppressed <= limit * records + 1e-9
    assert limit * records < suppressed + 1
