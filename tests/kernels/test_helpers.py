import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shoal.kernels.helpers import inner, lean, lean_outer, outer

ROOT = Path(__file__).parents[2]
OTHER = "import numba; numba.version_info = numba.version_info._replace(short=(0, 1))\n"
PROGRAM = """
import numpy as np
from shoal.kernels import helpers
from tests.kernels.test_helpers import largest, sum_of_squares
assert "pipeline_class" not in helpers._HELPER
print(sum_of_squares(np.arange(5)), largest(np.array([3, -7, 5])))
"""


@inner
def square(x):
    return x * x


@inner
def squares_up_to(values, end):
    total = 0
    for i in range(end):
        total += square(values[i])
    return total


@outer
def sum_of_squares(values):
    return squares_up_to(values, len(values))


@lean
def larger(a, b):
    return a if a > b else b


@lean_outer
def largest(values):
    best = values[0]
    for i in range(len(values)):
        best = larger(best, square(values[i]))
    return best


def test_helpers_of_helpers_are_part_of_the_kernel():
    assert sum_of_squares(np.arange(5)) == 30
    assert largest(np.array([3, -7, 5])) == 49


def test_a_helper_serves_several_kinds_of_numbers():
    assert sum_of_squares(np.array([0.5, 1.5])) == 2.5
    assert largest(np.array([0.5, 1.5])) == 2.25


def python(program, folder, **more):
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "NUMBA_CACHE_DIR": str(folder), **more},
    )  # fmt: skip


def test_a_numba_that_was_not_tried_compiles_by_itself_and_that_is_said_once(tmp_path):
    done = python(OTHER + PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["30", "49"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("shoal: Numba")
    assert "was not tried" in line


def test_our_way_can_be_left_out_and_nothing_is_said_of_it(tmp_path):
    done = python(PROGRAM, tmp_path, SHOAL_PLAIN_NUMBA="1")
    assert done.stdout.split() == ["30", "49"], done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("part", ["linked", "whole", "signatures", "index", "noalias"])
def test_every_part_can_be_left_out_by_itself(tmp_path, part):
    program = PROGRAM.replace("not in", "in")
    done = python(program, tmp_path, SHOAL_PLAIN_NUMBA=part)
    assert done.stdout.split() == ["30", "49"], done.stderr
