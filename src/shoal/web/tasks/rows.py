"""A sample of records beside what is released of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from shoal.core.documents import Document, Json
from shoal.jobs.documents import request_from
from shoal.jobs.look import look, side_by_side
from shoal.jobs.release import release
from shoal.jobs.requests import Checks, Output, ReleaseRequest
from shoal.web.tasks.release import aside

MOST = 12


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Release once more, in the order of the table, in a private folder; pair some rows."""
    request = request_from(asked["request"])
    assert isinstance(request, ReleaseRequest)
    with tempfile.TemporaryDirectory(prefix="shoal-rows-") as folder:
        out, classes = Path(folder) / "release.parquet", Path(folder) / "classes.csv"
        output = Output(out=out, suppressed="remove", keep_order=True, class_file=classes)
        tried = replace(request, output=output, checks=Checks())
        made = release(aside(tried, Path(folder)))
        numbers = look(classes).frame.to_series(-1).cast(int).to_list()
        pairs = side_by_side(look(request.table).frame, look(out).frame, numbers, most=MOST)
    columns: list[Json] = list(made.schema.released)
    quasi: list[Json] = list(made.schema.quasi)
    rows: list[Json] = [{"before": {**before}, "after": None if after is None else {**after}}
                        for before, after in pairs]  # fmt: skip
    return {"columns": columns, "quasi": quasi, "rows": rows}
