"""xk-anonymity as a whole job: recommend, carry out, verify what is written, publish."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.core.errors import UnsafeReleaseError
from shoal.core.schema import Schema
from shoal.engines.local.adaptive import Applied, apply, recommend, verify_release
from shoal.engines.local.recode import Part
from shoal.engines.local.source import format_to_write
from shoal.engines.local.write import all_or_nothing, write_parts
from shoal.methods.adaptive.choices import Choices, asked_diversity
from shoal.methods.adaptive.outcome import Outcome
from shoal.methods.adaptive.pipeline import Techniques

__all__ = ["Choices", "Techniques", "XkRelease", "recommend", "release_xk"]


@dataclass(frozen=True, kw_only=True)
class XkRelease:
    """A verified release and the account of it."""

    outcome: Outcome
    privacy: list[dict[str, Any]]
    seconds: float

    def to_document(self) -> dict[str, Any]:
        """Return the account with the fields that every release has."""
        return {
            "method": "xk",
            **self.outcome.to_document(),
            "classes": self.outcome.pairs_after,
            "privacy": self.privacy,
            "seconds": {"total": round(self.seconds, 6)},
        }


def release_xk(
    table: Any,
    schema: Schema,
    k: int,
    *,
    out: str | Path,
    xk: int | None = None,
    choices: Choices | None = None,
    seed: int = 0,
    separator: str | None = None,
    false_records: str | Path | None = None,
) -> XkRelease:
    """Make a table xk-anonymous, write it, verify the file, and only then publish it.

    Args:
        table: a path or a frame.
        schema: roles, kinds and hierarchies of its columns.
        k: records that a released pair has, false ones included.
        out: where to write the release.
        xk: original records that a released pair has; the recommended number if None.
        choices: techniques, diversity and columns.
        seed: chooses the records that false ones copy.
        separator: of a CSV file.
        false_records: where to write the numbers of the false rows; it stays inside.

    Raises:
        UnsafeReleaseError: the file did not verify; nothing was written.
    """
    began = time.perf_counter()
    format_to_write(Path(out))
    inputs = (table,) if isinstance(table, (str, Path)) else ()
    asked = choices or Choices()
    made = apply(table, schema, k, xk=xk, choices=asked, seed=seed, separator=separator)
    diversity = asked_diversity(schema, asked)
    with all_or_nothing(out, inputs=inputs) as temporary:
        write_parts(iter([Part(made.released, None)]), temporary, separator=separator or ",")
        verified = verify_release(
            temporary,
            schema,
            k,
            diversity=diversity,
            blanked=asked.techniques.sensitive_suppression,
            separator=separator or ",",
        )
        if not all(result.holds for result in verified):
            wrong = sum(result.violating_records for result in verified)
            raise UnsafeReleaseError(
                problem=f"{wrong} released records break the promise; nothing was written"
            )
        if false_records is not None:
            _write_marks(made, false_records, inputs=(*inputs, out))
    privacy = [each.to_document() for result in verified for each in result.privacy]
    return XkRelease(outcome=made.outcome, privacy=privacy, seconds=time.perf_counter() - began)


def _write_marks(made: Applied, path: str | Path, *, inputs: tuple[Any, ...]) -> None:
    with all_or_nothing(path, inputs=inputs, private=True) as temporary:
        write_parts(iter([Part(made.marks(), None)]), temporary)
