"""What the service takes on: so much, for so long, so many at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

from shoal.core.errors import SchemaError

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the service takes on.

    Attributes:
        upload: bytes that one table may have.
        disk: bytes that all tables of one client may have.
        tables: tables that one client may have.
        running: jobs that are worked on at once, each in a process of its own.
        waiting: jobs that wait for their turn; more are turned away.
        keep: seconds that tables and results are kept.
        seconds: how long a job may take, and an upload.
        patience: seconds without a byte after which an upload is given up.
    """

    upload: int = 1024 * MEGABYTE
    disk: int = 4096 * MEGABYTE
    tables: int = 100
    running: int = 1
    waiting: int = 100
    keep: float = 3600.0
    seconds: float = 3600.0
    patience: float = 30.0

    def __post_init__(self) -> None:
        faults = [
            f"{each.name} must be above 0"
            for each in fields(self)
            if each.name != "waiting" and getattr(self, each.name) <= 0
        ]
        if self.waiting < 0:
            faults.append("waiting must not be below 0")
        if faults:
            raise SchemaError(where="limits", faults=faults)
