"""Requests by chance, with tables that are files: what can be written down and read again."""

from __future__ import annotations

from dataclasses import MISSING, fields

from hypothesis import strategies as st
from tests.jobs.people import plain_schema

from shoal.engines.base import Checks, Output
from shoal.formats.csv_file import CsvFile
from shoal.formats.spark_table import SparkTable
from shoal.jobs.documents import JOBS
from shoal.methods.registry import method_named
from shoal.methods.xk.choices import Choices
from shoal.methods.xk.pipeline import Techniques
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from shoal.schema.linked import LinkedSchema

TEXTS = st.text(min_size=1, max_size=5)
NAMES = st.sampled_from(["a.csv", "öde wards/b.csv", "C:\\d.csv", "true", "1e3", "no", "{x}"])
SHARES = st.floats(0, 1, exclude_min=True)
NUMBERS = st.integers(1, 10**12)
CSV_FILES = st.builds(
    CsvFile, NAMES, encoding=st.sampled_from(["cp1252", "utf-16"]), skip_lines=st.integers(0, 3)
)
TABLES = NAMES | CSV_FILES | st.builds(SparkTable, NAMES, master=st.sampled_from([None, "local"]))
PROMISES = st.lists(
    st.builds(KAnonymity, st.integers(1, 99))
    | st.builds(LDiversity, st.integers(2, 9), column=st.just("ill"))
    | st.builds(TCloseness, SHARES)
    | st.builds(AlphaKAnonymity, SHARES, NUMBERS, values=st.lists(TEXTS, min_size=1, max_size=2)),
    max_size=2,
)
HIERARCHIES = st.sampled_from(
    [
        None,
        {"mask": {"char": "#"}},
        {"order": {"fanout": 2, "order": ["c", "a"]}},
        {"tree": {"*": ["a", {"b": ["c"]}]}},
        {"tree": {"on": {"a": None, "1e3": ["b", "c"]}}},
    ]
)


@st.composite
def schemas(draw):
    """Draw a schema with trees, builders, orders, marks and a promise."""
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "weight": draw(st.floats(0.5, 2))},
        "job": {"role": "quasi", "kind": "categorical", "hierarchy": draw(HIERARCHIES)},
        draw(TEXTS) + "grade": {
            "role": "quasi", "kind": "ordinal",
            "order": draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True)),
        },
        "ill": "sensitive",
    }  # fmt: skip
    asked = [promise.to_document() for promise in draw(PROMISES)]
    marks = draw(st.lists(TEXTS, max_size=2))
    return plain_schema(columns=columns, privacy=asked, missing=marks)


@st.composite
def linked_schemas(draw):
    """Draw a schema of two tables, one of them hanging on the other."""
    own = {"age": "quasi", "job": {"role": "quasi", "hierarchy": draw(HIERARCHIES)}}
    below = {"ill": "sensitive", draw(TEXTS) + "x": "neutral"}
    asked = [promise.to_document() for promise in draw(PROMISES)]
    for each in asked:
        if "column" in each:
            each["column"] = "stays.ill"
    tables = {
        "people": {"key": "id", "columns": own, "others": draw(st.sampled_from(["drop", "keep"]))},
        "stays": {"parent": "people", "columns": below},
    }
    if draw(st.booleans()):
        tables["stays"] |= {"key": "stay", "foreign_key": draw(TEXTS) + " id"}
    marks = draw(st.lists(TEXTS, max_size=2))
    return LinkedSchema.from_document(
        {
            "tables": tables, "privacy": asked, "missing": marks, "fold_case": draw(st.booleans()),
            "suppression_limit": draw(SHARES),
        }
    )  # fmt: skip


METHODS = st.sampled_from(
    [
        method_named("mondrian"),
        method_named("flash", {"seconds": 2.5}),
        method_named("kmember", {"cm": True}),
        method_named("vmdav", {"gamma": 0.7}),
    ]
)


