"""The keywords of the functions in `shoal.api`: typed, checked, and turned into requests.

Every keyword is a field of a request or of a schema, or a parameter of a promise, and is
explained there. None is the same as leaving a keyword out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Literal, TypedDict, TypeVar, cast

from shoal.engines.base import Progress
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.requests import Checks, EncodeRequest, Output, People, usual_checks
from shoal.methods.method import Method
from shoal.methods.registry import method_named
from shoal.methods.xk.choices import Choices
from shoal.privacy import Promise, from_flags
from shoal.privacy.distances import DistanceName
from shoal.privacy.l_diversity import DiversityKind
from shoal.privacy.registry import options
from shoal.schema import flags
from shoal.schema.attribute import labels_named
from shoal.schema.schema import Kind, Role, Schema

SchemaLike = Schema | Mapping[str, object] | str | Path
"""A schema, plain data as a schema file holds it, or the path of such a file."""

Columns = str | Sequence[str]  # the name of a column, or several

Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., object])


class PromiseWords(TypedDict, total=False):
    """What is promised: promises as objects, and the parameters of each by name."""

    privacy: Iterable[Promise] | None
    k: int | None
    l: float | None  # noqa: E741 - the parameter's name in every text on the model
    l_kind: DiversityKind | None
    c: float | None
    t: float | None
    t_distance: DistanceName | None
    n: int | None
    alpha: float | None
    beta: float | None
    delta: float | None
    m: int | None
    requirements: str | None


class SchemaWords(PromiseWords, total=False):
    """Roles and kinds of columns, how values are read, and the promise; see `Schema`.

    Columns that have no role are left out of a release. `hierarchies` is a folder with files
    *hierarchy_<column>.csv, or has, by column, a hierarchy or what a schema writes for one.
    """

    qi: Columns | None
    sensitive: Columns | None
    identifying: Columns | None
    neutral: Columns | None
    person: str | None
    release_person: Literal["pseudonym"] | None
    numeric: Columns | None
    categorical: Columns | None
    date: Columns | None
    set: Columns | None
    set_sep: str | None
    utility_constraints: str | Path | None
    hierarchies: str | Path | Mapping[str, Hierarchy | Mapping[str, object] | str | Path] | None
    missing: Columns | None
    fold_case: bool | None
    date_format: str | Mapping[str, str] | None
    dates: Literal["iso", "same"] | None
    utility: str | None
    target: str | None
    waive: Columns | None
    replace_promise: bool | None
    suppression_limit: float | None


class LearnWords(SchemaWords, total=False):
    """How a recoding is found; see `LearnRequest`."""

    infer: bool | None
    method: str | Method | None
    release: Literal["generalize", "aggregate", "draw"] | None
    labels: Literal["round", "tight"] | None
    partitions: int | None
    partition_by: Literal["kmeans", "random"] | None
    seed: int | None
    threads: int | None
    separator: str | None
    key: str | Path | None
    model_bytes: int | None
    device_ram: int | None
    epsilon: float | None
    budget: str | Path | None
    progress: Progress | None


class ReleaseWords(LearnWords, People, total=False):
    """The form of a release, and what is measured of it; see `Output`, `usual_checks`."""

    suppressed: Literal["remove", "star"] | None
    keep_order: bool | None
    replace_table: bool | None
    spreadsheet_safe: bool | None
    class_file: str | Path | None
    person_file: str | Path | None
    inputs: Sequence[str | Path] | None
    attacks: bool | None
    profile: str | Path | None
    pictures: bool | None
    fidelity: bool | None
    learn: str | None
    bound: float | None
    nested_in: str | Path | None
    ledger: str | Path | None
    waive_composition: Columns | None
    after: str | Path | None
    counterfeits: Literal["fill", "none"] | None
    false_records: str | Path | None
    counterfeit_table: str | Path | None


class EncodeWords(PromiseWords, total=False):
    """What is asked of a model at work; see `EncodeRequest` and `Output`."""

    suppressed: Literal["remove", "star"] | None
    replace_table: bool | None
    spreadsheet_safe: bool | None
    person_file: str | Path | None
    inputs: Sequence[str | Path] | None
    on_unseen: Literal["suppress", "nearest", "error"] | None
    release: Literal["generalize", "draw"] | None
    seed: int | None
    schema: SchemaLike | None
    waive: Columns | None
    fold_case: bool | None
    separator: str | None


class StreamWords(TypedDict, total=False):
    """The words of `encode_stream`; see `StreamRequest`."""

    separator: str | None
    rejects: str | Path | None
    on_unseen: str | None
    suppressed: str | None
    schema: Schema | None
    spreadsheet_safe: bool


class VerifyWords(SchemaWords, total=False):
    """The words of `verify`; see `VerifyRequest`."""

    blanked: bool | None
    person_file: str | Path | None
    false_records: str | Path | None
    separator: str | None


class MetricsWords(SchemaWords, total=False):
    """The words of `metrics`; see `MetricsRequest`."""

    infer: bool | None
    starred: bool | None
    separator: str | None


class RiskWords(SchemaWords, total=False):
    """The words of `risk`; see `RiskRequest`."""

    population: object
    sampling_fraction: float | None
    weights: str | None
    household: str | None
    max_size: int | None
    separator: str | None


class AttackWords(SchemaWords, total=False):
    """The words of `attack`; see `AttackRequest`."""

    infer: bool | None
    person_file: str | Path | None
    register: object
    key: str | None
    beside: Sequence[object]
    class_files: Sequence[str | Path]
    everything: bool | None
    centroids: bool | None
    targets: int | None
    seed: int | None
    separator: str | None


class RecommendWords(SchemaWords, total=False):
    """The words of `recommend`; see `RecommendRequest`."""

    choices: Choices | None
    separator: str | None


class XkWords(RecommendWords, total=False):
    """The words of `release_xk`; see `XkRequest`."""

    xk: int | None
    seed: int | None
    false_records: str | Path | None
    person_file: str | Path | None
    steps: str | Path | None
    inputs: Sequence[str | Path] | None
    spreadsheet_safe: bool | None


class InferWords(TypedDict, total=False):
    """The words of `infer`; see `InferRequest`."""

    max_size: int
    seconds: float | None
    threshold: float
    separator: str | None


class PresetWords(TypedDict, total=False):
    """The words of `write_preset`; see `PresetRequest`."""

    as_of: date | None
    schema_out: str | Path | None
    table_out: str | Path | None
    separator: str | None


class ZipfWords(TypedDict, total=False):
    """The words of the sample `zipf`."""

    attributes: int
    exponent: float
    values: int


class ColumnWords(TypedDict, total=False):
    """How the values of a column are read; see `ColumnValues`."""

    separator: str | None
    missing: Sequence[str]


_WORD_OF = {Role.QUASI: "qi"}
ROLES = {role: _WORD_OF.get(role, role.value) for role in Role}  # the word for each role

KINDS = {kind: kind.value for kind in Kind if kind is not Kind.ORDINAL}
"""The word that names the columns of a kind; an ordinal one needs its order: in a schema."""


def asked_schema(schema: SchemaLike | None, words: Mapping[str, object]) -> Schema:
    """Return the schema that is given, or that words describe, with the promise of the words.

    Raises:
        SchemaError: both are given, or neither; or the words contradict each other.
        PrivacyError: the words promise less than the schema.
    """
    given = given_words(words)
    about = [name for name in (*ROLES.values(), *KINDS.values(), "hierarchies") if name in given]
    flags.refuse_both(schema, about, lambda word: "a schema" if word == "schema" else f"{word}=")
    if schema is not None:
        found = Schema.of(schema)
    else:
        found = flags.schema_from_flags(
            {role: names_in(given.get(word)) for role, word in ROLES.items()},
            {kind: names_in(given.get(word)) for kind, word in KINDS.items()},
            hierarchies=cast("str | Path | Mapping[str, object] | None", given.get("hierarchies")),
        )
    found = flags.with_released_person(found, cast("str | None", given.get("release_person")))
    found = flags.with_set_sep(_read_so(found, given), cast("str | None", given.get("set_sep")))
    place = cast("str | Path | None", given.get("utility_constraints"))
    found = flags.with_utility_constraints(found, place)
    found = found.with_promise(
        asked_promise(words),
        replace_promise=bool(given.get("replace_promise")),
        suppression_limit=cast("float | None", given.get("suppression_limit")),
    )
    for name in ("utility", "target"):
        if name in given:
            found = _replaced(found, name, given[name])
    if "labels" in given:
        found = replace(found, labels=labels_named(given["labels"]))
    return found.with_waived(names_in(given.get("waive")))


def _read_so(schema: Schema, given: Mapping[str, object]) -> Schema:
    """Return the schema with how values are read."""
    if "missing" in given:
        schema = replace(schema, missing=tuple(names_in(given["missing"])))
    schema = replace(schema, fold_case=schema.fold_case or bool(given.get("fold_case")))
    formats = given.get("date_format", {})
    by_column = {"": formats} if isinstance(formats, str) else cast("Mapping[str, str]", formats)
    return flags.with_dates(schema, by_column, cast("str | None", given.get("dates")))


def _replaced(schema: Schema, name: str, value: object) -> Schema:
    change: Callable[..., Schema] = replace
    return change(schema, **{name: value})


def files_of(schema: SchemaLike | None, found: Schema) -> tuple[str | Path, ...]:
    """Return the files that a schema came from: itself, and its hierarchies."""
    return (*([schema] if isinstance(schema, (str, Path)) else ()), *found.files())


def asked_promise(words: Mapping[str, object]) -> tuple[Promise, ...]:
    """Return what the words promise: the objects, and what their parameters stand for."""
    objects = cast("Iterable[Promise]", words.get("privacy") or ())
    return (*objects, *from_flags({name: words.get(name) for name in options()}))


def asked_method(words: Mapping[str, object]) -> Method:
    """Return the method; a name stands for its defaults."""
    method = words.get("method") or "auto"
    return method if isinstance(method, Method) else method_named(str(method))


def asked_output(
    out: str | Path | None,
    words: Mapping[str, object],
    *,
    files: Sequence[str | Path] = (),
    suppressed: str | None = None,
) -> Output:
    """Return where the result goes.

    Args:
        out: the file; None returns a table.
        words: what was said of it.
        files: what was read and must not be overwritten.
        suppressed: what becomes of suppressed records where no word says so.
    """
    given = given_words(words)
    inputs = cast("Sequence[str | Path]", given.get("inputs", ()))
    return Output(
        out=out,
        suppressed=str(given["suppressed"]) if "suppressed" in given else suppressed,
        keep_order=bool(given.get("keep_order")),
        replace_table=bool(given.get("replace_table")),
        spreadsheet_safe=cast("bool | None", given.get("spreadsheet_safe")),
        class_file=cast("str | Path | None", given.get("class_file")),
        person_file=cast("str | Path | None", given.get("person_file")),
        inputs=(*inputs, *files),
    )


def asked_checks(words: Mapping[str, object]) -> Checks:
    """Return what is measured of a release: nothing that nobody asked for."""
    people = {name: words.get(name) for name in People.__annotations__}
    checks = usual_checks(words.get("attacks"), reads=False, **people)  # type: ignore[arg-type]
    named = ("profile", "pictures", "fidelity", "learn", "bound")
    return replace(checks, **{name: words[name] for name in named if words.get(name)})  # type: ignore[arg-type]


def fields_in(kind: type, words: Mapping[str, object]) -> dict[str, object]:
    """Return the words that are plain fields of a request."""
    built = ("schema", "method", "privacy", "waive", "output", "checks", "k", "table")
    names = {each.name for each in fields(kind)} - {*built, "waive_composition"}
    return {name: value for name, value in given_words(words).items() if name in names}


def request_of(kind: type[Made], words: Mapping[str, object], **built: object) -> Made:
    """Return a request; built: what is not a plain field of it."""
    return cast("Callable[..., Made]", kind)(**fields_in(kind, words), **built)


def given_words(words: Mapping[str, object]) -> dict[str, object]:
    """Return the words that say something."""
    return {name: value for name, value in words.items() if value is not None}


def names_in(value: object) -> list[str]:
    """Return one name, or several, as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(name) for name in cast("list[str]", value)]


def encode_request(
    table: object,
    model: object,
    words: Mapping[str, object],
    *,
    out: str | Path | None = None,
    safe: bool = False,
) -> EncodeRequest:
    """Return the request of encoding a table with a model."""
    given = given_words(words)
    schema = cast("SchemaLike | None", given.get("schema"))
    found = None if schema is None else Schema.of(schema)
    files = () if found is None else files_of(schema, found)
    return request_of(
        EncodeRequest,
        words,
        table=table,
        model=model,
        safe=safe,
        output=asked_output(out, words, files=files),
        schema=found,
        privacy=asked_promise(words) or None,
        waive=tuple(names_in(given.get("waive"))),
    )
