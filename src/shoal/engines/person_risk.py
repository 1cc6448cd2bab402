"""Risk of a table by its persons, from its cells: distinct rows of quasi-identifiers and person.

Both engines have them; which people of a population belong to a class is what they find out apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.column_facts import row_codes
from shoal.engines.person_key import PERSON
from shoal.engines.refusals import nobody
from shoal.engines.verification import ROWS
from shoal.measures.risk.by_person import PersonClasses, risk_by_person
from shoal.measures.risk.population import Population
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import RiskReport
from shoal.table.frequency import number_rows


def risk_of_persons(
    cells: pl.DataFrame,
    names: Sequence[str],
    question: RiskQuestion,
    *,
    where: str,
    matched: Callable[[pl.DataFrame], Population] | None,
) -> RiskReport:
    """Measure risk by the persons of each class.

    Args:
        cells: the distinct rows of quasi-identifiers and PERSON, and ROWS.
        names: of the quasi-identifiers in it, in the question's order.
        question: what is asked.
        where: the table, for messages.
        matched: finds the people of each class in a population, given a row of each class with
            its persons as ROWS; None: there is no such table.

    Raises:
        InputError: there is no record, or none says who it is about.
    """
    question.check_counts(where, cells.height, 0)
    codes = row_codes(cells, names)
    classes, first = _person_classes(codes, cells)
    if not len(first):
        raise nobody(where, question.person)
    lost = int(cells[ROWS].sum()) - int(classes.records.sum())
    said = f"{lost:,} records whose classes name nobody are left out; no limit holds for them"
    notices = (said,) if lost else ()
    if matched is None:
        known = Population.estimate(question, classes.sizes, None)
    else:
        known = matched(cells[first].with_columns(pl.Series(ROWS, classes.sizes)))
    without = {}
    if question.special:
        for j, name in enumerate(question.quasi):
            without[name] = _person_classes(np.delete(codes, j, axis=1), cells)[0]
    return risk_by_person(classes, known, without, notices=notices, left_out=lost)


def _person_classes(
    codes: NDArray[np.int32], cells: pl.DataFrame
) -> tuple[PersonClasses, NDArray[np.int64]]:
    """Return the persons of the classes of coded cells, and a cell of each class.

    Classes of nobody are left out.
    """
    sizes = [int(column.max(initial=-1)) + 1 for column in codes.T]
    number, order, starts = number_rows(codes, sizes)
    rows = cells[ROWS].to_numpy().astype(np.int64)
    there = cells[PERSON].is_not_null().to_numpy()
    person = np.unique(cells[PERSON].drop_nulls().to_numpy(), return_inverse=True)[1]
    most = int(person.max(initial=0)) + 1
    pairs, place = np.unique(number[there] * most + person, return_inverse=True)
    own = np.bincount(place, weights=rows[there]).astype(np.int64)
    kept, label = np.unique(pairs // most, return_inverse=True)
    records = np.bincount(number, weights=rows, minlength=len(starts)).astype(np.int64)
    found = PersonClasses(label=label, person=pairs % most, own=own, records=records[kept])
    return found, order[starts[kept]]
