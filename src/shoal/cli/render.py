"""Answers for people: short, aligned, no colour needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from shoal.cli.attack_lines import close_lines
from shoal.cli.bars import bar_lines
from shoal.cli.set_words import set_lines
from shoal.privacy import Verdict
from shoal.reports.fidelity import bound_words, fidelity_words, learning_words
from shoal.reports.release import ReleaseReport, Risk, Verification, by_true_name, checklist_words


def as_json(document: Mapping[str, object]) -> str:
    """Return exactly one JSON document."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def at(document: object, *path: str) -> object:
    """Return what stands in a document at the end of a path of keys; None: nothing does."""
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def entries(document: object, *path: str) -> Mapping[str, object]:
    """Return the mapping at the end of a path of keys; nothing is an empty one."""
    found = at(document, *path)
    return found if isinstance(found, Mapping) else {}


def rows(document: object, *path: str) -> Sequence[object]:
    """Return the list at the end of a path of keys; nothing is an empty one."""
    found = at(document, *path)
    return found if isinstance(found, (list, tuple)) else []


def summary(report: ReleaseReport, *, out: str | None) -> str:
    """Say what a release promises, what it lost and what risk remains."""
    before, after = report.risk_before, report.risk_after
    where = f" in {out}" if out else ""
    drawn = ", their values DRAWN, true of nobody" if "drawn" in report.facts else ""
    head = f"{report.released:,} of {report.records:,} records released{where}{drawn}"
    lines = [
        *[("WARNING", warning) for warning in report.warnings],
        *role_rows(report.roles),
        ("method", report.method),
        *verdict_lines(report.privacy),
        (
            "classes",
            f"{report.classes:,}, the smallest has {_size(report.smallest_class, report.persons)}",
        ),
        *_person_lines(report.persons, report.largest_share),
        *_trajectory_lines(report.facts.get("trajectories")),
        (
            "suppressed",
            f"{report.suppressed:,} records ({_share(report.suppressed, report.records)})",
        ),
        ("loss", _loss(report)),
        *_blanked(report),
        *_table_lines(rows(report.facts, "tables")),
        *_levels(report),
        *_labels(report.facts.get("printed")),
        *set_lines(report.facts.get("sets")),
        ("risk before", _risk(report, before)),
        ("risk after", _risk(report, after)),
        ("time", _time(report)),
    ]
    for line in report.checklist:
        columns, status = checklist_words(line)
        lines.append(
            (
                f"({line['letter']})",
                f"{line['kind']}: {columns}" + (f"; {status}" if status else ""),
            )
        )
    lines += [("notice", notice) for notice in report.notices]
    return head + "\n" + "\n".join(f"  {name:<12}{text}" for name, text in lines)


def role_rows(roles: Mapping[str, Mapping[str, object]]) -> list[tuple[str, str]]:
    """List every column by what a release does with it, and every waiver."""
    groups: dict[str, list[str]] = {"recoded": [], "sensitive": [], "kept": [], "removed": []}
    words = {"quasi": "recoded", "sensitive": "sensitive", "neutral": "kept"}
    for name, about in roles.items():
        if about["role"] not in ("identifying", "person") or not about.get("replaced"):
            groups[words.get(str(about["role"]), "removed")].append(name)
    found = [(group, ", ".join(names)) for group, names in groups.items() if names]
    found += [
        ("replaced", f"{name}: {about['replaced']}")
        for name, about in roles.items()
        if about.get("replaced")
    ]
    for name, about in roles.items():
        if about["waived"]:
            what = about["finding"] or "nothing was found in it"
            text = f"{name}: released as it is, because somebody said so ({what})"
            found.append(("WAIVED", text))
    return found


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """Return each warning on a line of its own."""
    return [f"  {'WARNING':<12}{warning}" for warning in warnings]


def _size(smallest: int, persons: int | None) -> str:
    return f"{smallest:,} {'records' if persons is None else 'persons'}"


def _person_lines(persons: int | None, largest: float | None) -> list[tuple[str, str]]:
    """Say how many persons were counted, and how far one of them may fill a class."""
    if persons is None or largest is None:
        return []
    text = f"{persons:,}; one of them has up to {100 * largest:.0f} % of the records of a class"
    return [("persons", text)]


def _trajectory_lines(found: object) -> list[tuple[str, str]]:
    """Say how persons stand by all their records together, and stood before."""
    if not isinstance(found, Mapping):
        return []
    text = f"{found['different']:,} trajectories, {found['unique']:,} of one person alone"
    if "unique_before" in found:
        text += f" (before: {found['unique_before']:,} of {found['persons_before']:,} persons)"
    return [("linked", text)]


