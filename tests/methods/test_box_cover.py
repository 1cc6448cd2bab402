"""Classes of a model as boxes: the class of every tuple is the one that sets of classes tell."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.engines.spark.tables import frame
from tests.golden.test_golden import NAMES, document
from tests.laws.test_release_laws import KINDS

import shoal
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.tuples import Cover
from shoal.model.coverage import precompute_coverage
from shoal.model.sets import SetEncoder

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")


def models():
    """Return golden models, and one a method of a table with every kind of column."""
    yield from (document(name) for name in NAMES)
    columns = {name: {"role": "quasi", **about} for name, (about, _) in KINDS.items()}
    for method in ("mondrian", "flash", "kmember"):
        schema = shoal.Schema.from_document(
            {"columns": columns, "others": "drop", "suppression_limit": 0.5}
        )
        options = {"method": method}
        found = shoal.learn(frame(), schema, privacy=[shoal.KAnonymity(2)], **options)
        yield found.to_document()


def inside(encoder, texts, chance):
    """Return a tuple that is mostly inside some class."""
    region = int(chance.integers(len(encoder.regions)))
    found = []
    for column, known in zip(encoder.first, texts, strict=True):
        own = [i for i, text in enumerate(known) if column.cover(text) >> region & 1]
        found.append(chance.choice(own if own and chance.random() < 0.9 else len(known)))
    return found


def test_boxes_find_the_classes_that_sets_find():
    from shoal.methods.box_cover import BoxCover

    chance = np.random.default_rng(7)
    several = 0
    for model in models():
        encoder = SetEncoder(model, "suppress")
        precompute_coverage(encoder)
        texts = []
        for cells in encoder.cells:
            ends = {cell.get(k) for cell in cells for k in ("low", "high", "value", "label")}
            ends |= {v for cell in cells for v in cell.get("values", ())}
            ends |= {cell["mask"].replace("*", one) for cell in cells if "mask" in cell
                     for one in "13"}  # fmt: skip
            texts.append([None, *sorted(t for t in ends if t is not None), "strange", "41", "7.5"])
        for j, plan in enumerate(encoder.plans):
            texts[j] += [label for label in plan["labels"] if label not in texts[j]]
        columns = [ColumnCoder(j, encoder) for j in range(len(texts))]
        known = [
            column.codes(pl.Series(each, dtype=pl.String))
            for column, each in zip(columns, texts, strict=True)
        ]
        cover, boxes = Cover(encoder, columns), BoxCover.of(model, texts)
        several += int((boxes.tree.runs >= 0).any())
        codes = np.array([inside(encoder, texts, chance) for _ in range(500)])
        sets = np.stack([table[codes[:, j]] for j, table in enumerate(known)], axis=1)
        cover.closed = boxes.closed = set(range(0, len(encoder.regions), 3))
        for closed in (False, True):
            wanted = cover.regions(sets.astype(np.int32), closed=closed)
            assert (boxes.regions(codes.astype(np.int32), closed=closed) == wanted).all()
            assert closed or (wanted >= 0).any()
    assert several  # cells that cover no single run of values
