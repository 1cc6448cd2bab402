"""Real and made-up tables that tests and benchmarks of lattice searches share."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.hierarchies.build import Intervals
from shoal.hierarchies.read import load_hierarchy
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes

ADULT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)  # fmt: skip
ADULT_ORIGINAL = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
_WIDTHS = {
    "fnlwgt": [20000, 100000, 500000],
    "education-num": [2, 4, 8],
    "capital-gain": [1000, 5000, 20000],
    "capital-loss": [500, 1000, 2000],
    "hours-per-week": [5, 10, 20, 40],
}


def adult_table(folder, sensitive=()):
    """The frequency table of Adult, 8 quasi-identifiers less the sensitive ones."""
    attributes = []
    for name in (*ADULT, "salary-class"):
        if name in sensitive or name in ADULT:
            tree = load_hierarchy(name, folder / f"adult_hierarchy_{name}.csv")
            role = Role.SENSITIVE if name in sensitive else Role.QUASI
            kind = Kind.NUMERIC if name == "age" else Kind.CATEGORICAL
            attributes.append(Attribute(name=name, role=role, kind=kind, hierarchy=tree))
    source = open_source(folder / "adult.csv.gz")
    names = [attribute.name for attribute in attributes]
    schema = Schema(attributes=tuple(attributes))
    lazy = source.scan(names, coded=names)
    return frequencies(source, lazy, schema, sensitive=list(sensitive)).table


def adult15_table(folder):
    """All 15 columns of the original Adult file as quasi-identifiers; 97,200,000 nodes."""
    frame = pl.read_csv(
        folder / "adult" / "adult.data.gz",
        has_header=False,
        new_columns=list(ADULT_ORIGINAL),
        infer_schema=False,
    )
    frame = frame.with_columns(pl.all().str.strip_chars()).drop_nulls()
    frame = frame.filter(~pl.any_horizontal(pl.all() == "?"))
    attributes = []
    for name in ADULT_ORIGINAL:
        path = folder / "adult_arx" / f"adult_hierarchy_{name}.csv"
        tree = load_hierarchy(name, path) if path.exists() else None
        if name in _WIDTHS:
            tree = Intervals(width=_WIDTHS[name])
        kind = Kind.NUMERIC if name in _WIDTHS or name == "age" else Kind.CATEGORICAL
        attributes.append(Attribute(name=name, role=Role.QUASI, kind=kind, hierarchy=tree))
    source = open_source(frame)
    names = list(ADULT_ORIGINAL)
    schema = Schema(attributes=tuple(attributes))
    return frequencies(source, source.scan(names, coded=names), schema, sensitive=[]).table


def perturbed(table, records, *, seed=0, share=0.1):
    """Records drawn from a table, a share of all cells redrawn: many distinct tuples."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(table.rows), table.counts)[rng.integers(0, table.records, records)]
    codes = table.codes[rows]
    for j, domain in enumerate(table.domains):
        redrawn = rng.random(records) < share
        codes[redrawn, j] = rng.integers(0, len(domain), redrawn.sum())
    return from_codes(
        table.domains,
        codes,
        np.ones(records, dtype=np.int64),
        sensitive_domains=table.sensitive_domains,
        sensitive=table.sensitive[rows],
    )


def wide_table(columns, records, *, values=8, seed=0):
    """Numbers in many columns, each with intervals of 2 and 4; skewed, so that some repeat."""
    rng = np.random.default_rng(seed)
    texts = [str(i) for i in range(values)]
    domains = tuple(
        line_domain(
            f"c{j:02}",
            Kind.NUMERIC,
            texts,
            [float(i) for i in range(values)],
            ladder=Intervals(width=[2, 4]).build(f"c{j:02}", texts),
        )
        for j in range(columns)
    )
    codes = np.minimum(rng.geometric(0.7, size=(records, columns)) - 1, values - 1)
    return from_codes(domains, codes.astype(np.int32), np.ones(records, dtype=np.int64))
