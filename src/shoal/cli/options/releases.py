"""Releases of one table that are to stand beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from shoal.cli.options.groups import Group, option
from shoal.cli.options.input import names


class ReleasesWords(TypedDict):
    """What a request takes of the options; see `ReleaseRequest`."""

    nested_in: str | None
    ledger: str | None
    waive_composition: tuple[str, ...]
    after: str | None
    counterfeits: str | None
    counterfeit_table: str | None


@dataclass(frozen=True, kw_only=True)
class ReleasesOptions(Group):
    """What a release has to do with earlier ones of the same table."""

    panel: ClassVar[str] = "Releases"

    nested_in: str | None = option(
        None, "Be coarser or finer than it (class file, model, number).", "FILE"
    )
    ledger: str | None = option(
        None, "What went out before: judged beside it, and entered in it.", "FILE"
    )
    waive_composition: str | None = option(
        None, "Releases of the ledger to stand beside all the same.", "N,N"
    )

    after: str | None = option(
        None, "Follow its releases over time: signatures are kept (--m).", "FILE"
    )
    counterfeits: str | None = option(
        None, "With --after: fill classes with records of nobody, or wait.", "fill|none"
    )
    counterfeit_table: str | None = option(
        None, "With --after: counterfeits by class, to be published.", "FILE"
    )

    def files(self) -> tuple[str, ...]:
        """Return the files that are read and must not be written to."""
        asked = (self.nested_in, self.ledger, self.after)
        return tuple(each for each in asked if each is not None)

    def words(self) -> ReleasesWords:
        """Return what a request takes of them."""
        return {
            "nested_in": self.nested_in,
            "ledger": self.ledger,
            "waive_composition": tuple(names(self.waive_composition)),
            "after": self.after,
            "counterfeits": self.counterfeits,
            "counterfeit_table": self.counterfeit_table,
        }
