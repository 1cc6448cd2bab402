"""The frequency table of a table on Spark, as far as it needs no session."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

import numpy as np

from shoal.core.errors import InputError
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.schema.schema import Kind, Schema
from shoal.table.domain import line_domain

SCHEMA = Schema.from_document({"columns": {"age": "quasi", "ill": "sensitive"}})
AGE = line_domain("age", Kind.NUMERIC, ["1", "2", "3"], [1, 2, 3])
ILL = line_domain("ill", Kind.NUMERIC, ["7", "8"], [7, 8])


def source(records=None):
    return SimpleNamespace(where="t", records=records)


def coded(records=None):
    coders = tuple(SimpleNamespace(domain=domain) for domain in (AGE, ILL))
    return Coded(source(records), SCHEMA, coders, ("age", "ill"), Packing((3, 2)), None)


class Counted:
    """Counted keys as Spark's tables answer: a row is a chunk, its cells are arrays."""

    def __init__(self, codes, counts):
        packing = Packing((3, 2))
        arrays = {**packing.named(packing.pack(codes)), ROWS: np.array(counts, dtype=np.int64)}
        self.columns = {
            name: [part.tobytes() for part in np.array_split(array, 2)]
            for name, array in arrays.items()
        }

    def select(self, *names):
        self.columns = {name: self.columns[name] for name in names}
        return self

    def toArrow(self):
        return pa.table(self.columns)


def test_domains_are_apart_by_their_role():
    found = coded()
    assert (found.domains, found.sensitive_domains) == ((AGE,), (ILL,))


def test_collected_keys_become_the_frequency_table():
    codes = np.array([[2, 0], [0, 1], [0, 0]], dtype=np.int32)
    table = coded(6).collect(Counted(codes, [1, 2, 3]))
    assert table.codes.tolist() == [[0], [0], [2]]
    assert table.sensitive.tolist() == [[0], [1], [0]]
    assert table.counts.tolist() == [3, 2, 1]
    with pytest.raises(InputError, match="7 records were counted but 6 were read"):
        coded(7).collect(Counted(codes, [1, 2, 3]))


def test_a_file_that_spark_reads_otherwise_than_it_was_counted_is_refused():
    coded = Coded(source(records=5), None, (), (), None, None)
    coded.check_records(5)
    with pytest.raises(InputError, match="5 records were counted but 4 were read"):
        coded.check_records(4)
    Coded(source(), None, (), (), None, None).check_records(4)  # nobody counted them
