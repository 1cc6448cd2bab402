"""A proportional sample: every stratum keeps its share (Table 1 of [brown2019])."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.errors import MethodError


def proportional_shares(counts: Sequence[int], wanted: int) -> list[int]:
    """Divide `wanted` records among strata in proportion to their sizes.

    Every stratum gets its exact share, rounded down; what is left goes to the largest
    remainders, the larger stratum first, then the earlier one.

    Guarantee:
        The shares add up to `wanted`, none is more than one away from the exact one, and
        none exceeds its stratum.

    Raises:
        MethodError: fewer records than were asked for, or none asked for.

    Example:
        >>> proportional_shares([6, 3, 1], 5)
        [3, 2, 0]
    """
    total = sum(counts)
    if not 1 <= wanted <= total:
        raise MethodError(
            problem=f"a sample of this table has 1 to {total} records; {wanted} were asked for"
        )
    shares = [wanted * count // total for count in counts]
    remainders = [wanted * count % total for count in counts]
    order = sorted(range(len(counts)), key=lambda i: (-remainders[i], -counts[i], i))
    for at in order[: wanted - sum(shares)]:
        shares[at] += 1
    return shares
