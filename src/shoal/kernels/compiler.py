"""How Numba compiles our kernels: less often, and with less to prove.

This reaches into Numba (see docs/adr/0004); `helpers` imports it only with a version that was
tried. What differs from Numba's own way:

- A helper, which only compiled code calls, gets no machine code of its own: it is linked into
  its kernel.
- A kernel that counts no references is optimized once, as a whole.
- The signature of a call is sought once. Numba tries some thirty templates for every
  `array[i, j]` anew, in typing and again in lowering.
- Python's collector of cycles rests while a kernel is compiled.
- In a lean kernel no index counts from the end, and no two arrays of a function overlap.
"""

from __future__ import annotations

import gc
import operator
from types import CodeType
from typing import Any

from numba._dynfunc import make_function
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.typed_passes import NativeLowering, NopythonRewrites, NopythonTypeInference
from numba.core.typing.context import Context
from numba.core.untyped_passes import InlineClosureLikes
from numba.np.arrayobj import load_item, make_array, store_item

__all__ = ["HelperCompiler", "KernelCompiler"]

_SIGNATURES: dict[bool, dict[Any, Any]] = {False: {}, True: {}}
"""Signatures of calls, without and with Numba's allocator."""


def _shared(kind: Any, whole: Any, known: dict[Any, Any]) -> Any:
    """Return what behaves as another object, shares its state, and knows signatures."""
    found = object.__new__(kind)
    found.__dict__ = whole.__dict__
    found.known = known
    return found


class _Function(types.Function):
    """A built-in function that knows its signatures."""

    __slots__ = ("known",)
    known: dict[Any, Any]

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        key = (self.typing_key, args)
        if kws or key not in self.known:
            found = super().get_call_type(context, args, kws)
            if kws or found is None:
                return found
            self.known[key] = found
        return self.known[key]


class _Typing(Context):
    """Numba's typing of calls, which asks for each signature once."""

    __slots__ = ("known",)
    known: dict[Any, Any]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, str) or kws:  # `static_getitem`: its arguments are no types
            return super().resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        if key not in self.known:
            found = super().resolve_function_type(func, args, kws)
            if found is None:
                return None
            self.known[key] = found
        return self.known[key]

    def resolve_value_type(self, val: Any) -> Any:
        found = super().resolve_value_type(val)
        is_operator = getattr(val, "__module__", None) == operator.getitem.__module__
        return _shared(_Function, found, self.known) if is_operator else found


class _Target(CPUContext):
    """Numba's lowering, with that typing."""

    __slots__ = ("known",)
    known: dict[Any, Any]

    @property
    def typing_context(self) -> Any:
        return _shared(_Typing, self.__dict__["typing_context"], self.known)


class _LeanTarget(_Target):
    """Lowering for kernels in which no index counts from the end."""

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        key = getattr(fn, "typing_key", None)
        if key in (operator.getitem, operator.setitem) and _is_element(sig):
            make = _element if key is operator.getitem else _store
            return lambda builder, args, loc=None: make(self, builder, sig, args)
        return super().get_function(fn, sig, _firstcall)


def _is_element(sig: Any) -> bool:
    """Say whether a signature names one number of an array of numbers."""
    array = sig.args[0]
    parts = _parts(sig.args[1])
    return (
        isinstance(array, types.Array)
        and isinstance(array.dtype, types.Number | types.Boolean)
        and len(parts) == array.ndim
        and all(isinstance(part, types.Integer) for part in parts)
        and (len(sig.args) == 2 or isinstance(sig.args[2], types.Number | types.Boolean))
    )


