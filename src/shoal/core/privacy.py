"""Privacy models: what a release promises about each class of records.

A model judges one `ClassSummary` at a time and knows nothing of tables. What it attains
is a number (`measure`), whether that is enough is a yes or no (`holds`), and `worst`
puts the classes of a release together.

    KAnonymity        k-anonymity             a class has at least k records
    LDiversity        l-diversity             its sensitive values are spread over l values
    TCloseness        t-closeness             they are spread as in the whole table, up to t
    NTCloseness       (n,t)-closeness         … as in some set of n records around the class
    AlphaKAnonymity   (alpha,k)-anonymity     k records, no sensitive value above a share alpha

A missing sensitive value is a value of its own: it counts in every histogram.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, cast

from shoal.core.distances import DISTANCES, DistanceName, Reference, whole_counts
from shoal.core.errors import PrivacyError

__all__ = [
    "MODELS",
    "TOLERANCE",
    "AlphaKAnonymity",
    "ClassSummary",
    "KAnonymity",
    "LDiversity",
    "NTCloseness",
    "PrivacyModel",
    "Reference",
    "TCloseness",
    "Verdict",
    "expand",
    "from_document",
    "worst",
]

TOLERANCE = 1e-12
"""Relative slack where a float meets a bound (entropy l, t).

