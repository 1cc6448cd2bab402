"""A model is trusted, or refused, and the refusal says how to go on."""

from __future__ import annotations

import json

import pytest
from tests.model.made import model

from shoal import edge
from shoal.core.errors import ModelFormatError
from shoal.model.model import RecodingModel
from shoal.model.trust import Trust, read_public_key

pytest.importorskip("cryptography", reason="cryptography is not installed")
from shoal.core.errors import MethodError
from shoal.jobs.signing import sign


@pytest.fixture
def keys(tmp_path):
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    pem = forms.Encoding.PEM
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    )
    (tmp_path / "key.pub").write_bytes(
        key.public_key().public_bytes(pem, forms.PublicFormat.SubjectPublicKeyInfo)
    )
    return tmp_path


def written(place, text):
    (place / "m.json").write_text(text, encoding="utf-8")
    return place / "m.json"


def test_a_signed_model_is_taken_with_its_key_and_without(keys):
    place = written(keys, sign(model(), keys / "key.pem").to_json())
    public = read_public_key(keys / "key.pub")
    assert len(public) == 32
    for trust in (None, Trust(key=public)):
        found = RecodingModel.load(place, trust=trust)
        assert found == model()
        assert found.to_json() == place.read_text(encoding="utf-8")
        assert edge.load(place, trust=trust).names == ["age", "sex"]


def test_a_model_that_nobody_signed_is_not_trusted(keys):
    place = written(keys, model().to_json())
    RecodingModel.load(place)
    with pytest.raises(ModelFormatError, match="nobody signed it"):
        RecodingModel.load(place, trust=Trust(key=bytes(32)))
    with pytest.raises(ModelFormatError, match="nobody signed it"):
        edge.load(place, trust=Trust(key=bytes(32), unsigned=True))


def test_another_key_is_not_trusted(keys):
    place = written(keys, sign(model(), keys / "key.pem").to_json())
    with pytest.raises(ModelFormatError, match="another key"):
        RecodingModel.load(place, trust=Trust(key=bytes(32)))


def test_a_changed_model_is_refused_even_with_a_fingerprint_computed_anew(keys):
    signed = json.loads(sign(model(), keys / "key.pem").to_json())
    forged = model(method="forged").to_document() | {"signature": signed["signature"]}
    place = written(keys, json.dumps(forged))
    with pytest.raises(ModelFormatError, match="its signature does not fit it"):
        RecodingModel.load(place)
    RecodingModel.load(place, trust=Trust(unsigned=True))
    changed = {**signed, "method": "forged"}
    with pytest.raises(ModelFormatError, match="its fingerprint does not fit it"):
        RecodingModel.load(written(keys, json.dumps(changed)))


def test_a_model_without_a_fingerprint_is_refused_unless_it_is_said(keys):
    document = model().to_document()
    del document["fingerprint"]
    place = written(keys, json.dumps(document))
    for load in (RecodingModel.load, edge.load):
        with pytest.raises(ModelFormatError, match="--unsigned"):
            load(place)
        load(place, trust=Trust(unsigned=True))


@pytest.mark.parametrize(("least", "fits"), [(2, True), (3, False)])
def test_the_least_that_a_model_must_do(keys, least, fits):
    place = written(keys, model().to_json())
    if fits:
        RecodingModel.load(place, trust=Trust(least=least))
        return
    with pytest.raises(ModelFormatError, match="its smallest class stood for 2 records"):
        RecodingModel.load(place, trust=Trust(least=least))


def test_what_is_no_key_is_refused(keys):
    (keys / "hex.pub").write_text("ab" * 32, encoding="ascii")
    assert read_public_key(keys / "hex.pub") == bytes([0xAB]) * 32
    for text in ("", "nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"):
        (keys / "bad.pub").write_text(text, encoding="ascii")
        with pytest.raises(ModelFormatError, match="no Ed25519 public key"):
            read_public_key(keys / "bad.pub")
    with pytest.raises(ModelFormatError, match="no public key can be read"):
        read_public_key(keys / "absent.pub")
    with pytest.raises(MethodError, match="openssl genpkey"):
        sign(model(), keys / "key.pub")
