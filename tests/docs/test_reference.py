"""The pages of the reference are what the source says today."""

from __future__ import annotations

import pytest
from tests.docs import reference
from tests.docs.test_mistakes import without_promises_of_tests

import shoal


@pytest.mark.parametrize("file", reference.PAGES)
def test_a_page_is_what_the_source_says(file):
    page = (reference.FOLDER / file).read_text(encoding="utf-8")
    with without_promises_of_tests():
        assert page == reference.PAGES[file](), "make reference renews it"


def test_every_public_name_and_every_command_has_its_place():
    page = reference.api_page()
    for name in shoal.__all__:
        assert name == "__version__" or page.count(f"\n### {name}\n") == 1, name
    words = list(reference.command_names())
    assert ("anonymize",) in words
    assert ("edge", "export") in words
    assert len(words) == len(set(words)) > 25


def test_sections_of_a_docstring_become_lists_and_code():
    lines = reference.prose(
        "Do it.\n\nArgs:\n    one: the\n        first.\n    **two: more.\n\nReturns:\n    It.\n\n"
        "Example:\n    >>> 1\n    1\n"
    )
    assert "* `one`: the first." in lines
    assert "* `**two`: more." in lines
    assert lines[lines.index("**Returns**") + 2] == "It."
    assert ">>> 1\n1" in lines


def test_a_long_signature_has_a_parameter_a_line():
    def short(a: int, *, b: str = "x") -> None: ...

    assert reference.signature("short", short) == "shoal.short(a: int, *, b: str = 'x') -> None"

    def long(table: object, *, a_long_name: int = 3, another_long_name: int = 4) -> dict[str, int]:
        return {}

    text = reference.signature("long", long)
    assert text.splitlines()[:3] == ["shoal.long(", "    table: object,", "    *,"]
    assert text.endswith("\n) -> dict[str, int]")
