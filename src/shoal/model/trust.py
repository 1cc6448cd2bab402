"""Whether a model may be used: who made it, whether it was changed, and the least that it does.

A fingerprint notices damage and careless edits; whoever can write a file can compute it anew. A
signature (Ed25519) says that the holder of a key made it. The least k is held against the counts
in the file: it keeps out a model that was learned for less, not one whose counts are made up.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from shoal.core.errors import ModelFormatError
from shoal.model.ed25519 import verifies

if TYPE_CHECKING:
    from pathlib import Path

_DER = bytes.fromhex(
    "302a300506032b6570032100"
)  # an Ed25519 public key follows, as RFC 8410 has it


class Trust(NamedTuple):
    """What a model must show before it is used.

    Attributes:
        key: the public key of who must have signed it; None: nobody must.
        unsigned: a model that was changed, or carries no fingerprint, is used all the same.
        least: each class stood for as many persons when the model was learned.
    """

    key: bytes | None = None
    unsigned: bool = False
    least: int | None = None


def message_of(fingerprint: str) -> bytes:
    """Return what is signed: it says what it is, so that no other signature passes for it."""
    return b"shoal-model " + fingerprint.encode()


def admit(document: Mapping[str, object], fingerprint: str, trust: Trust, counts: object) -> None:
    """Refuse a model that is not trusted.

    Args:
        document: as it stands in the file.
        fingerprint: computed from its content.
        trust: what is asked for.
        counts: of its classes; None where it has none.

    Raises:
        ModelFormatError: it was changed, nobody signed it who is trusted, or it protects less.
    """
    if trust.least is not None:
        fewest = min(counts, default=0) if isinstance(counts, list) else 0
        if fewest < trust.least:
            raise _refuse(
                f"its smallest class stood for {fewest} records when it was learned, and at least "
                f"{trust.least} are asked for"
            )
    if trust.key is None and trust.unsigned:
        return
    given = document.get("fingerprint")
    if given is None:
        raise _refuse(
            "it has no fingerprint, so nobody knows whether it was changed; take the file as "
            "`shoal learn` wrote it, or say --unsigned"
        )
    if given != fingerprint:
        raise _refuse("its fingerprint does not fit it; it was changed")
    _check_signature(document.get("signature"), fingerprint, trust)


def _check_signature(signature: object, fingerprint: str, trust: Trust) -> None:
    if signature is None:
        if trust.key is not None:
            raise _refuse("nobody signed it, and a signature is asked for (--trust)")
        return
    key = made = b""
    if isinstance(signature, Mapping) and set(signature) == {"key", "value"}:
        key, made = _bytes(signature["key"]), _bytes(signature["value"])
    if trust.key is not None and key != trust.key:
        raise _refuse("it was signed with another key than the one that is trusted")
    if not verifies(key, message_of(fingerprint), made):
        raise _refuse("its signature does not fit it")


def _bytes(text: object) -> bytes:
    try:
        return bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return b""


def read_public_key(path: str | Path) -> bytes:
    """Return the public key of a file: PEM as openssl writes it, or 64 hexadecimal digits.

    Raises:
        ModelFormatError: it is none.
    """
    from base64 import b64decode  # a device that only encodes does not need it

    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        raise _refuse(f"{path}: no public key can be read from it") from None
    lines = [line for line in text.split() if line]
    if len(lines) == 1 and len(_bytes(lines[0])) == 32:
        return _bytes(lines[0])
    body = "".join(line for line in text.splitlines() if not line.startswith("-----"))
    try:
        found = b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != len(_DER) + 32 or not found.startswith(_DER):
        raise _refuse(
            f"{path} holds no Ed25519 public key; make one with openssl pkey -in KEY -pubout"
        )
    return found[len(_DER) :]


def _refuse(problem: str) -> ModelFormatError:
    return ModelFormatError(problem=problem)
