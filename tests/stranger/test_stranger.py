"""Random releases before a judge that shares no code with shoal: nothing unsafe gets out."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from tests.stranger import judge
from tests.stranger.play import WORK, run
from tests.stranger.tables import TREE, make_case

SAMPLE = 150  # releases in `make test`
ALL = 10_000  # in `make test-all`
ENOUGH = 0.3  # the share of cases that must come to a release, so that refusing is no way out

pytestmark = pytest.mark.local("the judge plays with the local engine and with devices")


def check(tally, played, releases):
    assert not tally.violations, tally
    assert not tally.strange, tally
    assert sum(tally.releases.values()) == releases
    assert releases >= ENOUGH * played, tally
    for way in WORK:  # safe batches are judged, too
        assert tally.releases[way] >= 0.1 * releases, tally


def test_a_sample_of_random_releases_has_no_violation():
    check(*run(SAMPLE, first=1_000_000), SAMPLE)


@pytest.mark.nightly
def test_ten_thousand_random_releases_have_no_violation():
    check(*run(ALL), ALL)


def test_the_judge_shares_no_code_with_shoal():
    for file in ("judge.py", "tables.py"):
        tree = ast.parse((Path(__file__).parent / file).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names, name


def test_a_case_is_made_from_its_seed_alone():
    assert make_case(5) == make_case(5)
    assert make_case(5) != make_case(6)


COLUMNS = {
    "name": {"role": "identifying"}, "q": {"role": "quasi"},
    "s": {"role": "sensitive", "kind": "categorical"},
}  # fmt: skip


def case(*promise, **more):
    about = {**COLUMNS, "s": {**COLUMNS["s"], **more.pop("s", {})}}
    return {"columns": about, "promise": list(promise), **more}


def release(*values, header="q,s"):
    """Return a release with one class for each text, of these sensitive values."""
    lines = [f"{i},{value}" for i, text in enumerate(values) for value in text.split("|")]
    return "\n".join([header, *lines, ""]).encode()


def wrong(content, asked, **more):
    return judge.faults(content, "csv", asked, **more)


K2 = {"model": "k-anonymity", "k": 2}
L2 = {"model": "l-diversity", "l": 2, "column": "s"}
T = {"model": "t-closeness", "t": 0.3, "column": "s", "distance": "ordered"}
NUMBERS = {"kind": "numeric"}
IN_TREE = {"tree": TREE}


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        (release("a|b", "c|d"), case(K2, L2)),
        (release("1|2|3|4", "1|2|3|4"), case(T, s=NUMBERS)),
        (release("a|a|b", "a|b|b"), case({**L2, "kind": "entropy", "l": 1.8})),
        (release("a|a|b"), case({**L2, "kind": "recursive", "c": 2.5})),
        (
            release("a|b"),
            case({"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2, "column": "s"}),
        ),
        (release("oslo|turku", "oslo|turku"), case({**T, "distance": "hierarchical"}, s=IN_TREE)),
        (release("1|4", "2|3"), case({**T, "model": "(n,t)-closeness", "n": 2}, s=NUMBERS)),
        (b'q\n""\n""\n', case(K2)),
    ],
)
def test_the_judge_lets_a_safe_release_pass(content, asked):
    assert wrong(content, asked) == []


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        (release("a|b", "c"), case(K2)),
        (release("HIV|HIV ", "a|b"), case(K2, L2)),  # one value, spelt twice
        (release("Me\u0301n|M\u00e9n"), case(L2)),
        (release("2|2.0"), case(L2, s=NUMBERS)),
        (release("NA|"), case(L2, missing=["NA"])),
        (release("a|a|a|b"), case({**L2, "kind": "entropy"})),
        (release("a|a|b"), case({**L2, "kind": "recursive", "c": 2.0})),
        (
            release("a|a|b"),
            case({"model": "(alpha,k)-anonymity", "alpha": 0.6, "k": 2, "column": "s"}),
        ),
        (release("1|1|2|2", "9|9|10|10"), case(T, s=NUMBERS)),  # as texts, 10 lies beside 1
        (release("1|unknown", "1|unknown"), case(T, s=NUMBERS)),
        (release("oslo|turku", "rome|nice"), case({**T, "distance": "hierarchical"}, s=IN_TREE)),
        (release("a|b|c", "d|e|f"), case({**T, "distance": "chi2"})),
        (release("1|1", "4|4"), case({**T, "model": "(n,t)-closeness", "n": 3}, s=NUMBERS)),
        (release("a|b", header="q,name"), case(K2)),
        (release("a|ID7X|b"), case(K2, secrets=["ID7X"])),
        (b"q,s\n1,a\n1\n", case(K2)),
    ],
)
def test_the_judge_finds_what_is_not_safe(content, asked):
    assert wrong(content, asked)


def test_the_judge_counts_records_as_other_readers_do():
    assert wrong(b'q\na\na\n""\n""\n', case(K2), released=4) == []
    assert wrong(b"q\na\na\n\n\n", case(K2), released=4)  # blank lines are dropped by others


A2 = {"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2, "column": "s"}
BETA = {"model": "beta-likeness", "beta": 1, "column": "s"}
DELTA = {"model": "delta-disclosure", "delta": 1.0, "column": "s"}


def persons(text, *values, promise, **more):
    """Return what is wrong where these persons, a letter each, stand behind the records."""
    rows = [value for each in values for value in each.split("|")]
    behind = more.pop("behind", list(zip(text, rows, strict=True)))
    asked = case(*promise, behind=behind, **more)
    return wrong(release(*values), asked, who=list(text))


@pytest.mark.parametrize(
    ("who", "values", "promise"),
    [
        ("aab", ["u|v|w"], [K2]),
        ("ab", ["u|v"], [K2, L2]),
        ("abab", ["u|u|v|v"], [L2]),
        ("aab", ["u|v|w"], [{**L2, "kind": "entropy", "l": 2.5}]),
        ("abcd", ["u|u|v|w"], [A2]),
        ("abab", ["u|v", "u|v"], [T]),
        ("abcd", ["u|v", "u|v"], [BETA, DELTA]),
        ("aabbb", ["u|u|v|v|v"], [{**BETA, "beta": 0.1}, A2]),
    ],
)
def test_the_judge_lets_a_release_of_enough_persons_pass(who, values, promise):
    assert persons(who, *values, promise=promise) == []


@pytest.mark.parametrize(
    ("who", "values", "promise"),
    [
        ("aaa", ["u|v|w"], [K2]),  # three records of one person
        ("a b", ["u|v|w"], [{**K2, "k": 3}]),  # one of them of nobody
        ("aa", ["u|v"], [L2]),  # two values, both of one person
        ("abb", ["u|u|u"], [A2]),
        ("aab", ["u|v|u"], [A2]),  # both persons have u
        ("abcd", ["u|u", "v|v"], [{**BETA, "beta": 0.5}]),
        ("abcd", ["u|u", "v|v"], [DELTA]),  # a class lacks a value of the table
        ("aabbcc", ["u|u|u|u", "v|v"], [T]),
        ("  ", ["u|v"], [L2]),
    ],
)
def test_the_judge_finds_what_is_not_safe_for_persons(who, values, promise):
    assert persons(who, *values, promise=promise)


def test_the_judge_compares_keys_of_persons_as_the_eye_does():
    assert persons("ab", "u|v", promise=[K2], behind=[("a ", "u"), ("b\u200b", "v ")]) == []
    assert judge.person_of("NULL", {}) is judge.person_of("?", {"missing": ["?"]}) is None


def test_the_judge_finds_a_record_behind_somebody_who_has_none_such():
    assert persons("ab", "u|v", promise=[K2], behind=[("a", "u"), ("b", "u")])
    assert wrong(release("u|v"), case(K2, behind=[]), who=["a"])
