"""What can be asked of xk-anonymity; see `jobs.requests`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.engines.base import Output
from shoal.jobs.faults import Fault, refuse
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.methods.xk.choices import Choices  # NumPy comes with it


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendRequest:
    """What is asked of xk-anonymity before it is carried out.

    Attributes:
        k: records that a released pair must have, false ones included.
        choices: techniques, diversity, columns, preference; the defaults if None.
    """

    table: object
    schema: Schema
    k: int
    choices: Choices | None = None
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XkRequest(RecommendRequest):
    """What a release under xk-anonymity is asked to be.

    Attributes:
        output: a file; its rows are sorted, and what is suppressed is removed.
        xk: original records that a released pair has; the recommended number if None.
        seed: chooses the records that false ones copy.
        false_records: where to write the numbers of the false rows; it stays inside.
        steps: a new folder for the pairs and the table after each step; raw data, so it
            stays inside and must not hold the release.
    """

    output: Output
    xk: int | None = None
    seed: int = 0
    false_records: str | Path | None = None
    steps: str | Path | None = None

    @property
    def out(self) -> str | Path:
        """Return the file that the release goes to.

        Raises:
            SchemaError: names all faults of the output together.
        """
        output, faults = self.output, []
        if output.out is None:
            faults.append(Fault("xk-anonymity writes a file: name it with --out"))
        if output.suppressed not in (None, "remove"):
            faults.append(Fault("xk-anonymity removes suppressed records: leave --suppressed out"))
        if output.keep_order:
            faults.append(Fault("xk-anonymity sorts its rows: leave --keep-order out"))
        refuse(faults)
        return output.file or ""
