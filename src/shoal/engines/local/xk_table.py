"""A table opened for xk-anonymity: read, unified, counted, and treated record by record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError, NoSolutionError, UnknownValueError
from shoal.engines.local.copies import Exposure, exposure_of
from shoal.engines.local.frequencies import Frequencies, frequencies
from shoal.engines.local.order import order_of
from shoal.engines.local.persons import Person, present, repeating
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.steps import StepFiles, StepTable
from shoal.engines.local.unify import refuse_nested, unified
from shoal.engines.person_key import PERSON, WHO, person_key, repeated_persons, with_who
from shoal.engines.refusals import check_columns
from shoal.measures.risk.persons import Repeats
from shoal.methods.xk.candidates import PairCounts, Prediction
from shoal.methods.xk.choices import Choices, asked_diversity, check_k
from shoal.methods.xk.frontier import ranked_ways, thresholds, work_out
from shoal.methods.xk.outcome import tally_of
from shoal.methods.xk.pipeline import Carried, Plan, Techniques, carry_out
from shoal.methods.xk.ranking import preference_of
from shoal.methods.xk.recommendation import Criteria, Recommendation, recommend_by
from shoal.methods.xk.rows import BLANK, Rows, pairs_of, rows_of
from shoal.methods.xk.steps import EMPTY_MARKS, diversify, undiverse_pairs
from shoal.schema.schema import Schema

_ROW = "\x00row"


@dataclass(frozen=True)
class Opened:
    """A table read, unified and counted."""

    source: Source
    schema: Schema  # fitted to the table, without a promise
    schema_asked: Schema
    choices: Choices
    diversity: dict[str, int]
    batch: pl.DataFrame
    counted: Frequencies
    row: NDArray[np.int64] = field(repr=False)  # of each record, in the rows that are treated
    person: Person | None = None
    who: pl.DataFrame | None = field(default=None, repr=False)  # PERSON and WHO of each record

    @classmethod
    def read(
        cls, table: object, schema: Schema, k: int, choices: Choices, separator: str | None
    ) -> Opened:
        """Read a table and count its pairs; refuse what xk-anonymity cannot keep."""
        if schema.trajectories:
            problem = "xk-anonymity judges records, and a pseudonym links all of a person's; "
            raise MethodError(problem=problem + "leave the pseudonym of the person out")
        check_k(schema, k, choices)
        diversity = asked_diversity(schema, choices)
        source = open_source(table, separator=separator)
        fitted = replace(schema, privacy=()).fit(source.columns, where=source.where)
        if not fitted.quasi:
            raise InputError(
                where="schema", problem="no quasi-identifier; name the columns to recode (--qi a,b)"
            )
        coded = [*fitted.quasi, *fitted.sensitive]
        columns = [name for name in source.columns if name in fitted.released]
        check_columns(source.where, source.columns, fitted.person)
        found = None if fitted.person else repeating(source, fitted)
        more = list(fitted.person) if found is None else [found[0]]
        whole = source.collect(source.scan([*columns, *more], coded=coded))
        person = None
        if found is not None:
            who = whole.select(present(pl.col(found[0]), schema.missing)).to_series()
            person = Person(*found, who)
        batch = whole.select(columns)
        refuse_nested(batch)
        marks = choices.marks
        marks = (*EMPTY_MARKS, *schema.missing) if marks is None else marks
        batch = unified(batch, coded, marks)
        persons = _persons(whole, fitted, marks) if fitted.person else None
        beside = batch if persons is None else batch.with_columns(persons)
        counted = frequencies(source, beside.lazy(), fitted, sensitive=list(diversity))
        _check_values(counted, diversity, blank=choices.techniques.sensitive_suppression)
        return cls(
            source=source, schema=fitted, schema_asked=schema, choices=choices,
            diversity=diversity, batch=batch, counted=counted, row=counted.rows_of(beside),
            person=person, who=persons,
        )  # fmt: skip

    def repeats(self, rows: Rows, k: int) -> Repeats | None:
        """Count the people of the released pairs, where an identifying column repeats."""
        if self.person is None:
            return None
        pair = np.unique(rows.codes, axis=0, return_inverse=True)[1].reshape(-1)
        labels = np.where(rows.kept, pair, -1)[self.row]
        return self.person.repeats(labels, k)

    def recommend(self, k: int) -> Recommendation:
        """Recommend a threshold, with every technique worked out beside it."""
        found = self.rank(k)
        also = [c.xk for c in (found.recommended, found.alternative) if c is not None]
        ranges = {self._may_blank(): found, not self._may_blank(): self._other_ranges(found)}

        def xks(techniques: Techniques) -> list[int]:
            first = 1 if techniques.sensitive_suppression else found.criteria.diversity
            return thresholds(k, first=min(first, k), also=also)

        def foreseen(techniques: Techniques, xk: int) -> Prediction | None:
            paper = ranges[techniques.sensitive_suppression]
            return None if paper is None else paper.prediction(xk)

        ways = work_out(
            self._rows_if_any,
            lambda techniques, xk: self._plan(techniques, k, xk),
            xks,
            columns=len(self.batch.columns),
        )
        return replace(
            found,
            ways=ranked_ways(ways, found.criteria.preference, predict=foreseen),
            techniques=self.choices.techniques.label,
            notices=self._refusals(k, found.recommended.xk),
        )

    def rank(self, k: int) -> Recommendation:
        """Recommend a threshold from the sizes of the pairs."""
        asked = self.choices
        criteria = Criteria(
            quasi=len(self.schema.quasi),
            columns=len(self.batch.columns),
            diversity=max(self.diversity.values(), default=1),
            sensitive_suppression=self._may_blank(),
            blanked=self._blanked() if self._may_blank() else 0,
            preference=preference_of(asked.preference),
            minimum_precision=asked.minimum_precision,
            unit=self._rows(Techniques()).unit,
        )
        reached = None if asked.techniques == Techniques() else partial(self._reached, k)
        return self._ranked(criteria, k, reached)

    def _ranked(
        self, criteria: Criteria, k: int, reached: Callable[[int], Fraction | None] | None
    ) -> Recommendation:
        rows = self._rows(Techniques())
        poor: PairCounts | None = None
        if self.diversity:
            poor = undiverse_pairs(rows, self.diversity)
        return recommend_by(
            criteria,
            pairs_of(rows).sizes(),
            k=k,
            undiverse=poor,
            reached=reached,
        )

    def _other_ranges(self, found: Recommendation) -> Recommendation | None:
        """Return the paper's word on the other treatment of pairs that are not diverse."""
        blank = not self._may_blank()
        if blank and not self.diversity:
            return None
        criteria = replace(
            found.criteria,
            sensitive_suppression=blank,
            blanked=self._blanked() if blank else 0,
            minimum_precision=None,
        )
        with suppress(NoSolutionError):
            return self._ranked(criteria, found.k, None)
        return None

    def _may_blank(self) -> bool:
        return self.choices.techniques.sensitive_suppression

    def _blanked(self) -> int:
        rows = self._rows(Techniques(sensitive_suppression=True))
        empty = diversify(rows, self.diversity, blank=True).sensitive == BLANK
        return int(rows.counts @ (empty & (rows.sensitive != BLANK)).sum(axis=1))

    def _reached(self, k: int, xk: int) -> Fraction | None:
        """Return the share of precision that the techniques that were asked for reach."""
        with suppress(NoSolutionError):
            carried = self.carry_out(k, xk)
            return tally_of(carried, columns=len(self.batch.columns)).share
        return None

    def _plan(self, techniques: Techniques, k: int, xk: int) -> Plan:
        return replace(self.choices, techniques=techniques).plan(self.schema_asked, k=k, xk=xk)

    def _rows(self, techniques: Techniques) -> Rows:
        grouped: Sequence[str] = ()
        if techniques.generalization:
            named = self.choices.generalized
            grouped = self.schema.quasi if named is None else [named]
        return rows_of(
            self.counted.table,
            level=self.choices.level,
            grouped=grouped,
            blank=techniques.sensitive_suppression,
        )

    def _rows_if_any(self, techniques: Techniques) -> Rows | None:
        """Return the rows for a technique; None where this table has nothing it could change."""
        if techniques.sensitive_suppression and not self.diversity:
            return None
        if techniques != self.choices.techniques and techniques.generalization:
            with suppress(UnknownValueError):
                rows = self._rows(techniques)
                return rows if any(column.has_groups for column in rows.columns) else None
            return None
        return self._rows(techniques)

    def exposure(self, rows: Rows, k: int) -> Exposure:
        """Return how far false records can be distinguished from the released originals."""
        row = self.row
        kept = np.flatnonzero(rows.kept[row])
        records = self._recoded(rows, kept, row[kept])
        who = None if rows.persons is None or self.who is None else self.who[WHO][kept]
        return exposure_of(
            rows, records=records, row=row[kept], quasi=self.schema.quasi, k=k, who=who
        )

    def _refusals(self, k: int, xk: int) -> tuple[str, ...]:
        """Say which columns would be refused if a threshold were carried out."""
        with suppress(NoSolutionError):
            faults = self.exposure(self.carry_out(k, xk).after, k).faults(self.schema_asked.waive)
            return tuple(f"It would be refused: {fault}." for fault in faults)
        return ()

    def carry_out(self, k: int, xk: int, *, seed: int = 0, steps: Path | None = None) -> Carried:
        """Carry out the techniques that were asked for."""
        techniques = self.choices.techniques
        plan = self._plan(techniques, k, xk)
        rows = self._rows(techniques)
        if steps is None:
            return carry_out(rows, plan, seed=seed)
        trail = StepFiles.make(steps)
        return carry_out(
            rows,
            plan,
            seed=seed,
            trail=lambda name, now: trail.write(name, now, self.release(now, seed=seed)),
        )

    def release(self, rows: Rows, *, seed: int) -> StepTable:
        """Return the records as they stand, in the order of their values, and their marks."""
        source, is_false = self._records(rows, seed=seed)
        row = self.row[source]
        frame = self._recoded(rows, source, row)
        order = order_of(frame, last=is_false)
        texts = frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
        people = None
        if self.who is not None:
            people = self.who[PERSON][source].set(pl.Series(is_false), None)[order]
        return StepTable(texts[order], is_false[order], rows.marked[row][order], people)

    def _records(self, rows: Rows, *, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the records that are kept, false ones last, and which of them are false."""
        copied = self._copied(self.row, np.where(rows.kept, rows.false, 0), seed=seed)
        source = np.concatenate((np.flatnonzero(rows.kept[self.row]), copied))
        is_false = np.zeros(len(source), dtype=np.bool_)
        is_false[len(source) - len(copied) :] = True
        return source, is_false

    def _copied(
        self, row: NDArray[np.int64], false: NDArray[np.int64], *, seed: int
    ) -> NDArray[np.int64]:
        """Return the records that false ones copy, `false[r]` of them from row r."""
        at = np.flatnonzero(false[row])
        others = [name for name in self.batch.columns if name not in self.schema.quasi]
        # Records of a row are put in the order of their other values first, so that the
        # order of the table has no say in which of them is copied.
        texts = [self.batch[name][at].cast(pl.String) for name in others]
        frame = pl.DataFrame([pl.Series(_ROW, row[at]), *texts])
        order: NDArray[np.uint32] = (
            frame.select(pl.arg_sort_by(frame.columns)).to_series().to_numpy()
        )
        at = at[order]
        rows, starts, sizes = np.unique(row[at], return_index=True, return_counts=True)
        which = np.repeat(np.arange(len(rows)), false[rows])
        random = np.random.default_rng([seed, 1])  # not the stream that chose the rows
        drawn: NDArray[np.int64] = at[starts[which] + random.integers(0, sizes[which])]
        return drawn

    def _recoded(
        self, rows: Rows, source: NDArray[np.int64], row: NDArray[np.int64]
    ) -> pl.DataFrame:
        columns = []
        for name in self.batch.columns:
            if name in self.schema.quasi:
                place = rows.place(name)
                labels = rows.columns[place].labels
                texts = pl.Series(sorted({text for text in labels if text is not None}))
                known = pl.Series(name, labels, dtype=pl.Enum(texts))
                columns.append(known[rows.codes[row, place]])
                continue
            series = self.batch[name][source]
            if name in rows.sensitive_names:
                blank = rows.sensitive[row, rows.sensitive_names.index(name)] == BLANK
                if blank.any():
                    series = series.set(pl.Series(blank), None)
            columns.append(series)
        return pl.DataFrame(columns)


def _check_values(counted: Frequencies, diversity: Mapping[str, int], *, blank: bool) -> None:
    for domain in counted.table.sensitive_domains:
        wanted = diversity[domain.name]
        values = len(domain) - (1 if blank and domain.has_missing else 0)
        if wanted > values:
            raise NoSolutionError(
                problem=f"column {domain.name!r} has {values} different values, so no pair "
                f"can have l = {wanted}; ask for at most {values}"
            )


def _persons(table: pl.DataFrame, schema: Schema, marks: Sequence[str]) -> pl.DataFrame:
    """Return who each record is about: the key as a text, and its code; see `person_key`."""
    keys = table.lazy().select(person_key(schema.person, marks))
    repeated = repeated_persons(keys).collect()
    return with_who(keys, repeated).select(PERSON, WHO).collect()
