"""After `warm`, what people usually ask compiles nothing more."""

from __future__ import annotations

import pytest

import shoal
from shoal import api
from shoal.jobs.warm import folder, warm
from shoal.kernels import cache
from shoal.methods import registry
from shoal.privacy import KAnonymity, LDiversity, TCloseness

# Called by other kernels only; where these come from the cache they bring them along.
HELPERS = {"fail", "weight_log", "refine", "count_last", "rank_without", "value_at"}


@pytest.fixture(scope="module")
def warmed():
    return list(warm())


def test_every_method_is_warmed_and_what_was_done_is_counted(warmed):
    jobs = [each.job for each in warmed]
    assert {*registry.METHODS, "infer", "risk", "encode"} <= set(jobs)
    assert len(jobs) == len(set(jobs))
    assert all(each.compiled >= 0 and each.loaded >= 0 and each.seconds > 0 for each in warmed)
    assert folder() == cache.place()
    assert (cache.place() / cache.WARMED).is_file()


def test_every_kernel_that_python_calls_is_there(warmed):
    missing = {k.__name__ for k in cache._KERNELS if not k.signatures} - HELPERS
    ours = {k.__name__ for k in cache._KERNELS if k.__module__.startswith("shoal.kernels")}
    assert not (missing & ours) - {"_first_box"}  # Spark's alone


def test_a_release_after_it_compiles_nothing(warmed, tmp_path):
    before = cache.made()
    api.sample("hospital", tmp_path / "t.csv", records=200)
    schema = shoal.Schema.load(tmp_path / "t.schema.yaml")
    column = schema.sensitive[0]
    for other in ((), (LDiversity(2, column=column),), (TCloseness(0.9, column=column),)):
        for method in ("mondrian", "bestcut", "flash"):
            out = tmp_path / "release.csv"
            out.unlink(missing_ok=True)
            api.anonymize(
                tmp_path / "t.csv", schema, privacy=[KAnonymity(3), *other], replace_promise=True,
                out=out, method=method,
            )  # fmt: skip
    assert cache.made().compiled == before.compiled
