"""What room on a device costs: the loss of the best model of each size, on fresh records."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.fleet import K, _adult, _hospital
from benchmarks.release import ADULT
from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.edge.batch import metrics

SIZES = (2_000, 16_000, 64_000, 1_000_000)
TITLE = "The best model of each size"
NOTE = (
    "`learn -k 5 --model-bytes SIZE`; loss (NCP) on records that learning has not seen, where a "
    "record that no class covers loses everything.\n\n"
)
DATA = ADULT.parent


def loss_over_size(name: str, table: Path, fresh: Path, schema: Path) -> list[dict[str, Any]]:
    """Return a row for each size."""
    with fresh.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for size in (*SIZES, None):
        facts: dict[str, Any] = {"table": name, "room": size or "all"}
        try:
            model, _ = api.learn_with_report(
                str(table), schema=str(schema), k=K, method="mondrian", model_bytes=size
            )
        except NoSolutionError:
            found.append({**facts, "bytes": None, "classes": None, "loss": None, "% outside": None})
            continue
        made = metrics(rows, model)
        unseen = made["unseen"]
        assert isinstance(unseen, int)
        found.append({
            **facts, "bytes": len(model.to_json().encode()), "classes": len(model.regions),
            "loss": made["ncp"], "% outside": round(100 * unseen / len(rows), 2),
        })  # fmt: skip
    return found


def _parted(place: Path, name: str, frame: pl.DataFrame, roles: dict[str, Any]) -> Sequence[Path]:
    """Return 60 % of a table to learn from, the others, and the schema."""
    order = np.random.default_rng(1).permutation(frame.height)
    cut = frame.height * 6 // 10
    paths = [place / f"{name}.csv", place / f"{name}-fresh.csv", place / f"{name}.json"]
    frame[order[:cut]].write_csv(paths[0])
    frame[order[cut:]].write_csv(paths[1])
    paths[2].write_text(json.dumps(roles), encoding="utf-8")
    return paths


def _diabetes(place: Path) -> Sequence[Path]:
    (source,) = sorted((DATA / "diabetes_130").glob("*.csv.gz"))[:1]
    frame = pl.read_csv(source, infer_schema=False, null_values="?")
    quasi = ["race", "gender", "age", "admission_type_id", "discharge_disposition_id",
             "admission_source_id", "time_in_hospital", "medical_specialty", "diag_1"]  # fmt: skip
    names = [name for name in quasi if name in frame.columns]
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in names}
    ages = [f"[{age}-{age + 10})" for age in range(0, 100, 10)]
    columns["age"] |= {"kind": "ordinal", "order": ages}
    return _parted(place, "diabetes_130", frame.select(names), {"columns": columns})


def _log(place: Path) -> Sequence[Path]:
    """Return the requests of a web server, drawn: when, from where, what, and how it ended."""
    chance = np.random.default_rng(5)
    many = 60_000
    minutes = chance.integers(0, 60 * 24 * 30, many)
    start = np.datetime64("2025-03-01T00:00", "m")
    nets = chance.zipf(1.3, many) % 4000
    frame = pl.DataFrame({
        "time": [str(start + np.timedelta64(int(m), "m")).replace("T", " ") for m in minutes],
        "address": [f"10.{net // 250}.{net % 250}.{host}" for net, host in
                    zip(nets.tolist(), chance.integers(1, 255, many).tolist(), strict=True)],
        "path": [f"/page/{page}" for page in (chance.zipf(1.6, many) % 300).tolist()],
        "status": chance.choice(["200", "304", "404", "500"], many, p=[0.8, 0.12, 0.07, 0.01]),
        "bytes": [str(size) for size in chance.lognormal(8, 1.5, many).astype(int).tolist()],
    })  # fmt: skip
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in frame.columns}
    columns["time"]["kind"], columns["bytes"]["kind"] = "date", "numeric"
    return _parted(place, "log", frame, {"columns": columns})


def rows(only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the rows of all tables, or of some."""
    tables = {
        "Adult": _adult, "log": _log, "diabetes_130": _diabetes, "hospital": _hospital,
    }  # fmt: skip
    found = []
    for name, make in tables.items():
        if only and name not in only:
            continue
        with TemporaryDirectory() as folder:
            found += loss_over_size(name, *make(Path(folder)))
    return found


def figure(found: Sequence[dict[str, Any]]) -> str:
    """Return a table of losses: a row for each table, a column for each size."""
    sizes = [*SIZES, "all"]
    head = "| loss with room for | 2 kB | 16 kB | 64 kB | 1 MB | all that was found |"
    lines = [head, "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(row["table"] for row in found):
        mine = {row["room"]: row["loss"] for row in found if row["table"] == name}
        cells = ["no room" if mine[s] is None else f"{mine[s]:.3f}" for s in sizes]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    made = rows(sys.argv[1:])
    for row in made:
        print(json.dumps(row))
    print(figure(made))
