"""Mondrian multidimensional recoding, strict and relaxed (LeFevre and others, 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.kernels.mondrian import mondrian as kernel
from shoal.methods.arrays import axes_of, promise_of
from shoal.methods.catalogue import Mondrian
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, recoding_of


def mondrian(
    table: FrequencyTable, models: Sequence[Promise], method: Mondrian, setting: Setting
) -> Recoding:
    """Cut the widest column at its median for as long as both sides keep every model.

    The width of a numeric, date or ordinal column is its range in the partition divided
    by its range in the table; of a categorical one, the height of the partition's lowest
    common ancestor divided by the height of the tree. If the widest column has no
    allowed cut, the next one is tried. Strict cuts keep equal values together;
    relaxed ones share the records at the median out evenly.

    Guarantee:
        Every class meets every model if the whole table does; the sensitive columns
        decide only whether a cut is allowed, never where it falls.
    """
    found = kernel.split(
        table.codes,
        table.counts,
        table.sensitive,
        axes=axes_of(table.domains),
        promise=promise_of(models, table),
        relaxed=method.relaxed,
    )
    return recoding_of(table, found.low, found.high, (found.row, found.label, found.share))