def _blanked(report: ReleaseReport) -> list[tuple[str, str]]:
    """Say how many released cells are blank, where a method blanks cells."""
    columns = entries(report.facts, "blanked")
    if not columns:
        return []
    cells = [int(str(blank)) for blank in columns.values()]
    each = ", ".join(f"{name} {blank:,}" for name, blank in zip(columns, cells, strict=True))
    return [("blanked", f"{sum(cells):,} of {report.released * len(cells):,} cells: {each}")]


def _table_lines(tables: Sequence[object]) -> list[tuple[str, str]]:
    """Say what became of each of several linked tables."""
    return [
        (
            "table",
            f"{at(line, 'table')}: {at(line, 'released'):,} of {at(line, 'records'):,} rows"
            + (
                f", {_percent(lost)} lost (NCP)"
                if isinstance(lost := at(line, "ncp"), float)
                else ""
            ),
        )
        for line in tables
    ]


def verification(result: Verification) -> str:
    """Say whether a table keeps a promise, model by model."""
    verdict = "safe: every class keeps the promise" if result.holds else "NOT safe"
    lines = [
        *[("WARNING", warning) for warning in result.warnings],
        ("records", f"{result.records:,} in {result.classes:,} classes"),
        ("smallest", f"class of {_size(result.smallest_class, result.persons)}"),
        *_person_lines(result.persons, result.largest_share),
        *_trajectory_lines(result.trajectories),
        *verdict_lines(result.privacy),
    ]
    if not result.holds:
        lines.append(("violating", f"{result.violating_records:,} records"))
    return verdict + "\n" + "\n".join(f"  {name:<12}{text}" for name, text in lines)


