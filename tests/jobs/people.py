"""Forty people, the files that describe them, and requests about them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from shoal.schema.schema import Schema

JOBS = ("welder", "florist", "glazier", "baker")
GRADES = ("novice", "adept", "virtuoso")
ILLS = ("rubella", "asthma", "gout")
PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 10 for i in range(40)],
        "job": [JOBS[i % 4] for i in range(40)],
        "grade": [GRADES[i // 3 % 3] for i in range(40)],
        "ill": [ILLS[i // 2 % 3] for i in range(40)],
    }
)
TREE = "welder;craft;*\nflorist;shop;*\nglazier;craft;*\nbaker;shop;*\n"
TREE_LABELS = (*JOBS, "craft", "shop")


class Files(NamedTuple):
    """The files of a test."""

    folder: Path
    table: Path
    tree: Path
    schema: Path

    def path(self, name: str) -> Path:
        """Return the path of another file."""
        return self.folder / name


def files_in(folder: Path) -> Files:
    """Write the table, a hierarchy and the schema that names it."""
    found = Files(folder, folder / "people.csv", folder / "job.csv", folder / "schema.yaml")
    PEOPLE.write_csv(found.table)
    found.tree.write_text(TREE, encoding="utf-8")
    found.schema.write_text(
        "columns:\n"
        "  age: {role: quasi, kind: numeric}\n"
        "  job: {role: quasi, kind: categorical, hierarchy: job.csv}\n"
        "  grade: neutral\n"
        "  ill: sensitive\n"
        "privacy: [{model: k-anonymity, k: 4}]\n",
        encoding="utf-8",
    )
    return found


def plain_schema(**words: object) -> Schema:
    """Return a schema without files: age and job are quasi-identifiers, ill is sensitive."""
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "job": {"role": "quasi", "kind": "categorical"},
        "grade": "neutral",
        "ill": "sensitive",
    }
    privacy = [{"model": "k-anonymity", "k": 4}]
    return Schema.from_document({"columns": columns, "privacy": privacy, **words})
