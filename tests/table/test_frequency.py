from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import KernelInputError
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import ONCE, FrequencyTable, from_codes, join_rows, sort_rows

SIZES = (3, 4)
DOMAINS = tuple(
    line_domain(f"c{i}", Kind.NUMERIC, [str(v) for v in range(size)], list(range(size)))
    for i, size in enumerate(SIZES)
)
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, data=st.data())
def test_equal_rows_are_joined_and_the_order_of_records_is_forgotten(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    counts = [data.draw(st.integers(1, 5)) for _ in rows]
    table, home = join_rows(
        DOMAINS, np.array(rows, dtype=np.int32), np.array(counts, dtype=np.int64)
    )
    expected: Counter[tuple[int, int]] = Counter()
    for row, count in zip(rows, counts, strict=True):
        expected[row] += count
    ours = {tuple(map(int, r)): int(n) for r, n in zip(table.codes, table.counts, strict=True)}
    assert ours == dict(expected)
    assert [tuple(map(int, r)) for r in table.codes] == sorted(expected)
    for row, place in zip(rows, home, strict=True):
        assert tuple(map(int, table.codes[place])) == row
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = from_codes(
        DOMAINS,
        np.array([rows[i] for i in order], dtype=np.int32),
        np.array([counts[i] for i in order], dtype=np.int64),
    )
    assert (shuffled.codes == table.codes).all()
    assert (shuffled.counts == table.counts).all()


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, data=st.data())
def test_records_of_different_earlier_classes_stay_apart(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    number = st.lists(st.integers(-1, 2), min_size=len(rows), max_size=len(rows))
    earlier, persons = data.draw(number), data.draw(number)
    table, home = join_rows(
        DOMAINS, np.array(rows, dtype=np.int32), np.ones(len(rows), dtype=np.int64),
        persons=np.array(persons, dtype=np.int32), earlier=np.array(earlier, dtype=np.int32),
    )  # fmt: skip
    assert table.earlier is not None
    assert table.persons is not None
    expected = Counter(zip(rows, persons, earlier, strict=True))
    ours = {
        (tuple(map(int, code)), int(who), int(then)): int(n)
        for code, who, then, n in zip(
            table.codes, table.persons, table.earlier, table.counts, strict=True
        )
    }
    assert ours == dict(expected)
    assert table.earlier[home].tolist() == earlier
    with pytest.raises(KernelInputError, match="earlier classes must be int32"):
        replace(table, earlier=table.earlier.astype(np.int64))


def test_sorting_agrees_with_lexsort_when_keys_do_not_fit_one_word() -> None:
    rng = np.random.default_rng(1)
    sizes = [2**31 - 1, 2**31 - 1, 2**31 - 1, 5]
    rows = np.stack([rng.integers(0, size, 500) for size in sizes], axis=1).astype(np.int32)
    rows = np.concatenate((rows, rows))
    expected = np.lexsort(rows.T[::-1])
    assert (rows[sort_rows(rows, sizes)] == rows[expected]).all()


def test_tuples_count_records_over_their_sensitive_values() -> None:
    table = from_codes(
        DOMAINS[:1],
        np.array([[0], [0], [1]], dtype=np.int32),
        np.array([2, 3, 4], dtype=np.int64),
        sensitive_domains=DOMAINS[1:],
        sensitive=np.array([[0], [1], [1]], dtype=np.int32),
    )
    assert table.rows == 3
    assert table.records == 9
    assert table.tuple_sizes.tolist() == [5, 4]
    assert table.reference(0).tolist() == [2, 7, 0, 0]


@pytest.mark.parametrize(
    ("codes", "counts"),
    [
        (np.zeros((2, 2), dtype=np.int64), np.ones(2, dtype=np.int64)),
        (np.zeros((2, 2), dtype=np.int32), np.ones(2, dtype=np.int32)),
        (np.zeros((2, 1), dtype=np.int32), np.ones(2, dtype=np.int64)),
        (np.full((2, 2), 9, dtype=np.int32), np.ones(2, dtype=np.int64)),
        (np.full((2, 2), -1, dtype=np.int32), np.ones(2, dtype=np.int64)),
        (np.zeros((2, 2), dtype=np.int32), np.ones(3, dtype=np.int64)),
    ],
)
def test_arrays_that_kernels_must_not_see_are_refused(
    codes: np.ndarray, counts: np.ndarray
) -> None:
    with pytest.raises(KernelInputError):
        FrequencyTable(DOMAINS, codes, counts, (), np.zeros((len(counts), 0), dtype=np.int32))


@settings(max_examples=60, deadline=None)
@given(
    records=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, -1, -2])), min_size=1, max_size=9
    )
)
def test_persons_of_each_value_are_counted_once(records):
    line = line_domain("a", Kind.NUMERIC, ["0"], [0.0])
    secret = line_domain("s", Kind.NUMERIC, ["0", "1", "2"], [0.0, 1.0, 2.0])
    table, _ = join_rows(
        (line,), np.zeros((len(records), 1), dtype=np.int32), np.ones(len(records), dtype=np.int64),
        sensitive_domains=(secret,),
        sensitive=np.array([[value] for value, _ in records], dtype=np.int32),
        persons=np.array([who for _, who in records], dtype=np.int32),
    )  # fmt: skip
    named = [(v, ("once", i) if who == -1 else who) for i, (v, who) in enumerate(records)]
    named = {pair for pair in named if pair[1] != -2}
    (by_value,), people = table.people_of_all()
    assert by_value.tolist() == [sum(v == value for v, _ in named) for value in range(3)]
    assert people == len({who for _, who in named})
    known = ((np.array([9, 9, 9]),), 27)
    part = FrequencyTable(
        domains=table.domains, codes=table.codes, counts=table.counts,
        sensitive_domains=table.sensitive_domains, sensitive=table.sensitive,
        persons=table.persons, whole_people=known,
    )  # fmt: skip
    assert part.people_of_all() is known


@given(
    members=st.lists(
        st.tuples(st.integers(-2, 4), st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=12
    ),
    whole=st.booleans(),
)
def test_persons_of_classes_are_those_of_sets(members, whole):
    who, label, count = (np.array(each) for each in zip(*members, strict=True))
    label = np.zeros_like(label) if whole else label
    table = FrequencyTable(
        domains=(), codes=np.zeros((len(who), 0), dtype=np.int32), counts=count.astype(np.int64),
        sensitive_domains=(), sensitive=np.zeros((len(who), 0), dtype=np.int32),
        persons=who.astype(np.int32),
    )  # fmt: skip
    size = 1 if whole else 4
    found = table.persons_of(np.arange(len(who)), label.astype(np.int64), table.counts, size)
    for each in range(size):
        own = [(w, c) for w, l, c in zip(who, label, count, strict=True) if l == each]
        once = sum(c for w, c in own if w == ONCE)
        assert found[each] == once + len({w for w, _ in own if w >= 0})
