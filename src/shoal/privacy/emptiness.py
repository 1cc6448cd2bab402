"""What a promise that holds does not say: that it says nothing, or that nothing is left."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.privacy.promise import Promise

MOST = 0.5
"""Share of suppressed records from which on a promise is kept by leaving records out."""


def void_promise(models: Iterable[Promise]) -> tuple[str, ...]:
    """Return a warning where a promise promises nothing."""
    asked = tuple(models)
    if not asked or not all(model.is_void for model in asked):
        return ()
    named = "; ".join(model.words() for model in asked)
    return (f"nothing is promised: every table keeps {named}. Ask for a k of at least 2",)


def little_left(
    *, records: int, suppressed: int, ncp: float | None = None, sse_loss: float | None = None
) -> tuple[str, ...]:
    """Return warnings about a release that lost everything, or most of its records.

    Args:
        records: of the original.
        suppressed: those of which nothing is released.
        ncp: the share of information lost, where it is known.
        sse_loss: of released centroids; `ncp` then speaks of boxes that are not released.
    """
    found = []
    if sse_loss is not None and sse_loss >= 100 - 1e-9:
        found.append("everything is lost: the centroids keep nothing of the variation")
    elif sse_loss is None and ncp is not None and ncp >= 1 - 1e-9:
        found.append("everything is lost (NCP 1): no quasi-identifier of any record says anything")
    if records and suppressed >= MOST * records:
        found.append(
            f"{suppressed:,} of {records:,} records ({100 * suppressed / records:.1f} %) are "
            "suppressed: the promise is kept by leaving records out"
        )
    return tuple(found)
