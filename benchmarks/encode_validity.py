"""Do models hold on records they have not seen? Adult 60/40, and [lim2018]'s Table I."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.measure import DATA
from benchmarks.release import ADULT, adult_schema, count
from shoal import api, edge
from shoal.engines.local.drift import drift
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.engines.local.verify import verify_table
from shoal.methods import registry
from shoal.methods.method import Setting
from shoal.methods.to_model import model_of
from shoal.model.model import RecodingModel
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

TITLE = "Models on records they have not seen"
NOTE = (
    "Adult, k = 10: learned on a random 60 % of the records, encoded on the other 40 %; 2 % of "
    "the records may be suppressed. `encode` "
    "promises nothing about the batch: the share of its records in classes below k is what "
    "`verify` finds; encode-safe suppresses until none is left. Below: [lim2018]'s Table I, "
    "logistic regression on `ucla_binary` in ten folds, cells read as the middle of their "
    "interval.\n\n"
)
K = 10
SETTING = Setting(suppression_limit=0.02)
NAMES = tuple(registry.METHODS)
PAPER = {1: 69.3, 2: 63.5, 3: 62.5, 4: 59.5}


def learn(name: str, frame: pl.DataFrame, schema: Schema) -> RecodingModel:
    """Learn with one method."""
    table = count(frame, schema)
    found = registry.METHODS[name]().search(table, schema.privacy, SETTING)
    return model_of(found, schema, method=name, utility={})


def rows() -> list[dict[str, Any]]:
    """Return a row a method, then a row for each k of Table I."""
    frame = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
    schema = adult_schema().with_promise([KAnonymity(K)])
    order = np.random.default_rng(1).permutation(frame.height)
    cut = frame.height * 6 // 10
    seen, new = frame[order[:cut]], frame[order[cut:]].select(schema.quasi)
    found = [_unseen(name, learn(name, seen, schema), new) for name in NAMES]
    return found + table_one()


def _unseen(name: str, model: RecodingModel, new: pl.DataFrame) -> dict[str, Any]:
    encoded = api.encode(new, model, suppressed="remove")
    assert encoded.table is not None
    plain = verify_table(open_source(encoded.table), model.schema, model.privacy)
    safe = api.encode(new, model, safe=True)
    moved = drift(new, model)
    assert safe.verification is not None
    return {
        "what": f"{name}, {len(model.regions):,} classes",
        "verify after encode: % below k": 100 * plain.violating_records / plain.records,
        "unseen %": 100 * moved.unseen / moved.records,
        "suppressed by encode-safe %": 100 * safe.report.suppressed / safe.report.records,
        "verify after encode-safe": "holds" if safe.verification.holds else "fails",
        "learn again": "yes" if moved.learn_again else "no",
        "NCP at encode": edge.metrics(new.to_dicts(), model)["ncp"],
    }


def table_one() -> list[dict[str, Any]]:
    """Return the accuracy of logistic regression on raw and on anonymized records."""
    place = next((DATA / "ucla_binary").glob("*.csv"))
    frame = pl.read_csv(place, infer_schema=False)
    raw = frame.select(pl.all().cast(pl.Float64)).to_numpy()
    target, plain = raw[:, 0], raw[:, 1:]
    found = []
    for method in ("flash", "mondrian"):
        for k in (1, 2, 3, 4):
            if k == 1 and method == "mondrian":
                continue
            new = plain if k == 1 else _anonymized(frame, method, k)
            found.append(
                {
                    "what": "Table I, raw" if k == 1 else f"Table I, {method}, k = {k}",
                    "accuracy %, trained raw": _accuracy(plain, new, target),
                    "accuracy %, trained anonymized": _accuracy(new, plain, target),
                    "paper %": PAPER[k],
                }
            )
    return found


def _anonymized(frame: pl.DataFrame, method: str, k: int) -> NDArray[np.float64]:
    wide = {"gre": [40, 80, 160, 320], "gpa": [0.25, 0.5, 1.0, 2.0], "rank": [2]}
    columns: dict[str, Any] = {
        name: {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": {"width": widths}}}
        for name, widths in wide.items()
    }
    schema = Schema.from_document(
        {
            "columns": {"admit": "neutral", **columns},
            "privacy": [{"model": "k-anonymity", "k": k}],
        }
    )
    source = open_source(frame)
    quasi = list(schema.quasi)
    table = frequencies(source, source.scan(quasi, coded=quasi), schema, sensitive=()).table
    found = registry.METHODS[method]().search(table, schema.privacy, SETTING)
    model = model_of(found, schema, method=method, utility={})
    released = api.encode(frame, model, suppressed="star").table
    assert released is not None
    middle = frame.select(pl.col(quasi).cast(pl.Float64).mean()).row(0)
    return np.array(
        [
            [_middle(text, at) for text, at in zip(row, middle, strict=True)]
            for row in released.select(pl.col(quasi).cast(pl.String)).iter_rows()
        ]
    )


def _middle(label: str | None, otherwise: float) -> float:
    """Read a released cell as a number; one that says nothing is the mean."""
    numbers = [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", label or "")]
    return sum(numbers) / len(numbers) if numbers else otherwise


def _accuracy(
    train: NDArray[np.float64], test: NDArray[np.float64], target: NDArray[np.float64]
) -> float:
    """Return the share of right answers in ten folds."""
    fold = np.random.default_rng(0).permutation(len(target)) % 10
    right = 0
    for number in range(10):
        out = fold == number
        mean, spread = train[~out].mean(axis=0), train[~out].std(axis=0)
        spread[spread == 0] = 1
        weights = _fit((train[~out] - mean) / spread, target[~out])
        x = np.column_stack((np.ones(int(out.sum())), (test[out] - mean) / spread))
        right += int(((x @ weights > 0) == (target[out] == 1)).sum())
    return 100 * right / len(target)


def _fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit logistic regression by Newton's method, with a ridge that only keeps it finite."""
    x = np.column_stack((np.ones(len(x)), x))
    weights: NDArray[np.float64] = np.zeros(x.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (y - p) - 1e-6 * weights
        curve = (x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(curve, slope)
    return weights


if __name__ == "__main__":
    for row in rows():
        print(row)
