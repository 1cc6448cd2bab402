"""The records of a local table: scanned once, counted, recoded, written, their people counted."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError
from shoal.core.secret_keys import Keys
from shoal.core.temporary import beside
from shoal.core.watch import tell
from shoal.engines.base import Checks, Classes, Compared, Output, Search
from shoal.engines.coding import with_findings
from shoal.engines.counts import CountsHere, judge_starred
from shoal.engines.drawing.drawing import Drawing
from shoal.engines.local.compare import Pair, compare_persons
from shoal.engines.local.drawn import LocalDrawn, Origin, draw_release
from shoal.engines.local.frequencies import EARLIER, Frequencies, frequencies
from shoal.engines.local.kept import check_kept
from shoal.engines.local.links import check_links
from shoal.engines.local.person_attack import Persons
from shoal.engines.local.person_file import divided, with_persons, write_persons
from shoal.engines.local.persons import repeats_of_release, with_persons_beside
from shoal.engines.local.recode import Recoder
from shoal.engines.local.replacing import Replacing
from shoal.engines.local.runs import open_release
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.verify import verify_table
from shoal.engines.local.write import all_or_nothing, write_chunks
from shoal.engines.person_key import PERSON, WHO, person_key
from shoal.formats.endings import TYPED, format_to_write, separator_for
from shoal.formats.frames import like
from shoal.inference.kept import KeptCheck
from shoal.measures.risk.persons import Repeats
from shoal.methods.coarse import learn_partitions
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

_RAW = "\x00raw"


@dataclass(frozen=True)
class LocalWritten:
    """A release that is made and not yet published; a frame or a temporary file."""

    source: Source
    table: object = None
    person: tuple[str, ...] = ()  # columns of the source that say who a record is about
    original: Callable[[], tuple[Persons, Schema]] | None = None  # where persons are counted
    recoder: Recoder | None = None  # of a release that was made of a table

    @classmethod
    def with_people(
        cls, source: Source, people: Path, recoder: Recoder | None = None
    ) -> LocalWritten:
        """Return a release in a file, with who stands behind each of its records."""
        both, names = with_persons(source, people)
        return cls(both, person=names, recoder=recoder)

    def class_numbers(self) -> NDArray[np.int64]:
        """Return the class of each record of the table, in its order; -1: it is not released."""
        if self.recoder is None:
            raise MethodError(problem="what a model encodes has no classes of its own")
        return np.concatenate(list(self.recoder.released_classes()))

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of the persons of table and release, and attack both."""
        assert self.original is not None
        original, schema = self.original()
        release = Persons(self.source, self.person)
        return compare_persons(original, release, schema, checks, centroids=centroids, seed=seed)

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Read it again, and who stands behind its records; judge it."""
        known = schema.with_person(self.person) if self.person else schema
        return verify_table(self.source, known, promise)


@dataclass(frozen=True)
class LocalRecords:
    """The records of a table, as far as a schema releases or counts them.

    Attributes:
        counted: sensitive columns that a search sees.
        coded: columns that are read dictionary-coded.
        lazy: the scan, in memory where that is possible.
        is_nested: it has the class of each record in an earlier release, too.
    """

    source: Source
    schema: Schema
    counted: tuple[str, ...]
    coded: tuple[str, ...]
    lazy: pl.LazyFrame = field(repr=False)
    replacing: Replacing = field(repr=False)
    is_nested: bool = False

    @classmethod
    def read(
        cls,
        source: Source,
        schema: Schema,
        counted: Sequence[str],
        keys: Keys,
        earlier: NDArray[np.int32] | None = None,
    ) -> LocalRecords:
        """Scan what a schema releases.

        Only the columns that are recoded may change their type; of text files, all that
        are counted come dictionary-coded, which is smaller.

        earlier: the class of each record in an earlier release, in the table's order.
        """
        coded = [*schema.quasi]
        if source.shape is not None:
            coded += [*schema.sensitive, *counted]
        replacing = Replacing.of(source, schema, keys)
        released = [c for c in source.columns if c in schema.released]
        # Where a pseudonym of the person stays, the person is known by the key itself: that of a
        # release alone is drawn anew, and would give another order and other classes each time.
        raw = {_RAW: schema.person[0]} if schema.trajectories else {}
        lazy = replacing.scan([*released, *schema.hidden_person], coded=coded, beside=raw)
        if schema.person:
            lazy = lazy.with_columns(person_key([*raw] or schema.person, schema.missing))
            lazy = with_persons_beside(source, lazy).select([*released, PERSON, WHO])
        if earlier is not None:
            lazy = with_earlier(source, lazy, earlier)
        if source.fits_memory():
            lazy = source.collect(lazy).lazy()
        is_nested = earlier is not None
        return cls(source, schema, tuple(counted), tuple(coded), lazy, replacing, is_nested)

    def check_kept(self, *, ordered: bool = False) -> KeptCheck:
        """Ask of every kept column whether it says by itself who a record is.

        ordered: the release keeps the order of the records, which may say it, too.
        """
        # A pseudonym of the person is meant to link records: trajectories are what is promised.
        kept = [name for name in self.schema.kept if name not in self.schema.person]
        found = check_kept(self.source, self.lazy, kept, self.schema.waive)
        links = check_links(self.source, self.lazy, self.schema, kept, ordered=ordered)
        return found.with_replaced(self.schema.replaced, self.replacing.found).with_links(links)

    @cached_property
    def _frequencies(self) -> Frequencies:
        return frequencies(
            self.source, self.lazy, self.schema, sensitive=self.counted, is_nested=self.is_nested
        )

    @cached_property
    def _found_out(self) -> Schema:
        """The schema with what counting found out; see `with_findings`."""
        return with_findings(self.schema, self._frequencies.coders)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the records, and who they are about, in the table's order."""
        return self.source.collect(self.lazy)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Return the row of the frequency table of each record, in the table's order."""
        return self._frequencies.rows_of(self.frame, of=self.lazy)

    def count(self) -> CountsHere:
        """Count the distinct tuples."""
        return CountsHere(self._found_out, self._frequencies.table, learn_on_threads)

    def judge_starred(self, classes: Classes, promise: Sequence[Promise]) -> Verification:
        """Judge the release with suppressed records as the root, before it is written."""
        return judge_starred(classes.recoding, self._found_out, promise)

    def _recoder(self, classes: Classes, output: Output, *, star: bool) -> Recoder:
        kind = None if output.file is None else format_to_write(Path(output.file))
        return Recoder(
            source=self.source,
            lazy=self.lazy,
            schema=self._found_out,
            counted=self._frequencies,
            recoding=classes.recoding,
            star=star,
            keep_order=output.keep_order,
            typed=kind is None or kind in TYPED,
            near=None if output.file is None else Path(output.file),
        )

    @contextmanager
    def recode(self, classes: Classes, output: Output, *, star: bool) -> Iterator[LocalWritten]:
        """Write the release; it is published at the end, if nothing was raised."""
        recoder = self._recoder(classes, output, star=star)
        inputs = (*inputs_of(self.source.given), *output.inputs)
        person = (PERSON,) if self.schema.hidden_person else ()
        if output.file is None:
            with (
                _class_file(recoder, output.class_file, inputs),
                person_place(output.person_file, inputs, is_needed=bool(person)) as people,
            ):
                released = pl.concat([chunk.whole() for chunk in recoder.chunks()])
                write_persons(released, people, is_kept=output.person_file is not None)
                table = like(released.drop(person), self.source.given)
                yield LocalWritten(
                    open_source(released), table, person, self._with_persons, recoder
                )
            return
        with (
            _class_file(recoder, output.class_file, (*inputs, output.file)),
            person_place(
                output.person_file, (*inputs, output.file), is_needed=bool(person)
            ) as people,
            all_or_nothing(output.file, inputs=inputs) as file,
        ):
            separator = separator_for(file, self.source.separator)
            # Closed at once: what was sorted on disk is removed before the release is verified.
            with closing(recoder.chunks()) as chunks:
                write_chunks(
                    divided(chunks, people) if person else chunks, file,
                    separator=separator, spreadsheet_safe=output.spreadsheet_safe,
                    expected=recoder.released, dictionary=self.source.dictionary,
                )  # fmt: skip
            tell("verify")
            if person:
                written = open_source(file, separator=separator)
                found = LocalWritten.with_people(written, people, recoder)
                yield replace(found, original=self._with_persons)
            else:
                yield LocalWritten(open_written(file, separator), recoder=recoder)

    def draw(
        self, classes: Classes, output: Output, drawing: Drawing, *, star: bool
    ) -> AbstractContextManager[LocalDrawn]:
        """Write a release whose cells are drawn; published at the end, if nothing was raised."""

        def compare(labels: Source, checks: Checks, seed: int) -> Compared:
            return self._compare_source(labels, checks, centroids=False, seed=seed)

        written = partial(self.recode, classes, star=star)
        return draw_release(Origin(self.source, self.count(), written, compare), output, drawing)

    def repeats(self, classes: Classes, k: int, *, star: bool) -> Repeats | None:
        """Count the people of the classes, where an identifying column repeats."""
        if self.schema.person:  # they are counted already, by what the user named
            return None
        recoder = self._recoder(classes, Output(), star=star)
        return repeats_of_release(recoder, self.replacing, self.coded, k)

    def compare(self, release: object, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of table and release by the same rules, and attack both."""
        made = open_source(release, separator=_separator_of(release, self.source))
        return self._compare_source(made, checks, centroids=centroids, seed=seed)

    def _compare_source(
        self, release: Source, checks: Checks, *, centroids: bool, seed: int
    ) -> Compared:
        """Measure and attack a release that is open already."""
        pair = Pair(
            whole=self.source, original=self._held(), release=release, schema=self._found_out
        )
        return pair.compare(checks, centroids=centroids, seed=seed)

    def _with_persons(self) -> tuple[Persons, Schema]:
        """Return the table with who stands behind each record, and what is known of its columns."""
        held = self._held()
        key = (PERSON,) if PERSON in held.columns else self.schema.person
        return Persons(held, key), self._found_out

    def _held(self) -> Source:
        """Return what is released of the table, in memory where it was scanned into it."""
        if not self.source.fits_memory():
            return self.source
        lazy = self.lazy.drop(EARLIER, strict=False)
        columns = tuple(lazy.collect_schema().names())
        return replace(self.source, columns=columns, frame=lazy, shape=None, path=None)


def with_earlier(source: Source, lazy: pl.LazyFrame, earlier: NDArray[np.int32]) -> pl.LazyFrame:
    """Return records with their class in an earlier release beside them.

    Raises:
        MethodError: the table does not fit memory.
    """
    if not source.fits_memory():
        raise MethodError(
            problem="--nested-in keeps the class of every record beside it, and this table does "
            "not fit memory; give more of it"
        )
    found = source.collect(lazy)
    if found.height != len(earlier):
        raise InputError(
            where=source.where, problem="changed while it was read; the earlier classes do not fit"
        )
    return found.with_columns(pl.Series(EARLIER, earlier, dtype=pl.Int32)).lazy()


@contextmanager
def person_place(
    place: str | Path | None, inputs: tuple[str | Path, ...], *, is_needed: bool
) -> Iterator[Path]:
    """Give a place for who stands behind each record, for this user alone; keep it if asked to."""
    if place is not None:
        with all_or_nothing(place, inputs=inputs, private=True) as file:
            yield file
    elif is_needed:
        with beside(Path(tempfile.gettempdir()) / "shoal-persons", ending=".csv") as file:
            yield file
    else:
        yield Path()


@contextmanager
def _class_file(
    recoder: Recoder, place: str | Path | None, inputs: tuple[str | Path, ...]
) -> Iterator[None]:
    """Write the class of every record, if a place is named; it is published at the end."""
    if place is None:
        yield
        return
    with all_or_nothing(place, inputs=inputs, private=True) as file:
        with file.open("w", encoding="ascii") as lines:
            lines.write("class\n")
            for numbers in recoder.released_classes():
                lines.write("\n".join(map(str, numbers.tolist())) + "\n")
        yield


def inputs_of(table: object) -> tuple[Path, ...]:
    """Return the file that a table is read from; it must not be overwritten."""
    return (Path(table),) if isinstance(table, (str, PathLike)) else ()


def _separator_of(release: object, source: Source) -> str:
    """Return the separator that a release was written with, where it is a file."""
    if not isinstance(release, (str, PathLike)):
        return source.separator
    return separator_for(Path(release), source.separator)


def open_written(table: object, separator: str | None) -> Source:
    """Open a table that is probably sorted; its equal lines are read once."""
    if isinstance(table, (str, Path)):
        source = open_release(Path(table), separator=separator)
        if source is not None:
            return source
    return open_source(table, separator=separator)


def learn_on_threads(table: FrequencyTable, search: Search) -> Recoding:
    """Search parts of a table on the cores of this machine, and join what was found."""
    assert search.partitions is not None

    def one(part: FrequencyTable) -> Recoding:
        return search.method.search(part, search.promise, search.alone)

    return learn_partitions(
        table, search.promise, one, coarse=search.partitions,
        suppression_limit=search.setting.suppression_limit,
    )  # fmt: skip
