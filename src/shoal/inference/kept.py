"""Columns that a release keeps as they are: which of them say by themselves who a record is.

The same signs as for `infer`, asked the other way round. A column in doubt is recoded by
`infer` because that costs little; here a false alarm stops somebody's release, so that only
strong signs stop it and weaker ones are warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from shoal.core.documents import Document
from shoal.core.errors import SchemaError
from shoal.inference.column import ColumnFacts
from shoal.inference.headers import names_person, words_of
from shoal.inference.patterns import is_person_name
from shoal.inference.roles import FEW, Verdict, decide
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.schema.techniques import Mask, Technique

NEARLY = 0.5
"""Distinct values for each present one from which a column nearly identifies alone: fewer
than two records share a value on average."""

CLOSE = 0.8 * NEARLY
"""Distinct values for each present one, estimated, from which they are counted exactly."""

ROWS = 20_000
"""Records whose values are looked at; every record is counted."""

_SOME = 0.05
_HALF = 0.5
# Names that are not people's: such a column is a label, unless its values look like people.
_LABELS = (
    "product produkt item article artikel brand marke hospital krankenhaus clinic klinik "
    "department abteilung course kurs test project projekt team station plan program "
    "programme programm site facility business file table field variable event"
)
_THINGS = frozenset(_LABELS.split())


class Finding(StrEnum):
    """How much a column says by itself."""

    IDENTIFIES = "identifies"
    NEARLY = "nearly identifies"
    LINKS = "links records"
    SOME = "links some records"
    SPELT = "is spelled in several ways"
    EMPTY = "names nobody in some records"
    NOBODY = "names nobody in some records of which something is promised"
    ORDER = "is told by the order of the records"


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
        what = {
            Finding.IDENTIFIES: "is kept but is an identifier",
            Finding.NEARLY: "is kept but nearly identifies people by itself",
            Finding.LINKS: "is kept but links the records of a person",
            Finding.SOME: "is kept but links some of the records of a person",
            Finding.SPELT: "may name one person in several ways",
            Finding.EMPTY: "names nobody in some records",
            Finding.NOBODY: "names nobody in some records",
            Finding.ORDER: "is told by the order of the records",
        }[self.finding]
        return f"column {self.name!r} {what}: {self.why}. {self.remedy}"

    @property
    def stops(self) -> bool:
        """Say whether it stops a release, if it is not waived."""
        return self.finding in (Finding.IDENTIFIES, Finding.LINKS, Finding.NOBODY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What was counted of a column whose values became pseudonyms.

    Attributes:
        values: different ones.
        linked: further records of values that several records have.
        chance: a bound on the probability that two of the values got one pseudonym.
    """

    values: int
    linked: int
    chance: float

    def words(self) -> str:
        """Say that no two values got one pseudonym, and how likely that was."""
        return f"{self.values:,} different values, no two alike (chance below {self.chance:.1g})"


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


def judge_replaced(
    column: ColumnFacts, technique: Technique, counted: Replaced | None
) -> KeptColumn | None:
    """Say what is left in a column whose values were replaced; None: nothing.

    column: as it is released. What its header says is what it was, not what it is.
    """
    name = column.name
    meant = f"; if it is meant as it is: --waive {name}"
    if counted is not None:
        if not counted.linked:
            return None
        why = (
            f"{counted.values:,} pseudonyms in {counted.values + counted.linked:,} records, and "
            "a promise for each record is none for linked ones"
        )
        remedy = f"Remove it with --identifying {name}, or release one record a person{meant}"
        return KeptColumn(name=name, finding=Finding.LINKS, why=why, remedy=remedy)
    if not isinstance(technique, Mask):
        return judge_kept(column)
    if column.distinct_share < _SOME:
        return None
    why = f"the mask leaves {column.distinct:,} different values in {column.present:,} cells"
    remedy = f"Keep less of it, or remove it with --identifying {name}{meant}"
    return KeptColumn(name=name, finding=Finding.IDENTIFIES, why=why, remedy=remedy)


def beside(schema: Schema, columns: Sequence[str]) -> list[str]:
    """Return the columns of a table that are neither recoded nor meant to be removed."""
    others = (*schema.quasi, *schema.named(Role.IDENTIFYING), *schema.person)
    return [name for name in columns if name not in others]


