"""The service's addresses: what is asked over HTTP, and what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from shoal.core.documents import Document, Json, parse_json
from shoal.core.errors import ShoalError
from shoal.core.version import __version__
from shoal.service.asked import WRITTEN, local_request
from shoal.service.names import renamed, strings
from shoal.service.openapi import openapi
from shoal.service.refusals import Refusal, not_there, unasked
from shoal.service.store import Store, Table, too_large
from shoal.service.tokens import Tokens
from shoal.service.work import Queue, Work

MOST_REQUEST = 16 * 2**20
"""Bytes of a request: a schema with its hierarchies."""
REPORTS = (".html", ".md", ".json", ".pdf")
_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

Handler = Callable[[Request, str], Awaitable[Response]]


@dataclass(slots=True)
class Service:
    """What the addresses work with.

    Attributes:
        log: told of each answer: method, address without numbers, status, client.
    """

    tokens: Tokens
    store: Store
    queue: Queue
    log: Callable[[str], None] = lambda line: None
    _sweeper: asyncio.Task[None] | None = field(default=None, repr=False)

    def application(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            Route("/v1/health", self._open(_health), methods=["GET"]),
            Route("/v1/openapi.json", self._open(_described), methods=["GET"]),
            *(
                Route(path, self._guarded(path, methods), methods=list(methods))
                for path, methods in self._addresses().items()
            ),
        ]
        refuse = {HTTPException: _refused}
        return Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=refuse)

    def _addresses(self) -> dict[str, dict[str, Handler]]:
        return {
            "/v1/tables": {"GET": self._tables, "POST": self._bring},
            "/v1/tables/{table}": {"GET": self._table, "DELETE": self._drop},
            "/v1/jobs": {"GET": self._jobs, "POST": self._ask},
            "/v1/jobs/{job}": {"GET": self._job, "DELETE": self._cancel},
            "/v1/jobs/{job}/result": {"GET": self._result},
            "/v1/jobs/{job}/files/{file}": {"GET": self._file},
        }

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
            await self.queue.stop()

    async def _sweep(self) -> None:
        """Delete what is over, a few times in its time."""
        while True:
            await asyncio.sleep(min(max(self.store.limits.keep / 20, 0.05), 30.0))
            self.store.sweep()
            await self.queue.sweep()

    def _open(self, answer: Callable[[], Document]) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            return _json(answer())

        return handle

    def _guarded(
        self, path: str, methods: dict[str, Handler]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            client = self.tokens.client(request.headers.get("authorization", ""))
            try:
                if client is None:
                    raise _unknown()
                response = await methods["GET" if request.method == "HEAD" else request.method](
                    request, client
                )
            except Refusal as refusal:
                response = _said(refusal)
            except ClientDisconnect:
                response = _said(Refusal(400, "Broken", "the client went away"))
            except Exception as error:  # its text may quote the data
                problem = f"a bug of ours: {type(error).__name__}"
                response = _said(Refusal(500, "Bug", problem))
            self.log(f"{request.method} {path} {response.status_code} {client or '-'}")
            return response

        return handle

    async def _bring(self, request: Request, client: str) -> Response:
        ending = "." + request.query_params.get("format", "csv").lstrip(".")
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > self.store.limits.upload:
            raise too_large(self.store.limits.upload)
        table = await self.store.bring(client, ending, self._chunks(request))
        return _json(_table_document(table, self.store), 201, location=f"/v1/tables/{table.id}")

    async def _chunks(self, request: Request) -> AsyncIterator[bytes]:
        """Yield what is sent; a client that stops sending, or sends for too long, is given up."""
        stream = request.stream().__aiter__()
        limits, clock = self.store.limits, asyncio.get_running_loop().time
        end = clock() + limits.seconds
        while True:
            try:
                chunk = await asyncio.wait_for(
                    anext(stream), min(limits.patience, max(end - clock(), 0.0))
                )
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Refusal(408, "Slow", "nothing came for too long; send it again") from None
            yield chunk

    async def _tables(self, request: Request, client: str) -> Response:
        found: list[Json] = [_table_document(e, self.store) for e in self.store.tables(client)]
        return _json({"tables": found})

    async def _table(self, request: Request, client: str) -> Response:
        return _json(
            _table_document(self.store.table(client, request.path_params["table"]), self.store)
        )

    async def _drop(self, request: Request, client: str) -> Response:
        self.store.remove(self.store.table(client, request.path_params["table"]))
        return _nothing()

    async def _ask(self, request: Request, client: str) -> Response:
        self.queue.check()
        document = await self._document(request)
        asked = self._asked(document, client)
        work = self.queue.add(client, str(asked["kind"]), asked)
        return _json(self._work_document(work), 202, location=f"/v1/jobs/{work.id}")

    async def _document(self, request: Request) -> Json:
        body = b""
        async for chunk in self._chunks(request):
            body += chunk
            if len(body) > MOST_REQUEST:
                raise Refusal(413, "TooLarge", f"a request may have {MOST_REQUEST:,} bytes")
        try:
            return parse_json(body.decode(), where="request")
        except (ShoalError, UnicodeDecodeError):
            raise Refusal(400, "NoJson", "request: must be one JSON document in UTF-8") from None

    def _asked(self, document: Json, client: str) -> Document:
        """Return what the child is handed; a request that cannot be asked is refused at once."""
        report = written = None
        names: Document = {}

        def find(reference: str) -> Path:
            path = self._find(client, reference)
            names[str(path)] = reference
            return path

        try:
            found = local_request(document, find)
            report, output = found.pop("report", None), found.get("output")
            if isinstance(output, dict):
                written = output.pop("format", None)
        except ShoalError as error:
            raise unasked(error) from None
        if report not in (None, *REPORTS):
            raise _fault(f"report: must be one of {', '.join(REPORTS)}")
        if written not in (None, *WRITTEN):
            raise _fault(f"output: format must be one of {', '.join(WRITTEN)}")
        asked: Document = {"request": found, "format": written, "report": report, "names": names}
        return {"kind": found["job"], **asked}

    def _find(self, client: str, reference: str) -> Path:
        """Return the file behind a reference."""
        scheme, _, name = reference.partition(":")
        if scheme == "upload":
            return self.store.table(client, name).path
        number, _, file = name.partition("/")
        return self.queue.file(client, number, file)

    async def _jobs(self, request: Request, client: str) -> Response:
        found: list[Json] = [self._work_document(each) for each in self.queue.works(client)]
        return _json({"jobs": found})

    async def _job(self, request: Request, client: str) -> Response:
        return _json(self._work_document(self._work(request, client)))

    async def _cancel(self, request: Request, client: str) -> Response:
        await self.queue.remove(self._work(request, client))
        return _nothing()

    async def _result(self, request: Request, client: str) -> Response:
        work = self._work(request, client)
        if work.job.result is None:
            raise Refusal(409, "NotDone", f"the job is {work.state}: it has no result")
        return _json(work.job.result)

    async def _file(self, request: Request, client: str) -> Response:
        self._work(request, client)
        path = self.queue.file(client, request.path_params["job"], request.path_params["file"])
        return FileResponse(path, filename=path.name, headers=_HEADERS)

    def _work(self, request: Request, client: str) -> Work:
        return self.queue.work(client, request.path_params["job"])

    def _work_document(self, work: Work) -> Document:
        """Return how a job stands; a message names no place of this machine."""
        job = work.job
        error: Json = None
        if job.error is not None:
            names = {**strings(job.asked.get("names")), str(self.store.folder): "service"}
            error = renamed({"kind": job.kind, "problem": job.error}, names)
        return {
            "id": work.id, "job": work.kind, "state": work.state, "stage": job.stage or None,
            "share": job.share, "files": list[Json](work.files), "error": error,
            "kept_seconds": _left(work.until, self.store),
        }  # fmt: skip


def _table_document(table: Table, store: Store) -> Document:
    return {
        "id": table.id, "reference": f"upload:{table.id}", "bytes": table.bytes,
        "kept_seconds": _left(table.until, store),
    }  # fmt: skip


def _left(until: float | None, store: Store) -> Json:
    return None if until is None else round(max(until - store.clock(), 0.0))


def _health() -> Document:
    return {"status": "ready", "version": __version__}


def _described() -> Document:
    return openapi()


def _unknown() -> Refusal:
    problem = "send a token: Authorization: Bearer TOKEN"
    return Refusal(401, "Unknown", problem, headers={"www-authenticate": "Bearer"})


def _fault(problem: str) -> Refusal:
    return Refusal(422, "SchemaError", f"request: {problem}", faults=(problem,))


async def _refused(request: Request, error: Exception) -> Response:
    """Answer an address or a method that is not there."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = {"allow": (error.headers or {}).get("Allow", "")}
        return _said(Refusal(405, "Method", "this address has other methods", headers=allowed))
    return _said(not_there("address"))


def _said(refusal: Refusal) -> Response:
    return _json(refusal.to_document(), refusal.status, **refusal.headers)


def _json(document: Document, status: int = 200, **headers: str) -> Response:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return Response(
        text.encode(), status, {**_HEADERS, **headers}, media_type=JSONResponse.media_type
    )


def _nothing() -> Response:
    return Response(None, 204, _HEADERS)
