"""What a schema declares about a column, so that nobody has to repeat it in a question."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.dp.question import QuestionOptions
from shoal.schema.schema import Schema


def declared(
    schema: Schema, column: str | None = None, *, by: Sequence[str] = ()
) -> QuestionOptions:
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
    options: QuestionOptions = {}
    if column in known:
        bounds = known[column].bounds
        if bounds is not None:
            options["lower"], options["upper"] = bounds
    groups = {name: known[name].order for name in by if name in known and known[name].order}
    if groups:
        options["groups"] = groups
    if schema.missing:
        options["markers"] = schema.missing
    return options


def with_declared(
    options: QuestionOptions, schema: Schema, column: str | None = None, *, by: Sequence[str] = ()
) -> QuestionOptions:
    """Return the options, with what the schema declares where they say nothing."""
    found, more = QuestionOptions(**options), declared(schema, column, by=by)
    if found.get("lower") is None:
        found["lower"] = more.get("lower")
    if found.get("upper") is None:
        found["upper"] = more.get("upper")
    if found.get("groups") is None:
        found["groups"] = more.get("groups")
    if found.get("markers") is None:
        found["markers"] = more.get("markers")
    return found
