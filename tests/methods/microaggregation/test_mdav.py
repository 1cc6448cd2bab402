import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import mdav, vmdav
from tests.methods.calls import refine_centroids as refine
from tests.methods.clustering.tables import tables as mixed_tables
from tests.naive import microaggregation as naive

from shoal.core.errors import KernelInputError, MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.microaggregation import mdav as kernel
from shoal.methods.microaggregation.points import blocks_of, points_of
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes

EIA = ("UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES",
       "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES")  # fmt: skip
ADULT = (0, 2, 4, 10, 11, 12)


def line(values, name="c", weight=1.0):
    """Return a numeric domain and the codes of its values; None is a missing value."""
    known = sorted({v for v in values if v is not None})
    labels = ([None] if None in values else []) + known
    places = [0.0 if v is None else float(v) for v in labels]
    domain = line_domain(
        name, Kind.NUMERIC, [None if v is None else str(v) for v in labels], places, weight=weight
    )
    where = {value: code for code, value in enumerate(labels)}
    return domain, [where[v] for v in values]


def numeric(rows, **more):
    """Return the table of some records, tuples of numbers or None."""
    columns = [line(values, f"c{j}") for j, values in enumerate(zip(*rows, strict=True))]
    codes = np.array([codes for _, codes in columns], dtype=np.int32).T
    domains = tuple(domain for domain, _ in columns)
    return from_codes(domains, codes, np.ones(len(rows), dtype=np.int64), **more)


def benchmark(data, name):
    """Return one of the numeric tables that the papers use."""
    if name == "adult":
        path = data / "adult/adult.data.gz"
        frame = pl.read_csv(path, has_header=False, infer_schema=False)
        frame = frame.select(pl.all().str.strip_chars())
        frame = frame.filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "?")))
        frame = frame.select([frame.columns[i] for i in ADULT]).cast(pl.Float64)
    else:
        files = {
            "census": "census_casc/CASCrefmicrodata.csv",
            "tarragona": "tarragona/Tarragona.csv",
            "eia": "eia/EIA.csv",
        }
        path = data / files[name]
        frame = pl.read_csv(path) if path.is_file() else None
        if name == "eia" and frame is not None:
            frame = frame.select(EIA)
    if frame is None:
        pytest.skip(f"{name} is not in the data folder")
    codes, domains = [], []
    for column in frame.columns:
        places, own = np.unique(frame[column].to_numpy(), return_inverse=True)
        codes.append(own)
        domains.append(line_domain(column, Kind.NUMERIC, [str(p) for p in places], places))
    ones = np.ones(frame.height, dtype=np.int64)
    return from_codes(tuple(domains), np.stack(codes, axis=1).astype(np.int32), ones)


def loss(recoding, points=None):
    """Return 100 · SSE / SST of the groups."""
    table = recoding.table
    points = points_of(table) if points is None else points
    whole = points - np.average(points, axis=0, weights=table.counts)
    whole = float((whole**2 * table.counts[:, None]).sum())
    own, count = points[recoding.row], recoding.count[:, None]
    total = np.zeros((recoding.classes, points.shape[1]))
    np.add.at(total, recoding.label, own * count)
    gaps = own - (total / recoding.sizes[:, None])[recoding.label]
    return 100 * float((gaps**2 * count).sum()) / whole if whole else 0.0


def groups_of(recoding):
    """Return the groups as sorted tuples of (row, records)."""
    groups = {}
    for row, label, count in zip(recoding.row, recoding.label, recoding.count, strict=True):
        groups.setdefault(int(label), []).append((int(row), int(count)))
    return sorted(tuple(sorted(group)) for group in groups.values())


def plain(table, groups):
    """Return the naive twins' groups, records counted by row."""
    row = np.repeat(np.arange(table.rows), table.counts)
    found = []
    for group in groups:
        rows, counts = np.unique(row[group], return_counts=True)
        found.append(tuple(zip(rows.tolist(), counts.tolist(), strict=True)))
    return sorted(found)


