"""From signs to a role: header, form of the values and their counts, weighed in a fixed order.

When in doubt a column is a quasi-identifier: to recode one column too many costs some
detail, to release one too few costs somebody's privacy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from shoal.core.dates import fitting_forms
from shoal.inference.column import ColumnFacts
from shoal.inference.headers import (
    CONCEPTS,
    HIPAA,
    Concept,
    concept_of,
    names_person,
    words_of,
)
from shoal.inference.patterns import EMBEDDED, Pattern, date_form, is_phone_digits, signs
from shoal.schema.schema import Kind, Role

NEARLY_UNIQUE = 0.95
_CODE_WORDS = CONCEPTS["id"].words | {"code", "type", "class", "category", "typ", "art", "flag"}
FEW = 20  # below this number of values, "all different" says little
_BAND = re.compile(r"[\[(]?\s*\d+\s*(-|–|to|,|bis|a)\s*\d+\s*[\])]?|[<>]=?\s*\d+|\d+\s*\+|\d+s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a column is taken for, and why.

    Attributes:
        confidence: 0 … 1; a rank of the evidence, not a measured probability.
        why: the evidence in words: counts and forms, never a value.
        concept: key of `headers.CONCEPTS`, or None.
        hipaa: letter of the HIPAA class, or None.
        free_text: may hold anything; look before anything of it is released.
        date_format: strptime format of dates that are not written as ISO dates.
        by: the kind of sign that decided: "pattern", "hidden", "header", "uniqueness" …
        set_sep: what stands between the items of a column of sets; "json": it has lists in JSON.
    """

    role: Role
    kind: Kind
    confidence: float
    why: str
    concept: str | None = None
    hipaa: str | None = None
    free_text: bool = False
    date_format: str | None = None
    by: str = ""
    set_sep: str | None = None


