"""What a model draws from, checked before anything is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.core.errors import ModelFormatError
from shoal.model.document_types import DrawnColumn

KINDS = ("numeric", "date", "ordinal", "categorical")


def check_drawn_columns(drawn: object, names: Sequence[str], cells: Sequence[int]) -> None:
    """Refuse what cells cannot be drawn from.

    Args:
        drawn: the part of the document; None: the model releases labels.
        names: the quasi-identifiers.
        cells: how many cells each has.

    Raises:
        ModelFormatError: says which column is damaged.
    """
    if drawn is None:
        return
    if not isinstance(drawn, list) or not all(isinstance(entry, Mapping) for entry in drawn):
        raise ModelFormatError(problem="what it draws from is damaged")
    if [entry.get("name") for entry in drawn] != list(names):
        raise ModelFormatError(problem="what it draws from does not fit its columns")
    for entry, size in zip(drawn, cells, strict=True):
        if not _is_drawn(entry, size):
            raise ModelFormatError(
                problem=f"column {entry['name']!r}: what it is drawn from is damaged"
            )


def _is_drawn(entry: Mapping[str, object], cells: int) -> bool:
    values, weights, runs = entry.get("values"), entry.get("weights"), entry.get("runs")
    if set(entry) != set(DrawnColumn.__annotations__) or entry["kind"] not in KINDS:
        return False
    if not isinstance(values, list) or not isinstance(weights, list) or not isinstance(runs, list):
        return False
    if not values or not all(isinstance(value, str) for value in values[values[0] is None :]):
        return False
    if len(set(values)) != len(values) or len(weights) != len(values) or len(runs) != cells:
        return False
    return all(map(_is_weight, weights)) and all(_is_run(run, len(values)) for run in runs)


def _is_weight(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e300


def _is_run(run: object, values: int) -> bool:
    if not isinstance(run, list) or len(run) != 2 or not all(type(end) is int for end in run):
        return False
    first, last = run
    return bool(0 <= first < last <= values)
