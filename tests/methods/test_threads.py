"""The same work on threads finds the same, in the same order."""

import threading

import pytest

from shoal.methods.threads import in_threads


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
@pytest.mark.parametrize("items", [[], [3], list(range(20))])
def test_results_stand_in_the_order_of_the_items(items, threads):
    assert in_threads(lambda item: item * item, items, threads) == [i * i for i in items]


def test_one_thread_or_one_item_needs_no_pool():
    here = threading.get_ident()
    assert set(in_threads(lambda _: threading.get_ident(), [1, 2, 3], 1)) == {here}
    assert in_threads(lambda _: threading.get_ident(), [1], 4) == [here]
    assert here not in in_threads(lambda _: threading.get_ident(), [1, 2, 3], 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_fault_of_the_work_is_raised(threads):
    def fail(item):
        raise ValueError(item)

    with pytest.raises(ValueError, match="1"):
        in_threads(fail, [1, 2], threads)
