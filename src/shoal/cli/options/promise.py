"""What is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shoal.cli.options.groups import Generated, Group, Option, generated, option
from shoal.privacy import Promise, from_flags
from shoal.privacy.registry import options
from shoal.schema.schema import Schema


def _promise_options() -> Generated:
    found = {}
    for name, each in options().items():
        metavar = "|".join(each.choices) or {int: "N", float: "X"}.get(each.kind, "TEXT")
        found[name] = (
            each.kind | None,
            Option(each.help, metavar, each.default or False, each.flags),
        )
    return found


@dataclass(frozen=True, kw_only=True)
class PromiseOptions(Group):
    """What is promised: the words of every promise there is."""

    panel: ClassVar[str] = "Promise"

    asked: Mapping[str, object] = generated(_promise_options)
    replace_promise: bool = option(False, "Flags replace the schema's promise: it is dropped.")

    def promise(self) -> tuple[Promise, ...]:
        """Return what the flags ask for."""
        return from_flags(self.asked)

    def added_to(self, schema: Schema) -> Schema:
        """Return the schema that keeps its own promise and that of the flags, or only theirs."""
        return schema.with_promise(self.promise(), replace_promise=self.replace_promise)
