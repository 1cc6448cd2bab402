"""The report as Markdown: for a wiki, a pull request or a terminal; pictures become lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.reports.blocks import (
    Block,
    Box,
    Cards,
    Chart,
    Code,
    Heading,
    Items,
    Section,
    Table,
    Text,
)
from shoal.reports.document import ReportDocument
from shoal.reports.layout import blocks_of

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+|!~&$-])")
_PLAIN = re.compile(r"(?<=\w)\\([-()+!])|\\([()])")


def to_markdown(report: ReportDocument) -> str:
    """Return the report as Markdown; texts of the data are escaped."""
    return markdown_of(blocks_of(report))


def markdown_of(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown."""
    return "\n\n".join(_written(block) for block in blocks) + "\n"


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    Example:
        >>> print(escaped("<b>*all*</b> | x"))
        \<b\>\*all\*\</b\> \| x
    """
    plain = " ".join(text.split())
    return _PLAIN.sub(r"\1\2", _SPECIAL.sub(r"\\\1", plain))


def _written(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {escaped(block.text)}"
        case Text():
            mark = "**" if block.tone in ("bad", "good") else ""
            return f"{mark}{escaped(block.text)}{mark}"
        case Items():
            return "\n".join(f"* {escaped(text)}" for text in block.items)
        case Table():
            return _table(block)
        case Chart():
            return "\n".join(f"* {escaped(line)}" for line in block.lines)
        case Cards():
            return "\n".join(
                f"* **{escaped(name)}: {escaped(text)}** {escaped(sentence)}"
                for name, text, sentence, _ in block.cards
            )
        case Box():
            ticks = [f"* [ ] {escaped(text)}" for text in block.ticks]
            lines = [f"* {escaped(text)}: \\_\\_\\_\\_\\_\\_\\_\\_" for text in block.lines]
            return "\n".join([f"**{escaped(block.title)}**", "", *ticks, *lines])
        case Code():
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", block.text)), 3)
            return f"{fence}\n{block.text}\n{fence}"
        case Section():
            return "\n\n".join(map(_written, block.blocks))


def _table(table: Table) -> str:
    head = [escaped(text) or " " for text in table.head]
    rule = ["--:" if i in table.numbers else "---" for i in range(len(table.head))]
    rows = [[escaped(text) for text in row] for row in table.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
