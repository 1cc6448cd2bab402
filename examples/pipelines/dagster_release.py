"""A release as an asset of Dagster, with a check that judges what stands in its table."""

from __future__ import annotations

import os

from dagster import AssetCheckResult, Failure, MaterializeResult, asset, asset_check
from step import NotReleased, release, verify

SOURCE = os.environ.get("STAYS", "postgresql://steward@db/hospital")
GOAL = os.environ.get("RESEARCH", "postgresql://steward@db/research")
SCHEMA = os.environ.get("STAYS_SCHEMA", "/etc/shoal/stays.schema.yaml")


@asset(name="release", description="The stays, released under the promise of the schema.")
def released_stays() -> MaterializeResult:
    """Make the release."""
    goal = [GOAL, "--out-table", "release", "--replace-table"]
    try:
        made = release([SOURCE, "--table", "stays"], SCHEMA, goal)
    except NotReleased as problem:
        raise Failure(str(problem), allow_retries=False) from None
    return MaterializeResult(
        metadata={"records": made["released"], "suppressed": made["suppressed"]}
    )


@asset_check(asset=released_stays)
def keeps_its_promise() -> AssetCheckResult:
    """Judge the release, with code that knows nothing of how it was made."""
    try:
        verify([GOAL, "--table", "release"], SCHEMA)
    except NotReleased as problem:
        return AssetCheckResult(passed=False, metadata={"problem": str(problem)})
    return AssetCheckResult(passed=True)
