"""The report of a release, from its account and what was counted for its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.core.documents import Json
from shoal.reports.about import About
from shoal.reports.document import (
    Answer,
    Attack,
    Bars,
    Column,
    Decision,
    MakingPart,
    Measure,
    Number,
    ReportDocument,
    RiskPart,
    UtilityPart,
)
from shoal.reports.external import for_outsiders, shown, threshold
from shoal.reports.fidelity import fidelity_words, learning_note, learning_rows
from shoal.reports.parts import (
    Found,
    answers,
    attackers,
    attacks_of,
    held,
    holds,
    making,
    promised,
)
from shoal.reports.pictures import Distribution
from shoal.reports.release import (
    OLD_NAMES,
    ReleaseReport,
    by_true_name,
    checklist_words,
    highest_risk,
    written,
)
from shoal.reports.words import MEASURES, ROLES, percent, times


def of_release(
    report: ReleaseReport,
    about: About | None = None,
    *,
    risks: tuple[Found, Found] | None = None,
    attacks: Sequence[Found] = (),
) -> ReportDocument:
    """Return the report of a release.

    Args:
        report: its account.
        about: who asked for it, and for whom.
        risks: documents of the risk of table and release, where both were measured.
        attacks: documents of the attacks that were carried out.
    """
    about = about or About()
    least = threshold(report.privacy, about)
    document = ReportDocument(
        kind="release",
        audience=about.audience,
        title=f"Release of {about.table}",
        decision=_decision(report, about, least),
        columns=_columns(report),
        risk=_risk(report, about, (risks, attacks), least),
        utility=_utility(report),
        making=_making(report, about),
    )
    if not about.is_external:
        return document
    return for_outsiders(document, least, report.pictures)


def _decision(report: ReleaseReport, about: About, least: int) -> Decision:
    after = report.risk_after
    unit = after.unit
    persons = "" if report.persons is None else f", of {shown(report.persons, least)} persons"
    of = f"of {report.records:,} " if not least else ""
    where = "" if about.release is None else f" in {about.release}"
    verdict = holds(report.privacy)
    kept = "It keeps its promise." if verdict else "It does NOT keep its promise."
    return Decision(
        what=(
            *_drawn(report),
            f"{shown(report.released, least)} {of}records of {about.table} are released{where}"
            f"{persons}; {shown(report.suppressed, least)} are suppressed.",
            f"The release was read again and verified after it was written. {kept}",
            *_tables(report, least),
        ),
        recipient=about.recipient,
        purpose=about.purpose,
        promises=promised(report.privacy, unit),
        holds=verdict,
        numbers=_numbers(report, about, least),
        profile=held(
            about,
            maximum=_highest(report),
            average=after.global_risk,
            unit=unit,
            repeats=report.repeats is not None,
        ),
        warnings=report.warnings,
    )


def _drawn(report: ReleaseReport) -> list[str]:
    """Say before all else that values are drawn."""
    found = report.facts.get("drawn")
    return [str(found["note"])] if isinstance(found, dict) else []


def _tables(report: ReleaseReport, least: int) -> list[str]:
    """Say what became of each of several linked tables."""
    lines = report.facts.get("tables")
    found = []
    for line in lines if isinstance(lines, list) else ():
        assert isinstance(line, dict)
        rows, lost = line["released"], line["ncp"]
        loss = f", {percent(lost)} of the information lost (NCP)" if isinstance(lost, float) else ""
        known = shown(rows, least) if isinstance(rows, int) else rows
        found.append(f"Table {line['table']}: {known} rows are released{loss}.")
    return found


def _highest(report: ReleaseReport) -> float:
    """Return the risk of the one easiest to find, suppressed records as the root included."""
    least = highest_risk(report.smallest_class, report.facts.get("trajectories"))
    return max(least, report.risk_after.highest)


def _easiest(report: ReleaseReport, least: int) -> str:
    if report.risk_after.persons is not None:
        return "for the person who is easiest to find"
    counted = ". Records are counted, not people" if report.repeats and not least else ""
    return f"for the record that is easiest to find{counted}"


def _numbers(report: ReleaseReport, about: About, least: int) -> tuple[Number, ...]:
    lost = report.utility.get("ncp") or 0.0
    squared = report.utility.get("sse_loss")
    if squared is not None:
        lost = squared / 100
    share = report.released / report.records if report.records and not least else 1.0
    return (
        Number(
            name="risk",
            text=percent(_highest(report)),
            sentence=_easiest(report, least),
            share=_highest(report),
            limit=None if about.profile is None else about.profile.limit(),
        ),
        Number(
            name="loss",
            text=percent(lost),
            sentence="of the variation of the recoded columns (squared error)"
            if squared is not None
            else "of the information of the recoded columns (NCP)",
            share=min(max(lost, 0.0), 1.0),
        ),
        Number(
            name="records",
            text=shown(report.released, least),
            sentence="released" if least else f"released, {percent(share)} of all",
            share=share,
        ),
    )


def _columns(report: ReleaseReport) -> tuple[Column, ...]:
    pictures = report.pictures
    found = []
    for name, about in report.roles.items():
        role = str(about["role"] or "none")
        why, done = ROLES[role]
        bars = None
        if pictures is not None and name in pictures.columns:
            bars = _bars(pictures.columns[name], pictures.unit)
        found.append(
            Column(
                name=name,
                role=role,
                why=why + (f"; {about['why']}" if about.get("why") else ""),
                technique=_technique(report, name, about, done),
                loss=report.columns.get(name),
                bars=bars,
            )
        )
    known = {each.name for each in found}
    found += [  # an account that has no roles still says what was recoded
        Column(name=name, role="quasi", why=ROLES["quasi"][0], technique="recoded", loss=loss)
        for name, loss in report.columns.items()
        if name not in known
    ]
    return tuple(found)


def _technique(report: ReleaseReport, name: str, about: Mapping[str, Json], done: str) -> str:
    words = done
    if about["role"] == "quasi":
        levels = report.facts.get("levels")
        if isinstance(levels, dict) and name in levels:
            words = f"generalized to level {levels[name]} of its hierarchy"
        elif report.utility.get("sse_loss") is not None:
            words = "replaced by the centroid of its class"
        else:
            words = "generalized: each class gets what covers its values"
    replaced = about.get("replaced")
    if replaced:
        words = f"{replaced}; then {words}" if about["role"] == "quasi" else str(replaced)
    words += "; waived by name" if about["waived"] else ""
    return words + (f"; {about['finding']}" if about.get("finding") else "")


def _bars(found: Distribution, unit: str) -> Bars:
    note = "After: each released label is spread evenly over the values that it covers."
    if found.before is None:
        note += " Before: the tuples stayed on the cluster and were not counted by column."
    if unit == "person":
        note += " A person counts once, shared out over their records."
    return Bars(names=found.bins, before=found.before, after=found.after, unit=unit, note=note)


def _risk(
    report: ReleaseReport,
    about: About,
    measured: tuple[tuple[Found, Found] | None, Sequence[Found]],
    least: int,
) -> RiskPart:
    risks, attacks = measured
    before, after = report.risk_before, report.risk_after
    unit = after.unit
    if risks is None:
        plain = [
            {
                "prosecutor": {"maximum": each.highest, "average": each.global_risk},
                "marketer": {"average": each.global_risk},
            }
            for each in (before, after)
        ]
        risks = plain[0], plain[1]
    carried = attacks_of(attacks, least)
    return RiskPart(
        attackers=attackers(risks[0], risks[1], about.profile),
        sizes=_sizes(report),
        attacks=carried,
        questions=_questions(report, carried, least),
        not_protected=_not_protected(report, is_external=least > 0),
        unit=unit,
    )


def _sizes(report: ReleaseReport) -> Bars | None:
    if report.pictures is None:
        return None
    bands, unit = report.pictures.sizes, report.pictures.unit
    has_before = all(band.before is not None for band in bands)
    note = f"{unit.capitalize()}s by the size of their class."
    note += " A person counts once in each class." if unit == "person" else ""
    return Bars(
        names=tuple(band.name for band in bands),
        before=tuple(float(band.before or 0) for band in bands) if has_before else None,
        after=tuple(float(band.after) for band in bands),
        unit=unit,
        note=note,
    )


def _questions(
    report: ReleaseReport, attacks: tuple[Attack, ...], least: int
) -> tuple[Answer, ...]:
    after = report.risk_after
    alone = "nobody is" if not after.unique else f"{shown(after.unique, least)} are"
    texts = {
        "singling out": f"In the recoded columns {alone} alone in a class; the smallest class has "
        f"{shown(after.smallest_class, least)} {after.unit}s.",
        "linkability": f"Somebody who knows everybody's quasi-identifiers points out "
        f"{percent(after.global_risk)} of the {after.unit}s rightly on average, and anybody with "
        f"at most {percent(after.highest)}.",
        "inference": _inference(report),
    }
    return answers(texts, attacks)


def _inference(report: ReleaseReport) -> str:
    spread = [each for each in report.privacy if each.model.column is not None]
    if spread:
        named = "; ".join(each.model.words() for each in spread)
        return f"The spread of sensitive values within classes is promised: {named}."
    if any(about["role"] == "sensitive" for about in report.roles.values()):
        return (
            "Nothing is promised about sensitive values within a class: where all who look alike "
            "have the same value, it is known of each of them."
        )
    return "No column was named sensitive, so nothing is promised about what can be worked out."


def _not_protected(report: ReleaseReport, *, is_external: bool) -> tuple[str, ...]:
    """Say what the promise does not cover."""
    kept = [name for name, about in report.roles.items() if about.get("kept")]
    found = []
    if kept:
        found.append(
            f"Columns that are released as they are ({', '.join(kept)}): whoever knows one of "
            "their values of a person may tell apart those who look alike."
        )
    if not any(each.model.column is not None for each in report.privacy):
        found.append("Sensitive values: a class may have one value in common.")
    if report.persons is None:
        found.append(
            "Persons with several records: each record counts as a person of its own."
            if report.repeats is None or is_external
            else "Persons: they have several records, and records were counted. See the warnings."
        )
    elif report.largest_share is not None and not is_external:
        found.append(
            f"Equal shares: one person may have {percent(report.largest_share)} of a class's "
            "records."
        )
    return (
        *found,
        "That somebody is in the table at all: the release does not hide it.",
        "Several releases of the same people, laid over each other: ask `shoal compose`.",
        "What is learned about groups: a study of the release may say something about everybody "
        "who is like them.",
    )


def _utility(report: ReleaseReport) -> UtilityPart:
    texts = {
        name: "not known" if value is None else value if isinstance(value, str) else f"{value:,.6g}"
        for name, value in by_true_name(written(report.utility)).items()
    }
    learned = report.facts.get("learning")
    return UtilityPart(
        measures=tuple(
            Measure(name=name, text=text, sentence=MEASURES.get(name, ""))
            for name, text in texts.items()
            if name not in OLD_NAMES
        ),
        losses=dict(sorted(report.columns.items(), key=lambda item: -item[1])),
        associations=None if report.pictures is None else report.pictures.associations,
        fidelity=tuple(
            Measure(name=name, text=text, sentence=sentence)
            for name, text, sentence in fidelity_words(report.facts.get("fidelity"))
        ),
        models=tuple(learning_rows(learned)),
        models_note=learning_note(learned) if learned else "",
    )


def _making(report: ReleaseReport, about: About) -> MakingPart:
    request = report.request
    facts = {
        "method": report.method,
        "classes": f"{times(report.classes)}, the smallest has {report.smallest_class:,} "
        f"{report.risk_after.unit}s",
    }
    if request is not None:
        facts["seed"] = str(request.get("seed", 0))
    for name in ("levels", "lattice", "evaluated", "optimal"):
        if report.facts.get(name) is not None:
            facts[name] = _fact(report.facts[name])
    waivers = tuple(
        f"{name}: released as it is, because somebody said so"
        + (f" ({each['finding']})" if each.get("finding") else "")
        for name, each in report.roles.items()
        if each.get("waived")
    )
    pictures = report.pictures
    return replace(
        making(about, facts, request),
        waivers=waivers,
        notices=report.notices,
        hierarchies={} if pictures is None else dict(pictures.hierarchies),
        checklist=tuple(
            (f"({line['letter']}) {line['kind']}", *checklist_words(line))
            for line in report.checklist
        ),
    )


def _fact(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
