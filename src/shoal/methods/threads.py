"""The same work on many items, on several threads; the number of threads changes no result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_threads(
    work: Callable[[Item], Found], items: Sequence[Item], threads: int | None
) -> list[Found]:
    """Return what the work finds for each item, in their order; None: as many as suit."""
    if len(items) == 1 or threads == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))
