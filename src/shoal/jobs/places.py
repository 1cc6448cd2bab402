"""Places that results are written to: checked before any work, written all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shoal.core.errors import OutputError
from shoal.engines.local.write import all_or_nothing, write_text
from shoal.model.model import RecodingModel
from shoal.reports.html import to_html
from shoal.reports.release import ReleaseReport

Place = str | Path


class _Probed(Exception):
    """Leaves `all_or_nothing` before it publishes anything."""


def check_place(out: Place, *, inputs: Sequence[Place] = ()) -> None:
    """Refuse a place that cannot be written to, before any work is done.

    Raises:
        OutputError: it is an input, a folder, or in a folder that is not there.
    """
    with suppress(_Probed), all_or_nothing(out, inputs=tuple(inputs)):
        raise _Probed


def check_report(out: Place, *, inputs: Sequence[Place] = ()) -> None:
    """Refuse a place where no report can be written, before any work is done.

    Raises:
        OutputError: it is not the name of an HTML page, or `check_place` refuses it.
    """
    check_place(out, inputs=inputs)
    _check_page(out)


def _check_page(out: Place) -> None:
    if Path(out).suffix.lower() not in (".html", ".htm"):
        raise OutputError(where=str(out), problem="a report is an HTML page; name it .html or .htm")


def write_report(report: ReleaseReport, out: Place, *, inputs: Sequence[Place] = ()) -> None:
    """Write the report of a release as one HTML page that needs nothing else."""
    _check_page(out)
    write_text(out, to_html(report), inputs=tuple(inputs))


def write_model(model: RecodingModel, out: Place, *, inputs: Sequence[Place] = ()) -> None:
    """Write a model file, all or nothing."""
    write_text(out, model.to_json(), inputs=tuple(inputs))
