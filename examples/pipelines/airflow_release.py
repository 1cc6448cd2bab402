"""A daily release with Apache Airflow (3; with 2, dag and task are in airflow.decorators).

PostgreSQL in, PostgreSQL out. Put this file and step.py into the folder of the DAGs. A release that
cannot be made fails for good: trying again would not make it safe.
"""

from __future__ import annotations

import os
from datetime import datetime

from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task
from step import NotReleased, release, verify

SOURCE = os.environ.get("STAYS", "postgresql://steward@db/hospital")
GOAL = os.environ.get("RESEARCH", "postgresql://steward@db/research")
SCHEMA = os.environ.get("STAYS_SCHEMA", "/etc/shoal/stays.schema.yaml")


@dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False)
def daily_release():
    """Release the stays, then judge what stands in the table of the release."""

    @task
    def make() -> dict:
        goal = [GOAL, "--out-table", "release", "--replace-table"]
        try:
            made = release([SOURCE, "--table", "stays"], SCHEMA, goal)
        except NotReleased as problem:
            raise AirflowFailException(str(problem)) from None
        return {"released": made["released"], "suppressed": made["suppressed"]}

    @task
    def judge(counts: dict) -> dict:
        try:
            verify([GOAL, "--table", "release"], SCHEMA)
        except NotReleased as problem:
            raise AirflowFailException(str(problem)) from None
        return counts

    judge(make())


daily_release()
