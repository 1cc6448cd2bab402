"""A request as a client sends it: its tables are what the client has brought, and no path is read.

The document is the one that reports, the page and `shoal` files hold (docs/reference/requests.md),
with references in the place of paths: `upload:ID`, and `job:ID/FILE` for what a job has made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from shoal.core.documents import Document, Json
from shoal.core.errors import SchemaError
from shoal.core.suggest import did_you_mean
from shoal.reports.profile import profile_names

Find = Callable[[str], Path]
"""Returns the file behind a reference of this client; raises `Refusal`."""

_SEARCH = frozenset(
    {"schema", "method", "release", "partitions", "partition_by", "infer", "seed", "separator"}
)
KEYS: Mapping[str, frozenset[str]] = {
    "release": _SEARCH | {"table", "output", "checks", "report"},
    "learn": _SEARCH | {"table"},
    "encode": frozenset(
        {"table", "model", "safe", "on_unseen", "output", "schema", "privacy", "waive"}
        | {"fold_case", "separator"}
    ),
    "verify": frozenset({"table", "schema", "blanked", "separator"}),
    "metrics": frozenset({"table", "release", "schema", "starred", "infer", "separator"}),
    "risk": frozenset(
        {"table", "schema", "population", "sampling_fraction", "weights", "household"}
        | {"max_size", "separator"}
    ),
    "infer": frozenset({"table", "max_size", "seconds", "threshold", "separator"}),
    "drift": frozenset({"table", "model", "false_alarm", "separator"}),
}
"""The jobs that the service does, and what may be asked of each."""


def needed(job: str) -> list[str]:
    """Return the keys that a request of a job cannot do without."""
    optional = {"schema"} if job == "encode" else set()
    return [each for each in ("table", "model", "schema") if each in KEYS[job] - optional]


_OUTPUT = {"suppressed", "keep_order", "spreadsheet_safe", "format"}
_CHECKS = {
    "attacks", "population", "sampling_fraction", "weights", "household", "profile", "fidelity",
}  # fmt: skip
_CSV = {"file", "separator", "encoding", "skip_lines"}
WRITTEN = ("csv", "csv.gz", "parquet", "arrow", "jsonl")
"""The formats of a release."""


def local_request(document: object, find: Find) -> Document:
    """Return a client's document with the paths of this machine in the place of references.

    Raises:
        SchemaError: it asks for what the service does not do, or names a path.
        Refusal: it refers to what is not there.
    """
    if not isinstance(document, dict) or document.get("job") not in list(KEYS):
        raise SchemaError(where="request", faults=[f"`job` must be one of {', '.join(KEYS)}"])
    job = str(document["job"])
    faults = [
        f"unknown key {name!r}{did_you_mean(name, KEYS[job])}"
        for name in document
        if name != "job" and name not in KEYS[job]
    ]
    faults += [f"{name!r} is missing" for name in needed(job) if name not in document]
    request = _Request(find, faults)
    found: Document = {}
    for name, value in document.items():
        if name == "job" or name in KEYS[job]:
            found[name] = request.value(job, name, value)
    if faults:
        raise SchemaError(where="request", faults=faults)
    return found


class _Request:
    """Replaces the references in a request; collects what is wrong."""

    def __init__(self, find: Find, faults: list[str]) -> None:
        self.find = find
        self.faults = faults

    def value(self, job: str, name: str, value: Json) -> Json:
        if name in ("table", "population") or (name, job) == ("release", "metrics"):
            return self.table(name, value)
        if name == "model":
            return self.reference(name, value)
        if name == "schema":
            return self.schema(value)
        if name == "output":
            return self.part(name, value, _OUTPUT)
        if name == "checks":
            return self.checks(value)
        if name == "method" and isinstance(value, dict):
            return {key: each for key, each in value.items() if key != "threads"}
        return value

    def table(self, name: str, value: Json) -> Json:
        """Return a table: a reference, or one with how its CSV file is written."""
        if not isinstance(value, dict):
            return self.reference(name, value)
        found = self.part(name, value, _CSV)
        assert isinstance(found, dict)
        found["file"] = self.reference(name, value.get("file"))
        return found

    def reference(self, name: str, value: Json) -> Json:
        if isinstance(value, str) and value.startswith(("upload:", "job:")):
            return str(self.find(value))
        self.faults.append(f"{name}: must be upload:ID, or job:ID/FILE")
        return None

    def schema(self, value: Json) -> Json:
        """Return a schema whose hierarchies, where they are files, were brought."""
        columns = value.get("columns") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(columns, dict):
            self.faults.append("schema: must be the schema itself, with `columns`")
            return None
        return {
            **value,
            "columns": {name: self.column(name, each) for name, each in columns.items()},
        }

    def column(self, name: str, value: Json) -> Json:
        if not isinstance(value, dict) or not isinstance(value.get("hierarchy"), str):
            return value
        return {
            **value,
            "hierarchy": self.reference(f"schema: column {name!r}", value["hierarchy"]),
        }

    def checks(self, value: Json) -> Json:
        found = self.part("checks", value, _CHECKS)
        if isinstance(found, dict):
            if found.get("population") is not None:
                found["population"] = self.table("checks: population", found["population"])
            if found.get("profile") not in (None, *profile_names()):
                known = ", ".join(profile_names())
                self.faults.append(f"checks: profile must be one of {known}")
        return found

    def part(self, name: str, value: Json, known: set[str]) -> Json:
        if not isinstance(value, dict):
            self.faults.append(f"{name}: must be a mapping of names to values")
            return None
        for key in value:
            if key not in known:
                self.faults.append(f"{name}: unknown key {key!r}{did_you_mean(key, known)}")
        return {key: each for key, each in value.items() if key in known}
