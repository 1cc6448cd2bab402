"""The command `edge gateway`: lines in, batches out, and counts."""

from __future__ import annotations

import io
import json

import pytest
from tests.golden.generate import table
from tests.methods.test_cut_tree import made

from shoal.core.errors import MethodError
from shoal.jobs.gateway import GatewayRequest, run_gateway


def lines(records):
    return [json.dumps({"message": i, **row}) for i, row in enumerate(table().to_dicts()[:records])]


def test_lines_are_received_once_and_bad_ones_are_counted(tmp_path):
    _, model = made(4)
    place = tmp_path / "m.json"
    place.write_text(model.to_json(), encoding="utf-8")
    asked = GatewayRequest(model=place, folder=tmp_path / "held", name="message", flush=True)
    given = [*lines(60), *lines(20), "nonsense", "[]", '{"message": 99, "age": "1"}', "{}"]
    found = run_gateway(asked, io.BytesIO("\n".join(given).encode()))
    assert (found["received"], found["doubled"], found["rejected"]) == (60, 20, 4)
    assert found["waiting"] == 0
    out = "".join(
        batch.read_text(encoding="utf-8") for batch in (tmp_path / "held").glob("batch-*.jsonl")
    )
    assert out.count("\n") + found["suppressed"] == 60
    assert "message" not in out
    again = run_gateway(asked, io.BytesIO("\n".join(lines(60)).encode()))
    assert (again["received"], again["doubled"]) == (0, 60)


@pytest.mark.parametrize("words", [{"window": 0}, {"patience": 0.0}])
def test_bounds_that_are_none_are_refused(words):
    with pytest.raises(MethodError, match="--window must be at least 1"):
        GatewayRequest(model="m", folder="f", name="id", **words)
