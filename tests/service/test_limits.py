from __future__ import annotations

import pytest

from shoal.core.errors import SchemaError
from shoal.service.limits import MEGABYTE, Limits


def test_all_faults_are_named_together():
    with pytest.raises(SchemaError) as caught:
        Limits(upload=0, keep=-1, waiting=-2)
    assert list(caught.value.faults) == [
        "upload must be above 0", "keep must be above 0", "waiting must not be below 0",
    ]  # fmt: skip


def test_nobody_need_wait():
    assert Limits(waiting=0).waiting == 0
    assert Limits().upload == 1024 * MEGABYTE
