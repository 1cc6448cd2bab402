"""What a schema declares about a column, so that nobody has to repeat it in a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.schema.schema import Attribute, Schema


def declared(
    schema: Schema, column: str | None = None, *, by: Sequence[str] = ()
) -> dict[str, Any]:
    """Return bounds, groups and marks of missing values as options of a question.

    Only what a person wrote counts: `bounds` and `order`. The leaves of a
    hierarchy do not, for a hierarchy may have been built from the data.

    Example:
        >>> schema = Schema.from_document({"columns": {
        ...     "stage": {"role": "quasi", "kind": "ordinal", "order": ["I", "II"]}}})
        >>> declared(schema, by=["stage"])
        {'groups': {'stage': ('I', 'II')}}
    """
    known = {attribute.name: attribute for attribute in schema.attributes}
    options: dict[str, Any] = {}
    if column in known:
        bounds = bounds_of(known[column])
        if bounds is not None:
            options["lower"], options["upper"] = bounds
    groups = {name: known[name].order for name in by if name in known and known[name].order}
    if groups:
        options["groups"] = groups
    if schema.missing:
        options["markers"] = schema.missing
    return options


def bounds_of(attribute: Attribute) -> tuple[float, float] | None:
    """Return the declared bounds of a column, or None."""
    bounds = getattr(attribute, "bounds", None)
    return (bounds[0], bounds[1]) if bounds is not None else None
