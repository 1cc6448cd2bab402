"""The guide's table of formats, from the source: `python -m tests.docs.formats` renews it."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.formats.endings import FORMATS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "input.md"
BLOCK = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- end of formats -->)", re.DOTALL)


def table() -> str:
    lines = [
        "| ending | reads | writes | types | streams | needs | |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in FORMATS:
        endings = " ".join(f"`{ending}`" for ending in each.endings)
        marks = [_word(known) for known in (True, each.writes, each.types, each.streams)]
        needs = "" if each.extra is None else f"`{each.extra}`"
        lines.append(f"| {endings} | {' | '.join(marks)} | {needs} | {each.why} |")
    return "\n" + "\n".join(lines) + "\n\n"


def _word(known: bool) -> str:
    return "yes" if known else "no"


def renew() -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: table(), page), encoding="utf-8")


if __name__ == "__main__":
    renew()
