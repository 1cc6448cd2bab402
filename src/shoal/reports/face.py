"""What a notebook shows of a result: a title, facts and a table, escaped; no value of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from shoal.core.documents import Document
from shoal.privacy import Verdict

_CELL = "text-align:left;padding:.2rem .6rem;vertical-align:top"


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """A result as people see it.

    Attributes:
        title: one line; alone, it is the result's repr.
        facts: a name and a text each.
        rows: a table; the first row is its head.
        warnings: what must not be overlooked; shown before all else.
    """

    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[Sequence[str]] = ()
    warnings: Sequence[str] = ()

    def line(self, name: str) -> str:
        """Return the result's repr; name: of its class."""
        more = f"; {len(self.warnings)} warnings" if self.warnings else ""
        return f"<{name}: {self.title}{more}>"

    def html(self) -> str:
        """Return it as HTML; every text is escaped."""
        warned = "".join(
            f"<p style='color:#a8201a'><b>Warning:</b> {escape(text)}</p>" for text in self.warnings
        )
        facts = "".join(_row((name, text), "th") for name, text in self.facts.items())
        head, *rows = self.rows or ((),)
        table = _row(head, "th", "th") + "".join(_row(row) for row in rows) if head else ""
        tables = "".join(f"<table>{body}</table>" for body in (facts, table) if body)
        return f"<div><p><b>{escape(self.title)}</b></p>{warned}{tables}</div>"


def _row(cells: Sequence[str], first: str = "td", rest: str = "td") -> str:
    tags = (first, *[rest] * (len(cells) - 1))
    return (
        "<tr>"
        + "".join(
            f"<{tag} style='{_CELL}'>{escape(cell)}</{tag}>"
            for tag, cell in zip(tags, cells, strict=True)
        )
        + "</tr>"
    )


def promise_rows(verdicts: Iterable[Verdict]) -> list[tuple[str, ...]]:
    """Return the table of how classes stand against each promise."""
    rows: list[tuple[str, ...]] = [("promise", "worst class", "verdict")]
    for each in verdicts:
        worst = "–" if each.value is None else f"{each.value:.6g}"
        rows.append((each.model.words(), worst, "holds" if each.holds else "BROKEN"))
    return rows


def percent(share: float) -> str:
    """Return a share as people read it."""
    return f"{100 * share:.2f} %"


def verdict_documents(verdicts: Iterable[Verdict]) -> list[Document]:
    """Return a row for each promise, as plain data."""
    return [
        {
            "promise": each.model.words(),
            "holds": each.holds,
            "worst": each.value,
            "violating_records": each.violating_records,
        }
        for each in verdicts
    ]