def left_in(schema: Schema, columns: Sequence[str]) -> tuple[str, ...]:
    """Warn of identifying columns that a table still has."""
    gone = [n for n in schema.named(Role.IDENTIFYING) if n not in schema.replaced]
    names = ", ".join(repr(n) for n in columns if n in gone)
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
            are_people = sum(map(is_person_name, column.sample)) >= 0.9 * len(column.sample)
            return are_people and column.distinct_share >= _HALF
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
    columns: tuple[ColumnFacts, ...] = field(default=(), repr=False)
    replaced: Mapping[str, Replaced] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Iterable[ColumnFacts], waived: Iterable[str]) -> KeptCheck:
        """Judge every column; those waived by name are judged too, but stop nothing."""
        columns = tuple(columns)
        judged = (judge_kept(column) for column in columns)
        found = tuple(each for each in judged if each is not None)
        return cls(found=found, waived=tuple(waived), columns=columns)

    def with_replaced(
        self, techniques: Mapping[str, Technique], counted: Mapping[str, Replaced]
    ) -> KeptCheck:
        """Judge columns whose values were replaced by what is left in them."""
        left = tuple(each for each in self.found if each.name not in techniques)
        judged = (
            judge_replaced(column, techniques[column.name], counted.get(column.name))
            for column in self.columns
            if column.name in techniques
        )
        found = (*left, *(each for each in judged if each is not None))
        return replace(self, found=found, replaced=dict(counted))

    def with_links(self, links: Sequence[KeptColumn]) -> KeptCheck:
        """Add what was found of columns beside persons; of two findings the one that stops."""
        stopped = {each.name for each in self.found if each.stops}
        fresh = tuple(each for each in links if each.name not in stopped)
        stops = {each.name for each in fresh if each.stops}
        return replace(self, found=(*(e for e in self.found if e.name not in stops), *fresh))

    @property
    def asked(self) -> tuple[KeptColumn, ...]:
        """Return what was found and not waived.

        Whoever waives the person column waives records of nobody: not misspelt keys, not the order.
        """
        never = (Finding.SPELT, Finding.ORDER)
        return tuple(
            each for each in self.found if each.finding in never or each.name not in self.waived
        )

    def refuse(self, where: str) -> None:
        """Stop a release that would publish an identifier, or records of nobody.

        Raises:
            SchemaError: a kept column is an identifier, or a promise leaves records of nobody
                out, and it was not waived.
        """
        self._refuse(where, [each for each in self.asked if each.stops])

    def refuse_nobody(self, where: str) -> None:
        """Refuse to call records safe that a promise leaves out.

        Raises:
            SchemaError: there are records of nobody, and they were not waived.
        """
        self._refuse(where, [each for each in self.asked if each.finding is Finding.NOBODY])

    def _refuse(self, where: str, found: Sequence[KeptColumn]) -> None:
        faults = [each.text for each in found]
        if faults:
            raise SchemaError(where=where, faults=faults)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return everything that was found and not waived, for whoever is not to be stopped."""
        return tuple(each.text for each in self.asked)

    def roles(self, schema: Schema, columns: Sequence[str]) -> dict[str, Document]:
        """Return every column of a table with its role, what was found in it, and waivers."""
        known = {a.name: a for a in schema.attributes}
        found = {each.name: each for each in self.found}
        roles: dict[str, Document] = {}
        for name in columns:
            about = known.get(name)
            is_kept = about is not None and about.is_kept
            roles[name] = {
                "role": None if about is None else str(about.role),
                "released": about is not None and about.is_released,
                "kept": is_kept,
                "replaced": self._done(about),
                "waived": name in self.waived and about is not None and about.is_waivable,
                "finding": str(found[name].finding) if name in found else None,
                "why": found[name].why if name in found else None,
            }
        return roles

    def _done(self, about: Attribute | None) -> str | None:
        """Say what took the place of a column's values; None: nothing did."""
        if about is None or about.release is None:
            return None
        if about.role is Role.PERSON:
            return "replaced by new numbers, in the order of the release"
        counted = self.replaced.get(about.name)
        return about.release.words() + ("" if counted is None else f"; {counted.words()}")
