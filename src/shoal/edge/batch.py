"""Batches of plain records: encode safely, verify, measure. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.core.keys import date_key, number_key
from shoal.edge import document_of
from shoal.edge.fast import FastEncoder
from shoal.edge.stream import EncodeReport
from shoal.model.batch import Home, Judge, settle
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder, Rejected
from shoal.model.safe import for_safe
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema

Record = Mapping[str, Any]


def encode_safe(
    records: Iterable[Record],
    model: Any,
    *,
    on_unseen: str | None = None,
    suppressed: str = "remove",
    schema: Schema | None = None,
    privacy: Iterable[Promise] | None = None,
) -> tuple[list[dict[str, Any]], EncodeReport]:
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

    Guarantee:
        The classes of what is returned keep the promise; the order is kept.

    Returns:
        The released records, and what was done.

    Raises:
        Rejected: a record that cannot be encoded, or that no class covers where
            `on_unseen` is "error".
        ModelFormatError, PrivacyError, SchemaError: the model has no fingerprint or no promise,
            or releases what the schema protects.
        InputError: sensitive values that do not fit their column's scale.
    """
    document = document_of(model)
    encoder = FastEncoder(document, on_unseen, suppressed)
    known = for_safe(_known(model, document), schema=schema, privacy=privacy)
    judge = Judge.of(known.schema, known.privacy)
    rows = list(records)
    number: dict[tuple[Any, ...], int] = {}
    tuples: list[list[Any]] = []
    spreads: list[Counter[tuple[str | None, ...]]] = []
    place = []
    for row in rows:
        values = encoder.values(row)
        key = tuple((type(value), value) for value in values)
        at = number.setdefault(key, len(number))
        if at == len(tuples):
            tuples.append(values)
            spreads.append(Counter())
        spreads[at][judge.texts(row.get(name) for name in judge.columns)] += 1
        place.append(at)
    report = EncodeReport(warnings=judge.check(_columns(spreads, judge)))
    homes = settle(encoder, tuples, spreads, judge=judge)
    starred = suppressed == "star" and _star_holds(encoder, homes, spreads, judge=judge)
    unseen = [encoder.find(values) < 0 for values in tuples]
    released = []
    for row, at in zip(rows, place, strict=True):
        home = homes[at]
        report.records += 1
        report.unseen += unseen[at]
        report.suppressed += home is None
        if home is not None or starred:
            released.append(encoder.release(row, encoder.roots if home is None else home))
    report.released = len(released)
    return released, report


def _known(model: Any, document: dict[str, Any]) -> RecodingModel:
    """Return the model itself; a document made of it would always have a fingerprint."""
    known = isinstance(model, RecodingModel)
    return model if known else RecodingModel.from_document(document)


def _star_holds(
    encoder: Encoder,
    homes: Sequence[Home | None],
    spreads: Sequence[Mapping[tuple[str | None, ...], int]],
    *,
    judge: Judge,
) -> bool:
    """Say whether the suppressed records, all released as the root, keep the promise too."""
    classes: dict[Home, Counter[tuple[str | None, ...]]] = {}
    roots: Home = tuple(encoder.roots)
    for home, spread in zip(homes, spreads, strict=True):
        classes.setdefault(roots if home is None else home, Counter()).update(spread)
    return not judge.failing(classes)


def verify(records: Iterable[Record], model: Any) -> Verification:
    """Judge released records by a model's promise, as they are written.

    Raises:
        ModelFormatError, PrivacyError: the model has no fingerprint, or no promise.
        Rejected: a quasi-identifier is not there, or there is no record.
        InputError: sensitive values that do not fit their column's scale.
    """
    known = for_safe(_known(model, document_of(model)))
    judge = Judge.of(known.schema, known.privacy)
    classes: dict[Home, Counter[tuple[str | None, ...]]] = {}
    for row in records:
        try:
            home = tuple(None if row[n] in (None, "") else str(row[n]) for n in known.schema.quasi)
        except KeyError:
            raise Rejected("a quasi-identifier is not there") from None
        spread = classes.setdefault(home, Counter())
        spread[judge.texts(row.get(name) for name in judge.columns)] += 1
    if not classes:
        raise Rejected("there is no record")
    sizes = {home: sum(spread.values()) for home, spread in classes.items()}
    warnings = judge.check(_columns(classes.values(), judge))
    verdicts, failed = judge.verdicts(classes)
    return Verification(
        records=sum(sizes.values()),
        classes=len(classes),
        smallest_class=min(sizes.values()),
        violating_records=sum(sizes[home] for home in failed),
        privacy=tuple(verdicts),
        warnings=warnings,
    )


def _columns(
    spreads: Iterable[Mapping[tuple[str | None, ...], int]], judge: Judge
) -> list[set[str | None]]:
    """Return the values of each sensitive column."""
    found: list[set[str | None]] = [set() for _ in judge.columns]
    for spread in spreads:
        for texts in spread:
            for values, text in zip(found, texts, strict=True):
                values.add(text)
    return found


def metrics(records: Iterable[Record], model: Any, *, on_unseen: str | None = None) -> Any:
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
            lost += sum(c[i] for c, i in zip(costs, encoder.regions[region], strict=True))
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


def _costs(document: Mapping[str, Any], encoder: Encoder) -> list[list[float]]:
    """Return the share that each cell loses, by column."""
    found = []
    for column, plan in zip(document["columns"], encoder.plans, strict=True):
        heights = [0] * len(plan["parents"])
        for node, above in enumerate(plan["parents"]):
            if above >= 0:
                heights[above] = max(heights[above], heights[node] + 1)
        ends = [
            place
            for cell in column["cells"]
            for end in (cell.get("low"), cell.get("high"))
            if end is not None and (place := _place(end, column["scale"], plan)) is not None
        ]
        span = max(ends) - min(ends) if ends else 0.0
        root = column["root"]
        found.append(
            [_cost(cell, column["scale"], plan, heights, span, root) for cell in column["cells"]]
        )
    return found


def _cost(
    cell: Mapping[str, Any], scale: str, plan: Any, heights: list[int], span: float, root: str
) -> float:
    if "any" in cell:
        return 1.0
    if "node" in cell:
        return float(heights[cell["node"]] / max(heights[-1], 1))
    if "mask" in cell:
        return 0.5
    if "low" not in cell:
        return 0.0
    low = None if cell["low"] is None else _place(cell["low"], scale, plan)
    high = None if cell["high"] is None else _place(cell["high"], scale, plan)
    if low is None or high is None:
        return 1.0
    return min((high - low) / span, 1.0) if span else 0.0


def _place(end: str, scale: str, plan: Any) -> float | None:
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