Logarithms are not exact: without it, the counts 8, 1, 1, 1, 1 reach 2.9999999999999996 and
miss l = 3, which they have. It also lets engines that add in another order agree.
"""

Values = Mapping[str, Collection[str]]
DiversityKind = Literal["distinct", "entropy", "recursive"]
_KINDS: tuple[DiversityKind, ...] = ("distinct", "entropy", "recursive")


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """What a model sees of one class.

    Args:
        records: Records of the class.
        histogram: Records per value of the model's sensitive column, in the order of
            `reference`. May stay empty for models without a sensitive column.
        reference: The same column in the whole table.
        supersets: For (n,t)-closeness: (records, histogram) of sets of records that
            contain the class. The whole table is always one and need not be listed.

    Raises:
        PrivacyError: the counts do not fit each other, such as a histogram that leaves
            out the missing values and so sees fewer records than there are.

    Example:
        >>> ClassSummary(3, [2, 1]).histogram
        (2, 1)
    """

    records: int
    histogram: Sequence[int] = ()
    _: KW_ONLY
    reference: Reference | None = None
    supersets: Sequence[tuple[int, Sequence[int]]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", whole_counts([self.records], "records")[0])
        object.__setattr__(self, "histogram", whole_counts(self.histogram, "a histogram's counts"))
        wider = tuple(
            (whole_counts([records], "records")[0], whole_counts(histogram, "a superset's counts"))
            for records, histogram in self.supersets
        )
        object.__setattr__(self, "supersets", wider)
        if not self.records:
            raise _summary_fault("a class has at least one record")
        if self.histogram:
            _check_total(self.records, self.histogram)
            if self.reference is not None and len(self.reference.counts) != len(self.histogram):
                raise _summary_fault("the histogram and the reference count different values")
        for records, histogram in wider:
            _check_total(records, histogram)
            if len(histogram) != len(self.histogram) or any(
                whole < part for whole, part in zip(histogram, self.histogram, strict=True)
            ):
                raise _summary_fault("a superset does not contain the class")


def _summary_fault(problem: str) -> PrivacyError:
    return PrivacyError(model="class summary", problem=problem)


def _check_total(records: int, histogram: Sequence[int]) -> None:
    if sum(histogram) != records:
        raise _summary_fault(
            f"a histogram counts {sum(histogram)} of {records} records; "
            "missing values are to be counted as a value of their own"
        )


class PrivacyModel(ABC):
    """What every privacy model can say of itself and of a class.

    Attributes:
        name: The model's name in schemas, reports and model documents.
        needs_sensitive: Whether it looks at a sensitive column.
        better: Whether a "high" or a "low" measure is the safer one.
        monotone: Whether merging classes that all hold gives a class that holds, so
            that in a lattice everything above a safe node is safe.
        column: The sensitive column it speaks of; None stands for every one of them.
    """

    __slots__ = ()

    name: ClassVar[str]
    needs_sensitive: ClassVar[bool] = True
    better: ClassVar[Literal["high", "low"]]
    monotone: ClassVar[bool] = True
    column: str | None

    @property
    def monotone_with_suppression(self) -> bool:
        """Whether a class that holds still holds after *any* class is merged into it.

        Only then can the number of records to suppress never grow up a lattice. Averages
        (entropy, shares, distances) can be spoilt by a merged class that fails.
        """
        return False

    @abstractmethod
    def measure(self, summary: ClassSummary) -> float:
        """Return the value that this class attains."""

    @abstractmethod
    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        """Return whether a class with this measure keeps the promise."""

    def holds(self, summary: ClassSummary) -> bool:
        """Return whether this class keeps the promise."""
        return self._accepts(summary, self.measure(summary))

    def parameters(self) -> dict[str, object]:
        """Return the parameters that are set, ready for JSON."""
        given = {part.name: getattr(self, part.name) for part in fields(cast(Any, self))}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None
        }

    def words(self) -> str:
        """Return name and parameters for people, without values of the data.

        Example:
            >>> LDiversity(2, column="diagnosis").words()
            'l-diversity l=2, kind=distinct, column=diagnosis'
        """
        given = [f"{name}={v}" for name, v in self.parameters().items() if name != "values"]
        return f"{self.name} {', '.join(given)}"

    def to_document(self) -> dict[str, object]:
        """Return the model as `from_document` reads it."""
        return {"model": self.name, **self.parameters()}

    def check(
        self,
        sensitive: Mapping[str, str],
        hierarchies: Collection[str] = (),
        *,
        values: Values | None = None,
    ) -> list[str]:
        """Return the faults of this model against a schema, none when it can be asked.

        Args:
            sensitive: Kind of each sensitive column, by name.
            hierarchies: Columns that have a hierarchy.
            values: The values of each sensitive column where they are known already;
                they tell a misspelt value from a protected one.

        Example:
            >>> LDiversity(2).check({})
            ['l-diversity needs a sensitive column: name one with --sensitive or role: sensitive']
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

    def _histogram(self, summary: ClassSummary) -> Sequence[int]:
        if not summary.histogram:  # an empty one must never pass as "nothing to protect"
            raise self._refuse("a class came without the histogram of its sensitive values")
        return summary.histogram

    def _reference(self, summary: ClassSummary) -> Reference:
        if summary.reference is None:
            raise self._refuse("a class came without the reference of the whole table")
        return summary.reference


@dataclass(frozen=True, slots=True)
class KAnonymity(PrivacyModel):
    """A class has at least k records. Measure: its records.

    Example:
        >>> KAnonymity(5).holds(ClassSummary(4))
        False
    """

    name: ClassVar[str] = "k-anonymity"
    needs_sensitive: ClassVar[bool] = False
    better: ClassVar[Literal["high", "low"]] = "high"

    k: int
    column: str | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set_whole("k")

    @property
    def monotone_with_suppression(self) -> bool:
        """A class only grows."""
        return True

    def measure(self, summary: ClassSummary) -> int:
        """Return the number of records."""
        return summary.records

    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        return value >= self.k


