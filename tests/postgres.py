"""A real PostgreSQL server for tests; they are skipped where none is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _programs() -> Path:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places or not (places[-1] / "initdb").exists():
        pytest.skip("PostgreSQL is not installed (initdb was not found)")
    return places[-1]


def _owner() -> str | None:
    """PostgreSQL refuses to run as root: return whom to run it as instead."""
    if os.getuid() != 0:
        return None
    known = {user.pw_name for user in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    pytest.skip("PostgreSQL refuses root, and there is no other user to run it as")


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server; give its address."""
    pytest.importorskip("psycopg", reason="needs the package psycopg (extra shoal[db])")
    programs, owner = _programs(), _owner()
    with tempfile.TemporaryDirectory(prefix="shoal-pg-") as folder:
        if owner is not None:
            shutil.chown(folder, owner)
        data = f"{folder}/data"

        def run(*command: str) -> None:
            subprocess.run(
                command, check=True, user=owner, cwd=folder, capture_output=True, timeout=120
            )

        run(f"{programs}/initdb", "-D", data, "-A", "trust", "-U", "steward", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        log = ("-l", f"{folder}/log")
        run(f"{programs}/pg_ctl", "-D", data, "-w", "-o", options, *log, "start")
        try:
            yield f"postgresql://steward@/postgres?host={folder}"
        finally:
            run(f"{programs}/pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