@dataclass
class _Evidence:
    """The signs of one column, read once."""

    column: ColumnFacts
    header: Concept | None = None
    patterns: list[Pattern] = field(default_factory=list)
    date: tuple[str, str] | None = None

    @classmethod
    def read(cls, column: ColumnFacts) -> _Evidence:
        header = concept_of(column.name)
        date = ("iso", "") if column.form == "date" else None
        if column.form == "text" or (column.form == "integer" and _eight_digits(column)):
            date = date_form(column.sample) if date is None else date
        patterns = [] if date is not None or column.form == "decimal" else signs(column.sample)
        return cls(column, header, patterns, date)

    @property
    def counts(self) -> str:
        column = self.column
        values = "value" if column.distinct == 1 else "values"
        share = f"{column.distinct} different {values} in {column.present} cells"
        return share + (f", {column.missing} missing" if column.missing else "")

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which the dates may be written; two where day and month may be swapped."""
        return fitting_forms(self.column.sample)

    @property
    def kind(self) -> Kind:
        if self.date is not None and (self.date[0] == "iso" or self.forms):
            return Kind.DATE
        words = words_of(self.column.name)
        is_code = self.header is not None and self.header.key in ("zip", "phone", "id")
        is_code = is_code or (bool(words) and words[-1] in _CODE_WORDS)
        return Kind.NUMERIC if self.column.is_number and not is_code else Kind.CATEGORICAL

    def verdict(
        self, concept: Concept | None, role: Role, confidence: float, *reasons: str
    ) -> Verdict:
        date_format = self.date[1] if self.date is not None and self.date[0] != "iso" else None
        if date_format is not None and len(self.forms) == 1:  # and the time of day behind it
            date_format = self.forms[0] + "".join(date_format.partition(" %H")[1:])
        letter = concept.hipaa if concept is not None else None
        if letter is None and self.date is not None:
            letter = "C"
        return Verdict(
            role=role,
            kind=self.kind,
            confidence=confidence,
            why="; ".join(reason for reason in (*reasons, self.counts) if reason),
            concept=None if concept is None else concept.key,
            hipaa=letter,
            date_format=date_format,
        )


def decide(column: ColumnFacts) -> Verdict:
    """Return the role, kind and reasons of one column.

    Example:
        >>> facts = ColumnFacts(name="email", records=3, missing=0, distinct=3, commonest=1,
        ...                     sample=("a@b.org", "c@d.org", "e@f.org"))
        >>> str(decide(facts).role), decide(facts).hipaa
        ('identifying', 'F')
    """
    evidence = _Evidence.read(column)
    for rule, by in _RULES.items():
        found = rule(evidence)
        if found is not None:
            return replace(found, by=by)
    return evidence.verdict(
        None, Role.QUASI, 0.4, "nothing says what it is: recoded, to be on the safe side"
    )


def hipaa_text(letter: str | None) -> str | None:
    """Return a HIPAA class as "(C) dates, and ages over 89"."""
    return None if letter is None else f"({letter}) {HIPAA[letter]}"


_ONE_FORM = {"phone": "fax", "url": "photo"}
"""What values look like, and what they are of the same form where a word of the header says so."""


def _by_pattern(e: _Evidence) -> Verdict | None:
    """Values that prove what they are, whatever the header says."""
    sure = [p for p in e.patterns if p.proof]
    if not sure:
        return None
    agrees = e.header is not None and any(p.concept == e.header.key for p in sure)
    best = next((p for p in sure if e.header is not None and p.concept == e.header.key), sure[0])
    concept = CONCEPTS[best.concept]
    if best.concept == "zip" and not agrees and e.header is not None:
        return None  # the form alone is weak: let the header speak
    reasons = [f"the values are {best.words}"]
    if agrees:
        reasons.append(f"the header says {concept.says}")
    found = e.verdict(concept, concept.role, 0.99 if agrees else 0.9, *reasons)
    other = CONCEPTS.get(_ONE_FORM.get(best.concept, ""))
    if other is not None and other.words & {*words_of(e.column.name)}:
        found = replace(found, hipaa=other.hipaa)
    return found


def _by_hidden(e: _Evidence) -> Verdict | None:
    """Longer texts with an identifier inside."""
    hidden = {key: n for key, n in e.column.embedded.items() if n}
    if not hidden or e.date is not None or e.column.form != "text":
        return None
    listed = ", ".join(f"{EMBEDDED[key].words} in {n}" for key, n in sorted(hidden.items()))
    found = e.verdict(CONCEPTS["text"], Role.IDENTIFYING, 0.9, f"hides {listed} different values")
    return replace(found, free_text=True)


def _by_id_header(e: _Evidence) -> Verdict | None:
    """A header that ends in a word for identifiers, over many different values."""
    words = words_of(e.column.name)
    if not words or words[-1] not in CONCEPTS["id"].words or e.date is not None:
        return None
    column = e.column
    many = column.distinct >= FEW and column.distinct_share >= 0.05
    unique = column.present > 1 and column.distinct == column.present
    person = names_person(column.name) and column.distinct > 1
    if not (many or unique or person):
        return None
    concept = CONCEPTS["record_id" if person else "id"]
    if e.header is not None and e.header.key == "insurance_id":
        concept = e.header
    return e.verdict(
        concept, Role.IDENTIFYING, 0.95 if many or unique else 0.8,
        f"the header says {concept.says}",
    )  # fmt: skip


def _by_identifying_header(e: _Evidence) -> Verdict | None:
    concept = e.header
    if concept is None or concept.role is not Role.IDENTIFYING:
        return None
    column = e.column
    says = f"the header says {concept.says}"
    if concept.key in ("id", "text") and e.date is None:
        few = column.distinct < FEW or column.distinct_share < 0.01
        if few and column.present >= 2 * FEW:
            return None  # a code or a label: judged like any other column
    if e.date is not None and concept.key not in ("name", "address"):
        return None
    if column.distinct <= 2 and column.present >= FEW:
        return e.verdict(
            concept,
            Role.QUASI,
            0.4,
            says,
            "but there are hardly different values: a mere yes or no?",
        )
    confidence = 0.85
    if concept.key == "phone" and all(map(is_phone_digits, column.sample)) and column.sample:
        confidence = 0.97
    found = e.verdict(concept, Role.IDENTIFYING, confidence, says)
    return replace(found, free_text=concept.key == "text")


def _by_date(e: _Evidence) -> Verdict | None:
    if e.date is None:
        return None
    name = e.date[0]
    concept = e.header if e.header is not None and e.header.hipaa == "C" else None
    written = "dates" if name == "iso" else f"dates, written {name}"
    if len(e.forms) > 1:
        ways = " or ".join(e.forms)
        written = f"dates, day or month first: say date_format {ways}"
    elif name != "iso" and not e.forms:
        written += "; ISO dates could be joined by year"
    says = f"the header says {e.header.says}" if e.header is not None else ""
    found = e.verdict(
        concept, Role.QUASI, 0.95 if concept else 0.85, f"the values are {written}", says
    )
    return replace(found, concept=concept.key if concept else "date")


def _by_text(e: _Evidence) -> Verdict | None:
    """Long texts that hardly repeat: they may name anybody."""
    column = e.column
    if column.form != "text" or column.distinct < FEW:
        return None
    wordy = column.words >= 4 and (column.distinct > 500 or column.distinct_share >= 0.2)
    long = column.length >= 60 and column.distinct_share >= 0.02
    if not (wordy or long) or column.distinct_share < 0.01:
        return None
    found = e.verdict(
        CONCEPTS["text"], Role.IDENTIFYING, 0.85,
        f"free text of {column.words:.0f} words on average: it may name people, read it first",
    )  # fmt: skip
    return replace(found, free_text=True)


def _by_place_unique(e: _Evidence) -> Verdict | None:
    """Places or other known facts so fine that nearly everybody has their own."""
    column = e.column
    if e.header is None or e.header.key not in ("place", "work", "family", "stay"):
        return None
    if column.form != "text" or column.distinct_share < NEARLY_UNIQUE or column.present < FEW:
        return None
    return e.verdict(
        e.header, Role.IDENTIFYING, 0.75, f"the header says {e.header.says}", "nearly all differ"
    )


def _by_header(e: _Evidence) -> Verdict | None:
    concept = e.header
    if concept is None or concept.role is Role.IDENTIFYING:
        return None
    says = f"the header says {concept.says}"
    confidence = 0.8
    column = e.column
    if concept.key == "age":
        low, high = column.lowest, column.highest
        if column.is_number and low is not None and high is not None and low >= 0 and high <= 130:
            return e.verdict(concept, Role.QUASI, 0.97, says, "the numbers are ages")
        if is_band(column):
            return e.verdict(concept, Role.QUASI, 0.95, says, "the values are bands of numbers")
    if concept.key == "zip" and all(re.fullmatch(r"[\w\- ]{3,10}", t) for t in column.sample):
        confidence = 0.95
    if concept.key == "sex" and column.distinct <= 6:
        confidence = 0.95
    return e.verdict(concept, concept.role, confidence, says)


def _by_uniqueness(e: _Evidence) -> Verdict | None:
    column = e.column
    if column.present < FEW or column.distinct_share < NEARLY_UNIQUE or e.date is not None:
        return None
    concept = CONCEPTS["id"]
    if column.form == "decimal":
        return e.verdict(
            None, Role.QUASI, 0.6, "a measurement so fine that nearly every value is different"
        )
    every = column.distinct == column.present
    if column.form == "integer" and not every and not column.leading_zeros:
        return e.verdict(None, Role.QUASI, 0.6, "numbers of which nearly every one is different")
    amount = "every value is different" if every else "nearly every value is different"
    if column.form == "integer" and not column.leading_zeros and not _is_dense(column):
        return e.verdict(
            concept, Role.IDENTIFYING, 0.6, amount, "an identifier, or a very fine measurement"
        )
    return e.verdict(concept, Role.IDENTIFYING, 0.85 if every else 0.8, amount)


def _by_name_form(e: _Evidence) -> Verdict | None:
    column = e.column
    if not any(p.concept == "name" for p in e.patterns):
        return None
    if column.distinct < FEW or column.distinct_share < 0.2:
        return None
    return e.verdict(
        CONCEPTS["name"], Role.IDENTIFYING, 0.75, "the values have the form of personal names"
    )


def _by_constancy(e: _Evidence) -> Verdict | None:
    if e.column.distinct + (e.column.missing > 0) > 1:
        return None
    return e.verdict(None, Role.NEUTRAL, 0.9, "it is the same in every record")


_RULES = {
    _by_pattern: "pattern",
    _by_hidden: "hidden",
    _by_id_header: "header",
    _by_identifying_header: "header",
    _by_date: "date",
    _by_text: "text",
    _by_place_unique: "place",
    _by_header: "header",
    _by_uniqueness: "uniqueness",
    _by_name_form: "name form",
    _by_constancy: "constancy",
}


def _eight_digits(column: ColumnFacts) -> bool:
    return (
        column.lowest is not None
        and column.highest is not None
        and column.lowest >= 18500101
        and column.highest <= 21001231
    )


def _is_dense(column: ColumnFacts) -> bool:
    """Say whether numbers look counted through, or all have the same number of digits."""
    if column.lowest is None or column.highest is None:
        return False
    run = column.highest - column.lowest + 1 <= 10 * column.distinct
    return run or (column.widths == 1 and column.length >= 5)


def is_band(column: ColumnFacts) -> bool:
    """Say whether all values are bands of numbers such as "[30-40)"."""
    return bool(column.sample) and all(_BAND.fullmatch(text.strip()) for text in column.sample)
