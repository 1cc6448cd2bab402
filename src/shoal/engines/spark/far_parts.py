"""Coarse-grained learning of a table that stays on Spark: a part is a task, its classes come home.

Tuples are divided where they are, and each part is learned by the task that gets it. Only the
classes come to the driver, where they are joined and judged on the whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from shoal.core.errors import NoSolutionError
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.dividing import Divider, Drawn, Nearest, centres_of
from shoal.engines.spark.far import Cells, Far, FarTable, assign_homes, cells_of, stand_in
from shoal.engines.spark.parts import Task
from shoal.engines.spark.piles import ROWS, Keys, Work, arrays, joined, kinds, pile
from shoal.engines.spark.source import guarded
from shoal.methods.dividing import Part, check, histograms_by_column, middle_of
from shoal.methods.lattice.space import space_of
from shoal.methods.partitions import Coarse, gather, held, learn_part
from shoal.methods.recoding import Recoding

PART_ROWS = 1_000_000  # distinct tuples of a part, where nobody says how many parts there are
_PILE = 250_000  # keys of a pile

Group = tuple[int, ...]  # parts that are learned together


class Found(NamedTuple):
    """The classes of a group of parts, without the tuples that are in them."""

    home: int
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    node: NDArray[np.int32] | None
    cells: Cells
    shared: bool
    facts: dict[str, Any]


def parts_for(rows: int, most: int) -> int:
    """Return into how many parts a table is divided where nobody says it."""
    return max(-(-rows // max(min(PART_ROWS, most), 1)), 1)


def far_parts(table: FarTable, task: Task, *, coarse: Coarse, suppression_limit: float) -> Far:
    """Divide a table on Spark, learn on every part there, and join the classes here.

    Guarantee:
        The classes are those of `parts.learn_parts` on the same table. They depend on the
        seed, not on executors, retries or the order of tasks.

    Raises:
        NoSolutionError: all records together do not keep the promise.
    """
    check(coarse.parts, coarse.how)
    work = _Parts(table, task, _divider(table, coarse))
    try:
        work.learn([(part,) for part in range(coarse.parts)])
        try:
            learned = gather(sorted(work.histograms), work.several, middle=work.middle, merge=_both)
            facts = {"partitions": len(learned), "partition_by": coarse.how}
        except NoSolutionError:  # all records together: the search itself says what is missing
            learned = work.everything()
            facts = learned[0].facts
        return work.result(learned, facts, suppression_limit)
    except BaseException:
        for frame in work.frames:
            frame.unpersist()
        raise


def _divider(table: FarTable, coarse: Coarse) -> Divider:
    if coarse.how == "random":
        return Drawn(coarse.parts, coarse.seed)
    coded = table.coded
    width = len(coded.domains)
    if coarse.parts == 1:
        return Nearest(coded.domains, np.zeros((1, width)))
    centres = centres_of(
        table.piles, coded.packing, coded.domains, tuples=table.risk.classes, coarse=coarse
    )
    return Nearest(coded.domains, centres)


def _both(one: Group, other: Group) -> Group:
    return tuple(sorted((*one, *other)))


class _Parts:
    """What is known of parts and of groups of them while they are learned."""

    def __init__(self, table: FarTable, task: Task, divider: Divider) -> None:
        self.table, self.task, self.divider = table, task, divider
        self.frames: list[DataFrame] = []
        self.found: dict[Group, Found | None] = {}
        self.histograms: dict[Group, list[NDArray[np.int64]]] = {}  # of single parts
        self.homes = 0

    def several(self, groups: Sequence[Group]) -> list[Found | None]:
        """Return what is found for groups; None where one has no solution."""
        fresh = [group for group in groups if group not in self.found]
        if fresh:
            self.learn(fresh)
        return [self.found[group] for group in groups]

    def middle(self, group: Group) -> NDArray[np.float64]:
        """Return where a group lies."""
        counts = [self.histograms[(part,)] for part in group]
        summed = [np.sum(each, axis=0) for each in zip(*counts, strict=True)]
        return middle_of(self.table.coded.domains, summed)

    def everything(self) -> list[Found]:
        """Search all parts together, whatever they keep as one class."""
        group = tuple(part for (part,) in sorted(self.histograms))
        self.learn([group], asked=False)
        found = self.found[group]
        assert found is not None
        return [found]

    def learn(self, groups: Sequence[Group], *, asked: bool = True) -> None:
        """Learn on groups, one task each; parts that nobody is in are left out."""
        coded, packing = self.table.coded, self.table.coded.packing
        home = {part: i for i, group in enumerate(groups) for part in group}
        placed = self.table.piles.select(*packing.names, ROWS).mapInArrow(
            _placer(packing, self.divider, home), f"at int, {kinds(packing)}"
        )
        made = placed.repartitionById(len(groups), "at").mapInArrow(
            _learner(self.task, packing, self.homes, asked=asked),
            f"home int, {kinds(packing)}, labels binary, found binary",
        )
        made = made.persist(StorageLevel.MEMORY_AND_DISK)
        self.frames.append(made)
        with guarded(coded.source.where):
            told = made.where(F.col("found").isNotNull()).select("home", "found").toArrow()
        answers = zip(
            told.column("home").to_pylist(), told.column("found").to_pylist(), strict=True
        )
        for number, blob in answers:
            group = groups[number - self.homes]
            histograms, found = pickle.loads(blob)
            if len(group) == 1:
                self.histograms[group] = histograms
            self.found[group] = found
        self.homes += len(groups)

    def result(self, learned: Sequence[Found], facts: dict[str, Any], limit: float) -> Far:
        """Join the classes of all groups; those that break the promise now are mended."""
        learned = sorted(learned, key=lambda found: found.home)
        offsets = np.cumsum([0, *(len(found.low) for found in learned)]).tolist()
        labels = [
            np.where(found.cells.label < 0, -1, found.cells.label + offset)
            for found, offset in zip(learned, offsets[:-1], strict=True)
        ]
        cells = Cells(
            np.concatenate(labels),
            np.concatenate([found.cells.sensitive for found in learned]),
            np.concatenate([found.cells.counts for found in learned]),
        )
        boxes = tuple(np.concatenate(each) for each in zip(*(f[1:3] for f in learned), strict=True))
        nodes = [found.node for found in learned if found.node is not None]
        node, domains = None, None
        if len(nodes) == len(learned):  # a lattice search gives every column a ladder
            node, domains = np.concatenate(nodes), space_of(self.table.hollow).table.domains
        whole, final = stand_in(
            self.table, (boxes[0], boxes[1]), cells, node=node, domains=domains, facts=facts
        )
        spans = {f.home: (a, b) for f, a, b in zip(learned, offsets, offsets[1:], strict=False)}
        rows = [frame.where(F.col("found").isNull()) for frame in self.frames]
        piles = rows[0]
        for more in rows[1:]:
            piles = piles.unionByName(more)

        def assign(numbers: NDArray[np.int64]) -> DataFrame:
            of_homes = {h: np.append(final[a:b], -1) for h, (a, b) in spans.items()}
            known = {home: numbers[classes] for home, classes in of_homes.items()}
            return assign_homes(self.table.coded, piles, known)

        shared = isinstance(self.divider, Drawn) or any(found.shared for found in learned)
        far = Far(whole, assign, shared=shared, kept=tuple(self.frames))
        return far.moved(held(whole, self.task.models, suppression_limit=limit))


def _placer(packing: Packing, divider: Divider, home: dict[int, int]) -> Work:
    """Return the function that puts keys on piles by group; home: the group of each part."""

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                for part, rows, records in divider(packing.unpack(keys), counts):
                    if part in home:
                        own = {n: key[rows] for n, key in zip(packing.names, keys, strict=True)}
                        yield pile({"at": np.int32(home[part]), **own, ROWS: records})

    return place


def _learner(task: Task, packing: Packing, first: int, *, asked: bool) -> Work:
    """Return the function that learns on the groups of a partition.

    It yields piles of keys with their classes, then what is told of the classes.

    asked: whether a group must keep the promise as one class.
    """

    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        groups: dict[int, list[Keys]] = {}
        for batch in batches:
            piles = arrays(batch, [*packing.names, ROWS])
            for at, each in zip(batch.column("at").to_pylist(), piles, strict=True):
                groups.setdefault(at, []).append(each)
        for at in sorted(groups):
            *keys, counts = (np.concatenate(each) for each in zip(*groups.pop(at), strict=True))
            keys, counts = joined(keys, counts)  # in order, whichever task came first
            yield from _learned(task, packing, first + at, keys, counts, asked=asked)

    return learn


def _learned(
    task: Task, packing: Packing, home: int, keys: Keys, counts: NDArray[np.int64], *, asked: bool
) -> Iterator[Any]:
    codes = packing.unpack(keys)
    table = task.table(codes, counts)
    recoding: Recoding | None = None
    if asked:
        every = Part(np.arange(table.rows), counts)
        learned = learn_part(table, task.models, every, task.search)
        recoding = None if learned is None else learned.recoding
    else:
        recoding = task.search(table)
    found = None
    none = dict.fromkeys(packing.names)
    if recoding is not None:
        sensitive = table.sensitive[recoding.row]
        sizes = [len(domain) for domain in task.sensitive_domains]
        found = Found(
            home, recoding.low, recoding.high, recoding.node,
            cells_of(recoding.label, sensitive, recoding.count, sizes),
            len(recoding.row) > table.rows, recoding.facts,
        )  # fmt: skip
        for start in range(0, len(recoding.row), _PILE):
            some = slice(start, start + _PILE)
            row = recoding.row[some]
            own = {n: key[row] for n, key in zip(packing.names, keys, strict=True)}
            amounts, labels = recoding.count[some], recoding.label[some]
            yield pile(
                {"home": np.int32(home), **own, ROWS: amounts, "labels": labels, "found": None}
            )
    blob = pickle.dumps((histograms_by_column(task.domains, codes, counts), found))
    told = np.frombuffer(blob, dtype=np.uint8)
    yield pile({"home": np.int32(home), **none, ROWS: None, "labels": None, "found": told})
