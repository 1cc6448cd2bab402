"""What the pictures of a report show: a few counts each, binned where the records were counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One column before and after, in the same bins.

    Attributes:
        bins: what each bin is called, in their order. They are values of the original.
        before: records, or persons, of each bin; None where they were not counted.
        after: the same of the release: each label spread evenly over what it covers.
        labels: what is released most often, with its records, or persons: values of the release.
        others: records, or persons, of all other labels.
        different: how many labels there are.
    """

    bins: tuple[str, ...] = field(repr=False)
    before: tuple[float, ...] | None
    after: tuple[float, ...]
    labels: tuple[tuple[str, int], ...] = field(repr=False)
    others: int
    different: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBand:
    """Records, or persons, in classes of `low` to `high` of them; high None: of any size above."""

    low: int
    high: int | None
    before: int | None
    after: int

    @property
    def name(self) -> str:
        """Return the sizes in words.

        Example:
            >>> SizeBand(low=100, high=None, before=0, after=7).name
            '100 and more'
        """
        if self.high is None:
            return f"{self.low} and more"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Associations:
    """How strongly columns go together, 0 … 1 (Cramér's V of the bins); a row a column."""

    columns: tuple[str, ...]
    before: tuple[tuple[float, ...], ...] | None
    after: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """What the pictures of a release show.

    Attributes:
        unit: what is counted, "record" or "person".
        columns: of each quasi-identifier.
        hierarchies: the drawing of each column's hierarchy, values of the original included.
    """

    unit: str
    columns: Mapping[str, Distribution]
    sizes: tuple[SizeBand, ...]
    associations: Associations | None = None
    hierarchies: Mapping[str, str] = field(default_factory=dict, repr=False)
