"""Requests as documents: written into every report, kept as YAML or JSON, and run again.

A document has the job's name, the table and what differs from the defaults; hierarchies that
came from files are named by these. What cannot be written down (a frame in memory, a password)
is left out, and so are, of a report, values of the data; reading such a request says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import ClassVar, Protocol, TypeVar

from shoal.core.documents import Document, Json, parse_json, read_document, to_yaml
from shoal.core.errors import SchemaError, ShoalError
from shoal.core.suggest import did_you_mean
from shoal.engines.base import Checks, Output
from shoal.formats.csv_file import CsvFile
from shoal.formats.database import Database
from shoal.formats.excel import ExcelFile
from shoal.formats.spark_table import SparkTable
from shoal.hierarchies.build import Builder
from shoal.hierarchies.read import write_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.requests import (
    AttackRequest,
    ComposeRequest,
    DriftRequest,
    EncodeRequest,
    InferRequest,
    LearnRequest,
    LinkedRequest,
    LinkedVerifyRequest,
    MetricsRequest,
    RecommendRequest,
    ReleaseRequest,
    Request,
    RiskRequest,
    VerifyRequest,
    XkRequest,
)
from shoal.methods.method import Method
from shoal.methods.registry import method_named
from shoal.methods.xk.choices import Choices
from shoal.methods.xk.pipeline import Techniques
from shoal.model.model import RecodingModel
from shoal.privacy import Promise
from shoal.privacy.registry import from_document as promise_from
from shoal.schema.attribute import Attribute
from shoal.schema.document import write_attribute
from shoal.schema.linked import LinkedSchema, is_linked
from shoal.schema.schema import Schema

JOBS: Mapping[str, type[Request]] = MappingProxyType(
    {
        "release": ReleaseRequest,
        "learn": LearnRequest,
        "encode": EncodeRequest,
        "verify": VerifyRequest,
        "metrics": MetricsRequest,
        "risk": RiskRequest,
        "attack": AttackRequest,
        "infer": InferRequest,
        "drift": DriftRequest,
        "recommend": RecommendRequest,
        "xk": XkRequest,
        "compose": ComposeRequest,
        "linked": LinkedRequest,
        "verify_linked": LinkedVerifyRequest,
    }
)
TABLES = ("table", "release", "register", "population", "tables")
"""Fields that hold a table, where they hold anything but a word."""

FRAME = "a table in memory"
MODEL = "a model in memory"
LEFT_OUT = "(left out: values of the data)"
"""What stands in a report where the request that a user asks for has values of the data."""

_PLAIN: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "a text"),
    "bool": ((bool,), "true or false"),
    "Path": ((str,), "a path"),
    "None": ((NoneType,), "nothing"),
}
"""What a document may hold for a field, by the words of its type."""


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


Made = TypeVar("Made", bound=_Dataclass)


def request_document(request: Request) -> Document:
    """Return a request as a document.

    Law:
        `request_from(request_document(request)) == request`, where its tables are files, and
        a model is one too.
    """
    return _Writer(public=False).request(request)


def public_document(request: Request) -> Document:
    """Return a request as a report shows it: without any value of the data.

    Labels of a hierarchy that has no file, an order of values, values that a promise names
    and SQL, which may compare with values, are left out.
    """
    return _Writer(public=True).request(request)


def request_text(request: Request) -> str:
    """Return a request as YAML."""
    return to_yaml(request_document(request))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes requests down. public: without values of the data."""

    public: bool

    def request(self, request: Request) -> Document:
        (job,) = (name for name, kind in JOBS.items() if kind is type(request))
        return {"job": job, **self.changed(request)}

    def changed(self, value: object, *without: str) -> Document:
        """Return the fields of a frozen object that are not at their default."""
        assert is_dataclass(value)
        found: Document = {}
        for each in fields(value):
            default, written = _default(each), self.value(getattr(value, each.name))
            # Documents are compared: a frame answers `!=` with a frame.
            is_default = default is not MISSING and written == self.value(default)
            if each.name not in without and not is_default:
                found[each.name] = written
        return found

    def value(self, value: object) -> Json:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (Schema, LinkedSchema, Method, Promise)):
            return self._ours(value)
        if isinstance(value, (CsvFile, Database, SparkTable)):
            return self._table(value)
        if isinstance(value, PathLike):
            return str(fspath(value))
        if isinstance(value, (Output, Checks, Choices)):
            return self.changed(value)
        if isinstance(value, Techniques):
            return value.label
        if isinstance(value, Mapping):
            return {str(name): self.value(each) for name, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(each) for each in value]
        return MODEL if isinstance(value, RecodingModel) else FRAME

    def _ours(self, value: Schema | LinkedSchema | Method | Promise) -> Json:
        """Return what has a document of its own."""
        if isinstance(value, (Schema, LinkedSchema)):
            return {
                **value.to_document(self._column),
                "privacy": [self._ours(each) for each in value.privacy],
            }
        # Through JSON: a document that is kept holds nothing else.
        written = parse_json(json.dumps(value.to_document()), where="request")
        if isinstance(value, Promise) and isinstance(written, dict):
            return self._without_values(value, written)
        return written

    def _column(self, attribute: Attribute) -> Document:
        return self._without_values(attribute, write_attribute(attribute, self._hierarchy))

    def _hierarchy(self, hierarchy: Hierarchy | Builder) -> Json:
        if isinstance(hierarchy, Hierarchy):
            if hierarchy.origin is not None:
                return hierarchy.origin
            return LEFT_OUT if self.public else write_hierarchy(hierarchy)
        ((name, options),) = write_hierarchy(hierarchy).items()
        assert isinstance(options, dict)
        return {name: self._without_values(hierarchy, options)}

    def _without_values(self, owner: _Dataclass, document: Document) -> Document:
        """Mark what holds values of the data: fields that no repr shows."""
        hidden = {each.name for each in fields(owner) if self.public and not each.repr}
        return {name: LEFT_OUT if name in hidden else value for name, value in document.items()}

    def _table(self, table: CsvFile | Database | SparkTable) -> Json:
        if isinstance(table, CsvFile):
            words = self.changed(table, "path")
            return {"file": fspath(table), **words} if words else str(table)
        if isinstance(table, SparkTable):
            place = table.place
            if isinstance(place, str):  # s3a://key:secret@bucket, but abfss://container@account
                place = re.sub(r"://[^/@:]*:[^/]*@", "://", place)
            return {"spark": self.value(place), **self.changed(table, "place")}
        document = {"database": table.where, **self.changed(table, "uri")}
        if self.public and table.query is not None:
            document["query"] = LEFT_OUT
        return document


