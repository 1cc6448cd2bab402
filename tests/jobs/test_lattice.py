"""The lattice around a release, against a plain grouping of the records at every node."""

from __future__ import annotations

from collections import Counter
from itertools import product

import polars as pl
import pytest

import shoal
from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.lattice import LatticeRequest, lattice
from shoal.jobs.requests import LearnRequest
from shoal.methods.registry import method_named

AGE = [(str(age), "young" if age < 40 else "old", "*") for age in range(20, 60)]
ZIP = [(z, z[0], "*") for z in ("10", "11", "20", "21", "22")]
ROWS = [(str(20 + 7 * at % 40), ("10", "11", "20", "21", "22")[at % 5], "fm"[at % 3 % 2])
        for at in range(60)]  # fmt: skip


def schema(k=4, limit=0.1):
    return shoal.Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "ordinal", "hierarchy": _tree("age", AGE)},
                "zip": {"role": "quasi", "kind": "categorical", "hierarchy": _tree("zip", ZIP)},
                "sex": {"role": "quasi", "kind": "categorical"},
            },
            "privacy": [{"model": "k-anonymity", "k": k}],
            "suppression_limit": limit,
        }
    )


def _tree(name, rows):
    return Hierarchy.from_rows(name, rows).to_document()


def request(method="flash", **words):
    frame = pl.DataFrame(ROWS, schema=["age", "zip", "sex"], orient="row")
    return LearnRequest(table=frame, schema=schema(**words), method=method_named(method))


def suppressed_by_hand(levels, k):
    def said(row):
        age, zip_, sex = row
        steps = (next(r for r in AGE if r[0] == age), next(r for r in ZIP if r[0] == zip_),
                 (sex, "*"))  # fmt: skip
        return tuple(step[level] for step, level in zip(steps, levels, strict=True))

    sizes = Counter(map(said, ROWS))
    return sum(number for number in sizes.values() if number < k)


@pytest.mark.parametrize("k", [2, 4, 9])
def test_every_node_is_counted_as_one_would_by_hand(k):
    found = lattice(LatticeRequest(release=request(k=k)))
    assert found.columns == ("age", "zip", "sex")
    assert found.heights == (2, 2, 1)
    assert [each.levels for each in found.nodes] == sorted(product(range(3), range(3), range(2)))
    for each in found.nodes:
        assert each.suppressed == suppressed_by_hand(each.levels, k)
        assert each.is_safe == (each.suppressed <= 6)


def test_loss_grows_upwards_and_the_search_found_the_least_of_it():
    asked = request(limit=0.0)
    found = lattice(LatticeRequest(release=asked))
    losses = {each.levels: each.loss for each in found.nodes}
    assert losses[0, 0, 0] == 0
    assert losses[2, 2, 1] == 1
    for levels, loss in losses.items():
        for at in range(3):
            higher = (*levels[:at], levels[at] + 1, *levels[at + 1 :])
            assert losses.get(higher, 1.0) >= loss
    made = shoal.anonymize(asked.table, asked.schema, method="flash")
    report = made.report.to_document()
    chosen = tuple(report["levels"][name] for name in found.columns)
    assert losses[chosen] == pytest.approx(report["loss"])
    assert losses[chosen] == min(each.loss for each in found.nodes if each.is_safe)


def test_of_a_large_lattice_the_nearest_nodes_are_counted():
    around = {"age": 1, "zip": 0, "sex": 7}  # a level that there is not is the last one
    found = lattice(LatticeRequest(release=request(), around=around, most=5))
    assert found.size == 18
    assert len(found.nodes) == 5
    steps = [sum(abs(a - b) for a, b in zip(each.levels, (1, 0, 1), strict=True))
             for each in found.nodes]  # fmt: skip
    assert sorted(steps) == [0, 1, 1, 1, 1]


def test_a_method_without_a_lattice_is_refused():
    with pytest.raises(MethodError, match="no lattice"):
        lattice(LatticeRequest(release=request("mondrian")))


def test_the_answer_is_plain_data():
    document = lattice(LatticeRequest(release=request(), most=3)).to_document()
    assert document["columns"] == ["age", "zip", "sex"]
    assert set(document["nodes"][0]) == {"levels", "loss", "suppressed", "safe"}
