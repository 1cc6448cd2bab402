"""The room of a device: sizes as they are written, and what a model takes of them."""

from __future__ import annotations

import pytest

from shoal.core.errors import MethodError
from shoal.model.column import MEMO
from shoal.model.device import CODE, LEAST_TEXTS, PER_TEXT, Room, bytes_named, ram_of


@pytest.mark.parametrize(
    ("text", "size"),
    [("64kB", 64_000), ("1 MB", 10**6), ("256KiB", 262_144), ("0.5mib", 524_288), ("2000", 2000)],
)
def test_sizes(text, size):
    assert bytes_named(text, "--model-bytes") == size


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "0kB", "1e9", "64 kb b", "1TB", "nan"])
def test_what_is_no_size_is_refused_with_its_option(text):
    with pytest.raises(MethodError, match="--device-ram takes a size"):
        bytes_named(text, "--device-ram")


@pytest.mark.parametrize("ram", [CODE + 20_000, 256_000, 10**6])
@pytest.mark.parametrize("columns", [1, 5, 20])
def test_the_largest_model_that_fits_fits_and_a_larger_one_does_not(ram, columns):
    room = Room(ram=ram)
    most = room.most_bytes(columns)
    if most:
        assert room.problem(most, columns) is None
    assert "bytes of memory" in room.problem(most + 1, columns)


def test_both_limits_hold():
    assert Room(1000, 10**6).most_bytes(3) == 1000
    assert "there is room for 1,000" in Room(1000, 10**6).problem(1001, 3)
    assert Room().most_bytes(3) is None
    assert Room().problem(10**9, 3) is None


def test_a_column_remembers_what_fits_beside_the_model():
    assert Room().texts(1000, 5) == MEMO
    texts = Room(ram=256_000).texts(30_000, 5)
    assert LEAST_TEXTS < texts < MEMO
    assert ram_of(30_000, 5, texts) <= 256_000
    assert ram_of(30_000, 5, texts + 1) > 256_000 - PER_TEXT * 5
