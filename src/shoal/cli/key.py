"""The command `key`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.core.secret_keys import fingerprint_of, read_key, write_key


@opt.command(
    examples="""
    # a key for pseudonyms; keep it apart from every release
    shoal key hospital.key
    shoal key hospital.key --fingerprint
    """
)
def key(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The key file.")],
    answer: opt.JsonOptions,
    fingerprint: Annotated[
        bool, typer.Option("--fingerprint", help="Make none; tell the file's key from others.")
    ] = False,
) -> int:
    """Make a secret key for pseudonyms, which only you can read."""
    mark = fingerprint_of(read_key(file)) if fingerprint else write_key(file)
    lines = [f"fingerprint {mark}"]
    if not fingerprint:
        lines.append(
            f"written: {file}. Who has it can find out who is behind a pseudonym: keep it apart "
            "from every release, and keep a copy; a lost key cannot be made again."
        )
    answer.print({"key": file, "fingerprint": mark}, "\n".join(lines))
    return 0
