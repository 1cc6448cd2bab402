"""A register of hospital stays, one stay a person, with its schema and hierarchies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.samples.catalogue import DEPARTMENTS, DIAGNOSES, INSURANCES, SEXES, chapter
from shoal.samples.writer import (
    Progress,
    SampleFiles,
    check_numbers,
    place,
    write_sample,
    yaml_text,
)

MOST_RECORDS = 2**33
"""More patients than there are people; the patient numbers are unique up to here."""

_SCHEMA = """\
# A register of hospital stays. All of it is generated: nobody in it exists.
# Made by:  shoal sample hospital --records {records} --seed {seed}
version: 1

columns:
  # Who it is: removed from every release.
  patient_id: {{role: identifying}}
  name:       {{role: identifying}}

  # What a neighbour or an employer may know: made coarser until {k} people look alike.
  # About 1 % of the birth dates and 2 % of the zips are missing.
  birth_date: {{role: quasi, kind: date, hierarchy: {{dates: {{levels: [month, quarter, year, decade]}}}}}}
  sex:        {{role: quasi, kind: categorical, hierarchy: {sex}}}
  zip:        {{role: quasi, kind: categorical, hierarchy: {{mask: {{}}}}}}   # text: some start with 0
  admission:  {{role: quasi, kind: date, hierarchy: {{dates: {{}}}}}}
  insurance:  {{role: quasi, kind: categorical, hierarchy: {insurance}}}

  # What must not be learned about a person: kept, and its spread is checked.
  diagnosis:  {{role: sensitive, kind: categorical, hierarchy: {diagnosis}}}

  # Kept as it is. Department and cost hint at the diagnosis: where that is too much, leave
  # these lines out, or make the department coarser too:
  # {{role: quasi, kind: categorical, hierarchy: {department}}}
  department: {{role: neutral, kind: categorical}}
  stay_days:  {{role: neutral, kind: numeric}}
  cost:       {{role: neutral, kind: numeric}}

# A column that is not named above is left out of a release.
others: drop

privacy:
  - {{model: k-anonymity, k: {k}}}
  - {{model: l-diversity, l: 2, column: diagnosis}}

# At most this share of the records may be suppressed.
suppression_limit: 0.05
"""  # noqa: E501 - one column a line is easier to read than a wrapped one


def hospital(
    out: str | os.PathLike[str],
    records: int = 10_000,
    *,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SampleFiles:
    """Write a register of hospital stays to `out`, and its schema and hierarchies beside it.

    Diagnoses depend on age and sex, places on age, insurance on place and age, admissions on
    weekday and season, cost on diagnosis and length of stay. There are missing values,
    outliers in the cost and a few very rare people: over 100 years old, or with a diagnosis
    hardly anyone has.

    Args:
        out: the table; .csv, .csv.gz, .parquet, .jsonl or .arrow.
        records: number of rows, at least 1; memory does not grow with it.
        seed: chooses the table.
        overwrite: replace files that are there already.
        progress: called with the number of rows made so far.

    Guarantee:
        The same records and seed give the same bytes, for any number of threads (with the
        same versions of NumPy and Polars on the same kind of machine).

    Raises:
        MethodError: records or seed is not a number that can be meant.
        OutputError: a file exists already, or the place cannot be written to.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = hospital(f"{folder}/stays.csv", records=3, seed=1)
        ...     files.schema.name, len(files.table.read_text().splitlines())
        ('stays.schema.yaml', 4)
    """
    check_numbers(records=(records, 1, MOST_RECORDS), seed=(seed, 0, 2**63))
    trees = hierarchies()
    files = place(out, trees)

    from shoal.samples.stays import frames  # NumPy and Polars are loaded here, not before

    rows = dict(zip(files.hierarchies, trees.values(), strict=True))
    texts = {path: csv_text(tree) for path, tree in rows.items()}
    texts[files.schema] = _schema_text(files, records, seed=seed)
    return write_sample(
        files, frames(records, seed), texts=texts, overwrite=overwrite, progress=progress
    )


def hierarchies() -> dict[str, list[tuple[str, ...]]]:
    """Return the value hierarchies by column: a row a leaf, from the value to the root.

    Example:
        >>> hierarchies()["diagnosis"][0]
        ('A09', 'A00-A09', 'I Infections', '*')
    """
    return {
        "sex": [(sex, "*") for sex in SEXES],
        "diagnosis": [(d.code, d.block, chapter(d.code), "*") for d in DIAGNOSES],
        "department": _two_steps(DEPARTMENTS),
        "insurance": _two_steps(INSURANCES),
    }


def _two_steps(groups: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [(value, group, "*") for value, group in groups.items()]


def csv_text(rows: Iterable[tuple[str, ...]]) -> str:
    """Return a hierarchy as the text of its file."""
    return "".join(";".join(row) + "\n" for row in rows)


def _schema_text(files: SampleFiles, records: int, *, seed: int) -> str:
    folder = files.table.parent
    links = {
        _column(path): yaml_text(path.relative_to(folder).as_posix()) for path in files.hierarchies
    }
    return _SCHEMA.format(records=records, seed=seed, k=5, **links)


def _column(path: Path) -> str:
    return path.stem.removeprefix("hierarchy_")
