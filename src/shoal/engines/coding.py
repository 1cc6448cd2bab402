"""Columns become codes: from the distinct values of a column to its domain, and back to rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Generic, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core import dates
from shoal.core.errors import InputError, ShoalError, UnknownValueError
from shoal.core.numbers import number_label, number_text
from shoal.engines.proposals import proposed
from shoal.formats.types import check_types, counted_as, holds_dates
from shoal.hierarchies.build import Dates
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Proposals, Role, Schema
from shoal.schema.sensitive import Scale, Values, moment_of
from shoal.table.domain import MISSING_NODE, ROOT, Domain, line_domain, tree_domain

UNSEEN = np.int32(-1)
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
_LEADING_ZERO = re.compile(r"\s*0\d")
ValueT = TypeVar("ValueT", Decimal, datetime, time)


@dataclass(frozen=True)
class Coder:
    """Turns the raw values of one column into the codes of its domain.

    Text columns come dictionary-coded, so a code is one look-up by physical
    index; numbers and dates are found by binary search among the distinct ones.
    """

    domain: Domain
    lookup: NDArray[np.int32]
    keys: NDArray[np.generic] | None
    missing_code: int  # UNSEEN where the column has no missing value
    # Polars forgets which text a physical index stands for as soon as no column uses it,
    # and would number the texts anew in the next pass: so the distinct values stay here.
    keeper: pl.Series
    found: Attribute | None = None  # the column with what was found out of it; None: nothing

    def codes(self, series: pl.Series) -> NDArray[np.int32]:
        """Return int32 codes; every value must have been among the distinct ones."""
        raw = _physical(series)
        nulls = raw.is_null().to_numpy() if raw.null_count() else None
        values = raw.fill_null(strategy="zero").to_numpy()
        if self.keys is None:
            codes = np.take(self.lookup, values, mode="clip")
            if codes.size and values.max() >= len(self.lookup):
                codes[values >= len(self.lookup)] = UNSEEN
        else:
            place = np.searchsorted(self.keys, values).clip(0, len(self.keys) - 1)
            codes = np.where(self.keys[place] != values, UNSEEN, self.lookup[place])
        if nulls is not None:
            codes = np.where(nulls, np.int32(self.missing_code), codes)
        if codes.size and codes.min() < 0:
            raise InputError(
                where=f"column {self.domain.name!r}",
                problem="holds a value that was not there before; did the table change meanwhile?",
            )
        return codes.astype(np.int32, copy=False)


def _physical(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)) or series.dtype.is_temporal():
        return series.to_physical()
    return series


def with_codes(lazy: pl.LazyFrame, columns: Collection[str]) -> pl.LazyFrame:
    """Return the scan with columns as they are counted: texts dictionary-coded, and so on."""
    types = lazy.collect_schema()
    known = {name: counted_as(name, types[name]) for name in columns}
    changes = [change for change in known.values() if change is not None]
    return lazy.with_columns(changes) if changes else lazy


def coder_of(distinct: pl.Series, schema: Schema, name: str) -> Coder:
    """Return what codes a column; a sensitive one is read as whoever judges reads it."""
    attribute = schema.attribute(name)
    if attribute.role is Role.SENSITIVE:
        return code_sensitive(distinct, Scale.of(schema, name, schema.privacy))
    better = proposed(distinct, attribute, schema.proposals)
    if better is not None:
        with suppress(ShoalError):  # not every value is what most of them are
            coder = code_column(distinct, better, marks=schema.missing)
            return replace(coder, found=coder.found or better)
    return code_column(distinct, attribute, marks=schema.missing)


def with_kinds(schema: Schema, domains: Iterable[Domain]) -> Schema:
    """Return the schema with the kinds that were found out of sensitive columns.

    What a release or a model is judged by later is then not guessed anew.
    """
    return schema.with_attributes(d.scale.attribute for d in domains if d.scale is not None)


def with_findings(schema: Schema, coders: Iterable[Coder]) -> Schema:
    """Return the schema with what was found out: kinds, how dates are written, hierarchies."""
    known = list(coders)
    dated = schema.with_attributes(coder.found for coder in known if coder.found is not None)
    found = with_kinds(dated, (coder.domain for coder in known))
    return replace(found, proposals=Proposals.NONE)  # nothing is left to propose


def code_column(distinct: pl.Series, attribute: Attribute, *, marks: Sequence[str]) -> Coder:
    """Build the domain of a column from its distinct values.

    Args:
        distinct: each raw value once (null allowed).
        attribute: what the schema says of the column.
        marks: texts that stand for a missing value, beside the empty text.
    """
    raw = _plain_values(distinct, attribute.name)
    texts = _texts(raw)
    absent = {"", *marks}
    present = [text for text in texts if text.strip() not in absent and text not in absent]
    has_missing = len(present) < len(texts) or distinct.null_count() > 0
    kind = attribute.kind or _guess(present, raw.dtype)
    if kind is Kind.DATE and attribute.date_format is None:
        form = dates.find_form(present, column=attribute.name)
        attribute = replace(attribute, kind=kind, date_format=form)
    domain, code_of = _domain(attribute, kind, present, missing=has_missing)
    domain = replace(domain, distance=attribute.distance, beta=attribute.beta)
    codes = np.array([code_of.get(text, 0) for text in texts], dtype=np.int32).reshape(-1)
    found = None if attribute.date_format is None else replace(attribute, kind=Kind.DATE)
    return replace(_coder(domain, raw, codes, missing=has_missing), found=found)


def _plain_values(distinct: pl.Series, name: str) -> pl.Series:
    raw = distinct.drop_nulls()
    check_types({name: raw.dtype}, [name])
    return raw


def _coder(domain: Domain, raw: pl.Series, codes: NDArray[np.int32], *, missing: bool) -> Coder:
    """Return what finds the code of each raw value. codes: of the values of `raw`."""
    physical = _physical(raw).to_numpy()
    missing_code = 0 if missing else int(UNSEEN)
    if isinstance(raw.dtype, (pl.Categorical, pl.Enum)):
        lookup = np.full(int(physical.max()) + 1 if len(physical) else 1, UNSEEN)
        lookup[physical] = codes
        return Coder(domain, lookup, None, missing_code, raw)
    order = np.argsort(physical, kind="stable")
    if not len(order):
        return Coder(domain, np.full(1, UNSEEN), np.zeros(1), missing_code, raw)
    return Coder(domain, codes[order], physical[order], missing_code, raw)


def code_sensitive(distinct: pl.Series, scale: Scale) -> Coder:
    """Build the domain of a sensitive column from its distinct values.

    Args:
        distinct: each raw value once (null allowed).
        scale: what its values are, and how they are ordered.

    Guarantee:
        Codes are the places of the values on the scale, as whoever judges sees them.
    """
    raw = _plain_values(distinct, scale.attribute.name)
    scale = scale.declared(Kind.DATE) if holds_dates(raw.dtype) else scale
    texts = [scale.text(text) for text in _texts(raw)]
    scale = scale.dated(texts)
    found = scale.read([*texts, *[None] * min(distinct.null_count(), 1)])
    domain = replace(_sensitive_domain(scale, found), scale=scale.declared(found.kind))
    codes = np.array([found.place[text] for text in texts], dtype=np.int32).reshape(-1)
    return _coder(domain, raw, codes, missing=None in found.place)


def _sensitive_domain(scale: Scale, found: Values) -> Domain:
    """Return the places of a sensitive column as a domain: on a line, or in a tree."""
    name, weight = scale.attribute.name, scale.attribute.weight
    kind = found.kind or Kind.CATEGORICAL
    present = [label for label in found.labels if label is not None]
    missing = len(found.labels) - len(present)
    if kind is Kind.CATEGORICAL and present:
        root = ROOT
        while root in present:  # a value may itself be called *
            root += "*"
        tree = found.tree or Hierarchy.flat(name, present, root=root)
        full = tree.with_missing(MISSING_NODE) if missing else tree
        own = found.nodes[missing:] if found.tree else range(len(present))
        nodes = (*[0] * missing, *(node + missing for node in own))
        places = np.array(nodes, dtype=np.float64)
        return Domain(
            name=name, kind=kind, labels=found.labels, position=places, tree=full, ladder=full,
            weight=weight, node=nodes,
        )  # fmt: skip
    position = [math.nan] * missing + [_place(kind, i, text) for i, text in enumerate(present)]
    domain = line_domain(name, kind, found.labels, position, weight=weight)
    if found.tree is None:
        return domain
    ladder = found.tree.with_missing(MISSING_NODE) if missing else found.tree
    nodes = (*[0] * missing, *(node + missing for node in found.nodes[missing:]))
    return replace(domain, ladder=ladder, node=nodes)


def _place(kind: Kind, rank: int, label: str) -> float:
    if kind is Kind.NUMERIC:
        return float(label)
    moment = moment_of(label) if kind is Kind.DATE else None
    return float(rank) if moment is None else _moment_place(moment.replace(tzinfo=None))


def _texts(values: pl.Series) -> list[str]:
    if values.dtype == pl.Float32:  # its own shortest digits: 0.1, not 0.10000000149011612
        return [number_text(float(str(value))) for value in values.to_numpy()]
    if values.dtype.is_float():
        return [number_text(float(value)) for value in values]
    if values.dtype in (pl.Date, pl.Time):
        return [value.isoformat() for value in values]
    if isinstance(values.dtype, pl.Datetime):
        return [value.isoformat(sep=" ") for value in values]
    return values.cast(pl.String).to_list()


def _guess(texts: Sequence[str], dtype: pl.DataType) -> Kind:
    """Numbers without leading zeros are numeric; codes such as 01234 are categories."""
    if dtype.is_temporal():
        return Kind.DATE
    numbers = all(_NUMBER.fullmatch(t) and not _LEADING_ZERO.match(t) for t in texts)
    return Kind.NUMERIC if numbers and texts else Kind.CATEGORICAL


def _domain(
    attribute: Attribute, kind: Kind, texts: list[str], *, missing: bool
) -> tuple[Domain, dict[str, int]]:
    """Return the domain and the code of each text."""
    if kind is Kind.NUMERIC:
        return _line(attribute, kind, texts, missing=missing, form=_NUMBERS)
    if kind is Kind.DATE:
        if texts and all(map(_is_clock, texts)):
            return _line(attribute, kind, texts, missing=missing, form=_CLOCKS)
        moments = _moments(attribute.date_format, attribute.dates)
        return _line(attribute, kind, texts, missing=missing, form=moments)
    if kind is Kind.ORDINAL and attribute.order:
        return _ordinal(attribute, texts, missing=missing)
    if not texts:  # nothing but missing values: a line with one place
        return line_domain(attribute.name, kind, [None], [math.nan], weight=attribute.weight), {}
    tree = _tree(attribute, texts)
    labels = {text: _label_in(tree, text) for text in texts}
    unknown = sum(1 for label in labels.values() if label is None)
    if unknown:
        raise UnknownValueError(column=attribute.name, unknown=unknown, total=len(texts))
    distinct = sorted({str(label) for label in labels.values()})
    if kind is Kind.ORDINAL:
        ordered = sorted(distinct, key=tree.index)
        return _in_order(attribute, ordered, {t: str(v) for t, v in labels.items()}, missing)
    domain = tree_domain(
        attribute.name, kind, distinct, tree, missing=missing, weight=attribute.weight
    )
    code = {label: i for i, label in enumerate(domain.labels)}
    return domain, {text: code[label] for text, label in labels.items()}


def _tree(attribute: Attribute, texts: Sequence[str]) -> Hierarchy:
    if attribute.hierarchy is None:
        root = ROOT
        while root in texts:  # a value may itself be called *
            root += "*"
        return Hierarchy.flat(attribute.name, sorted(texts), root=root)
    if isinstance(attribute.hierarchy, Hierarchy):
        return attribute.hierarchy
    return attribute.hierarchy.build(attribute.name, sorted(texts))


def _label_in(tree: Hierarchy, text: str) -> str | None:
    if text in tree:
        return text
    return text.strip() if text.strip() in tree else None


@dataclass(frozen=True)
class _Form(Generic[ValueT]):
    """How the texts of a line are read, written and placed."""

    parse: Callable[[str], ValueT | None]
    text: Callable[[ValueT], str]
    place: Callable[[ValueT], float]
    wanted: str

    def read(self, texts: Sequence[str]) -> tuple[dict[str, ValueT], str | None]:
        """Return the value of each text, and what is wrong with the column; None: nothing."""
        read = {raw: self.parse(raw) for raw in texts}
        values = {raw: value for raw, value in read.items() if value is not None}
        wrong = len(read) - len(values)
        if wrong:
            return values, f"{wrong} of {len(texts)} distinct values are not {self.wanted}"
        return values, None


class _Moments(_Form[datetime]):
    """Dates and times, all of one zone, which is then left out."""

    def read(self, texts: Sequence[str]) -> tuple[dict[str, datetime], str | None]:
        values, problem = super().read(texts)
        problem = problem or _mixed_zones(values.values())
        return {raw: moment.replace(tzinfo=None) for raw, moment in values.items()}, problem


def _line(
    attribute: Attribute, kind: Kind, texts: list[str], *, missing: bool, form: _Form[ValueT]
) -> tuple[Domain, dict[str, int]]:
    values, problem = form.read(texts)
    if problem is not None:
        how = "say how they are written (date_format: or --date-format), " * (kind is Kind.DATE)
        raise InputError(
            where=f"column {attribute.name!r}",
            problem=(
                f"{problem}. Mend them, {how}name the marks of missing values "
                "(missing: or --missing), or declare it categorical"
            ),
        )
    ordered = sorted(set(values.values()))
    rank = {value: i + missing for i, value in enumerate(ordered)}
    labels: list[str | None] = [form.text(value) for value in ordered]
    position = [form.place(value) for value in ordered]
    if missing:
        labels.insert(0, None)
        position.insert(0, math.nan)
    domain = line_domain(
        attribute.name, kind, labels, position,
        ladder=_ladder(attribute, [str(label) for label in labels if label is not None], missing),
        weight=attribute.weight,
    )  # fmt: skip
    return domain, {raw: rank[value] for raw, value in values.items()}


def _ladder(attribute: Attribute, labels: Sequence[str], missing: bool) -> Hierarchy | None:
    """Return the hierarchy whose levels full-domain recoding may use on a line."""
    hierarchy = attribute.hierarchy
    if hierarchy is None or not labels:
        return None
    if isinstance(hierarchy, Dates) and attribute.date_format is not None:
        hierarchy = replace(hierarchy, date_format=attribute.date_format)
    tree = (
        hierarchy if isinstance(hierarchy, Hierarchy) else hierarchy.build(attribute.name, labels)
    )
    return tree.with_missing(MISSING_NODE) if missing else tree


def _ordinal(
    attribute: Attribute, texts: list[str], *, missing: bool
) -> tuple[Domain, dict[str, int]]:
    known = set(attribute.order)
    value_of = {t: t if t in known else t.strip() if t.strip() in known else None for t in texts}
    unknown = sum(1 for value in value_of.values() if value is None)
    if unknown:
        raise UnknownValueError(column=attribute.name, unknown=unknown, total=len(texts))
    return _in_order(attribute, attribute.order, {t: str(v) for t, v in value_of.items()}, missing)


def _in_order(
    attribute: Attribute, ordered: Sequence[str], value_of: dict[str, str], missing: bool
) -> tuple[Domain, dict[str, int]]:
    rank = {value: i + missing for i, value in enumerate(ordered)}
    labels: list[str | None] = list(ordered)
    position = [float(i) for i in range(len(ordered))]
    if missing:
        labels.insert(0, None)
        position.insert(0, math.nan)
    domain = line_domain(
        attribute.name, Kind.ORDINAL, labels, position,
        ladder=_ladder(attribute, list(ordered), missing), weight=attribute.weight,
    )  # fmt: skip
    return domain, {text: rank[value] for text, value in value_of.items()}


def _number(text: str) -> Decimal | None:
    """Return a number exactly: a float would merge 9007199254740993 with its neighbour."""
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text.strip())
    if not value.is_finite() or not math.isfinite(float(value)):
        return None
    return value if value else Decimal(0)  # no sum: a context rounds to 28 digits


def _number_text(value: Decimal) -> str:
    short = number_text(float(value))
    if Decimal(short) == value:
        return short
    return number_label(str(value)) or str(value)  # 1.50 and 1.5 are written alike


def _moments(form: str | None, written: str) -> _Moments:
    """Return the form of dates: how they are read, and how they are released."""
    label = form if written == "same" else None
    wanted = f"dates such as {dates.moment_text(datetime(2024, 3, 17), form)}"
    return _Moments(
        lambda text: dates.moment_of(text, form),
        lambda moment: dates.moment_text(moment, label),
        _moment_place,
        wanted,
    )


def _mixed_zones(moments: Collection[datetime]) -> str | None:
    """Say what is wrong with the zones of a column; None: nothing.

    A moment is released as the local time that it shows: a date never becomes the day
    before. Summer time moves a zone by an hour at most; more than that is another zone.
    """
    shifts = {moment.utcoffset() for moment in moments}
    known = [shift for shift in shifts if shift is not None]
    if known and len(known) < len(shifts):
        return "some times have a zone and some have none"
    if known and max(known) - min(known) > timedelta(hours=1):
        return "the times are of different zones; bring them to one zone"
    return None


def _is_clock(text: str) -> bool:
    return text.strip()[2:3] == ":"


def _clock(text: str) -> time | None:
    """Return a time of day."""
    try:
        return time.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


def _clock_place(clock: time) -> float:
    """Return the share of the day that has passed."""
    return (datetime.combine(datetime.min, clock) - datetime.min) / timedelta(days=1)


def _moment_place(moment: datetime) -> float:
    """Return the days since year 1, the time of day as a fraction."""
    midnight = datetime.combine(moment.date(), time.min)
    return moment.toordinal() + (moment - midnight) / timedelta(days=1)


_NUMBERS = _Form(_number, _number_text, float, "numbers")
_CLOCKS = _Form(_clock, time.isoformat, _clock_place, "times such as 13:45")
