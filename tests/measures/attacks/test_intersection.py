from __future__ import annotations

from shoal.measures.attacks.intersection import intersection
from shoal.reports.composition import Composition


def test_who_is_alone_in_the_meet_is_counted_beside_one_release():
    found = Composition(
        records=10, releases=2, published=8, unknown=1, classes=3, smallest_class=1, alone=2,
        below={2: 2, 3: 4, 5: 8}, certain={"ill": (0.125, 0.5)}, linked=None, violating_records=8,
        privacy=(), warnings=(),
    )  # fmt: skip
    made = intersection(found, 5).after
    assert (made.success, made.targets) == (0.25, 8)
    assert (made.detail["few"], made.detail["few_share"]) == (8, 1.0)
    assert (made.detail["certain_ill"], made.detail["certain_ill_alone"]) == (0.5, 0.125)
    low, high = made.to_document()["success_low"], made.to_document()["success_high"]
    assert low < 0.25 < high