def _default(each: Field[object]) -> object:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return each.default


def load_request(path: str | Path) -> Request:
    """Read a request from a YAML or JSON file.

    Raises:
        SchemaError: names everything that is wrong with it.
    """
    return request_from(read_document(path), where=str(path))


def request_from(document: object, *, where: str = "request") -> Request:
    """Return the request that a document describes.

    Raises:
        SchemaError: names everything that is wrong with it.
    """
    if not isinstance(document, Mapping) or document.get("job") not in list(JOBS):
        raise SchemaError(where=where, faults=[f"`job` must be one of {', '.join(JOBS)}"])
    lost = [f"{name} was left out of the report: write it in again" for name in _marked(document)]
    if lost:
        raise SchemaError(where=where, faults=lost)
    kind = JOBS[str(document["job"])]
    given = {str(name): value for name, value in document.items() if name != "job"}
    return _read(kind, given, where=where)


def _marked(value: object, *path: str) -> Iterator[str]:
    """Yield where something was left out."""
    if value == LEFT_OUT:
        yield ".".join(path)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _marked(each, *path, str(name))
    elif isinstance(value, list):
        for place, each in enumerate(value, start=1):
            yield from _marked(each, *path, str(place))


def _read(kind: type[Made], given: Mapping[str, object], *, where: str) -> Made:
    """Build a frozen object from a document; all faults are raised together."""
    known = {each.name: each for each in fields(kind)}
    faults: list[str] = []
    found: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            faults.append(f"unknown key {name!r}{did_you_mean(name, known)}")
            continue
        try:
            found[name] = _value(name, value)
            _check_type(known[name], found[name])
        except SchemaError as error:
            faults += [f"{name}: {fault}" for fault in error.faults]
        except ShoalError as error:
            faults.append(f"{name}: {error}")
    needed = {name for name, each in known.items() if _default(each) is MISSING}
    faults += [f"{name!r} is missing" for name in sorted(needed - set(given))]
    if faults:
        raise SchemaError(where=where, faults=faults)
    make: Callable[..., Made] = kind
    return make(**found)


