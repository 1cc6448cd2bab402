"""How Numba compiles our kernels: less often, and with less to prove.

This reaches into Numba (docs/adr/0004), so `helpers` imports it only with a version that was
tried. It has five parts; `SHOAL_PLAIN_NUMBA=linked,index` leaves some out, `SHOAL_PLAIN_NUMBA=1`
all. What each brings is measured by `benchmarks/compiler.py` (docs/benchmarks.md): CPU of the
first calls of mondrian, bestcut, refine and kmember, and how long they run on Adult.

linked
    A helper, which only compiled code calls, gets no machine code of its own: it is linked
    into its kernel. Numba makes it for itself first, then once more inside each caller. First
    calls: a seventh to a third less.
whole
    A lean kernel is optimized once, with all its helpers. Numba optimizes each function, then
    the kernel cheaply so that counts of references meet and cancel out, then in full; here
    there are none to cancel. bestcut, refine and kmember run a fortieth shorter.
signatures
    The signature of a call is sought once. Numba tries some thirty templates for every
    `array[i, j]` anew. First calls: a twentieth to a third less.
index
    In a lean kernel no index counts from the end, so none is asked whether it is negative.
    bestcut runs a third shorter, refine a quarter, kmember a tenth.
noalias
    In a lean kernel no two arrays of a function overlap, so numbers may stay in registers.
    refine runs a fourteenth shorter.

Tried, and left out again, because each brought less than a tenth of a first call and nothing
later: passes with nothing to do skipped, Python's collector of cycles at rest, signatures known to
lowering too.
"""

from __future__ import annotations

import operator

from numba._dynfunc import make_function
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.core.typing.context import Context
from numba.np.arrayobj import load_item, make_array, store_item

from shoal.kernels.cache import LEFT_OUT

__all__ = ["HelperCompiler", "KernelCompiler"]

# What Numba calls is written as Numba writes it: without annotations, which it has none of.

_SIGNATURES = {False: {}, True: {}}  # type: dict[bool, dict[object, object]]
"""Signatures of calls, without and with Numba's allocator."""


def _shared(kind, whole, known=None):
    """Return what behaves as another object, shares its state, and may know signatures."""
    found = object.__new__(kind)
    found.__dict__ = whole.__dict__
    if known is not None:
        found.known = known
    return found


class _Function(types.Function):
    """A built-in function that knows its signatures."""

    __slots__ = ("known",)

    def get_call_type(self, context, args, kws):
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

    def resolve_function_type(self, func, args, kws):
        if isinstance(func, str) or kws:  # `static_getitem`: its arguments are no types
            return super().resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        if key not in self.known:
            found = super().resolve_function_type(func, args, kws)
            if found is None:
                return None
            self.known[key] = found
        return self.known[key]

    def resolve_value_type(self, val):
        found = super().resolve_value_type(val)
        is_operator = getattr(val, "__module__", None) == operator.getitem.__module__
        return _shared(_Function, found, self.known) if is_operator else found


@register_pass(mutates_CFG=True, analysis_only=False)
class _Inference(NopythonTypeInference):
    """Find the types, asking for each signature once."""

    _name = "shoal_inference"

    def run_pass(self, state):
        plain = state.typingctx
        state.typingctx = _shared(_Typing, plain, _SIGNATURES[bool(state.flags.nrt)])
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = plain


class _LeanTarget(CPUContext):
    """Lowering for kernels in which no index counts from the end."""

    def get_function(self, fn, sig, _firstcall=True):
        key = getattr(fn, "typing_key", None)
        if key in (operator.getitem, operator.setitem) and _is_element(sig):
            make = _element if key is operator.getitem else _store
            return lambda builder, args, loc=None: make(self, builder, sig, args)
        return super().get_function(fn, sig, _firstcall)


def _is_element(sig):
    """Say whether a signature names one number of an array of numbers."""
    array, parts = sig.args[0], _parts(sig.args[1])
    return (
        isinstance(array, types.Array)
        and isinstance(array.dtype, types.Number | types.Boolean)
        and len(parts) == array.ndim
        and all(isinstance(part, types.Integer) for part in parts)
        and (len(sig.args) == 2 or isinstance(sig.args[2], types.Number | types.Boolean))
    )


def _parts(index):
    return tuple(index.types) if isinstance(index, types.UniTuple | types.Tuple) else (index,)


def _place(context, builder, sig, args):
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


def _element(context, builder, sig, args):
    return load_item(context, builder, sig.args[0], _place(context, builder, sig, args))


def _store(context, builder, sig, args):
    array, value = sig.args[0], sig.args[2]
    item = context.cast(builder, args[2], value, array.dtype)
    store_item(context, builder, array, item, _place(context, builder, sig, args))
    return context.get_dummy_value()


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Lower a kernel; where it is lean, with what that allows."""

    _name = "shoal_lowering"

    def run_pass(self, state):
        is_lean = not state.flags.nrt
        plain = state.targetctx
        if is_lean and "index" not in LEFT_OUT:
            state.targetctx = _shared(_LeanTarget, plain)
        state.flags.noalias = is_lean and "noalias" not in LEFT_OUT
        try:
            return self.lower(state)
        finally:
            state.targetctx = plain

    def lower(self, state):
        if not state.flags.nrt and "whole" not in LEFT_OUT:
            state.library = _library(_Whole, state)
        return super().run_pass(state)


def _library(kind, state):
    library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    library.enable_object_caching()
    return library


class _Whole(JITCodeLibrary):
    """Code of a kernel that counts no references: optimized once, with all its helpers."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


class _Linked(_Whole):
    """Code of a helper, which waits to be linked into a kernel and is optimized there."""

    def _optimize_final_module(self):
        """Leave that to the kernel."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(_Lowering):
    """Lower a helper, but make no machine code of it."""

    _name = "shoal_helper_lowering"

    def lower(self, state):
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


class KernelCompiler(CompilerBase):
    """Compiles what Python calls: Numba's own passes, with ours in the place of two."""

    lowering = _Lowering

    def define_pipelines(self):
        """Return the passes, as Numba asks for them."""
        ours = {NativeLowering: self.lowering}
        if "signatures" not in LEFT_OUT:
            ours[NopythonTypeInference] = _Inference
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state, self.lowering._name)
        passes.passes = [(ours.get(p, p), text) for p, text in passes.passes]
        passes.finalize()
        return [passes]


class HelperCompiler(KernelCompiler):
    """Compiles what only kernels call."""

    lowering = _Lowering if "linked" in LEFT_OUT else _HelperLowering
