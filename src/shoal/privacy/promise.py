"""What every promise can say of itself and of one equivalence class.

A promise knows nothing of tables. It states what it needs of a class, measures it, and says
whether that is enough. To add one, write one file with a subclass of `Promise`; importing it
is enough for schemas, methods, engines and the edge to know it by its name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, Field, dataclass, fields
from enum import Flag, StrEnum, auto
from numbers import Integral, Real
from typing import ClassVar, NamedTuple, Self

from shoal.core.documents import Document, as_json
from shoal.core.errors import PrivacyError
from shoal.privacy.compiled import Compiled
from shoal.privacy.distances import Reference, whole_counts
from shoal.privacy.itemsets import Itemsets

TOLERANCE = 1e-12
"""Relative slack where a float meets a bound (entropy l, t).

Logarithms are not exact: without it, the counts 8, 1, 1, 1, 1 reach 2.9999999999999996 and
miss l = 3, which they have. It also lets engines that add in another order agree.
"""

Values = Mapping[str, Collection[str]]


class Needs(Flag):
    """What a promise must see of a class, beside its size."""

    SIZE = 0
    HISTOGRAM = auto()  # records per value of its sensitive column
    REFERENCE = auto()  # the same of the whole table: a class is compared with all records
    SUPERSETS = auto()  # sets of records around the class
    ITEMSETS = auto()  # the sets of items of its records


class Better(StrEnum):
    """Which measure is the safer one."""

    HIGH = "high"
    LOW = "low"

    def worse(self, one: float, other: float) -> float:
        """Return the less safe of two measures."""
        return min(one, other) if self is Better.HIGH else max(one, other)


class Option(NamedTuple):
    """How a parameter is asked for on a command line.

    Attributes:
        parameter: Its name in the promise.
        flags: What is written, such as -k and --k; the last one names it.
        kind: int, float or str.
        help: What it means, in a few words.
        default: What holds where it is not given, for people.
        choices: What it may be, where it is one of a few words.
    """

    parameter: str
    flags: tuple[str, ...]
    kind: type
    help: str
    default: str | None = None
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return its name among the options of a command: l_kind for --l-kind."""
        return self.flags[-1].lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class EquivalenceClass:
    """What a promise sees of one class.

    Where a table says who its records are about, persons are counted: a person with many
    records counts once, and once for each different value. So a promise that divides the
    histogram by `records` bounds shares of persons, without knowing of them.

    Args:
        records: Records of the class; with `several`, the persons behind them.
        histogram: Records per value of the promise's sensitive column, in the order of
            `reference`; with `several`, persons per value. May stay empty for promises without
            a sensitive column.
        reference: The same column in the whole table.
        supersets: For (n,t)-closeness: (records, histogram) of sets of records that
            contain the class. The whole table is always one and need not be listed.
        several: None: records are counted. Otherwise persons are, and this has, for each
            person with more than one value here, the places of these values.
        held: The number of records where persons are counted.
        itemsets: The sets of items of its records, where the table has a column of sets.

    Raises:
        PrivacyError: the counts do not fit each other, such as a histogram that leaves
            out the missing values and so sees fewer records than there are.

    Example:
        >>> EquivalenceClass(3, [2, 1]).histogram
        (2, 1)
        >>> EquivalenceClass(2, [2, 1], several=[(0, 1)]).histogram  # two persons: one has both
        (2, 1)
    """

    records: int
    histogram: Sequence[int] = ()
    _: KW_ONLY
    reference: Reference | None = None
    supersets: Sequence[tuple[int, Sequence[int]]] = ()
    several: Sequence[Sequence[int]] | None = None
    held: int | None = None
    itemsets: Itemsets | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", whole_counts([self.records], "records")[0])
        object.__setattr__(self, "histogram", whole_counts(self.histogram, "a histogram's counts"))
        wider = tuple(
            (whole_counts([records], "records")[0], whole_counts(histogram, "a superset's counts"))
            for records, histogram in self.supersets
        )
        object.__setattr__(self, "supersets", wider)
        if not self.records and self.several is None:
            raise _fault("a class has at least one record")
        if self.histogram:
            again = sum(len(values) - 1 for values in self.several or ())
            _check_total(self.records + again, self.histogram)
            if self.reference is not None and len(self.reference.counts) != len(self.histogram):
                raise _fault("the histogram and the reference count different values")
        for records, histogram in wider:
            if self.several is None:
                _check_total(records, histogram)
            if len(histogram) != len(self.histogram) or any(
                whole < part for whole, part in zip(histogram, self.histogram, strict=True)
            ):
                raise _fault("a superset does not contain the class")

    def shares(self) -> list[tuple[float, float]]:
        """Return, for each value that occurs in the table, its share here and there.

        Shares of the records, or of the persons: a person may have several values.

        Raises:
            PrivacyError: the class came without histogram or reference.
        """
        if self.reference is None or not self.histogram:
            raise _fault("shares need the histogram of the class and the reference of the table")
        total = self.reference.total
        return [
            (own / self.records, whole / total)
            for own, whole in zip(self.histogram, self.reference.counts, strict=True)
            if whole
        ]


