"""What takes the place of identifying values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from shoal.cli.options.groups import Group, option
from shoal.cli.options.input import names, refusal
from shoal.core.errors import SchemaError
from shoal.schema.schema import Attribute, Role, Schema
from shoal.schema.techniques import Mask, Pseudonym, Shift, Technique


@dataclass(frozen=True, kw_only=True)
class ReplacingOptions(Group):
    """Identifying columns that are replaced instead of removed."""

    panel: ClassVar[str] = "Replaced columns"

    pseudonym: str | None = option(None, "Columns to replace by pseudonyms.", "A,B")
    mask: list[str] | None = option(  # noqa: RUF009
        None, "Hide all but a few characters, such as ssn=last:4 or name=first:1.", "COLUMN=KEEP"
    )
    shift: str | None = option(None, "Dates to shift by a secret number of days.", "A,B")
    shift_by: str | None = option(None, "The column that says whose a date is.", "COLUMN")
    shift_days: int = option(365, "Most days that dates are shifted by.", "N")
    key: str | None = option(None, "Key file for pseudonyms and shifts (see shoal key).", "FILE")
    fresh: bool = option(False, "Pseudonyms and shifts of this release alone, without a key file.")

    def added_to(self, schema: Schema) -> Schema:
        """Return the schema with the columns that options replace."""
        if self.fresh and self.key is not None:
            raise refusal("--fresh", "give either --key FILE or --fresh, not both")
        asked: dict[str, Technique] = {}
        wanted: list[tuple[str, Technique]] = [
            *((name, Pseudonym(fresh=self.fresh)) for name in names(self.pseudonym)),
            *(_mask(text) for text in self.mask or []),
            *((name, self._shift()) for name in names(self.shift)),
        ]
        for name, technique in wanted:
            if name in asked:
                raise refusal("options", f"column {name!r} is replaced in two ways")
            asked[name] = technique
        known = {each.name: each for each in schema.attributes}
        faults = [
            f"column {name!r} is {known[name].role}: only an identifying column is replaced"
            + (" (--release-person pseudonym)" if known[name].role is Role.PERSON else "")
            for name in asked
            if name in known and known[name].role is not Role.IDENTIFYING
        ]
        if faults:
            raise SchemaError(where="options", faults=faults)
        kept = [replace(a, release=asked.pop(a.name, a.release)) for a in schema.attributes]
        new = [Attribute(name=n, role=Role.IDENTIFYING, release=t) for n, t in asked.items()]
        return replace(schema, attributes=(*kept, *new))

    def files(self) -> tuple[str, ...]:
        """Return what is read and must not be written to."""
        return () if self.key is None else (self.key,)

    def _shift(self) -> Shift:
        if self.shift_by is None:
            raise refusal("--shift", "needs --shift-by COLUMN, the column that says whose it is")
        try:
            return Shift(by=self.shift_by, days=self.shift_days, fresh=self.fresh)
        except ValueError as error:
            raise refusal("--shift-days", str(error)) from None


def _mask(text: str) -> tuple[str, Mask]:
    """Read such as ssn=last:4, or name=first:1,last:1."""
    column, _, kept = text.rpartition("=")
    found: dict[str, int] = {}
    for part in kept.split(","):
        side, _, count = part.partition(":")
        if not column or side not in ("first", "last") or not count.isdigit() or side in found:
            raise refusal("--mask", "must be such as ssn=last:4, or name=first:1,last:1")
        found[side] = int(count)
    return column, Mask(keep_first=found.get("first", 0), keep_last=found.get("last", 0))
