"""Places that results go to: refused before the work, written all or nothing."""

from __future__ import annotations

import pytest
from tests.jobs.people import PEOPLE, plain_schema

from shoal.core.errors import OutputError
from shoal.jobs.learn import learn
from shoal.jobs.places import check_place, write_model
from shoal.jobs.requests import LearnRequest
from shoal.model.model import RecodingModel


def test_a_place_that_can_be_written_is_left_as_it_is(tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("old")
    for out in (old, tmp_path / "new.csv", str(tmp_path / "new.csv")):
        check_place(out)
    assert old.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]


def test_an_input_a_folder_and_a_place_in_no_folder_are_refused(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a\n")
    for out, inputs in (
        (table, (table,)),
        (tmp_path / "." / "t.csv", (str(table),)),
        (tmp_path, ()),
        (tmp_path / "nowhere" / "r.csv", ()),
    ):
        with pytest.raises(OutputError):
            check_place(out, inputs=inputs)
    assert table.read_text() == "a\n"


def test_a_model_is_written_as_it_is_read(tmp_path):
    model = learn(LearnRequest(table=PEOPLE, schema=plain_schema())).model
    path = tmp_path / "model.json"
    write_model(model, path)
    assert RecodingModel.load(path).to_json() == model.to_json()
    with pytest.raises(OutputError):
        write_model(model, path, inputs=(path,))
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
