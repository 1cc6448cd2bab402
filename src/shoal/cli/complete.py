"""How a command line may go on: commands, options, methods, choices, files, columns of the table.

What a value is follows from the word that a help shows for it: FILE, FILE,FILE, DIR, COLUMN, A,B
(columns), NAME=VALUE (parameters of the method), or the choices themselves, such as local|spark.
Nothing is ever printed but proposals: a table that cannot be read has no columns to propose.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from shoal.cli.help import first_sentence
from shoal.cli.options.input import names
from shoal.cli.stats import STATISTICS
from shoal.core.documents import read_document
from shoal.core.errors import ShoalError
from shoal.methods import registry
from shoal.methods.method import MEASURES
from shoal.methods.parameters import choices, type_words

WORDS, OPEN, FILES, FOLDERS = "words", "open", "files", "folders"
"""How a shell goes on: with one of the words and a space, with one of them and no space (a list
or a value may follow), with a file, with a folder."""

_FILES = ("FILE", "INPUT", "MODEL", "RELEASE", "FILE|URI")
_ROLES = ("qi", "sensitive", "identifying", "neutral", "person")  # a column has one of them
_ENCODINGS = ("utf-8", "cp1252", "latin-1", "iso8859-15", "utf-16", "cp850", "mac-roman")


class Proposal(NamedTuple):
    """A whole word that may stand at the cursor, and what it means."""

    word: str
    help: str = ""


class Answer(NamedTuple):
    """What a shell is told."""

    mode: str
    proposals: tuple[Proposal, ...] = ()

    def lines(self) -> list[str]:
        """Return it as lines: the mode, then each word with its help behind a tab."""
        return [self.mode, *(f"{word}\t{text}" if text else word for word, text in self.proposals)]


class Part(Protocol):
    """An option or argument of a command, as far as it matters here."""

    name: str | None
    opts: list[str]
    secondary_opts: list[str]
    metavar: str | None
    param_type_name: str
    multiple: bool


class Command(Protocol):
    """A command, or a group of them, as far as it matters here."""

    help: str | None
    params: list[Part]


@dataclass
class Line:
    """A command line up to the begun word.

    Attributes:
        given: what options and arguments were given, by name.
        metavars: the words of the help, by name.
        places: arguments that were given.
        waiting: the option whose value comes next.
    """

    command: Command
    given: dict[str, list[str]] = field(default_factory=dict)
    metavars: dict[str, str] = field(default_factory=dict)
    places: int = 0
    waiting: Part | None = None
    is_past_options: bool = False

    @classmethod
    def read(cls, command: Command, words: Iterable[str]) -> Line:
        """Read the words between the command's name and the begun one."""
        line = cls(command, metavars={str(p.name): metavar(p) for p in command.params})
        flags = {flag: p for p in command.params for flag in (*p.opts, *p.secondary_opts)}
        for word in words:
            line._add(word, flags)
        return line

    def _add(self, word: str, flags: Mapping[str, Part]) -> None:
        flag, mark, value = word.partition("=")
        if self.waiting is not None:
            self._note(self.waiting, word)
            self.waiting = None
        elif word == "--" and not self.is_past_options:
            self.is_past_options = True
        elif word[:1] == "-" and len(word) > 1 and not self.is_past_options:
            part = flags.get(flag)
            if part is None:
                return
            if mark:
                self._note(part, value)
            elif _takes_value(part):
                self.waiting = part
            else:
                self._note(part, "")
        else:
            part = self.argument()
            if part is not None:
                self._note(part, word)
            self.places += 1

    def _note(self, part: Part, value: str) -> None:
        self.given.setdefault(str(part.name), []).append(value)

    def argument(self) -> Part | None:
        """Return the argument that comes next."""
        arguments = [p for p in self.command.params if p.param_type_name == "argument"]
        return arguments[self.places] if self.places < len(arguments) else None

    def value(self, name: str) -> str | None:
        """Return what an option was given last."""
        return self.given.get(name, [None])[-1]

    def columns(self) -> tuple[str, ...]:
        """Return the columns of the schema or of the table on the line; none if there is none."""
        schema = self.value("schema")
        if schema:
            with suppress(ShoalError):
                document = read_document(_path(schema))
                found = document.get("columns") if isinstance(document, dict) else None
                if isinstance(found, dict) and found:
                    return tuple(str(name) for name in found)
        return self._header()

    def _header(self) -> tuple[str, ...]:
        from shoal.formats.columns import column_names

        skipped = self.value("skip_lines") or "0"
        tables = (
            value
            for wanted in ("INPUT", "RELEASE")
            for name, values in self.given.items()
            if self.metavars[name] == wanted
            for value in values
        )
        for table in tables:
            with suppress(ShoalError):
                return column_names(
                    _path(table),
                    separator=self.value("sep"),
                    encoding=self.value("encoding"),
                    skip_lines=int(skipped) if skipped.isdigit() else 0,
                )
        return ()


def complete(root: Command, words: Sequence[str]) -> Answer:
    """Return how the last of the words may go on; the first one is the program."""
    begun = words[-1] if len(words) > 1 else ""
    command, rest = root, list(words[1:-1])
    while isinstance(known := getattr(command, "commands", None), dict):
        at = next((i for i, word in enumerate(rest) if word[:1] != "-"), None)
        if at is None:
            return _words(begun, _commands(command, known, begun))
        if rest[at] not in known:
            return Answer(WORDS)
        command, rest = known[rest[at]], rest[at + 1 :]
    line = Line.read(command, rest)
    if line.waiting is not None:
        return _values(line, line.waiting, begun)
    if begun[:1] == "-" and begun != "-" and not line.is_past_options:
        return _option(line, begun)
    part = line.argument()
    if part is not None:
        return _values(line, part, begun)
    return _words(begun, () if line.is_past_options else _flags(line))


