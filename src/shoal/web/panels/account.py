"""What a release is like, from its report, in the words of the page's language.

The report's own texts are in English; what the catalogue has no words for is shown as they say it.
"""

from __future__ import annotations

import re

from nicegui import ui
from nicegui.element import Element

from shoal.core.documents import Document
from shoal.web.panels.promise import sentence
from shoal.web.plain import listed, mapping, share, whole
from shoal.web.reasons import reason
from shoal.web.texts import Texts


def decision(report: Document, run: Document, texts: Texts) -> None:
    """Draw whether the promises hold, the three numbers, the rule, and the warnings."""
    found = mapping(report.get("decision"))
    holds = found.get("holds") is True
    with Element("div").classes("verdict good" if holds else "verdict bad").props("role=status"):
        ui.icon("verified" if holds else "gpp_bad", size="28px")
        with Element("div"):
            Element("strong")._text = texts("result.holds" if holds else "result.breaks")
            for line in promises(found, run, texts):
                Element("div").classes("small")._text = line
    unit = str(mapping(report.get("risk")).get("unit"))
    with Element("div").classes("numbers"):
        for each in listed(found.get("numbers")):
            with Element("div").classes("number"):
                for kind, text in zip(("muted small", "figure", "small muted"),
                                      number(each, run, unit, texts), strict=True):  # fmt: skip
                    Element("div").classes(kind)._text = text
    _rule(mapping(found.get("profile")), texts)
    warnings = found.get("warnings")
    for warning in warnings if isinstance(warnings, list) else ():
        Element("div").classes("note bad small")._text = reason(texts, str(warning))


def promises(decision: Document, run: Document, texts: Texts) -> list[str]:
    """Return a line for each promise: what it says, and what was found."""
    found = []
    for each in listed(run.get("privacy")):
        asked = mapping(each.get("parameters"))
        says = sentence(texts, str(each.get("model")), asked)
        column = f" ({asked['column']})" if asked.get("column") else ""
        value = each.get("value")
        seen = texts.number(value) if isinstance(value, (int, float)) else "–"
        found.append(f"{each.get('model')}{column}: {says} {texts('result.seen', value=seen)}")
    return found or [
        f"{each.get('model')}: {each.get('words')}" for each in listed(decision.get("promises"))
    ]


def number(each: Document, run: Document, unit: str, texts: Texts) -> tuple[str, str, str]:
    """Return one of the three numbers: its name, itself, and what it says."""
    name, text, says = (str(each.get(part)) for part in ("name", "text", "sentence"))
    part = share(each.get("share"))
    if name == "records":
        released = whole(run.get("released"))
        text = text if released is None else texts.said(released)
        known = texts("account.number_says_records", share=texts.percent(part))
    else:
        text = texts.percent(part)
        kind = f"{name}_person" if (name, unit) == ("risk", "person") else name
        known = texts(
            "account.number_says_squared" if "squared" in says else f"account.number_says_{kind}"
        )
    return worded(texts, "number", name, name), text, known


def _rule(held: Document, texts: Texts) -> None:
    if not held:
        return
    is_passed = held.get("passed") is True
    failures = held.get("failures")
    why = "; ".join(map(str, failures)) if isinstance(failures, list) else ""
    note = Element("div").classes("note good" if is_passed else "note bad")
    rule = str(mapping(held.get("profile")).get("title"))
    note._text = texts("result.passed" if is_passed else "result.failed", rule=rule, why=why)


