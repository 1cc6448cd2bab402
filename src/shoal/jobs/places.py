"""Places that results are written to: checked before any work, written all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shoal.engines.local.write import all_or_nothing, write_text
from shoal.model.model import RecodingModel

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


def write_model(model: RecodingModel, out: Place, *, inputs: Sequence[Place] = ()) -> None:
    """Write a model file, all or nothing."""
    write_text(out, model.to_json(), inputs=tuple(inputs))