def _commands(command: Command, known: Mapping[str, Command], begun: str) -> Iterator[Proposal]:
    if begun[:1] == "-":
        yield from _flags(Line.read(command, ()))
    else:
        for name, each in known.items():
            yield Proposal(name, first_sentence(each.help or ""))


def _option(line: Line, begun: str) -> Answer:
    flag, mark, value = begun.partition("=")
    part = next((p for p in line.command.params if flag in p.opts), None)
    if not mark:
        return _words(begun, _flags(line))
    if part is None:
        return Answer(WORDS)
    mode, proposals = _values(line, part, value)
    return Answer(mode, tuple(Proposal(f"{flag}={word}", text) for word, text in proposals))


def _flags(line: Line) -> Iterator[Proposal]:
    """Yield the options that may still be given."""
    for part in line.command.params:
        is_argument = part.param_type_name == "argument"
        if is_argument or (part.name in line.given and not part.multiple):
            continue
        text = first_sentence(str(getattr(part, "help", "") or ""))
        for flag in (*part.opts, *part.secondary_opts):
            if len(flag) > 2:
                yield Proposal(flag, text)
    yield Proposal("--help", "Show this message")


def _values(line: Line, part: Part, begun: str) -> Answer:
    """Return what an option or argument may be."""
    shown, name = metavar(part), str(part.name)
    if shown in _FILES:
        return Answer(FILES)
    if shown == "DIR":
        return Answer(FOLDERS)
    if shown == "FILE,FILE":
        return _list(begun, _files(begun.rpartition(",")[2]))
    if shown == "A,B":
        return _list(begun, _free_columns(line, name))
    if shown == "COLUMN":
        return _words(begun, map(Proposal, line.columns()))
    if shown == "COLUMN=KEEP":
        return _masks(line, begun)
    if shown == "NAME=VALUE":
        return _parameters(line, begun)
    return _words(begun, _named(shown, name))


def _named(shown: str, name: str) -> Iterable[Proposal]:
    """Return the words of an option that is one of a few."""
    if name == "method" or (shown == "NAME" and name == "name"):
        yield from (Proposal("auto", "chooses by the table"),) if name == "method" else ()
        yield from (Proposal(k.name, k.summary) for k in registry.listed())
        yield from (Proposal(other, summary) for other, _, summary in registry.OTHERS)
        return
    if name == "profile":
        from shoal.reports.profile import profile_names

        yield from map(Proposal, profile_names())
        return
    known = {
        "utility": (*MEASURES, "target", "sse"),
        "encoding": _ENCODINGS,
        "statistic": STATISTICS,
    }
    few = [word for word in shown.split("|") if word.islower() and "," not in word]
    yield from map(Proposal, known.get(name, few))


def _free_columns(line: Line, name: str) -> Iterator[Proposal]:
    """Yield the columns without those that have another role already."""
    others = [role for role in _ROLES if role != name and name in _ROLES]
    taken = {each for role in others for text in line.given.get(role, ()) for each in names(text)}
    yield from (Proposal(each) for each in line.columns() if each not in taken)


def _parameters(line: Line, begun: str) -> Answer:
    """Propose a parameter of the chosen method, then its values."""
    with suppress(ShoalError):
        kind = registry.kind_named(line.value("method") or "auto")
        name, mark, _ = begun.partition("=")
        known = [each.name for each in kind.parameters()]
        if mark and name in known:
            return _words(begun, (Proposal(f"{name}={c}") for c in choices(kind, name)))
        given = {text.partition("=")[0] for text in line.given.get("set", ())}
        free = [each for each in known if each not in given]
        return _words(begun, (Proposal(f"{x}=", type_words(kind, x)) for x in free), OPEN)
    return Answer(WORDS)


def _masks(line: Line, begun: str) -> Answer:
    column, mark, _ = begun.rpartition("=")
    if mark:
        kept = (Proposal(f"{column}={side}:") for side in ("first", "last"))
        return _words(begun, kept, OPEN)
    return _words(begun, (Proposal(f"{each}=") for each in line.columns()), OPEN)


def _list(begun: str, items: Iterable[Proposal]) -> Answer:
    """Propose one more item of a list with commas, without those that stand there."""
    head, mark, _ = begun.rpartition(",")
    there = set(names(head))
    free = (Proposal(f"{head}{mark}{each.word}") for each in items if each.word not in there)
    return _words(begun, free, OPEN)


def _files(begun: str) -> Iterator[Proposal]:
    """Yield files and folders; shells themselves do not complete lists of them."""
    folder, mark, _ = begun.rpartition("/")
    with suppress(OSError):
        for each in sorted(_path(folder + mark or ".").iterdir()):
            yield Proposal(f"{folder}{mark}{each.name}{'/' if each.is_dir() else ''}")


def _words(begun: str, proposals: Iterable[Proposal], mode: str = WORDS) -> Answer:
    fitting = (each for each in proposals if each.word.startswith(begun))
    return Answer(mode, tuple(each for each in fitting if each.word.isprintable()))


def metavar(part: Part) -> str:
    """Return the word that a help shows for a value."""
    return (part.metavar or "").strip("[]")


def _takes_value(part: Part) -> bool:
    return not getattr(part, "is_flag", False)


def _path(text: str) -> Path:
    return Path(os.path.expanduser(text))
