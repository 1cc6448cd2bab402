"""Small models that tests of this room share, and random ones."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from shoal.model.model import ModelColumn, RecodingModel
from shoal.schema.schema import Schema

TREE = {"labels": ["a", "b", "ab", "c", "d", "cd", "*"], "parents": [2, 2, 6, 5, 5, 6, -1]}
ORDER = ["low", "middle", "high", "top"]
MASK = {"char": "*", "length": 3, "direction": "right", "pad": "left", "fill": "0"}


def model(**changes):
    """Return a model of two classes: exactly 5 and f, or 1 to 3 and missing."""
    schema = Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["f", "m"]}}},
                "name": "identifying",
            },
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    facts = {
        "method": "mondrian",
        "schema": schema,
        "records": 5,
        "suppressed": 0,
        "columns": (
            ModelColumn(
                name="age",
                scale="number",
                root="*",
                cells=({"low": "1", "high": "3"}, {"low": "5", "high": "5"}),
            ),
            ModelColumn(name="sex", scale="text", root="*", cells=({"missing": True}, {"node": 0})),
        ),
        "regions": ((1, 1), (0, 0)),
        "counts": (3, 2),
        "utility": {"ncp": 0.5, "cm": None},
    }
    return RecodingModel(**{**facts, **changes})


def broken(**changes):
    """Return the document of `model` with some parts replaced."""
    document = json.loads(model().to_json())
    document.update(changes)
    return document


def with_cell(cell):
    document = broken()
    document["columns"][0]["cells"][0] = cell
    return document


def with_tree(labels, parents):
    document = broken()
    document["schema"]["columns"]["sex"]["hierarchy"] = {"labels": labels, "parents": parents}
    return document


def document(columns, regions, **schema):
    """Return what an encoder reads of a model; a column may bring its entry in the schema."""
    columns = [dict(column) for column in columns]
    about = {c["name"]: c.pop("about", {"role": "quasi"}) for c in columns}
    return {
        "on_unseen": "suppress",
        "schema": {"others": "drop", "columns": about, **schema},
        "released": list(about),
        "removed": [],
        "columns": columns,
        "regions": regions,
    }


def numeric(*cells):
    return {"name": "x", "scale": "number", "root": "*", "cells": list(cells)}


def place_column():
    return {
        "name": "place", "scale": "text", "root": "*", "cells": [{"node": 0}, {"node": 5}],
        "about": {"role": "quasi", "hierarchy": TREE},
    }  # fmt: skip


def _ranges(ends):
    ends = [None, *ends]
    return st.builds(
        lambda low, high, is_open: {"low": low, "high": high, "open": is_open, "label": "range"},
        st.sampled_from(ends), st.sampled_from(ends), st.sampled_from(["low", "high", "both"]),
    ) | st.builds(
        lambda low, high: {"low": low, "high": high, "label": "closed"},
        st.sampled_from(ends), st.sampled_from(ends),
    )  # fmt: skip


def _column(name, scale, cells, values, **about):
    plain = st.sampled_from([{"any": "*"}, {"missing": True}])
    entry = st.lists(cells | plain, min_size=1, max_size=4).map(
        lambda found: {
            "name": name, "scale": scale, "root": "*", "cells": found,
            "about": {"role": "quasi", **about}, **({"mask": MASK} if name == "code" else {}),
        }
    )  # fmt: skip
    return entry, st.sampled_from([None, "", "?", " ? ", "elsewhere", *values])


KINDS = [
    _column("x", "number", _ranges(["1", "2.0", "10"]), ["0", "1", "1.50", " 2", "1e1", "11"]),
    _column(
        "day", "date", _ranges(["2024-01-01", "2024-02-29 12:00"]),
        ["2023-12-31", "2024-01-01", "2024-02-29", "2024-02-29T12:00", "2024-03-01 00:00:00"],
    ),
    _column("grade", "rank", _ranges(ORDER), [*ORDER, " top"], order=ORDER),
    _column(
        "place", "text", st.builds(lambda node: {"node": node}, st.integers(0, 6)),
        ["a", "b", " b ", "ab", "c", "*"], hierarchy=TREE,
    ),
    _column(
        "job", "text",
        st.sampled_from([{"value": "nurse"}, {"values": ["nurse", "cook"], "label": "both"}]),
        ["nurse", "cook", " cook", "pilot"],
    ),
    _column(
        "code", "text", st.sampled_from([{"mask": "7**", "lost": 2}, {"mask": "07*", "lost": 1}]),
        ["7", "75", "751", "7512", "071"],
    ),
]  # fmt: skip


@st.composite
def models_and_tuples(draw, *, tuples=6):
    """Return a random model's document, and tuples of values for its columns."""
    chosen = draw(st.lists(st.sampled_from(range(len(KINDS))), min_size=1, max_size=3, unique=True))
    columns = [draw(KINDS[i][0]) for i in chosen]
    region = st.tuples(*(st.integers(0, len(c["cells"]) - 1) for c in columns)).map(list)
    regions = draw(st.lists(region, min_size=1, max_size=5))
    values = st.tuples(*(KINDS[i][1] for i in chosen))
    found = draw(st.lists(values, min_size=1, max_size=tuples))
    return document(columns, regions, missing=["?"]), found
