"""What the demo runs, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import OutputError
from shoal.jobs import demo


def test_the_steps_go_from_a_table_to_a_verified_release():
    commands = [step.arguments[0] for step in demo.STEPS]
    assert commands == ["sample", "infer", "risk", "anonymize", "verify"]
    assert all(step.about.endswith((".", "?")) for step in demo.STEPS)


def test_without_a_name_each_demo_has_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [str(demo.make_folder()) for _ in range(3)]
    assert names == ["shoal-demo", "shoal-demo-2", "shoal-demo-3"]
    assert all(Path(name).is_dir() for name in names)


def test_a_folder_that_is_asked_for_may_be_there_but_must_be_empty(tmp_path):
    new = tmp_path / "a" / "b"
    assert demo.make_folder(new) == demo.make_folder(new) == new
    theirs = new / "release.csv"
    theirs.write_text("theirs")
    for place in (new, theirs):
        with pytest.raises(OutputError, match="--out"):
            demo.make_folder(place)
    assert theirs.read_text() == "theirs"


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("darwin", {}, True),
        ("win32", {}, True),
        ("darwin", {"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}, False),
    ],
)
def test_a_screen_is_looked_for(platform, environment, expected):
    assert demo.has_screen(environment, platform) is expected
