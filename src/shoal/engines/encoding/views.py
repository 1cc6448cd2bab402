"""The texts of a column where they lie: Arrow's string views, read without a copy.

Polars hands a column out through the Arrow C stream interface, an agreed layout in memory
that needs no Arrow library: https://arrow.apache.org/docs/format/CStreamInterface.html.
Only what a column of texts needs is declared here.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.encoding.texts import Views

_VIEWS = b"vu"  # Arrow's name of UTF-8 string views
_NOTHING = np.zeros(16, dtype=np.uint8)


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


def _call(
    result: type[ctypes.c_int] | None, *structures: type[ctypes.Structure]
) -> type[ctypes._CFunctionType]:
    return ctypes.CFUNCTYPE(result, *map(ctypes.POINTER, structures))


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", _call(None, _Schema)),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", _call(None, _Array)),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _call(ctypes.c_int, _Stream, _Schema)),
    ("get_next", _call(ctypes.c_int, _Stream, _Array)),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def views_of(series: pl.Series) -> Iterator[Views] | None:
    """Return the chunks of a column of texts; None if they are laid out in another way.

    Guarantee:
        Nothing is copied. A chunk must not be used once the next one was asked for.
    """
    if sys.byteorder != "little" or series.dtype != pl.String:
        return None
    capsule = series.__arrow_c_stream__()
    stream = _Stream.from_address(_pointer_of(capsule, b"arrow_array_stream"))
    schema = _Schema()
    if stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) != 0:
        return None
    known = schema.format == _VIEWS
    schema.release(ctypes.byref(schema))
    return _chunks(capsule, stream) if known else None


def _chunks(capsule: object, stream: _Stream) -> Iterator[Views]:
    """Yield one chunk after the other; the capsule owns the stream, and so must live on."""
    while True:
        array = _Array()
        if stream.get_next(ctypes.byref(stream), ctypes.byref(array)) != 0:
            raise RuntimeError("Polars could not hand out a column of texts")
        if not array.release:  # the end
            return
        try:
            yield _chunk(array)
        finally:
            array.release(ctypes.byref(array))


def _chunk(array: _Array) -> Views:
    """Return the arrays of one chunk: its bits, its views, its buffers and their sizes."""
    end, last = array.offset + array.length, array.n_buffers - 1
    missing = array.null_count != 0 and array.buffers[0]
    sizes = _memory(array.buffers[last], 8 * (last - 2)).view(np.int64).tolist()
    starts = [array.buffers[2 + b] or 0 for b in range(last - 2)]
    used = [(start, size) for start, size in zip(starts, sizes, strict=True) if size > 12]
    # One array from the first buffer to the last, whatever lies between them: a kernel takes
    # no list of arrays, and goes only where a view sends it.
    low = min((start for start, _ in used), default=0)
    high = max((start + size for start, size in used), default=0)
    memory = _memory(low, high - low) if used else _NOTHING
    return Views(
        views=_memory(array.buffers[1], 16 * end)[16 * array.offset :].view(np.uint64),
        valid=_memory(array.buffers[0], (end + 7) // 8 if missing else 0),
        skip=array.offset,
        words=np.ndarray(len(memory) - 7, dtype=np.uint64, buffer=memory.data, strides=(1,)),
        buffers=np.array([start - low for start in starts], dtype=np.int64),
    )


def _memory(address: int | None, size: int) -> NDArray[np.uint8]:
    """Return memory as an array that does not own it."""
    if not address or not size:
        return _NOTHING[:0]
    return np.frombuffer(memoryview((ctypes.c_ubyte * size).from_address(address)), dtype=np.uint8)
