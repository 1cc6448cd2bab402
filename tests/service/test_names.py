from __future__ import annotations

from shoal.service.names import renamed, strings


def test_paths_become_the_names_that_a_client_gave():
    document = {"a": ["/x/1.csv: line 3", 4, None], "b": {"c": "/x/1.csv", "/x/1.csv": True}}
    assert renamed(document, {"/x/1.csv": "upload:1"}) == {
        "a": ["upload:1: line 3", 4, None],
        "b": {"c": "upload:1", "/x/1.csv": True},
    }


def test_names_come_through_json():
    assert strings({"/x": "upload:1"}) == {"/x": "upload:1"}
    assert strings(None) == strings([1]) == {}
