"""Start the page: the address with its secret, who is let in, and what is said of mistakes."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from nicegui import app as page_app
from nicegui import ui

from shoal.core.errors import InputError, SchemaError, ShoalError
from shoal.web.folder import Folder
from shoal.web.guard import Guard
from shoal.web.page import build
from shoal.web.project import Project, project_beside

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """How the page is served.

    Attributes:
        table: opened at once; None: the page asks for one.
        project: the project's folder; None: one beside the table.
        folder: nothing outside is read or written.
        host: None: this machine alone can reach it; otherwise the name that others reach it by.
        password: who has none is not let in; needed with `host`, as the files of TLS are.
    """

    table: str | None = None
    project: str | None = None
    folder: Path = field(default_factory=Path.cwd)
    port: int = 0
    opens: bool = True
    host: str | None = None
    password: str | None = field(default=None, repr=False)
    certificate: str | None = None
    key: str | None = None

    def check(self) -> None:
        """Refuse what would let others in.

        Raises:
            SchemaError: names everything that is wrong.
        """
        found = []
        if self.host is not None and self.password is None:
            found.append("--host needs a password: it is asked for on a terminal")
        if self.password is not None and len(self.password) < 12:
            found.append("the password must have at least 12 characters")
        if self.host is not None and not (self.certificate and self.key):
            found.append("--host needs --tls-cert FILE and --tls-key FILE")
        if self.host is None and (self.certificate or self.key):
            found.append("--tls-cert and --tls-key go with --host NAME")
        if not 0 <= self.port <= 65535:
            found.append("--port must be 0 … 65535")
        if found:
            raise SchemaError(where="options", faults=found)


def serve(request: ServeRequest) -> int:
    """Serve the page until it is interrupted.

    Raises:
        ShoalError: it cannot be served as asked.
    """
    request.check()
    if request.certificate is not None and request.key is not None:
        _check_tls(request.certificate, request.key)
    folder = Folder.at(request.folder)
    if request.table is not None:
        table = folder.below(request.table)
        if not table.is_file():
            raise InputError(where=request.table, problem="no such file; check the path")
    place = request.project or project_beside(request.table)
    project = Project(folder, place)
    heard = _listening(request)
    _quiet_logs()
    application = application_of(project, request.table)
    port = heard.getsockname()[1]
    hosts = (LOOPBACK, "localhost") if request.host is None else (request.host,)
    guard = Guard(
        application, port=port, hosts=hosts, is_tls=request.host is not None,
        password=request.password,
    )  # fmt: skip
    config = uvicorn.Config(
        guard, log_config=None, access_log=False, server_header=False, proxy_headers=False,
        ssl_certfile=request.certificate, ssl_keyfile=request.key, ws_max_size=64 * 2**20,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    print(guard.address, flush=True)
    if request.opens:
        _open(guard.address)
    with suppress(KeyboardInterrupt):  # the ordinary end
        uvicorn.Server(config).run(sockets=[heard])
    return 0


def _check_tls(certificate: str, key: str) -> None:
    """Refuse files of TLS that cannot be served with.

    Raises:
        InputError: they cannot be read, or do not belong together.
    """
    try:
        # A key with a password would be asked for in the middle of things: no password is right.
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate, key, password=""
        )
    except OSError:  # as SSLError is
        missing = [place for place in (certificate, key) if not Path(place).is_file()]
        problem = "no such file; check the path"
        if not missing:
            problem = "needs a certificate in PEM, and its own key without a password"
        raise InputError(where=(missing or ["--tls-cert, --tls-key"])[0], problem=problem) from None


def application_of(project: Project, table: str | None = None) -> FastAPI:
    """Return the page of a project as an application, without a guard."""
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    page_app.on_shutdown(project.children.stop)
    ui.run_with(
        application, root=build(project, table), title="shoal", dark=None, tailwind=False,
        show_welcome_message=False, gzip_middleware_factory=None, reconnect_timeout=10.0,
    )  # fmt: skip
    return application


def _listening(request: ServeRequest) -> socket.socket:
    """Return the socket that the page is served on."""
    heard = socket.socket(socket.AF_INET)
    heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        heard.bind((LOOPBACK if request.host is None else "0.0.0.0", request.port))
    except OSError:
        heard.close()
        raise InputError(
            where=f"--port {request.port}", problem="is in use, or not allowed; choose another"
        ) from None
    heard.listen(128)  # before the address is said: whoever comes at once waits a moment
    return heard


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


class _Wordless(logging.Formatter):
    """Says where something went wrong and what kind of error it was, never its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the kind of an error and where it was raised: texts may quote the data."""
        error = record.exc_info[1] if record.exc_info else record.msg
        if not isinstance(error, BaseException):
            return f"shoal web: {record.levelname.lower()} in {record.name}, line {record.lineno}"
        where = ""
        trace = error.__traceback__
        while trace is not None:
            place = Path(trace.tb_frame.f_code.co_filename)
            if "shoal" in place.parts:  # the last line of our own
                where = f" at {place.name}:{trace.tb_lineno}"
            trace = trace.tb_next
        said = f": {error}" if isinstance(error, ShoalError) else ""
        return f"shoal web: {type(error).__name__}{where}{said}"


def _quiet_logs() -> None:
    """Let no log say more than `_Wordless` does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Wordless())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.ERROR)
    for name in ("nicegui", "uvicorn", "uvicorn.error", "uvicorn.access", "asyncio", "fastapi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.ERROR)
