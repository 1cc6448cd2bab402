"""What a project asks for at one moment, and the moments before and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError

MOST_STEPS = 200
"""Changes that can be undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What is asked for, as the documents that are written down.

    Attributes:
        table: where the table is, as a request says it; None: none is open.
        schema: the document of a schema.
        release: what a request of a release says beside table and schema: method, seed, checks …
        report: where report, model and export go, and what only people can say in a report.
    """

    table: Json = None
    schema: Document = field(default_factory=dict, repr=False)
    release: Document = field(default_factory=dict, repr=False)
    report: Document = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> Document:
        """Return what the schema says of each column."""
        found = self.schema.get("columns")
        return found if isinstance(found, dict) else {}

    def with_schema(self, **entries: Json) -> Self:
        """Return the state with other entries of the schema; None takes one out."""
        return replace(self, schema=_merged(self.schema, entries))

    def with_column(self, name: str, **entries: Json) -> Self:
        """Return the state with other entries of one column; None takes one out."""
        now = self.columns.get(name)
        entry: Document = now if isinstance(now, dict) else {"role": now} if now else {}
        columns: Document = {**self.columns, name: _merged(entry, entries)}
        return self.with_schema(columns=columns)

    def with_release(self, **entries: Json) -> Self:
        """Return the state with other entries of the request; None takes one out."""
        return replace(self, release=_merged(self.release, entries))

    def with_report(self, **entries: Json) -> Self:
        """Return the state with other entries of the report; None takes one out."""
        return replace(self, report=_merged(self.report, entries))


_WORDS: Mapping[str, tuple[type, ...]] = {
    "method": (str, dict), "output": (dict,), "checks": (dict,), "infer": (bool,),
    "waive_composition": (list,),
    **dict.fromkeys(("seed", "partitions", "threads", "model_bytes", "device_ram"), (int,)),
    **dict.fromkeys(("release", "partition_by", "separator", "key", "nested_in", "ledger", "after",
                     "counterfeits", "false_records", "counterfeit_table", "budget"), (str,)),
    "epsilon": (int, float),
}  # fmt: skip
"""What a request says beside table and schema, and as what."""
_REPORT: Mapping[str, tuple[str, ...] | None] = {
    "out": None, "purpose": None, "recipient": None, "by": None, "model": None,
    "audience": ("internal", "external"), "export": ("python", "micropython", "javascript"),
}  # fmt: skip
"""What `report.yaml` says, and the words that it may say it in; None: any."""


def check_release(release: Document) -> None:
    """Refuse a request that the page cannot show; whether it can be meant is asked when it runs.

    What reads requests reads tables, too, and is not loaded when a project is opened.

    Raises:
        SchemaError: names everything that is wrong with it.
    """
    from shoal.methods.registry import METHODS

    faults = [f"there is no {name!r} in it" for name in release if name not in _WORDS]
    for name, value in release.items():
        if value is not None and not isinstance(value, _WORDS.get(name, (object,))):
            faults.append(f"{name} is no {_WORDS[name][0].__name__}")
    method, checks = release.get("method"), release.get("checks")
    named = method.get("name") if isinstance(method, dict) else method
    if named is not None and named not in ("auto", *METHODS):
        faults.append(f"there is no such method; {', '.join(sorted(METHODS))}")
    for name in ("learn", "profile", "weights", "household"):
        said = checks.get(name) if isinstance(checks, dict) else None
        if said is not None and not isinstance(said, str):
            faults.append(f"{name} must be a text")
    if faults:
        raise SchemaError(where="request.yaml", faults=faults)


def check_report(report: Document) -> None:
    """Refuse a `report.yaml` that the page did not write, and cannot show.

    Raises:
        SchemaError: names everything that is wrong with it.
    """
    faults = []
    for name, value in report.items():
        words = _REPORT.get(name)
        if name not in _REPORT:
            faults.append(f"there is no {name!r} in it; {', '.join(_REPORT)}")
        elif not isinstance(value, str):
            faults.append(f"{name} must be a text")
        elif words is not None and value not in words:
            faults.append(f"{name} must be {', '.join(words)}")
    if faults:
        raise SchemaError(where="report.yaml", faults=faults)


def _merged(document: Document, entries: Mapping[str, Json]) -> Document:
    found = {**document, **entries}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Step:
    """A change: what it was called, and the state that it left."""

    what: str
    before: State
    after: State


class History:
    """The changes that can be undone and done again.

    Law:
        `undo` after `enter` gives the state before; `redo` after `undo` the one after it.
    """

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._undone: list[Step] = []

    def enter(self, step: Step) -> None:
        """Note a change; what was undone cannot be done again."""
        self._done = [*self._done[-MOST_STEPS + 1 :], step]
        self._undone = []

    @property
    def last(self) -> str | None:
        """Return what the next undo takes back."""
        return self._done[-1].what if self._done else None

    @property
    def next(self) -> str | None:
        """Return what the next redo does again."""
        return self._undone[-1].what if self._undone else None

    def undo(self) -> State | None:
        """Return the state before the last change; None: there is none."""
        if not self._done:
            return None
        step = self._done.pop()
        self._undone.append(step)
        return step.before

    def redo(self) -> State | None:
        """Return the state after the change that was undone last; None: there is none."""
        if not self._undone:
            return None
        step = self._undone.pop()
        self._done.append(step)
        return step.after
