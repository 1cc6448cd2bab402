"""From a scan to the frequency table, and from records back to its rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import Source, open_source
from shoal.schema.schema import Schema
from shoal.table import distinct

pytestmark = pytest.mark.local("a part of the local engine itself")

SCHEMA = Schema.from_document({"columns": {"a": {"role": "quasi", "kind": "numeric"},
                                           "b": {"role": "quasi", "kind": "categorical"},
                                           "s": "sensitive"}})  # fmt: skip
RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "10", None]), st.sampled_from(["x", "y", "", None]),
        st.sampled_from(["7", "8"]),
    ),
    min_size=1,
)  # fmt: skip


def counted(records, schema=SCHEMA, sensitive=("s",)):
    frame = pl.DataFrame(records, schema=dict.fromkeys("abs", pl.String), orient="row")
    source = open_source(frame)
    return frame, frequencies(source, source.scan(frame.columns), schema, sensitive=sensitive)


def values(found, row):
    """Return the labels of a row of the frequency table."""
    table = found.table
    pairs = [*zip(table.domains, table.codes[row], strict=True),
             *zip(table.sensitive_domains, table.sensitive[row], strict=True)]  # fmt: skip
    return tuple(domain.labels[code] for domain, code in pairs)


@settings(max_examples=40, deadline=None)
@given(RECORDS)
def test_rows_are_the_distinct_tuples_with_their_counts(records):
    frame, found = counted(records)
    wanted = Counter((a, b or None, s) for a, b, s in records)  # an empty text is missing
    rows = {values(found, row): int(n) for row, n in enumerate(found.table.counts)}
    assert rows == wanted
    assert found.columns == ("a", "b", "s")
    at = found.rows_of(frame)
    assert [values(found, row) for row in at] == [(a, b or None, s) for a, b, s in records]


@settings(max_examples=20, deadline=None)
@given(RECORDS, st.randoms())
def test_the_order_of_records_and_the_way_to_find_rows_change_nothing(records, chance):
    _, found = counted(records)
    frame, shuffled = counted(chance.sample(records, len(records)))
    assert (found.table.codes == shuffled.table.codes).all()
    assert (found.table.counts == shuffled.table.counts).all()
    assert (found.rows_of(frame) == shuffled.rows_of(frame)).all()


@settings(max_examples=30, deadline=None)
@given(RECORDS, st.sampled_from([2, 2**22]))
def test_a_table_that_does_not_fit_memory_is_counted_alike(records, room):
    """There records are looked up batch by batch; in memory they are numbered while counted."""
    frame, found = counted(records)
    lazy, rows = found.held
    assert found.rows_of(frame, of=lazy).tolist() == rows.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Source, "fits_memory", lambda _: False)
        patch.setattr(distinct, "_ROOM", room)
        _, streamed = counted(records)
        assert streamed.held is None
        assert streamed.rows_of(frame).tolist() == rows.tolist()
    for name in ("codes", "counts", "sensitive"):
        assert getattr(streamed.table, name).tolist() == getattr(found.table, name).tolist()
    assert [c.domain.labels for c in streamed.coders] == [c.domain.labels for c in found.coders]


def test_the_rows_of_another_batch_are_looked_up():
    frame, found = counted([("1", "x", "7"), ("2", "y", "8"), ("1", "x", "7")])
    lazy, _ = found.held
    assert found.rows_of(frame[[1, 0]], of=lazy).tolist() == [1, 0]
    assert found.rows_of(frame[[1, 0, 1]], of=frame.lazy()).tolist() == [1, 0, 1]


def test_a_record_that_was_not_there_before_is_refused():
    frame, found = counted([("1", "x", "7"), ("2", "y", "8")])
    mixed = frame.with_columns(pl.Series("b", ["y", "x"]))
    with pytest.raises(InputError, match="holds a record that was not there before"):
        found.rows_of(mixed)
    with pytest.raises(InputError, match="holds a value that was not there before") as caught:
        found.rows_of(frame.with_columns(pl.Series("a", ["1", "999"])))
    assert "999" not in str(caught.value)


def test_a_table_without_a_record_and_values_off_their_kind_are_refused():
    with pytest.raises(InputError, match="the table has a header but no record"):
        counted([])
    with pytest.raises(InputError, match="1 of 2 distinct values are not numbers") as caught:
        counted([("1", "x", "7"), ("Alice", "x", "7")])
    assert "Alice" not in str(caught.value)


def test_a_file_that_has_other_records_than_were_counted_is_refused(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("a,b,s\n1,x,7\n2,y,8\n")
    source = open_source(place)
    wrong = replace(source, shape=replace(source.shape, records=3))
    with pytest.raises(InputError, match="3 records were counted but 2 were read"):
        frequencies(wrong, wrong.scan(wrong.columns), SCHEMA, sensitive=())


def test_how_dates_are_written_is_found_out():
    schema = Schema.from_document({"columns": {"a": {"role": "quasi", "kind": "date"},
                                               "b": "neutral", "s": "neutral"}})  # fmt: skip
    _, found = counted([("17.03.2024", "x", "7"), ("01.04.2024", "x", "7")], schema, ())
    assert [coder.found.date_format for coder in found.coders] == ["%d.%m.%Y"]
    assert found.table.sensitive_domains == ()
