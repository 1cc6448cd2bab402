"""What a method is: a frozen object of its own parameters, which finds a recoding when run.

Only the standard library is loaded here: a search is loaded when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from math import isfinite
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

from shoal.core.errors import MethodError
from shoal.core.suggest import did_you_mean

if TYPE_CHECKING:
    from shoal.privacy import Promise
    from shoal.table.frequency import FrequencyTable
    from shoal.table.recoding import Recoding

Default = TypeVar("Default")

MEASURES = (
    "loss", "dm", "aecs", "level-sum", "precision-loss", "non-uniform-entropy", "entropy-monotone",
    "ncp", "class-entropy", "height-utility",
)  # fmt: skip
BOX_MEASURES = ("ncp", "loss", "target")
"""What a search for boxes minimizes: heights and widths; the share of leaves; both the heights and
how many records stand in classes of more than one target."""
ALIASES = {"height": "level-sum", "entropy": "non-uniform-entropy"}
"""Old names. The measures that a report calls height and entropy are other ones: [lim2018]'s
`height-utility` and `class-entropy`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a search is given beside its own parameters.

    Attributes:
        suppression_limit: share of the records that may be suppressed.
        utility: what a search minimizes: of a lattice see `MEASURES`, of clusters `BOX_MEASURES`;
            None, or what the method does not know: its own, "loss" for a lattice, "ncp" for boxes.
        target: the column for the classification metric.
        seed: of every choice by chance.
        threads: None: what the search thinks right; never changes the result.
    """

    suppression_limit: float = 0.0
    utility: str | None = None
    target: str | None = None
    seed: int = 0
    threads: int | None = None


class Parameter(NamedTuple):
    """A parameter of a method, as a listing or a command line shows it."""

    name: str
    type: str
    default: object
    help: str


def parameter(
    default: Default,
    text: str,
    *,
    least: float | None = None,
    above: float | None = None,
    fault: str | None = None,
) -> Default:
    """Declare a parameter of a method.

    Args:
        default: its value where none is given.
        text: its help.
        least: the smallest value that is allowed.
        above: what every allowed value is larger than.
        fault: the words for a value that is not allowed; None: made from the limits.
    """
    limits = {"help": text, "least": least, "above": above, "fault": fault}
    return field(default=default, metadata=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to find a recoding; the fields of a subclass are exactly its own parameters.

    Attributes:
        function: "module:function" of the search.
        kernel: "module:function" of the compiled loop, to tell whether it must be compiled.
        takes: the names in `Setting` that the search looks at.
        release: what a class releases: "generalize" (intervals, common ancestors) or
            "aggregate" (centroids).
        centroid: the distance that makes a node the centroid of categories: "equal", the mode;
            None: that of the column.
        utilities: what it can be asked to minimize.
        spreads: it looks at every sensitive column, whether or not the promise names it.
        blanks: a cell of its release is a value as it is, or blank.

    Raises:
        MethodError: parameters of a wrong type or out of range, all named together.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    summary: ClassVar[str]
    function: ClassVar[str]
    kernel: ClassVar[str]
    takes: ClassVar[tuple[str, ...]] = ()
    release: ClassVar[str] = "generalize"
    centroid: ClassVar[str | None] = None
    spreads: ClassVar[bool] = False
    blanks: ClassVar[bool] = False
    utilities: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        self.check(self._own())

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters that the method takes."""
        return tuple(
            Parameter(each.name, str(each.type), each.default, each.metadata["help"])
            for each in fields(cls)
        )

    @classmethod
    def check(cls, parameters: Mapping[str, object]) -> None:
        """Refuse parameters that the method does not take, or not so.

        Raises:
            MethodError: names all of them together.
        """
        known = {each.name: each for each in fields(cls)}
        faults = [_unknown(cls, name) for name in parameters if name not in known]
        hints = hints_of(cls)
        for name, each in known.items():
            found = _fault(name, hints[name], parameters.get(name, each.default), each.metadata)
            if found is not None:
                fault = str(each.metadata["fault"] or found)
                faults.append(fault if fault.startswith(cls.name) else f"{cls.name}: {fault}")
        different = list(dict.fromkeys(faults))
        if len(different) > 1:
            numbered = "; ".join(f"({i}) {fault}" for i, fault in enumerate(different, start=1))
            raise MethodError(problem=f"{len(different)} faults: {numbered}")
        if different:
            raise MethodError(problem=different[0])

    def search(
        self, table: FrequencyTable, promise: Sequence[Promise], setting: Setting | None = None
    ) -> Recoding:
        """Find a recoding of the table that keeps the promise."""
        setting = setting or Setting()
        if "target" in self.utilities and setting.utility == "target":
            search_targeted = loaded("shoal.methods.targeted:search_targeted")
            return search_targeted(self, table, promise, setting)
        if "information" in self.utilities and setting.utility == "information":
            search_informed = loaded("shoal.methods.informed:search_informed")
            return search_informed(self, table, promise, setting)
        found = loaded(self.function)(table, promise, self, setting)
        if table.persons is None:
            return found
        hold = loaded("shoal.methods.persons:hold_persons")
        return hold(
            found, promise, join=self.family != "microaggregation", borrow=self.makes_clusters
        )

    @property
    def makes_clusters(self) -> bool:
        """Say whether its classes are sets of records, which may be changed one by one.

        Regions of a cut, and levels of a lattice, also say where records that come later belong.
        """
        return self.family in ("clustering", "microaggregation")

    def must_compile(self) -> bool:
        """Say whether the first search will spend seconds in the compiler."""
        kernel = loaded(self.kernel)
        if getattr(kernel, "signatures", None):
            return False
        # Numba has no public question for "is it in the cache?"; its index file answers.
        cache = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        index: Callable[[], object] | None = getattr(cache, "_load_index", None)
        return index is not None and not index()

    def hurried(self) -> Self:
        """Return the method with hardly any time, if its time is limited."""
        if getattr(self, "seconds", None) is None:
            return self
        change: Callable[..., Self] = replace
        return change(self, seconds=0.001)

    def to_document(self) -> dict[str, object]:
        """Return the name, and the parameters that are not at their default."""
        own = self._own()
        changed = {e.name: own[e.name] for e in fields(self) if own[e.name] != e.default}
        return {"name": self.name, **changed}

    def _own(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def loaded(place: str) -> Callable[..., Recoding]:
    """Return the function at "module:function"."""
    module, _, name = place.partition(":")
    function: Callable[..., Recoding] = getattr(import_module(module), name)
    return function


def _unknown(kind: type[Method], name: str) -> str:
    known = [each.name for each in fields(kind)]
    meant = did_you_mean(name, known, before=", ") or ";"
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    return f"--method {kind.name}: no parameter {name!r}{meant} {takes}"


_WORDS: Mapping[type, tuple[type, str]] = {
    bool: (bool, "true or false"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
}


def _fault(
    name: str, hint: object, value: object, limits: Mapping[str, float | None]
) -> str | None:
    """Say what is wrong with the value of a parameter, if anything is."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        listed = ", ".join(choices)
        return None if value in choices else f"{name} must be one of {listed}"
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if value is None and NoneType in kinds:
        return None
    accepted, words = next(_WORDS[kind] for kind in _WORDS if kind in kinds)
    is_kind = isinstance(value, accepted) and isinstance(value, bool) == (accepted is bool)
    if not is_kind or not isinstance(value, Real) or not isfinite(value):
        return f"{name} must be {words}"
    number, least, above = float(value), limits["least"], limits["above"]
    if least is not None and number < least:
        return f"{name} must be at least {least:g}"
    if above is not None and number <= above:
        return f"{name} must be above {above:g}"
    return None