@dataclass(frozen=True, slots=True)
class LDiversity(PrivacyModel):
    """The sensitive values of a class are well spread (Machanavajjhala et al., 2006).

    Kinds, with the counts of the class sorted downwards, r1 >= r2 >= … >= rm:

    * `distinct`: m >= l. Measure: m.
    * `entropy`: entropy >= log(l). Measure: exp(entropy), the number of equally frequent
      values with the same entropy; here l may be a fraction, such as 2.5.
    * `recursive`: r1 < c · (r_l + … + rm), and m >= l. Measure: the largest l for which
      the class holds with this c, 0 when there is none.

    Law:
        All kinds are monotone: distinct values only grow, entropy is concave, and merging
        adds up the tails r_l + … + rm at least as much as the tops.

    Example:
        >>> LDiversity(3, "entropy").holds(ClassSummary(6, [2, 2, 2]))
        True
        >>> LDiversity(2, "recursive", c=2).measure(ClassSummary(6, [1, 2, 3]))
        2
    """

    name: ClassVar[str] = "l-diversity"
    better: ClassVar[Literal["high", "low"]] = "high"

    l: float  # noqa: E741 - the parameter's name in every text on the model
    kind: DiversityKind = "distinct"
    _: KW_ONLY
    c: float | None = None
    column: str | None = None

    def __post_init__(self) -> None:
        self._check_choice("kind", _KINDS)
        self._check_column()
        if self.kind == "entropy" and not isinstance(self.l, Integral):
            self._set_real("l", "at least 1", low=1.0, high=math.inf)
        else:
            self._set_whole("l")
        if self.kind == "recursive":
            if self.c is None:
                raise self._refuse("kind recursive needs c, the bound on the commonest value")
            self._set_real("c", "above 0", low=math.ulp(0.0), high=math.inf)
        elif self.c is not None:  # accepted and ignored, it would look like a promise
            raise self._refuse("c belongs to kind recursive only")

    @property
    def monotone_with_suppression(self) -> bool:
        """Distinct values only grow; the other kinds can be spoilt by a skewed class."""
        return self.kind == "distinct"

    def measure(self, summary: ClassSummary) -> float:
        """Return the largest l that the class attains."""
        counts = sorted((count for count in self._histogram(summary) if count), reverse=True)
        if self.kind == "distinct":
            return len(counts)
        if self.kind == "entropy":
            return _effective_values(counts)
        return _recursive_depth(counts, cast(float, self.c))

    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        slack = TOLERANCE if self.kind == "entropy" else 0.0
        return value >= self.l * (1 - slack)


def _effective_values(counts: Sequence[int]) -> float:
    if counts[0] == counts[-1]:  # equal shares are exact without a logarithm
        return float(len(counts))
    total = sum(counts)
    return math.exp(math.fsum(count / total * math.log(total / count) for count in counts))


def _recursive_depth(counts: Sequence[int], c: float) -> int:
    tail = sum(counts)
    for depth, count in enumerate(counts):
        # Not r1 < c * tail: 1.1 * 50 is above 55 in floats, while 55 / 50 is the float 1.1.
        if not counts[0] / tail < c:
            return depth
        tail -= count
    return len(counts)


class _Closeness(PrivacyModel):
    __slots__ = ()

    better: ClassVar[Literal["high", "low"]] = "low"
    t: float
    distance: DistanceName

    def _check_closeness(self) -> None:
        self._set_real("t", "between 0 and 1")
        self._check_choice("distance", DISTANCES)
        self._check_column()

    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        return value <= self.t * (1 + TOLERANCE)

    def _faults(
        self, columns: Sequence[str], trees: Collection[str], *, values: Values
    ) -> list[str]:
        if self.distance != "hierarchical":
            return []
        return [
            f"t-distance hierarchical needs a hierarchy on column {column!r}"
            for column in columns
            if column not in trees
        ]


@dataclass(frozen=True, slots=True)
class TCloseness(_Closeness):
    """The sensitive values are spread as in the whole table, up to a distance t.

    Measure: the distance (see `shoal.core.distances`), 0 for the same shares.

    Law:
        Monotone for every distance: each is convex in the class's shares (the three earth
        mover's distances: Li et al. 2007; chi-square: it is an f-divergence), and the
        shares of merged classes are an average of theirs.

    Example:
        >>> table = Reference([5, 5])
        >>> TCloseness(0.2).holds(ClassSummary(4, [4, 0], reference=table))
        False
    """

    name: ClassVar[str] = "t-closeness"

    t: float
    distance: DistanceName = "equal"
    _: KW_ONLY
    column: str | None = None

    def __post_init__(self) -> None:
        self._check_closeness()

    def measure(self, summary: ClassSummary) -> float:
        """Return the distance between the class and the whole table."""
        histogram = self._histogram(summary)
        return self._reference(summary).distance(self.distance, histogram)


