import subprocess
import sys
from pathlib import Path

import numpy as np

from shoal.kernels.helpers import inner, lean, lean_outer, outer

PROGRAM = """
import numba
numba.version_info = numba.version_info._replace(short=(0, 1))
import numpy as np
from shoal.kernels import helpers
from tests.kernels.test_helpers import sum_of_squares
assert "pipeline_class" not in helpers._HELPER
print(sum_of_squares(np.arange(5)))
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


def test_another_numba_compiles_helpers_by_itself(tmp_path):
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{root / 'src'}:{root}", "NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "30"
