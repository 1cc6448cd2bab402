"""What a sensitive value is, and how a sensitive column is ordered: one definition for all.

Learning, every verifier, `encode --safe` and the devices count sensitive values and measure
along their order. They share these lines and nothing else, so that none of them can see
another column than the others do.

A text is read in two steps. It is trimmed and put into Unicode NFC; a mark of a missing value
becomes None. Then it is placed on the column's scale, which is, in this order of precedence,

    a declared order      its place in it
    kind numeric          the number, exactly: 1, 1.0 and 01 are one value
    kind date             the moment, in UTC where it has a zone
    a hierarchy           the node that it is; nodes stand in post-order
    nothing               the text

A column whose kind nobody declared holds numbers, texts, or both; numbers equal each other as
numbers (01234 is a code, no number). The scale is strict: what does not fit it is refused, and
so is a mixture that would have to be ordered. A hierarchy beside numbers, dates or an order is
what the hierarchical distance climbs, and nothing else.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import TypeVar, cast

from shoal.core.dates import find_form
from shoal.core.errors import InputError, ShoalError, UnknownValueError
from shoal.core.keys import iso_of, number_key
from shoal.core.numbers import number_label
from shoal.core.spreadsheet import unguarded
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import Promise, Reference
from shoal.schema.schema import Attribute, Kind, Schema

ModelT = TypeVar("ModelT", bound=Promise)

# White space, and what no eye sees at the end of a cell: byte order mark, zero-width characters.
EDGES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\ufeff\u200b\u200c\u200d\u2060\u200e\u200f"
)
_ACCENTS = 200  # combining classes from here on: not the marks that make another letter


def normal(text: str) -> str:
    r"""Return a text as it is compared: trimmed, in NFC, without a spreadsheet's apostrophe.

    Example:
        >>> normal(" HIV\u00a0"), normal("'+")
        ('HIV', '+')
    """
    plain = text.strip()
    if not text.isascii():
        plain = unicodedata.normalize("NFC", text.strip(EDGES)).strip(EDGES)
    # A release may be --spreadsheet-safe: '+ is the value + there.
    bare = unguarded(plain)
    return plain if bare == plain else normal(bare)


def folded(text: str) -> str:
    """Return a text without case, accents and spaces.

    Example:
        >>> folded("Crohn  Décomposé") == folded("crohn decompose")
        True
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = "".join(
        each
        for each in plain
        if unicodedata.combining(each) < _ACCENTS and not each.isspace() and each not in EDGES
    )
    return unicodedata.normalize("NFC", kept)


def moment_of(text: str, form: str | None = None) -> datetime | None:
    """Return a date, with its time of day or without; one with a zone is moved to UTC.

    form: how it is written, if not as an ISO date.

    A time of day alone, such as 13:45, is on the first of all days.
    """
    text = (None if form is None else iso_of(text, form)) or text
    try:
        if text[2:3] == ":":
            return datetime.combine(date.min, time.fromisoformat(text).replace(tzinfo=None))
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def moment_label(moment: datetime) -> str:
    """Return the one way in which a moment is written."""
    if moment.date() == date.min:
        return moment.time().isoformat()
    if moment.tzinfo is None and moment.time() == time.min:
        return moment.date().isoformat()
    return moment.isoformat(sep=" ")


