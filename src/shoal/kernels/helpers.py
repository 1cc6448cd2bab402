"""How kernels are compiled, and their helpers: into the kernel, and nowhere else.

Numba makes machine code of every function for itself before it links it into its callers,
where most of it is inlined and made once more. A helper that only compiled code calls needs
no code of its own. `compiler` says what else differs from Numba's own way; it is used with
versions of Numba that were tried. With any other, kernels and helpers are compiled as Numba
does it by itself.
"""

from __future__ import annotations

from typing import Any

import numba

from shoal.kernels.cache import kept

__all__ = ["inner", "lean", "lean_outer", "outer"]

TRIED = {(0, 68)}
"""Versions of Numba whose inner parts are known to be as they are used here."""

_KERNEL: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True,
}  # fmt: skip
_LEAN: dict[str, Any] = {**_KERNEL, "_nrt": False}
_HELPER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True}

if numba.version_info.short in TRIED:
    from shoal.kernels.compiler import HelperCompiler, KernelCompiler

    _KERNEL["pipeline_class"] = KernelCompiler
    _LEAN["pipeline_class"] = KernelCompiler
    _HELPER["pipeline_class"] = HelperCompiler
    _helper: Any = numba.njit  # part of its kernel, in the cache too
else:
    _helper = kept

outer: Any = kept(**_KERNEL)
"""For the loops that Python calls; C never does."""

inner: Any = _helper(**_HELPER)
"""For helpers, which only compiled code calls."""

lean_outer: Any = kept(**_LEAN)
"""For loops that allocate nothing, count no index from the end, and whose arrays do not overlap.

Numba counts the references of every array that it hands to a helper, with an atomic
instruction each: measured, a look-up that takes 3 ns takes 60. Without its allocator
(`_nrt`) it does not.
"""

lean: Any = _helper(**_HELPER, _nrt=False)
"""For helpers of such loops."""