def _fault(problem: str) -> PrivacyError:
    return PrivacyError(model="equivalence class", problem=problem)


def _check_total(records: int, histogram: Sequence[int]) -> None:
    if sum(histogram) != records:
        raise _fault(
            f"a histogram counts {sum(histogram)} of {records} records; "
            "missing values are to be counted as a value of their own"
        )


PROMISES: dict[str, type[Promise]] = {}
"""Every promise by its name; a subclass enters itself."""


class Promise(ABC):
    """What every promise can say of itself and of a class.

    Attributes:
        name: Its name in schemas, reports and model documents.
        needs: What it must see of a class.
        better: Whether a high or a low measure is the safer one.
        monotone: Whether merging classes that all hold gives a class that holds, so
            that in a lattice everything above a safe node is safe. See also
            `monotone_with_persons`.
        options: Its words on a command line. The first asks for it; others may be shared with
            another promise.
        stricter: In which direction each parameter promises more; one that is not named
            must be equal before two promises can be compared.
        column: The sensitive column it speaks of; None stands for every one of them.
    """

    __slots__ = ()

    name: ClassVar[str]
    needs: ClassVar[Needs] = Needs.HISTOGRAM
    better: ClassVar[Better]
    monotone: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = ()
    stricter: ClassVar[Mapping[str, Better]] = {}
    column: str | None
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]  # every promise is a dataclass

    def __init_subclass__(cls) -> None:
        name = cls.__dict__.get("name")
        if name is None:  # shared by several promises, none itself
            return
        known = PROMISES.get(name)
        # A dataclass with slots is made twice, so the same place may enter itself again.
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise PrivacyError(model=name, problem="there is a promise of this name already")
        PROMISES[name] = cls

    @property
    def needs_sensitive(self) -> bool:
        """Say whether it asks about a sensitive column."""
        return Needs.HISTOGRAM in self.needs

    @property
    def compares(self) -> bool:
        """Say whether a class is compared with all records, so that any change touches it."""
        return Needs.REFERENCE in self.needs

    @property
    def least_records(self) -> int:
        """Return the smallest class that it allows."""
        return 1

    @property
    def least_superset(self) -> int:
        """Return how many records a set around a class must have to count."""
        return 1

    @property
    def is_void(self) -> bool:
        """Say whether every class keeps it, whatever is in it: it promises nothing."""
        return False

    @property
    def reads_order(self) -> bool:
        """Say whether it measures along the order of its column's values."""
        return False

    @property
    def reads_hierarchy(self) -> bool:
        """Say whether it measures by its column's hierarchy."""
        return False

    @property
    def monotone_with_suppression(self) -> bool:
        """Whether a class that holds still holds after *any* class is merged into it.

        Only then can the number of records to suppress never grow up a lattice. Averages
        (entropy, shares, distances) can be spoilt by a merged class that fails.
        """
        return False

    @property
    def monotone_with_persons(self) -> bool:
        """Whether `monotone` also holds where persons are counted, who may be in both classes.

        Shares and spreads of persons are no averages any more: of two persons, each may have
        the value in one of two classes, and both have it in the merged one.
        """
        return False

    @abstractmethod
    def measure(self, seen: EquivalenceClass) -> float:
        """Return the value that this class attains."""

    @abstractmethod
    def accepts(self, value: float) -> bool:
        """Return whether a measure is enough."""

    def judge(self, seen: EquivalenceClass) -> tuple[float, bool]:
        """Return the measure of a class, and whether it keeps the promise."""
        value = self.measure(seen)
        return value, self.accepts(value)

    def violating(self, seen: EquivalenceClass) -> int:
        """Return how many records of a class that fails break it: all of them, as a rule."""
        return seen.records if seen.held is None else seen.held

    def holds(self, seen: EquivalenceClass) -> bool:
        """Return whether this class keeps the promise."""
        return self.judge(seen)[1]

    def compiled(self) -> Compiled | None:
        """Return how compiled loops judge it; None: by the lines above, slower, never wrong."""
        return None

    @classmethod
    def is_asked(cls, given: Mapping[str, object]) -> bool:
        """Say whether flags, by the names of options, ask for this promise."""
        return bool(cls.options) and cls.options[0].name in given

    @classmethod
    def from_flags(cls, given: Mapping[str, object]) -> Self:
        """Return the promise that flags ask for."""
        return cls.made({o.parameter: given[o.name] for o in cls.options if o.name in given})

    @classmethod
    def made(cls, parameters: Mapping[str, object]) -> Self:
        """Return the promise with these parameters, which it checks itself.

        Raises:
            PrivacyError: one of them is impossible.
        """
        unchecked: Callable[..., Self] = cls
        return unchecked(**parameters)

    def parameters(self) -> Document:
        """Return the parameters that are set, ready for JSON."""
        given = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: as_json(value) for name, value in given.items() if value is not None}

    def shown(self) -> Document:
        """Return the parameters for a report: without values of the data.

        A field that holds some is declared with `repr=False`, because a repr ends in logs.
        """
        hidden = {part.name for part in fields(self) if not part.repr}
        return {name: v for name, v in self.parameters().items() if name not in hidden}

    def words(self) -> str:
        """Return name and parameters for people, without values of the data.

        Example:
            >>> from shoal.privacy import LDiversity
            >>> LDiversity(2, column="diagnosis").words()
            'l-diversity l=2, kind=distinct, column=diagnosis'
        """
        given = [f"{name}={v}" for name, v in self.shown().items()]
        return f"{self.name} {', '.join(given)}"

    def implies(self, other: Promise) -> bool:
        """Return whether it is of the other's sort and at least as strict, columns aside.

        Example:
            >>> from shoal.privacy import LDiversity, NTCloseness
            >>> LDiversity(3).implies(LDiversity(2))
            True
            >>> LDiversity(3, "entropy").implies(LDiversity(2))
            False
            >>> NTCloseness(1000, 0.1).implies(NTCloseness(500, 0.2))
            True
        """
        if type(self) is not type(other):
            return False
        for part in fields(self):
            if part.name == "column":
                continue
            own, their = getattr(self, part.name), getattr(other, part.name)
            way = self.stricter.get(part.name)
            if own != their and (way is None or way.worse(own, their) != their):
                return False
        return True

    def to_document(self) -> Document:
        """Return the promise as `from_document` reads it."""
        return {"model": self.name, **self.parameters()}

    def check(
        self,
        sensitive: Mapping[str, str],
        hierarchies: Collection[str] = (),
        *,
        values: Values | None = None,
    ) -> list[str]:
        """Return the faults of this promise against a schema, none when it can be asked.

        Args:
            sensitive: Kind of each sensitive column, by name.
            hierarchies: Columns that have a hierarchy.
            values: The values of each sensitive column where they are known already;
                they tell a misspelt value from a protected one.
        """
        if not self.needs_sensitive:
            return []
        if not sensitive:
            return [
                f"{self.name} needs a sensitive column: "
                "name one with --sensitive or role: sensitive"
            ]
        if self.column is not None and self.column not in sensitive:
            return [f"{self.name}: column {self.column!r} is not a sensitive column"]
        columns = list(sensitive) if self.column is None else [self.column]
        return self._faults(columns, hierarchies, values=values or {})

    def _faults(
        self, columns: Sequence[str], trees: Collection[str], *, values: Values
    ) -> list[str]:
        return []

    def _refuse(self, problem: str) -> PrivacyError:
        return PrivacyError(model=self.name, problem=problem)

    def _set_whole(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise self._refuse(f"{name} must be a whole number, not {type(value).__name__}")
        if value < 1:
            raise self._refuse(f"{name} must be at least 1, not {value}")
        object.__setattr__(self, name, int(value))

    def _set_real(self, name: str, problem: str, *, low: float = 0.0, high: float = 1.0) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self._refuse(f"{name} must be a number, not {type(value).__name__}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not (math.isfinite(number) and low <= number <= high):
            raise self._refuse(f"{name} must be {problem}, not {number}")
        object.__setattr__(self, name, number)

    def _check_choice(self, name: str, options: Sequence[str]) -> None:
        if getattr(self, name) not in options:
            raise self._refuse(f"{name} must be one of {', '.join(options)}")

    def _check_column(self) -> None:
        if self.column is not None and not (isinstance(self.column, str) and self.column):
            raise self._refuse("column must be the name of a sensitive column")

    def _histogram(self, seen: EquivalenceClass) -> Sequence[int]:
        if not seen.histogram:  # an empty one must never pass as "nothing to protect"
            raise self._refuse("a class came without the histogram of its sensitive values")
        return seen.histogram

    def _reference(self, seen: EquivalenceClass) -> Reference:
        if seen.reference is None:
            raise self._refuse("a class came without the reference of the whole table")
        return seen.reference
