"""Columns that a release keeps as they are: which of them say by themselves who a record is.

The same signs as for `infer`, asked the other way round. A column in doubt is recoded by
`infer` because that costs little; here a false alarm stops somebody's release, so that only
strong signs stop it and weaker ones are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shoal.core.errors import SchemaError
from shoal.methods.infer.column import ColumnFacts
from shoal.methods.infer.headers import names_person, words_of
from shoal.methods.infer.patterns import is_person_name
from shoal.methods.infer.roles import FEW, Verdict, decide
from shoal.schema.schema import KEPT, Kind, Role, Schema

NEARLY = 0.5
"""Distinct values for each present one from which a column nearly identifies alone: fewer
than two records share a value on average."""

_SOME = 0.05
_HALF = 0.5
# Names that are not people's: such a column is a label, unless its values look like people.
_THINGS = frozenset(
    [
        "product",
        "produkt",
        "item",
        "article",
        "artikel",
        "brand",
        "marke",
        "hospital",
        "krankenhaus",
        "clinic",
        "klinik",
        "department",
        "abteilung",
        "course",
        "kurs",
        "test",
        "project",
        "projekt",
        "team",
        "station",
        "plan",
        "program",
        "programme",
        "programm",
        "site",
        "facility",
        "business",
        "file",
        "table",
        "field",
        "variable",
        "event",
    ]
)


class Finding(StrEnum):
    """How much a column says by itself."""

    IDENTIFIES = "identifies"
    NEARLY = "nearly identifies"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptColumn:
    """A kept column that says too much, and why: counts and forms, never a value."""

    name: str
    finding: Finding
    why: str
    remedy: str

    @property
    def text(self) -> str:
        """Return the finding as a sentence, with the ways to go on."""
        is_one = self.finding is Finding.IDENTIFIES
        what = "is an identifier" if is_one else "nearly identifies people by itself"
        return f"column {self.name!r} is kept but {what}: {self.why}. {self.remedy}"


def judge_kept(column: ColumnFacts) -> KeptColumn | None:
    """Say what a column reveals when it is released as it is; None: nothing by itself.

    Example:
        >>> facts = ColumnFacts(name="x", records=3, missing=0, distinct=3, commonest=1,
        ...                     sample=("a@b.org", "c@d.org", "e@f.org"))
        >>> str(judge_kept(facts).finding)
        'identifies'
    """
    if not column.present:
        return None
    verdict = decide(column)
    if _identifies(column, verdict):
        finding, remedy = Finding.IDENTIFIES, f"Remove it with --identifying {column.name}"
    elif verdict.free_text or _is_fine(column):
        finding, remedy = Finding.NEARLY, _coarser(column, verdict)
    else:
        return None
    return KeptColumn(
        name=column.name,
        finding=finding,
        why=verdict.why if finding is Finding.IDENTIFIES else _how_fine(column, verdict),
        remedy=f"{remedy}; if it is meant as it is: --waive {column.name}",
    )


def beside(schema: Schema, columns: Sequence[str]) -> list[str]:
    """Return the columns of a table that are neither recoded nor meant to be removed."""
    others = (*schema.quasi, *schema.named(Role.IDENTIFYING))
    return [name for name in columns if name not in others]


def left_in(schema: Schema, columns: Sequence[str]) -> tuple[str, ...]:
    """Warn of identifying columns that a table still has."""
    names = ", ".join(repr(n) for n in columns if n in schema.named(Role.IDENTIFYING))
    return (f"identifying, and still in the table: {names}",) if names else ()


def _identifies(column: ColumnFacts, verdict: Verdict) -> bool:
    """Say whether the signs are strong enough to stop a release."""
    if verdict.role is not Role.IDENTIFYING or column.form in ("decimal", "boolean"):
        return False
    if column.distinct < FEW and column.distinct_share < _SOME:
        return False  # a few values for many records are labels, whatever they look like
    if verdict.by == "pattern" or verdict.by == "hidden":
        return True
    if verdict.by == "header":
        return _header_holds(column, verdict)
    if verdict.by == "name form":
        return column.distinct_share >= _HALF
    return verdict.by == "uniqueness" and _is_code(column)


def _header_holds(column: ColumnFacts, verdict: Verdict) -> bool:
    """Say whether the values bear out a header that speaks of an identifier."""
    if verdict.free_text:
        return False
    if verdict.concept == "name":
        if not _THINGS.isdisjoint(words_of(column.name)):
            looks = sum(map(is_person_name, column.sample)) >= 0.9 * len(column.sample)
            return looks and column.distinct_share >= _HALF
        return column.form == "text"
    if verdict.concept == "id" and not names_person(column.name):
        return column.distinct_share >= _HALF
    return column.distinct_share >= _SOME


def _is_code(column: ColumnFacts) -> bool:
    """Say whether values of which hardly one repeats are numbers that somebody gave out."""
    if column.form == "text":
        return column.words < 1.5
    if column.form != "integer" or column.distinct < column.present:
        return False
    if column.leading_zeros or (column.widths == 1 and column.length >= 7):
        return True
    if column.lowest is None or column.highest is None:
        return False
    return column.highest - column.lowest + 1 <= 1.5 * column.distinct  # counted through


def _is_fine(column: ColumnFacts) -> bool:
    return column.present >= FEW and column.distinct_share >= NEARLY


def _how_fine(column: ColumnFacts, verdict: Verdict) -> str:
    if verdict.free_text:
        return verdict.why
    return f"{column.distinct:,} different values in {column.present:,} cells"


def _coarser(column: ColumnFacts, verdict: Verdict) -> str:
    name = column.name
    if verdict.free_text:
        return f"Leave free text out (--identifying {name})"
    if verdict.kind is Kind.DATE or verdict.date_format is not None:
        return f"Cut it to the month or the year, or recode it (--qi {name})"
    if column.is_number:
        return f"Round it, or recode it (--qi {name})"
    return f"Join its values into groups, or recode it (--qi {name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCheck:
    """What was found in the kept columns of one table, and what of it was waived."""

    found: tuple[KeptColumn, ...] = ()
    waived: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Iterable[ColumnFacts], waived: Iterable[str]) -> KeptCheck:
        """Judge every column; those waived by name are judged too, but stop nothing."""
        judged = (judge_kept(column) for column in columns)
        return cls(found=tuple(each for each in judged if each is not None), waived=tuple(waived))

    @property
    def asked(self) -> tuple[KeptColumn, ...]:
        """Return what was found and not waived."""
        return tuple(each for each in self.found if each.name not in self.waived)

    def refuse(self, where: str) -> None:
        """Stop a release that would publish an identifier.

        Raises:
            SchemaError: a kept column is an identifier, and nobody waived it.
        """
        faults = [each.text for each in self.asked if each.finding is Finding.IDENTIFIES]
        if faults:
            raise SchemaError(where=where, faults=faults)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return everything that was found and not waived, for whoever is not to be stopped."""
        return tuple(each.text for each in self.asked)

    def roles(self, schema: Schema, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return every column of a table with its role, what was found in it, and waivers."""
        known = {a.name: a.role for a in schema.attributes}
        found = {each.name: each for each in self.found}
        roles: dict[str, dict[str, Any]] = {}
        for name in columns:
            role = known.get(name)
            roles[name] = {
                "role": None if role is None else str(role),
                "released": role is not None and role is not Role.IDENTIFYING,
                "kept": role in KEPT,
                "waived": role in KEPT and name in self.waived,
                "finding": str(found[name].finding) if name in found else None,
                "why": found[name].why if name in found else None,
            }
        return roles
