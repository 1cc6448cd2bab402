"""The classes around every stretch of a line, found at once: for machines, not for devices."""

from __future__ import annotations

from shoal.core.model_runtime import Column, Encoder

_SWEPT = 300_000_000  # bytes that the sets of all stretches of a line may take


def sweep(encoder: Encoder) -> None:
    """Let an encoder know what covers each stretch of each column before it is asked.

    The encoder of a device looks at all ranges whenever it meets a new stretch, and needs
    no memory for the others; for thousands of stretches one sweep is faster by far.
    """
    for block in encoder.blocks:
        for column in block:
            _sweep(column)


def _sweep(column: Column) -> None:
    """Walk along a line. A class has one range in a column: coming and going turns its bit."""
    ends = {end: i for i, end in enumerate(column.ends)}
    places = 2 * len(ends) + 1
    if places * max((r[4].bit_length() for r in column.ranges), default=0) > 8 * _SWEPT:
        return
    turned = [0] * (places + 1)
    for first, first_open, last, last_open, members in column.ranges:
        begin = 0 if first is None else 2 * ends[first] + (2 if first_open else 1)
        end = places - 1 if last is None else 2 * ends[last] + (0 if last_open else 1)
        if begin <= end:
            turned[begin] ^= members
            turned[end + 1] ^= members
    inside = 0
    for place in range(places):
        inside ^= turned[place]
        column.segments[place] = inside
