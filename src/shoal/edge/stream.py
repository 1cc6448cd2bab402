"""Streams: one line in, one line out, bad lines aside; memory for one line at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO

from shoal.core.errors import InputError
from shoal.core.spreadsheet import check_names, guarded, is_guarded
from shoal.model.column import Rejected
from shoal.model.lines import encode_line
from shoal.model.runtime import Encoder

MOST_LINE = 16 * 2**20  # bytes; a longer line is rejected, not held
_SEPARATORS = (",", ";", "\t", "|")
_BOM = b"\xef\xbb\xbf"


class EncodeReport:
    """What encoding did: counts only.

    Attributes:
        records: lines or rows that came in.
        released: those that went out, suppressed ones with every root included.
        suppressed: records whose quasi-identifiers are not released.
        unseen: records that no class of the model covers.
        rejected: lines that are no record.
        warnings: what a safe batch does not say by being safe.
    """

    __slots__ = ("records", "rejected", "released", "suppressed", "unseen", "warnings")

    def __init__(self, warnings: tuple[str, ...] = ()) -> None:
        self.records = self.released = self.suppressed = self.unseen = self.rejected = 0
        self.warnings = warnings

    def to_document(self) -> dict[str, object]:
        """Return the report as the JSON document of `encode`."""
        document: dict[str, object] = {
            "records": self.records,
            "released": self.released,
            "suppressed": self.suppressed,
            "unseen": self.unseen,
            "rejected": self.rejected,
        }
        return {**document, "warnings": list(self.warnings)} if self.warnings else document

    def __repr__(self) -> str:
        return f"EncodeReport({self.to_document()})"


def encode_stream(
    encoder: Encoder,
    source: IO[bytes],
    out: IO[bytes],
    *,
    form: str | None = None,
    separator: str | None = None,
    rejects: IO[bytes] | None = None,
    flush: bool = False,
    spreadsheet_safe: bool = False,
) -> EncodeReport:
    """Encode lines of JSON, or of CSV with a header, as they come.

    Args:
        encoder: from `shoal.edge.load`.
        source: bytes to read lines from.
        out: where released lines go, in the same order.
        form: "jsonl" or "csv"; None: JSON if the first line begins with a brace.
        separator: of CSV; None: found out from the header.
        rejects: where bad lines go, with their number and the reason: raw data, to be
            kept like the input.
        flush: hand on every line at once, for a stream that somebody waits for.
        spreadsheet_safe: of CSV: an apostrophe before texts that begin like a formula.

    Guarantee:
        A line that cannot be encoded costs no other line. A record is one line: a CSV
        field with a line break in it is rejected.

    Raises:
        InputError: a CSV header that does not fit the model.
        OutputError: `spreadsheet_safe` is asked of lines of JSON, or a column's name begins
            like a formula.
    """
    report = EncodeReport()
    lines = _lines(source)
    first = next(lines, None)
    if first is None:
        return report
    if form is None:
        form = "jsonl" if first[1].lstrip()[:1] == b"{" else "csv"
    if form == "csv":
        table = _Csv(encoder, first[1], separator, guarded if spreadsheet_safe else str)
        out.write(table.header)
        worker: _Json | _Csv = table
    else:
        is_guarded("jsonl", spreadsheet_safe, where="output")
        worker = _Json(encoder)
        lines = _again(first, lines)
    for number, raw in lines:
        report.records += 1
        try:
            released, region = worker.encode(_text(raw))
        except Rejected as problem:
            report.rejected += 1
            report.unseen += encoder.on_unseen == "error" and "no class" in str(problem)
            if rejects is not None:
                rejects.write(_reject(number, raw, str(problem)))
            continue
        report.unseen += region < 0
        report.suppressed += region == -2
        if released is not None:
            report.released += 1
            out.write(released)
            if flush:
                out.flush()
    out.flush()
    return report


def _again(
    first: tuple[int, bytes], lines: Iterator[tuple[int, bytes]]
) -> Iterator[tuple[int, bytes]]:
    yield first
    yield from lines


def _lines(source: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without their ends; of a line too long, only its beginning."""
    number = 0
    while raw := source.readline(MOST_LINE):
        number += 1
        if len(raw) == MOST_LINE and not raw.endswith(b"\n"):
            while (rest := source.readline(MOST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield number, raw  # as long as the limit, which _text rejects
            continue
        if number == 1 and raw.startswith(_BOM):
            raw = raw[3:]
        yield number, raw.rstrip(b"\r\n")


def _text(raw: bytes) -> str:
    if len(raw) >= MOST_LINE:
        raise Rejected(f"longer than {MOST_LINE} bytes")
    if not raw.strip():
        raise Rejected("a blank line")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Rejected("not UTF-8 text") from None


def _reject(number: int, raw: bytes, problem: str) -> bytes:
    text = raw[:65536].decode("utf-8", "backslashreplace")
    entry = {"line": number, "reason": problem, "text": text}
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


class _Json:
    """Lines of JSON."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def encode(self, text: str) -> tuple[bytes | None, int]:
        released, region = encode_line(self.encoder, text)
        if released is None:
            return None, region
        return released.encode("utf-8") + b"\n", region


class _Csv:
    """Lines of CSV; columns stay in the order of the header."""

    def __init__(
        self,
        encoder: Encoder,
        header: bytes,
        separator: str | None,
        guard: Callable[[str], str] = str,
    ) -> None:
        import csv  # a stream of JSON does without

        self.reader = csv.reader
        self.error = csv.Error
        self.encoder = encoder
        try:
            text = header.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(where="input", problem="its header is not UTF-8 text") from None
        self.separator = separator or max(_SEPARATORS, key=text.count)
        self.names = self._fields(text)
        _check_header(encoder, self.names)
        place = {name: i for i, name in enumerate(self.names)}
        self.quasi = [place[name] for name in encoder.names]
        new = {name: i for i, name in enumerate(encoder.names)}
        self.plan = [
            (i, new.get(name, -1))
            for i, name in enumerate(self.names)
            if name in encoder.released or (name not in encoder.known and encoder.others == "keep")
        ]
        names = [self.names[i] for i, _ in self.plan]
        if guard is guarded:
            check_names(names)
        self.guard = guard
        self.header = self._line(names)

    def _fields(self, text: str) -> list[str]:
        try:
            return next(self.reader([text], delimiter=self.separator, strict=True))
        except (self.error, StopIteration):
            raise Rejected("its quotes do not pair up in this line") from None

    def encode(self, text: str) -> tuple[bytes | None, int]:
        fields = self._fields(text)
        if len(fields) != len(self.names):
            raise Rejected(f"{len(fields)} fields where the header has {len(self.names)}")
        encoder = self.encoder
        labels, region = encoder.tuple_of([fields[i] for i in self.quasi])
        if labels is None:
            region = -2
            if encoder.suppressed == "remove":
                return None, region
            labels = encoder.roots
        new = [fields[i] if j < 0 else labels[j] or "" for i, j in self.plan]
        return self._line(new), region

    def _line(self, fields: list[str]) -> bytes:
        if fields == [""]:  # other readers skip a blank line
            return b'""\n'
        return (self.separator.join([self._field(x) for x in fields]) + "\n").encode("utf-8")

    def _field(self, text: str) -> str:
        text = self.guard(text)
        if '"' in text or self.separator in text or "\n" in text or "\r" in text:
            return '"' + text.replace('"', '""') + '"'
        return text


def _check_header(encoder: Encoder, names: list[str]) -> None:
    problems = []
    if len(set(names)) != len(names):
        problems.append("a column name stands twice in the header")
    absent = [name for name in encoder.names if name not in names]
    if absent:
        problems.append("has no column " + ", ".join(map(repr, absent)))
    others = [name for name in names if name not in encoder.known]
    if others and encoder.others == "fault":
        problems.append(f"{len(others)} columns have no role: " + ", ".join(map(repr, others)))
    if problems:
        raise InputError(where="input", problem="; ".join(problems))