def _check_type(each: Field[object], value: object) -> None:
    """Refuse a value that a field cannot hold, as far as that is a plain one."""
    words = str(each.type).split(" | ")
    if isinstance(value, (Schema, LinkedSchema)) and type(value).__name__ not in words:
        needed = "one table" if "Schema" in words else "linked tables (`tables`)"
        raise _fault(f"must be that of {needed}")
    if words[0].startswith(("tuple[", "Sequence[")):
        if not isinstance(value, (tuple, NoneType)):
            raise _fault("must be a list")
        return
    if not set(words) <= set(_PLAIN):
        return
    right = isinstance(value, tuple(kind for word in words for kind in _PLAIN[word][0]))
    if not right or (isinstance(value, bool) and "bool" not in words):
        raise _fault("must be " + " or ".join(_PLAIN[w][1] for w in words if w != "None"))


def _fault(text: str) -> SchemaError:
    return SchemaError(where="request", faults=[text])


def _value(name: str, value: object) -> object:
    if name == "schema" and value is not None:
        return _schema(value)
    if name == "method":
        return _method(value)
    if name == "model" and value == MODEL:
        raise _fault(f"was {MODEL}: name the file that holds it")
    if name in _PARTS:
        return _read(_PARTS[name], _mapping(value), where=name)
    if name == "techniques" and isinstance(value, str):
        return Techniques.parse(value)
    if name == "privacy" and isinstance(value, list):
        return tuple(promise_from(each) for each in value)
    if name == "tables" and isinstance(value, Mapping) and "database" not in value:
        return {str(each): _table(place) for each, place in value.items()}
    if name in TABLES or (name == "out" and isinstance(value, Mapping)):
        return _table(value)
    return tuple(value) if isinstance(value, list) else value


_PARTS: Mapping[str, type[Output] | type[Checks] | type[Choices]] = {
    "output": Output,
    "checks": Checks,
    "choices": Choices,
}


def _schema(value: object) -> Schema | LinkedSchema:
    """Return the schema of a table, or of linked tables."""
    kind = (
        LinkedSchema
        if is_linked(read_document(value) if isinstance(value, str) else value)
        else Schema
    )
    return kind.load(value) if isinstance(value, str) else kind.from_document(value)


def _method(value: object) -> Method:
    if isinstance(value, str):
        return method_named(value)
    given = dict(_mapping(value))
    return method_named(str(given.pop("name", "")), given)


def _table(value: object) -> object:
    if value == FRAME:
        raise _fault(f"was {FRAME}: name the file that holds it")
    if not isinstance(value, Mapping):
        return value
    given = {str(name): each for name, each in value.items()}
    if "file" in given:
        kind = ExcelFile if str(given["file"]).lower().endswith(".xlsx") else CsvFile
        return _read(kind, {"path": given.pop("file"), **given}, where="table")
    if "database" in given:
        return _read(Database, {"uri": given.pop("database"), **given}, where="table")
    if "spark" in given:
        return _read(SparkTable, {"place": _table(given.pop("spark")), **given}, where="table")
    raise _fault("name a `file`, a `database` or a table of `spark`")


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise _fault("must be a mapping of names to values")
    return {str(key): each for key, each in value.items()}
