"""The command `web`."""

from __future__ import annotations

import getpass
import os
import sys
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.options.input import refusal
from shoal.core.errors import MissingExtraError

PASSWORD = "SHOAL_WEB_PASSWORD"


@opt.command(
    examples="""
    # a page on this machine: roles, risk, methods side by side, release, report
    shoal web stays.csv
    # print the address with its secret, and open no browser
    shoal web stays.csv --no-open --port 8600
    # on a shared host: a password is asked for, and TLS is needed
    shoal web --host ward.example.org --tls-cert cert.pem --tls-key key.pem
    """
)
def web(
    table: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Opened at once; below this folder.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="The project (default: FILE.project).")
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", help="Port (default: a free one).")] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address with its secret, and serve.")
    ] = False,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Let others reach it: needs a password and TLS files."),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificate, with --host.")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="Its private key, with --host.")
    ] = None,
) -> int:
    """Open a page on this machine: see the risk, set the promise, release.

    It reads and writes files below this folder alone. Nothing is loaded from elsewhere. The address
    has a secret that works once, in one browser. With --host the password is asked for, or taken
    from SHOAL_WEB_PASSWORD.
    """
    password = None if host is None else _password()
    try:
        from shoal.web.serve import ServeRequest, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in (
            "nicegui",
            "fastapi",
            "uvicorn",
            "starlette",
        ):
            raise
        raise MissingExtraError(
            feature="shoal web", package="nicegui", extra="shoal[web]"
        ) from None
    request = ServeRequest(
        table=table, project=project, port=port, opens=not no_open, host=host, password=password,
        certificate=tls_cert, key=tls_key,
    )  # fmt: skip
    return serve(request)


def _password() -> str:
    """Return the password that whoever opens the page must give."""
    given = os.environ.pop(PASSWORD, None)  # no child is to see it
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise refusal("--host", f"a password is asked for on a terminal; or set {PASSWORD}")
    return getpass.getpass("Password for the page (12 characters or more): ")
