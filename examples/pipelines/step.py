"""One step of a pipeline: a table in, a verified release out, and the exit code as the answer.

Standard library only, so that shoal can live in an environment of its own: SHOAL names the command
(default: shoal), such as "/opt/shoal/bin/shoal" or "podman run --rm shoal".
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess


class NotReleased(Exception):
    """There is no release, and trying again would not change that: nothing was written."""


class Broken(Exception):
    """The step itself did not work; trying again may help."""


def run(*words: str) -> dict:
    """Run a command of shoal and return its document.

    Raises:
        NotReleased: not safe, no solution, or a question that cannot be asked (exit codes 1 and 2).
        Broken: anything else.
    """
    command = shlex.split(os.environ.get("SHOAL", "shoal"))
    done = subprocess.run([*command, *words, "--json"], stdout=subprocess.PIPE, text=True)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise Broken(f"exit code {done.returncode}, and no document") from None
    if done.returncode == 0:
        return document
    error = document.get("error", {})
    problem = error.get("problem", "the promise does not hold")
    raise (NotReleased if done.returncode in (1, 2) else Broken)(problem)


def release(table: list[str], schema: str, goal: list[str]) -> dict:
    """Release a table; what is at the goal is the whole release, or what was there before."""
    return run("anonymize", *table, "--schema", schema, "--out", *goal)


def verify(table: list[str], schema: str) -> dict:
    """Judge a release as it stands, with code that knows nothing of how it was made."""
    return run("verify", *table, "--schema", schema)
