"""`python -m shoal.edge encode model.json < records.jsonl > released.jsonl`.

Exit 0: done (or: safe). Exit 1: not safe. Exit 2: the question could not be asked.
"""

from __future__ import annotations

import json
import sys
from typing import IO

from shoal import edge
from shoal.core.errors import ShoalError
from shoal.model.document_types import Record

USAGE = """usage: python -m shoal.edge encode MODEL [options] < records > released
       python -m shoal.edge verify|metrics MODEL < records

Records are lines of JSON, or CSV with a header; each line comes out as one line.

  --on-unseen suppress|nearest|error   what happens to a record that no class covers
  --suppressed star|remove             how a suppressed record is released
  --format jsonl|csv   --sep C         otherwise found out from the first line
  --rejects FILE                       where bad lines go, with their number and a reason
  --json                               the counts on standard error as one JSON document
"""
_OPTIONS = ("--on-unseen", "--suppressed", "--format", "--sep", "--rejects")


def main(argv: list[str] | None = None) -> int:
    """Run one command."""
    words = sys.argv[1:] if argv is None else argv
    if not words or "-h" in words or "--help" in words:
        sys.stdout.write(USAGE)
        return 0 if words else 2
    try:
        plain, options = _parse(words)
        if len(plain) != 2 or plain[0] not in ("encode", "verify", "metrics"):
            raise ValueError("give a command and a model file")
        return _COMMANDS[plain[0]](plain[1], options)
    except BrokenPipeError:
        sys.stderr.close()
        return 2
    except (ShoalError, ValueError, OSError) as problem:
        sys.stderr.write(f"shoal.edge: {problem}\n")
        return 2


def _parse(words: list[str]) -> tuple[list[str], dict[str, str]]:
    plain: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "--json":
            options[word] = "yes"
        elif word in _OPTIONS:
            value = next(rest, None)
            if value is None:
                raise ValueError(f"{word} needs a value")
            options[word] = value
        elif word.startswith("--"):
            raise ValueError(f"{word}: no such option; see --help")
        else:
            plain.append(word)
    return plain, options


def _encode(model: str, options: dict[str, str]) -> int:
    from shoal.core.temporary import open_private
    from shoal.edge.stream import encode_stream

    encoder = edge.load(
        model,
        on_unseen=options.get("--on-unseen"),
        suppressed=options.get("--suppressed", "star"),
    )
    rejects: IO[bytes] | None = None
    place = options.get("--rejects")
    try:
        # Lines as they came in: for this user alone.
        rejects = None if place is None else open(place, "wb", opener=open_private)  # noqa: SIM115
        report = encode_stream(
            encoder,
            sys.stdin.buffer,
            sys.stdout.buffer,
            form=options.get("--format"),
            separator=options.get("--sep"),
            rejects=rejects,
            flush=True,
        )
    finally:
        if rejects is not None:
            rejects.close()
    counts = report.to_document()
    if "--json" in options:
        sys.stderr.write(json.dumps(counts) + "\n")
    elif report.rejected or report.suppressed:
        sys.stderr.write(", ".join(f"{n} {name}" for name, n in counts.items()) + "\n")
    return 0


def _records() -> list[Record]:
    text = sys.stdin.buffer.read().decode("utf-8-sig")
    if text.lstrip()[:1] == "{":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    import csv
    import io

    head = text.partition("\n")[0]
    separator = max((",", ";", "\t", "|"), key=head.count)
    return list(csv.DictReader(io.StringIO(text), delimiter=separator))


def _verify(model: str, options: dict[str, str]) -> int:
    found = edge.verify(_records(), edge.document_of(model))
    sys.stdout.write(json.dumps(found.to_document()) + "\n")
    return 0 if found.holds else 1


def _metrics(model: str, options: dict[str, str]) -> int:
    sys.stdout.write(json.dumps(edge.metrics(_records(), edge.document_of(model))) + "\n")
    return 0


_COMMANDS = {"encode": _encode, "verify": _verify, "metrics": _metrics}

if __name__ == "__main__":
    sys.exit(main())
