"""The commands that do what the page does, to be run in the folder that it was started in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from shoal.core.documents import Document, Json

_OPTIONS = {
    "release": "--release",
    "partitions": "--partitions",
    "partition_by": "--partition-by",
    "seed": "--seed",
    "threads": "--threads",
    "separator": "--sep",
}
_RELEASE = {
    "key": "--key",
    "nested_in": "--nested-in",
    "ledger": "--ledger",
    "waive_composition": "--waive-composition",
    "after": "--after",
    "counterfeits": "--counterfeits",
    "counterfeit_table": "--counterfeit-table",
    "false_records": "--false-records",
    "epsilon": "--epsilon",
    "budget": "--budget",
    "model_bytes": "--model-bytes",
    "device_ram": "--device-ram",
}
_OUTPUT = {"out": "--out", "suppressed": "--suppressed", "class_file": "--class-file",
           "person_file": "--person-file"}  # fmt: skip
_READING = {"encoding": "--encoding", "sheet": "--sheet", "skip_lines": "--skip-lines"}
_REPORT = {"out": "--report", "audience": "--report-for", "by": "--by", "purpose": "--purpose",
           "recipient": "--recipient"}  # fmt: skip
_CHECKS = {"profile": "--profile", "sampling_fraction": "--sampling-fraction",
           "weights": "--weights", "household": "--household",
           "population": "--population", "learn": "--learn", "bound": "--bound"}  # fmt: skip


def anonymize_command(request: Document, report: Document | None = None) -> str:
    """Return the command that makes the release of a request.

    Args:
        request: with the schema by its file; see `Project.document`.
        report: where the report goes (`out`), and what only people can say in it.

    Example:
        >>> anonymize_command({"job": "release", "table": "a.csv", "schema": "s.yaml",
        ...                    "method": {"name": "refine", "effort": "fast"},
        ...                    "output": {"out": "r.csv"}})
        'shoal anonymize a.csv --schema s.yaml --method refine --set effort=fast --out r.csv'
    """
    words = ["shoal", "anonymize", *_start(request), *_named(request, _RELEASE)]
    output = _part(request, "output")
    is_usual = output.get("suppressed") == "remove"
    words += _named({**output, "suppressed": None} if is_usual else output, _OUTPUT)
    words += _flags(output, {"keep_order": "--keep-order", "replace_table": "--replace-table"})
    is_safe = output.get("spreadsheet_safe")
    if is_safe is not None:
        words.append("--spreadsheet-safe" if is_safe else "--no-spreadsheet-safe")
    words += _named(request.get("checks"), _CHECKS)
    words += _flags(request.get("checks"), {"fidelity": "--fidelity"})
    words += ["--attacks"] if _part(request, "checks").get("attacks") == "all" else []
    words += _named(report, _REPORT)
    return shlex.join(words)


def learn_command(request: Document, model: str) -> str:
    """Return the command that writes the model of a release."""
    return shlex.join(["shoal", "learn", *_start(request), "--model", model])


def export_command(model: str, to: str, out: str) -> str:
    """Return the command that writes the encoder of a model."""
    return shlex.join(["shoal", "edge", "export", model, "--to", to, "--out", out])


def _start(request: Document) -> Iterator[str]:
    """Yield table, schema and method."""
    yield from _table(request.get("table"))
    yield from ("--schema", str(request.get("schema")))
    method = request.get("method")
    if isinstance(method, dict):
        yield from ("--method", str(method.get("name")))
        for name, value in method.items():
            if name != "name":
                yield from ("--set", f"{name}={_said(value)}")
    elif method is not None:
        yield from ("--method", str(method))
    yield from _named(request, _OPTIONS)
    if request.get("infer") is False:
        yield "--no-infer"


def _table(table: Json) -> Iterator[str]:
    if not isinstance(table, dict):
        yield str(table)
        return
    if "database" in table:
        yield str(table["database"])
        yield from _named(table, {"table": "--table", "query": "--query"})
        return
    yield str(table.get("file"))
    yield from _named(table, _READING)


def _named(part: Json, flags: dict[str, str]) -> Iterator[str]:
    found = part if isinstance(part, dict) else {}
    for name, flag in flags.items():
        if found.get(name) is not None:
            yield from (flag, _said(found[name]))


def _flags(part: Json, flags: dict[str, str]) -> list[str]:
    found = part if isinstance(part, dict) else {}
    return [flag for name, flag in flags.items() if found.get(name) is True]


def _said(value: Json) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _part(request: Document, name: str) -> Document:
    found = request.get(name)
    return found if isinstance(found, dict) else {}
