"""Ten million rows; how long they take is measured in `benchmarks/dp.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from shoal.dp.budget import Budget
from shoal.engines.local.source import open_source


@pytest.mark.slow
def test_ten_million_rows_are_answered_within_their_bars(tmp_path: Path):
    place = tmp_path / "register.parquet"
    costs = np.random.default_rng(3).gamma(2.0, 400.0, 10_000_000)
    pl.DataFrame({"cost": costs}).write_parquet(place)
    with Budget(pl.LazyFrame({"x": [1]}), epsilon=1.0) as warm:
        warm.count(epsilon=1.0)
    source = open_source(place)
    with Budget(source.scan(source.columns), epsilon=10.0) as budget:
        for name in ("count", "sum", "mean"):
            found = getattr(budget, name)("cost", bounds=(0, 5000), epsilon=1.0)
            true = {"count": 1e7, "sum": costs.clip(0, 5000).sum()}.get(
                name, costs.clip(0, 5000).mean()
            )
            assert abs(found.value - true) <= 8 * found.within  # by chance once in 10**10 runs
