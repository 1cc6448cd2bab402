"""What reports of every kind have in common: promises, profiles, attackers, attacks, signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.core.documents import Document
from shoal.privacy import Verdict
from shoal.reports.about import About
from shoal.reports.document import Answer, Attack, Attacker, Held, MakingPart, Promised
from shoal.reports.profile import Profile
from shoal.reports.words import KNOWS, QUESTIONS, percent, plain_words, wilson

Found = Mapping[str, object]


def promised(verdicts: Sequence[Verdict], unit: str) -> tuple[Promised, ...]:
    """Return each promise in plain words, and how the classes stand."""
    return tuple(
        Promised(
            model=each.model.words(),
            words=plain_words(each.model, unit),
            worst="–" if each.value is None else f"{each.value:.6g}",
            holds=each.holds,
        )
        for each in verdicts
    )


def holds(verdicts: Sequence[Verdict]) -> bool | None:
    """Return whether all hold; None where nothing is promised."""
    return all(each.holds for each in verdicts) if verdicts else None


def held(about: About, *, maximum: float, average: float, unit: str, repeats: bool) -> Held | None:
    """Return how the profile stands, if one was named; see `Profile.failures`."""
    if about.profile is None:
        return None
    failures = about.profile.failures(maximum=maximum, average=average, unit=unit, repeats=repeats)
    return Held(profile=about.profile.to_document(), passed=not failures, failures=failures)


def number_at(found: Found | None, *path: str) -> float | None:
    """Return the number at the end of a path of keys; None: there is none."""
    value: object = found
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) else None


def attackers(
    before: Found | None, after: Found | None, profile: Profile | None
) -> tuple[Attacker, ...]:
    """Return the risk from each kind of attacker, before and after, against a profile's limit."""
    rows = []
    for name, knows in KNOWS.items():
        for measure in ("maximum", "average"):
            pair = [number_at(each, name, measure) for each in (before, after)]
            if pair == [None, None]:
                continue
            limit = None
            if profile is not None and measure == "maximum" and name != "household":
                limit = profile.limit()
            elif profile is not None and measure == profile.measure == "average":
                limit = profile.max_risk
            rows.append(
                Attacker(
                    name=name,
                    knows=knows,
                    measure=measure,
                    before=pair[0],
                    after=pair[1],
                    limit=limit,
                )
            )
    return tuple(rows)


def attacks_of(documents: Sequence[Found], least: int = 0) -> tuple[Attack, ...]:
    """Return attacks that were carried out, with the confidence interval of their success.

    least: for outsiders, attacks are left out from whose share a smaller count can be worked out.
    """
    found = []
    for each in documents:
        targets, after = int(number_at(each, "after", "targets") or 0), _share(each, "after")
        counts = (targets, after * targets, (1 - after) * targets)
        if any(1e-9 < count < least for count in counts):
            continue
        low, high = wilson(after, targets)
        found.append(
            Attack(
                name=str(each["attack"]),
                question=str(each["question"]),
                targets=targets,
                before=_share(each, "before"),
                after=after,
                low=low,
                high=high,
                guessing=number_at(each, "after", "baseline") or 0.0,
            )
        )
    return tuple(found)


def _share(attack: Found, when: str) -> float:
    return min(max(number_at(attack, when, "success") or 0.0, 0.0), 1.0)


def answers(texts: Mapping[str, str], attacks: Sequence[Attack]) -> tuple[Answer, ...]:
    """Answer the three questions: a sentence from the classes, and the attacks that belong to it.

    The questions are those of Opinion 05/2014 (WP 216) on anonymisation techniques.
    """
    found = []
    for question, asks in QUESTIONS.items():
        said = [texts[question]]
        said += [
            f"Attack ({each.name}): right for {percent(each.after)} of {each.targets:,} targets "
            f"({percent(each.low)} to {percent(each.high)}), by guessing {percent(each.guessing)}."
            for each in attacks
            if each.question == question and each.targets  # on nobody, it says nothing
        ]
        if len(said) == 1:
            said.append("No attack of this kind was carried out.")
        found.append(Answer(question=question, asks=asks, answer=" ".join(said)))
    return tuple(found)


def making(about: About, facts: Mapping[str, str], request: Document | None) -> MakingPart:
    """Return how something was made, as far as no job says more."""
    return MakingPart(
        facts=dict(facts),
        hashes=dict(about.hashes),
        versions=dict(about.versions),
        request=request,
        by=about.by,
        date=None if about.day is None else about.day.isoformat(),
    )
