"""What all builders of hierarchies share.

A builder is a small frozen specification that a schema can hold. `build` takes the values that
occur (missing ones left out) and returns a hierarchy whose values are the texts of just these.
The order of the input never matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from shoal.core.numbers import number_text
from shoal.core.specs import Spec
from shoal.hierarchies.tree import Hierarchy

Value = str | int | float
ROOT = "*"
LARGEST = 400
"""Digits before or after the point of a number; floats have 309."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder(Spec):
    """What all builders share beside a specification: they build."""

    def build(self, name: str, values: Sequence[Value]) -> Hierarchy:
        """Return the hierarchy of these values.

        Raises:
            HierarchyError: there are no values, or some are not of the expected kind.
        """
        raise NotImplementedError


def text_of(value: Value) -> str:
    """Return the text that a value has in a hierarchy."""
    return value if isinstance(value, str) else number_text(value)


def exact_number(text: str) -> Decimal | None:
    """Read a number, or `None`; sizes that would make exact arithmetic slow are none."""
    if len(text) > LARGEST or "_" in text:
        return None
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= LARGEST else None
