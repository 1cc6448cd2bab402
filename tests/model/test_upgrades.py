"""Models of older versions are read as what they mean today."""

from __future__ import annotations

import pytest

from shoal.core.errors import ModelFormatError
from shoal.model.document import VERSION, checked
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.upgrades import UPGRADES


def test_version_1_is_upgraded():
    old = {
        "format": "shoal-model",
        "version": 1,
        "method": "mondrian",
        "records": 4,
        "suppressed": 0,
        "utility": {"ncp": 0.5},
        "schema": {
            "version": 1,
            "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
            "others": "fault",
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "suppression_limit": 0.0,
        },
        "columns": [
            {"name": "age", "cells": [["1", "3", "[1, 3]"], ["5", "5", "5"]]},
            {"name": "sex", "cells": [[None, None, None], ["f", "f", "f"], ["*", "*", "*"]]},
        ],
        "regions": [[0, 0], [1, 1], [1, 2]],
    }
    found = RecodingModel.from_document(old)
    assert found.to_document()["version"] == 3
    encoder = Encoder(found.to_document())
    assert encoder.encode({"age": 2, "sex": None}) == {"age": "[1, 3]", "sex": None}
    assert encoder.encode({"age": 5, "sex": "m"}) == {"age": "5", "sex": "*"}
    assert RecodingModel.from_document(found.to_document()) == found


def old(about, cells, **changes):
    return {
        "format": "shoal-model", "version": 1, "method": "mondrian", "records": 4,
        "suppressed": 0, "utility": {},
        "schema": {"columns": {"x": about}},
        "columns": [{"name": "x", "cells": cells}],
        "regions": [[i] for i in range(len(cells))],
        **changes,
    }  # fmt: skip


def test_there_is_a_step_for_every_older_version():
    assert sorted(UPGRADES) == list(range(1, VERSION))


@pytest.mark.parametrize(
    ("about", "cells", "scale"),
    [
        ({"role": "quasi", "kind": "numeric"}, [["1", "3", "[1, 3]"]], "number"),
        ({"role": "quasi", "kind": "date"}, [["2024-01-01", "2024-02-01", "winter"]], "date"),
        ({"role": "quasi", "kind": "categorical"}, [["1", "1", "1"]], "text"),
        ({"role": "quasi"}, [["1", "3", "[1, 3]"], [None, None, None]], "number"),
        ({"role": "quasi"}, [["2024-01-01", "2024-02-01", "winter"]], "date"),
        ({"role": "quasi"}, [["1", "x", "1 … x"]], "text"),
        ("quasi", [["*", "*", "*"]], "text"),
    ],
)
def test_the_scale_is_what_is_declared_or_what_all_ends_are(about, cells, scale):
    assert checked(old(about, cells))["columns"][0]["scale"] == scale


def test_cells_keep_what_they_covered():
    tree = {"labels": ["f", "m", "all"], "parents": [2, 2, -1]}
    about = {"role": "quasi", "hierarchy": tree}
    cells = [["f", "f", "f"], ["f", "m", "all"], [None, None, None], ["m", "x", "some"]]
    found = checked(old(about, cells))
    assert found["columns"][0]["cells"] == [
        {"node": 0}, {"any": "all"}, {"missing": True}, {"value": "some"},
    ]  # fmt: skip
    assert found["columns"][0]["root"] == "all"


def test_a_role_may_stand_for_a_whole_entry():
    document = old("quasi", [["*", "*", "*"]])
    document["schema"]["columns"]["name"] = "identifying"
    document["schema"]["columns"]["note"] = {"role": "neutral"}
    found = checked(document)
    assert (found["released"], found["removed"]) == (["x", "note"], ["name"])
    assert found["schema"]["others"] == "fault"
    assert found["counts"] is None
    assert found["on_unseen"] == "suppress"
    assert document["version"] == 1  # the old document is left as it is


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": None}, "its schema or its columns are missing"),
        ({"schema": {"columns": []}}, "its schema or its columns are missing"),
        ({"columns": None}, "its schema or its columns are missing"),
        ({"columns": ["Alice"]}, "a column in it is damaged"),
        ({"columns": [{"name": "x", "cells": [["Alice"]]}]}, "a column's cells are damaged"),
        ({"columns": [{"name": "x", "cells": [[1, 2, 3]]}]}, "a column's cells are damaged"),
        (
            {"schema": {"columns": {"x": {"role": "quasi", "hierarchy": {"labels": [1]}}}}},
            "a hierarchy in it is damaged",
        ),
    ],
)
def test_a_damaged_old_model_is_refused_without_its_values(changes, problem):
    with pytest.raises(ModelFormatError) as caught:
        checked(old({"role": "quasi"}, [["1", "1", "1"]], **changes))
    assert problem in str(caught.value)
    assert "Alice" not in str(caught.value)
