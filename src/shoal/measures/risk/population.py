"""The population that the records come from: how many people share the values of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.linkage import MOST_WORK
from shoal.measures.attacks.match import label_distances
from shoal.measures.risk.classes import LIMITS, below
from shoal.measures.risk.question import RiskQuestion
from shoal.table.domain import Domain

TOO_LARGE = "the population is too large to be compared with every class: left out"
_CELLS = 4_000_000  # people × classes that are compared at a time


class PopulationFacts(TypedDict):
    """What a table of the population says about the classes (k-map)."""

    people: int
    smallest_class: int
    below: dict[str, int]
    population_unique_records: int
    classes_larger_than_in_population: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The people who share the values of each class (Fk), as far as they are known.

    Attributes:
        people: float64[classes], or None where nothing is known.
        estimated: from sampling weights or a sampling fraction, not from a table of everybody.
        facts: what a table of everybody says.
        notices: words for the person who reads the report.
    """

    people: NDArray[np.float64] | None = None
    estimated: bool = False
    facts: PopulationFacts | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def estimate(
        cls,
        question: RiskQuestion,
        sizes: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
    ) -> Population:
        """Estimate it from the sum of the weights of each class, or from the sampling fraction."""
        if weights is not None:
            return cls(people=weights, estimated=True)
        if question.sampling_fraction is not None:
            return cls(people=sizes / question.sampling_fraction, estimated=True)
        return cls()

    @classmethod
    def match(cls, sizes: NDArray[np.int64], people: NDArray[np.float64], total: int) -> Population:
        """Return what a table of everybody says.

        Args:
            sizes: records of each class.
            people: those in the population who have its values.
            total: everybody.
        """
        short = int((people < sizes).sum())
        matched = np.maximum(people, sizes).astype(np.int64)
        notice = (
            f"{short} classes have more records than people in the population table; "
            "they count as fully known"
        )
        facts = PopulationFacts(
            people=total,
            smallest_class=int(matched.min()),
            below={str(limit): int(sizes[matched < limit].sum()) for limit in LIMITS},
            population_unique_records=below(sizes[matched == 1], (2,))["2"],
            classes_larger_than_in_population=short,
        )
        return cls(people=people, facts=facts, notices=(notice,) if short else ())


def people_covered(
    domains: Sequence[Domain],
    everybody: Sequence[Sequence[str | None]],
    counts: NDArray[np.float64],
    classes: Sequence[Sequence[str | None]],
) -> NDArray[np.float64]:
    """Return, for each class of a release, the people whose values its labels cover.

    Args:
        domains: the columns as the original has them.
        everybody: the distinct rows of the population: the values of each column.
        counts: people of each row.
        classes: the labels of each class, column by column.
    """
    width = len(classes[0])
    fits: list[NDArray[np.bool_]] = []
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for domain, values, labels in zip(domains, everybody, classes, strict=True):
        value = {text: i for i, text in enumerate(dict.fromkeys(values))}
        label = {text: i for i, text in enumerate(dict.fromkeys(labels))}
        fits.append(label_distances(domain, list(value), list(label)) == 0)
        places.append(
            (np.array([value[text] for text in values]), np.array([label[text] for text in labels]))
        )
    people = np.zeros(width)
    step = max(_CELLS // max(width, 1), 1)
    for at in range(0, len(counts), step):
        rows = slice(at, at + step)
        inside = np.ones((len(counts[rows]), width), dtype=bool)
        for fit, (value_at, label_at) in zip(fits, places, strict=True):
            inside &= fit[value_at[rows]][:, label_at]
        people += counts[rows] @ inside
    return people


def is_comparable(people: int, classes: int, columns: int) -> bool:
    """Say whether so many distinct people can be compared with every class of a release."""
    return people * classes * columns <= MOST_WORK
