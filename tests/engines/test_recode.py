"""Recoding from memory and in passes over a file too large for it: the same bytes."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.local.recode import _ranks
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
            "illness": "sensitive",
            "note": "neutral",
        }
    }
)


def table(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(str),
            "zip": [None if z == 0 else f"1{z:04}" for z in rng.integers(0, 60, n)],
            "illness": rng.choice(["flu", "cold", "gout"], n),
            "note": [f"n{i}" for i in rng.integers(0, 50, n)],
        }
    )


def bytes_of(source: Path, out: Path, **options: object) -> bytes:
    shoal.anonymize(
        source,
        SCHEMA,
        privacy=[shoal.KAnonymity(5), shoal.LDiversity(2)],
        out=out,
        **options,  # type: ignore[arg-type]
    )
    return out.read_bytes()


@pytest.mark.local("memory of one process")
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".arrow", ".csv.gz"])
def test_passes_over_a_large_file_write_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    table().write_csv(tmp_path / "in.csv")
    bytes_of(tmp_path / "in.csv", tmp_path / f"memory{ending}")
    monkeypatch.setattr("shoal.engines.local.source.KEEP_BYTES", 0)
    monkeypatch.setattr("shoal.engines.local.sorting.RUN_BYTES", 40_000)
    monkeypatch.setattr("shoal.engines.local.recode.BATCH", 700)
    bytes_of(tmp_path / "in.csv", tmp_path / f"passes{ending}")
    rows = []
    for name in ("memory", "passes"):
        source = open_source(tmp_path / f"{name}{ending}")
        frame = source.collect(source.scan(source.columns))
        rows.append(frame.with_columns(pl.all().cast(pl.String)).rows())
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3000


ROLES = {
    "all quasi": ("quasi", "quasi", "identifying", "identifying"),
    "and neutral": ("quasi", "quasi", "identifying", "neutral"),
    "and sensitive": ("quasi", "quasi", "sensitive", "identifying"),
    "and both": ("quasi", "quasi", "sensitive", "neutral"),
    "one quasi, neutral only": ("quasi", "neutral", "neutral", "neutral"),
}
ENDINGS = (".csv", ".csv.gz", ".tsv", ".jsonl", ".parquet", ".arrow")


def write_as(frame: pl.DataFrame, path: Path) -> None:
    if path.name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif path.suffix in (".csv", ".tsv"):
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    else:
        write = {".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet,
                 ".arrow": frame.write_ipc}  # fmt: skip
        write[path.suffix](path)  # type: ignore[operator]


def content(path: Path) -> object:
    """The bytes of a file; the table of a columnar one, whose bytes depend on its row groups."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dict(as_series=False)
    if path.suffix == ".arrow":
        return pl.read_ipc(path).to_dict(as_series=False)
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.sampled
@pytest.mark.local("memory of one process")
@pytest.mark.parametrize("keep_order", [False, True], ids=["sorted", "in order"])
@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_past_memory_is_released_in_every_role_format_and_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, roles: str, keep_order: bool
) -> None:
    names = ("age", "zip", "illness", "note")
    document = dict(zip(names, ROLES[roles], strict=True))
    schema = Schema.from_document({"columns": document})
    frame = table(400).with_columns(pl.col("note").replace("n1", None))
    write_as(frame, tmp_path / f"in{ending}")

    def release(out: Path) -> object:
        shoal.anonymize(
            tmp_path / f"in{ending}", schema, privacy=[shoal.KAnonymity(5)], out=out,
            method="mondrian", keep_order=keep_order,
        )  # fmt: skip
        return content(out)

    kept = {each: release(tmp_path / f"kept{each}") for each in ENDINGS}
    monkeypatch.setattr("shoal.engines.local.source.KEEP_BYTES", 0)
    monkeypatch.setattr("shoal.engines.local.sorting.RUN_BYTES", 3000)
    monkeypatch.setattr("shoal.engines.local.recode.BATCH", 90)
    for each in ENDINGS:
        assert release(tmp_path / f"passes{each}") == kept[each], each


def test_a_release_is_sorted_by_its_released_values(tmp_path: Path) -> None:
    table().write_csv(tmp_path / "in.csv")
    lines = bytes_of(tmp_path / "in.csv", tmp_path / "out.csv").decode().splitlines()[1:]
    frame = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    rows = [tuple("" if v is None else v for v in row) for row in frame.rows()]
    assert rows == sorted(rows)
    assert len(lines) == 3000


@pytest.mark.local("--keep-order")
def test_keep_order_is_a_choice(tmp_path: Path) -> None:
    frame = table().with_columns(pl.int_range(pl.len()).cast(pl.String).alias("note"))
    frame.write_csv(tmp_path / "in.csv")
    bytes_of(tmp_path / "in.csv", tmp_path / "out.csv", keep_order=True)
    notes = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["note"].to_list()
    assert notes == [str(i) for i in range(3000)]


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed"])
def test_the_order_of_the_input_does_not_show(tmp_path: Path, method: str) -> None:
    frame = table()
    frame.write_csv(tmp_path / "a.csv")
    frame.sample(fraction=1.0, shuffle=True, seed=4).write_csv(tmp_path / "b.csv")
    one = bytes_of(tmp_path / "a.csv", tmp_path / "a.out.csv", method=method)
    two = bytes_of(tmp_path / "b.csv", tmp_path / "b.out.csv", method=method)
    assert one == two


def test_equal_records_are_written_once_formatted_and_repeated(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["20", "30"] * 500, "zip": ["10000"] * 1000,
                          "illness": ["flu", "a,\nb"] * 500, "note": ["x"] * 1000})  # fmt: skip
    frame.write_csv(tmp_path / "in.csv")
    schema = Schema.from_document(
        {"columns": {"age": "quasi", "zip": "quasi", "illness": "sensitive"}, "others": "drop"}
    )
    shoal.anonymize(
        tmp_path / "in.csv", schema, privacy=[shoal.KAnonymity(5)], out=tmp_path / "o.csv"
    )
    released = pl.read_csv(tmp_path / "o.csv", infer_schema=False)
    assert released.height == 1000
    assert sorted(released["illness"].unique().to_list()) == ["a,\nb", "flu"]


@pytest.mark.parametrize(
    "values",
    [
        ["b", None, "a", "b", "10", "9"],
        [2, 10, None, 2, -1],
        [0.0, -0.0, 1e300, None, float("nan"), 0.0],
        [True, None, False, True],
        [date(2024, 1, 9), None, date(823, 1, 1), date(2024, 1, 9)],
        [None, None],
        [],
    ],
    ids=str,
)
def test_values_are_ranked_by_their_texts(values: list[object]) -> None:
    series = pl.Series("x", values * 3, strict=False)
    ranks, size = _ranks(series)
    texts = series.cast(pl.String).to_list()
    order = sorted({text for text in texts if text is not None})
    if ranks is None:
        assert not values
        return
    assert size > max(ranks.tolist(), default=0)
    assert ranks.tolist() == [0 if text is None else 1 + order.index(text) for text in texts]


def test_values_that_are_all_different_are_sorted_instead_of_ranked() -> None:
    assert _ranks(pl.Series("x", [str(i) for i in range(100)]))[0] is None
    assert _ranks(pl.Series("x", [str(i % 40) for i in range(100)]))[0] is not None
