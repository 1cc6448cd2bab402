"""Signing a model: who trusts the key knows that nobody else made or changed the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from shoal.core.errors import MethodError
from shoal.model.model import RecodingModel
from shoal.model.trust import message_of

ModelT = TypeVar("ModelT", bound=RecodingModel)


def sign(model: ModelT, key: str | Path) -> ModelT:
    """Return a model signed with an Ed25519 key, as `openssl genpkey -algorithm ed25519` makes it.

    Raises:
        MethodError: no such key, or the library for it is not installed.
    """
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise MethodError(
            problem="signing needs the library cryptography: pip install 'shoal[sign]'"
        ) from None
    try:
        found = serialization.load_pem_private_key(Path(key).read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise MethodError(
            problem=f"--sign {key}: no Ed25519 key without a password can be read from it; make "
            "one with openssl genpkey -algorithm ed25519 -out KEY"
        )
    public = found.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    made = found.sign(message_of(model.fingerprint))
    return replace(model, signature={"key": public.hex(), "value": made.hex()})
