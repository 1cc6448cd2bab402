"""Scripts of R: what they say, and that nothing in a name can leave its quotes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.formats.exporters.sdcmicro import ScriptRequest, r_text, r_texts, to_sdcmicro
from shoal.schema.schema import Schema

TREE = {"tree": {"*": {"old": ["50", "60"], "young": ["30"]}}}
SCHEMA = Schema.from_document(
    {
        "columns": {
            "name": "identifying",
            "age": {"role": "quasi", "hierarchy": TREE},
            "it's \\": {"role": "quasi", "kind": "numeric"},
            "ill": "sensitive",
            "note": "neutral",
        },
        "missing": ["?"],
        "privacy": [
            {"model": "k-anonymity", "k": 7},
            {"model": "l-diversity", "l": 3, "column": "ill"},
            {"model": "t-closeness", "t": 0.2},
        ],
    }
)
SCRIPT = to_sdcmicro(
    ScriptRequest(schema=SCHEMA, table="in put.csv", separator=";", hierarchies={"age": "h.csv"})
)


def unquoted(script: str) -> str:
    """Return a script without what stands in quotes and comments."""
    code = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", script)
    return re.sub(r"#[^\n]*", "", code)


@pytest.mark.parametrize("text", [
    "library(sdcMicro)", "read.csv('in put.csv', sep = ';'", "na.strings = c('', '?')",
    "setdiff(names(data), c('name'))", "keyVars = c('age', 'it\\'s \\\\')",
    "data[['it\\'s \\\\']] <- as.numeric(",
    "data[['age']] <- generalize(data[['age']], 'h.csv', 1)",
    "sensibleVar = c('ill')", "localSuppression(sdc, k = 7)",
    "ldiversity(sdc, ldiv_index = c('ill'), l_recurs_c = 2)",
    "# NOT done: sdcMicro has no t-closeness.", "'release_sdcmicro.csv'",
])  # fmt: skip
def test_the_script_says(text):
    assert text in SCRIPT


@pytest.mark.parametrize("pair", ["()", "[]", "{}"])
def test_what_is_opened_is_closed(pair):
    code = unquoted(SCRIPT)
    assert code.count(pair[0]) == code.count(pair[1]) > 0
    assert "'" not in code.replace("''", "")


def test_no_value_of_the_data_stands_in_the_script():
    assert not {"50", "60", "old"} & set(re.findall(r"\w+", SCRIPT))


def test_a_level_is_never_above_the_root():
    request = ScriptRequest(
        schema=SCHEMA, table="t.csv", hierarchies={"age": "h.csv"}, levels={"age": 9}
    )
    assert "'h.csv', 2)  # of 2" in to_sdcmicro(request)


def test_without_hierarchies_and_sensitive_columns_the_script_is_short():
    plain = Schema.from_document({"columns": {"age": "quasi"}})
    script = to_sdcmicro(ScriptRequest(schema=plain, table="t.csv"))
    assert "generalize" not in script
    assert "sensibleVar = NULL" in script


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12))
def test_nothing_in_a_text_ends_it(text):
    quoted = r_text(text)
    assert re.fullmatch(r"'(?:[^'\\]|\\.)*'", quoted)
    assert "\n" not in quoted
    assert r_texts([text]) == f"c({quoted})"
