"""What can be asked of several releases together."""

from __future__ import annotations

import pytest

from shoal.core.errors import SchemaError
from shoal.jobs.requests import ComposeRequest
from shoal.privacy import KAnonymity, from_document
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"age": "quasi", "ill": "sensitive"}})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "at least two releases"),
        ({"releases": ("a", "b"), "person_files": ("c",)}, "one file for each"),
        ({"releases": ("a",), "models": ("b",), "person_files": ("c",)}, "--releases alone"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(words, said):
    with pytest.raises(SchemaError, match=said):
        ComposeRequest(table="t", schema=SCHEMA, **words).check()


def test_persons_are_asked_about_a_sensitive_column():
    bare = Schema.from_document({"columns": {"age": "quasi"}})
    words = {"releases": ("a", "b"), "person_files": ("c", "d")}
    with pytest.raises(SchemaError, match="needs a sensitive column"):
        ComposeRequest(table="t", schema=bare, **words).check()
    ComposeRequest(table="t", schema=SCHEMA, **words).check()


def test_with_persons_nothing_that_is_promised_is_left_out():
    words = {"releases": ("a", "b"), "person_files": ("c", "d")}
    near = from_document({"model": "t-closeness", "t": 0.3, "column": "ill"})
    far = from_document({"model": "l-diversity", "l": 2, "column": "ill"})
    for promise, is_asked in (((KAnonymity(5), far), True), ((KAnonymity(5), near), False)):
        asked = ComposeRequest(
            table="t", schema=SCHEMA.with_promise(promise, replace_promise=True), **words
        )
        if is_asked:
            asked.check()
        else:
            with pytest.raises(SchemaError, match="t-closeness cannot be judged by it"):
                asked.check()
