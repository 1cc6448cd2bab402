"""The report as a PDF: tagged (PDF/UA), the same bytes from the same document, no system fonts.

Texts reach the compiler as JSON, so that nothing in them is markup.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from shoal.core.errors import OutputError
from shoal.reports.blocks import Block, Chart, Section
from shoal.reports.document import ReportDocument
from shoal.reports.layout import blocks_of

_FONTS = "font_source_sans_pro"
_EPOCH = date(1980, 1, 1)


def to_pdf(report: ReportDocument) -> bytes:
    """Return the report as a PDF.

    Raises:
        OutputError: what writes it is not installed.
    """
    making = report.making
    day = None if making.date is None else date.fromisoformat(making.date)
    return pdf_of(blocks_of(report), title=report.title, author=making.by or "", day=day)


def pdf_of(
    blocks: Sequence[Block], *, title: str, author: str = "", day: date | None = None
) -> bytes:
    """Return blocks as a PDF; day: its date, the same one where nobody says.

    Raises:
        OutputError: what writes it is not installed.
    """
    try:
        import typst
    except ImportError:
        raise OutputError(
            where="report", problem="a PDF needs `pip install shoal[report]`; or name it .html"
        ) from None
    day = day or _EPOCH
    stamp = datetime(day.year, day.month, day.day, tzinfo=UTC)
    data = {
        "title": title,
        "author": author,
        "blocks": [_plain(block) for block in blocks],
    }
    template = files("shoal.reports").joinpath("report.typ").read_bytes()
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:  # mode 0700
        main = Path(folder) / "main.typ"
        main.write_bytes(template)
        (main.parent / "data.json").write_text(json.dumps(data), encoding="utf-8")

        def compiled(*, standard: Literal["ua-1"] | None, system_fonts: bool) -> bytes:
            found: bytes = typst.compile(
                str(main), root=folder, format="pdf", font_paths=_font_paths(),
                ignore_system_fonts=not system_fonts, pdf_standards=standard, timestamp=stamp,
            )  # fmt: skip
            return found

        try:
            return compiled(standard="ua-1", system_fonts=False)
        except typst.TypstError:
            # A letter that no font here has: the standard forbids it, the fonts of the system may
            # have it, and a report with a box in a label is better than none.
            return compiled(standard=None, system_fonts=True)


def _font_paths() -> list[str]:
    """Return where the fonts are; without them the compiler's own serif is taken."""
    found = find_spec(_FONTS)
    if found is None or found.origin is None:
        return []
    return [str(Path(found.origin).parent / "files")]


def _plain(block: Block) -> dict[str, object]:
    """Return a block as plain data, with its kind."""
    kind = type(block).__name__.lower()
    if isinstance(block, Section):
        are_charts = all(isinstance(each, Chart) for each in block.blocks)
        return {
            "kind": "maps" if are_charts else kind,
            "blocks": [_plain(each) for each in block.blocks],
        }
    return {"kind": kind, **asdict(block)}