@dataclass(frozen=True, slots=True)
class NTCloseness(_Closeness):
    """The class is spread, up to t, as some set of at least n records that contains it.

    Li, Li, Venkatasubramanian: Closeness, TKDE 2010. A class of n records contains
    itself and so always holds. Otherwise the caller's `supersets` and the whole table
    are tried. A table of fewer than n records cannot hold.

    Measure: the smallest distance to a set of n records, 1 when there is none.

    It is not called monotone: two classes may each be close to a set that does not
    contain the other, and their union close to none.

    Example:
        >>> class_ = ClassSummary(2, [2, 0], reference=Reference([6, 6]), supersets=[(5, [4, 1])])
        >>> NTCloseness(5, 0.2).measure(class_)
        0.2
    """

    name: ClassVar[str] = "(n,t)-closeness"
    monotone: ClassVar[bool] = False

    n: int
    t: float
    _: KW_ONLY
    distance: DistanceName = "equal"
    column: str | None = None

    def __post_init__(self) -> None:
        self._set_whole("n")
        self._check_closeness()

    def measure(self, summary: ClassSummary) -> float:
        """Return the smallest distance to a set of n records around the class."""
        histogram = self._histogram(summary)
        if summary.records >= self.n:
            return 0.0
        reference = self._reference(summary)
        return min(
            (
                reference.distance(self.distance, histogram, other=wider)
                for wider in (reference.counts, *(counts for _, counts in summary.supersets))
                if sum(wider) >= self.n
            ),
            default=1.0,
        )

    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        sizes = [summary.records, *(records for records, _ in summary.supersets)]
        if summary.reference is not None:
            sizes.append(sum(summary.reference.counts))
        return max(sizes) >= self.n and value <= self.t * (1 + TOLERANCE)


