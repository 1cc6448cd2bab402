"""What a client is told when it is not answered as it asked."""

from __future__ import annotations

from shoal.core.documents import Document
from shoal.core.errors import SchemaError, ShoalError


class Refusal(Exception):
    """An answer that is no success: a status, and why.

    Attributes:
        status: of HTTP.
        kind: a word for programs.
        problem: where, what, how to go on; never a value of the data.
        faults: each fault of a request that has several.
        headers: that go with it.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        problem: str,
        *,
        faults: tuple[str, ...] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(problem)
        self.status = status
        self.kind = kind
        self.problem = problem
        self.faults = faults
        self.headers = headers or {}

    def to_document(self) -> Document:
        """Return it as the one document that every refusal is."""
        found: Document = {"kind": self.kind, "problem": self.problem}
        if self.faults:
            found["faults"] = list(self.faults)
        return {"error": found}


def unasked(error: ShoalError) -> Refusal:
    """Return the refusal of a request that cannot be asked."""
    faults = tuple(error.faults) if isinstance(error, SchemaError) else ()
    return Refusal(422, type(error).__name__, str(error), faults=faults)


def not_there(what: str) -> Refusal:
    """Return the refusal of what is not there, or not this client's: nobody learns which."""
    return Refusal(404, "NotFound", f"there is no such {what}; it may have been deleted on time")
