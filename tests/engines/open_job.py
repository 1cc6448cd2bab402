"""A table opened and counted for a request, which stays open while a test asks it."""

from __future__ import annotations

from dataclasses import replace

from shoal.jobs.clock import Clock
from shoal.jobs.requests import LearnRequest
from shoal.jobs.search import fit, opened
from shoal.methods.registry import method_named


def open_job(table, schema, privacy=(), *, method="auto", **asked):
    """Return the open job of a request; `job.counts.close()` lets go of it."""
    request = LearnRequest(
        table=table, schema=schema.with_promise(privacy), method=method_named(method), **asked
    )
    entering = opened(request, Clock())
    job = entering.__enter__()
    job.entering = entering  # or it would be closed when it is collected
    return job


def with_question(job, schema, method="auto", search=None, **asked):
    """Return the job with another promise and method; the table is not counted again."""
    chosen = method_named(method, search)
    fitted, promise, _ = fit(schema, job.table.columns, chosen, "t")
    request = replace(job.request, schema=schema, method=chosen, **asked)
    return replace(job, request=request, schema=fitted, promise=promise)


def classes_of(job):
    """Search; return the classes."""
    return job.search(learns=True)[1]


def recoding_of(job):
    """Search; return the recoding."""
    return classes_of(job).recoding
