"""How a command answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shoal.cli import colour, progress, standard
from shoal.cli.options.groups import Group, option
from shoal.cli.render import as_json


def writable(text: str, stream: object) -> str:
    """Return a text that a stream can write: letters that it has none of become question marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "replace").decode(encoding)
    return text


@dataclass(frozen=True, kw_only=True)
class JsonOptions(Group):
    """How a command answers."""

    panel: ClassVar[str] = "Output"

    json: bool = option(False, "Print one JSON document.")

    def print(self, document: Mapping[str, object], text: str) -> None:
        """Print the answer: for a program, or for a person."""
        progress.clear()
        stream = standard.answers()
        if self.json:
            print(standard.renamed(as_json(document), mark=True), file=stream)
        else:
            print(writable(colour.answer(standard.renamed(text), stream), stream), file=stream)


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(JsonOptions):
    """How a command answers, if at all."""

    quiet: bool = option(False, "Print nothing but errors.")

    @property
    def is_silent(self) -> bool:
        """Return whether nobody waits for words: no progress is shown, either."""
        return self.quiet or self.json

    def print(self, document: Mapping[str, object], text: str) -> None:
        """Print the answer, unless none is wanted."""
        if self.json or not self.quiet:
            JsonOptions.print(self, document, text)
