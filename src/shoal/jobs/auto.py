"""What `auto` chooses, and why: by the table's sizes, the promise and the form of the release.

No clock decides, so the same table and seed give the same bytes on every machine. Where sizes
leave it open, candidates are tried on a sample. `refine` never loses more than `bestcut` or
Mondrian, and more effort never loses more, so for generalized releases only its effort is left to
choose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.engines.base import Search
from shoal.engines.counts import CountsHere
from shoal.measures.utility import utility_of
from shoal.methods.catalogue import BestCut, Mondrian, Refine, RefineCentroids, SMdav
from shoal.methods.method import Method
from shoal.table.frequency import sampled

TURNS = (24, 600_000)
"""Turns of `refine` at normal effort, for each row and at most: `methods.clustering.refine`."""

WORK = (8_000_000, 24_000_000)
"""Cells (turns × columns) up to which normal effort is always taken, and above which never.
8 million take about two seconds; Adult has 3.5 million, 100,000 encounters of nine columns 5.4."""

ROWS = 500_000
"""Above this many rows few of them get a turn at normal effort, and its starts take long."""

PLAIN = 4
"""A promise without a compiled form makes every turn dearer: Adult under β-likeness 4 times."""

SAMPLE = 2_000
"""Rows of a sample."""

GAIN = 0.02
"""What more effort must save on a sample, as a share of the loss, to be worth its time."""

SLOW = 20_000
"""Up to so many rows `s-mdav` is among the candidates: its time grows with their square."""


@dataclass(frozen=True)
class Choice:
    """The method that searches, and why it was chosen."""

    method: Method
    why: str


def choose(counts: CountsHere, search: Search, *, learns: bool) -> Choice:
    """Return the method that `auto` stands for.

    Args:
        counts: of the table, on this machine.
        search: what is asked; its method does not matter.
        learns: a model is learned.
    """
    if learns:
        return Choice(Mondrian(), "its classes leave no gaps for records that come later")
    if search.release == "aggregate":
        return _for_centroids(counts, search)
    if counts.table.earlier is not None:
        return Choice(BestCut(), "it searches thousands of earlier classes in seconds")
    return _refine(counts, search)


def _refine(counts: CountsHere, search: Search) -> Choice:
    """Return `refine` with the effort that the sizes allow, or a sample is worth."""
    rows, columns = counts.table.rows, len(counts.table.domains)
    shape = f"{rows:,} distinct rows × {columns} columns"
    work = min(TURNS[0] * rows, TURNS[1]) * columns
    if any(model.needs and model.compiled() is None for model in search.promise):
        work *= PLAIN
    fast, normal = Refine(effort="fast"), Refine(effort="normal")
    if rows > ROWS or work > WORK[1]:
        return Choice(fast, f"{shape} are too many for normal effort")
    if work <= WORK[0]:
        return Choice(normal, f"{shape} are few enough for normal effort")
    quick, long = (_lost(counts, search, method) for method in (fast, normal))
    saved = 1 - long / quick if quick else 0.0
    why = f"{shape}; on a sample, normal effort saves {saved:.0%} of the loss"
    return Choice(normal if saved >= GAIN else fast, why)


def _for_centroids(counts: CountsHere, search: Search) -> Choice:
    """Return what loses least of the spread on a sample."""
    candidates: list[Method] = [RefineCentroids(), Refine(), BestCut(), Mondrian()]
    if counts.table.rows <= SLOW:
        candidates.append(SMdav())
    trial = [RefineCentroids(effort="fast"), Refine(effort="fast"), *candidates[2:]]
    losses = [_lost(counts, search, method) for method in trial]
    best = min(range(len(losses)), key=losses.__getitem__)
    listed = ", ".join(
        f"{_name(method)} {loss:.3g} %" for method, loss in zip(candidates, losses, strict=True)
    )
    return Choice(candidates[best], f"least squared error on a sample: {listed}")


def _name(method: Method) -> str:
    is_boxes = isinstance(method, Refine) and not isinstance(method, RefineCentroids)
    return "refine on boxes" if is_boxes else method.name


def _lost(counts: CountsHere, search: Search, method: Method) -> float:
    """Return what a method loses on a sample: of the spread, or of the cells as they are asked."""
    sample = replace(counts, table=sampled(counts.table, SAMPLE))
    found = sample.search(replace(search, method=method, partitions=None))
    sse = found.sse_loss()
    measure = "loss" if search.setting.utility == "loss" else "ncp"
    return (utility_of(found.grouping(None))[measure] or 0.0) if sse is None else sse
