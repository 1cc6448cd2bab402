"""The commonest mistakes and what they are answered: `make mistakes` renews the page.

Each command is run on small made-up files, and so is its twin in Python where there is one.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import polars as pl

import shoal
from shoal.cli.main import main
from shoal.core.errors import ShoalError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "mistakes.md"

_STAYS = """\
age,sex,zip,admitted,diagnosis,patient
34,f,75275,2024-03-01,asthma,P1
36,f,75276,2024-03-02,flu,P2
41,m,75275,2024-03-05,flu,P3
47,m,75201,2024-04-01,angina,P4
52,f,75202,2024-04-12,asthma,P5
58,m,75203,2024-05-20,flu,P1
61,f,75204,2024-05-21,angina,P2
67,m,75205,2024-06-30,asthma,P6
"""
_SCHEMA = """\
columns:
  age: {role: quasi, kind: numeric}
  sex: {role: quasi}
  zip: {role: quasi}
  diagnosis: {role: sensitive}
  patient: {role: identifying}
  admitted: {role: identifying}
privacy:
  - {model: k-anonymity, k: 2}
"""


def _lines(text: str, **changed: str) -> str:
    """Return a table with some of its lines changed, by number."""
    lines = text.splitlines(keepends=True)
    for number, line in changed.items():
        lines[int(number[1:]) - 1] = line + "\n"
    return "".join(lines)


FILES: dict[str, bytes] = {
    name: text.encode() if isinstance(text, str) else text
    for name, text in {
        "stays.csv": _STAYS,
        "stays.schema.yaml": _SCHEMA,
        "empty.csv": "",
        "header.csv": _STAYS.splitlines()[0] + "\n",
        "semicolons.csv": _STAYS.replace(",", ";"),
        "cp1252.csv": _STAYS.replace("angina", "Müdigkeit").encode("cp1252"),
        "short.csv": _lines(_STAYS, l4="41,m,75275"),
        "quote.csv": _lines(_STAYS, l4='41,m,75275,2024-03-05,"flu,P3'),
        "export.csv": "Ward 7\nexported on Monday\n" + _STAYS,
        "twice.csv": _STAYS.replace("admitted", "zip", 1),
        "table.xls": b"PK\x03\x04",
        "broken.parquet": b"PAR1 cut off",
        "text.csv": _lines(_STAYS, l3="about 36,f,75276,2024-03-02,flu,P2"),
        "dates.csv": _STAYS.replace("2024-03-01", "01.03.2024"),
        "german.csv": re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", _STAYS),
        "other.schema.yaml": _SCHEMA.replace("  zip: ", "  postcode: ").replace("sex", "gender"),
        "broken.schema.yaml": "columns:\n  age: {role: quasi\n  sex: {role: quasi}\n",
        "role.schema.yaml": _SCHEMA.replace("role: quasi}", "role: quasy}"),
        "key.schema.yaml": _SCHEMA.replace("privacy:", "privcy:"),
        "model.schema.yaml": _SCHEMA.replace("k-anonymity, k", "k-anonimity, k"),
        "trees/hierarchy_sex.csv": "f;*\nd;*\n",
        "two_roots.csv": "f;female\nm;male\n",
        "mails.csv": re.sub(r"P(\d)$", r"p\1@example.org", _STAYS, flags=re.MULTILINE),
        "not_a_model.json": "{}",
        "newer.json": '{"format": "shoal-model", "version": 99}',
        "new.csv": "age,sex\n34,f\n36,f\n",
        "note.txt": "k = 5\n",
    }.items()
}


class Mistake(NamedTuple):
    """A command that cannot be meant, and the same in Python where that is as common."""

    title: str
    command: str
    python: str = ""


_ROLES = "--qi age,sex,zip --sensitive diagnosis --identifying patient,admitted"
_WORDS = 'qi=["age", "sex", "zip"], sensitive=["diagnosis"], identifying=["patient", "admitted"]'


def _release(
    table: str = "stays.csv", more: str = f"{_ROLES} -k 2", out: str = "release.csv"
) -> str:
    return f"shoal anonymize {table} {more} --out {out}"


SECTIONS: dict[str, tuple[Mistake, ...]] = {
    "The file": (
        Mistake(
            "The file is not there",
            _release("stay.csv"),
            f'shoal.anonymize("stay.csv", {_WORDS}, k=2)',
        ),
        Mistake(
            "The file is empty",
            _release("empty.csv"),
            f'shoal.anonymize("empty.csv", {_WORDS}, k=2)',
        ),
        Mistake("There is a header and no record", _release("header.csv")),
        Mistake(
            "The separator is another one than was said",
            _release("semicolons.csv", f"{_ROLES} -k 2 --sep ,"),
        ),
        Mistake(
            "The separator is no single character",
            _release("semicolons.csv", f"{_ROLES} -k 2 --sep semicolon"),
        ),
        Mistake("The file is not UTF-8", _release("cp1252.csv")),
        Mistake(
            "The encoding does not exist", _release("cp1252.csv", f"{_ROLES} -k 2 --encoding ansi")
        ),
        Mistake("A line has too few fields", _release("short.csv")),
        Mistake("A quote is never closed", _release("quote.csv")),
        Mistake("Lines stand above the header", _release("export.csv")),
        Mistake("Two columns have the same name", _release("twice.csv")),
        Mistake("The file has an ending that shoal does not read", _release("table.xls")),
        Mistake("The Parquet file is cut off", _release("broken.parquet")),
        Mistake("A folder is given for a file", _release(".")),
    ),
    "Columns and schema": (
        Mistake(
            "A column is misspelt",
            _release(more="--qi age,sx,zip -k 2"),
            'shoal.anonymize("stays.csv", qi=["age", "sx", "zip"], k=2)',
        ),
        Mistake("A column is written in another case", _release(more="--qi Age,sex -k 2")),
        Mistake(
            "A column has two roles",
            _release(more="--qi age,sex,zip --sensitive sex -k 2"),
            'shoal.anonymize("stays.csv", qi=["age", "sex"], sensitive=["sex"], k=2)',
        ),
        Mistake(
            "No quasi-identifier is named",
            _release(more="--sensitive diagnosis -k 2"),
            'shoal.anonymize("stays.csv", sensitive=["diagnosis"], k=2)',
        ),
        Mistake(
            "Text stands in a column of numbers",
            _release("text.csv", f"{_ROLES} --numeric age -k 2"),
            f'shoal.anonymize("text.csv", {_WORDS}, numeric=["age"], k=2)',
        ),
        Mistake(
            "Dates are written in another way than was said",
            _release(
                "german.csv",
                "--qi age,admitted --date-format admitted=%m/%d/%Y "
                "--sensitive diagnosis --identifying patient,zip,sex -k 2",
            ),
        ),
        Mistake(
            "Dates are written in two ways",
            _release(
                "dates.csv",
                "--qi age,admitted --date admitted --sensitive diagnosis "
                "--identifying patient,zip,sex -k 2",
            ),
        ),
        Mistake(
            "The schema is for another table",
            _release(more="--schema other.schema.yaml"),
            'shoal.anonymize("stays.csv", "other.schema.yaml")',
        ),
        Mistake(
            "The schema file is not there",
            _release(more="--schema stay.schema.yaml"),
            'shoal.anonymize("stays.csv", "stay.schema.yaml")',
        ),
        Mistake("The schema is no valid YAML", _release(more="--schema broken.schema.yaml")),
        Mistake(
            "The schema has a role that does not exist", _release(more="--schema role.schema.yaml")
        ),
        Mistake(
            "The schema has a key that does not exist",
            _release(more="--schema key.schema.yaml"),
            'shoal.anonymize("stays.csv", "key.schema.yaml")',
        ),
        Mistake(
            "The schema names a promise that does not exist",
            _release(more="--schema model.schema.yaml"),
        ),
        Mistake(
            "A schema and roles are given together",
            _release(more="--schema stays.schema.yaml --qi age,sex"),
            'shoal.anonymize("stays.csv", "stays.schema.yaml", qi=["age", "sex"])',
        ),
        Mistake(
            "A kept column identifies people",
            _release(
                "mails.csv",
                "--qi age,sex,zip --sensitive diagnosis --neutral patient "
                "--identifying admitted -k 2",
            ),
            'shoal.anonymize("mails.csv", qi=["age", "sex", "zip"], neutral=["patient"], k=2)',
        ),
        Mistake(
            "A hierarchy does not know a value", _release(more=f"{_ROLES} --hierarchies trees -k 2")
        ),
        Mistake("A hierarchy has no single root", "shoal hierarchy check two_roots.csv"),
    ),
    "The promise": (
        Mistake(
            "Nothing is promised", _release(more=_ROLES), f'shoal.anonymize("stays.csv", {_WORDS})'
        ),
        Mistake(
            "k is larger than the table",
            _release(more=f"{_ROLES} -k 50"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=50)',
        ),
        Mistake("k is no whole number", _release(more=f"{_ROLES} -k 2.5")),
        Mistake(
            "k is 0",
            _release(more=f"{_ROLES} -k 0"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=0)',
        ),
        Mistake(
            "l is asked for and nothing is sensitive",
            _release(more="--qi age,sex,zip --identifying patient,admitted,diagnosis -k 2 --l 2"),
        ),
        Mistake(
            "l is larger than the number of sensitive values", _release(more=f"{_ROLES} -k 2 --l 4")
        ),
        Mistake("t is above 1", _release(more=f"{_ROLES} -k 2 --t 20")),
        Mistake(
            "c is given for a kind of diversity that has none",
            _release(more=f"{_ROLES} -k 2 --c 3"),
        ),
        Mistake(
            "The suppression limit is a percentage",
            _release(more=f"{_ROLES} -k 2 --suppression-limit 5"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=2, suppression_limit=5)',
        ),
    ),
    "The method": (
        Mistake(
            "A method is misspelt",
            _release(more=f"{_ROLES} -k 2 --method mondrain"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=2, method="mondrain")',
        ),
        Mistake(
            "A parameter is misspelt",
            _release(more=f"{_ROLES} -k 2 --method refine --set efort=best"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=2, method="refine", efort="best")',
        ),
        Mistake(
            "A parameter has a value that it cannot have",
            _release(more=f"{_ROLES} -k 2 --method refine --set effort=most"),
            'shoal.Refine(effort="most")',
        ),
        Mistake(
            "An option belongs to another method",
            _release(more=f"{_ROLES} -k 2 --method mondrian --gamma 0.5"),
        ),
        Mistake(
            "A utility measure is misspelt",
            _release(more=f"{_ROLES} -k 2 --method flash --utility los"),
        ),
    ),
    "The output": (
        Mistake("There is no --out", f"shoal anonymize stays.csv {_ROLES} -k 2"),
        Mistake(
            "The output is the input",
            _release(out="stays.csv"),
            f'shoal.anonymize("stays.csv", {_WORDS}, k=2, out="stays.csv")',
        ),
        Mistake("The folder of the output is not there", _release(out="results/release.csv")),
        Mistake("The output has an ending that shoal does not write", _release(out="release.xls")),
        Mistake(
            "A sample would replace a file", "shoal sample hospital --records 10 --out stays.csv"
        ),
    ),
    "Persons, models and later steps": (
        Mistake(
            "The release does not say who its records are about",
            "shoal verify new.csv --qi age,sex --person patient -k 2",
            'shoal.verify("new.csv", qi=["age", "sex"], person=["patient"], k=2)',
        ),
        Mistake(
            "The person file belongs to another release",
            "shoal verify new.csv --qi age,sex -k 2 --person-file stays.csv",
        ),
        Mistake(
            "The person file is not there",
            "shoal verify new.csv --qi age,sex -k 2 --person-file inside.csv",
        ),
        Mistake("The model is no model", "shoal encode not_a_model.json new.csv --out encoded.csv"),
        Mistake(
            "The model was written by a newer version",
            "shoal encode newer.json new.csv --out encoded.csv",
        ),
        Mistake(
            "New records lack a column of the model",
            "shoal encode model.json new.csv --out encoded.csv",
        ),
    ),
    "The command line": (
        Mistake("A command is misspelt", "shoal anonymise stays.csv"),
        Mistake("An option is misspelt", _release(more=f"{_ROLES} -k 2 --supression-limit 0.1")),
        Mistake("A value is forgotten", "shoal anonymize stays.csv --qi"),
        Mistake("The table is forgotten", f"shoal anonymize {_ROLES} -k 2 --out release.csv"),
        Mistake("A list is written with spaces", _release(more="--qi age, sex, zip -k 2")),
    ),
}


class Answer(NamedTuple):
    """What a mistake is answered."""

    code: int
    message: str
    python: str


def make_files(folder: Path) -> None:
    """Write what the commands speak of, a model among them."""
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    frame = pl.read_csv(FILES["stays.csv"], infer_schema=False)
    model = shoal.learn(frame, qi=["age", "zip"], numeric=["age"], k=2)
    model.save(folder / "model.json")


def answered(mistake: Mistake) -> Answer:
    """Run a command, and its twin in Python, in the current folder."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as errors:
        code = main(shlex.split(mistake.command)[1:])
    message = "\n".join(x for x in errors.getvalue().splitlines() if "compiling" not in x)
    return Answer(code, message, said(mistake.python) if mistake.python else "")


