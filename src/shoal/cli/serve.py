"""The command `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.core.errors import MissingExtraError

_MEGABYTE = 2**20


@opt.command(
    examples="""
    # the jobs over HTTP, for this machine alone; prints the address and a token
    shoal serve --port 8700
    # a client of its own, and its token, which is shown once
    shoal serve --tokens clients.txt --add research
    # for others: tokens, and TLS here or (--behind-proxy) in the server before it
    shoal serve --host 0.0.0.0 --tokens who.txt --tls-cert c.pem --tls-key k.pem
    """
)
def serve(
    port: Annotated[int, typer.Option(metavar="N", help="Port (default: a free one).")] = 0,
    tokens: Annotated[
        str | None, typer.Option(metavar="FILE", help="Who may ask: a line a client.")
    ] = None,
    add: Annotated[
        str | None, typer.Option(metavar="NAME", help="Add a client, print its token, and end.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where tables are kept (default: here).")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen on; others need TLS and tokens.")
    ] = "127.0.0.1",
    tls_cert: Annotated[str | None, typer.Option(metavar="FILE", help="Certificate.")] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="Its private key.")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="The server before this one ends TLS.")
    ] = False,
    jobs: Annotated[int, typer.Option(metavar="N", help="Jobs at once, a process each.")] = 1,
    queue: Annotated[int, typer.Option(metavar="N", help="Jobs that may wait.")] = 100,
    max_upload: Annotated[int, typer.Option(metavar="N", help="Megabytes of a table.")] = 1024,
    keep: Annotated[float, typer.Option(metavar="X", help="Minutes that files are kept.")] = 60,
    job_minutes: Annotated[float, typer.Option(metavar="X", help="Minutes of a job.")] = 60,
) -> int:
    """Serve the jobs over HTTP: tables in, verified results out.

    A client brings a table, asks for a job with the request that files and reports hold, and
    fetches what it made. Everything is deleted on time and at the end. The description of the
    addresses is at /v1/openapi.json.
    """
    try:
        from shoal.service.limits import Limits
        from shoal.service.serve import ServiceRequest
        from shoal.service.serve import serve as run
        from shoal.service.tokens import add_client
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        extra = "shoal[serve]"
        raise MissingExtraError(feature="shoal serve", package="uvicorn", extra=extra) from None
    if add is not None:
        print(add_client(tokens or "shoal-clients.txt", add))
        return 0
    limits = Limits(
        upload=max_upload * _MEGABYTE, disk=4 * max_upload * _MEGABYTE, running=jobs, waiting=queue,
        keep=keep * 60, seconds=job_minutes * 60,
    )  # fmt: skip
    request = ServiceRequest(
        tokens=tokens, folder=folder or Path.cwd(), host=host, port=port, certificate=tls_cert,
        key=tls_key, behind_proxy=behind_proxy, limits=limits,
    )  # fmt: skip
    return run(request)
