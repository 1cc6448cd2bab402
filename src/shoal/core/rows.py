"""Results that are also tables: rows for any library, and a frame of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.core.errors import MissingExtraError

if TYPE_CHECKING:
    import polars as pl


class Rows:
    """A result with rows; each is a mapping from the names of columns."""

    __slots__ = ()

    def rows(self) -> Sequence[Mapping[str, object]]:
        """Return the rows, for a table of any library."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a Polars frame; what is nested in them is JSON.

        Raises:
            MissingExtraError: Polars is not installed; `rows` needs nothing.
        """
        try:
            import polars as pl
        except ImportError:
            raise MissingExtraError(feature="to_frame", package="polars", extra="shoal") from None
        rows = [{name: _cell(value) for name, value in row.items()} for row in self.rows()]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _cell(value: object) -> object:
    nested = isinstance(value, (Mapping, list, tuple))
    return json.dumps(value, ensure_ascii=False) if nested else value
