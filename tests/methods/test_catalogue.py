"""Every class of a method says what its search takes, no more and no less."""

from dataclasses import fields

import numpy as np
import pytest
from tests.methods.clustering.tables import disease, domains

from shoal.methods import catalogue
from shoal.methods.method import Setting
from shoal.methods.registry import METHODS
from shoal.privacy import KAnonymity
from shoal.table.frequency import from_codes

ALL = [*METHODS.values(), catalogue.RefineCentroids]


class Watched(Setting):
    """A setting that remembers what was read of it."""

    def __getattribute__(self, name):
        if not name.startswith("_"):
            READ.add(name)
        return super().__getattribute__(name)


def table_of_forty():
    chance, columns = np.random.default_rng(3), domains()
    codes = [chance.integers(0, len(domain), 40) for domain in columns]
    return from_codes(
        columns, np.stack(codes, axis=1).astype(np.int32), np.ones(40, dtype=np.int64),
        sensitive_domains=(disease(),), sensitive=chance.integers(0, 3, (40, 1)).astype(np.int32),
    )  # fmt: skip


READ = set()
TABLE = table_of_forty()


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_a_search_looks_at_no_more_of_the_setting_than_it_says(kind):
    READ.clear()
    found = kind().search(TABLE, [KAnonymity(2)], Watched(target="disease"))
    assert found.classes
    assert set(kind.takes) >= READ


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_effort_short_of_the_default_is_taken(kind):
    for each in fields(kind):
        if each.name in ("effort", "iterations", "seconds", "cm", "persist", "absorb"):
            other = {"effort": "fast", "iterations": 2, "seconds": 0.01}.get(each.name)
            given = (not each.default) if other is None else other
            method = kind(**{each.name: given})
            assert method.search(TABLE, [KAnonymity(2)], Setting(target="disease")).classes


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_parameter_has_a_help(kind):
    assert all(each.help for each in kind.parameters())
    assert kind.summary
    assert kind().to_document() == {"name": kind.name}


def test_a_kernel_tells_whether_it_must_be_compiled():
    for kind in ALL:
        assert kind().must_compile() in (True, False)


def test_methods_made_for_centroids_say_so():
    made = {name for name, kind in METHODS.items() if kind.release == "aggregate"}
    assert made == {name for name, kind in METHODS.items() if kind.family == "microaggregation"}
    assert {name for name, kind in METHODS.items() if kind.centroid} == {"mdav-generic", "kmodes"}
    assert {name for name, kind in METHODS.items() if kind.spreads} == {"threshold"}
