"""The folder that the page may read and write, and nothing outside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.core.documents import Document, Json, reason
from shoal.core.errors import InputError, OutputError
from shoal.core.temporary import beside, flush, publish
from shoal.reports.profile import profile_names

ENDINGS = (
    ".csv", ".csv.gz", ".csv.zst", ".tsv", ".txt", ".parquet", ".jsonl", ".ndjson", ".arrow",
    ".feather", ".ipc", ".xlsx", ".sav", ".dta", ".sas7bdat",
)  # fmt: skip
"""Files that are offered as tables."""
MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder that the page was started in.

    Guarantee:
        Every place that `below` returns lies in the folder, wherever links and dots lead.
    """

    root: Path

    @classmethod
    def at(cls, place: str | Path) -> Folder:
        """Return a folder by its place."""
        return cls(Path(place).resolve())

    def below(self, place: object) -> Path:
        """Return where a place below the folder is.

        Raises:
            InputError: it leads out of the folder, or is no place at all.
        """
        text = str(place)
        if not text or "\x00" in text or "://" in text:
            raise InputError(where="place", problem="is no file below the folder of the page")
        try:
            found = (self.root / text).resolve()
        except (OSError, RuntimeError):  # links that go round in circles
            found = Path("/")
        if found != self.root and self.root not in found.parents:
            raise InputError(
                where="place",
                problem="lies outside the folder that the page was started in; start it there",
            )
        return found

    def writable(self, place: object) -> Path:
        """Return where something is to be written below the folder; its own folder is made.

        Raises:
            InputError: it leads out of the folder.
            OutputError: its folder cannot be made.
        """
        found = self.below(place)
        try:
            found.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise OutputError(where=str(place), problem=reason(error)) from None
        return found

    def name(self, place: Path) -> str:
        """Return how a place is written in documents and commands: from the folder on."""
        return place.relative_to(self.root).as_posix()

    def tables(self) -> list[str]:
        """Return the names of files that may hold tables."""
        found: list[str] = []
        for place in self._walk(self.root, depth=3):
            if place.name.lower().endswith(ENDINGS) and not place.name.startswith("."):
                found.append(self.name(place))
            if len(found) >= MOST_LISTED:
                break
        return sorted(found, key=lambda name: (name.count("/"), name))

    def _walk(self, folder: Path, *, depth: int) -> Iterator[Path]:
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return
        for place in entries:
            if place.is_symlink() or place.name.startswith("."):
                continue
            if place.is_file():
                yield place
            elif depth and place.is_dir():
                yield from self._walk(place, depth=depth - 1)

    def check_places(self, *documents: Document) -> None:
        """Refuse a request, or a report, that reads or writes outside the folder.

        Raises:
            InputError: some place lies outside, or is none.
        """
        for document in documents:
            for place in places_in(document):
                if not isinstance(place, str):
                    raise InputError(where="request", problem="names what is no file; name one")
                self.below(place)

    def check(self, document: Json, *, beside: Path) -> None:
        """Refuse a schema whose hierarchies are read from files outside the folder.

        beside: the folder that the schema's own places start from.

        Raises:
            InputError: some place lies outside.
        """
        columns = document.get("columns") if isinstance(document, dict) else None
        for entry in columns.values() if isinstance(columns, dict) else ():
            tree = entry.get("hierarchy") if isinstance(entry, dict) else None
            if isinstance(tree, str):
                self.below(beside / tree)


PLACES = (
    "key", "nested_in", "ledger", "after", "false_records", "counterfeit_table", "out", "model",
    "class_file", "person_file", "population", "budget",
)  # fmt: skip
"""What in a request, its output, its checks and a report is a place; a test holds it to be all."""


def places_in(document: Document) -> Iterator[Json]:
    """Yield every place that a request of a release, or a report, reads or writes."""
    for name, value in document.items():
        if name in PLACES and value is not None:
            yield value
        elif name == "inputs" and isinstance(value, list):
            yield from value
        elif name == "profile" and value not in profile_names():
            yield value
        elif name in ("output", "checks") and isinstance(value, dict):
            yield from places_in(value)


def write_text(place: Path, text: str) -> None:
    """Write a small file, all or nothing, readable by its owner only.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with beside(place, ending=place.suffix) as temporary:
            temporary.write_text(text, encoding="utf-8")
            flush(temporary)
            publish(temporary, place, private=not place.exists())
    except OSError as error:
        problem = f"cannot be written: {reason(error)}"
        raise OutputError(where=place.name, problem=problem) from None


def digest(place: Path) -> str:
    """Return the SHA-256 of a file; empty: there is none."""
    try:
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        raise OutputError(where=place.name, problem="cannot be read") from None
