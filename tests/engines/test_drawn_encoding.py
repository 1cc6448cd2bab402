"""Encoded batches whose cells are drawn: nothing is published that labels do not leave open."""

from __future__ import annotations

import polars as pl
import pytest
from tests.jobs.test_drawn_models import learned, people

from shoal.core.errors import UnsafeReleaseError
from shoal.engines.drawing import model as drawing


@pytest.fixture(scope="module")
def model():
    return learned(people())


def test_a_cell_outside_its_label_stops_the_batch(model, tmp_path, monkeypatch):
    def forced(self, labels):
        drawn, domains = was(self, labels)
        return drawn.with_columns(age=pl.lit("94", dtype=pl.String)), domains

    was = drawing.ModelDrawer.draw
    monkeypatch.setattr(drawing.ModelDrawer, "draw", forced)
    for safe in (True, False):
        with pytest.raises(UnsafeReleaseError, match="do not lie in their label"):
            (model.encode_safe if safe else model.encode)(people(), out=str(tmp_path / "x.csv"))
    assert not list(tmp_path.iterdir())
