"""How a command line may go on."""

from __future__ import annotations

import polars as pl
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.test_help import LEAVES

from shoal.cli.complete import FILES, FOLDERS, OPEN, WORDS, Answer, Proposal, complete, metavar
from shoal.cli.main import app
from shoal.cli.stats import STATISTICS
from shoal.dp.question import Statistic
from shoal.methods import registry
from shoal.methods.method import MEASURES

ROOT = typer.main.get_command(app)
FREE = {
    *(
        "N",
        "X",
        "S",
        "M",
        "P",
        "C",
        "BITS",
        "SIZE",
        "DATE",
        "SQL",
        "URL",
        "TEXT",
        "SYNSET",
        "SYNSET,…",
        "FORMAT",
    ),
    *("MARKS", "NAMES", "COL=]A,B", "WORDS", "5,10", "8,4,2", "18,30,65"),
    *("LIST", "NUMBER", "N,M", "N,N", "X,Y", "HOST", "SECONDS"),
}  # what a person must know: a number, a date, a query
KNOWN = {
    *(
        "FILE",
        "INPUT",
        "MODEL",
        "RELEASE",
        "FILE|URI",
        "DIR",
        "FILE,FILE",
        "FILES",
        "A,B",
        "COLUMN",
    ),
    *("COLUMN=KEEP", "NAME=VALUE", "STATISTIC"),
}
NAMED = {
    "method",
    "utility",
    "encoding",
    "name",
    "profile",
    "preset",
}  # NAME, and shoal knows which there are
OWN = {"table", "dataset", "by", "sheet", "out_table", "add", "number"}  # only the user knows
COLUMNS = {  # A,B: columns of the table, and nothing else
    *("qi", "sensitive", "identifying", "neutral", "person", "waive", "numeric", "categorical"),
    *("date", "pseudonym", "shift", "ranking", "by", "set"),
}


def after(*words: str) -> list[str]:
    return [each.word for each in complete(ROOT, ["shoal", *words]).proposals]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age;sex;zip;diagnosis\n1;f;2;x\n", encoding="utf-8")
    return "t.csv"


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_option_says_what_its_values_are(path):
    for each in LEAVES[path].params:
        shown = metavar(each)
        is_flag = getattr(each, "is_flag", False)
        is_number = not shown and any(w in str(each.type_descriptor.annotation)
                                      for w in ("int", "float"))  # fmt: skip
        is_choice = (shown.islower() and "," not in shown) or "|" in shown
        assert shown != "A,B" or each.name in COLUMNS, f"{each.name}: columns would be proposed"
        named = shown == "NAME" and each.name in NAMED | OWN
        assert is_flag or is_number or is_choice or named or shown in FREE | KNOWN or (
            each.name == "where"
        ), f"{each.name}: a shell cannot tell what {shown!r} is"  # fmt: skip


def test_commands_and_groups_of_commands():
    assert after("a") == ["anonymize"]
    assert set(after("")) == set(ROOT.commands)
    assert after("hierarchy", "") == ["build", "wordnet", "show", "check"]
    assert after("hierarchy", "b") == ["build"]
    assert after("--v") == ["--version"]
    assert after("no-such", "") == []
    assert complete(ROOT, ["shoal", "ver"]).proposals == (
        Proposal("verify", "Check whether a table keeps a promise"),
    )


def test_options_that_were_given_are_not_proposed_again_unless_they_may_be(table):
    assert after("anonymize", table, "--supp") == [
        "--suppressed", "--suppression-limit", "--suppress-cells"
    ]  # fmt: skip
    assert "--qi" not in after("anonymize", table, "--qi", "age", "--")
    assert "--set" in after("anonymize", table, "--set", "effort=best", "--")
    assert "--no-infer" in after("anonymize", table, "--no")
    assert "--qi" in after("anonymize", table, "")
    assert after("anonymize", table, "--", "--q") == []


def test_columns_come_from_the_file_on_the_line(table):
    assert after("anonymize", table, "--qi", "") == ["age", "sex", "zip", "diagnosis"]
    assert after("anonymize", "--qi", "a") == []  # no table yet
    assert after("anonymize", "--k", "5", table, "--qi", "a") == ["age"]
    assert after("anonymize", table, "--qi", "age,s") == ["age,sex"]
    assert after("anonymize", table, "--qi", "age,sex,") == ["age,sex,zip", "age,sex,diagnosis"]
    assert after("anonymize", table, "--qi=age,s") == ["--qi=age,sex"]
    assert after("anonymize", table, "--target", "d") == ["diagnosis"]
    assert after("anonymize", table, "--sep", ",", "--qi", "") == ["age;sex;zip;diagnosis"]
    assert after("sample", "proportional", "--from", table, "--by", "s") == ["sex"]
    assert after("hierarchy", "check", "h.csv", "--table", table, "--column", "z") == ["zip"]
    assert after("anonymize", table, "--mask", "z") == ["zip="]
    assert after("anonymize", table, "--mask", "zip=l") == ["zip=last:"]


