"""Releases laid over each other, person by person; and every way in which cells can be filled."""

from __future__ import annotations

from itertools import product


def meet_sizes(classes):
    """Return, for each record, how many share its class in every release; None: in no release."""
    return [
        None if all(c == -1 for c in own) else sum(own == other for other in classes)
        for own in classes
    ]


def certain(classes, values):
    """Say for each record whether one value alone occurs in its class in every release."""
    found = []
    for own in classes:
        left = None
        for release, name in enumerate(own):
            if name == -1:
                continue
            here = {v for c, v in zip(classes, values, strict=True) if c[release] == name}
            left = here if left is None else left & here
        found.append(left is not None and len(left) == 1)
    return found


def fillings(candidates, sizes, may_be_absent):
    """Yield every way to put single records into cells so that each cell is full.

    candidates: the cells that each record fits.
    """
    choices = [[*fits, -1] if may_be_absent else list(fits) for fits in candidates]
    for chosen in product(*choices):
        if all(chosen.count(cell) == size for cell, size in enumerate(sizes)):
            yield chosen
