"""How kernels are compiled, and their helpers: into the kernel, and nowhere else.

Numba makes machine code of every function for itself before it links it into its callers,
where most of it is inlined and made once more. A helper that only compiled code calls needs
no code of its own: without it a first run spends a quarter less time in the compiler. The
kernel is optimized as a whole, linked with all its helpers.

This reaches into Numba (see docs/adr/0004). With a version that was not tried, kernels and
helpers are compiled as Numba does it by itself.
"""

from __future__ import annotations

from typing import Any

import numba
from numba import njit

__all__ = ["inner", "lean", "lean_outer", "outer"]

TRIED = {(0, 68)}
"""Versions of Numba whose inner parts are known to be as they are used here."""

_KERNEL: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True,
}  # fmt: skip
_LEAN: dict[str, Any] = {**_KERNEL, "_nrt": False}
_HELPER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True}

if numba.version_info.short in TRIED:
    from numba._dynfunc import make_function
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class _Whole(JITCodeLibrary):
        """Code of a kernel that counts no references: optimized once, with all its helpers.

        Numba first optimizes each function, then the kernel cheaply so that counts of
        references meet and cancel out, then in full. Where there are none to cancel, the
        last step alone compiles as fast, and the code runs up to twice as fast (`refine`).
        """

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            manager, builder = self._codegen._module_pass_manager()
            manager.run(self._final_module, builder)

    class _Linked(_Whole):
        """Code of a helper, which waits to be linked into a kernel."""

        def _optimize_final_module(self) -> None:
            """Leave that to the kernel."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _KernelLowering(NativeLowering):
        """Lower a kernel."""

        _name = "shoal_kernel_lowering"

        def run_pass(self, state: Any) -> bool:
            state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return bool(super().run_pass(state))

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _HelperLowering(NativeLowering):
        """Lower a helper, but make no machine code of it."""

        _name = "shoal_helper_lowering"

        def run_pass(self, state: Any) -> bool:
            library = _Linked(state.targetctx.codegen(), state.func_id.func_qualname)
            library.enable_object_caching()
            state.library = library
            state.flags.no_compile = True
            super().run_pass(state)
            made = state["cr"]
            name = made.fndesc.qualname.split(".")[-1]
            # What Python would call: nothing, as there is no wrapper.
            shell = make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (library,))
            state.targetctx.insert_user_function(shell, made.fndesc, [library])
            state.reload_init.extend(library._reload_init)
            state["cr"] = _LowerResult(made.fndesc, made.call_helper, cfunc=shell, env=made.env)
            return True

    def _compiler(lowering: Any) -> Any:
        """Return Numba's own way to compile, with another lowering."""

        class Compiler(CompilerBase):
            def define_pipelines(self) -> list[Any]:
                passes = DefaultPassBuilder.define_nopython_pipeline(self.state, lowering._name)
                passes.passes = [
                    (lowering if each is NativeLowering else each, text)
                    for each, text in passes.passes
                ]
                passes.finalize()
                return [passes]

        return Compiler

    _LEAN["pipeline_class"] = _compiler(_KernelLowering)
    _HELPER |= {"cache": False, "pipeline_class": _compiler(_HelperLowering)}

outer: Any = njit(**_KERNEL)
"""For the loops that Python calls; C never does."""

inner: Any = njit(**_HELPER)
"""For helpers, which only compiled code calls."""

lean_outer: Any = njit(**_LEAN)
"""For loops that allocate nothing.

Numba counts the references of every array that it hands to a helper, with an atomic
instruction each: measured, a look-up that takes 3 ns takes 60. Without its allocator
(`_nrt`) it does not.
"""

lean: Any = njit(**_HELPER, _nrt=False)  # type: ignore[call-overload]
"""For helpers that allocate nothing."""
