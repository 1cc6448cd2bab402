"""What our way of compiling takes for granted: no index from the end, no arrays that overlap."""

import itertools
import os
import pkgutil
import random
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.methods.clustering.tables import disease, domains

import shoal.kernels
from shoal.kernels.bounds.groups import cheap_groups
from shoal.kernels.helpers import lean, lean_outer
from shoal.measures.optimum import _Boxes, _tuples
from shoal.methods import registry
from shoal.methods.method import Setting
from shoal.methods.microaggregation.centroids import centroids
from shoal.privacy import KAnonymity, LDiversity
from shoal.table.frequency import from_codes

ROOT = Path(__file__).parents[2]
CHECKED = "from tests.kernels.test_compiler import run_all, run_one, look; {}; look()"


@lean
def at(values, i):
    return values[i]


@lean_outer
def value_at(values, i):
    return at(values, i)


def look():
    """Look outside an array: with Numba's checks that fails."""
    value_at(np.arange(5), 2)
    print("inside")
    value_at(np.arange(5), -1)


def kernels():
    """Return the module and name of every kernel that allocates nothing."""
    found = []
    for each in pkgutil.walk_packages(shoal.kernels.__path__, "shoal.kernels."):
        module = import_module(each.name)
        for name, kernel in vars(module).items():
            options = getattr(kernel, "targetoptions", {})
            if options.get("_nrt") is False and not options.get("no_cpython_wrapper"):
                found.append((module, name))
    return found


def table():
    chance = np.random.default_rng(5)
    columns = domains(missing=True)
    codes = np.stack([chance.integers(0, len(d), 300) for d in columns], axis=1).astype(np.int32)
    return from_codes(
        columns, codes, chance.integers(1, 4, 300), sensitive_domains=(disease(),),
        sensitive=chance.integers(0, 3, (300, 1)).astype(np.int32),
    )  # fmt: skip


MODULES = {module.__name__ for module, _ in kernels()}


NAMES = [name for name, m in registry.METHODS.items() if m.kernel.partition(":")[0] in MODULES]


def run_one(name):
    """Run a method."""
    models = [KAnonymity(4), LDiversity(2, column="disease")]
    registry.METHODS[name]().search(table(), models, Setting(suppression_limit=0.1))


def run_all():
    """Run every method that has such kernels."""
    for name in NAMES:
        run_one(name)
    whole = table()
    found = registry.RefineCentroids(effort="fast").search(whole, [KAnonymity(3)])
    centroids(found)
    tuples = _tuples(whole)
    cheap_groups(_Boxes(tuples).rows(3), np.ones(tuples.rows), k=3, most_nodes=1000)
    persons = np.arange(whole.rows, dtype=np.int32) % 97 - 2
    for method in (registry.KMember(), registry.Refine()):
        method.search(replace(whole, persons=persons), [KAnonymity(4)])


def test_no_kernel_is_given_arrays_that_overlap(monkeypatch):
    called = set()

    def watched(kernel, place):
        def call(*given):
            called.add(place)
            arrays = [a for a in given if isinstance(a, np.ndarray)]
            pairs = itertools.combinations(arrays, 2)
            assert not any(np.shares_memory(a, b) for a, b in pairs), place
            return kernel(*given)

        return call

    places = kernels()
    for module, name in places:
        place = f"{module.__name__}.{name}"
        monkeypatch.setattr(module, name, watched(getattr(module, name), place))
    run_all()
    assert called == {f"{module.__name__}.{name}" for module, name in places}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["one", pytest.param("all", marks=pytest.mark.nightly)])
def test_no_kernel_looks_outside_its_arrays(tmp_path, which):
    """Compiled with Numba's checks: the kernels of a method that is drawn anew, nightly all."""
    what = "run_all()" if which == "all" else f"run_one({random.choice(NAMES)!r})"
    done = subprocess.run(
        [sys.executable, "-c", CHECKED.format(what)], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "NUMBA_CACHE_DIR": str(tmp_path),
            "NUMBA_BOUNDSCHECK": "1",
        },
    )  # fmt: skip
    # It reached the end, but for the last look.
    assert done.stdout.strip() == "inside", f"{what}: {done.stderr}"
    assert "IndexError: index is out of bounds" in done.stderr
