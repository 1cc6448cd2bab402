"""Profiles: the limit that a rule or a guideline sets, where it stands, and of which day it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path

from shoal.core.documents import Document, parse_yaml, read_document
from shoal.core.errors import SchemaError
from shoal.core.suggest import did_you_mean

MEASURES = ("maximum", "average")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a rule asks of a release.

    Attributes:
        max_risk: the largest risk that it allows, 0 … 1; None: it sets none.
        measure: what is held against it: "maximum" or "average".
        smallest_class: records, or persons, that a class, or a count, must have; None: any.
        model: the risk that is meant, in words.
        source, address: the document, and where it is found.
        date: of the document.
        says: what it says, in short.
    """

    name: str
    title: str
    source: str
    date: date
    says: str
    model: str
    max_risk: float | None = None
    measure: str = "maximum"
    smallest_class: int | None = None
    address: str | None = None

    def limit(self) -> float | None:
        """Return the largest risk of one of them that passes; None where an average is held.

        Example:
            >>> Profile(name="x", title="x", source="x", date=date(2020, 1, 1), says="", model="",
            ...         smallest_class=11).limit()
            0.09090909090909091
        """
        limits = [] if self.smallest_class is None else [1 / self.smallest_class]
        if self.max_risk is not None and self.measure == "maximum":
            limits.append(self.max_risk)
        return min(limits, default=None)

    def failures(
        self, *, maximum: float, average: float, unit: str = "record", repeats: bool = False
    ) -> tuple[str, ...]:
        """Return what does not pass; nothing: it passes.

        Args:
            maximum: risk of the one who is found most easily.
            average: expected share that is found.
            unit: what is counted.
            repeats: people have several records, and records are counted.
        """
        found = []
        if repeats:  # a class of so many records may be one person
            found.append(
                "people have several records, and records were counted; name the column that "
                "says who they are about (--person)"
            )
        if self.smallest_class is not None and maximum * self.smallest_class > 1 + 1e-12:
            found.append(
                f"the smallest class has {round(1 / maximum):,} {unit}s, where "
                f"{self.smallest_class:,} are asked for"
            )
        value = maximum if self.measure == "maximum" else average
        if self.max_risk is not None and value > self.max_risk * (1 + 1e-12):
            found.append(
                f"the {self.measure} risk is {value:.4g}, where {self.max_risk:g} is allowed"
            )
        return tuple(found)

    def to_document(self) -> Document:
        """Return the profile as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "max_risk": self.max_risk,
            "measure": self.measure,
            "smallest_class": self.smallest_class,
            "model": self.model,
            "source": self.source,
            "address": self.address,
            "date": self.date.isoformat(),
            "says": self.says,
        }


def profile_names() -> tuple[str, ...]:
    """Return the profiles that come with shoal."""
    found = files("shoal.reports").joinpath("profiles").iterdir()
    return tuple(sorted(each.name[: -len(".yaml")] for each in found if each.name.endswith("yaml")))


def load_profile(name: str | Path) -> Profile:
    """Return a profile by its name, or from a YAML or JSON file.

    Raises:
        InputError: the file cannot be read.
        SchemaError: names everything that is wrong with it.
    """
    text = str(name)
    if text in profile_names():
        place = files("shoal.reports").joinpath("profiles", f"{text}.yaml")
        return profile_from(parse_yaml(place.read_text("utf-8"), where=text), name=text)
    if Path(text).suffix.lower() in (".yaml", ".yml", ".json"):
        return profile_from(read_document(text), name=Path(text).stem, where=text)
    known = profile_names()
    raise SchemaError(
        where="--profile",
        faults=[
            f"no profile {text!r}{did_you_mean(text, known)}; there are {', '.join(known)}, or "
            "name a file (.yaml)"
        ],
    )


def profile_from(document: object, *, name: str, where: str = "profile") -> Profile:
    """Return the profile that a document describes.

    Raises:
        SchemaError: names everything that is wrong with it.
    """
    if not isinstance(document, Mapping):
        raise SchemaError(where=where, faults=["a profile is a mapping of names to values"])
    given = {str(key): value for key, value in document.items()}
    faults = _faults(given)
    if faults:
        raise SchemaError(where=where, faults=faults)
    risk, least = given.get("max_risk"), given.get("smallest_class")
    day = given["date"]
    return Profile(
        name=name,
        title=str(given["title"]),
        source=str(given["source"]),
        date=day if isinstance(day, date) else date.fromisoformat(str(day)),
        says=str(given["says"]).strip(),
        model=str(given["model"]).strip(),
        max_risk=None if risk is None else float(str(risk)),
        measure=str(given.get("measure", "maximum")),
        smallest_class=None if least is None else int(str(least)),
        address=None if given.get("address") is None else str(given["address"]),
    )


_NEEDED = ("title", "source", "date", "says", "model")
_KNOWN = (*_NEEDED, "max_risk", "measure", "smallest_class", "address")


def _faults(given: Mapping[str, object]) -> list[str]:
    found = [
        f"unknown key {key!r}{did_you_mean(key, _KNOWN)}" for key in given if key not in _KNOWN
    ]
    found += [f"{name!r} is missing" for name in _NEEDED if not given.get(name)]
    risk, least = given.get("max_risk"), given.get("smallest_class")
    if risk is None and least is None:
        found.append("needs max_risk or smallest_class")
    if risk is not None and not (_is_number(risk) and 0 < float(str(risk)) <= 1):
        found.append("max_risk must lie above 0 and at most at 1")
    if least is not None and not (isinstance(least, int) and _is_number(least) and least >= 1):
        found.append("smallest_class must be a whole number of at least 1")
    if given.get("measure", "maximum") not in MEASURES:
        found.append(f"measure must be one of {', '.join(MEASURES)}")
    if given.get("date") and not _is_day(given["date"]):
        found.append("date must be a day, such as 2017-09-22")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_day(value: object) -> bool:
    if isinstance(value, date):
        return True
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True
