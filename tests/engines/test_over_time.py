"""Who has which signature, and how counterfeits are written."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.core.errors import MethodError
from shoal.core.secret_keys import Keys
from shoal.engines.local.history import Known
from shoal.engines.local.identities import SIGNATURE, WHO, hashed, value_hashes
from shoal.engines.local.over_time import _donors, followed
from shoal.engines.local.records import LocalRecords
from shoal.engines.local.source import Source, open_source
from shoal.methods.over_time.buckets import NEW, WAITS
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a ledger knows the order of the input")

KEY = b"k" * 32
FRAME = pl.DataFrame(
    {
        "who": ["a", "b", None, "c", "d"],
        "age": ["20", "30", "20", "20", "30"],
        "ill": ["flu", "cold", "flu", "cold", "flu"],
    }
)


def schema(with_tree=False):
    columns = {"who": "person", "age": "quasi", "ill": {"role": "sensitive"}}
    if with_tree:
        columns["ill"]["hierarchy"] = {"tree": {"*": ["flu", "cold", "gout"]}}
    return Schema.from_document({"columns": columns})


def sealed(**signatures):
    people = hashed(pl.Series(list(signatures), dtype=pl.String), KEY, "person").alias(WHO)
    found = [b"".join(sorted(value_hashes(each, KEY, "ill"))) for each in signatures.values()]
    return pl.DataFrame([people, pl.Series(SIGNATURE, found, dtype=pl.Binary)])


def look_up(known_signatures, with_tree=False):
    source = open_source(FRAME)
    fitted = schema(with_tree)
    records = LocalRecords.read(source, fitted, ["ill"], Keys.of(None))
    (domain,) = records.count().table.sensitive_domains
    return followed(records, domain, Known(source, fitted, KEY), known_signatures)


def by_person(found):
    """Return the signature of each record of the table, in its order."""
    own = np.empty(len(found.order), dtype=np.int64)
    own[found.order] = found.people.own
    return own.tolist()


def test_people_are_new_known_changed_or_nobody():
    found = look_up(sealed(a=["flu", "cold"], b=["flu", "gout"], c=["cold", "flu"]))
    assert found.people.signatures == ((0, 1),)
    assert by_person(found) == [0, WAITS, WAITS, 0, NEW]
    assert found.waiting == {"nobody": 1, "changed": 0, "vanished": 1}
    assert found.again == 3


def test_a_value_of_the_hierarchy_can_be_written_though_nobody_has_it_any_more():
    found = look_up(sealed(a=["flu", "gout"], b=["flu", "gout"]), with_tree=True)
    (signature,) = found.people.signatures
    assert [found.labels[code] for code in signature] == ["flu", "gout"]
    assert by_person(found) == [0, WAITS, WAITS, NEW, NEW]
    assert found.waiting == {"nobody": 1, "changed": 1, "vanished": 0}


def test_a_counterfeit_copies_a_released_record_with_its_value():
    found = look_up(sealed())
    value = np.empty(5, dtype=np.int64)
    value[found.order] = found.people.value
    real = np.array([0, 1])
    copied = _donors(found, real, np.array([0, 1, 0, 7]), np.random.default_rng(1))
    assert copied[3] == -1
    assert set(copied[:3]) <= set(real)
    assert value[copied[:3]].tolist() == [0, 1, 0]


def test_a_table_that_does_not_fit_memory_is_refused(monkeypatch):
    monkeypatch.setattr(Source, "fits_memory", lambda _: False)
    with pytest.raises(MethodError, match="does not fit memory"):
        look_up(sealed())
