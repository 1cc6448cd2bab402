"""Local suppression: as few blank cells as can be, each value else as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.methods.catalogue import LocalSuppression, Refine
from shoal.methods.method import Setting
from shoal.privacy import Promise
from shoal.table.blanks import blank_table, flat_table
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, joined


def local_suppression(
    table: FrequencyTable,
    models: Sequence[Promise],
    method: LocalSuppression,
    setting: Setting,
) -> Recoding:
    """Blank cells until every released tuple, blanks and all, keeps the promise.

    A class in which records differ in a column loses the whole column, whatever they are, and
    nothing of any other: `refine` on this loss, which is the weighted number of blank cells.

    Guarantee:
        That of `refine`: beside the same promise it blanks no more than `bestcut`, Mondrian or
        `kmember` would on this loss, and more effort never blanks more. A blank is a value of
        its own: it is equal to a blank and to nothing else.
    """
    search = Refine(effort=method.effort, seconds=method.seconds)
    found = search.search(flat_table(table), models, setting)
    return joined(replace(found, table=blank_table(table)))
