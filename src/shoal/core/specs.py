"""Small frozen specifications that a schema can hold: checked at birth, read from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self, TypeGuard

from shoal.core.documents import Document, as_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What all specifications share: every fault in one message, and a document."""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _frozen(getattr(self, each.name)))
        faults = self._faults()
        if faults:
            raise ValueError("; ".join(faults))

    def _faults(self) -> list[str]:
        raise NotImplementedError

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Read the specification from a schema.

        Raises:
            ValueError: with all faults at once.
        """
        if not isinstance(document, Mapping):
            raise ValueError("it must be a mapping of options")
        known = [each.name for each in fields(cls)]
        faults = [
            f"unknown option {str(key)!r}; there are {', '.join(known) or 'none'}"
            for key in document
            if key not in known
        ]
        try:
            spec = cls(**{str(key): document[key] for key in document if key in known})
        except ValueError as error:
            faults.append(str(error))
        if faults:
            raise ValueError("; ".join(faults))
        return spec

    def to_document(self) -> Document:
        """Return the specification as plain data; options that are not set are left out."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            key: value.to_document() if isinstance(value, Spec) else as_json(value)
            for key, value in given.items()
            if value is not None
        }


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def is_count(value: object, *, least: int) -> TypeGuard[int]:
    """Say whether an option is a whole number of at least so much."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
