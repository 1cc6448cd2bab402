"""How kernels are compiled, and their helpers: into the kernel, and nowhere else.

Numba makes machine code of every function for itself before it links it into its callers,
where most of it is inlined and made once more. A helper that only compiled code calls needs
no code of its own. `compiler` says what else differs from Numba's own way; it is used with
versions of Numba that were tried. With any other, or with SHOAL_PLAIN_NUMBA=1, kernels and
helpers are compiled as Numba does it by itself: the same results, later.
"""

from __future__ import annotations

from collections.abc import Callable

import numba

from shoal.kernels.cache import TRIED, Compiling, Decorator, is_ours, kept, njit, notice

__all__ = ["inner", "lean", "lean_outer", "outer"]

_KERNEL: dict[str, object] = {
    "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True,
}  # fmt: skip
_LEAN: dict[str, object] = {**_KERNEL, "_nrt": False}
_HELPER: dict[str, object] = {**_KERNEL, "no_cpython_wrapper": True}


def _compiler(name: str) -> Callable[..., object]:
    """Return what makes one of our compilers; it is loaded when something is compiled."""

    def make(*arguments: object) -> object:
        from shoal.kernels import compiler

        return getattr(compiler, name)(*arguments)

    return make


_helper: Compiling
if is_ours:
    _KERNEL["pipeline_class"] = _LEAN["pipeline_class"] = _compiler("KernelCompiler")
    _HELPER["pipeline_class"] = _compiler("HelperCompiler")
    _helper = njit  # part of its kernel, in the cache too
else:
    _helper = kept
if numba.version_info.short not in TRIED:
    notice(
        f"Numba {numba.__version__} was not tried with our way of compiling, so kernels are "
        "compiled by its own: first calls take about twice as long"
    )

outer: Decorator = kept(**_KERNEL)
"""For the loops that Python calls; C never does."""

inner: Decorator = _helper(**_HELPER)
"""For helpers, which only compiled code calls."""

lean_outer: Decorator = kept(**_LEAN)
"""For loops that allocate nothing, count no index from the end, and whose arrays do not overlap.

Numba counts the references of every array that it hands to a helper, with an atomic
instruction each: measured, a look-up that takes 3 ns takes 60. Without its allocator
(`_nrt`) it does not.
"""

lean: Decorator = _helper(**_HELPER, _nrt=False)
"""For helpers of such loops."""
