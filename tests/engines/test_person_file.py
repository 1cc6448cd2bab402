"""Tables and the file that says who their records are about."""

from __future__ import annotations

import pytest

from shoal.core.errors import InputError
from shoal.engines.local.person_file import with_persons
from shoal.engines.local.source import open_source


def test_the_file_stands_beside_the_table_line_by_line(tmp_path):
    table, file = tmp_path / "t.csv", tmp_path / "p.csv"
    table.write_text("age,who\n1,a\n2,b\n3,c\n")
    file.write_text('who\n"p"\n""\n"q"\n')
    source, names = with_persons(open_source(table), file)
    assert names == ("\x00who",)
    found = source.collect(source.scan(["age", "who", *names]))
    assert found.rows() == [("1", "a", "p"), ("2", "b", ""), ("3", "c", "q")]


def test_a_file_of_another_length_is_refused(tmp_path):
    table, file = tmp_path / "t.csv", tmp_path / "p.csv"
    table.write_text("age\n1\n2\n")
    file.write_text("who\np\n")
    with pytest.raises(InputError, match="1 lines for 2 records"):
        with_persons(open_source(table), file)
