"""The hospital sample as linked tables: patients, their stays, the prescriptions of each stay."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.errors import OutputError
from shoal.core.temporary import beside, publish_folder
from shoal.samples.hospital import csv_text, hierarchies
from shoal.samples.writer import check_numbers

if TYPE_CHECKING:
    import polars as pl

MOST_PATIENTS = 2**24

STAYS = (0.10, 0.54, 0.22, 0.09, 0.035, 0.01, 0.005)
"""Shares of patients with no stay, one, two …; those without were seen and not admitted."""

PRESCRIPTIONS = (0.25, 0.42, 0.22, 0.08, 0.03)
"""Shares of stays with no prescription, one, two …"""

DRUGS = {
    "paracetamol": "pain", "ibuprofen": "pain", "metamizole": "pain", "morphine": "pain",
    "enoxaparin": "blood", "aspirin": "blood", "apixaban": "blood",
    "metoprolol": "heart", "ramipril": "heart", "furosemide": "heart",
    "amoxicillin": "infection", "ceftriaxone": "infection", "ciprofloxacin": "infection",
    "salbutamol": "lung", "prednisolone": "lung",
    "insulin": "metabolism", "metformin": "metabolism", "pantoprazole": "metabolism",
    "sertraline": "mind", "lorazepam": "mind", "haloperidol": "mind",
}  # fmt: skip
"""Drug → what it is mostly given for."""

USUAL = {
    "A": "infection", "B": "infection", "E": "metabolism", "F": "mind", "G": "mind", "I": "heart",
    "J": "lung", "K": "metabolism", "L": "infection", "N": "infection",
}  # fmt: skip
"""First letter of a diagnosis → the drugs that go with it; others get what is given for pain."""

_SCHEMA = """\
# Patients of a hospital, their stays, and what was prescribed in each stay.
# All of it is generated: nobody in it exists.
# Made by:  shoal sample hospital --linked --records {records} --seed {seed}
version: 1

tables:
  # The table without a parent has a row a person.
  patients:
    key: patient_id
    columns:
      name:       {{role: identifying}}
      birth_date: {{role: quasi, kind: date, hierarchy: {{dates: {{levels: [month, year, decade]}}}}}}
      sex:        {{role: quasi, kind: categorical, hierarchy: hierarchies/hierarchy_sex.csv}}
      zip:        {{role: quasi, kind: categorical, hierarchy: {{mask: {{}}}}}}
  stays:
    key: stay_id
    parent: patients            # its column patient_id has the parent's key
    columns:
      admission:  {{role: quasi, kind: date, hierarchy: {{dates: {{}}}}}}
      department: {{role: quasi, kind: categorical, hierarchy: hierarchies/hierarchy_department.csv}}
      diagnosis:  {{role: sensitive, kind: categorical, hierarchy: hierarchies/hierarchy_diagnosis.csv}}
      stay_days:  {{role: neutral, kind: numeric}}
  prescriptions:
    key: prescription_id
    parent: stays
    columns:
      drug: {{role: quasi, kind: categorical, hierarchy: hierarchies/hierarchy_drug.csv}}
      days: {{role: neutral, kind: numeric}}

# Whoever has all tables joins them: a person is looked for by all rows together.
privacy:
  - {{model: k-anonymity, k: 5}}
  - {{model: l-diversity, l: 2, column: stays.diagnosis}}

