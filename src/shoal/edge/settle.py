"""The collector: encoded records of many devices become a batch that keeps the promise.

A device knows its own record, so some classes of a batch have too few. Here nobody has the records
as they were: classes that fail are joined with a neighbour under a label that covers both, the one
that this costs least, until all hold; what no neighbour can help waits, or is suppressed. Classes
of a model of cuts stand in the order of its tree, so near ones are neighbours there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shoal.edge.batch import PersonKey, columns_of, verify
from shoal.edge.loading import ModelSource, document_of
from shoal.model.batch import Judge, ReleasedTuple, Texts
from shoal.model.column import Rejected
from shoal.model.document_types import Record, Released
from shoal.model.joining import Joined, extents_of, join_failing, order_of
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.safe import for_safe
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


@dataclass
class Settled:
    """A batch that keeps the promise.

    Attributes:
        released: its records, in the order in which they came.
        waiting: those of classes that are too small, where they may wait for the next batch.
        suppressed: records that no class could take in, and those that devices suppressed.
        joined: classes that became part of another one.
    """

    released: list[Released]
    waiting: list[Record]
    records: int
    suppressed: int
    classes: int
    joined: int
    verification: Verification | None
    warnings: tuple[str, ...] = ()

    def to_document(self) -> dict[str, object]:
        """Return the counts as the JSON document of `settle`."""
        return {
            "records": self.records,
            "released": len(self.released),
            "suppressed": self.suppressed,
            "waiting": len(self.waiting),
            "classes": self.classes,
            "joined": self.joined,
            "verification": None if self.verification is None else self.verification.to_document(),
            "warnings": list(self.warnings),
        }


def settle(
    records: Iterable[Record],
    model: ModelSource,
    *,
    schema: Schema | None = None,
    privacy: Iterable[Promise] | None = None,
    wait: bool = False,
) -> Settled:
    """Make a batch of encoded records safe.

    Args:
        records: as devices encoded them with the model; a quasi-identifier is a label.
        model: a path, a document or a model.
        schema: what is known of the columns; see `encode_safe`.
        privacy: what is promised beside the model's promise, or more strictly.
        wait: records of classes that fail wait for the next batch, and are not joined.

    Guarantee:
        What is released keeps the promise, judged by `verify` on the released records themselves,
        and each label covers the one that came.

    Raises:
        Rejected: a record without a quasi-identifier.
        ModelFormatError, PrivacyError, SchemaError: as `encode_safe`.
    """
    document = document_of(model)
    found = model if isinstance(model, RecodingModel) else RecodingModel.from_document(document)
    known = for_safe(found, schema=schema, privacy=privacy)
    judge, who = Judge.of(known.schema, known.privacy), PersonKey(known.schema)
    encoder = Encoder(document)
    rows = list(records)
    classes, place = _classes(rows, encoder, judge, who)
    warnings = judge.check(columns_of(classes.values(), judge))
    roots = tuple(encoder.roots)
    failing = judge.failing(classes)
    lost = 0
    if roots in failing:  # devices suppressed them, and they are too few to be a class
        lost = sum(classes.pop(roots).values())
    if wait:
        answer = _holding(classes, judge)
    else:
        answer = join_failing(classes, extents_of(known, encoder), order_of(known), judge)
    released, beside, waiting = [], [], []
    for row, key in zip(rows, place, strict=True):
        labels = answer.get(key)
        if labels is not None:
            released.append(encoder.with_labels(row, labels))
            beside.append({**row, **dict(zip(encoder.names, labels, strict=True))})
        elif key in answer and wait:
            waiting.append(row)
        elif key in answer:
            lost += 1
    # Persons are not released: who they are stands beside the records while they are judged.
    # The counts of learning say nothing of a promise that is stricter here.
    verification = verify(beside, replace(known, counts=None)) if released else None
    if verification is not None and not verification.holds:
        raise Rejected("the batch does not keep the promise; nothing is released")
    kept = {labels for labels in answer.values() if labels is not None}
    return Settled(
        released=released,
        waiting=waiting,
        records=len(rows),
        suppressed=lost,
        classes=len(kept),
        joined=sum(labels is not None for labels in answer.values()) - len(kept),
        verification=verification,
        warnings=warnings,
    )


def _classes(
    rows: Sequence[Record], encoder: Encoder, judge: Judge, who: PersonKey
) -> tuple[dict[ReleasedTuple, Counter[Texts]], list[ReleasedTuple]]:
    """Return the classes of a batch, and the one of each record."""
    found: dict[ReleasedTuple, Counter[Texts]] = {}
    place = []
    for row in rows:
        try:
            key = tuple(None if row[n] in (None, "") else str(row[n]) for n in encoder.names)
        except KeyError:
            raise Rejected("a quasi-identifier is not there") from None
        texts = (*judge.texts(row.get(n) for n in judge.columns), *who.of(row))
        found.setdefault(key, Counter())[texts] += 1
        place.append(key)
    return found, place


def _holding(classes: dict[ReleasedTuple, Counter[Texts]], judge: Judge) -> Joined:
    """Return which classes hold as they are; the others wait."""
    left = dict(classes)
    while left and (failing := judge.failing(left)):
        for key in failing:
            del left[key]
    return {key: key if key in left else None for key in classes}
