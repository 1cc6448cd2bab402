"""The service's own description, as OpenAPI 3.1 has it."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.core.documents import Document, Json
from shoal.core.version import __version__
from shoal.service.asked import KEYS, needed
from shoal.service.store import FORMATS

_NUMBER: Document = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_WHOLE: Document = {"type": "integer", "minimum": 0}
_ANY: Document = {"type": "object"}
_KEPT: Document = {"type": ["integer", "null"], "minimum": 0}


def _object(required: list[str], **properties: Json) -> Document:
    return {"type": "object", "required": list[Json](required), "properties": properties}


_FILE: Document = {
    "type": "string", "pattern": "^(upload:[0-9a-f]{32}|job:[0-9a-f]{32}/[a-z]+[.][a-z.]+)$",
}  # fmt: skip
_PARTS: dict[str, Document] = {"table": _FILE, "model": _FILE, "schema": _ANY}


def _request(job: str, keys: frozenset[str]) -> Document:
    """Describe what may be asked of a job."""
    words: Document = {name: _PARTS.get(name, {}) for name in sorted(keys)}
    return {
        **_object(["job", *needed(job)], job={"const": job}, **words),
        "additionalProperties": False,
    }


SCHEMAS: Document = {
    "Error": _object(
        ["error"],
        error=_object(
            ["kind", "problem"],
            kind={"type": "string"},
            problem={"type": "string"},
            faults={"type": "array", "items": {"type": "string"}},
        ),
    ),
    "Table": _object(
        ["id", "reference", "bytes", "kept_seconds"],
        id=_NUMBER, reference={"type": "string"}, bytes=_WHOLE, kept_seconds=_KEPT,
    ),
    "Job": _object(
        ["id", "job", "state", "files", "error", "kept_seconds"],
        id=_NUMBER,
        job={"enum": list[Json](KEYS)},
        state={"enum": ["queued", "running", "done", "failed", "cancelled"]},
        stage={"type": ["string", "null"]},
        share={"type": ["number", "null"]},
        files={"type": "array", "items": {"type": "string"}},
        error={"type": ["object", "null"]},
        kept_seconds=_KEPT,
    ),
    "Request": {
        "description": "A request of the reference; a table, a model or a file of a hierarchy is "
        "upload:ID, or job:ID/FILE.",
        "oneOf": [_request(job, keys) for job, keys in KEYS.items()],
    },
}  # fmt: skip

_WORDS = {
    200: "what was asked for", 201: "kept", 202: "taken on", 204: "deleted", 400: "not readable",
    401: "no token that is known", 404: "not there, or not this client's", 405: "another method",
    408: "nothing came for too long", 409: "not done", 413: "too large", 415: "no known format",
    422: "cannot be asked; faults are named", 429: "too many tables", 503: "too many jobs wait",
    507: "no more room",
}  # fmt: skip


def openapi() -> Document:
    """Return the description."""
    table, job, file = _in_path("table"), _in_path("job"), _in_path("file", {"type": "string"})
    asked: Document = {"schema": _ref("Request")}
    known: list[Json] = [each.lstrip(".") for each in FORMATS]
    kinds: Json = {"enum": known, "default": "csv"}
    ending: Document = {"name": "format", "in": "query", "schema": kinds}
    paths: Document = {
        "/v1/health": {"get": {**_answers({200: _ANY}), "security": []}},
        "/v1/openapi.json": {"get": {**_answers({200: _ANY}), "security": []}},
        "/v1/tables": {
            "get": _asks("List the tables", {200: _list("tables", "Table")}, 401),
            "post": {
                **_asks("Bring a table, a model or a hierarchy", {201: _ref("Table")},
                        400, 401, 408, 413, 415, 429, 507),
                "parameters": [ending],
                "requestBody": {"content": {"application/octet-stream": {"schema": {}}}},
            },
        },
        "/v1/tables/{table}": {
            "parameters": [table],
            "get": _asks("Show a table", {200: _ref("Table")}, 401, 404),
            "delete": _asks("Delete a table", {204: None}, 401, 404),
        },
        "/v1/jobs": {
            "get": _asks("List the jobs", {200: _list("jobs", "Job")}, 401),
            "post": {
                **_asks("Ask for a job", {202: _ref("Job")}, 400, 401, 404, 408, 413, 422, 503),
                "requestBody": {"required": True, "content": {"application/json": asked}},
            },
        },
        "/v1/jobs/{job}": {
            "parameters": [job],
            "get": _asks("Show how a job stands", {200: _ref("Job")}, 401, 404),
            "delete": _asks("End a job, delete its files", {204: None}, 401, 404),
        },
        "/v1/jobs/{job}/result": {
            "parameters": [job],
            "get": _asks("Return a job's result", {200: _ANY}, 401, 404, 409),
        },
        "/v1/jobs/{job}/files/{file}": {
            "parameters": [job, file],
            "get": _asks("Return a file that a job wrote", {}, 401, 404, file=True),
        },
    }  # fmt: skip
    bearer: Json = {"type": "http", "scheme": "bearer"}
    _link(paths, "/v1/tables", "201", "table", _TABLE_LEADS_TO)
    _link(paths, "/v1/jobs", "202", "job", _JOB_LEADS_TO)
    return {
        "openapi": "3.1.0",
        "info": {"title": "shoal", "version": __version__},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": {"token": bearer}},
        "security": [{"token": []}],
    }  # fmt: skip


_TABLE_LEADS_TO = {"show": ("/v1/tables/{table}", "get"), "drop": ("/v1/tables/{table}", "delete")}
_JOB_LEADS_TO = {
    "show": ("/v1/jobs/{job}", "get"), "result": ("/v1/jobs/{job}/result", "get"),
    "end": ("/v1/jobs/{job}", "delete"),
}  # fmt: skip


def _link(
    paths: Document, made_at: str, status: str, name: str, goals: Mapping[str, tuple[str, str]]
) -> None:
    """Say where the number in an answer leads to; with a table, also what may be asked of it."""
    links: Document = {
        word: {"operationRef": _operation(path, method), "parameters": {name: "$response.body#/id"}}
        for word, (path, method) in goals.items()
    }
    if name == "table":
        body: Json = {"job": "infer", "table": "{$response.body#/reference}"}
        links["infer"] = {"operationRef": _operation("/v1/jobs", "post"), "requestBody": body}
    item = paths[made_at]
    assert isinstance(item, dict)
    post = item["post"]
    assert isinstance(post, dict)
    responses = post["responses"]
    assert isinstance(responses, dict)
    answer = responses[status]
    assert isinstance(answer, dict)
    answer["links"] = links


def _operation(path: str, method: str) -> str:
    return f"#/paths/{path.replace('~', '~0').replace('/', '~1')}/{method}"


def _in_path(name: str, schema: Document | None = None) -> Document:
    return {"name": name, "in": "path", "required": True, "schema": schema or _NUMBER}


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(name: str, of: str) -> Document:
    listed: Json = {"type": "array", "items": _ref(of)}
    return _object([name], **{name: listed})


def _asks(
    summary: str, good: dict[int, Document | None], *refusals: int, file: bool = False
) -> Document:
    found = _answers({**good, **dict.fromkeys(refusals, _ref("Error"))})
    if file:
        responses = found["responses"]
        assert isinstance(responses, dict)
        responses["200"] = {"description": "the file", "content": {"*/*": {"schema": {}}}}
    return {"summary": summary, **found}


def _answers(answers: Mapping[int, Document | None]) -> Document:
    responses: Document = {}
    for status, schema in answers.items():
        content: Document = {"description": _WORDS[status]}
        if schema is not None:
            content["content"] = {"application/json": {"schema": schema}}
        responses[str(status)] = content
    return {"responses": responses}
