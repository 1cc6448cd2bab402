"""Who may ask: tokens, of which the service keeps hashes alone.

A file of tokens has a line a client, `NAME HASH`; `shoal serve --tokens FILE --add NAME` adds one
and prints the token once. A token has 256 random bits, so that a plain hash of it says nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shoal.core.documents import read_text, reason
from shoal.core.errors import InputError, OutputError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LINE = re.compile(rf"({NAME.pattern}) ([0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The clients by the hash of their token."""

    names: Mapping[str, str]

    def client(self, authorization: str) -> str | None:
        """Return the client that a header names; None: nobody.

        Guarantee:
            How long it takes does not depend on how much of a token is right.
        """
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token.strip())
        found = None
        for known, name in self.names.items():
            if hmac.compare_digest(known, digest):
                found = name
        return found if scheme.lower() == "bearer" else None


def read_tokens(path: str | Path) -> Tokens:
    """Read a file of tokens.

    Raises:
        InputError: a line is no name and hash, a name or a token stands twice, or there is none.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise _wrong(path, f"line {number} is no NAME and HASH; add clients with --add NAME")
        if match[1] in found.values() or match[2] in found:
            raise _wrong(path, f"line {number} names a client or a token for a second time")
        found[match[2]] = match[1]
    if not found:
        raise _wrong(path, "names no client; add one with --add NAME")
    return Tokens(found)


def _wrong(path: str | Path, problem: str) -> InputError:
    return InputError(where=str(path), problem=problem)


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


def tokens_of(**clients: str) -> Tokens:
    """Return the tokens of clients that are not kept in a file."""
    return Tokens({_digest(token): name for name, token in clients.items()})


def add_client(path: str | Path, name: str) -> str:
    """Add a client to a file of tokens, readable by its owner alone; return the token.

    Raises:
        InputError: the name cannot be a name, or is there already.
        OutputError: the file cannot be written.
    """
    if not NAME.fullmatch(name):
        raise _wrong("--add", "a name has letters, digits, . _ and -, 64 at most")
    path = Path(path)
    known = read_tokens(path).names if path.exists() else {}
    if name in known.values():
        raise _wrong(path, "has this client already; remove its line to give it another token")
    token = new_token()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="ascii") as file:
            file.write(f"{name} {_digest(token)}\n")
    except OSError as error:
        raise OutputError(where=str(path), problem=f"{reason(error)}; choose another") from None
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
