"""Random sensitive columns with all the dirt that files bring, and promises about them."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from hypothesis import strategies as st
from tests.naive import sensitive as naive

import shoal
from shoal.model.model import ModelColumn, RecodingModel
from shoal.table.recoding import Recoding

TREE = {
    "*": {
        "infection": ["HIV", "flu", "Ho\u0308hle"],
        "organ": {"ear": ["M\u00e9ni\u00e8re", "tinnitus"], "eye": ["glaucoma"]},
    }
}
PARENTS = {
    "HIV": "infection", "flu": "infection", "Ho\u0308hle": "infection", "infection": "*",
    "M\u00e9ni\u00e8re": "ear", "tinnitus": "ear", "ear": "organ", "glaucoma": "eye",
    "eye": "organ", "organ": "*", "*": None,
}  # fmt: skip
AGES = {"*": {"young": ["1", "2", "10"], "old": ["20", "1000", "-3.50"]}}
AGES_PARENTS = {
    "1": "young", "2": "young", "10": "young", "young": "*",
    "20": "old", "1000": "old", "-3.50": "old", "old": "*", "*": None,
}  # fmt: skip
STEPS = ["low", "mid", "h\u00f6her", "top"]
STEPS_TREE = {"*": {"quiet": ["mid", "low"], "loud": ["top", "h\u00f6her"]}}
STEPS_PARENTS = {
    "mid": "quiet", "low": "quiet", "quiet": "*", "top": "loud", "h\u00f6her": "loud",
    "loud": "*", "*": None,
}  # fmt: skip
GAPS = ["", None, "?", " \u00a0", "\ufeff"]

NUMBERS = ["1", "1.0", "01", " 1\u00a0", "2", "10", "2e1", "1E3", "-3.5", "\ufeff20.00"]
LONG = ["12345678901234567890123456789012345", "12345678901234567890123456789012346.0"]
WORDS = ["HIV", "hiv ", "H I V", "flu", "M\u00e9ni\u00e8re", "Me\u0301nie\u0300re", "Meniere",
         "tinnitus\u00a0", "glaucoma", "ear"]  # fmt: skip
DAYS = ["2024-02-25", "2024-02-25 00:00:00", " 2024-03-01T12:30", "2024-03-01 12:30:00",
        "2023-12-31", "20240225"]  # fmt: skip

# What the schema says, what the naive checker is told, clean values, and strays.
COLUMNS = {
    "numbers": ({"kind": "numeric"}, {"kind": "numeric"}, [*NUMBERS, *LONG],
                ["unknown", "1,5", "0x10"]),
    "numbers, tree": ({"kind": "numeric", "hierarchy": {"tree": AGES}},
                      {"kind": "numeric", "parents": AGES_PARENTS}, NUMBERS, ["unknown", "7"]),
    "numbers, built": ({"kind": "numeric", "hierarchy": {"intervals": {"width": 10}}},
                       {"kind": "numeric", "built": naive.by_width(10)}, NUMBERS, ["n/a"]),
    "dates": ({"kind": "date"}, {"kind": "date"}, DAYS,
              ["31.02.2024", "2024-02-25T01:00:00+02:00"]),
    "dates, built": ({"kind": "date", "hierarchy": {"dates": {"levels": ["month", "year"]}}},
                     {"kind": "date", "built": naive.by_month}, DAYS, ["soon"]),
    "order": ({"kind": "ordinal", "order": STEPS}, {"kind": "ordinal", "order": STEPS},
              ["low", " mid", "ho\u0308her", "top"], ["Low", "higher"]),
    "order, tree": (
        {"kind": "ordinal", "order": STEPS, "hierarchy": {"tree": STEPS_TREE}},
        {"kind": "ordinal", "order": STEPS, "parents": STEPS_PARENTS},
        ["low", " mid", "ho\u0308her", "top"], ["quiet"]),
    "words": ({"kind": "categorical"}, {"kind": "categorical"}, [*WORDS, "1", "1.0", "*"], []),
    "words, tree": ({"kind": "categorical", "hierarchy": {"tree": TREE}},
                    {"kind": "categorical", "parents": PARENTS},
                    ["HIV", "flu ", "H\u00f6hle", "M\u00e9ni\u00e8re", "Me\u0301nie\u0300re",
                     "tinnitus", "glaucoma", "ear"],
                    ["hiv", "gout"]),
    "words, built": ({"kind": "categorical", "hierarchy": {"mask": {}}},
                     {"kind": "categorical", "built": naive.masked},
                     ["ab", "abc", "ab ", "abd", "xyz", "\u00e9b", "e\u0301b"], ["AB"]),
    "ranks of a tree": ({"kind": "ordinal", "hierarchy": {"tree": STEPS_TREE}},
                        {"kind": "ordinal", "parents": STEPS_PARENTS},
                        ["low", " mid", "ho\u0308her", "top"], ["higher"]),
    "undeclared numbers": ({}, {}, ["1", "1.0", " 2", "10", "1e3"], ["unknown", "01"]),
    "undeclared words": ({}, {}, WORDS, ["7", "7.0", "07"]),
    "undeclared, tree": ({"hierarchy": {"tree": AGES}}, {"parents": AGES_PARENTS},
                         ["1", "1.0", "2", "10", " 20", "-3.5"], ["young", "7"]),
}  # fmt: skip
HAS_TREE = [name for name, (entry, *_) in COLUMNS.items() if "hierarchy" in entry]
QUASI = ("q0", "q1")


class Dirty(NamedTuple):
    """A table as it is released: two quasi-identifiers, and a column that is judged."""

    column: str
    rows: list[dict[str, str | None]]
    promise: list[dict[str, object]]
    fold: bool

    @property
    def facts(self):
        return {"s": {**COLUMNS[self.column][1], "marks": ["?"], "fold": self.fold}}

    @property
    def schema(self):
        quasi = {name: {"role": "quasi", "kind": "categorical"} for name in QUASI}
        secret = {"role": "sensitive", **COLUMNS[self.column][0]}
        return shoal.Schema.from_document(
            {"columns": {**quasi, "s": secret}, "privacy": self.promise, "missing": ["?"],
             "fold_case": self.fold}
        )  # fmt: skip

    @property
    def frame(self):
        return pl.DataFrame(self.rows, schema=dict.fromkeys((*QUASI, "s"), pl.String))

    @property
    def model(self):
        """A model with the finest classes, and one for everybody behind them."""
        cells = [[*({"value": text} for text in few), {"any": "*"}] for few in ("ab", "xy")]
        regions = (*product((0, 1), (0, 1)), (0, 2), (2, 2))
        return RecodingModel(
            method="none", schema=self.schema, records=100 * len(regions), suppressed=0,
            columns=tuple(
                ModelColumn(name=name, scale="text", root="*", cells=tuple(own))
                for name, own in zip(QUASI, cells, strict=True)
            ),
            regions=regions, utility={}, counts=(100,) * len(regions),
        )  # fmt: skip


def as_it_is(table):
    """Return the recoding that leaves every record as it is."""
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    corner = table.codes[starts]
    return Recoding(
        table=table, low=corner, high=corner, row=np.arange(table.rows), label=table.tuple_ids,
        count=table.counts,
    )  # fmt: skip


def models(column):
    """Every promise about the column s."""
    distances = ["equal", "ordered", "chi2"] + (["hierarchical"] if column in HAS_TREE else [])
    t = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0])
    l = st.integers(1, 4)
    of = {"column": st.just("s")}
    share = {"model": st.just("(alpha,k)-anonymity"), "k": st.integers(1, 4), **of,
             "alpha": st.sampled_from([0.3, 0.5, 0.75, 1.0])}  # fmt: skip
    named = st.lists(
        st.sampled_from([*COLUMNS[column][2], "hiv", "?"]), min_size=1, max_size=2, unique=True
    )
    return st.one_of(
        st.fixed_dictionaries({"model": st.just("l-diversity"), "l": l, **of,
                               "kind": st.sampled_from(["distinct", "entropy"])}),
        st.fixed_dictionaries({"model": st.just("l-diversity"), "l": l, **of,
                               "kind": st.just("recursive"),
                               "c": st.sampled_from([0.5, 1.0, 1.1, 2.0])}),
        st.fixed_dictionaries({"model": st.just("t-closeness"), "t": t, **of,
                               "distance": st.sampled_from(distances)}),
        st.fixed_dictionaries({"model": st.just("(n,t)-closeness"), "n": st.integers(1, 12),
                               "t": t, "distance": st.sampled_from(distances), **of}),
        st.fixed_dictionaries(share),
        st.fixed_dictionaries({**share, "values": named}),
    )  # fmt: skip


@st.composite
def dirty_tables(draw, column=None):
    column = column or draw(st.sampled_from(sorted(COLUMNS)))
    _, _, clean, strays = COLUMNS[column]
    cells = [*clean, *draw(st.sampled_from([[], GAPS, strays, [*GAPS, *strays]]))]
    cells = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=6))
    row = st.fixed_dictionaries(
        {"q0": st.sampled_from("ab"), "q1": st.sampled_from("xy"), "s": st.sampled_from(cells)}
    )
    rows = draw(st.lists(row, min_size=1, max_size=20))
    promise = [{"model": "k-anonymity", "k": draw(st.integers(1, 4))}]
    promise += draw(
        st.lists(
            models(column),
            min_size=1,
            max_size=2,
            unique_by=lambda model: str(sorted(model.items())),
        )
    )
    return Dirty(column, rows, promise, draw(st.booleans()))
