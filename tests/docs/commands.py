"""The commands on the pages, one by one, and the files that they speak of."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
FENCE = re.compile(r"^```(sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)

SCHEMA = """\
columns:
  patient_id: {role: identifying}
  name: {role: identifying}
  age: {role: quasi, kind: numeric}
  sex: {role: quasi}
  zip: {role: quasi, hierarchy: {mask: {length: 5}}}
  diagnosis: {role: sensitive}
others: drop
privacy: [{model: k-anonymity, k: 3}]
"""


class Command(NamedTuple):
    """A command of a page."""

    page: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return shlex.join(self.words)


def commands(path: Path) -> Iterator[Command]:
    """Yield the commands of a page that are shoal's own, in their order."""
    for language, block in FENCE.findall(path.read_text(encoding="utf-8")):
        text = block.replace("\\\n", " ")
        lines = [line.removeprefix("$ ") for line in text.splitlines()
                 if language == "sh" or line.startswith("$ ")]  # fmt: skip
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[:1] == ["shoal"]:
                yield Command(path.relative_to(ROOT).as_posix(), tuple(words[1:]))


def make_files(folder: Path) -> None:
    """Write the files that the pages speak of: made-up people."""
    draw = random.Random(7)
    people = [_person(draw, number) for number in range(400)]
    heads = ("patient_id", "name", "age", "sex", "zip", "admitted", "discharged", "diagnosis")
    heads += ("ward", "patient_nbr", "income", "hours", "race")
    rows = [",".join(heads), *(",".join(str(row[head]) for head in heads) for row in people)]
    table = "\n".join(rows) + "\n"
    for name in ("patients", "stays", "people", "new", "income", "release", "second"):
        (folder / f"{name}.csv").write_text(table)
    (folder / "voters.csv").write_text(table)
    (folder / "schema.yaml").write_text(SCHEMA)
    (folder / "stays.schema.yaml").write_text(SCHEMA)


def _person(draw: random.Random, number: int) -> dict[str, object]:
    month = draw.randint(1, 9)
    return {
        "patient_id": f"P{number:05}", "name": f"Name{number:03}",
        "age": draw.randint(18, 60), "sex": draw.choice("fm"),
        "zip": f"1{draw.randint(0, 9)}{draw.randint(0, 99):02}5",
        "admitted": f"2025-0{month}-{draw.randint(10, 28)}",
        "discharged": f"2025-0{month}-{draw.randint(10, 28)}",
        "diagnosis": draw.choice(["asthma", "flu", "angina", "gout", "fracture"]),
        "ward": draw.choice("ABC"), "patient_nbr": number // 2,
        "income": draw.randint(10, 90) * 500, "hours": draw.randint(10, 45),
        "race": draw.choice(["x", "y", "z"]),
    }  # fmt: skip