def records(table):
    return [tuple(p) for p in np.repeat(points_of(table), table.counts, axis=0).tolist()]


cells = st.one_of(st.integers(-3, 3), st.integers(-1000, 1000))
tables = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.tuples(*[cells] * columns), min_size=1, max_size=40)
)


@given(rows=tables, k=st.integers(1, 6))
@settings(deadline=None, max_examples=70)
def test_mdav_is_the_plain_algorithm(rows, k):
    table = numeric(rows)
    found = mdav(table, [KAnonymity(k)])
    if table.records >= k:
        assert groups_of(found) == plain(table, naive.mdav(records(table), k))
    else:
        assert found.suppressed == table.records


@given(rows=tables, k=st.integers(1, 5), gamma=st.sampled_from([0.0, 0.2, 1.1, 5.0]))
@settings(deadline=None, max_examples=70)
def test_vmdav_is_the_plain_algorithm(rows, k, gamma):
    table = numeric(rows)
    found = vmdav(table, [KAnonymity(k)], gamma=gamma)
    if table.records >= k:
        assert groups_of(found) == plain(table, naive.vmdav(records(table), k, gamma))
    else:
        assert found.suppressed == table.records


@given(rows=tables, k=st.integers(1, 5), leaf=st.integers(1, 9))
@settings(deadline=None, max_examples=50)
def test_blocks_change_nothing(rows, k, leaf):
    table = numeric(rows)
    points = points_of(table)
    one, other = (
        kernel.mdav(blocks_of(points, leaf=size), table.counts, k=k) for size in (leaf, 1000)
    )
    assert all((a == b).all() for a, b in zip(one, other, strict=True))


@given(rows=tables, number=st.integers(1, 5))
@settings(deadline=None, max_examples=50)
def test_neighbours_and_paths_are_the_plain_ones(rows, number):
    points = points_of(numeric(rows))
    blocks = blocks_of(points, leaf=4)
    listed = points.tolist()
    for row, found in enumerate(
        kernel.neighbours(blocks, number=number, rows=np.arange(len(points)))
    ):
        others = naive.without(range(len(points)), [row])
        near = naive.nearest(listed, others, listed[row], number)
        assert found.tolist() == near + [row] * (number - len(near))
    assert kernel.path(blocks).tolist() == naive.path(listed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("census", (5.6922, 9.0884, 14.1559)),
        ("tarragona", (16.9326, 22.4619, 33.1929)),
        ("eia", (0.4829, 1.6667, 3.8397)),
        ("adult", (0.8824, 1.5648, 2.7273)),
    ],
)
def test_mdav_loses_what_the_literature_says(data, name, expected):
    table = benchmark(data, name)
    for k, share in zip((3, 5, 10), expected, strict=True):
        found = mdav(table, [KAnonymity(k)])
        assert loss(found) == pytest.approx(share, abs=0.02 if name == "adult" else 0.001)
        assert found.sizes.min() >= k


@pytest.mark.parametrize("method", [mdav, vmdav])
def test_small_and_flat_tables(method):
    for count, k, groups in ((4, 5, 0), (5, 5, 1), (9, 5, 1), (1, 1, 1)):
        found = method(numeric([(i, i * i % 7) for i in range(count)]), [KAnonymity(k)])
        assert found.classes == groups
        assert found.suppressed == (count if not groups else 0)
    equal = method(numeric([(4, 4)] * 20), [KAnonymity(3)])
    assert equal.sizes.min() >= 3
    assert loss(equal) == 0.0
    constant = method(numeric([(4, i) for i in range(20)]), [KAnonymity(3)])
    assert constant.sizes.min() >= 3
    nothing = from_codes(
        (line([1])[0],), np.zeros((0, 1), dtype=np.int32), np.zeros(0, dtype=np.int64)
    )
    assert method(nothing, [KAnonymity(3)]).classes == 0


