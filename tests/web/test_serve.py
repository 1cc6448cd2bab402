from __future__ import annotations

import http.client
import logging
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.web.server import Server, served
from tests.web.test_child import is_alive

from shoal.core.errors import InputError, SchemaError
from shoal.web.serve import ServeRequest, _listening, _Wordless, serve


def said(error: Exception | None, *, message: str = "Alice is ill") -> str:
    info = (type(error), error, error.__traceback__) if error is not None else None
    record = logging.LogRecord("nicegui", logging.ERROR, "x.py", 3, message, (), info)
    return _Wordless().format(record)


def test_no_text_of_an_error_or_a_message_is_logged():
    try:
        int("Alice")
    except ValueError as error:
        text = said(error)
    assert "ValueError" in text
    assert "Alice" not in text
    assert "Alice" not in said(None)


def test_what_we_say_ourselves_is_logged_as_it_is():
    assert "no such file" in said(InputError(where="a.csv", problem="no such file"))


def test_an_error_that_is_the_message_itself_is_not_written_out():
    record = logging.LogRecord("nicegui", logging.ERROR, "x", 3, ValueError("Alice"), (), None)
    assert "Alice" not in _Wordless().format(record)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"host": "ward.example"}, "password"),
        ({"host": "ward.example", "password": "long enough 123"}, "--tls-cert"),
        ({"host": "ward.example", "password": "short", "certificate": "c", "key": "k"}, "12"),
        ({"certificate": "c", "key": "k"}, "--host"),
        ({"port": 70_000}, "--port"),
    ],
)
def test_what_would_let_others_in_is_refused(words, fault):
    with pytest.raises(SchemaError, match=fault):
        ServeRequest(**words).check()


def test_the_password_is_not_in_the_repr():
    assert "horse" not in repr(ServeRequest(password="correct horse battery"))


@pytest.mark.parametrize("table", ["missing.csv", "../x.csv", "/etc/passwd"])
def test_a_table_that_is_not_there_or_outside_is_refused_before_anything_is_served(tmp_path, table):
    with pytest.raises(InputError):
        serve(ServeRequest(table=table, folder=tmp_path, opens=False))


def test_files_of_tls_that_cannot_be_served_with_are_refused(tmp_path):
    (tmp_path / "key.pem").write_text("no key")
    files = {"certificate": str(tmp_path / "missing.pem"), "key": str(tmp_path / "key.pem")}
    asked = {"host": "ward.example", "password": "long enough 123", "folder": tmp_path}
    with pytest.raises(InputError, match="no such file"):
        serve(ServeRequest(**asked, **files, opens=False))
    (tmp_path / "missing.pem").write_text("no certificate")
    with pytest.raises(InputError, match="PEM"):
        serve(ServeRequest(**asked, **files, opens=False))


def test_a_port_in_use_is_refused_and_loopback_is_all_that_listens():
    heard = _listening(ServeRequest())
    try:
        host, port = heard.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(InputError, match="in use"):
            _listening(ServeRequest(port=port))
    finally:
        heard.close()


def of_tables(server: Server) -> list[str]:
    """The libraries for tables that the page itself has loaded."""
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    return [name for name in ("/_polars", "/llvmlite", "/numpy/") if name in loaded]


def memory(server: Server) -> int:
    """The bytes that the page itself holds."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    (held,) = [line for line in lines if line.startswith("VmRSS")]
    return int(held.split()[1]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_page_that_is_served_asks_for_its_secret_and_leaves_nothing_behind(folder):
    with served(folder) as server:
        assert server.address.startswith("http://127.0.0.1:")
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=180)
        link.request("GET", "/")
        assert link.getresponse().status == 403
        link.close()
        link.request("GET", server.address.partition(str(server.port))[2])
        answer = link.getresponse()
        assert answer.status == 303
        cookie = str(answer.getheader("set-cookie")).partition(";")[0]
        answer.read()
        link.request("GET", "/", headers={"cookie": cookie})
        answer = link.getresponse()
        assert answer.status == 200
        assert "nonce-" in str(answer.getheader("content-security-policy"))
        assert b"shoal" in answer.read()
        assert of_tables(server) == []  # no table is open yet
        assert memory(server) < 110 * 2**20
        link.request("GET", "/", headers={"cookie": cookie, "host": "attacker.example"})
        assert link.getresponse().status == 403
        link.close()
        children = server.children()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(180) == 0
        deadline = time.monotonic() + 120
        while any(map(is_alive, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_alive, children))
        assert server.log.read_text() == ""
