"""A report for outsiders: nothing in it helps whoever wants to find a person.

It has what the release itself shows, what is promised of it, and shares. It has nothing of the
table before (distributions, risks, hierarchies, the hash), no count below the threshold, no
finding and no notice about single columns, and neither the request nor its seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.privacy import Verdict
from shoal.reports.about import About
from shoal.reports.document import (
    Bars,
    Column,
    Decision,
    MakingPart,
    Measure,
    ReportDocument,
    RiskPart,
    UtilityPart,
)
from shoal.reports.fidelity import WAYS
from shoal.reports.pictures import Distribution, Pictures
from shoal.reports.words import ROLES, percent

_FACTS = ("method",)
_HASHES = ("release", "model")
_FIDELITY = ("k-marginal score", "pMSE ratio")  # of no single value, column or query
_MODELS = (WAYS["release"], WAYS["control"])
FEW = 5
"""The least count that is shown where neither the promise nor a profile asks for more."""


def threshold(verdicts: Sequence[Verdict], about: About) -> int:
    """Return the least count that a report may have; 0: it stays inside.

    Example:
        >>> threshold((), About()), threshold((), About(audience="external"))
        (0, 5)
    """
    if not about.is_external:
        return 0
    asked = [int(getattr(each.model, "k", 0)) for each in verdicts]
    if about.profile is not None:
        asked.append(about.profile.smallest_class or 0)
    most = max(asked, default=0)
    return most if most > 1 else FEW


def shown(number: int, least: int) -> str:
    """Return a count that the readers may see.

    Example:
        >>> shown(0, 5), shown(3, 5), shown(7, 5), shown(3, 0)
        ('0', 'fewer than 5', '7', '3')
    """
    return f"fewer than {least:,}" if 0 < number < least else f"{number:,}"


def for_outsiders(
    document: ReportDocument, least: int, pictures: Pictures | None = None
) -> ReportDocument:
    """Return the report without anything that outsiders must not see.

    Args:
        document: its sentences have no count below the threshold already.
        least: the threshold.
        pictures: of a release, for what is released of each column.
    """
    # Shares of a loss are coarse: from exact ones and the labels, the range of a column follows.
    columns = tuple(_column(each, pictures, least) for each in document.columns if _is_there(each))
    return replace(
        document,
        decision=_decision(document.decision),
        columns=columns,
        risk=None if document.risk is None else _risk(document.risk, least),
        utility=None if document.utility is None else _utility(document.utility),
        making=_making(document.making),
    )


def coarse(share: float) -> float:
    """Return a share in whole per cent; only nothing is 0, and only all is 1.

    Example:
        >>> coarse(0.5238), coarse(0.0001), coarse(0.9999), coarse(0.0)
        (0.52, 0.01, 0.99, 0.0)
    """
    return share if share <= 0 or share >= 1 else min(max(round(share, 2), 0.01), 0.99)


def _coarse_text(measure: Measure) -> Measure:
    """Return a measure in whole per cent; squared error is one already."""
    try:
        value = float(measure.text.replace(",", ""))
    except ValueError:  # not known
        return measure
    whole = 100 if measure.name == "sse_loss" else 1
    return replace(measure, text=f"{coarse(value / whole) * whole:g}")


def _is_there(column: Column) -> bool:
    """Say whether outsiders see the column in the release; others are not even named."""
    return column.role in ("quasi", "sensitive", "neutral")


def _decision(decision: Decision) -> Decision:
    warned = ("There are warnings; the internal report has them.",) if decision.warnings else ()
    profile = decision.profile
    if profile is not None:
        profile = replace(profile, failures=())
    promises = tuple(replace(each, worst="–") for each in decision.promises)
    numbers = tuple(
        replace(each, share=coarse(each.share), text=percent(coarse(each.share)))
        if each.name == "loss" else each
        for each in decision.numbers
    )  # fmt: skip
    return replace(decision, warnings=warned, profile=profile, promises=promises, numbers=numbers)


def _column(column: Column, pictures: Pictures | None, least: int) -> Column:
    why, done = ROLES[column.role]
    found = None if pictures is None else pictures.columns.get(column.name)
    technique = column.technique.split(";", maxsplit=1)[0] if column.role == "quasi" else done
    loss = None if column.loss is None else coarse(column.loss)
    bars = None if found is None else _bars(found, least)
    return replace(column, why=why, technique=technique, loss=loss, bars=bars)


def _bars(found: Distribution, least: int) -> Bars | None:
    """Return what is released most often; what is rare is neither counted nor named."""
    kept = _kept([number for _, number in found.labels], found.others, least)
    if not kept:
        return None
    labels = [found.labels[place] for place in kept]
    hidden = found.others + sum(number for _, number in found.labels)
    hidden -= sum(number for _, number in labels)
    if hidden:
        labels.append(("all others", hidden))
    return Bars(
        names=tuple(label for label, _ in labels),
        before=None,
        after=tuple(float(number) for _, number in labels),
        note="What is released most often, as the release itself shows it.",
    )


def _kept(numbers: Sequence[float], others: float, least: int) -> list[int]:
    """Return the places of counts that may be shown: none is small, nor what is left of the sum.

    Example:
        >>> _kept([20, 7, 9], 0, 5), _kept([20, 3, 9], 0, 5), _kept([20, 3, 9, 2], 0, 5)
        ([0, 1, 2], [0], [0, 2])
    """
    kept = [place for place, number in enumerate(numbers) if number >= least]
    hidden = others + sum(number for number in numbers if number < least)
    while kept and 0 < hidden < least:
        smallest = min(kept, key=lambda place: numbers[place])
        kept.remove(smallest)
        hidden += numbers[smallest]
    return kept


def _risk(risk: RiskPart, least: int) -> RiskPart:
    sizes = risk.sizes
    if sizes is not None and sizes.after is not None:
        kept = _kept(sizes.after, 0, least)
        sizes = replace(
            sizes,
            names=tuple(sizes.names[i] for i in kept),
            before=None,
            after=tuple(sizes.after[i] for i in kept),
        )
    return RiskPart(
        attackers=tuple(
            replace(each, before=None) for each in risk.attackers if each.after is not None
        ),
        sizes=sizes if sizes is not None and sizes.names else None,
        attacks=tuple(replace(each, before=None) for each in risk.attacks),
        questions=risk.questions,
        not_protected=risk.not_protected,
        unit=risk.unit,
    )


def _utility(utility: UtilityPart) -> UtilityPart:
    shares = ("ncp", "precision", "loss", "sse_loss")
    return UtilityPart(
        measures=tuple(_coarse_text(each) for each in utility.measures if each.name in shares),
        losses={name: coarse(share) for name, share in utility.losses.items()},
        fidelity=tuple(each for each in utility.fidelity if each.name in _FIDELITY),
        models=tuple(each for each in utility.models if each[1] in _MODELS),
    )


def _making(making: MakingPart) -> MakingPart:
    return MakingPart(
        facts={name: text for name, text in making.facts.items() if name in _FACTS},
        hashes={name: text for name, text in making.hashes.items() if name in _HASHES},
        versions=making.versions,
        by=making.by,
        date=making.date,
    )
