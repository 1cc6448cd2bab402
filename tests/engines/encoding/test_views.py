"""Texts where they lie: every layout that Polars gives a column says the same texts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.test_encode import golden, strange_people

from shoal.engines.encoding import columns as encode_keys
from shoal.engines.encoding import views as encode_views
from shoal.engines.encoding.columns import ColumnCoder
from shoal.engines.encoding.views import views_of
from shoal.model.sets import SetEncoder

pytestmark = pytest.mark.local("a part of the local engine itself")

texts = st.one_of(st.none(), st.text(max_size=8), st.text(min_size=10, max_size=40))


def read(views):
    """Return the texts of a stretch, byte by byte, as Arrow's columnar format describes them."""
    found = []
    raw = views.views.tobytes()
    memory = views.words.view()
    for i in range(len(views.views) // 2):
        bit = i + views.skip
        if len(views.valid) and not views.valid[bit // 8] >> (bit % 8) & 1:
            found.append(None)
            continue
        view = raw[16 * i : 16 * i + 16]
        size = int.from_bytes(view[:4], "little")
        text = view[4 : 4 + size]
        if size > 12:
            at = int(views.buffers[int.from_bytes(view[8:12], "little")])
            at += int.from_bytes(view[12:], "little")
            ends = [memory[at + p] for p in (*range(0, size - 8, 8), size - 8)]
            text = b"".join(word.tobytes() for word in ends[:-1])[: size - 8] + ends[-1].tobytes()
            assert text[:4] == view[4:8]
        found.append(text.decode())
    return found


def all_texts(series):
    return [text for views in views_of(series) for text in read(views)]


@settings(max_examples=150, deadline=None)
@given(
    chunks=st.lists(st.lists(texts, max_size=20), min_size=1, max_size=4),
    begin=st.integers(0, 12),
    size=st.integers(0, 40),
    together=st.booleans(),
)
def test_slices_chunks_and_missing_texts_are_read(chunks, begin, size, together):
    parts = [pl.Series(chunk, dtype=pl.String) for chunk in chunks]
    series = pl.concat(parts, rechunk=together)
    assert all_texts(series) == series.to_list()
    part = series.slice(begin, size)
    assert all_texts(part) == part.to_list()
    assert all_texts(part.drop_nulls()) == part.drop_nulls().to_list()
    turned = part.reverse()
    assert all_texts(turned) == turned.to_list()


def test_arrow_and_casts_are_read():
    arrow = pytest.importorskip("pyarrow")
    column = ["short", None, "a text of more than twelve bytes", ""] * 3
    for kind in (arrow.string(), arrow.large_string(), arrow.string_view()):
        series = pl.Series(arrow.array(column, type=kind))
        assert all_texts(series[1:]) == column[1:]
    numbers = pl.Series([1.5, None, 1e300, -0.0]).cast(pl.String)
    assert all_texts(numbers) == numbers.to_list()


def test_other_columns_and_other_layouts_are_left_to_polars(monkeypatch):
    assert views_of(pl.Series([1, 2])) is None
    assert views_of(pl.Series(["a"], dtype=pl.Categorical)) is None
    monkeypatch.setattr(encode_views, "_VIEWS", b"another")
    assert views_of(pl.Series(["a"])) is None


@pytest.mark.parametrize("name", ["levels", "mondrian", "rules"])
@pytest.mark.parametrize("on_unseen", ["suppress", "nearest"])
def test_texts_and_dictionaries_are_numbered_alike(name, on_unseen, monkeypatch):
    frame = strange_people(500)
    encoder = SetEncoder(golden(name).to_document(), on_unseen)

    def values(column, series):
        """What each record is covered by, whatever the numbers are."""
        return [column.sets[code] for code in column.codes(series)]

    for j, label in enumerate(encoder.names):
        series = frame[label]
        by_text = values(ColumnCoder(j, encoder), series)
        coded = values(ColumnCoder(j, encoder), series.cast(pl.Categorical))
        with monkeypatch.context() as patch:
            patch.setattr(encode_keys, "views_of", lambda series: None)
            by_polars = values(ColumnCoder(j, encoder), series)
        assert by_text == coded == by_polars


def test_batches_share_one_table_of_texts():
    frame = strange_people(300)
    encoder = SetEncoder(golden("levels").to_document(), None)
    for j, label in enumerate(encoder.names):
        whole, pieces = ColumnCoder(j, encoder), ColumnCoder(j, encoder)
        wanted = whole.codes(frame[label])
        found = [pieces.codes(part[label]) for part in frame.iter_slices(37)]
        chunked = pl.concat([part[label] for part in frame.iter_slices(53)], rechunk=False)
        for codes, column in ((np.concatenate(found), pieces), (whole.codes(chunked), whole)):
            pairs = zip(codes, wanted, strict=True)
            assert all(column.sets[a] == whole.sets[b] for a, b in pairs)
