"""The report of a verification, and of a batch that was encoded and verified."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.core.documents import Document, Json
from shoal.reports.about import About
from shoal.reports.document import Column, Decision, MakingPart, Number, ReportDocument, RiskPart
from shoal.reports.external import for_outsiders, shown, threshold
from shoal.reports.parts import answers, attackers, held, holds, making, promised
from shoal.reports.release import Verification
from shoal.reports.words import ROLES, percent

_NOT_PROTECTED = (
    "Columns that are released as they are: whoever knows one of their values of a person may "
    "tell apart those who look alike.",
    "That somebody is in the table at all: the release does not hide it.",
    "Several releases of the same people, laid over each other: ask `shoal compose`.",
)


def of_verification(
    verified: Verification,
    about: About | None = None,
    *,
    roles: Mapping[str, str] | None = None,
    request: Document | None = None,
    batch: Mapping[str, Json] | None = None,
) -> ReportDocument:
    """Return the report of a table that was judged as it stands.

    Args:
        verified: the verdict.
        about: who asked for it, and for whom.
        roles: of its columns.
        request: the request that repeats it.
        batch: what encoding it counted, where a model made it.
    """
    about = about or About()
    least = threshold(verified.privacy, about)
    title = f"Verification of {about.table}" if batch is None else f"Release of {about.table}"
    document = ReportDocument(
        kind="verification" if batch is None else "batch",
        audience=about.audience,
        title=title,
        decision=_decision(verified, about, batch, least),
        columns=tuple(
            Column(name=name, role=role, why=ROLES[role][0], technique=_done(role, batch))
            for name, role in (roles or {}).items()
        ),
        risk=_risk(verified, about, least),
        utility=None,
        making=_making(verified, about, request, batch),
    )
    return document if not about.is_external else for_outsiders(document, least)


def _done(role: str, batch: Mapping[str, Json] | None) -> str:
    if role == "quasi":
        return "as it stands" if batch is None else "recoded by the model"
    return ROLES[role][1]


def _unit(verified: Verification) -> str:
    return "record" if verified.persons is None else "person"


def _average(verified: Verification) -> float:
    """Return the expected share found; where persons are counted, a bound that it never exceeds.

    Of each class one is pointed out rightly, and a person may stand in several.
    """
    whole = verified.records if verified.persons is None else verified.persons
    return min(verified.classes / whole, verified.highest) if whole else 0.0


def _decision(
    verified: Verification, about: About, batch: Mapping[str, Json] | None, least: int
) -> Decision:
    unit, highest = _unit(verified), verified.highest
    persons = "" if verified.persons is None else f", of {shown(verified.persons, least)} persons"
    judged = f"{persons}, were judged." if persons else " were judged."
    what = [f"{shown(verified.records, least)} records of {about.table}{judged}"]
    if batch is not None:
        suppressed = shown(int(str(batch["suppressed"])), least)
        of = "" if least else f"of {batch['records']:,} "
        where = "" if about.release is None else f" in {about.release}"
        what = [
            f"{shown(int(str(batch['released'])), least)} {of}records of {about.table} are "
            f"released by a model{where}{persons}; {suppressed} are suppressed."
        ]
    verdict = holds(verified.privacy)
    violating = shown(verified.violating_records, least)
    what.append(
        "Every class keeps the promise." if verdict else f"NOT safe: {violating} records break it."
    )
    return Decision(
        what=tuple(what),
        recipient=about.recipient,
        purpose=about.purpose,
        promises=promised(verified.privacy, unit),
        holds=verdict,
        numbers=(
            Number(
                name="risk",
                text=percent(highest),
                sentence=f"for the {unit} easiest to find",
                share=highest,
                limit=None if about.profile is None else about.profile.limit(),
            ),
            Number(
                name="smallest class",
                text=shown(verified.smallest_class, least),
                sentence=f"{unit}s who look alike",
                share=1.0,
            ),
            Number(
                name="records",
                text=shown(verified.records, least),
                sentence="judged",
                share=1.0,
            ),
        ),
        profile=held(
            about,
            maximum=highest,
            average=_average(verified),
            unit=unit,
            repeats=verified.repeats is not None,
        ),
        warnings=verified.warnings,
    )


def _risk(verified: Verification, about: About, least: int) -> RiskPart:
    unit, highest = _unit(verified), verified.highest
    risk = {"prosecutor": {"maximum": highest, "average": _average(verified)}}
    spread = [each.model.words() for each in verified.privacy if each.model.column is not None]
    texts = {
        "singling out": f"The smallest class has {shown(verified.smallest_class, least)} {unit}s.",
        "linkability": f"Somebody who knows a person's quasi-identifiers points them out with at "
        f"most {percent(highest)}.",
        "inference": f"Judged: {'; '.join(spread)}."
        if spread
        else "Nothing is promised about sensitive values within a class.",
    }
    return RiskPart(
        attackers=attackers(None, risk, about.profile),
        sizes=None,
        attacks=(),
        questions=answers(texts, ()),
        not_protected=_NOT_PROTECTED,
        unit=unit,
    )


def _making(
    verified: Verification, about: About, request: Document | None, batch: Mapping[str, Json] | None
) -> MakingPart:
    facts = {"classes": f"{verified.classes:,}"}
    if batch is not None:
        facts["values never seen by the model"] = f"{batch['unseen']:,}"
    return making(about, facts, request)
