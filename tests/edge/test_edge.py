"""The runtime without dependencies: plain records in, plain records out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.golden.generate import table

from shoal import api, edge
from shoal.core.errors import ModelFormatError
from shoal.model.model import ModelColumn, RecodingModel
from shoal.model.runtime import Encoder
from shoal.schema.schema import Schema

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SOURCE = Path(__file__).resolve().parents[2] / "src"


def golden(name):
    return GOLDEN / f"{name}.model.json"


def people(name):
    encoder = edge.load(golden(name))
    return [{k: v for k, v in row.items() if k in encoder.known} for row in table().to_dicts()]


def test_it_runs_with_nothing_but_the_standard_library():
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        "import shoal.edge, shoal.edge.stream, shoal.edge.batch, shoal.edge.export\n"
        f"encoder = shoal.edge.load({str(golden('mondrian'))!r})\n"
        "row = dict.fromkeys(encoder.names, '1')\n"
        "assert set(encoder.encode(row)) == set(encoder.names)\n"
        "assert shoal.edge.metrics([row], encoder_document := shoal.edge.document_of("
        f"{str(golden('mondrian'))!r}))['records'] == 1\n"
        "assert 'numpy' not in sys.modules and 'polars' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-S", "-E", "-c", program], check=True, timeout=60)


def test_encoding_loads_next_to_nothing():
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        "import shoal.edge\n"
        f"shoal.edge.load({str(golden('mondrian'))!r})\n"
        "heavy = {'shoal.schema.schema', 'dataclasses', 'pathlib', 'decimal', 'csv'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-S", "-E", "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("name", ["mondrian", "clusters", "levels", "rules", "masks", "centroids"])
def test_the_fast_encoder_agrees_with_the_plain_one(name):
    fast = edge.load(golden(name))
    slow = Encoder(json.loads(golden(name).read_text(encoding="utf-8")))
    for row in people(name):
        assert fast.encode(row) == slow.encode(row)
        assert fast.find(fast.values(row)) == slow.find(slow.values(row))


def test_one_and_true_and_one_point_zero_are_not_mixed_up():
    document = json.loads(golden("rules").read_text(encoding="utf-8"))
    encoder = edge.load(document)
    row = {"age": 1, "born": "1970-01-01"}
    assert encoder.encode(row)["age"] == "[0, 18)"
    assert encoder.encode({**row, "age": True})["age"] == "*"
    assert encoder.encode({**row, "age": 1.0})["age"] == "[0, 18)"


def test_encode_safe_keeps_the_promise_and_the_order():
    released, report = edge.encode_safe(people("mondrian"), golden("mondrian"))
    assert edge.verify(released, golden("mondrian")).holds
    assert report.to_document() == {
        "records": 400, "released": len(released), "suppressed": 400 - len(released),
        "unseen": 8, "rejected": 0,
    }  # fmt: skip
    notes = [row["note"] for row in released]
    assert notes == sorted(notes, key=int)


@pytest.mark.parametrize("name", ["mondrian", "clusters", "levels"])
@pytest.mark.parametrize("suppressed", ["star", "remove"])
def test_a_small_batch_is_suppressed_until_it_is_safe(name, suppressed):
    for size in (3, 10, 50, 120):
        released, report = edge.encode_safe(
            people(name)[:size], golden(name), suppressed=suppressed
        )
        assert report.records == size
        assert len(released) == report.released
        if released:
            assert edge.verify(released, golden(name)).holds


def test_verify_finds_what_is_not_safe():
    rows = [{**dict.fromkeys(edge.load(golden("mondrian")).names, "x"), "illness": "flu"}] * 3
    found = edge.verify(rows, golden("mondrian"))
    assert (found.holds, found.violating_records, found.smallest_class) == (False, 3, 3)


def test_metrics_count_suppressed_records_fully():
    found = edge.metrics(people("mondrian"), golden("mondrian"))
    assert found["records"] == 400
    assert found["unseen"] == found["suppressed"] == 8
    assert 0 < found["ncp"] < 1
    nobody = [dict.fromkeys(edge.load(golden("rules")).names, "none of this")]
    assert edge.metrics(nobody, golden("rules"))["ncp"] == 1


def test_a_model_that_is_none_is_refused(tmp_path):
    (tmp_path / "m.json").write_text("{}")
    with pytest.raises(ModelFormatError):
        edge.load(tmp_path / "m.json")
    text = golden("mondrian").read_text(encoding="utf-8").replace('"low":"-5"', '"low":"-6"')
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(ModelFormatError, match="fingerprint"):
        edge.load(tmp_path / "m.json")


def test_the_edge_judges_a_numeric_column_with_a_hierarchy_as_verify_does():
    """Ordered t-closeness follows the numbers (0.333), not the tree beside them (0.167)."""
    tree = {"*": {"odd": ["1", "3"], "even": ["2", "4"]}}
    schema = Schema.from_document({
        "columns": {
            "q": {"role": "quasi", "kind": "categorical"},
            "s": {"role": "sensitive", "kind": "numeric", "hierarchy": {"tree": tree}},
        },
        "privacy": [{"model": "k-anonymity", "k": 2},
                    {"model": "t-closeness", "t": 0.2, "distance": "ordered"}],
    })  # fmt: skip
    records = [{"q": "a" if s < 3 else "b", "s": str(s)} for s in (1, 2, 3, 4) for _ in range(5)]
    cells = ({"value": "a"}, {"value": "b"}, {"any": "*"})
    model = RecodingModel(
        method="none", schema=schema, records=20, suppressed=0, utility={}, counts=(10, 10),
        columns=(ModelColumn(name="q", scale="text", root="*", cells=cells),),
        regions=((0,), (1,)),
    )  # fmt: skip
    found = api.verify(pl.DataFrame(records), schema)
    assert found.privacy[1].value == pytest.approx(1 / 3)
    assert not found.holds
    assert edge.verify(records, model).privacy == found.privacy
    released, report = edge.encode_safe(records, model)
    assert report.suppressed == 10  # of two classes that are far from each other, one stays
    assert api.verify(pl.DataFrame(released), schema).holds