def parts(kind, strategies):
    """Draw an object of a kind: what is needed, and some of what is not."""
    needed = [e for e in fields(kind) if e.default is MISSING and e.default_factory is MISSING]
    required = {each.name: strategies[each.name] for each in needed}
    optional = {e.name: strategies[e.name] for e in fields(kind) if e.name not in required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda words: kind(**words))


LISTED = st.lists(TEXTS, max_size=2).map(tuple)
PATHS = st.lists(NAMES, max_size=2).map(tuple)
FIELDS = {
    "out": NAMES, "suppressed": st.sampled_from(["remove", "star"]), "keep_order": st.booleans(),
    "replace_table": st.booleans(),
    "spreadsheet_safe": st.none() | st.booleans(), "inputs": PATHS, "class_file": NAMES,
    "nested_in": NAMES, "ledger": NAMES, "waive_composition": LISTED,
    "after": NAMES, "counterfeits": st.sampled_from([None, "fill", "none"]),
    "false_records": NAMES, "counterfeit_table": NAMES, "person_files": PATHS,
    "releases": PATHS, "models": PATHS, "class_files": PATHS,
    "attacks": st.sampled_from(["none", "some", "all"]), "most_records": NUMBERS,
    "population": st.none() | TABLES, "sampling_fraction": SHARES, "weights": TEXTS,
    "household": TEXTS, "table": TABLES, "schema": schemas(), "method": METHODS,
    "partitions": NUMBERS, "partition_by": TEXTS, "seed": NUMBERS, "threads": NUMBERS,
    "separator": st.sampled_from([None, ";", "\t"]), "model": NAMES, "safe": st.booleans(),
    "on_unseen": st.sampled_from(["suppress", "error"]),
    "privacy": st.none() | PROMISES.map(tuple), "waive": LISTED, "fold_case": st.booleans(),
    "blanked": st.booleans(), "person_file": NAMES,
    "starred": st.none() | st.booleans(), "max_size": NUMBERS,
    "register": st.none() | TABLES, "beside": PATHS, "key": TEXTS, "everything": st.booleans(),
    "centroids": st.booleans(), "targets": NUMBERS, "seconds": st.none() | SHARES,
    "threshold": SHARES, "false_alarm": SHARES, "infer": st.booleans(),
    "profile": NAMES, "pictures": st.booleans(), "fidelity": st.booleans(),
    "learn": TEXTS, "bound": st.none() | st.floats(0.1, 100),
    "model_bytes": st.none() | NUMBERS, "device_ram": st.none() | NUMBERS,
    "epsilon": st.none() | st.floats(0.1, 10), "budget": NAMES,
}  # fmt: skip
CHOICES = {
    "techniques": st.sampled_from(["none", "g", "gs", "gcs"]).map(Techniques.parse),
    "diversity": st.none() | NUMBERS | st.dictionaries(TEXTS, NUMBERS, max_size=2),
    "replace_promise": st.booleans(), "preference": st.sampled_from(["none", "originals"]),
    "minimum_precision": SHARES, "ranking": LISTED, "generalized": TEXTS, "suppressed": TEXTS,
    "level": NUMBERS, "gradual": st.booleans(), "marks": st.none() | LISTED,
    "suppression_limit": SHARES,
}  # fmt: skip
FIELDS |= {
    "output": parts(Output, FIELDS), "checks": parts(Checks, FIELDS),
    "choices": st.none() | parts(Choices, CHOICES), "k": NUMBERS, "xk": NUMBERS,
    "false_records": NAMES, "steps": NAMES,
}  # fmt: skip
FORMS = {"release": st.none() | st.sampled_from(["generalize", "aggregate"])}


def requests_of(job):
    """Draw requests of a job."""
    kind = JOBS[job]
    words = {"release": TABLES} if job in ("metrics", "attack") else FORMS
    if job in ("linked", "verify_linked"):
        words = {"schema": linked_schemas(), "tables": NAMES | st.dictionaries(TEXTS, NAMES)}
    return parts(kind, {**FIELDS, **words})
