"""What calls itself safe must have a promise, a fingerprint, and the roles that are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import edge
from shoal.core.errors import ModelFormatError, PrivacyError, SchemaError
from shoal.model.document import fingerprint_of
from shoal.model.safe import for_safe

COLUMNS = {
    "name": "identifying",
    "age": {"role": "quasi", "kind": "numeric"},
    "sex": {"role": "quasi"},
    "dx": {"role": "sensitive"},
    "ward": {"role": "neutral"},
}
ASKED = {"k": [{"model": "k-anonymity", "k": 4}], "none": []}


def schema(**changes: Any) -> shoal.Schema:
    columns = {**COLUMNS, **changes.pop("columns", {})}
    return shoal.Schema.from_document({"columns": columns, **changes})


def people(n: int = 200) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": [20 + i % 9 for i in range(n)],
            "sex": ["fm"[i % 2] for i in range(n)],
            "dx": [["flu", "gout", "none"][i % 3] for i in range(n)],
            "ward": [str(i % 4) for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return an honest model as a document."""
    model = shoal.learn(people(), schema(), privacy=[shoal.KAnonymity(4)], method="mondrian")
    found: dict[str, Any] = json.loads(model.to_json())
    return found


def changed(document: dict[str, Any], *, seal: str, **parts: Any) -> dict[str, Any]:
    """Return a changed document whose fingerprint is computed anew, left as it is, or gone."""
    found = json.loads(json.dumps({**document, **parts}))
    if seal == "anew":
        found["fingerprint"] = fingerprint_of(found)
    elif seal == "none":
        del found["fingerprint"]
    return dict(found)


def without_promise(document: dict[str, Any], *, seal: str) -> dict[str, Any]:
    return changed(document, seal=seal, schema={**document["schema"], "privacy": []})


def with_names(document: dict[str, Any], *, seal: str) -> dict[str, Any]:
    """Return the model with `name` turned from identifying to neutral."""
    columns = {**document["schema"]["columns"], "name": {"role": "neutral"}}
    names = [n for n in document["schema"]["columns"] if n != "name"]
    return changed(
        document, seal=seal, schema={**document["schema"], "columns": columns},
        released=[n for n in columns if n in ("name", *names)], removed=[],
    )  # fmt: skip


def refused(document: dict[str, Any], place: Path, error: Any, match: str, **more: Any) -> None:
    """Ask every way to encode safely; each must refuse."""
    place.write_text(json.dumps(document))
    ways = [
        lambda: shoal.encode(people(), place, safe=True, **more),
        lambda: shoal.encode(people(), shoal.RecodingModel.load(place), safe=True, **more),
        lambda: edge.encode_safe(people().to_dicts(), document, **more),
        lambda: edge.encode_safe(people().to_dicts(), place, **more),
        lambda: edge.encode_safe(people().to_dicts(), shoal.RecodingModel.load(place), **more),
    ]
    for way in ways:
        with pytest.raises(error, match=match):
            way()


def test_encode_safe_refuses_a_model_without_any_promise(document, tmp_path):
    bare = without_promise(document, seal="anew")
    refused(bare, tmp_path / "m.json", PrivacyError, "promises nothing")
    with pytest.raises(PrivacyError, match="promises nothing"):
        edge.verify([{"age": "1", "sex": "f"}], bare)


def test_a_promise_may_be_given_with_the_batch(document, tmp_path):
    place = tmp_path / "m.json"
    place.write_text(json.dumps(without_promise(document, seal="anew")))
    asked = [shoal.KAnonymity(6)]
    done = shoal.encode(people(), place, safe=True, privacy=asked)
    assert done.verification.holds
    assert done.verification.smallest_class >= 6
    rows, _ = edge.encode_safe(people().to_dicts(), place, privacy=asked)
    assert [list(map(str, row.values())) for row in rows] == [
        list(map(str, row)) for row in done.table.rows()
    ]
    promised = shoal.encode(people(), place, safe=True, schema=schema(privacy=ASKED["k"]))
    assert promised.verification.holds
    assert [r.model.name for r in promised.verification.privacy] == ["k-anonymity"]


