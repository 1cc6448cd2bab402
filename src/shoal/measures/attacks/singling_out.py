"""Singling out: records that are alone in their class are found by whoever knows the person."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.result import AttackQuestion, AttackResult


def singling_out(sizes: NDArray[np.int64]) -> AttackResult:
    """Count the records that are alone with their quasi-identifiers.

    Example:
        >>> singling_out(np.array([1, 1, 3])).success
        0.4
    """
    records, alone = int(sizes.sum()), int((sizes == 1).sum())
    return AttackResult(
        attack="singling out",
        question=AttackQuestion.SINGLING_OUT,
        targets=records,
        success=alone / records if records else 0.0,
        baseline=0.0,
        detail={"alone": alone, "smallest_class": int(sizes.min(initial=records))},
    )
