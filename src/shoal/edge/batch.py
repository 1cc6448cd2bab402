"""Batches of plain records: encode safely, verify, measure. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from shoal.core.errors import SchemaError
from shoal.core.keys import date_key, number_key
from shoal.edge.fast import FastEncoder
from shoal.edge.loading import ModelSource, document_of
from shoal.edge.stream import EncodeReport
from shoal.model.batch import Histogram, Judge, ReleasedTuple, Texts, assign_classes, persons_of
from shoal.model.column import Rejected, text_of
from shoal.model.document_types import Cell, ColumnDocument, ModelDocument, Plan, Record, Released
from shoal.model.joining import extents_of, join_failing, order_of
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.safe import for_safe
from shoal.model.sets import SetEncoder
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.persons import (
    FILL,
    SHUFFLE,
    leaves_nobody_out,
    person_text,
    why_empty,
    why_ordered,
)
from shoal.schema.schema import Schema


def encode_safe(
    records: Iterable[Record],
    model: ModelSource,
    *,
    on_unseen: str | None = None,
    suppressed: str = "remove",
    schema: Schema | None = None,
    privacy: Iterable[Promise] | None = None,
    person: str | Sequence[str] | None = None,
    waive: Collection[str] = (),
) -> tuple[list[Released], EncodeReport]:
    """Encode a batch and suppress what would break the promise within it.

    Args:
        records: plain dicts.
        model: a path, a document or a model.
        on_unseen: suppress, nearest or error; None: what the model declares.
        suppressed: "remove", or "star": suppressed records are released with every
            quasi-identifier as the root, if they keep the promise as a class.
        schema: what is known of the columns; a model that protects one less is refused, and
            the schema's promise is kept beside the model's.
        privacy: what is promised beside the model's promise, or more strictly.
        person: the columns that say who a record is about, so that persons are counted, not
            records; None: those of the model, if it has any. They are not released.
        waive: person columns whose records of nobody are meant, beside those that the model or
            the schema waives.

    Guarantee:
        The classes of what is returned keep the promise; the order is kept.

    Returns:
        The released records, and what was done.

    Raises:
        Rejected: a record that cannot be encoded, or that no class covers where
            `on_unseen` is "error".
        ModelFormatError, PrivacyError, SchemaError: the model has no fingerprint or no promise,
            or releases what the schema protects; or a promise about sensitive values leaves
            records of nobody out, and they were not waived.
        InputError: sensitive values that do not fit their column's scale.
    """
    document = document_of(model)
    encoder = SetEncoder(document, on_unseen, suppressed)
    known = for_safe(_known(model, document), schema=schema, privacy=privacy)
    if person is not None:
        known = replace(known, schema=known.schema.with_person(_names(person)))
    who = PersonKey(known.schema)
    judge = Judge.of(known.schema, known.privacy)
    rows = list(records)
    number: dict[tuple[str | None, ...], int] = {}
    histograms: list[Counter[Texts]] = []
    place = []
    persons: list[str | None] = []
    for row in rows:
        behind = who.of(row)
        persons += behind
        at = number.setdefault(tuple(map(text_of, encoder.values(row))), len(number))
        if at == len(histograms):
            histograms.append(Counter())
        histograms[at][(*judge.texts(row.get(n) for n in judge.columns), *behind)] += 1
        place.append(at)
    who.check(histograms, known.privacy, (*waive, *(() if schema is None else schema.waive)))
    warnings = (*judge.check(columns_of(histograms, judge)), *who.ordered(persons))
    report = EncodeReport(warnings=warnings)
    tuples = list(number)
    if known.tree is None:
        assigned = assign_classes(encoder, tuples, histograms, judge=judge)
    else:
        assigned = _joined(encoder, known, tuples, histograms, judge)
    starred = suppressed == "star" and _star_holds(encoder, assigned, histograms, judge=judge)
    unseen = [encoder.find(values) < 0 for values in tuples]
    released = []
    for row, at in zip(rows, place, strict=True):
        labels = assigned[at]
        report.records += 1
        report.unseen += unseen[at]
        report.suppressed += labels is None
        if labels is not None or starred:
            released.append(encoder.with_labels(row, encoder.roots if labels is None else labels))
    report.released = len(released)
    return released, report


def _joined(
    encoder: SetEncoder,
    known: RecodingModel,
    tuples: Sequence[Sequence[object]],
    histograms: Sequence[Histogram],
    judge: Judge,
) -> list[ReleasedTuple | None]:
    """Return what tuples are released as where classes that fail are joined with a neighbour."""
    classes: dict[ReleasedTuple, Counter[Texts]] = {}
    place: list[ReleasedTuple | None] = []
    for values, histogram in zip(tuples, histograms, strict=True):
        labels, _ = encoder.tuple_of(values)
        place.append(None if labels is None else tuple(labels))
        if labels is not None:
            classes.setdefault(tuple(labels), Counter()).update(histogram)
    answer = join_failing(classes, extents_of(known, encoder), order_of(known), judge)
    return [None if key is None else answer[key] for key in place]


def _known(model: ModelSource, document: ModelDocument) -> RecodingModel:
    """Return the model itself; a document made of it would always have a fingerprint."""
    return model if isinstance(model, RecodingModel) else RecodingModel.from_document(document)


def _star_holds(
    encoder: Encoder,
    assigned: Sequence[ReleasedTuple | None],
    histograms: Sequence[Histogram],
    *,
    judge: Judge,
) -> bool:
    """Say whether the suppressed records, all released as the root, keep the promise too."""
    classes: dict[ReleasedTuple, Counter[Texts]] = {}
    roots: ReleasedTuple = tuple(encoder.roots)
    for key, histogram in zip(assigned, histograms, strict=True):
        classes.setdefault(roots if key is None else key, Counter()).update(histogram)
    return not judge.failing(classes)


class PersonKey:
    """Who a record is about; nothing where records are counted."""

    def __init__(self, schema: Schema) -> None:
        self.names = schema.person
        self.missing = frozenset(schema.missing)
        self.waived = schema.waive

    def of(self, row: Record) -> Texts:
        """Return the person as a judge reads it, or None for nobody: one entry, or none."""
        if not self.names:
            return ()
        if any(name not in row for name in self.names):
            raise Rejected("a column that says who the record is about is not there")
        parts = [person_text(text_of(row[name]) or "", self.missing) for name in self.names]
        known = [part for part in parts if part is not None]
        # Behind a mark, so that no value can pass for anything but a person.
        return (None if len(known) < len(parts) else "=" + "\x1f".join(known),)

    def check(
        self, classes: Iterable[Histogram], promise: Iterable[Promise], waived: Iterable[str]
    ) -> None:
        """Refuse records of nobody where a promise about sensitive values leaves them out.

        Raises:
            SchemaError: there are some, and they were not waived.
        """
        if not leaves_nobody_out(promise) or {*self.names} & {*waived, *self.waived}:
            return
        times: Counter[bool] = Counter()
        for histogram in classes if self.names else ():
            for texts, records in histogram.items():
                times[texts[-1] is None] += records
        if not times[True]:
            return
        name = self.names[0].lstrip("\x00")
        why = why_empty(times[True], times.total())
        text = f"column {name!r} names nobody in some records: {why}. {FILL}; if it is meant: "
        raise SchemaError(where="records", faults=[f"{text}waive=[{name!r}]"])

    def ordered(self, persons: Sequence[str | None]) -> tuple[str, ...]:
        """Warn of records that stand beside others of the same person."""
        why = why_ordered(persons)
        if why is None:
            return ()
        return (f"column {self.names[0]!r} is told by the order of the records: {why}. {SHUFFLE}",)


def _names(person: str | Sequence[str]) -> tuple[str, ...]:
    return (person,) if isinstance(person, str) else tuple(person)


def verify(
    records: Iterable[Record],
    model: ModelSource,
    *,
    persons: Iterable[object] | None = None,
    waive: Collection[str] = (),
) -> Verification:
    """Judge released records by a model's promise, as they are written.

    persons: who each record is about, in their order; persons are then counted, not records.
        None, where the model counts persons: the records themselves have its columns.
    waive: person columns whose records of nobody are meant, beside those that the model waives.

    Raises:
        ModelFormatError, PrivacyError: the model has no fingerprint, or no promise.
        SchemaError: the promise holds, and leaves records of nobody out.
        Rejected: a quasi-identifier is not there, or there is no record.
        InputError: sensitive values that do not fit their column's scale.
    """
    known = for_safe(_known(model, document_of(model)))
    if persons is not None:
        known = replace(known, schema=known.schema.with_person([_BESIDE]))
        records = _beside(records, persons)
    who = PersonKey(known.schema)
    judge = Judge.of(known.schema, known.privacy)
    classes: dict[ReleasedTuple, Counter[Texts]] = {}
    for row in records:
        try:
            key = tuple(None if row[n] in (None, "") else str(row[n]) for n in known.schema.quasi)
        except KeyError:
            raise Rejected("a quasi-identifier is not there") from None
        histogram = classes.setdefault(key, Counter())
        histogram[(*judge.texts(row.get(name) for name in judge.columns), *who.of(row))] += 1
    if not classes:
        raise Rejected("there is no record")
    sizes = {key: sum(histogram.values()) for key, histogram in classes.items()}
    people = {key: persons_of(each) for key, each in classes.items()} if judge.persons else sizes
    warnings = judge.check(columns_of(classes.values(), judge))
    verdicts, failed = judge.verdicts(classes)
    if not failed:
        who.check(classes.values(), known.privacy, waive)
    return Verification(
        records=sum(sizes.values()),
        classes=len(classes),
        smallest_class=min(people.values()),
        persons=len({t[-1] for each in classes.values() for t in each} - {None})
        if judge.persons
        else None,
        violating_records=sum(sizes[key] for key in failed),
        privacy=tuple(verdicts),
        warnings=warnings,
    )


_BESIDE = "\x00person"


def _beside(records: Iterable[Record], persons: Iterable[object]) -> Iterator[Record]:
    """Yield records with who they are about beside their columns."""
    try:
        for row, person in zip(records, persons, strict=True):
            yield {**row, _BESIDE: person}
    except ValueError:
        raise Rejected("there are not as many persons as records") from None


def columns_of(histograms: Iterable[Histogram], judge: Judge) -> list[set[str | None]]:
    """Return the values of each sensitive column."""
    found: list[set[str | None]] = [set() for _ in judge.columns]
    for histogram in histograms:
        for texts in histogram:
            for values, text in zip(found, texts, strict=False):  # a person may stand last
                values.add(text)
    return found


def metrics(
    records: Iterable[Record], model: ModelSource, *, on_unseen: str | None = None
) -> dict[str, object]:
    """Say what encoding original records with a model costs.

    Returns:
        Counts, and `ncp`: the mean share of a cell's information that is lost, by the
        widths that stand in the model; a suppressed record counts fully.
    """
    document = document_of(model)
    encoder = FastEncoder(document, on_unseen)
    costs = _costs(document, encoder)
    report = EncodeReport()
    lost = 0.0
    sizes: Counter[int] = Counter()
    for row in records:
        report.records += 1
        values = encoder.values(row)
        region = encoder.find(values)
        if region >= 0:
            report.released += 1
            sizes[region] += 1
            lost += sum(c[i] for c, i in zip(costs, encoder.region(region), strict=True))
            continue
        report.unseen += 1
        report.suppressed += 1
        lost += len(encoder.names)
    cells = report.records * len(encoder.names)
    return {
        **report.to_document(),
        "classes": len(sizes),
        "smallest_class": min(sizes.values(), default=0),
        "ncp": lost / cells if cells else 0.0,
    }


def _costs(document: ModelDocument, encoder: Encoder) -> list[list[float]]:
    """Return the share that each cell loses, by column."""
    if "tree" in document:  # a cell is a label and its cuts: what it loses is in the label
        model = RecodingModel.from_document(document)
        return [
            [extents.cost(extents.read(label)) for label in labels]
            for extents, labels in zip(extents_of(model, encoder), encoder.labels, strict=True)
        ]
    columns = zip(document["columns"], encoder.plans, strict=True)
    return [_column_costs(column, plan) for column, plan in columns]


def _column_costs(column: ColumnDocument, plan: Plan) -> list[float]:
    heights = [0] * len(plan["parents"])
    for node, above in enumerate(plan["parents"]):
        if above >= 0:
            heights[above] = max(heights[above], heights[node] + 1)
    spans = [_span(cell, column["scale"], plan) for cell in column["cells"]]
    ends = [end for span in spans for end in span if end is not None]
    width = max(ends) - min(ends) if ends else 0.0
    cells = zip(column["cells"], spans, strict=True)
    return [_cost(cell, span, heights, width) for cell, span in cells]


_Span = tuple[float | None, float | None]


def _span(cell: Cell, scale: str, plan: Plan) -> _Span:
    """Return where a cell begins and ends on its scale; None where it does not."""
    low, high = cell.get("low"), cell.get("high")
    return (
        None if low is None else _place(low, scale, plan),
        None if high is None else _place(high, scale, plan),
    )


def _cost(cell: Cell, span: _Span, heights: list[int], width: float) -> float:
    if "any" in cell:
        return 1.0
    if "node" in cell:
        return heights[cell["node"]] / max(heights[-1], 1)
    if "mask" in cell:
        return 0.5
    if "low" not in cell:
        return 0.0
    low, high = span
    if low is None or high is None:
        return 1.0
    return min((high - low) / width, 1.0) if width else 0.0


def _place(end: str, scale: str, plan: Plan) -> float | None:
    if scale == "number":
        return None if number_key(end) is None else float(end)
    if scale == "rank":
        found = plan["index"].get(end)
        return None if found is None else float(found)
    key = date_key(end, plan["form"]) if scale == "date" else None
    if key is None:
        return None
    from datetime import datetime, timedelta

    moment = datetime.fromisoformat(key if key[2] != ":" else f"0001-01-01 {key}")
    return (moment - datetime.min) / timedelta(days=1)
