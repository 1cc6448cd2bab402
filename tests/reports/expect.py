"""Makes the documents in `expected/`: `python -m tests.reports.expect` renews them.

Whoever changes the format sees here what changes for whoever reads it, and raises its version.
"""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path

import polars as pl

import shoal
from shoal.core.documents import Document
from shoal.reports.about import About
from shoal.reports.of_release import of_release
from shoal.reports.of_risk import of_risk
from shoal.reports.of_verification import of_verification
from shoal.reports.profile import load_profile

DAY = date(2026, 1, 31)
STAYS = pl.DataFrame(
    {
        "age": [21, 22, 23, 24, 25, 26, 41, 42, 43, 44, 45, 46, 61, 62, 63, 64, 65, 66, 90],
        "ward": ["a1", "a1", "a2", "a2", "a1", "a2"] * 3 + ["b1"],
        "ill": ["flu", "cold", "gout"] * 6 + ["flu"],
        "who": [f"p{i % 17}" for i in range(19)],
    }
)
SCHEMA = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric"},
        "ward": {
            "role": "quasi",
            "kind": "categorical",
            "hierarchy": {"tree": {"*": {"a": ["a1", "a2"], "b": ["b1", "b2"]}}},
        },
        "ill": {"role": "sensitive"},
        "who": {"role": "identifying"},
    },
    "suppression_limit": 0.1,
}
PERSONS = {
    **SCHEMA,
    "columns": {**SCHEMA["columns"], "who": {"role": "person"}},
}


def about(audience: str = "internal", **more: object) -> About:
    """Return circumstances that are the same on every machine."""
    return About(
        audience=audience,
        table="stays.csv",
        release="release.csv",
        by="The data office",
        purpose="A study of stays",
        recipient="The research network",
        day=DAY,
        hashes={"input": "0" * 64, "release": "1" * 64} if audience == "internal" else {},
        versions={"shoal": "1.2.3"},
        profile=load_profile("us-schools"),
        **more,
    )


def made(method: str, schema: object = SCHEMA) -> shoal.Release[pl.DataFrame]:
    """Release the stays."""
    return shoal.anonymize(STAYS, schema, k=3, l=2, method=method, pictures=True, attacks=False)


def place(name: str) -> Path:
    """Return the file of a document."""
    return Path(__file__).parent / "expected" / f"{name}.json"


@cache
def documents() -> dict[str, Document]:
    """Return a document of each kind, as they are today."""
    model = shoal.learn(STAYS, SCHEMA, k=3, method="mondrian")
    batch = model.encode_safe(STAYS)
    assert batch.verification is not None
    counts = {"records": 19, "released": batch.report.released,
              "suppressed": batch.report.suppressed, "unseen": 0}  # fmt: skip
    linked = made("mondrian", PERSONS)
    found = {
        "release": of_release(made("mondrian").report, about()),
        "release_outside": of_release(made("mondrian").report, about("external")),
        "lattice": of_release(made("flash").report, about()),
        "persons": of_release(linked.report, about()),
        "risk": of_risk(
            shoal.risk(STAYS, qi=["age", "ward"]).to_document(), about(), quasi=["age", "ward"]
        ),
        "verification": of_verification(
            shoal.verify(linked.table, qi=["age", "ward"], k=3), about(), roles={"age": "quasi"}
        ),
        "batch": of_verification(batch.verification, about(), batch=counts),
    }
    return {name: each.to_document() for name, each in found.items()}


def write() -> None:
    """Write them down."""
    for name, each in documents().items():
        text = json.dumps(each, indent=1, ensure_ascii=False, allow_nan=False)
        place(name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
