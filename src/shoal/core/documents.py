"""Reading JSON and YAML documents: bounded, without duplicate keys, without code.

JSON needs the standard library alone. YAML needs PyYAML, which is loaded only
when a YAML file is really read, so that the core stays free of dependencies.
"""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

from shoal.core.errors import InputError

MOST_BYTES = 64 * 2**20
MOST_DEPTH = 60


def read_document(path: str | Path, *, most_bytes: int = MOST_BYTES) -> Any:
    """Read one JSON or YAML file, told apart by its ending.

    Raises:
        InputError: no such file, too large, not UTF-8, not well-formed, or a key twice.
    """
    place = Path(path)
    text = read_text(place, most_bytes=most_bytes)
    if place.suffix.lower() == ".json":
        return parse_json(text, where=str(path))
    return parse_yaml(text, where=str(path))


def read_text(path: str | Path, *, most_bytes: int = MOST_BYTES) -> str:
    """Return a small file as text; a byte-order mark is dropped."""
    place = Path(path)
    try:
        if place.stat().st_size > most_bytes:
            raise InputError(where=str(path), problem=f"larger than {most_bytes // 2**20} MiB")
        return place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(where=str(path), problem=reason(error)) from None
    except UnicodeDecodeError:
        raise InputError(
            where=str(path), problem="not UTF-8 text; save it as UTF-8 and try again"
        ) from None


def reason(error: OSError) -> str:
    """Say in a few words why the operating system refused, and what helps."""
    number = error.errno
    if number is None:  # Polars keeps the number in its text
        found = re.search(r"os error (\d+)", str(error))
        number = int(found[1]) if found else None
    if number is None:
        return type(error).__name__.lower()
    advice = {
        errno.ENOSPC: "; free some space",
        errno.EFBIG: "; free some space, or raise the limit on file sizes",
        errno.EACCES: "; choose another folder, or ask for the right to it",
        errno.EROFS: "; choose another folder",
        errno.ENOTDIR: "; choose another folder",
        errno.ENOENT: "; check the path",
    }
    return os.strerror(number).lower() + advice.get(number, "")


def parse_json(text: str, *, where: str) -> Any:
    """Parse JSON; a key that stands twice in one object is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InputError(where=where, problem=_twice([key for key, _ in pairs]))
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(where=where, problem=f"not JSON (line {error.lineno})") from None
    except InputError:
        raise
    except ValueError:  # such as a number of thousands of digits
        raise InputError(where=where, problem="holds a number that cannot be read") from None
    except RecursionError:
        raise InputError(where=where, problem="nested too deeply") from None


def parse_yaml(text: str, *, where: str) -> Any:
    """Parse YAML as plain data; a key that stands twice in one mapping is refused."""
    try:
        import yaml
    except ImportError:
        raise InputError(
            where=where, problem="reading YAML needs PyYAML; install it or write JSON instead"
        ) from None

    class Loader(yaml.SafeLoader):
        """A safe loader of its own, so that no other user of PyYAML sees our rule."""

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
        if any(isinstance(key, (list, dict)) for key in keys):
            raise InputError(where=where, problem="a key must be a plain name")
        if len(set(keys)) != len(keys):
            raise InputError(where=where, problem=_twice([str(key) for key in keys]))
        loader.flatten_mapping(node)
        return {
            loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
            for key, value in node.value
        }

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark is not None else ""
        raise InputError(where=where, problem=f"not YAML{line}") from None
    except InputError:
        raise
    except ValueError:  # such as the 99th of a month
        raise InputError(
            where=where, problem="holds a number or date that cannot be read"
        ) from None
    except RecursionError:
        raise InputError(where=where, problem="nested too deeply") from None


def _twice(keys: list[str]) -> str:
    seen: set[str] = set()
    again = sorted({key for key in keys if key in seen or seen.add(key)})  # type: ignore[func-returns-value]
    named = ", ".join(repr(key) for key in again)
    return f"named twice: {named}; keep one of them"