def test_a_hundred_thousand_records_in_one_column():
    places = np.unique(np.arange(100_000) ** 2 % 100_003).astype(np.float64)
    domain = line_domain("c", Kind.NUMERIC, [str(p) for p in places], places)
    codes = np.arange(100_000, dtype=np.int32)[:, None] % len(domain)
    table = from_codes((domain,), codes, np.ones(100_000, dtype=np.int64))
    found = mdav(table, [KAnonymity(50)])
    assert found.sizes.min() >= 50
    assert loss(found) < 0.001


def test_a_missing_number_stands_apart():
    table = numeric([(None,), (None,), (1,), (2,), (3,), (4,)])
    points = points_of(table)
    assert points.shape == (5, 2)
    assert points[0].tolist() == [0.0, 1.0]
    found = mdav(table, [KAnonymity(2)])
    assert groups_of(found)[0] == ((0, 2),)
    assert points_of(numeric([(None, 1), (None, 2)])).shape == (2, 1)


def test_categories_stand_as_far_apart_as_they_mean():
    tree = Hierarchy.from_rows(
        "job", [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
    )
    domain = tree_domain(
        "job", Kind.CATEGORICAL, ["a", "b", "c", "d"], tree, missing=False, weight=1.0
    )
    other, codes = line([1, 2, 3, 4, 1, 2, 3, 4])
    table = from_codes(
        (domain, other),
        np.array([[0, 0, 1, 1, 2, 2, 3, 3], codes], dtype=np.int32).T,
        np.ones(8, dtype=np.int64),
    )
    from shoal.methods.microaggregation.semantic import distance_table

    jobs = points_of(table)[:, :-1]
    gaps = np.sqrt(((jobs[:, None] - jobs[None, :]) ** 2).sum(axis=2))
    expected = distance_table(domain)[np.ix_(table.codes[:, 0], table.codes[:, 0])]
    assert np.allclose(gaps, expected, atol=1e-6)
    for method in (mdav, vmdav):
        assert method(table, [KAnonymity(2)]).sizes.min() >= 2


@given(table=mixed_tables(missing=True), k=st.integers(2, 4))
@settings(deadline=None, max_examples=25)
def test_mixed_tables_with_missing_values_are_grouped(table, k):
    points = points_of(table)
    assert np.isfinite(points).all()
    for found in (
        mdav(table, [KAnonymity(k)]),
        vmdav(table, [KAnonymity(k)]),
        refine(table, [KAnonymity(k)], effort="fast", seconds=0.01),
    ):
        if table.records < k:
            assert found.suppressed == table.records
        else:
            assert found.sizes.min() >= k
            assert found.sizes.sum() == table.records


def test_other_promises_are_kept_by_merging():
    rows = [(i, 30 - i) for i in range(30)]
    secret, secrets = line([i // 10 for i in range(30)], "s")
    table = numeric(
        rows,
        sensitive_domains=(secret,),
        sensitive=np.array([secrets], dtype=np.int32).T,
    )
    found = mdav(table, [KAnonymity(3), LDiversity(2, column="s")])
    for group in groups_of(found):
        assert len({int(table.sensitive[row, 0]) for row, _ in group}) >= 2


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), float("inf")])
def test_impossible_gammas_are_refused(gamma):
    with pytest.raises(MethodError, match="gamma must be"):
        vmdav(numeric([(1,), (2,)]), [KAnonymity(2)], gamma=gamma)


def test_misfits_are_refused_before_compiled_code_sees_them():
    blocks = blocks_of(np.zeros((4, 1)))
    ones = np.ones(4, dtype=np.int64)
    for bad in (
        blocks._replace(at=blocks.at.astype(np.float32)),
        blocks._replace(row=np.zeros(4, dtype=np.int64)),
        blocks._replace(start=np.array([0, 3])),
        blocks._replace(at=np.zeros((0, 4))),
    ):
        with pytest.raises(KernelInputError):
            kernel.mdav(bad, ones, k=2)
    with pytest.raises(KernelInputError):
        kernel.mdav(blocks, ones * 0, k=2)
