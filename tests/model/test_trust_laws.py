"""Signed files, broken on purpose: whatever is changed is seen, and no value is in the refusal."""

from __future__ import annotations

import json
import random

import pytest
from tests.model.made import model

from shoal.core.errors import ModelFormatError
from shoal.model.model import RecodingModel
from shoal.model.trust import Trust, message_of

ed25519 = pytest.importorskip(
    "cryptography.hazmat.primitives.asymmetric.ed25519", reason="cryptography is not installed"
)
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()


def signed():
    """Return a signed model as its file has it."""
    made = model()
    value = KEY.sign(message_of(made.fingerprint)).hex()
    return {**made.to_document(), "signature": {"key": PUBLIC.hex(), "value": value}}


def load(place, document, trust=None):
    place.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return RecodingModel.load(place, trust=trust)


def leaves(document, path=()):
    """Yield the path of every value that is no container."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in pairs:
        if isinstance(value, (dict, list)) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(document, path, value):
    """Return a copy with one value replaced."""
    copy = json.loads(json.dumps(document))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


def test_the_untouched_file_is_taken(tmp_path):
    assert load(tmp_path / "m.json", signed(), Trust(key=PUBLIC, least=2)) == model()


PATHS = list(leaves(signed()))


def test_no_value_of_a_signed_file_can_be_changed(tmp_path):
    chance, document, refused = random.Random(4), signed(), 0
    for path in PATHS:
        before = document
        for key in path:
            before = before[key]
        other = chance.choice([v for v in (None, 0, 7, "x", [], True) if v != before])
        try:
            found = load(tmp_path / "m.json", changed(document, path, other), Trust(key=PUBLIC))
        except ModelFormatError:
            refused += 1
            continue
        assert found == model()  # read as what was signed: nothing was changed by it
    assert refused >= len(PATHS) - 1


@pytest.mark.parametrize("at", [0, 1, 31, 32, 40, 62, 63])
@pytest.mark.parametrize("bit", [1, 128])
def test_a_flipped_bit_of_the_signature_is_seen(tmp_path, at, bit):
    document = signed()
    value = bytearray.fromhex(document["signature"]["value"])
    value[at] ^= bit
    document["signature"]["value"] = value.hex()
    for trust in (None, Trust(key=PUBLIC)):
        with pytest.raises(ModelFormatError, match="its signature does not fit it"):
            load(tmp_path / "m.json", document, trust)


@pytest.mark.parametrize(
    "signature",
    [
        {}, [], "x", 7, {"key": PUBLIC.hex()}, {"key": PUBLIC.hex(), "value": ""},
        {"key": "", "value": "00" * 64}, {"key": PUBLIC.hex(), "value": "zz"},
        {"key": 1, "value": 2}, {"key": PUBLIC.hex(), "value": "00" * 64},
        {"key": PUBLIC.hex(), "value": "00" * 64, "more": 1}, {"key": None, "value": None},
    ],
)  # fmt: skip
def test_what_is_no_signature_is_refused(tmp_path, signature):
    for trust in (None, Trust(key=PUBLIC)):
        with pytest.raises(ModelFormatError):
            load(tmp_path / "m.json", {**signed(), "signature": signature}, trust)


def test_a_signature_of_another_model_or_another_purpose_is_none(tmp_path):
    other = model(method="other")
    for message in (message_of(other.fingerprint), model().fingerprint.encode(), b""):
        document = signed()
        document["signature"]["value"] = KEY.sign(message).hex()
        with pytest.raises(ModelFormatError, match="its signature does not fit it"):
            load(tmp_path / "m.json", document)


@pytest.mark.parametrize("least", [1, 2])
def test_the_least_k_is_held_against_the_counts(tmp_path, least):
    assert load(tmp_path / "m.json", signed(), Trust(least=least)).counts == (3, 2)
    bare = model(counts=None).to_document()
    with pytest.raises(ModelFormatError, match=f"at least {least} are asked for"):
        load(tmp_path / "m.json", bare, Trust(least=least))
