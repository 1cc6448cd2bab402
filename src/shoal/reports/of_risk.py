"""The report of the risk of a table as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.core.documents import Document
from shoal.reports.about import About
from shoal.reports.document import Bars, Column, Decision, Number, ReportDocument, RiskPart
from shoal.reports.external import for_outsiders, shown, threshold
from shoal.reports.parts import (
    Found,
    answers,
    attackers,
    attacks_of,
    held,
    making,
    number_at,
)
from shoal.reports.pictures import SizeBand
from shoal.reports.words import ROLES, percent, times


def of_risk(
    risk: Found,
    about: About | None = None,
    *,
    quasi: Sequence[str] = (),
    attacks: Sequence[Found] = (),
    request: Document | None = None,
) -> ReportDocument:
    """Return the report of a table as it stands.

    Args:
        risk: the document of `risk`.
        about: who asked for it, and for whom.
        quasi: the quasi-identifiers.
        attacks: documents of the attacks that were carried out on it and its release.
        request: the request that repeats it.
    """
    about = about or About()
    least = threshold((), about)
    unit = "record" if risk["persons"] is None else "person"
    smallest = int(number_at(risk, "smallest_class") or 0)
    facts = {
        "classes": f"{times(number_at(risk, 'classes') or 0)}, the smallest has {smallest:,} "
        f"{unit}s"
    }
    document = ReportDocument(
        kind="risk",
        audience=about.audience,
        title=f"Risk of {about.table}",
        decision=_decision(risk, about, unit, least),
        columns=tuple(
            Column(
                name=name, role="quasi", why=ROLES["quasi"][0], technique="as it stands", bars=None
            )
            for name in quasi
        ),
        risk=_risk(risk, about, attacks, unit, least),
        utility=None,
        making=making(about, facts, request),
    )
    return document if not about.is_external else for_outsiders(document, least)


def _decision(risk: Found, about: About, unit: str, least: int) -> Decision:
    records, persons = int(number_at(risk, "records") or 0), risk["persons"]
    counted = "" if persons is None else f", of {shown(int(str(persons)), least)} persons"
    average, highest = _risks(risk)
    unique = int(number_at(risk, "unique") or 0)
    return Decision(
        what=(
            f"{shown(records, least)} records of {about.table}{counted}, measured as they stand.",
            f"{shown(unique, least)} {unit}s are alone with their quasi-identifiers.",
        ),
        recipient=about.recipient,
        purpose=about.purpose,
        promises=(),
        holds=None,
        numbers=(
            Number(
                name="highest risk",
                text=percent(highest),
                sentence=f"for the {unit} easiest to find",
                share=highest,
                limit=None if about.profile is None else about.profile.limit(),
            ),
            Number(
                name="average risk",
                text=percent(average),
                sentence=f"of the {unit}s are expected to be found",
                share=average,
            ),
            Number(
                name="records",
                text=shown(records, least),
                sentence="measured",
                share=1.0,
            ),
        ),
        profile=held(
            about,
            maximum=highest,
            average=average,
            unit=unit,
            repeats=risk.get("repeats") is not None,
        ),
        warnings=tuple(_texts(risk, "warnings")),
    )


def _risks(risk: Found) -> tuple[float, float]:
    """Return average and highest risk: of trajectories, of the population, or of the table."""
    for name in ("trajectories", "journalist", "prosecutor"):
        highest = number_at(risk, name, "maximum")
        if highest is not None:
            return number_at(risk, name, "average") or 0.0, highest
    return 0.0, 0.0


def _risk(risk: Found, about: About, attacks: Sequence[Found], unit: str, least: int) -> RiskPart:
    carried = attacks_of(attacks, least)
    average, highest = _risks(risk)
    smallest = int(number_at(risk, "smallest_class") or 0)
    texts = {
        "singling out": f"{shown(int(number_at(risk, 'unique') or 0), least)} {unit}s are alone; "
        f"the smallest class has {shown(smallest, least)} {unit}s.",
        "linkability": f"Somebody who knows everybody's quasi-identifiers points out "
        f"{percent(average)} of the {unit}s rightly on average, and anybody with at most "
        f"{percent(highest)}.",
        "inference": "What classes say about sensitive values is shown by attacks alone.",
    }
    columns = risk.get("columns")
    shares = columns if isinstance(columns, Mapping) and not least else {}
    return RiskPart(
        attackers=attackers(None, risk, about.profile),
        sizes=_sizes(risk, unit),
        attacks=carried,
        questions=answers(texts, carried),
        not_protected=(
            "Nothing is promised of a table as it stands: this is what can be found in it.",
            "Columns that were not named as quasi-identifiers are not looked at.",
        ),
        unit=unit,
        columns={
            str(name): number_at(each, "contribution") or 0.0
            for name, each in shares.items()
            if isinstance(each, Mapping)
        },
    )


def _sizes(risk: Found, unit: str) -> Bars | None:
    found = risk.get("sizes")
    if not isinstance(found, Sequence) or not found:
        return None
    bands = [
        SizeBand(low=each["from"], high=each["to"], before=None, after=each["records"])
        for each in found
    ]
    return Bars(
        names=tuple(band.name for band in bands),
        before=None,
        after=tuple(float(band.after) for band in bands),
        note=f"Records by the {unit}s in their class.",
    )


def _texts(risk: Found, name: str) -> list[str]:
    found = risk.get(name)
    return [str(each) for each in found] if isinstance(found, (list, tuple)) else []
