"""The report of a release as one self-contained HTML page, for an ethics committee to read."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from shoal.core.documents import Document, to_yaml
from shoal.privacy import Verdict
from shoal.reports.release import (
    ReleaseReport,
    Risk,
    by_true_name,
    checklist_words,
    written,
)

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1c2733;max-width:46rem;margin:2.5rem auto;
padding:0 1rem}
h1{font-size:1.7rem;margin:0 0 .3rem} h2{font-size:1.15rem;margin:2rem 0 .5rem}
p.lead{color:#4a5a6a;margin:.2rem 0 1.2rem} table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #dde4ea;vertical-align:top}
th{font-weight:600;color:#4a5a6a} td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.holds{color:#0a6b3d;font-weight:600} .broken{color:#a8201a;font-weight:700}
.bar{background:#e6ecf1;height:.7rem;border-radius:.35rem;overflow:hidden;min-width:8rem}
.bar i{display:block;height:100%;background:#2f6f9f}
footer{margin-top:2.5rem;color:#6b7a88;font-size:.85rem}
"""


def to_html(report: ReleaseReport) -> str:
    """Return the whole page. It names columns and counts, never a value of the table."""
    verdict = all(result.holds for result in report.privacy)
    lead = (
        f"{report.released:,} of {report.records:,} records are released; "
        f"{report.suppressed:,} are suppressed. The release was verified after it was written: "
        + ("it keeps its promise." if verdict else "it does NOT keep its promise.")
    )
    counted = "records" if report.persons is None else "persons"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>Release report</title><style>{_STYLE}</style></head><body>",
        f"<h1>Release report</h1><p class='lead'>{escape(lead)}</p>",
        _listed("Warnings", report.warnings, " class='broken'"),
        "<h2>The promise</h2>",
        _table(("model", "parameters", "worst class", "verdict"), map(_promise, report.privacy)),
        *_tables(report),
        "<h2>The columns</h2>",
        _table(("column", "role", "in the release"), _role_rows(report)),
        *_checklist(report),
        "<h2>The risk that remains</h2>",
        "<p>For an attacker who knows the quasi-identifiers of everybody in the table."
        + ("" if report.repeats is None else " Records are counted, not people: see the warnings.")
        + "</p>",
        _table(("", "before", "after"), _risk_rows(report.risk_before, report.risk_after)),
        "<h2>What was lost</h2>",
        "<p>Share of each recoded column's information that the release gave up.</p>",
        _table(("column", "loss", ""), _column_rows(report)),
        "<h2>Measures</h2>",
        _table(("measure", "value"), _measure_rows(report)),
        _listed("Notices", report.notices) + _request(report.request),
        f"<footer>Method: {escape(report.method)}. {report.classes:,} classes, the smallest has "
        f"{report.smallest_class:,} {counted}. {report.seconds['total']:.2f} s.</footer>",
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _table(head: tuple[str, ...], rows: Iterable[str]) -> str:
    numbers = ("before", "after", "loss", "value", "worst class")
    top = "".join(
        f"<th{' class=n' if name in numbers else ''}>{escape(name)}</th>" for name in head
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _promise(result: Verdict) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in result.model.shown().items())
    worst = "–" if result.value is None else f"{result.value:.6g}"
    word = "holds" if result.holds else "broken"
    return (
        f"<td>{escape(result.model.name)}</td><td>{escape(given)}</td>"
        f"<td class='n'>{worst}</td><td class='{word}'>{word}</td>"
    )


def _risk_rows(before: Risk, after: Risk) -> list[str]:
    unit = after.unit
    rows = [
        (f"expected share of {unit}s re-identified", before.global_risk, after.global_risk),
        (f"highest risk of a {unit}", before.highest, after.highest),
    ]
    cells = [
        f"<td>{name}</td><td class='n'>{_percent(old)}</td><td class='n'>{_percent(new)}</td>"
        for name, old, new in rows
    ]
    cells.append(
        f"<td>{unit}s that are unique</td><td class='n'>{before.unique:,}</td>"
        f"<td class='n'>{after.unique:,}</td>"
    )
    return cells


def _column_rows(report: ReleaseReport) -> list[str]:
    return [
        f"<td>{escape(name)}</td><td class='n'>{_percent(share)}</td>"
        f"<td><div class='bar'><i style='width:{100 * share:.1f}%'></i></div></td>"
        for name, share in sorted(report.columns.items(), key=lambda item: -item[1])
    ]


def _role_rows(report: ReleaseReport) -> list[str]:
    rows = []
    for name, about in report.roles.items():
        word = {"identifying": "removed", "quasi": "recoded", "None": "left out"}.get(
            str(about["role"]), "as it is"
        )
        done = about.get("replaced")
        if done:
            word = f"{done}; then recoded" if about["role"] == "quasi" else str(done)
        word += "; waived by name" if about["waived"] else ""
        word += f"; {about['finding']}" if about["finding"] else ""
        rows.append(
            f"<td>{escape(name)}</td><td>{escape(str(about['role'] or 'none'))}</td>"
            f"<td>{escape(word)}</td>"
        )
    return rows


def _tables(report: ReleaseReport) -> list[str]:
    """Return what became of each of several linked tables."""
    lines = report.facts.get("tables")
    rows = []
    for line in lines if isinstance(lines, list) else ():
        assert isinstance(line, dict)
        lost = line["ncp"]
        loss = _percent(lost) if isinstance(lost, float) else "–"
        rows.append(
            f"<td>{escape(str(line['table']))}</td><td>{escape(str(line['parent'] or '–'))}</td>"
            f"<td class='n'>{line['records']:,}</td><td class='n'>{line['released']:,}</td>"
            f"<td class='n'>{loss}</td>"
        )
    head = ("table", "hangs on", "before", "after", "loss")
    return ["<h2>The tables</h2>", _table(head, rows)] if rows else []


def _checklist(report: ReleaseReport) -> list[str]:
    """Return the kinds of identifiers of a preset, and what was done to each."""
    if not report.checklist:
        return []
    rows = []
    for line in report.checklist:
        cells = (f"({line['letter']}) {line['kind']}", *checklist_words(line))
        rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
    head = ("kind, 45 CFR 164.514(b)(2)(i)", "columns", "")
    return ["<h2>HIPAA Safe Harbor</h2>", _table(head, rows)]


def _measure_rows(report: ReleaseReport) -> list[str]:
    texts = {
        name: "not known" if v is None else v if isinstance(v, str) else f"{v:,.6g}"
        for name, v in by_true_name(written(report.utility)).items()
    }
    return [f"<td>{escape(name)}</td><td class='n'>{text}</td>" for name, text in texts.items()]


def _listed(title: str, texts: tuple[str, ...], mark: str = "") -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<h2{mark}>{title}</h2><ul>{items}</ul>"


def _request(request: Document | None) -> str:
    if request is None:
        return ""
    style = "background:#f4f7f9;padding:.8rem;overflow:auto;font-size:.85rem"
    return (
        "<h2>How to repeat this release</h2>"
        f"<pre style='{style}'><code>{escape(to_yaml(request))}</code></pre>"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
