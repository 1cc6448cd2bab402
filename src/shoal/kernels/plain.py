"""Asking a promise itself from inside compiled code.

A promise without a compiled form is an object of Python. Compiled loops call it through the
address of a C function, which stands in the promise's row of `rules`: some microseconds a
class, and the same answer as the judge's. The address is data, so compiled code that asks can
be kept in a cache.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from shoal.privacy.distances import Reference
from shoal.privacy.promise import EquivalenceClass, Promise

_SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_int64, ctypes.c_double
)


class PlainJudge:
    """Answers for one promise, bound to its column.

    Args:
        promise: it.
        codes, places: which codes of the column have a place in `reference`, and where.
        reference: the column in the whole table.

    Attributes:
        address: of the C function; it lives as long as this object.
    """

    def __init__(
        self,
        promise: Promise,
        codes: NDArray[np.int64],
        places: NDArray[np.int64],
        reference: Reference,
    ) -> None:
        self.promise, self.reference = promise, reference
        self._seats = list(zip(codes.tolist(), places.tolist(), strict=True))
        self._function = _SIGNATURE(self._answer)
        self.address = int(ctypes.cast(self._function, ctypes.c_void_p).value or 0)

    def breaks(self, records: int, histogram: Sequence[int]) -> bool:
        """Say whether a class breaks the promise; histogram: records by code."""
        counts = [0] * len(self.reference.counts)
        for code, place in self._seats:
            counts[place] = histogram[code]
        seen = EquivalenceClass(records, counts, reference=self.reference)
        return not self.promise.holds(seen)

    def _answer(self, counts: Sequence[float], size: int, records: float) -> float:
        try:
            return float(self.breaks(int(records), [int(counts[v]) for v in range(size)]))
        except BaseException:
            # Nothing can be raised through compiled code, and ctypes would answer 0, "holds". A
            # class that cannot be judged does not hold; judging the outcome meets the same error.
            return 1.0


@intrinsic
def ask(typing_context, address, numbers, begin, size, records):
    """Return 1.0 if a class breaks the promise at `address`, else 0.0.

    numbers, begin, size: where its histogram stands; records: how many it has.
    """
    if not isinstance(numbers, types.Array):
        return None
    signature = types.float64(types.int64, numbers, types.int64, types.int64, types.float64)

    def generate(context, builder, signature, arguments):
        address, numbers, begin, size, records = arguments
        array = context.make_array(signature.args[1])(context, builder, numbers)
        first = builder.gep(array.data, [begin])
        double, word = ir.DoubleType(), ir.IntType(64)
        function = ir.FunctionType(double, [double.as_pointer(), word, double])
        target = builder.inttoptr(address, cgutils.voidptr_t)
        target = builder.bitcast(target, function.as_pointer())
        return builder.call(target, [first, size, records])

    return signature, generate