# At most this share of all rows of all tables may be suppressed.
suppression_limit: 0.15
"""  # noqa: E501 - one column a line is easier to read than a wrapped one


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedSample:
    """Where the parts of a linked sample lie, and how many rows its tables have."""

    folder: Path
    schema: Path
    rows: dict[str, int]


def linked_hospital(
    out: str | os.PathLike[str], patients: int = 10_000, *, seed: int = 0
) -> LinkedSample:
    """Write patients, stays and prescriptions, with schema and hierarchies, into a new folder.

    Args:
        out: the folder; it must not be there, or be empty.
        patients: number of persons, at least 1.
        seed: chooses the tables.

    Guarantee:
        The same patients and seed give the same bytes. Every key leads to a row of the parent.

    Raises:
        MethodError: patients or seed is not a number that can be meant.
        OutputError: something is there already, or the place cannot be written to.
    """
    check_numbers(records=(patients, 1, MOST_PATIENTS), seed=(seed, 0, 2**63))
    goal = Path(out).absolute()
    if goal.exists() and not (goal.is_dir() and not any(goal.iterdir())):
        raise OutputError(where=str(out), problem="is there already; name a new folder")
    tables = _tables(patients, seed)
    known = hierarchies()
    trees = {name: known[name] for name in ("sex", "department", "diagnosis")}
    trees["drug"] = [(drug, group, "*") for drug, group in DRUGS.items()]
    try:
        with beside(goal, is_folder=True) as folder:
            for name, frame in tables.items():
                frame.write_csv(folder / f"{name}.csv")
            (folder / "hierarchies").mkdir()
            for name, rows in trees.items():
                path = folder / "hierarchies" / f"hierarchy_{name}.csv"
                path.write_text(csv_text(rows), encoding="utf-8", newline="\n")
            text = _SCHEMA.format(records=patients, seed=seed)
            (folder / "schema.yaml").write_text(text, encoding="utf-8", newline="\n")
            publish_folder(folder, goal)
    except OSError as error:
        problem = error.strerror or "cannot be written"
        raise OutputError(where=str(out), problem=f"{problem}; no sample was written") from error
    rows_of = {name: frame.height for name, frame in tables.items()}
    return LinkedSample(folder=Path(out), schema=Path(out) / "schema.yaml", rows=rows_of)


def _tables(patients: int, seed: int) -> dict[str, pl.DataFrame]:
    import numpy as np
    import polars as pl

    from shoal.samples.stays import DAYS, FIRST_DAY, cumulative, draw, frames

    people = pl.concat(frames(patients, seed))
    sequence = np.random.SeedSequence(seed, spawn_key=(2**31,))  # beside those of the chunks
    random = np.random.Generator(np.random.PCG64DXSM(sequence))
    number = draw(cumulative(np.array([STAYS])), 0, random.random(patients))
    whose = np.repeat(np.arange(patients), number)
    again = np.concatenate(([False], whose[1:] == whose[:-1])) if len(whose) else whose > 0
    # A later stay is for what somebody of the same sex and about the same age came for.
    order = np.lexsort((people["birth_date"].to_physical().fill_null(0).to_numpy(),
                        people["sex"].rank("dense").to_numpy()))  # fmt: skip
    place = np.argsort(order)
    near = np.clip(place[whose] + random.integers(-40, 41, len(whose)), 0, patients - 1)
    reason = np.where(again & (random.random(len(whose)) < 0.6), order[near], whose)
    first = people["admission"].to_physical().to_numpy()[whose]
    start = np.datetime64(FIRST_DAY).astype("datetime64[D]").astype(np.int64)
    left = np.maximum(start + DAYS - 1 - first, 0)
    later = first + (left * random.random(len(whose))).astype(np.int64)
    stays = pl.DataFrame(
        {
            "stay_id": _ids("S", len(whose)),
            "patient_id": people["patient_id"].gather(whose),
            "admission": np.where(again, later, first).astype("datetime64[D]"),
            "department": people["department"].gather(reason),
            "diagnosis": people["diagnosis"].gather(reason),
            "stay_days": people["stay_days"].gather(reason),
        }
    )
    return {
        "patients": people.select("patient_id", "name", "birth_date", "sex", "zip"),
        "stays": stays,
        "prescriptions": _prescriptions(stays, random),
    }


def _ids(letter: str, number: int) -> pl.Series:
    import polars as pl

    return letter + pl.Series(range(1, number + 1), dtype=pl.Int64).cast(pl.String).str.zfill(8)


def _prescriptions(stays: pl.DataFrame, random: object) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    from shoal.samples.stays import cumulative, draw

    assert isinstance(random, np.random.Generator)
    number = draw(cumulative(np.array([PRESCRIPTIONS])), 0, random.random(stays.height))
    stay = np.repeat(np.arange(stays.height), number)
    drugs, groups = list(DRUGS), list(dict.fromkeys(DRUGS.values()))
    weights = np.array([[1.0 + 12 * (DRUGS[drug] == group) for drug in drugs] for group in groups])
    letters = [code[0] for code in stays["diagnosis"].gather(stay).to_list()]
    row = np.array([groups.index(USUAL.get(letter, "pain")) for letter in letters], dtype=np.int64)
    drug = draw(cumulative(weights), row, random.random(len(stay)))
    return pl.DataFrame(
        {
            "prescription_id": _ids("R", len(stay)),
            "stay_id": stays["stay_id"].gather(stay),
            "drug": pl.Series(drugs).gather(drug),
            "days": random.integers(1, 15, len(stay)),
        }
    )