@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(PrivacyModel):
    """At least k records, and no sensitive value has more than a share alpha of them.

    Wong, Li, Fu, Wang: (α, k)-anonymity, KDD 2006. With `values`, only those are bounded.
    Monotone: a class only grows, and shares of merged classes are averages.

    Measure: the largest share. A class below k fails whatever its shares are.

    Example:
        >>> AlphaKAnonymity(0.5, 4).measure(ClassSummary(4, [3, 1]))
        0.75
    """

    name: ClassVar[str] = "(alpha,k)-anonymity"
    better: ClassVar[Literal["high", "low"]] = "low"

    alpha: float
    k: int
    _: KW_ONLY
    column: str | None = None
    values: Sequence[str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._set_real("alpha", "above 0 and at most 1", low=math.ulp(0.0))
        self._set_whole("k")
        self._check_column()
        if self.values is None:
            return
        # A bare string is a sequence too: "flu" would protect "f", "l" and "u".
        if isinstance(self.values, str) or not isinstance(self.values, Sequence):
            raise self._refuse("values must be a list of values")
        if not self.values or not all(isinstance(value, str) for value in self.values):
            raise self._refuse("values must name at least one value, each written as text")
        object.__setattr__(self, "values", tuple(dict.fromkeys(self.values)))

    def measure(self, summary: ClassSummary) -> float:
        """Return the largest share that a bounded value has in the class."""
        histogram = self._histogram(summary)
        if self.values is None:
            return max(histogram) / summary.records
        known = self._reference(summary).values
        if known is None:
            raise self._refuse("the reference does not say which value is which")
        named = set(self.values)
        bounded = (n for value, n in zip(known, histogram, strict=True) if value in named)
        return max(bounded, default=0) / summary.records

    def _accepts(self, summary: ClassSummary, value: float) -> bool:
        return summary.records >= self.k and value <= self.alpha

    def _faults(
        self, columns: Sequence[str], trees: Collection[str], *, values: Values
    ) -> list[str]:
        if self.values is None or not all(column in values for column in columns):
            return []
        absent = sum(not any(value in values[c] for c in columns) for value in self.values)
        where = " or ".join(repr(column) for column in columns)
        text = f"{absent} of {len(self.values)} named values do not occur in column {where}"
        return [f"{self.name}: {text}"] if absent else []


MODELS: Mapping[str, type[PrivacyModel]] = {
    model.name: model
    for model in (KAnonymity, LDiversity, TCloseness, NTCloseness, AlphaKAnonymity)
}


class Verdict(NamedTuple):
    """How the classes of a release stand against one model."""

    holds: bool
    value: float | None
    """The measure of the worst class; None when there is no class."""
    violating_records: int


def worst(model: PrivacyModel, summaries: Iterable[ClassSummary]) -> Verdict:
    """Judge all classes: do they hold, what is the worst measure, how many records fail?

    Example:
        >>> worst(KAnonymity(3), [ClassSummary(5), ClassSummary(2)])
        Verdict(holds=False, value=2, violating_records=2)
    """
    of_two = min if model.better == "high" else max
    value: float | None = None
    violating, holds = 0, True
    for summary in summaries:
        attained = model.measure(summary)
        value = attained if value is None else of_two(value, attained)
        if not model._accepts(summary, attained):
            holds = False
            violating += summary.records
    return Verdict(holds, value, violating)


def expand(models: Iterable[PrivacyModel], sensitive_columns: Sequence[str]) -> list[PrivacyModel]:
    """Bind each model that names no column to every sensitive column; drop repetitions.

    Raises:
        PrivacyError: a model would be lost, for want of a column to apply it to.

    Example:
        >>> [m.column for m in expand([KAnonymity(2), LDiversity(2)], ["diagnosis", "cost"])]
        [None, 'diagnosis', 'cost']
    """
    bound: dict[PrivacyModel, None] = {}
    for model in models:
        faults = model.check(dict.fromkeys(sensitive_columns, ""), sensitive_columns)
        if faults:
            raise PrivacyError(model=model.name, problem=faults[0])
        if model.needs_sensitive and model.column is None:
            for column in sensitive_columns:
                bound[replace(cast(Any, model), column=column)] = None
        else:
            bound[model] = None
    return list(bound)


def from_document(document: Mapping[str, Any]) -> PrivacyModel:
    """Build a model from a schema's or model file's mapping.

    Raises:
        PrivacyError: the model is unknown, or a parameter is unknown, missing or wrong.

    Example:
        >>> from_document({"model": "k-anonymity", "k": 5})
        KAnonymity(k=5)
        >>> from_document({"model": "t-closeness", "parameters": {"t": 0.2}}).to_document()
        {'model': 't-closeness', 't': 0.2, 'distance': 'equal'}
    """
    if not isinstance(document, Mapping):
        raise PrivacyError(model="?", problem="write it as a mapping: {model: k-anonymity, k: 5}")
    name = document.get("model")
    kind = MODELS.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(MODELS)
        raise PrivacyError(model=name, problem=f"no such privacy model; there are {known}")
    given: Mapping[Any, Any] = {key: value for key, value in document.items() if key != "model"}
    if isinstance(given.get("parameters"), Mapping):
        if len(given) > 1:
            raise PrivacyError(
                model=name, problem="write either 'parameters' or each one, not both"
            )
        given = given["parameters"]
    parts = [part for part in fields(cast(Any, kind)) if part.init]
    unknown = sorted(str(key) for key in given if key not in {part.name for part in parts})
    if unknown:
        raise PrivacyError(model=name, problem=f"unknown parameter: {', '.join(unknown)}")
    missing = [p.name for p in parts if p.default is MISSING and p.name not in given]
    if missing:
        raise PrivacyError(model=name, problem=f"missing parameter: {', '.join(missing)}")
    return kind(**given)
