"""Attacks carried out on an original table and its release, read with Polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.local.attack_tables import (
    CLASS,
    KEY,
    ROWS,
    ReleasedClasses,
    cells_of,
    coded_texts,
    key_of,
    meanings,
    texts_of,
)
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.register_attack import CloseReader
from shoal.engines.local.source import Source
from shoal.engines.refusals import check_columns
from shoal.measures.attacks import linkage as link
from shoal.measures.attacks import minimality as minimal
from shoal.measures.attacks import order as rows
from shoal.measures.attacks import spread
from shoal.measures.attacks.match import label_distances
from shoal.measures.attacks.result import AttackResult, Comparison
from shoal.measures.attacks.singling_out import singling_out
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Attribute, Role, Schema
from shoal.table.frequency import FrequencyTable

TARGETS = 2000
_MOST_ORDER = 20_000


@dataclass(frozen=True)
class Attacker:
    """Somebody who holds a release, and the original to be scored by.

    Attributes:
        schema: quasi-identifiers, sensitive columns and their hierarchies.
        seed: chooses the targets.
        targets: how many people are attacked; all are when there are fewer.
        centroids: the release holds centroids, which cover nothing: look for the nearest.

    Guarantee:
        Results hold shares and counts; no value of either table leaves.
    """

    original: Source
    release: Source
    schema: Schema
    seed: int = 0
    targets: int = TARGETS
    centroids: bool = False

    def __post_init__(self) -> None:
        for source in (self.original, self.release):
            check_columns(source.where, source.columns, self.schema.quasi)
        if not self.schema.quasi:
            raise InputError(where="schema", problem="no quasi-identifier; name them (--qi a,b)")

    @cached_property
    def table(self) -> FrequencyTable:
        """Return the original's distinct quasi-identifier tuples."""
        quasi = list(self.schema.quasi)
        plain = replace(self.schema, privacy=(), target=None)
        lazy = self.original.scan(quasi, coded=quasi)
        return frequencies(self.original, lazy, plain, sensitive=()).table

    @cached_property
    def _released(self) -> ReleasedClasses:
        return ReleasedClasses.read(self.release, self.schema.quasi)

    @cached_property
    def _as_it_was(self) -> ReleasedClasses:
        """The original as if it were released: every distinct tuple a class."""
        table = self.table
        labels = [list(domain.labels) for domain in table.domains]
        return ReleasedClasses(labels, table.codes.astype(np.int64), table.counts)

    def linkage(
        self,
        register: Source | None = None,
        *,
        key: str | None = None,
        columns: Sequence[str] | None = None,
        errors: bool = False,
    ) -> Comparison:
        """Link people from outside with the records.

        Args:
            register: an outside table with some of the quasi-identifiers; by default the
                attacker knows the original's own values.
            key: the column that says who is who in the register and in the original. It
                serves to score the attack; the attacker does not use it.
            columns: the quasi-identifiers that the attacker knows; by default all there are.
            errors: the register may be wrong: take the nearest records.
        """
        asked = self.schema.quasi if columns is None else tuple(columns)
        names = [name for name in self.schema.quasi if name in asked]
        if not names:
            raise InputError(where="attack", problem="the attacker knows no quasi-identifier")
        if register is None:
            known, true = self._own_targets()
        else:
            names = [name for name in names if name in register.columns]
            known, true = self._outside_targets(register, names, key)
        before = self._link(self._as_it_was, names, known, true, errors=errors)
        near = errors or self.centroids
        after = self._link(self._released, names, known, true, errors=near)
        return Comparison(before=before, after=replace(after, attack=before.attack))

    def _own_targets(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        table = self.table
        random = np.random.default_rng(self.seed)
        number = min(self.targets, table.records)
        records = np.sort(random.choice(table.records, size=number, replace=False))
        chosen = np.searchsorted(np.cumsum(table.counts), records, side="right")
        frame = pl.DataFrame(
            {
                domain.name: pl.Series(list(domain.labels), dtype=pl.String).gather(
                    table.codes[chosen, j].astype(np.int64)
                )
                for j, domain in enumerate(table.domains)
            }
        )
        return frame, frame

    def _outside_targets(
        self, register: Source, names: list[str], key: str | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        if not names:
            raise InputError(where=register.where, problem="has none of the quasi-identifiers")
        if key is None or key not in register.columns or key not in self.original.columns:
            raise InputError(
                where=register.where, problem="needs a key column that the original has too (--key)"
            )
        asked = list(dict.fromkeys([*names, key]))
        known = register.collect(register.scan(asked).select(*texts_of(names), key_of(key)))
        truth = self.original.collect(
            self.original.scan(list(dict.fromkeys([*self.schema.quasi, key]))).select(
                *texts_of(self.schema.quasi), key_of(key)
            )
        )
        truth = truth.unique(KEY, keep="first", maintain_order=True)
        known = known.filter(pl.col(KEY).is_not_null()).unique(
            KEY, keep="first", maintain_order=True
        )
        both = known.select(KEY).join(truth.select(KEY), on=KEY, how="inner").sort(KEY)
        if not both.height:
            raise InputError(where=register.where, problem="nobody in it is in the original")
        number = min(self.targets, both.height)
        random = np.random.default_rng(self.seed)
        picked = both[np.sort(random.choice(both.height, size=number, replace=False))]
        return (
            picked.join(known, on=KEY, how="left", maintain_order="left"),
            picked.join(truth, on=KEY, how="left", maintain_order="left"),
        )

    def _link(
        self,
        classes: ReleasedClasses,
        names: list[str],
        known: pl.DataFrame,
        true: pl.DataFrame,
        *,
        errors: bool,
    ) -> AttackResult:
        most = link.affordable(known.height, len(classes.sizes), len(self.schema.quasi))
        same = known is true
        known, true = known.head(most), true.head(most)
        # The truth is judged on every column, what is known only on the known ones: in
        # the others every label fits.
        every = list(range(len(self.schema.quasi)))
        used = [self.schema.quasi.index(name) for name in names]
        truth = self.knowledge(classes, true, every)
        if same and used == every:
            return link.linkage(truth, truth, classes.codes, sizes=classes.sizes, errors=errors)
        partial = self.knowledge(classes, known, used)
        fits = [np.zeros((1, len(classes.labels[j])), dtype=np.float32) for j in every]
        values = np.zeros((known.height, len(every)), dtype=np.int64)
        for at, j in enumerate(used):
            fits[j] = partial.fits[at]
            values[:, j] = partial.values[:, at]
        return link.linkage(
            link.Knowledge(fits=fits, values=values),
            truth,
            classes.codes,
            sizes=classes.sizes,
            errors=errors,
        )

    def knowledge(
        self, classes: ReleasedClasses, frame: pl.DataFrame, used: Sequence[int]
    ) -> link.Knowledge:
        """Return what is known of targets in some columns, to be compared with classes."""
        fits, values = [], np.empty((frame.height, len(used)), dtype=np.int64)
        for at, j in enumerate(used):
            domain = self.table.domains[j]
            texts, codes = coded_texts(self.clean(frame[domain.name]))
            fits.append(label_distances(domain, texts, classes.labels[j]))
            values[:, at] = codes
        return link.Knowledge(fits=fits, values=values)

    def clean(self, series: pl.Series) -> pl.Series:
        """Turn the marks for a missing value into missing values."""
        marks = ["", *self.schema.missing]
        text = series.cast(pl.String).str.strip_chars()
        return text.set(text.is_in(marks), None)

    def homogeneity(self, column: str | None = None) -> Comparison:
        """Name the commonest sensitive value of a person's class."""
        before, after, _ = self._spread(column)
        return Comparison(before=spread.homogeneity(before), after=spread.homogeneity(after))

    def skewness(self, column: str | None = None) -> Comparison:
        """Bet on the value that is overrepresented in a person's class."""
        before, after, _ = self._spread(column)
        return Comparison(before=spread.skewness(before), after=spread.skewness(after))

    def similarity(self, column: str | None = None) -> Comparison:
        """Name the commonest meaning: values under one node, or numbers close together."""
        before, after, group = self._spread(column)
        return Comparison(
            before=spread.similarity(before, group), after=spread.similarity(after, group)
        )

    def background(self, known: int = 1, *, column: str | None = None) -> Comparison:
        """Rule out `known` sensitive values that a person does not have."""
        before, after, _ = self._spread(column)
        return Comparison(
            before=spread.background(before, known), after=spread.background(after, known)
        )

    def _sensitive(self, column: str | None) -> Attribute:
        name = column or next(iter(self.schema.sensitive), None)
        if name is None:
            raise InputError(where="schema", problem="no sensitive column; name one (--sensitive)")
        for source in (self.original, self.release):
            check_columns(source.where, source.columns, [name])
        return self.schema.attribute(name)

    def _spread(self, column: str | None) -> tuple[spread.Cells, spread.Cells, NDArray[np.int64]]:
        attribute = self._sensitive(column)
        quasi = self.schema.quasi
        tables = [cells_of(s, quasi, attribute.name) for s in (self.original, self.release)]
        seen = pl.concat([table[KEY] for table in tables]).unique().sort()
        number = {text: i for i, text in enumerate(seen.to_list())}
        cells = [
            spread.Cells(
                table[CLASS].to_numpy().astype(np.int64),
                np.array([number[text] for text in table[KEY].to_list()], dtype=np.int64),
                table[ROWS].to_numpy().astype(np.int64),
            )
            for table in tables
        ]
        return cells[0], cells[1], meanings(list(number), attribute)

    def minimality(self, *, k: int | None = None, l: float | None = None,  # noqa: E741
                   column: str | None = None) -> Comparison:  # fmt: skip
        """Use the knowledge that the algorithm generalizes no more than it must.

        k and l are the schema's promise by default (2 where it says nothing).
        """
        promise = {type(model): model for model in self.schema.privacy}
        asked_k, asked_l = promise.get(KAnonymity), promise.get(LDiversity)
        k = k or (asked_k.k if isinstance(asked_k, KAnonymity) else 2)
        l = l or (asked_l.l if isinstance(asked_l, LDiversity) else 2)  # noqa: E741
        merged = self._merged(self._sensitive(column).name)
        alone = [
            minimal.MergedClass(parts=(part,), holders=(held,))
            for each in merged
            for part, held in zip(each.parts, each.holders, strict=True)
        ]
        return Comparison(
            before=minimal.minimality(alone, k=k, l=l), after=minimal.minimality(merged, k=k, l=l)
        )

    def _merged(self, column: str) -> list[minimal.MergedClass]:
        """Put the original's tuples into the released classes that cover them."""
        cells = cells_of(self.original, self.schema.quasi, column)
        tuples = cells.group_by(CLASS, maintain_order=True).agg(pl.all().first())
        known = self.knowledge(
            self._released, tuples.select(self.schema.quasi), list(range(len(self.schema.quasi)))
        )
        released = link.fitting_class(known, self._released.codes, nearest=self.centroids)
        of_class = dict(zip(tuples[CLASS].to_list(), released.tolist(), strict=True))
        return minimal.merged_classes(
            (of_class[part], part, value, records)
            for part, value, records in cells.select(CLASS, KEY, ROWS).iter_rows()
            if of_class[part] >= 0
        )

    def order(self) -> Comparison:
        """Pair the tables row by row, as if the release kept the original's order."""
        quasi = list(self.schema.quasi)
        others = [
            a.name
            for a in self.schema.attributes
            if a.role in (Role.SENSITIVE, Role.NEUTRAL)
            and a.name in self.release.columns
            and a.name in self.original.columns
        ]
        frames = [
            s.collect(
                s.scan([*quasi, *others]).select(texts_of([*quasi, *others])).head(_MOST_ORDER)
            )
            for s in (self.original, self.release)
        ]
        return Comparison(
            before=self._walk(frames[0], frames[0], quasi, others, covers=False),
            after=self._walk(frames[0], frames[1], quasi, others, covers=True),
        )

    def _walk(
        self,
        original: pl.DataFrame,
        release: pl.DataFrame,
        quasi: list[str],
        others: list[str],
        *,
        covers: bool,
    ) -> AttackResult:
        fits: list[NDArray[np.bool_]] = []
        left = np.empty((original.height, len(quasi) + len(others)), dtype=np.int64)
        right = np.empty((release.height, len(quasi) + len(others)), dtype=np.int64)
        for j, name in enumerate([*quasi, *others]):
            values, left[:, j] = coded_texts(self.clean(original[name]))
            labels, right[:, j] = coded_texts(release[name])
            if covers and j < len(quasi):
                fits.append(label_distances(self.table.domains[j], values, labels) == 0)
            else:
                same = {text: i for i, text in enumerate(values)}
                table = np.zeros((len(values), len(labels)), dtype=bool)
                for at, label in enumerate(labels):
                    if label in same:
                        table[same[label], at] = True
                fits.append(table)
        return rows.order(left, right, fits, seed=self.seed)

    def closely(self, register: Source | None = None, key: str | None = None) -> list[Comparison]:
        """Read labels closely: what they print, force and infer, and whom a register proves.

        Before: whoever is alone with the quasi-identifiers, knows all of them, or is found by them.
        """
        close = self._reader(self._released)
        if not close.is_affordable:
            return []
        alone = singling_out(self._as_it_was.sizes)
        found = [
            Comparison(before=replace(alone, attack=close.printed().attack), after=close.printed()),
        ]
        coarse = close.downcoding()
        found.append(Comparison(before=replace(coarse, success=0.0, detail={}), after=coarse))
        for column in self.schema.sensitive:
            named, _, _ = self._spread(column)
            after = close.inference(column)
            before = replace(spread.homogeneity(named), attack=after.attack)
            found.append(Comparison(before=before, after=after))
        if register is not None and key is not None:
            before = self._reader(self._as_it_was).membership(register, key)
            found.append(Comparison(before=before, after=close.membership(register, key)))
        return found

    def _reader(self, classes: ReleasedClasses) -> CloseReader:
        return CloseReader(self.original, self.release, self.schema, self.table, classes)

    def singling_out(self) -> Comparison:
        """Count the records that are alone with their released quasi-identifiers."""
        return Comparison(
            before=singling_out(self._as_it_was.sizes), after=singling_out(self._released.sizes)
        )

    def three_questions(
        self, register: Source | None = None, *, key: str | None = None
    ) -> tuple[Comparison, ...]:
        """Answer the three questions: singling out, linkability and inference, in this order.

        Inference is left out where the schema names no sensitive column.
        """
        answers = [self.singling_out(), self.linkage(register, key=key)]
        if self.schema.sensitive:
            answers.append(self.homogeneity())
        return tuple(answers)

    def all(
        self, register: Source | None = None, *, key: str | None = None, known: int = 1
    ) -> tuple[Comparison, ...]:
        """Carry out every attack."""
        found = [
            self.singling_out(),
            self.linkage(register, key=key),
            self.linkage(register, key=key, errors=True),
            self.order(),
        ]
        for column in self.schema.sensitive:
            found += [
                self.homogeneity(column),
                self.similarity(column),
                self.skewness(column),
                self.background(known, column=column),
                self.minimality(column=column),
            ]
        return (*found, *([] if self.centroids else self.closely(register, key)))
