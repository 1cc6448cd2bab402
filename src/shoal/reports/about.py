"""Who asked for a report, for whom, and of which files: what no figure says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from shoal.reports.profile import Profile

INTERNAL, EXTERNAL = "internal", "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The circumstances of a report.

    Attributes:
        audience: "internal" (everything) or "external" (nothing that helps an attacker).
        table: what the table is called.
        release: what the release is called.
        by, purpose, recipient: who decided, what the release is for, and to whom it may go.
        day: the report's date; nothing else in it depends on the clock.
        hashes: SHA-256 of "input", "release" and "model", as far as they are files.
        versions: of this program and of what it ran on.
        profile: the rule that the risk is held against.
    """

    audience: str = INTERNAL
    table: str = "the table"
    release: str | None = None
    by: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    day: date | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    profile: Profile | None = None

    @property
    def is_external(self) -> bool:
        """Say whether the report goes to outsiders."""
        return self.audience == EXTERNAL
