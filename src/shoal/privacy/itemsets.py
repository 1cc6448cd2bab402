"""What a promise about sets of items may ask of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Itemsets(Protocol):
    """The sets of items that the records of a class hold, to be asked how rare they are.

    A released item is a label; it may stand for several items. No label is ever told.
    """

    def rarest(self, most: int | None) -> tuple[int, int]:
        """Return the least support of up to `most` labels of one record, and how many these are.

        None: of all labels of a record. (0, 0): no record has a label.
        """

    def rare_records(self, k: int, most: int | None) -> int:
        """Count the records with up to `most` labels that fewer than k records have together."""

    def covering(self, items: Sequence[str]) -> int:
        """Count the records that may hold all these items, by their labels."""

    def confidence(self, item: str, most: int | None) -> float:
        """Return the largest share, of records with up to `most` labels, that may hold an item.

        The labels are none that may stand for the item.
        """
