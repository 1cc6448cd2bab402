"""Releases of one table that are to stand beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.cli.options.groups import Group, option


@dataclass(frozen=True, kw_only=True)
class ReleasesOptions(Group):
    """What a release has to do with earlier ones of the same table."""

    panel: ClassVar[str] = "Releases"

    nested_in: str | None = option(
        None, "Be coarser or finer than a release (class file, model).", "FILE"
    )

    def files(self) -> tuple[str, ...]:
        """Return the files that are read and must not be written to."""
        return () if self.nested_in is None else (self.nested_in,)
