"""A real MariaDB server for tests; they are skipped where none is installed.

`SHOAL_MARIADB` may name a folder that the package mariadb-server-core and its libraries were
unpacked into (dpkg -x).
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _program() -> tuple[Path, dict[str, str], list[str]]:
    """Return the server, its environment and what it must be told."""
    root = os.environ.get("SHOAL_MARIADB")
    if root:
        program = Path(root) / "usr/sbin/mariadbd"
        folders = {str(each.parent) for each in Path(root).rglob("lib*.so*")}
        more = [f"--lc-messages-dir={root}/usr/share/mysql"]
        return program, {**os.environ, "LD_LIBRARY_PATH": ":".join(sorted(folders))}, more
    for name in ("mariadbd", "mysqld"):
        found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
        if found:
            return Path(found), dict(os.environ), []
    pytest.skip("MariaDB is not installed (mariadbd was not found; see tests/mariadb.py)")


def _owner() -> str | None:
    """MariaDB refuses to run as root: return whom to run it as instead."""
    if os.getuid() != 0:
        return None
    known = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in ("mysql", "nobody") if name in known), None)


@contextmanager
def mariadb() -> Iterator[str]:
    """Start a server; give its address."""
    pymysql = pytest.importorskip("pymysql", reason="needs the package pymysql (extra shoal[db])")
    program, environment, more = _program()
    owner = _owner()
    with tempfile.TemporaryDirectory(prefix="shoal-my-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        if owner is not None:
            shutil.chown(folder, owner)
            shutil.chown(data, owner)
        command = [
            str(program), "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket",
            "--skip-networking", "--skip-grant-tables", "--innodb-buffer-pool-size=16M", *more,
        ]  # fmt: skip
        with (
            open(os.devnull, "w") as nowhere,
            subprocess.Popen(
                command, env=environment, user=owner, cwd=folder, stdout=nowhere, stderr=nowhere
            ) as server,
        ):
            try:
                _wait(pymysql, f"{folder}/socket")
                yield f"mysql://root@/shoal?socket={folder}/socket"
            finally:
                server.terminate()


def _wait(pymysql, socket: str) -> None:
    for _ in range(300):
        try:
            with pymysql.connect(unix_socket=socket, user="root") as connection:
                connection.cursor().execute("create database shoal character set utf8mb4")
            return
        except pymysql.err.OperationalError:
            time.sleep(0.1)
    pytest.fail("MariaDB did not start")
