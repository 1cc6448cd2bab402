"""The report as one self-contained HTML page: escaped, without a script, ready to print."""

from __future__ import annotations

from html import escape

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

_STYLE = """
body{font:1rem/1.5 "Source Sans Pro",system-ui,sans-serif;color:#1c2733;max-width:52rem;
margin:2.5rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.7rem;margin:0 0 .2rem} h2{font-size:1.3rem;margin:2.6rem 0 .6rem;
border-bottom:2px solid #2f6f9f;padding-bottom:.2rem} h3{font-size:1.05rem;margin:1.5rem 0 .4rem}
p{margin:.4rem 0} .lead{font-size:1.1rem} .note{color:#5b6b7a;font-size:.9rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:.94rem}
td,th{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #dde4ea;
vertical-align:top;overflow-wrap:break-word}
th{font-weight:600;color:#5b6b7a} .n{text-align:right;font-variant-numeric:tabular-nums}
td:first-child{min-width:7rem} td.n{white-space:nowrap} .facts td:first-child{width:11rem}
.facts td{overflow-wrap:anywhere}
.good{color:#0a6b3d} .bad{color:#a8201a;font-weight:600}
svg{max-width:100%;height:auto;display:block;margin:.3rem 0;overflow:visible}
.cards{display:flex;gap:1rem;flex-wrap:wrap;margin:1rem 0}
.card{flex:1 1 12rem;border:1px solid #dde4ea;border-radius:.4rem;padding:.7rem .9rem}
.card b{display:block;font-size:1.8rem;line-height:1.2} .card span{color:#5b6b7a;font-size:.9rem}
.maps{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr))}
.box{border:2px solid #1c2733;border-radius:.4rem;padding:.7rem 1rem;margin:1.4rem 0}
.sign{display:flex;gap:2rem;margin-top:2.6rem}
.sign span{flex:1;border-top:1px solid #1c2733;font-size:.85rem;color:#5b6b7a}
pre{background:#f4f7f9;padding:.7rem;white-space:pre-wrap;font:.8rem/1.35 "DejaVu Sans Mono",
ui-monospace,monospace}
@media print{html{font-size:12px} body{margin:0;max-width:none;font-size:1rem} h2{break-after:avoid}
h3{break-after:avoid} .keep,.card,.box,svg,tr{break-inside:avoid}
h2.part{break-before:page} .card{flex:1 1 8rem} @page{size:A4;margin:18mm}}
"""


def to_html(report: ReportDocument) -> str:
    """Return the whole page; it needs nothing from elsewhere."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body>",
        *(_written(block) for block in blocks_of(report)),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _written(block: Block) -> str:
    match block:
        case Heading():
            # On paper each part but the first begins a page; warnings may stand before that one.
            mark = " class='part'" if block.is_part and not block.text.startswith("1.") else ""
            return f"<h{block.level}{mark}>{escape(block.text)}</h{block.level}>"
        case Text():
            return f"<p{_tone(block.tone)}>{escape(block.text)}</p>"
        case Items():
            items = "".join(f"<li>{escape(text)}</li>" for text in block.items)
            return f"<ul{_tone(block.tone)}>{items}</ul>"
        case Table():
            return _table(block)
        case Chart():
            return block.svg
        case Cards():
            return _cards(block)
        case Box():
            return _box(block)
        case Code():
            return f"<pre><code>{escape(block.text)}</code></pre>"
        case Section():
            mark = "maps" if all(isinstance(each, Chart) for each in block.blocks) else "keep"
            return f"<div class='{mark}'>" + "".join(map(_written, block.blocks)) + "</div>"


def _tone(tone: str) -> str:
    return f" class='{tone}'" if tone else ""


def _table(table: Table) -> str:
    marks = [" class='n'" if i in table.numbers else "" for i in range(len(table.head))]
    head = "".join(
        f"<th{mark}>{escape(text)}</th>" for mark, text in zip(marks, table.head, strict=True)
    )
    tones = table.tones or ("",) * len(table.rows)
    rows = []
    for tone, row in zip(tones, table.rows, strict=True):
        cells = "".join(
            f"<td{mark}>{escape(text)}</td>" for mark, text in zip(marks, row, strict=True)
        )
        rows.append(f"<tr{_tone(tone)}>{cells}</tr>")
    if not any(table.head):
        return f"<table class='facts'><tbody>{''.join(rows)}</tbody></table>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cards(cards: Cards) -> str:
    found = [
        f"<div class='card'><span>{escape(name)}</span><b>{escape(text)}</b>"
        f"<span>{escape(sentence)}</span>{chart.svg}</div>"
        for name, text, sentence, chart in cards.cards
    ]
    return f"<div class='cards'>{''.join(found)}</div>"


def _box(box: Box) -> str:
    ticks = "".join(f"<p>☐ {escape(text)}</p>" for text in box.ticks)
    lines = "".join(f"<span>{escape(text)}</span>" for text in box.lines)
    return (
        f"<div class='box'><h3 style='margin-top:0'>{escape(box.title)}</h3>{ticks}"
        f"<div class='sign'>{lines}</div></div>"
    )