def verdict_lines(privacy: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Return how classes stand against each promise, with a title each."""
    return [("promise", _result(each)) for each in privacy]


def measures(document: Mapping[str, object]) -> str:
    """List the measures of a release."""
    lines = [
        f"{document['released']:,} of {document['records']:,} records released, "
        f"{document['suppressed']:,} suppressed"
    ]
    if "classes" in document:
        lines[0] += (
            f", {document['classes']:,} classes, the smallest has "
            f"{document['smallest_class']:,} records"
        )
    lines += [f"  {'notice':<16}{notice}" for notice in rows(document, "notices")]
    for name, value in by_true_name(entries(document, "utility")).items():
        text = (
            "not known" if value is None else value if isinstance(value, str) else f"{value:,.6g}"
        )
        why = at(document, "notes", name)
        lines.append(f"  {name:<16}{text}" + ("" if why is None else f" ({why})"))
    lines += [f"  {name:<16}{text}" for name, text in set_lines(document.get("sets"))]
    lines += measured_lines(document)
    return "\n".join([*lines, *_loss_lines(entries(document, "column_loss"))])


def measured_lines(document: Mapping[str, object]) -> list[str]:
    """List fidelity, models trained on the release and the bound, where they were measured."""
    found = [
        *bound_words(entries(document, "bound")),
        *fidelity_words(entries(document, "fidelity")),
        *learning_words(entries(document, "learning")),
    ]
    width = max((len(name) for name, _, _ in found), default=0) + 2
    return [f"  {name:<{width}}{text}" for name, text, _ in found]


def _loss_lines(losses: Mapping[str, object]) -> list[str]:
    """Draw what each column lost, the most first."""
    found = sorted(losses.items(), key=lambda item: -float(str(item[1])))
    drawn = [(name, float(str(share)), _percent(float(str(share)))) for name, share in found]
    return bar_lines("lost in", drawn, indent=18)


def attack_lines(attacks: Sequence[object]) -> list[str]:
    """Return a line for each attack: how often it is right before and after, and by guessing."""
    if not attacks:
        return []
    width = max(len(str(at(each, "attack"))) for each in attacks) + 2
    lines = [f"  {'attack':<{width}}before    after  guessing"]
    for each in attacks:
        before, after = at(each, "before", "success"), at(each, "after", "success")
        guessing = at(each, "after", "baseline")
        lines.append(
            f"  {at(each, 'attack'):<{width}}{before:>6.1%}  {after:>6.1%}    {guessing:>6.1%}"
        )
    return [*lines, *(line for each in attacks for line in close_lines(at(each, "after")))]


_RISKS = (
    # (name, path in the document, whether it is a share)
    ("prosecutor, highest", ("prosecutor", "maximum"), True),
    ("prosecutor, average", ("prosecutor", "average"), True),
    ("journalist, highest", ("journalist", "maximum"), True),
    ("journalist, average", ("journalist", "average"), True),
    ("smallest in population", ("population", "smallest_class"), False),
    ("marketer", ("marketer", "average"), True),
    ("individual, highest", ("individual", "maximum"), True),
    ("individual, average", ("individual", "average"), True),
    ("records above 5 %", ("individual", "high_risk_records"), False),
    ("records below 5 alike", ("below", "5"), False),
    ("expected to be found", ("expected_reidentifications",), False),
    ("household, highest", ("household", "maximum"), True),
    ("household, average", ("household", "average"), True),
    ("special uniques", ("special_uniques", "records"), False),
)


def risk_lines(
    before: Mapping[str, object], after: Mapping[str, object], *, records: bool = False
) -> list[str]:
    """Return every risk of a table and of its release, side by side.

    records: people have several of them, so that these are no risks of people.
    """
    found = []
    for name, path, is_share in _RISKS:
        pair = [at(document, *path) for document in (before, after)]
        if pair[0] is not None:
            texts = ["-" if x is None else f"{x:.2%}" if is_share else f"{x:,.6g}" for x in pair]
            counted = before.get("persons") is not None and path[0] == "below"
            found.append((name.replace("records", "persons") if counted else name, *texts))
    width = max(len(name) for name, *_ in found) + 2
    head = "risk of records" if records else "risk"
    lines = [f"  {head:<{width}}{'before':>10}{'after':>12}"]
    return lines + [f"  {name:<{width}}{old:>10}{new:>12}" for name, old, new in found]


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
    levels = entries(report.facts, "levels")
    if not levels:
        return []
    chosen = ", ".join(f"{name} {level}" for name, level in levels.items())
    proof = "proven optimal" if report.facts.get("optimal") else "not proven optimal"
    measure, loss = report.facts.get("utility_measure"), report.facts.get("loss")
    seen = f"{report.facts.get('evaluated'):,} of {report.facts.get('lattice'):,} nodes"
    return [("levels", chosen), ("search", f"{measure} {loss:.7g}, {proof}, {seen} looked at")]


_OTHER_LABELS = {
    "levels": "levels of hierarchies, called the same whoever is in a class",
    "drawn": "none: each cell is a value that its label left open; the labels are what was "
    "verified, and are not released",
    "centroids": "centroids, which are means or values of people; round labels are for intervals",
    "blanks": "values as they are, which are values of people, or blank",
}


def _labels(printed: object) -> list[tuple[str, str]]:
    """Say where intervals end, and what that gives away."""
    if not isinstance(printed, Mapping):
        return []
    if "ends" not in printed:
        return [("labels", _OTHER_LABELS[str(printed["labels"])])]
    ends, own = printed["ends"], printed["ends_of_one"]
    if printed["labels"] == "round":
        text = "round: intervals end at round numbers, months, quarters or years, at nobody's value"
        left = f"; but for {ends:,} ends in columns whose order no schema declares" if ends else ""
        return [("labels", text + left)]
    if not ends and not printed["nodes"]:
        return [("labels", "tight: no interval, and no node with two children")]
    of_one = "" if own is None else f", {own:,} of them of one record ({_share(own, ends)})"
    text = f"the ends of intervals are {ends:,} values of people{of_one}; --labels round hides them"
    return [("labels", f"tight: {text}")]


def _risk(report: ReleaseReport, risk: Risk) -> str:
    average, highest = _percent(risk.global_risk), _percent(risk.highest)
    if report.repeats is not None:  # a class of k records may be one person
        return (
            f"of records, not of people: {average} on average, {highest} at worst, "
            f"{risk.unique:,} unique"
        )
    of = "" if risk.persons is None else "of the persons "
    return f"{average} {of}re-identified on average, {highest} at worst, {risk.unique:,} unique"


def _time(report: ReleaseReport) -> str:
    parts = [f"{name} {spent:.2f}" for name, spent in report.seconds.items() if name != "total"]
    return f"{report.seconds['total']:.2f} s ({', '.join(parts)})"


def _share(part: int, whole: int) -> str:
    return _percent(part / whole if whole else 0.0)


def _percent(share: float | None) -> str:
    if share is None:
        return "not known"
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"
