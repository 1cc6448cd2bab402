"""Attribute: one column, what it may reveal and how its values are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from shoal.core.dates import is_form
from shoal.core.errors import SchemaError
from shoal.hierarchies.builder import Builder
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.safe_harbor import TopAge, Year, Zip3
from shoal.schema.techniques import Mask, Pseudonym, Shift, Technique

TECHNIQUES: Mapping[str, type[Technique]] = {
    kind.name: kind for kind in (Pseudonym, Mask, Shift, Zip3, TopAge, Year)
}
"""What `release:` of a column may name."""


class Role(StrEnum):
    """What a column may reveal, and so what a release does to it."""

    IDENTIFYING = "identifying"  # removed, or replaced
    QUASI = "quasi"  # recoded
    SENSITIVE = "sensitive"  # kept; its spread within a class is checked
    NEUTRAL = "neutral"  # kept
    PERSON = "person"  # removed, or a pseudonym; who a record is about: persons are counted


REMOVED = (Role.IDENTIFYING, Role.PERSON)
"""Roles whose columns are not released."""

KEPT = (Role.SENSITIVE, Role.NEUTRAL)
"""Roles whose columns are released as they are."""


class Kind(StrEnum):
    """How the values of a column are compared."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    DATE = "date"
    SET = "set"  # of items, in one cell


SET_SEP = "|"
"""What stands between the items of a cell, where nobody says otherwise."""


class Labels(StrEnum):
    """What a class writes for its values of a number, a date or a category."""

    ROUND = "round"  # intervals of a public grid, nodes that name nobody
    TIGHT = "tight"  # from the smallest to the largest value, the lowest common ancestor


USUAL_LABELS = Labels.ROUND
"""What releases and models write where nobody asks for something else."""


def labels_named(name: object) -> Labels:
    """Return the labels of a name.

    Raises:
        SchemaError: there are none of that name.
    """
    if name not in tuple(Labels):
        raise SchemaError(where="labels", faults=[f"must be one of {', '.join(Labels)}"])
    return Labels(str(name))


class Others(StrEnum):
    """What happens to columns that the schema does not name."""

    FAULT = "fault"
    DROP = "drop"
    KEEP = "keep"


class Proposals(StrEnum):
    """What is proposed for quasi-identifiers without a hierarchy, from their values."""

    NONE = "none"
    TREES = "trees"  # what every method uses: trees of categories, and which texts are dates
    LEVELS = "levels"  # the levels of numbers and dates, too: full-domain recoding chooses them


