"""Secret keys: made and read as files of 32 random bytes, and never shown.

A key is what makes a pseudonym impossible to guess: who has it can try every value and see which
one fits. So it is in no message, model, report or request, and cannot be pickled.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Self

from shoal.core.documents import reason
from shoal.core.errors import InputError, OutputError
from shoal.core.temporary import open_private

SIZE = 32
"""Bytes of a key."""

_ANYBODY = stat.S_IRWXG | stat.S_IRWXO


def write_key(path: str | Path) -> str:
    """Make a new key file that only this user can read; return its fingerprint.

    Raises:
        OutputError: something is there already (a key is never overwritten), or the place
            cannot be written to.
    """
    place, key = Path(path), secrets.token_bytes(SIZE)
    try:
        with open(place, "xb", opener=open_private) as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise OutputError(
            where=str(place), problem="is there already; a key is never overwritten"
        ) from None
    except OSError as error:
        with suppress(OSError):  # half a key is none
            place.unlink(missing_ok=True)
        raise OutputError(where=str(place), problem=f"cannot be written: {reason(error)}") from None
    return fingerprint_of(key)


def read_key(path: str | Path) -> bytes:
    """Return the key of a file.

    Raises:
        InputError: there is no such file, others can read it, or it is not a key.
    """
    place = Path(path)
    try:
        with open(place, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(where=str(place), problem="is not a file; name a key file")
            if os.name == "posix" and stat.S_IMODE(about.st_mode) & _ANYBODY:
                raise InputError(
                    where=str(place),
                    problem="others can read this key; make it yours alone with chmod 600, or make "
                    "a new one if somebody may have read it",
                )
            key = file.read(SIZE + 1)
    except OSError as error:
        raise InputError(where=str(place), problem=f"no key: {reason(error)}") from None
    if len(key) != SIZE:
        raise InputError(
            where=str(place),
            problem=f"not a key: a key file has {SIZE} bytes; make one with shoal key FILE",
        )
    if len(set(key)) < SIZE // 4:
        raise InputError(
            where=str(place),
            problem="not a key: its bytes are not random; make one with shoal key FILE",
        )
    return key


def fingerprint_of(key: bytes) -> str:
    """Return 16 digits that tell keys apart and say nothing of the key."""
    return hmac.digest(key, b"shoal/1/fingerprint", "sha256")[:8].hex()


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one release: the project's, and one that is thrown away with the release.

    Attributes:
        project: the key of a file; None: there is none.
        release: random, and known to nobody once the release is made.
    """

    project: bytes | None = field(default=None, repr=False)
    release: bytes = field(default_factory=lambda: secrets.token_bytes(SIZE), repr=False)

    @classmethod
    def of(cls, path: str | Path | None) -> Self:
        """Return the keys of a release with this key file."""
        return cls(None if path is None else read_key(path))

    def derived(self, purpose: str, domain: str, *, fresh: bool) -> bytes:
        """Return the key of one purpose and domain: other domains' keys cannot be told from it."""
        key = self.release if fresh else self.project
        if key is None:
            raise InputError(where="--key", problem="needed; make a key with shoal key FILE")
        # Lengths first: no two pairs of words give the same bytes.
        words = [word.encode("utf-8", "surrogatepass") for word in (purpose, domain)]
        joined = b"".join(len(word).to_bytes(4, "big") + word for word in words)
        return hmac.digest(key, b"shoal/1/" + joined, "sha256")

    def __reduce__(self) -> NoReturn:
        raise TypeError("keys are not pickled")