def attackers(risk: Document, texts: Texts) -> None:
    """Draw the risk by attacker, and the attacks that were carried out."""
    rows = [
        [worded(texts, "attacker", name, name), worded(texts, "knows", name, str(e.get("knows"))),
         worded(texts, "risk", str(e.get("measure")), str(e.get("measure"))),
         texts.percent(share(e.get("before"))), texts.percent(share(e.get("after")))]
        for e in listed(risk.get("attackers"))
        if (name := str(e.get("name")))
    ]  # fmt: skip
    heads = ("attacker", "knows", "measure", "before", "after")
    table(texts, "attackers", heads, rows, numbers=2)
    rows = [
        [worded(texts, "attack", name, name),
         worded(texts, "question", str(e.get("question")), str(e.get("question"))),
         texts.percent(share(e.get("before"))), texts.percent(share(e.get("after"))),
         texts.percent(share(e.get("guessing")))]
        for e in listed(risk.get("attacks"))
        if (name := str(e.get("name")))
    ]  # fmt: skip
    table(texts, "attacks", ("attack", "question", "before", "after", "guessing"), rows, numbers=3)


def measures(utility: Document, texts: Texts) -> None:
    """Draw what was lost, how near the release is to the table, and models trained on it."""
    rows = []
    for each in listed(utility.get("measures")):
        name, says, text = (str(each.get(part)) for part in ("name", "sentence", "text"))
        said = worded(texts, "value", text, _decimal(text, texts))
        rows.append([name, worded(texts, "says", name, says), said])
    table(texts, "measures", ("measure", "says", "value"), rows, numbers=1)
    rows = [
        [name, worded(texts, "fidelity", name, str(each.get("sentence"))),
         _decimal(str(each.get("text")), texts)]
        for each in listed(utility.get("fidelity"))
        if (name := str(each.get("name")))
    ]  # fmt: skip
    table(texts, "fidelity", ("measure", "says", "value"), rows, numbers=1)
    models = utility.get("models")
    known = [[str(cell) for cell in row] for row in (models if isinstance(models, list) else ())
             if isinstance(row, list) and len(row) == 5]  # fmt: skip
    rows = [
        [worded(texts, "model", model), worded(texts, "way", way),
         *(_decimal(cell, texts) for cell in scores)]
        for model, way, *scores in known
    ]  # fmt: skip
    table(texts, "models", ("model", "trained", "f1", "auc", "accuracy"), rows, numbers=3)
    if rows:
        Element("p").classes("muted small")._text = str(utility.get("models_note") or "")


def _decimal(text: str, texts: Texts) -> str:
    """Return a number of a report as people read it in the page's language."""
    if not re.fullmatch(r"-?[\d,]+(\.\d+)?", text):
        return text
    digits = len(text.partition(".")[2])
    return texts.number(float(text.replace(",", "")), digits=digits)


def not_protected(risk: Document, texts: Texts) -> None:
    """Say what the promise does not cover."""
    found = risk.get("not_protected")
    if isinstance(found, list) and found:
        _heading(texts, "not_protected")
        with Element("ul").classes("small"):
            for each in found:
                Element("li")._text = reason(texts, str(each))


def worded(texts: Texts, group: str, name: str, otherwise: str | None = None) -> str:
    """Return what the catalogue calls something, or else what the report does."""
    key = f"account.{group}_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}"
    return texts(key) if texts.has(key) else name if otherwise is None else otherwise


def table(
    texts: Texts, name: str, heads: tuple[str, ...], rows: list[list[str]], *, numbers: int = 0
) -> None:
    """Draw a table of texts under its heading, if it has rows; the last columns hold numbers."""
    if not rows:
        return
    _heading(texts, name)
    label = f'aria-label="{texts(f"result.{name}")}"'
    with Element("div").classes("scroll"), Element("table").classes("plain").props(label):
        with Element("thead"), Element("tr"):
            for place, head in enumerate(heads):
                cell = Element("th").props("scope=col")
                cell.classes("num" if place >= len(heads) - numbers else "")
                cell._text = texts(f"result.{head}")
        with Element("tbody"):
            for row in rows:
                with Element("tr"):
                    for place, text in enumerate(row):
                        is_number = place >= len(row) - numbers
                        Element("td").classes("num" if is_number else "")._text = text


def _heading(texts: Texts, name: str) -> None:
    Element("h3").style("margin: 20px 0 6px")._text = texts(f"result.{name}")
