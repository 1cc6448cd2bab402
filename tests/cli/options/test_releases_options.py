"""Options for releases beside earlier ones."""

from __future__ import annotations

import pytest
from tests.conftest import call
from tests.jobs.people import files_in

from shoal.cli.options.releases import ReleasesOptions


def test_what_is_read_is_named_so_that_it_is_not_overwritten():
    assert ReleasesOptions().files() == ()
    assert ReleasesOptions(nested_in="a.csv").files() == ("a.csv",)


@pytest.mark.local("class files keep the order of the input")
def test_a_coarser_view_beside_an_earlier_release(tmp_path):
    files = files_in(tmp_path)
    one, two = files.path("1.classes.csv"), files.path("2.classes.csv")
    asked = ("anonymize", files.table, "--schema", files.schema)
    assert call(*asked, "--out", files.path("1.csv"), "--class-file", one).code == 0
    more = ("-k", "9", "--out", files.path("2.csv"), "--class-file", two, "--nested-in", one)
    answer = call(*asked, *more)
    assert answer.code == 0, answer.err
    assert "a coarser view" in answer.out
    both = ("compose", files.table, "--schema", files.schema, "--class-files", f"{one},{two}")
    assert call(*both).code == 0
    answer = call(*asked, "--out", one, "--nested-in", one)
    assert answer.code == 2
    answer = call(*asked, "--out", files.path("3.csv"), "--method", "xk", "--nested-in", one)
    assert answer.code == 2
    assert "--nested-in" in answer.err
