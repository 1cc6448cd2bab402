"""The classes around every segment of a column's line, found at once: for machines, not devices.

The ends of all ranges cut a line into segments; between two neighbouring ends the same classes
cover every value.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.model.document_types import ColumnDocument, Key, Plan
from shoal.model.sets import SetColumn, SetEncoder, lowest

_CELLS_AT_ONCE = 4096
_MOST_BYTES = 300_000_000  # that the sets of all segments of a line may take


def precompute_coverage(encoder: SetEncoder) -> None:
    """Let an encoder know what covers each segment of each column before it is asked.

    The encoder of a device looks at all ranges whenever it meets a new segment, and needs
    no memory for the others; for thousands of segments one walk along the line is faster by far.
    """
    for block in encoder.blocks:
        for column in block:
            _precompute(column)


def covered_runs(
    entry: ColumnDocument, plan: Plan, texts: Sequence[str | None]
) -> list[list[tuple[int, int]]]:
    """Return, for each cell of a column, the runs of texts that it covers: first and last place.

    Args:
        entry: the column as a model document has it.
        plan: what an encoder knows of it.
        texts: each once, in an order in which a cell covers few runs.
    """
    runs: list[list[tuple[int, int]]] = [[] for _ in entry["cells"]]
    for begin in range(0, len(runs), _CELLS_AT_ONCE):
        some = entry.copy()
        some["cells"] = entry["cells"][begin : begin + _CELLS_AT_ONCE]
        column = SetColumn(some, plan, [1 << i for i in range(len(some["cells"]))])
        _precompute(column)
        inside = 0
        first: dict[int, int] = {}
        for place in range(len(texts) + 1):
            found = column.cover(texts[place]) if place < len(texts) else 0
            turned = inside ^ found
            inside = found
            while turned:
                cell = lowest(turned)
                turned &= turned - 1
                if found >> cell & 1:
                    first[cell] = place
                else:
                    runs[begin + cell].append((first.pop(cell), place - 1))
    return runs


def _precompute(column: SetColumn) -> None:
    """Walk along a line. A class has one range in a column: coming and going turns its bit."""
    ends = {end: i for i, end in enumerate(column.ends)}
    segments = 2 * len(ends) + 1  # each end is a segment of its own
    if segments * max((r[4].bit_length() for r in column.ranges), default=0) > 8 * _MOST_BYTES:
        return
    turned = [0] * (segments + 1)
    for low, low_open, high, high_open, members in column.ranges:
        begin = _first_segment(low, ends, is_open=low_open)
        end = segments - 1 if high is None else 2 * ends[high] + (0 if high_open else 1)
        if begin <= end:
            turned[begin] ^= members
            turned[end + 1] ^= members
    inside = 0
    for segment in range(segments):
        inside ^= turned[segment]
        column.segments[segment] = inside


def _first_segment(low: Key | None, ends: dict[Key, int], *, is_open: bool) -> int:
    return 0 if low is None else 2 * ends[low] + (2 if is_open else 1)
