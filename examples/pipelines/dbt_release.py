"""A release as a model of dbt-duckdb: save it as models/release.py.

Where dbt cannot run Python, release between two of its runs (docs/guides/pipelines.md).
"""

import shoal


def model(dbt, session):
    """Return the release of the model `stays`; the build fails where there is none."""
    dbt.config(materialized="table")
    stays = dbt.ref("stays").to_arrow_table()
    release = shoal.anonymize(stays, dbt.config.get("schema_file"))
    dbt.config(meta={"released": release.report.released})
    return release.table
