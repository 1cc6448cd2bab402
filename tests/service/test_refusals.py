from __future__ import annotations

from shoal.core.errors import InputError, SchemaError
from shoal.service.refusals import Refusal, not_there, unasked


def test_a_refusal_is_one_document():
    refusal = Refusal(413, "TooLarge", "too large", headers={"a": "b"})
    assert refusal.to_document() == {"error": {"kind": "TooLarge", "problem": "too large"}}
    assert (refusal.status, refusal.headers) == (413, {"a": "b"})


def test_each_fault_of_a_request_is_named():
    found = unasked(SchemaError(where="request", faults=["one", "two"]))
    assert found.status == 422
    assert found.to_document()["error"]["faults"] == ["one", "two"]
    assert unasked(InputError(where="x", problem="y")).faults == ()


def test_what_is_not_there_and_what_is_not_ones_own_look_alike():
    assert not_there("job").to_document() == not_there("job").to_document()
    assert not_there("job").status == 404
