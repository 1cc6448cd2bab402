"""What went wrong, for a person as one line on standard error, for a program as a document."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from shoal.cli import progress, standard
from shoal.cli.colour import RED, is_coloured, painted
from shoal.cli.render import as_json
from shoal.core.documents import Document, reason
from shoal.core.errors import SchemaError, ShoalError
from shoal.core.suggest import did_you_mean

INTERRUPTED = 130  # as a shell says it: 128 and the number of SIGINT

UsageError: type[Exception] = typer.BadParameter.__mro__[1]

# What names the place of an error, by the order in which it is looked for in the error's facts.
_PLACES = ("where", "hierarchy", "column", "model")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a command did not do what it was asked.

    Attributes:
        where: the file, option or column that it is about; else the command.
        problem: what is wrong and how to go on.
        kind: the class of the error.
        line: where and problem as one sentence, for a person.
        faults: each fault, where there are several.
    """

    where: str
    problem: str
    kind: str
    exit_code: int = 2
    line: str = ""
    faults: tuple[str, ...] = ()

    def to_document(self) -> Document:
        """Return the failure as the one document of `--json`."""
        found: Document = {
            "where": self.where,
            "problem": self.problem,
            "exit_code": self.exit_code,
            "kind": self.kind,
        }
        if self.faults:
            found["faults"] = list(self.faults)
        return {"error": found}

    def show(self, *, json: bool, released: bool) -> int:
        """Print it and return the exit code.

        Args:
            json: a program reads the answer.
            released: standard output is kept for a release, so that the document goes elsewhere.
        """
        progress.clear()
        document = standard.renamed(as_json(self.to_document()))
        if json and released:
            print(document, file=sys.stderr)
            return self.exit_code
        mark = painted("shoal:", RED) if is_coloured(sys.stderr) else "shoal:"
        line = standard.renamed(self.line or f"{self.where}: {self.problem}")
        print(f"{mark} {line}", file=sys.stderr)
        if json:
            print(document)
        return self.exit_code


def failure_of(error: BaseException, command: str) -> Failure:
    """Say what an error means. command: what stands for the place if the error names none."""
    if isinstance(error, ShoalError):
        return _ours(error, command)
    if isinstance(error, UsageError):
        return _usage(error, command)
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        text = "interrupted; every output is as it was, or whole"
        return Failure(
            where=command, problem=text, kind="Interrupted", exit_code=INTERRUPTED, line=text
        )
    if isinstance(error, MemoryError):
        text = (
            "not enough memory for this table on this machine; try a larger one, or --engine spark"
        )
        return Failure(where=command, problem=text, kind="MemoryError", line=text)
    if isinstance(error, OSError):
        text = reason(error)
        return Failure(where=command, problem=text, kind="OSError", line=text)
    return _bug(error, command)


def _ours(error: ShoalError, command: str) -> Failure:
    line, facts = _one_line(str(error)), error.facts
    where = next((str(facts[name]) for name in _PLACES if name in facts), command)
    problem = facts.get("problem")
    if isinstance(error, SchemaError):
        problem = line.removeprefix(f"{_one_line(where)}: ")
    return Failure(
        where=where,
        problem=line if problem is None else _one_line(str(problem)),
        kind=type(error).__name__,
        exit_code=error.exit_code,
        line=line,
        faults=error.faults if isinstance(error, SchemaError) else (),
    )


def _usage(error: BaseException, given: str) -> Failure:
    """Say what is wrong with a command line, and what was probably meant."""
    context = getattr(error, "ctx", None)
    usual = "shoal" if given == "shoal" else f"shoal {given}"
    path = str(getattr(context, "command_path", usual))
    command = getattr(context, "command", None)
    kind, name = type(error).__name__, str(getattr(error, "option_name", ""))
    text = _one_line(str(getattr(error, "message", "")))
    parameter = getattr(error, "param", None)
    if kind == "NoSuchOption":
        known = [flag for each in getattr(command, "params", ()) for flag in _flags(each)]
        text = f"no option {name}{did_you_mean(name, known).replace(chr(39), '')}"
    elif kind == "MissingParameter":
        text = f"{_named(parameter)} is missing"
    elif kind == "BadOptionUsage" and "requires an argument" in text:
        text = f"{name} needs a value behind it"
    elif text.startswith("Got unexpected extra argument"):
        word = text.partition("(s) (")[2].partition(" ")[0].rstrip(")")
        text = f"a word too many, {word!r}; write lists with commas and no spaces, such as --qi a,b"
    elif parameter is not None:
        text = f"{_named(parameter)}: {_value_fault(text, parameter)}"
    elif text.startswith("No such command"):
        asked, commands = text.split("'")[1], list(getattr(command, "commands", ()))
        text = f"no command {asked!r}{did_you_mean(asked, commands)}"
    elif text:
        text = text[0].lower() + text[1:].rstrip(".")
    where = path.removeprefix("shoal ")
    line = f"{where}: {text} (see {path} --help)" if where != path else f"{text} (see shoal --help)"
    return Failure(where=where, problem=f"{text} (see {path} --help)", kind="UsageError", line=line)


def _flags(parameter: object) -> list[str]:
    return [*getattr(parameter, "opts", ()), *getattr(parameter, "secondary_opts", ())]


def _named(parameter: object) -> str:
    if getattr(parameter, "param_type_name", "") == "argument":
        return str(getattr(parameter, "metavar", None) or getattr(parameter, "name", "")).strip(
            "[]"
        )
    return str(min(_flags(parameter), key=len, default="an option"))


def _value_fault(text: str, parameter: object) -> str:
    """Say what a value must be; how the parser says it depends on its version."""
    low = text.lower()
    if "integer" in low or "whole number" in low:
        return "must be a whole number"
    if "number" in low or "float" in low:
        return "must be a number"
    return low.rstrip(".")


def _bug(error: BaseException, command: str) -> Failure:
    # The text of a foreign error may quote the data, so only its kind and place are shown.
    place = own_place(traceback.extract_tb(error.__traceback__))
    if os.environ.get("SHOAL_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(error)
    text = (
        f"a bug of ours: {type(error).__name__} at {place}; please report it "
        "(SHOAL_DEBUG=1 prints the traceback, which may quote your data)"
    )
    return Failure(where=command, problem=text, kind="Bug", exit_code=3, line=text)


def own_place(
    frames: Sequence[traceback.FrameSummary], package: str = str(Path(__file__).parents[1])
) -> str:
    """Return file and line of the last frame in our own code, without the machine's paths."""
    home = package.replace("\\", "/").rstrip("/") + "/"
    for frame in reversed(frames):
        file = frame.filename.replace("\\", "/")
        if file.lower().startswith(home.lower()):  # on Windows, drives come in both cases
            return f"{file[len(home) :]}:{frame.lineno}"
    return "a place outside shoal"


def _one_line(text: str) -> str:
    return " ".join(text.split())
