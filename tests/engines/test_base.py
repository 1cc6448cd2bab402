"""The Protocol of engines: local and Spark have its verbs, with the same parameters."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from shoal.engines import base
from shoal.engines.base import Checks, Output, Search
from shoal.methods.method import Setting
from shoal.methods.registry import method_named

pytestmark = pytest.mark.local("compares the classes of both engines; none is started")

HERE, LOCAL, SPARK = "shoal.engines.counts", "shoal.engines.local", "shoal.engines.spark"
IMPLEMENTATIONS = [
    ("Engine", f"{LOCAL}.engine", "LocalEngine"),
    ("Engine", f"{SPARK}.engine", "SparkEngine"),
    ("Table", f"{LOCAL}.table", "LocalTable"),
    ("Table", f"{SPARK}.table", "TableOnSpark"),
    ("Records", f"{LOCAL}.records", "LocalRecords"),
    ("Records", f"{SPARK}.records", "SparkRecords"),
    ("Written", f"{LOCAL}.records", "LocalWritten"),
    ("Written", f"{SPARK}.written", "SparkWritten"),
    ("Encoding", f"{LOCAL}.encode", "LocalEncoding"),
    ("Encoding", f"{SPARK}.encode", "SparkEncoding"),
    ("Counts", HERE, "CountsHere"),
    ("Counts", f"{SPARK}.counts", "DistributedCounts"),
    ("Classes", HERE, "ClassesHere"),
    ("Classes", f"{SPARK}.counts", "DistributedClasses"),
]


def parameters(function):
    """Return the names, kinds and defaults of a function's parameters."""
    found = inspect.signature(inspect.unwrap(function)).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


def members(kind):
    """Return what a class says in public: functions by name, and the names of what it holds."""
    functions = {n: f for n, f in vars(kind).items() if inspect.isfunction(f) and n[0] != "_"}
    held = {n for n, f in vars(kind).items() if n[0] != "_" and not callable(f)}
    held |= {n for n in getattr(kind, "__dataclass_fields__", {}) if n[0] != "_"}
    return functions, held | {n for n in vars(kind).get("__annotations__", {}) if n[0] != "_"}


@pytest.mark.parametrize(("protocol", "module", "name"), IMPLEMENTATIONS)
def test_every_verb_is_there_with_the_same_parameters(protocol, module, name):
    if SPARK in module:
        pytest.importorskip("pyspark", reason="the package pyspark is not installed")
    wanted, facts = members(getattr(base, protocol))
    found, held = members(getattr(import_module(module), name))
    assert wanted or facts, "nothing was compared"
    for verb, function in wanted.items():
        assert verb in found, f"{name} has no {verb}"
        assert parameters(found[verb]) == parameters(function), f"{name}.{verb}"
    assert facts <= held, f"{name} does not say {facts - held}"


@pytest.mark.parametrize("protocol", ["Engine", "Table", "Records", "Written"])
def test_neither_engine_has_a_verb_that_the_protocol_does_not_know(protocol):
    pytest.importorskip("pyspark", reason="the package pyspark is not installed")
    known = set(members(getattr(base, protocol))[0])
    for each, module, name in IMPLEMENTATIONS:
        if each == protocol:
            assert set(members(getattr(import_module(module), name))[0]) == known


def test_a_search_beside_others_runs_on_one_thread():
    setting = Setting(threads=8, seed=3)
    asked = Search(
        method=method_named("mondrian"), release="generalize", promise=(), setting=setting
    )
    assert (asked.alone.threads, asked.alone.seed) == (1, 3)
    assert asked.setting.threads == 8  # left alone


def test_checks_name_every_fault_at_once():
    assert Checks().faults() == []
    assert Checks(attacks="all", household="h", sampling_fraction=0.1).faults() == []
    assert Checks(attacks="few").faults() == ["attacks must be none, some or all"]
    (fault,) = Checks(sampling_fraction=0.0, weights="w").faults()
    assert fault == "--sampling-fraction, --weights: not with --no-attacks or --engine spark"
    assert Checks(population=0, household="h").about_people == ["population", "household"]


def test_an_output_goes_nowhere_unless_it_is_told():
    plain = Output()
    assert (plain.out, plain.suppressed, plain.keep_order, plain.inputs) == (None, None, False, ())