def test_the_fingerprint_is_required(document, tmp_path):
    missing = changed(document, seal="none")
    refused(missing, tmp_path / "m.json", ModelFormatError, "fingerprint")
    with pytest.raises(ModelFormatError, match="no fingerprint"):
        shoal.encode(people(), tmp_path / "m.json")  # also where it is not called safe
    taken = shoal.encode(people(), shoal.RecodingModel.from_document(missing))
    assert taken.report.records == 200  # a document is its caller's business
    wrong = changed(document, seal="old", method="other")
    refused(wrong, tmp_path / "m.json", ModelFormatError, "fingerprint")


def test_a_name_turned_neutral_is_refused_by_the_schemas_roles(document, tmp_path):
    place = tmp_path / "m.json"
    refused(with_names(document, seal="none"), place, ModelFormatError, "fingerprint")
    anew = with_names(document, seal="anew")
    refused(anew, place, SchemaError, "'name' is identifying here, and neutral", schema=schema())
    with pytest.raises(SchemaError, match="'name'"):
        shoal.encode(people(), place, schema=schema())  # also where nothing is promised


def test_an_honest_model_passes_under_its_schema(document):
    model = shoal.RecodingModel.from_document(document)
    assert for_safe(model, schema=schema()) == model
    coarser = schema(columns={"age": "neutral", "dx": "neutral"})  # asks for less
    assert for_safe(model, schema=coarser) == model


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        ({"ward": "identifying"}, {}, "'ward' is identifying here, and neutral"),
        ({"ward": "quasi"}, {}, "'ward' is quasi here, and neutral"),
        ({"ward": "sensitive"}, {}, "'ward' is sensitive here, and neutral"),
        ({"dx": "quasi"}, {}, "'dx' is quasi here, and sensitive"),
        ({"age": "sensitive"}, {}, "'age' is sensitive here, and quasi"),
    ],
)
def test_what_the_schema_protects_the_model_must_not_release(document, columns, more, said):
    model = shoal.RecodingModel.from_document(document)
    with pytest.raises(SchemaError, match=said):
        for_safe(model, schema=schema(columns=columns, **more))


def test_columns_that_one_side_does_not_name(document):
    model = shoal.RecodingModel.from_document(document)
    few = {name: COLUMNS[name] for name in ("name", "age", "sex", "dx")}
    for others in ("fault", "drop"):
        narrow = shoal.Schema.from_document({"columns": few, "others": others})
        with pytest.raises(SchemaError, match="'ward' has no role here"):
            for_safe(model, schema=narrow)
    assert for_safe(model, schema=shoal.Schema.from_document({"columns": few, "others": "keep"}))
    keeps = {**document["schema"], "others": "keep"}
    open_ended = shoal.RecodingModel.from_document(changed(document, seal="anew", schema=keeps))
    with pytest.raises(SchemaError, match="keeps columns that it does not name"):
        for_safe(open_ended, schema=schema())
    more = schema(columns={"mail": "identifying"}, others="keep")
    with pytest.raises(SchemaError, match="'mail' is identifying here, and neutral"):
        for_safe(open_ended, schema=more)


def test_promises_of_model_schema_and_caller_are_all_kept(document):
    model = shoal.RecodingModel.from_document(document)
    asked = for_safe(
        model, schema=schema(privacy=[{"model": "l-diversity", "l": 2, "column": "dx"}]),
        privacy=[shoal.KAnonymity(5)],
    )  # fmt: skip
    assert {m.name for m in asked.privacy} == {"k-anonymity", "l-diversity"}
    assert max(getattr(m, "k", 0) for m in asked.privacy) == 5
    with pytest.raises(PrivacyError, match=r"the model promises .*learn a model"):
        for_safe(model, privacy=[shoal.KAnonymity(3)])
    # a schema from before flags made the model stricter does not stand in the way
    assert for_safe(model, schema=schema(privacy=[{"model": "k-anonymity", "k": 2}])) == model


def test_a_promise_without_safe_is_refused(document):
    model = shoal.RecodingModel.from_document(document)
    with pytest.raises(shoal.ShoalError, match="--safe"):
        shoal.encode(people(), model, privacy=[shoal.KAnonymity(3)])
