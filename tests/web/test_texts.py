"""The catalogue of texts: both languages say everything, and numbers read as people write them."""

from __future__ import annotations

import ast
import re
from datetime import date, datetime
from pathlib import Path

import pytest

from shoal.web import texts as room
from shoal.web.texts import FOLDER, LANGUAGES, Texts, catalogue

SOURCES = sorted(FOLDER.parent.rglob("*.py"))
HOLE = re.compile(r"\{(\w+)\}")


def asked() -> dict[str, set[str] | None]:
    """Return the patterns of the keys that the code asks for, and the facts it gives them.

    A key is asked for by a call of `texts(…)` or `texts.has(…)`; None: facts given as a mapping.
    """
    found: dict[str, set[str] | None] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = ast.unparse(node.func)
            if not re.search(r"(^|\.)_?texts(\.has)?$", called) and called != "self":
                continue
            for first in chosen(node.args[0]):
                pattern = pattern_of(first)
                if pattern is None:
                    continue
                names = [each.arg for each in node.keywords]
                facts = None if None in names else {str(name) for name in names}
                if pattern in found:
                    before = found[pattern]
                    facts = None if facts is None or before is None else facts & before
                found[pattern] = facts
    return found


def chosen(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.IfExp):
        return [*chosen(node.body), *chosen(node.orelse)]
    return [node]


def pattern_of(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\w-]+"
            for part in node.values
        )
    return None


def written() -> set[str]:
    """Return the patterns of all texts in the code: a key may be put together before that."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return {pattern for node in nodes if (pattern := pattern_of(node)) and r"\." in pattern}


ASKED = asked()
WRITTEN = written()


def test_what_the_code_asks_for_is_in_the_catalogue():
    for pattern in ASKED:
        assert any(re.fullmatch(pattern, key) for key in catalogue()), pattern


def test_every_text_is_asked_for():
    known = [re.compile(pattern) for pattern in {*ASKED, *WRITTEN}]
    for key in catalogue():
        assert any(pattern.fullmatch(key) for pattern in known), key


def test_every_language_says_every_text_with_the_same_facts():
    for key, entry in catalogue().items():
        same_in_every_language(key, entry)


def same_in_every_language(key: str, entry: dict) -> None:
    assert set(entry) == set(LANGUAGES), key
    forms = {name: set(entry[name]) for name in LANGUAGES}
    assert all(each in ({"other"}, {"one", "other"}) for each in forms.values()), forms
    texts = [text for name in LANGUAGES for text in entry[name].values()]
    assert all(isinstance(text, str) and text.strip() for text in texts)
    others = [entry[name]["other"] for name in LANGUAGES]
    assert len({tuple(sorted(set(HOLE.findall(text)))) for text in others}) == 1, others


def test_every_hole_of_a_text_is_filled_by_the_code():
    for pattern, key in ((pattern, key) for pattern in ASKED for key in catalogue()):
        given = ASKED[pattern]
        if given is not None and "\\w" not in pattern and re.fullmatch(pattern, key):
            holes = set(HOLE.findall(str(catalogue()[key]["en"]["other"])))
            assert holes <= given, f"{key} is not given {holes - given}"


def test_a_language_that_nobody_wrote_is_refused():
    with pytest.raises(ValueError, match="en, de"):
        Texts("fr")


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (0, "0", "0"),
        (1234567, "1,234,567", "1.234.567"),
        (-5, "−5", "−5"),
        (0.25, "0.25", "0,25"),
        (1234.5, "1,234.5", "1.234,5"),
        (0.00012345, "0.000123", "0,000123"),
        (3.0, "3", "3"),
        (1e-9, "1e−09", "1e−09"),
        (None, "–", "–"),
    ],
)
def test_numbers_are_written_as_each_language_does(value, english, german):
    assert Texts("en").number(value) == english
    assert Texts("de").number(value) == german


def test_a_small_share_never_reads_as_nothing():
    assert Texts("en").percent(0.0) == "0.0%"
    assert Texts("en").percent(0.00001) == "<\u202f0.1%"
    assert Texts("de").percent(0.00001) == "<\u202f0,1\u00a0%"
    assert Texts("de").percent(0.5, digits=0) == "50\u00a0%"


def test_days_and_durations():
    assert Texts("en").date(date(2026, 3, 7)) == "7 Mar 2026"
    assert Texts("de").date(datetime(2026, 3, 7, 14, 5)) == "07.03.2026, 14:05"
    assert Texts("de").seconds(1.25) == "1,2\u00a0s"
    assert Texts("en").seconds(75) == "1\u00a0min 15\u00a0s"


def test_one_and_many_are_told_apart(monkeypatch):
    forms = {"one": "{n} row", "other": "{n} rows of {of}"}
    monkeypatch.setattr(room, "catalogue", lambda: {"x.rows": {"en": forms, "de": forms}})
    assert Texts("en")("x.rows", n=1) == "1 row"
    assert Texts("de")("x.rows", n=1200, of=None) == "1.200 rows of –"


def test_a_value_with_braces_is_shown_and_not_filled():
    forms = {"other": "{name}"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "catalogue", lambda: {"x.y": {"en": forms, "de": forms}})
        assert Texts("en")("x.y", name="{secret}") == "{secret}"


def test_a_key_that_nobody_wrote_shows_itself():
    assert Texts("en")("nothing.here") == "nothing.here"
    assert not Texts("en").has("nothing.here")


def test_the_files_are_part_of_the_package():
    assert all(file.parent == FOLDER for file in Path(FOLDER).glob("*.yaml"))
    assert list(FOLDER.glob("*.yaml"))
