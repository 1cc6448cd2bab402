"""JSON and YAML documents: bounded, without duplicate keys, without code.

JSON needs the standard library alone. YAML needs PyYAML, which is loaded only
when YAML is really read or written, so that the core stays free of dependencies.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from shoal.core.errors import InputError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a JSON document can hold."""
Document: TypeAlias = dict[str, Json]
"""A JSON object: schemas, models, requests and reports are written as one."""

MOST_BYTES = 64 * 2**20


def read_document(path: str | Path, *, most_bytes: int = MOST_BYTES) -> object:
    """Read one JSON or YAML file; its ending says which.

    What it holds is for the reader to check: YAML knows dates, and keys that are no texts.

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


def parse_json(text: str, *, where: str) -> Json:
    """Parse JSON; a key that stands twice in one object is refused."""

    def once(pairs: list[tuple[str, Json]]) -> Document:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InputError(where=where, problem=_twice([key for key, _ in pairs]))
        return found

    try:
        document: Json = json.loads(text, object_pairs_hook=once)
        return document
    except json.JSONDecodeError as error:
        raise InputError(
            where=where, problem=f"not JSON (line {error.lineno}); mend it there"
        ) from None
    except InputError:
        raise
    except ValueError:  # such as a number of thousands of digits
        raise InputError(where=where, problem="holds a number that cannot be read") from None
    except RecursionError:
        raise InputError(where=where, problem="nested too deeply") from None


def parse_yaml(text: str, *, where: str) -> object:
    """Parse YAML as plain data; a key that stands twice in one mapping is refused."""
    try:
        import yaml
    except ImportError:
        raise InputError(
            where=where, problem="reading YAML needs PyYAML; install it or write JSON instead"
        ) from None

    class Loader(yaml.SafeLoader):
        """A safe loader of its own, so that no other user of PyYAML sees our rule."""

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[object, object]:
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
        text = f"not YAML{line}; look there, and above it, for an open bracket or quote, or spaces"
        raise InputError(where=where, problem=text) from None
    except InputError:
        raise
    except ValueError:  # such as the 99th of a month
        raise InputError(
            where=where, problem="holds a number or date that cannot be read"
        ) from None
    except RecursionError:
        raise InputError(where=where, problem="nested too deeply") from None


def as_json(value: object) -> Json:
    """Return plain data as a document holds it: tuples as lists, enums as their texts.

    Raises:
        TypeError: it is nothing that JSON knows.

    Example:
        >>> as_json({"levels": ("month", "year")})
        {'levels': ['month', 'year']}
    """
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):  # subclasses too: writers of YAML do not know them
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")


def to_yaml(document: Json) -> str:
    r"""Write a document as YAML; as JSON, which is YAML too, where PyYAML is not installed.

    Law:
        `parse_yaml` reads the same document back.

    Example:
        >>> to_yaml({"k": 5, "columns": {"zip": {"role": "quasi"}}})
        'k: 5\ncolumns:\n  zip:\n    role: quasi\n'
    """
    try:
        import yaml
    except ImportError:
        return json.dumps(document, indent=2) + "\n"

    class Dumper(yaml.SafeDumper):
        """A part that stands twice is written twice: `&id001` is not for people."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    def scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        # PyYAML folds the rarer line breaks into spaces unless they stand in double quotes.
        style = None if text.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, scalar)
    text: str = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _twice(keys: list[str]) -> str:
    again = sorted(key for key, times in Counter(keys).items() if times > 1)
    named = ", ".join(repr(key) for key in again)
    return f"named twice: {named}; keep one of them"
