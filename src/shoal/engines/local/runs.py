"""Reading a sorted CSV file run by run."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from shoal.core.documents import reason
from shoal.core.errors import InputError
from shoal.core.watch import watcher
from shoal.engines.local.source import Source
from shoal.formats.csv_check import CHUNK, check_bytes
from shoal.formats.csv_header import DAMAGED, open_bytes, share_read
from shoal.kernels.encoding.csv_runs import find_runs

WEIGHT = "\x00weight"
MOST_HELD = 64 * 2**20  # bytes of different lines; a file of more is read the ordinary way


def open_release(path: Path, *, separator: str | None) -> Source | None:
    """Open a CSV file as its distinct neighbouring lines and how often each stands there.

    Returns:
        None if the file is no CSV file, or its lines do not come in runs.
    """
    if not path.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".txt")) or not path.is_file():
        return None
    try:
        with open_bytes(path) as file:
            if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return None
            file.seek(0)
            found = _compact(_whole_lines(file))
    except DAMAGED:
        return None  # the ordinary way in says what is wrong with it
    except OSError as error:
        raise InputError(where=str(path), problem=reason(error)) from None
    if found is None:
        return None
    text, counts = found
    shape = check_bytes(text, where=str(path), separator=separator)
    types = dict.fromkeys(shape.columns, pl.String)
    rows = shape.records if shape.has_blank_end else None
    frame = pl.read_csv(text, separator=shape.separator, schema=types, n_rows=rows)
    weights = pl.Series(WEIGHT, counts[1 : 1 + frame.height])
    return Source(
        where=str(path),
        columns=shape.columns,
        format="csv",
        separator=shape.separator,
        frame=frame.with_columns(weights).lazy(),
        weight=WEIGHT,
    )


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the file in chunks that end with a line."""
    rest, watch = b"", watcher()
    while chunk := file.read(CHUNK):
        watch.advance(None, share=share_read(file))
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            continue
        yield rest + chunk[:cut]
        rest = chunk[cut:]
    if rest:
        yield rest + b"\n"


def _compact(
    chunks: Iterator[bytes],
) -> tuple[bytes, np.ndarray[tuple[int], np.dtype[np.int64]]] | None:
    lines: list[bytes] = []
    counts: list[int] = []
    held = 0
    for chunk in chunks:
        view = np.frombuffer(chunk, dtype=np.uint8)
        most = chunk.count(b"\n")
        start, length, count = (np.empty(most, dtype=np.int64) for _ in range(3))
        runs = find_runs(view, start, length, count)
        if runs < 0 or (most > 1000 and 2 * runs > most):
            return None
        for begin, size, times in zip(start[:runs], length[:runs], count[:runs], strict=True):
            line = chunk[begin : begin + size]
            if lines and len(lines) > 1 and line == lines[-1]:
                counts[-1] += int(times)
            else:
                lines.append(line)
                counts.append(int(times))
                held += len(line)
        if held > MOST_HELD:
            return None
    if not lines or counts[0] != 1:  # a header that stands twice is not for us to read
        return None
    return b"\n".join(lines) + b"\n", np.array(counts, dtype=np.int64)