def said(expression: str) -> str:
    """Return what Python says of an expression: the error of shoal, or a TypeError."""
    try:
        eval(expression, {"shoal": shoal})
    except (ShoalError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    raise SystemExit(f"{expression} is no mistake")


def run() -> dict[Mistake, Answer]:
    """Answer every mistake in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make_files(Path(folder))
        return {each: answered(each) for each in mistakes()}


def mistakes() -> Iterator[Mistake]:
    """Yield every mistake."""
    for section in SECTIONS.values():
        yield from section


def page(answers: dict[Mistake, Answer]) -> str:
    """Return the page of the reference."""
    total, twins = len(answers), sum(1 for each in answers if each.python)
    lines = [
        "# The commonest mistakes, and what they are answered",
        "",
        f"{total} commands that cannot be meant, each with its message: where, what, how to go on;",
        f"{twins} of them in Python, too, which says the same. `make mistakes` writes this page by",
        "running them on small made-up files, and a test holds it to the code. None of them writes",
        "anything, and no message has a value of the data. With `--json` a message is one JSON",
        "document.",
        "",
    ]
    number = 0
    for title, section in SECTIONS.items():
        lines += [f"## {title}", ""]
        for each in section:
            number += 1
            found = answers[each]
            lines += [f"### {number}. {each.title}", "", "```console", f"$ {each.command}"]
            lines += [found.message, "```", "", f"Exit code {found.code}.", ""]
            if each.python:
                lines[-2] += " In Python:"
                lines += ["```pycon", f">>> {each.python}", found.python, "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(run()), encoding="utf-8")
