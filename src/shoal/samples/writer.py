"""Put a sample on disk: table, schema and hierarchies, all of them or none.

Every file is written under a temporary name in its own folder, flushed to the disk and
then renamed; the table comes last, so that a table is never there without its schema.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from shoal.core.errors import MethodError, OutputError
from shoal.core.temporary import beside, flush, flush_folder, publish

if TYPE_CHECKING:
    import polars as pl

CHUNK = 250_000
"""Rows that are in memory at one time."""

ENDINGS = (".csv.gz", ".csv", ".parquet", ".jsonl", ".arrow")

Progress = Callable[[int], None]
"""Is called with the number of rows made so far, after every chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFiles:
    """Where the parts of a sample lie."""

    table: Path
    schema: Path
    hierarchies: tuple[Path, ...] = ()

    def all(self) -> tuple[Path, ...]:
        """Return every path, in the order in which the files appear on disk."""
        return (*self.hierarchies, self.schema, self.table)


def place(out: str | os.PathLike[str], hierarchies: Iterable[str] = ()) -> SampleFiles:
    """Return the paths of a sample whose table is `out`.

    Args:
        out: the table; its ending chooses the format.
        hierarchies: the columns that get a hierarchy file.

    Raises:
        OutputError: the ending is not one we write.

    Example:
        >>> files = place("ward.csv.gz", ["sex"])
        >>> files.schema.name, files.hierarchies[0].as_posix()
        ('ward.schema.yaml', 'ward_hierarchies/hierarchy_sex.csv')
    """
    table = Path(out)
    stem = table.name.removesuffix(_ending(table))
    folder = table.with_name(f"{stem}_hierarchies")
    return SampleFiles(
        table=table,
        schema=table.with_name(f"{stem}.schema.yaml"),
        hierarchies=tuple(folder / f"hierarchy_{column}.csv" for column in hierarchies),
    )


def check_numbers(**numbers: tuple[object, int, int]) -> None:
    """Check whole numbers, given as name=(number, smallest, largest).

    Raises:
        MethodError: with every fault in one message.

    Example:
        >>> check_numbers(records=(0, 1, 100), seed=(7, 0, 100))
        Traceback (most recent call last):
            ...
        shoal.core.errors.MethodError: records must be a whole number from 1 to 100
    """
    faults = [
        f"{name} must be a whole number from {low} to {high}"
        for name, (number, low, high) in numbers.items()
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high
    ]
    if faults:
        raise MethodError(problem="; ".join(faults))


def chunk_sizes(records: int) -> Iterator[int]:
    """Yield the number of rows of each chunk.

    Example:
        >>> list(chunk_sizes(250_001))
        [250000, 1]
    """
    for start in range(0, records, CHUNK):
        yield min(CHUNK, records - start)


def yaml_text(text: str) -> str:
    """Return `text` as a YAML scalar: as it is if that is safe, else quoted.

    Example:
        >>> print(yaml_text("a_hierarchies/b.csv"), yaml_text("my #1: file.csv"))
        a_hierarchies/b.csv "my #1: file.csv"
    """
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_./-]*", text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def write_sample(
    files: SampleFiles,
    frames: Iterable[pl.DataFrame],
    *,
    texts: Mapping[Path, str],
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SampleFiles:
    """Write the frames as one table, and the texts beside it.

    Args:
        files: where everything goes, from `place`.
        frames: the table in chunks; each is written before the next one is asked for.
        texts: content of the schema and of every hierarchy file.
        overwrite: replace files that are there already.
        progress: called after every chunk.

    Guarantee:
        If this raises, no file was changed and no temporary file is left, unless the
        renaming itself failed half-way: then each file is either the old or the new one.

    Raises:
        OutputError: a file exists already, or the place cannot be written to.
    """
    _check_place(files, overwrite)
    made = [folder for folder in {path.parent for path in files.hierarchies} if not folder.exists()]
    try:
        for folder in made:
            folder.mkdir()
        with ExitStack() as stack:
            drafts = {path: stack.enter_context(beside(path)) for path in files.all()}
            for path, draft in drafts.items():
                if path == files.table:
                    _write_table(draft, _counted(frames, progress), ending=_ending(path))
                else:
                    draft.write_text(texts[path], encoding="utf-8", newline="\n")
                flush(draft)
            for path, draft in drafts.items():
                publish(draft, path)
    except OSError as error:
        problem = error.strerror or "cannot be written"
        raise OutputError(
            where=str(files.table), problem=f"{problem}; no sample was written"
        ) from error
    finally:
        for folder in made:
            with suppress(OSError):  # a folder with files in it is meant to stay
                folder.rmdir()
    for folder in {path.parent for path in files.all()}:
        flush_folder(folder)
    return files


def _ending(table: Path) -> str:
    for ending in ENDINGS:
        if table.name.endswith(ending) and table.name != ending:
            return ending
    raise OutputError(
        where=str(table), problem=f"a sample is written to a file that ends in {', '.join(ENDINGS)}"
    )


def _check_place(files: SampleFiles, overwrite: bool) -> None:
    folder = files.table.parent
    if not folder.is_dir():
        raise OutputError(where=str(folder), problem="there is no such folder; create it first")
    for path in files.all():
        if path.is_dir():
            raise OutputError(where=str(path), problem="is a folder; choose another name")
        if not overwrite and os.path.lexists(path):
            raise OutputError(
                where=str(path),
                problem="exists already; choose another name, or allow overwriting (--overwrite)",
            )


def _counted(frames: Iterable[pl.DataFrame], progress: Progress | None) -> Iterator[pl.DataFrame]:
    done = 0
    for frame in frames:
        yield frame
        done += frame.height
        if progress is not None:
            progress(done)


def _write_table(draft: Path, frames: Iterator[pl.DataFrame], *, ending: str) -> None:
    if ending == ".csv":
        with draft.open("wb") as file:
            _write_csv(file, frames)
    elif ending == ".csv.gz":
        # Neither name nor time goes into the header: the same seed gives the same bytes.
        with draft.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            _write_csv(cast(IO[bytes], packed), frames)
    else:
        _sink(draft, frames, ending=ending)


def _write_csv(file: IO[bytes], frames: Iterator[pl.DataFrame]) -> None:
    for number, frame in enumerate(frames):
        frame.write_csv(file, include_header=number == 0, float_precision=2)


def _sink(draft: Path, frames: Iterator[pl.DataFrame], *, ending: str) -> None:
    import polars as pl
    from polars.io.plugins import register_io_source

    first = next(frames)
    faults: list[BaseException] = []

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        yield first  # the sinks ask for everything: no columns, predicate or limit to obey
        try:
            yield from frames
        except BaseException as error:  # Polars would hand on its text only
            faults.append(error)
            raise

    table = register_io_source(source, schema=first.schema)
    try:
        # An open file: by its name, Polars may make it anew after an error has removed it.
        with draft.open("wb") as file:
            if ending == ".parquet":
                table.sink_parquet(file, row_group_size=CHUNK, engine="streaming")
            elif ending == ".jsonl":
                table.sink_ndjson(file, engine="streaming")
            else:
                table.sink_ipc(file, compression="zstd", engine="streaming")
    except pl.exceptions.PolarsError as error:
        if faults:
            raise faults[0] from None
        raise OSError(None, "the table could not be written") from error