def test_a_column_has_one_role_but_may_have_a_kind(table):
    roles = ("--qi", "age,zip", "--sensitive", "diagnosis")
    assert after("anonymize", table, *roles, "--neutral", "") == ["sex"]
    assert after("anonymize", table, *roles, "--numeric", "a") == ["age"]


def test_a_schema_on_the_line_says_the_columns(table, tmp_path):
    (tmp_path / "s.yaml").write_text("columns:\n  ward: {role: quasi}\n  unit: {role: quasi}\n")
    assert after("anonymize", table, "--schema", "s.yaml", "--target", "") == ["ward", "unit"]
    (tmp_path / "s.yaml").write_text("[broken")
    assert after("anonymize", table, "--schema", "s.yaml", "--target", "a") == ["age"]


def test_columns_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"age": [1], "ward": [2]}).write_parquet(path)
    assert after("risk", str(path), "--qi", "age,") == ["age,ward"]


def test_columns_in_another_encoding_below_other_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Ward 7\nage;größe\n1;2\n".encode("cp1252"))
    options = ("--encoding", "cp1252", "--skip-lines", "1")
    assert after("risk", str(path), *options, "--qi", "") == ["age", "größe"]


def test_methods_and_their_parameters(table):
    known = [*(kind.name for kind in registry.listed()), *(name for name, _, _ in registry.OTHERS)]
    assert after("anonymize", table, "--method", "") == ["auto", *known]
    assert after("methods", "") == known
    assert after("methods", "ref") == ["refine"]
    line = ("anonymize", table, "--method", "refine", "--set")
    assert after(*line, "e") == ["effort="]
    assert after(*line, "effort=") == ["effort=fast", "effort=normal", "effort=best"]
    assert after(*line, "effort=best", "--set", "") == ["seconds="]
    assert after(*line, "no-such=") == []
    assert after("anonymize", table, "--method", "no-such", "--set", "") == []
    assert complete(ROOT, ["shoal", *line, "e"]).mode == OPEN
    assert complete(ROOT, ["shoal", *line, "effort="]).mode == WORDS


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--engine", ["local", "spark"]),
        ("--release", ["generalize", "aggregate", "draw"]),
        ("--l-kind", ["distinct", "entropy", "recursive"]),
        ("--t-distance", ["equal", "ordered", "hierarchical", "chi2"]),
        ("--suppressed", ["remove", "star"]),
        ("--effort", ["fast", "normal", "best"]),
        ("--utility", [*MEASURES, "target", "sse"]),
        ("--preset", ["hipaa-safe-harbor"]),
        ("--release-person", ["pseudonym"]),
        ("-k", []),
        ("--seed", []),
    ],
)
def test_choices(table, option, words):
    assert after("anonymize", table, option, "") == words


def test_statistics_are_those_that_there_are(table):
    assert list(STATISTICS) == [each.value for each in Statistic]
    assert after("stats", table, "m") == ["mean", "min", "max", "moment"]


def test_files_and_folders_are_left_to_the_shell(table):
    def mode(*words):
        return complete(ROOT, ["shoal", *words])

    assert mode("anonymize", "") == Answer(FILES)
    assert mode("anonymize", table, "--schema", "s") == Answer(FILES)
    assert mode("anonymize", table, "--out=") == Answer(FILES)
    assert mode("anonymize", table, "--hierarchies", "") == Answer(FOLDERS)
    assert mode("encode", "model.json", "") == Answer(FILES)


def test_lists_of_files(table, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").touch()
    assert after("compose", table, "--releases", "o") == ["out/"]
    assert after("compose", table, "--releases", "t.csv,out/") == ["t.csv,out/a.csv"]
    assert after("compose", table, "--releases", "none/") == []


def test_what_would_break_a_line_of_the_answer_is_not_proposed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a\nb","c\td",e\n1,2,3\n', encoding="utf-8")
    assert after("risk", str(path), "--qi", "") == ["e"]


WORD = st.one_of(
    st.sampled_from(["anonymize", "--qi", "--qi=", "--set", "-", "--", "-k", "hierarchy", "t.csv"]),
    st.text(max_size=5),
)


@given(words=st.lists(WORD, max_size=6))
def test_any_line_is_answered(words):
    answer = complete(ROOT, ["shoal", *words])
    assert answer.mode in (WORDS, OPEN, FILES, FOLDERS)
    begun = words[-1] if words else ""
    assert all(each.word.startswith(begun) for each in answer.proposals)
