"""The description beside a drawn file: there with the file, or not at all."""

from __future__ import annotations

import json

import pytest

from shoal.core.errors import OutputError
from shoal.engines.drawing.drawing import DRAWN
from shoal.engines.drawing.metadata import described, description


def test_the_first_entry_says_that_values_are_drawn():
    assert description("a.csv", ["x", 'y"']).splitlines()[1].strip().startswith('"dc:description"')
    found = json.loads(description("a.csv", ["x", 'y"']))
    assert found["dc:description"] == DRAWN
    assert found["tableSchema"]["columns"] == [{"name": "x"}, {"name": 'y"'}]


def test_it_is_published_at_the_end(tmp_path):
    with described(tmp_path / "a.csv", ["x"]):
        assert not (tmp_path / "a.csv-metadata.json").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv-metadata.json"]


def test_nothing_is_left_where_the_file_was_not_written(tmp_path):
    with pytest.raises(ValueError, match="no"), described(tmp_path / "a.csv", ["x"]):
        raise ValueError("no")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", [None, "s3a://bucket/a.csv"])
def test_other_places_have_none(out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with described(out, ["x"]):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError), described(tmp_path / "no" / "a.csv", ["x"]):
        pass