@dataclass(frozen=True, slots=True)
class Scale:
    """How the values of one sensitive column are read and ordered.

    Attributes:
        marks: what stands for a missing value.
        fold: join values that differ only by case, accents or spaces.
        is_ordered: the promise measures along the order.
        is_climbed: the promise measures by the hierarchy.
    """

    attribute: Attribute
    marks: frozenset[str] = frozenset()
    fold: bool = False
    is_ordered: bool = False
    is_climbed: bool = False

    @classmethod
    def of(cls, schema: Schema, column: str, models: Iterable[Promise]) -> Scale:
        """Return the scale of a column under a promise."""
        asked = [model for model in models if model.column in (None, column)]
        plain = cls(schema.attribute(column), fold=schema.fold_case)
        return replace(
            plain,
            marks=frozenset(plain._plain(mark) for mark in ("", *schema.missing)),
            is_ordered=any(model.reads_order for model in asked),
            is_climbed=any(model.reads_hierarchy for model in asked),
        )

    def declared(self, kind: Kind | None) -> Scale:
        """Return the scale with the kind that was found out, where nobody declared one."""
        if kind is None or self.attribute.kind is not None:
            return self
        return replace(self, attribute=replace(self.attribute, kind=kind))

    def dated(self, texts: Iterable[str | None]) -> Scale:
        """Return the scale with the form in which these dates are written, if none is declared.

        Raises:
            InputError: day and month of every date could be swapped.
        """
        if self.attribute.kind is not Kind.DATE or self.attribute.date_format is not None:
            return self
        present = [text for text in texts if text is not None]
        form = find_form(present, column=self.attribute.name)
        return replace(self, attribute=replace(self.attribute, date_format=form))

    def text(self, value: object) -> str | None:
        """Return a value as it is counted; None is the missing one."""
        if value is None:
            return None
        plain = self._plain(str(value).lower() if isinstance(value, bool) else str(value))
        return None if plain in self.marks else plain

    def _plain(self, text: str) -> str:
        plain = normal(text)
        if not (self.fold and self._is_text):
            return plain
        short = folded(plain)
        # Where nobody declared a kind, folding makes no number of what is none: "1 000".
        is_number = self.attribute.kind is None and number_label(short) is not None
        return plain if is_number else short

    @property
    def _is_text(self) -> bool:
        return self.attribute.kind not in (Kind.NUMERIC, Kind.DATE)

    def label(self, text: str) -> str | None:
        """Return the one text that stands for a value; None if it is not on the scale."""
        if self.attribute.order:
            return text if text in self._steps else None
        if self.attribute.kind is Kind.NUMERIC:
            return number_label(text)
        if self.attribute.kind is Kind.DATE:
            moment = moment_of(text, self.attribute.date_format)
            return None if moment is None else moment_label(moment)
        if self.attribute.kind is None:
            return _free_number(text) or text
        return text

    @property
    def _steps(self) -> dict[str, int]:
        """Return the declared order: a place for each of its values."""
        texts = [self._plain(step) for step in self.attribute.order]
        return {text: place for place, text in enumerate(dict.fromkeys(texts))}

    def named(self, model: ModelT) -> ModelT:
        """Return a model whose named values are those of the scale, as they are counted."""
        given: Sequence[str] = getattr(model, "values", None) or ()
        texts = [text for value in given if (text := self.text(value)) is not None]
        labels = [label for text in texts if (label := self.label(text)) is not None]
        return replace(model, values=tuple(labels)) if labels else model

    def read(self, texts: Iterable[str | None]) -> Values:
        """Place the values of a column, as `text` returned them, on its scale.

        Raises:
            InputError: values that do not fit the scale.
            UnknownValueError: values that a hierarchy which is needed does not know.
        """
        return _read(self, frozenset(texts))


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a sensitive column, in their order; the missing one, if any, is first.

    Attributes:
        kind: the column's; None where it holds numbers and texts.
        labels: what each place stands for; None is the missing value.
        place: the place of every text that was read.
        tree: the hierarchy, where the column has one that knows all of its values.
        nodes: the tree's node of each place; -1 for the missing value.
        alike: how many values differ from another one only by case, accents or spaces.
    """

    kind: Kind | None
    labels: tuple[str | None, ...]
    place: Mapping[str | None, int]
    tree: Hierarchy | None
    nodes: tuple[int, ...]
    alike: int

    def reference(self, counts: Sequence[int], *, persons: int | None = None) -> Reference:
        """Return the column in the whole table: records, or persons, at each place."""
        if self.tree is None and any(label is not None for label in self.labels):
            return Reference(counts, values=self.labels, persons=persons)
        return Reference(
            counts,
            persons=persons,
            values=self.labels,
            parents=(-1,) if self.tree is None else self.tree.parents,
            heights=(0,) if self.tree is None else self.tree.heights,
            node_of_value=self.nodes,
        )

    def totals(self, counted: Mapping[str | None, int]) -> list[int]:
        """Return the records at each place, from records by text."""
        found = [0] * len(self.labels)
        for text, records in counted.items():
            found[self.place[text]] += records
        return found


def notices(columns: Mapping[str, Values]) -> tuple[str, ...]:
    """Say how many values of each column may be spellings of one."""
    return tuple(
        f"{values.alike:,} values of column {name!r} differ from another one only by case, accents "
        "or spaces, and are counted as different values; --fold-case joins them"
        for name, values in columns.items()
        if values.alike
    )


def _free_number(text: str) -> str | None:
    """Return the number in a column of no declared kind; 01234 is a code."""
    if text[:1] == "0" and text[1:2].isdigit():
        return None
    return number_label(text)


@lru_cache(maxsize=8)  # while a batch is repaired, the same values are read in every round
def _read(scale: Scale, texts: frozenset[str | None]) -> Values:
    present = sorted(text for text in texts if text is not None)
    scale = scale.dated(present)
    label_of = _labels(scale, present)
    kind = _kind(scale, present)
    labels = _sorted(scale, kind, set(label_of.values()))
    tree, nodes = _tree(scale, kind, labels)
    if tree is not None and _is_by_tree(scale, kind):
        pairs = sorted(zip(nodes, labels, strict=True))
        nodes, labels = [node for node, _ in pairs], [label for _, label in pairs]
    shift = 1 if None in texts else 0
    rank = {label: place + shift for place, label in enumerate(labels)}
    place: dict[str | None, int] = {text: rank[label] for text, label in label_of.items()}
    if shift:
        place[None] = 0
    return Values(
        kind=kind,
        labels=(*[None] * shift, *labels),
        place=place,
        tree=tree,
        nodes=(*[-1] * shift, *nodes) if tree is not None else (-1,) * (len(labels) + shift),
        alike=0 if scale.fold or scale.attribute.order else _alike(scale, label_of.values()),
    )


def _labels(scale: Scale, present: Sequence[str]) -> dict[str, str]:
    found = {text: scale.label(text) for text in present}
    known = {text: label for text, label in found.items() if label is not None}
    if len(known) < len(found):
        raise _misfit(scale, len(found) - len(known), len(found))
    return known


def _kind(scale: Scale, present: Sequence[str]) -> Kind | None:
    """Return the kind that was declared, or that every value has; None: it is mixed."""
    if scale.attribute.kind is not None or not present:
        return scale.attribute.kind
    numbers = sum(_free_number(text) is not None for text in present)
    if numbers in (0, len(present)):
        return Kind.NUMERIC if numbers else Kind.CATEGORICAL
    if scale.is_ordered:
        raise _mixed(scale, numbers, len(present))
    return None


def _alike(scale: Scale, labels: Iterable[str]) -> int:
    if not scale._is_text:
        return 0
    texts = [label for label in set(labels) if scale.attribute.kind or _free_number(label) is None]
    sizes = Counter(map(folded, texts))
    return sum(size for size in sizes.values() if size > 1)


def _sorted(scale: Scale, kind: Kind | None, labels: set[str]) -> list[str]:
    """Return the values in their order, but for what only a hierarchy can order."""
    if scale.attribute.order:  # it is the whole scale, whether or not each step of it occurs
        return list(scale._steps)
    if kind is Kind.NUMERIC:
        return sorted(labels, key=lambda label: number_key(label) or ())
    if kind is Kind.DATE:
        moments = {label: cast(datetime, moment_of(label)) for label in labels}
        if len({moment.tzinfo is None for moment in moments.values()}) > 1:
            raise _fault(scale, "some times have a zone and some have none")
        if len({moment.date() == date.min for moment in moments.values()}) > 1:
            raise _fault(scale, "some values are dates and some are times of day")
        return sorted(labels, key=lambda label: moments[label])
    return sorted(labels)


def _is_by_tree(scale: Scale, kind: Kind | None) -> bool:
    return not scale.attribute.order and kind not in (Kind.NUMERIC, Kind.DATE)


def _tree(
    scale: Scale, kind: Kind | None, labels: Sequence[str]
) -> tuple[Hierarchy | None, list[int]]:
    """Return the column's hierarchy and the node of each value.

    One that is only described is built for these values. One that nothing asks for need not
    know them all.

    Raises:
        UnknownValueError, HierarchyError: it is needed, and does not fit the values.
    """
    about = scale.attribute.hierarchy
    if about is None or not labels:
        return None, []
    by_tree = _is_by_tree(scale, kind)
    needed = scale.is_climbed or (by_tree and (scale.is_ordered or kind is Kind.ORDINAL))
    try:
        tree = (
            about
            if isinstance(about, Hierarchy)
            else about.build(scale.attribute.name, sorted(labels))
        )
    except ShoalError:
        if needed:
            raise
        return None, []
    known = _nodes(scale, kind, tree)
    nodes = [known.get(label) for label in labels]
    unknown = nodes.count(None)
    if unknown and needed:
        raise UnknownValueError(column=scale.attribute.name, unknown=unknown, total=len(labels))
    if unknown:
        return None, []
    return tree, [cast(int, node) for node in nodes]


def _nodes(scale: Scale, kind: Kind | None, tree: Hierarchy) -> dict[Hashable, int]:
    """Return the node of each value that a hierarchy names; of two that are one, the first."""
    own = scale.declared(kind)
    found: dict[Hashable, int] = {}
    for node, name in enumerate(tree.labels):
        text = scale.text(name)
        label = None if text is None else own.label(text)
        if label is not None:
            found.setdefault(label, node)
    return found


def _fault(scale: Scale, problem: str) -> InputError:
    return InputError(
        where=f"column {scale.attribute.name!r}",
        problem=(
            f"{problem}. Mend them, name the marks of missing values (missing: or --missing), "
            "or declare another kind (kind: or --categorical)"
        ),
    )


def _misfit(scale: Scale, strays: int, total: int) -> InputError:
    if scale.attribute.order:
        wanted = "in the declared order"
    elif scale.attribute.kind is Kind.DATE:
        wanted = "dates such as 2024-03-17"
    else:
        wanted = "numbers"
    return _fault(scale, f"{strays} of {total} distinct values are not {wanted}")


def _mixed(scale: Scale, numbers: int, total: int) -> InputError:
    return InputError(
        where=f"column {scale.attribute.name!r}",
        problem=(
            f"{total - numbers} of {total} distinct values are no numbers and the others are, so "
            "that the column has no order to measure along. Name the marks of missing values "
            "(missing: or --missing), or declare its kind (kind:, --numeric or --categorical)"
        ),
    )
