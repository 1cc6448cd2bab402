"""The classes around every stretch of a line, found at once: for machines, not for devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.model.runtime import Column, Encoder, lowest

_SOME = 4096  # cells that are looked at together
_SWEPT = 300_000_000  # bytes that the sets of all stretches of a line may take


def sweep(encoder: Encoder) -> None:
    """Let an encoder know what covers each stretch of each column before it is asked.

    The encoder of a device looks at all ranges whenever it meets a new stretch, and needs
    no memory for the others; for thousands of stretches one sweep is faster by far.
    """
    for block in encoder.blocks:
        for column in block:
            _sweep(column)


def runs_of(entry: Any, plan: Any, texts: Sequence[str | None]) -> list[list[tuple[int, int]]]:
    """Return, for each cell of a column, the runs of texts that it covers: first and last place.

    Args:
        entry: the column as a model document has it.
        plan: what an encoder knows of it.
        texts: each once, in an order in which a cell covers few runs.
    """
    runs: list[list[tuple[int, int]]] = [[] for _ in entry["cells"]]
    for begin in range(0, len(runs), _SOME):
        cells = entry["cells"][begin : begin + _SOME]
        column = Column({**entry, "cells": cells}, plan, [1 << i for i in range(len(cells))])
        _sweep(column)
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
