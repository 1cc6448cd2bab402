"""A table and its release side by side: risk by the same rules, and attacks on both."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.engines.base import Checks, Compared
from shoal.engines.local.attack import Attacker
from shoal.engines.local.person_attack import PersonAttacker, Persons
from shoal.engines.local.risk import risk
from shoal.engines.local.source import Source, open_source
from shoal.measures.risk.question import RiskQuestion
from shoal.schema.schema import Others, Schema

_TARGETS = 500  # people that are attacked


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A table and its release.

    Attributes:
        whole: the table with every column; weights and households may not be released.
        original: the table as far as it is released.
    """

    whole: Source
    original: Source
    release: Source
    schema: Schema

    def compare(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of table and release by the same rules, and attack both.

        A column of weights or households that was not released cannot be used by whoever reads
        the release, and is left out of its measure. People of a population belong to a released
        class when its labels cover their values; centroids cover nothing, so nobody can tell.
        """
        made = self.release
        everybody = None if checks.population is None else open_source(checks.population)
        everything = checks.attacks == "all"
        asked = RiskQuestion(
            quasi=self.schema.quasi,
            sampling_fraction=checks.sampling_fraction,
            weights=checks.weights,
            household=checks.household,
            special=everything,
        )
        left = replace(
            asked,
            weights=checks.weights if checks.weights in made.columns else None,
            household=checks.household if checks.household in made.columns else None,
        )
        before = risk(self.original if left == asked else self.whole, asked, population=everybody)
        labels = made.as_labels()
        plain = replace(self.schema, others=Others.DROP, waive=())
        attacker = Attacker(
            self.original, labels, plain, seed=seed, targets=_TARGETS, centroids=centroids
        )
        if everybody is None:
            after = risk(made, left)
        else:
            known = None if centroids else everybody
            after = risk(labels, left, population=known, domains=attacker.table.domains)
        tried = attacker.all() if everything else attacker.three_questions()
        return Compared(before, after, tried)


def compare_persons(
    original: Persons, release: Persons, schema: Schema, checks: Checks, *,
    centroids: bool, seed: int,
) -> Compared:  # fmt: skip
    """Measure the risk of the persons of table and release, and attack both.

    release: with who stands behind each of its records.
    """
    plain = replace(schema, others=Others.DROP, waive=())
    asked = RiskQuestion(
        quasi=schema.quasi, special=checks.attacks == "all", missing=tuple(schema.missing)
    )
    before, after = (
        risk(each.source, replace(asked, person=each.columns)) for each in (original, release)
    )
    labels = Persons(release.source.as_labels(), release.columns)
    attacker = PersonAttacker(
        original, labels, plain, seed=seed, targets=_TARGETS, centroids=centroids
    )
    return Compared(before, after, attacker.three_questions())
