"""Random schemas that say everything a schema can say."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.hierarchies.build import Builder, Dates, Intervals, Mask, Order, TopBottom
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Promise,
    TCloseness,
)
from shoal.schema.attribute import DISTANCES, KEPT, REMOVED, Attribute, Kind, Others, Role
from shoal.schema.schema import Schema

# What YAML would read as something else, if it were not written with care.
NAMES = st.sampled_from(["age", "no", "1", "1e3", "2024-03-17", "a: b", "zip code", "É\x85", "~"])
TEXTS = st.sampled_from(["low", "mid", "high", "?", "NA", "yes", "1.0", "null", "a\nb"])
SHARES = st.floats(0.01, 1)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Draw a tree of one or two levels, sometimes with labels that stay on a level."""
    leaves = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    repeat = draw(st.booleans())
    rows = [(leaf, leaf if repeat and i else "group", "*") for i, leaf in enumerate(leaves)]
    return Hierarchy.from_rows(draw(NAMES), rows, strip=False)


BUILDERS: st.SearchStrategy[Builder] = st.one_of(
    st.builds(Mask, char=st.sampled_from("*#"), length=st.none() | st.integers(1, 9)),
    st.builds(Intervals, width=st.sampled_from([5, 0.1, [5, 10], [1, 2, 4]])),
    st.builds(Intervals, cuts=st.sampled_from([[0, 10], [[0, 5, 10], [0, 10]]])),
    st.builds(Intervals, count=st.sampled_from([8, [8, 4]])),
    st.builds(Dates, levels=st.sampled_from([["month", "year"], ["day", "decade"]])),
    st.builds(Order, fanout=st.integers(2, 4), order=st.none() | st.just(["a", 1, 2.5])),
    st.builds(TopBottom, top=st.just(90), intervals=st.none() | st.just(Intervals(width=5))),
)


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    """Draw a column that may be."""
    role = draw(st.sampled_from(Role))
    kind = draw(st.none() | st.sampled_from([each for each in Kind if each is not Kind.SET]))
    has_tree = role in (Role.QUASI, Role.SENSITIVE)
    is_date = kind is Kind.DATE
    orders = st.lists(TEXTS, min_size=1, max_size=3, unique=True).map(tuple)
    return Attribute(
        name=name,
        role=role,
        kind=kind,
        hierarchy=draw(st.none() | trees() | BUILDERS) if has_tree else None,
        order=draw(orders) if kind is Kind.ORDINAL else (),
        weight=draw(st.sampled_from([1.0, 2.0, 0.1])),
        bounds=draw(st.none() | st.just((0.0, 120.5))),
        distance=draw(st.none() | st.sampled_from(DISTANCES)),
        beta=draw(st.sampled_from([1.0, 0.0, 0.3])),
        date_format=draw(st.none() | st.just("%d.%m.%Y")) if is_date else None,
        dates=draw(st.sampled_from(["iso", "same"])) if is_date else "iso",
    )


def promises(columns: list[str]) -> st.SearchStrategy[Promise]:
    """Draw a promise about one of some sensitive columns, or about all of them."""
    column = st.none() | st.sampled_from(columns) if columns else st.none()
    about_size = st.builds(KAnonymity, st.integers(1, 99))
    if not columns:
        return about_size
    distances = st.sampled_from(["equal", "ordered", "chi2"])
    values = st.none() | st.lists(TEXTS, min_size=1, max_size=2)
    return st.one_of(
        about_size,
        st.builds(LDiversity, st.integers(1, 9), column=column),
        st.builds(LDiversity, st.floats(1, 9), st.just("entropy"), column=column),
        st.builds(LDiversity, st.integers(1, 9), st.just("recursive"), c=SHARES, column=column),
        st.builds(TCloseness, SHARES, distances, column=column),
        st.builds(NTCloseness, st.integers(1, 99), SHARES, distance=distances, column=column),
        st.builds(AlphaKAnonymity, SHARES, st.integers(1, 9), column=column, values=values),
        st.builds(BetaLikeness, SHARES, enhanced=st.booleans(), column=column),
        st.builds(DeltaDisclosure, SHARES, column=column),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Draw a schema."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = tuple(draw(attributes(name)) for name in names)
    sensitive = [a.name for a in columns if a.role is Role.SENSITIVE]
    kept = [a.name for a in columns if a.role in KEPT]
    released = [a.name for a in columns if a.role not in REMOVED]
    return Schema(
        attributes=columns,
        privacy=tuple(draw(st.lists(promises(sensitive), max_size=3))),
        others=draw(st.sampled_from(Others)),
        missing=tuple(draw(st.lists(TEXTS, max_size=2))),
        fold_case=draw(st.booleans()),
        utility=draw(st.none() | st.just("loss")),
        suppression_limit=draw(st.sampled_from([0.0, 0.05, 1.0])),
        target=draw(st.sampled_from([None, *released])),
        waive=tuple(draw(st.lists(st.sampled_from(kept), unique=True))) if kept else (),
    )
