"""The page of mistakes shows what each is answered, and each answer says how to go on."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import pytest
from tests.docs import mistakes

from shoal.privacy.promise import PROMISES

GO_ON = re.compile(
    r"did you mean|\((see|or) |method=|\b(add|ask|bring|check|choose|close|end|get|give|keep|"
    r"look|make|mend|must|name|needs|remove|rename|save|say|see|try|update|write)\b",
    re.IGNORECASE,
)
VALUES = re.compile(r"asthma|angina|digkeit|7527|2024-0[3-6]-[02]|01\.03|about 36|example|P[1-6]\b")


@contextmanager
def without_promises_of_tests():
    """Leave the promises that a user has, who knows none of those that tests define."""
    with pytest.MonkeyPatch.context() as patch:
        for name, kind in list(PROMISES.items()):
            if not kind.__module__.startswith("shoal."):
                patch.delitem(PROMISES, name)
        yield


@pytest.fixture(scope="module")
def answers():
    with without_promises_of_tests():
        yield mistakes.run()


@pytest.mark.local("the page shows the local engine")
def test_the_page_is_what_the_commands_say_today(answers):
    page = mistakes.PAGE.read_text(encoding="utf-8")
    assert page == mistakes.page(answers), "make mistakes renews it"


def test_there_are_enough_of_them():
    found = list(mistakes.mistakes())
    assert len(found) >= 50
    assert len({each.command for each in found}) == len(found)
    assert sum(1 for each in found if each.python) >= 12


@pytest.mark.local("the page shows the local engine")
def test_each_message_says_where_what_and_how_to_go_on(answers):
    for mistake, (code, message, python) in answers.items():
        assert code in (1, 2), mistake.title
        assert re.fullmatch(r"shoal: [^\n]+", message), f"{mistake.title}: {message}"
        where = message.removeprefix("shoal: ").partition(":")[0]
        assert where, mistake.title
        for text in (message, python):
            assert not VALUES.search(text.replace("such as 2024-03-17", "")), mistake.title
            assert not text or GO_ON.search(text), f"{mistake.title}: {text}"


@pytest.mark.local("the page shows the local engine")
def test_python_says_the_same_words(answers):
    """Flags are keywords there; where and what are the same."""
    for mistake, (_, message, python) in answers.items():
        if python and not python.startswith("TypeError"):
            said = python.partition(": ")[2]
            plain = message.removeprefix("shoal: ")
            plain = plain.replace("--qi a,b", "qi=").replace("a --schema FILE", "a schema")
            plain = plain.replace("--schema or --qi", "a schema or qi=")
            assert said == plain, mistake.title


@pytest.mark.local("the page shows the local engine")
def test_nothing_is_written_and_json_says_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mistakes.make_files(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for mistake in mistakes.mistakes():
        if mistake.command.endswith("--qi") or " hierarchy " in mistake.command:
            continue  # --json would be the value; a check has an answer of its own
        json_twin = mistake._replace(command=f"{mistake.command} --json", python="")
        capsys.readouterr()
        code = mistakes.main(mistakes.shlex.split(json_twin.command)[1:])
        out, err = capsys.readouterr()
        error = json.loads(out)["error"]
        assert error["exit_code"] == code, mistake.title
        assert error["problem"].rstrip(".") in err or error.get("faults"), mistake.title
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
