"""Our own verification of signatures agrees with the library's, and every changed byte is seen."""

from __future__ import annotations

import random

import pytest

from shoal.model.ed25519 import L, verifies

ed25519 = pytest.importorskip(
    "cryptography.hazmat.primitives.asymmetric.ed25519", reason="cryptography is not installed"
)


def pair(seed):
    key = ed25519.Ed25519PrivateKey.from_private_bytes(random.Random(seed).randbytes(32))
    return key, key.public_key().public_bytes_raw()


@pytest.mark.parametrize("seed", range(3))
def test_what_the_library_signs_is_verified(seed):
    key, public = pair(seed)
    message = random.Random(seed + 9).randbytes(seed * 40)
    assert verifies(public, message, key.sign(message))
    assert not verifies(public, message + b"x", key.sign(message))
    assert not verifies(pair(seed + 1)[1], message, key.sign(message))


@pytest.mark.parametrize("at", [*range(0, 64, 9), 63])
def test_a_flipped_byte_of_the_signature_is_seen(at):
    key, public = pair(5)
    made = bytearray(key.sign(b"message"))
    made[at] ^= 1
    assert not verifies(public, b"message", bytes(made))


@pytest.mark.nightly
def test_every_flipped_byte_is_seen():
    key, public = pair(6)
    made = key.sign(b"message")
    for at in range(64):
        for bit in (1, 128):
            changed = bytearray(made)
            changed[at] ^= bit
            assert not verifies(public, b"message", bytes(changed))
    for at in range(32):
        changed = bytearray(public)
        changed[at] ^= 1
        assert not verifies(bytes(changed), b"message", made)


def test_a_second_form_of_a_signature_and_wrong_lengths_are_refused():
    key, public = pair(7)
    made = key.sign(b"message")
    scalar = int.from_bytes(made[32:], "little") + L
    assert not verifies(public, b"message", made[:32] + scalar.to_bytes(32, "little"))
    assert not verifies(public[:31], b"message", made)
    assert not verifies(public, b"message", made[:63])
    assert not verifies(b"\xff" * 32, b"message", made)
