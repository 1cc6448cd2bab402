"""Everything shoal raises on purpose.

    ShoalError
    ├── SchemaError          the schema, or the flags that stand for one
    ├── HierarchyError       a hierarchy that is not a tree
    ├── UnknownValueError    values that a hierarchy does not know
    ├── PrivacyError         a promise with impossible parameters
    ├── MethodError          a method or option that does not exist or does not fit
    ├── InputError           a table or file that cannot be read as asked
    ├── OutputError          a place that cannot be written to
    ├── ModelFormatError     a model document that is damaged, hostile or too new
    ├── KernelInputError     arrays that compiled code must not see
    ├── MissingExtraError    an optional part that is not installed
    ├── NoSolutionError      nothing meets the promise within the limits (exit code 1)
    └── UnsafeReleaseError   a finished release failed its verification (exit code 1)

No message ever holds a value of the data: messages end in logs. Column names,
levels, counts and parameters are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


def _rebuild(kind: type[ShoalError], facts: dict[str, object]) -> ShoalError:
    return kind(**facts)


class ShoalError(Exception):
    """Root of every error raised on purpose. Facts are attributes; text is for people."""

    template: ClassVar[str] = "{problem}"
    exit_code: ClassVar[int] = 2

    def __init__(self, **facts: object) -> None:
        super().__init__(self.template.format(**facts))
        self.facts = facts

    def __reduce__(self) -> tuple[object, ...]:  # survives the trip back from a worker process
        return (_rebuild, (type(self), self.facts))


class SchemaError(ShoalError, ValueError):
    """A schema with faults, all of them reported together.

    Example:
        >>> str(SchemaError(where="schema.yaml", faults=["column 'age': no such column"]))
        "schema.yaml: column 'age': no such column"
    """

    def __init__(self, *, where: str, faults: Iterable[str]) -> None:
        listed = tuple(faults)
        text = listed[0] if len(listed) == 1 else ""
        if len(listed) > 1:
            numbered = "; ".join(f"({i}) {fault}" for i, fault in enumerate(listed, start=1))
            text = f"{len(listed)} faults: {numbered}"
        Exception.__init__(self, f"{where}: {text}")
        self.facts = {"where": where, "faults": listed}
        self.faults = listed


class HierarchyError(ShoalError, ValueError):
    """A hierarchy that is not a tree with one root."""

    template = "hierarchy {hierarchy!r}: {problem}"


class UnknownValueError(ShoalError, ValueError):
    """A column holds values that its hierarchy does not know."""

    template = (
        "column {column!r}: {unknown} of {total} distinct values are missing from its hierarchy. "
        "Add them as rows of the hierarchy file, or remove the hierarchy."
    )


class PrivacyError(ShoalError, ValueError):
    """A promise whose parameters cannot be meant."""

    template = "privacy model {model!r}: {problem}"


class MethodError(ShoalError, ValueError):
    """A method, measure or option that does not exist or does not fit."""


class InputError(ShoalError, ValueError):
    """A table or file that cannot be read as asked."""

    template = "{where}: {problem}"


class OutputError(ShoalError, OSError):
    """A place that cannot be written to."""

    template = "{where}: {problem}"


class ModelFormatError(ShoalError, ValueError):
    """A model document that is damaged, hostile or too new."""

    template = "model: {problem}"


class KernelInputError(ShoalError, ValueError):
    """Arrays that compiled code must not see."""

    template = "kernel input: {problem}"


class MissingExtraError(ShoalError, ImportError):
    """An optional part that is not installed."""

    template = "{feature} needs the package {package!r}: install it with  pip install '{extra}'"


class NoSolutionError(ShoalError):
    """Nothing meets the promise within the limits."""

    template = "no solution: {problem}"
    exit_code = 1


class UnsafeReleaseError(ShoalError):
    """A finished release failed its verification, so nothing was written."""

    template = "not safe: {problem}"
    exit_code = 1