# How far apart two categories are: by the height of their lowest common ancestor, or by the
# weighted steps up to it [netshiunda2020]; by depth, by steps, by leaves or by equality
# [veltmann2022]. "weighted-example" weighs the steps as the worked example of [netshiunda2020]
# does, not its formula.
DISTANCES = ("height", "weighted", "weighted-example", "wu-palmer", "path", "leaf-share", "equal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One column and the role it plays in a release.

    `kind` None means: numeric if every value is a number, otherwise categorical.
    `order` lists the values of an ordinal column from low to high.
    `bounds` are the lowest and highest possible value: for differentially private statistics, and
    where the intervals of round labels stop.
    `weight` makes a search treat a column as wider (keep it finer) than the others.
    `date_format` is how dates are written, such as %d.%m.%Y; None: ISO dates, or found out.
    `dates` says how they are released: "iso", or the "same" way.
    `distance` says how far apart two of its categories are, one of DISTANCES; `beta` is the
    exponent of the weighted ones (0: every step of the tree weighs the same).
    `set_sep` stands between the items of a cell of kind set; "json": a cell is a list in JSON.
    `utility_constraints` are the sets of items that a label must not cross (coat, pcta).
    `release` is what its values are replaced by, before anything else happens to them; an
    identifying column without it is removed. The pseudonym of a person is always fresh: with the
    key of a project two releases could be joined, and no promise covers both.
    """

    name: str
    role: Role
    kind: Kind | None = None
    hierarchy: Hierarchy | Builder | None = None
    order: tuple[str, ...] = field(default=(), repr=False)  # values of the data
    weight: float = 1.0
    bounds: tuple[float, float] | None = None
    distance: str | None = None
    beta: float = 1.0
    date_format: str | None = None
    dates: str = "iso"
    set_sep: str = SET_SEP
    utility_constraints: tuple[tuple[str, ...], ...] = field(default=(), repr=False)  # values, too
    release: Technique | None = None

    @property
    def is_set(self) -> bool:
        """Say whether its cells are sets of items that are recoded."""
        return self.kind is Kind.SET and self.role is Role.QUASI

    @property
    def is_released(self) -> bool:
        """Say whether a release has the column."""
        return self.role not in REMOVED or self.release is not None

    @property
    def is_kept(self) -> bool:
        """Say whether its values, or what replaced them, are released without being recoded."""
        return self.is_released and self.role is not Role.QUASI

    @property
    def is_waivable(self) -> bool:
        """Say whether what is wrong with it may be meant: of a person column, its missing keys."""
        return self.is_kept or self.role is Role.PERSON

    def __post_init__(self) -> None:
        if isinstance(self.hierarchy, Hierarchy) and self.hierarchy.name != self.name:
            object.__setattr__(self, "hierarchy", self.hierarchy.named(self.name))
        if self.role is Role.PERSON and isinstance(self.release, Pseudonym):
            object.__setattr__(self, "release", replace(self.release, fresh=True))
        wrong = {
            **self._scale_faults(), **self._form_faults(), **self._release_faults(),
            **self._set_faults(),
        }  # fmt: skip
        faults = [] if self.name else ["a column needs a name"]
        faults += [f"column {self.name!r}: {text}" for text, is_wrong in wrong.items() if is_wrong]
        if faults:
            raise SchemaError(where="schema", faults=faults)

    def _scale_faults(self) -> dict[str, bool]:
        """Return what may be wrong with the scale of its values, and whether it is."""
        low, high = self.bounds or (0.0, 1.0)
        return {
            f"a {self.role} column takes no hierarchy": (
                self.hierarchy is not None and self.role not in (Role.QUASI, Role.SENSITIVE)
            ),
            "weight must be a number above 0": not (math.isfinite(self.weight) and self.weight > 0),
            "an order needs kind: ordinal": bool(self.order) and self.kind is not Kind.ORDINAL,
            "kind: ordinal needs order: [low, …, high]": (
                self.kind is Kind.ORDINAL and not self.order and self.hierarchy is None
            ),
            "bounds must be [low, high], two numbers": not -math.inf < low < high < math.inf,
        }

    def _form_faults(self) -> dict[str, bool]:
        """Return what may be wrong with its distance and its dates, and whether it is."""
        has_dates = self.date_format is not None or self.dates != "iso"
        return {
            f"distance must be one of {', '.join(DISTANCES)}": (
                self.distance is not None and self.distance not in DISTANCES
            ),
            "beta must be a number, 0 or above": not (math.isfinite(self.beta) and self.beta >= 0),
            "date_format must have a day, a month and a year, such as %d.%m.%Y, %m/%d/%Y or "
            "%d-%b-%Y": self.date_format is not None and not is_form(self.date_format),
            "date_format and dates need kind: date": has_dates and self.kind is not Kind.DATE,
            "dates must be iso or same": self.dates not in ("iso", "same"),
            "its order names a value twice": len(set(self.order)) != len(self.order),
        }

    def _set_faults(self) -> dict[str, bool]:
        """Return what may be wrong with how its sets are written, and whether it is."""
        return {
            "set_sep goes with kind: set": self.set_sep != SET_SEP and self.kind is not Kind.SET,
            'set_sep must be one or more characters, none of them ()" or a line break': (
                not self.set_sep or any(mark in self.set_sep for mark in '()"\n\r')
            ),
            "utility_constraints go with a column of sets that is a quasi-identifier": (
                bool(self.utility_constraints) and not self.is_set
            ),
            "an item stands in its utility_constraints twice": (
                len(set(self._constrained())) != len(self._constrained())
            ),
            "a column of sets takes a hierarchy of items, not one that is built": (
                self.is_set and isinstance(self.hierarchy, Builder)
            ),
        }

    def _constrained(self) -> list[str]:
        return [item for each in self.utility_constraints for item in each]

    def _release_faults(self) -> dict[str, bool]:
        """Return what may be wrong with what its values are replaced by, and whether it is."""
        if self.release is None:
            return {}
        name, roles = self.release.name, self.release.roles
        is_shift = isinstance(self.release, Shift)
        return {
            f"release: {name} is for {' and '.join(roles)} columns": self.role not in roles,
            "release: shift needs kind: date": is_shift and self.kind not in (None, Kind.DATE),
            "release: shift: its dates cannot be shifted by themselves": (
                isinstance(self.release, Shift) and self.release.by == self.name
            ),
        }
