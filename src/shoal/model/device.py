"""The room that a device has for a model, and what a model takes of it.

What an encoder holds in memory grows with the model's file alone: tables, one entry for each class
and cell, and so many texts that a column remembers. For MicroPython on 32 bits the two numbers
below bound it; they were measured on models of 1.5 kB to 650 kB, and a test holds them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from shoal.core.errors import MethodError
from shoal.model.column import MEMO

CODE = 36_000
"""Bytes that the encoder itself takes in MicroPython, before there is a model."""
PER_BYTE = 5
"""Bytes in memory for each byte of a model's file."""
PER_TEXT = 96
"""Bytes that a text takes that a column remembers, and its share of remembered classes."""
LEAST_TEXTS = 16
"""Texts that a column remembers at least, or encoding is a search for each value."""
SIGNATURE = 260
"""Bytes that a signature adds to a model's file."""

_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 10**6, "kib": 1024, "mib": 2**20}


class Room(NamedTuple):
    """What a device has: bytes for the model's file, and of memory for all that runs it."""

    model_bytes: int | None = None
    ram: int | None = None

    def most_bytes(self, columns: int) -> int | None:
        """Return how large the file of a model may be for both; None: as large as it likes."""
        sizes = [] if self.model_bytes is None else [self.model_bytes]
        if self.ram is not None:
            sizes.append(max(self.ram - ram_of(0, columns), 0) // PER_BYTE)
        return min(sizes, default=None)

    def problem(self, size: int, columns: int) -> str | None:
        """Say why a model of so many bytes and columns does not fit; None if it does."""
        if self.model_bytes is not None and size > self.model_bytes:
            return f"it has {size:,} bytes, and there is room for {self.model_bytes:,}"
        need = ram_of(size, columns, LEAST_TEXTS)
        if self.ram is not None and need > self.ram:
            return f"it takes up to {need:,} bytes of memory, and there are {self.ram:,}"
        return None

    def texts(self, size: int, columns: int) -> int:
        """Return how many texts each column may remember beside a model of so many bytes."""
        if self.ram is None:
            return MEMO
        free = self.ram - ram_of(size, columns, 0)
        return max(LEAST_TEXTS, min(MEMO, free // (PER_TEXT * max(columns, 1))))


def ram_of(size: int, columns: int, texts: int = LEAST_TEXTS) -> int:
    """Return the memory that a model of so many bytes takes at most in MicroPython on 32 bits."""
    return CODE + PER_BYTE * size + PER_TEXT * texts * columns


def bytes_named(text: str, option: str) -> int:
    """Return the bytes that a text such as 64kB, 256 KiB or 2000 stands for.

    Raises:
        MethodError: it is no size.

    Example:
        >>> bytes_named("64kB", "--model-bytes"), bytes_named("0.5 MiB", "--device-ram")
        (64000, 524288)
    """
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([a-zA-Z]{0,3})\s*", text)
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None or float(found[1]) <= 0:
        raise MethodError(problem=f"{option} takes a size, such as 64kB, 256KiB or 1MB")
    return int(float(found[1]) * unit)
