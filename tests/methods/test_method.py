"""A method is a frozen object of its own parameters, which checks itself."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest

from shoal.core.errors import MethodError
from shoal.methods.method import Method, Parameter, Setting, parameter
from shoal.table.frequency import from_codes

CALLS = []


def remember(table, promise, method, setting):
    CALLS.append((method, setting))
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Method):
    name: ClassVar[str] = "sample"
    family: ClassVar[str] = "clustering"
    summary: ClassVar[str] = "for tests"
    function: ClassVar[str] = f"{__name__}:remember"
    kernel: ClassVar[str] = f"{__name__}:remember"
    takes: ClassVar[tuple[str, ...]] = ("seed", "threads")

    effort: Literal["fast", "best"] = parameter("fast", "how long")
    seconds: float | None = parameter(None, "time", above=0)
    rounds: int = parameter(3, "rounds", least=1)
    join: bool = parameter(False, "join them")
    gamma: float = parameter(0.2, "spread", least=0, fault="gamma must be a number from 0 on")


def searched(method, setting=None):
    CALLS.clear()
    table = from_codes((), np.zeros((1, 0), np.int32), np.ones(1, np.int64))
    assert method.search(table, [], setting) is table
    return CALLS[0]


def test_a_search_is_given_its_parameters_and_the_setting():
    asked, setting = Sample(effort="best"), Setting(seed=4, threads=2)
    assert searched(asked, setting) == (asked, setting)
    assert searched(asked) == (asked, Setting())


def test_a_method_that_is_tried_out_first_does_not_take_its_time_twice():
    assert Sample(seconds=30.0, rounds=5).hurried() == Sample(seconds=0.001, rounds=5)
    asked = Sample(rounds=5)
    assert asked.hurried() is asked


def test_a_method_is_frozen_and_survives_the_way_to_a_worker():
    asked = Sample(rounds=5)
    with pytest.raises(FrozenInstanceError):
        asked.rounds = 6
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert asked != Sample()


def test_a_document_names_only_what_differs_from_the_default():
    assert Sample().to_document() == {"name": "sample"}
    assert Sample(effort="best", seconds=1.5, rounds=3).to_document() == {
        "name": "sample", "effort": "best", "seconds": 1.5,
    }  # fmt: skip


def test_parameters_come_with_type_default_and_help():
    listed = Sample.parameters()
    assert [each.name for each in listed] == ["effort", "seconds", "rounds", "join", "gamma"]
    assert listed[1] == Parameter("seconds", "float | None", None, "time")
    assert listed[2] == Parameter("rounds", "int", 3, "rounds")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"effort": "slow"}, "effort must be one of fast, best"),
        ({"effort": 1}, "effort must be one of fast, best"),
        ({"seconds": 0}, "seconds must be above 0"),
        ({"seconds": "3"}, "seconds must be a number"),
        ({"seconds": float("nan")}, "seconds must be a number"),
        ({"seconds": float("inf")}, "seconds must be a number"),
        ({"seconds": True}, "seconds must be a number"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"rounds": 1.5}, "rounds must be a whole number"),
        ({"rounds": None}, "rounds must be a whole number"),
        ({"join": 1}, "join must be true or false"),
        ({"gamma": -1}, "gamma must be a number from 0 on"),
        ({"gamma": "x"}, "gamma must be a number from 0 on"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_birth(given, fault):
    with pytest.raises(MethodError) as caught:
        Sample(**given)
    assert str(caught.value) == f"sample: {fault}"


def test_all_faults_are_named_together():
    with pytest.raises(MethodError) as caught:
        Sample.check({"efort": "best", "rounds": 0, "size": 3})
    text = str(caught.value)
    assert text.startswith("3 faults: (1) --method sample: no parameter 'efort', did you mean 'ef")
    assert "(2) --method sample: no parameter 'size'; it takes effort, seconds, rounds," in text
    assert "(3) sample: rounds must be at least 1" in text


def test_numbers_of_numpy_are_numbers():
    assert Sample(rounds=np.int64(2), seconds=np.float64(1.0)).rounds == 2


def test_a_plain_function_needs_no_compiler():
    assert not Sample().must_compile()


def test_methods_are_known_without_loading_a_search():
    code = (
        "import sys, shoal.methods.registry as r; r.method_named('refine', {'effort': 'best'});"
        "print([m for m in ('numpy', 'numba', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
