"""What stands beside a drawn file: a description that tools look for by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shoal.core.documents import reason
from shoal.core.errors import OutputError
from shoal.core.temporary import beside, flush, publish
from shoal.engines.drawing.drawing import DRAWN


@contextmanager
def described(out: str | Path | None, columns: Sequence[str]) -> Iterator[None]:
    """Write the description of a drawn file; it is published after the file, or not at all.

    A place that is no path of this machine has none: the report says it.

    Raises:
        OutputError: nothing can be written there.
    """
    if out is None or "://" in str(out):
        yield
        return
    goal = Path(str(out).rstrip("/"))
    note = goal.with_name(f"{goal.name}-metadata.json")
    try:
        with beside(note, ending=".json") as temporary:
            temporary.write_text(description(goal.name, columns), encoding="utf-8")
            flush(temporary)
            yield
            publish(temporary, note)
    except OSError as error:
        raise OutputError(where=str(note), problem=f"cannot be written: {reason(error)}") from None


def description(name: str, columns: Sequence[str]) -> str:
    """Return the metadata of a file: CSV on the Web, whose first line says that values are drawn.

    Example:
        >>> print(description("b.csv", ["x"]).splitlines()[1][:42])
          "dc:description": "The values of the rec
    """
    document = {
        "dc:description": DRAWN,
        "@context": "http://www.w3.org/ns/csvw",
        "url": name,
        "tableSchema": {"columns": [{"name": name} for name in columns]},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
