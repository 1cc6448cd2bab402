"""Start the service: who may reach it, what is printed, what is logged."""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from shoal.core.documents import reason
from shoal.core.errors import InputError, OutputError, SchemaError
from shoal.core.temporary import beside
from shoal.service.app import Service
from shoal.service.limits import Limits
from shoal.service.store import Store
from shoal.service.tokens import Tokens, new_token, read_tokens, tokens_of
from shoal.service.work import Queue

LOOPBACK = "127.0.0.1"
IDLE = 10
"""Seconds that a connection is kept open between two requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRequest:
    """How the service is served.

    Attributes:
        tokens: the file of tokens; None: one token is made, printed, and forgotten at the end.
        folder: where tables and results are kept while they are.
        host: the address that it listens on; other than this machine it needs TLS.
        certificate, key: files of TLS.
        behind_proxy: another server ends TLS before it.
    """

    tokens: str | None = None
    folder: Path = field(default_factory=Path.cwd)
    host: str = LOOPBACK
    port: int = 0
    certificate: str | None = None
    key: str | None = None
    behind_proxy: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Say whether only this machine can reach it."""
        return self.host in (LOOPBACK, "localhost", "::1")

    def check(self) -> None:
        """Refuse what would let tokens or tables be read on their way.

        Raises:
            SchemaError: names everything that is wrong.
        """
        found = []
        if bool(self.certificate) != bool(self.key):
            found.append("--tls-cert and --tls-key go together")
        if not self.is_local and not self.certificate and not self.behind_proxy:
            found.append("--host needs --tls-cert and --tls-key, or --behind-proxy")
        if not self.is_local and self.tokens is None:
            found.append("--host needs --tokens FILE; add clients with --add NAME")
        if not 0 <= self.port <= 65535:
            found.append("--port must be 0 … 65535")
        if found:
            raise SchemaError(where="options", faults=found)


def serve(request: ServiceRequest) -> int:
    """Serve until it is interrupted.

    Guarantee:
        What clients brought and what jobs made is in one private folder, which is removed at the
        end; after a kill the next start removes it.

    Raises:
        ShoalError: it cannot be served as asked.
    """
    request.check()
    token = None if request.tokens else new_token()
    tokens = read_tokens(request.tokens) if request.tokens else tokens_of(local=token or "")
    heard = _listening(request)
    _quiet_logs()
    try:
        with beside(request.folder / "shoal-serve", is_folder=True) as folder:
            _run(request, tokens, token, folder, heard)
    except OSError as error:
        where = str(request.folder)
        raise OutputError(where=where, problem=f"{reason(error)}; choose another") from None
    return 0


def _run(
    request: ServiceRequest, tokens: Tokens, token: str | None, folder: Path, heard: socket.socket
) -> None:
    application = service_in(folder, tokens, request.limits).application()
    config = uvicorn.Config(
        application, log_config=None, access_log=False, server_header=False, proxy_headers=False,
        ssl_certfile=request.certificate, ssl_keyfile=request.key, timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=1, lifespan="on",
    )  # fmt: skip
    scheme = "https" if request.certificate else "http"
    print(f"{scheme}://{request.host}:{heard.getsockname()[1]}", flush=True)
    if token is not None:
        print(f"token: {token}", flush=True)
    with suppress(KeyboardInterrupt):  # the ordinary end
        uvicorn.Server(config).run(sockets=[heard])


def service_in(folder: Path, tokens: Tokens, limits: Limits) -> Service:
    """Return the service over a private folder."""
    store = Store(folder, limits)
    return Service(tokens, store, Queue(store, limits), log=_log)


def _log(line: str) -> None:
    print(f"shoal serve: {line}", file=sys.stderr, flush=True)


def _listening(request: ServiceRequest) -> socket.socket:
    family = socket.AF_INET6 if ":" in request.host else socket.AF_INET
    heard = socket.socket(family)
    heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        heard.bind((request.host, request.port))
    except OSError:
        heard.close()
        problem = "is in use, or not allowed; choose another"
        raise InputError(
            where=f"--host {request.host} --port {request.port}", problem=problem
        ) from None
    heard.listen(256)
    return heard


def _quiet_logs() -> None:
    """Let no log of a library speak: what it says may quote the data."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = False
        logger.setLevel(logging.CRITICAL + 1)
