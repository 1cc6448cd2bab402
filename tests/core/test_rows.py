"""Results as frames."""

from __future__ import annotations

import sys

import polars as pl
import pytest

import shoal
from shoal.core.errors import MissingExtraError
from shoal.core.rows import Rows

FRAME = pl.DataFrame({"age": [20 + i % 9 for i in range(40)], "ill": ["a", "b"] * 20})
ASKED = {"qi": ["age"], "sensitive": ["ill"], "numeric": ["age"]}


class Some(Rows):
    def __init__(self, rows):
        self._rows = rows

    def rows(self):
        return self._rows


def test_rows_become_a_frame_and_what_is_nested_in_them_json():
    found = Some([{"a": 1, "b": {"k": 5}}, {"a": 0.5, "b": None}]).to_frame()
    assert found.to_dicts() == [{"a": 1.0, "b": '{"k": 5}'}, {"a": 0.5, "b": None}]
    assert Some([]).to_frame().is_empty()
    with pytest.raises(NotImplementedError):
        Rows().rows()


def test_without_polars_rows_are_left(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="polars"):
        Some([{"a": 1}]).to_frame()


@pytest.mark.local("frames in memory")
def test_every_result_has_a_frame_with_a_row_for_each_of_its_rows():
    release = shoal.anonymize(FRAME, **ASKED, k=3, l=2)
    verified = shoal.verify(release.table, **ASKED, k=3, l=2)
    risk, found = shoal.risk(FRAME, **ASKED), shoal.infer(FRAME)
    for result in (verified, risk, found, release.report):
        assert result.to_frame().height == len(result.rows()) > 0
        assert "<" in result._repr_html_()
        assert result.to_dict() == result.to_document()
    assert release.to_frame().to_dicts() == release.report.rows()
    assert release._repr_html_() == release.report._repr_html_()
    assert verified.to_frame()["holds"].all()
    assert risk.to_frame()["column"].to_list() == ["age"]
    assert found.to_frame().columns[:3] == ["column", "role", "kind"]