def _parts(index: Any) -> tuple[Any, ...]:
    return tuple(index.types) if isinstance(index, types.UniTuple | types.Tuple) else (index,)


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return where an element lies."""
    array, index = sig.args[:2]
    kinds, values = _parts(index), [args[1]]
    if len(kinds) > 1 or kinds[0] is not index:
        values = cgutils.unpack_tuple(builder, args[1], count=len(kinds))
    whole = [context.cast(builder, v, k, types.intp) for v, k in zip(values, kinds, strict=True)]
    view = make_array(array)(context, builder, args[0])
    return cgutils.get_item_pointer(
        context, builder, array, view, whole, boundscheck=context.enable_boundscheck
    )


def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return load_item(context, builder, sig.args[0], _place(context, builder, sig, args))


def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array, value = sig.args[0], sig.args[2]
    item = context.cast(builder, args[2], value, array.dtype)
    store_item(context, builder, array, item, _place(context, builder, sig, args))
    return context.get_dummy_value()


class _Whole(JITCodeLibrary):
    """Code of a kernel that counts no references: optimized once, with all its helpers.

    Numba first optimizes each function, then the kernel cheaply so that counts of references
    meet and cancel out, then in full. Where there are none to cancel, the last step alone
    compiles as fast, and the code runs up to twice as fast (`refine`).
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
class _Inference(NopythonTypeInference):
    """Find the types, asking for each signature once."""

    _name = "shoal_inference"

    def run_pass(self, state: Any) -> bool:
        plain = state.typingctx
        state.typingctx = _shared(_Typing, plain, _SIGNATURES[bool(state.flags.nrt)])
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = plain


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Lower a kernel."""

    _name = "shoal_lowering"

    def run_pass(self, state: Any) -> bool:
        is_lean = not state.flags.nrt
        plain = state.targetctx
        kind = _LeanTarget if is_lean else _Target
        state.targetctx = _shared(kind, plain, _SIGNATURES[not is_lean])
        state.flags.noalias = is_lean
        try:
            return self.lower(state, is_lean=is_lean)
        finally:
            state.targetctx = plain

    def lower(self, state: Any, *, is_lean: bool) -> bool:
        if is_lean:
            state.library = _library(_Whole, state)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(_Lowering):
    """Lower a helper, but make no machine code of it."""

    _name = "shoal_helper_lowering"

    def lower(self, state: Any, *, is_lean: bool) -> bool:
        library = state.library = _library(_Linked, state)
        state.flags.no_compile = True
        NativeLowering.run_pass(self, state)
        made = state["cr"]
        name = made.fndesc.qualname.split(".")[-1]
        # What Python would call: nothing, as there is no wrapper.
        shell = make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (library,))
        state.targetctx.insert_user_function(shell, made.fndesc, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = _LowerResult(made.fndesc, made.call_helper, cfunc=shell, env=made.env)
        return True


def _library(kind: Any, state: Any) -> Any:
    library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    library.enable_object_caching()
    return library


def _passes(state: Any, lowering: Any) -> Any:
    """Return Numba's own passes, with ours in the place of some, and without idle ones.

    A function without inner functions has none to inline; without an allocator there are no
    expressions of whole arrays to rewrite.
    """
    ours = {NativeLowering: lowering, NopythonTypeInference: _Inference}
    constants = state.func_id.func.__code__.co_consts
    idle: list[Any] = [] if state.flags.nrt else [NopythonRewrites]
    if not any(isinstance(constant, CodeType) for constant in constants):
        idle.append(InlineClosureLikes)
    passes = DefaultPassBuilder.define_nopython_pipeline(state, lowering._name)
    passes.passes = [(ours.get(p, p), text) for p, text in passes.passes if p not in idle]
    passes.finalize()
    return passes


class KernelCompiler(CompilerBase):
    """Compiles what Python calls.

    Meanwhile nobody looks for cycles among the many small objects of a compiler: in vain, that
    takes a sixth of the time.
    """

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, as Numba asks for it."""
        is_on = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if is_on:
                gc.enable()

    def define_pipelines(self) -> list[Any]:
        """Return the passes, as Numba asks for them."""
        return [_passes(self.state, _Lowering)]


class HelperCompiler(CompilerBase):
    """Compiles what only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes, as Numba asks for them."""
        return [_passes(self.state, _HelperLowering)]
