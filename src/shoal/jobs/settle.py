"""Encoded records of a fleet become a batch that keeps the promise, all or nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.core.errors import InputError, NoSolutionError, OutputError
from shoal.core.temporary import one_at_a_time
from shoal.edge.settle import Settled, settle
from shoal.engines.local.drift import Limits
from shoal.engines.local.encoded_drift import EncodedDrift, encoded_drift
from shoal.engines.local.write import all_or_nothing, check_output
from shoal.jobs.settle_journal import Journal, digest_of
from shoal.model.document_types import Record
from shoal.model.model import RecodingModel
from shoal.privacy import Promise
from shoal.schema.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleRequest:
    """What is asked of a collector.

    Attributes:
        place: the file of the model, where that was read already.
        encoded: files of encoded records, lines of JSON or CSV.
        out: the batch, CSV or lines of JSON by its ending.
        waiting: where records of classes that are too small wait; those that waited there before
            belong to the batch. None: they are joined with their neighbours.
    """

    model: str | Path | RecodingModel
    place: str | Path | None = None
    encoded: Sequence[str | Path]
    out: str | Path
    waiting: str | Path | None = None
    schema: Schema | None = None
    privacy: tuple[Promise, ...] | None = None


def settle_files(request: SettleRequest) -> dict[str, object]:
    """Read, settle, verify, write; return the counts.

    Guarantee:
        Where records wait, the batch and their file change together, whenever the process is
        killed; the same files asked for again are not settled twice (`settled_before`).

    Raises:
        InputError: a file that cannot be read, or holds what is no record.
        NoSolutionError: nothing would be released.
    """
    model = request.model
    if not isinstance(model, RecodingModel):
        model = RecodingModel.load(model)
    if request.waiting is not None:
        return _with_waiting(request, model, Path(request.waiting))
    found = _settled(request, model, request.encoded, wait=False)
    if not found.released:
        raise NoSolutionError(problem="every record would have to be suppressed")
    with all_or_nothing(request.out, inputs=_inputs(request)) as goal:
        _write(goal, Path(request.out), found)
    return found.to_document()


def _with_waiting(request: SettleRequest, model: RecodingModel, waiting: Path) -> dict[str, object]:
    """Settle what was sent together with what waited; who is left waits on."""
    out = Path(request.out)
    for place in (out, waiting):  # refuses what may not be written, as all other outputs do
        check_output(place, inputs=_inputs(request))
    if out.absolute() == waiting.absolute():
        raise OutputError(where=str(out), problem="is also where records wait; name another file")
    with one_at_a_time(waiting.absolute().parent):
        return _with_journal(request, model, out, waiting)


def _with_journal(
    request: SettleRequest, model: RecodingModel, out: Path, waiting: Path
) -> dict[str, object]:
    journal = Journal(waiting)
    journal.recover(out)
    places = [Path(place) for place in request.encoded]
    for place in places:
        readable(place)
    inputs = digest_of(places, model.fingerprint)
    before = journal.counts_of(inputs)
    if before is not None:
        return {**before, "settled_before": True}
    if waiting.exists():
        places.append(waiting)
    found = _settled(request, model, places, wait=True)
    counts = found.to_document()
    journal.replace(
        out,
        (lambda goal: _write(goal, out, found)) if found.released else None,
        lambda goal: _write_lines(goal, found.waiting),
        inputs=inputs,
        counts=counts,
    )
    return counts


def _settled(
    request: SettleRequest, model: RecodingModel, places: Sequence[str | Path], *, wait: bool
) -> Settled:
    rows = [row for place in places for row in read_records(Path(place))]
    if not rows:
        raise InputError(where="the encoded records", problem="there is no record in them")
    return settle(rows, model, schema=request.schema, privacy=request.privacy, wait=wait)


def _inputs(request: SettleRequest) -> tuple[str | Path, ...]:
    named = request.model if request.place is None else request.place
    return (*([] if isinstance(named, RecodingModel) else [named]), *request.encoded)


def drift_of_encoded(
    model: str | Path, encoded: Sequence[str | Path], *, false_alarm: float = 0.05
) -> EncodedDrift:
    """Compare encoded records with the classes of a model; say whether to learn again."""
    Limits(false_alarm=false_alarm)
    rows = (row for place in encoded for row in read_records(Path(place)))
    return encoded_drift(rows, RecodingModel.load(model), false_alarm=false_alarm)


def _write(goal: Path, named: Path, found: Settled) -> None:
    rows = sorted(found.released, key=lambda row: [str(value) for value in row.values()])
    if named.suffix in (".jsonl", ".ndjson"):
        _write_lines(goal, rows)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    with goal.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row.get(name) for name in names] for row in rows)


def _write_lines(goal: Path, rows: Sequence[Record]) -> None:
    with goal.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_records(place: Path) -> Iterator[Record]:
    """Yield the records of a file of JSON lines, or of CSV with a header.

    Raises:
        InputError: it cannot be read, or a line is no record; the line's number is said.
    """
    text = readable(place)
    if text.lstrip()[:1] != "{":
        yield from csv.DictReader(text.splitlines(keepends=True))
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(where=str(place), problem=f"line {number} is not one JSON object")
        yield row


def readable(place: Path) -> str:
    """Return the text of a file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(where=str(place), problem=str(problem).lower()) from None
