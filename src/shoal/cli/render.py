"""Answers for people: short, aligned, no colour needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.privacy import Verdict
from shoal.reports.release import ReleaseReport, Risk, Verification, told


def as_json(document: dict[str, Any]) -> str:
    """Return exactly one JSON document."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def summary(report: ReleaseReport, *, out: str | None) -> str:
    """Say what a release promises, what it lost and what risk remains."""
    before, after = report.risk_before, report.risk_after
    where = f" in {out}" if out else ""
    head = f"{report.released:,} of {report.records:,} records released{where}"
    rows = [
        *[("WARNING", warning) for warning in report.warnings],
        *role_rows(report.roles),
        ("method", report.method),
        *[("promise", _result(result)) for result in report.privacy],
        ("classes", f"{report.classes:,}, the smallest has {report.smallest_class:,} records"),
        (
            "suppressed",
            f"{report.suppressed:,} records ({_share(report.suppressed, report.records)})",
        ),
        ("loss", _loss(report)),
        *_levels(report),
        ("risk before", _risk(report, before)),
        ("risk after", _risk(report, after)),
        ("time", _time(report)),
    ]
    rows += [("notice", notice) for notice in report.notices]
    return head + "\n" + "\n".join(f"  {name:<12}{text}" for name, text in rows)


def role_rows(roles: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """List every column by what a release does with it, and every waiver."""
    groups: dict[str, list[str]] = {"recoded": [], "sensitive": [], "kept": [], "removed": []}
    words = {"quasi": "recoded", "sensitive": "sensitive", "neutral": "kept"}
    for name, about in roles.items():
        groups[words.get(str(about["role"]), "removed")].append(name)
    rows = [(group, ", ".join(names)) for group, names in groups.items() if names]
    for name, about in roles.items():
        if about["waived"]:
            what = about["finding"] or "nothing was found in it"
            rows.append(("WAIVED", f"{name}: released as it is, because somebody said so ({what})"))
    return rows


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """Return each warning on a line of its own."""
    return [f"  {'WARNING':<12}{warning}" for warning in warnings]


def verification(result: Verification) -> str:
    """Say whether a table keeps a promise, model by model."""
    verdict = "safe: every class keeps the promise" if result.holds else "NOT safe"
    rows = [
        *[("WARNING", warning) for warning in result.warnings],
        ("records", f"{result.records:,} in {result.classes:,} classes"),
        ("smallest", f"class of {result.smallest_class:,} records"),
        *[("promise", _result(each)) for each in result.privacy],
    ]
    if not result.holds:
        rows.append(("violating", f"{result.violating_records:,} records"))
    return verdict + "\n" + "\n".join(f"  {name:<12}{text}" for name, text in rows)


def measures(document: dict[str, Any]) -> str:
    """List the measures of a release."""
    lines = [
        f"{document['released']:,} of {document['records']:,} records released, "
        f"{document['suppressed']:,} suppressed, {document['classes']:,} classes, "
        f"the smallest has {document['smallest_class']:,} records"
    ]
    lines += [f"  {'notice':<16}{notice}" for notice in document["notices"]]
    for name, value in told(document["utility"]).items():
        text = (
            "not known" if value is None else value if isinstance(value, str) else f"{value:,.6g}"
        )
        why = document["notes"].get(name)
        lines.append(f"  {name:<16}{text}" + ("" if why is None else f" ({why})"))
    return "\n".join(lines)


def _result(result: Verdict) -> str:
    verdict = "holds" if result.holds else "BROKEN"
    worst = "" if result.value is None else f" (worst class: {result.value:.6g})"
    return f"{result.model.words()}: {verdict}{worst}"


def _loss(report: ReleaseReport) -> str:
    squared = report.utility.get("sse_loss")
    if squared is not None:
        return f"{_percent(squared / 100)} of the variation (squared error of the centroids)"
    text = f"{_percent(report.utility['ncp'])} of the information (NCP)"
    if report.columns:
        most = sorted(report.columns.items(), key=lambda item: -item[1])[:3]
        text += "; most in " + ", ".join(f"{name} {_percent(share)}" for name, share in most)
    return text


def _levels(report: ReleaseReport) -> list[tuple[str, str]]:
    """Say which level a lattice search chose for each column, and whether that is proven."""
    levels = report.facts.get("levels")
    if not levels:
        return []
    chosen = ", ".join(f"{name} {level}" for name, level in levels.items())
    proof = "proven optimal" if report.facts.get("optimal") else "not proven optimal"
    measure, loss = report.facts.get("utility_measure"), report.facts.get("loss")
    seen = f"{report.facts.get('evaluated'):,} of {report.facts.get('lattice'):,} nodes"
    return [("levels", chosen), ("search", f"{measure} {loss:.7g}, {proof}, {seen} looked at")]


def _risk(report: ReleaseReport, risk: Risk) -> str:
    average, highest = _percent(risk.global_risk), _percent(risk.highest)
    if report.repeats is not None:  # a class of k records may be one person
        return (
            f"of records, not of people: {average} on average, {highest} at worst, "
            f"{risk.unique:,} unique"
        )
    return f"{average} re-identified on average, {highest} at worst, {risk.unique:,} unique"


def _time(report: ReleaseReport) -> str:
    parts = [f"{name} {spent:.2f}" for name, spent in report.seconds.items() if name != "total"]
    return f"{report.seconds['total']:.2f} s ({', '.join(parts)})"


def _share(part: int, whole: int) -> str:
    return _percent(part / whole if whole else 0.0)


def _percent(share: float | None) -> str:
    if share is None:
        return "not known"
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"
