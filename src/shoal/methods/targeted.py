"""Classes that say something about a target: records of one value of it are kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.method import Method, Setting
from shoal.methods.persons import hold_persons
from shoal.privacy import Promise
from shoal.schema.schema import Kind
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable, number_rows
from shoal.table.recoding import Recoding, recoding_of


def search_targeted(
    method: Method, table: FrequencyTable, promise: Sequence[Promise], setting: Setting
) -> Recoding:
    """Search with the target as one more column, as heavy as all others together.

    A class of more than one value of the target loses that column whole. The column is taken out
    of what was found: the target itself is no quasi-identifier and is not recoded.

    Guarantee:
        Every class keeps the promise.

    Raises:
        MethodError: there is no such target.
    """
    if setting.utility != "target" or setting.target is None:
        raise MethodError(problem="--utility target needs a column: name it with --target")
    plain = replace(setting, utility=None)
    quasi = [domain.name for domain in table.domains]
    if setting.target in quasi:
        return method.search(_heavier(table, quasi.index(setting.target)), promise, plain)
    names = [domain.name for domain in table.sensitive_domains]
    if setting.target not in names:
        raise MethodError(problem="--utility target: the table was counted without that column")
    wider, row = _widened(table, names.index(setting.target))
    found = method.search(wider, promise, plain)
    width = len(quasi)
    narrow = recoding_of(
        table, found.low[:, :width], found.high[:, :width],
        (row[found.row], found.label, found.count), facts=found.facts,
    )  # fmt: skip
    # Classes that only the target told apart are one, and what each kept they may break together.
    return hold_persons(narrow, promise, borrow=method.makes_clusters)


def _heavier(table: FrequencyTable, column: int) -> FrequencyTable:
    domains = list(table.domains)
    domains[column] = _weighed(domains[column], table)
    return replace(table, domains=tuple(domains))


def _weighed(domain: Domain, table: FrequencyTable) -> Domain:
    return replace(domain, weight=sum(each.weight for each in table.domains))


def _widened(table: FrequencyTable, at: int) -> tuple[FrequencyTable, np.ndarray]:
    """Return the table with a sensitive column among its quasi-identifiers; and whose row is whose.

    Rows are sorted anew; each is still one row of the table, since they differ in this column.
    """
    own = table.sensitive_domains[at]
    texts = [f"{code}" for code in range(len(own))]
    flat = Hierarchy.flat(own.name, texts)
    column = Domain(
        name=own.name, kind=Kind.CATEGORICAL, labels=tuple(texts), tree=flat,
        position=np.array([flat.index(text) for text in texts], dtype=np.float64),
    )  # fmt: skip
    codes = np.concatenate((table.codes, table.sensitive[:, [at]]), axis=1)
    domains = (*table.domains, _weighed(column, table))
    order = number_rows(codes, [len(domain) for domain in domains]).order
    wider = replace(
        table,
        domains=domains,
        codes=np.ascontiguousarray(codes[order]),
        counts=table.counts[order],
        sensitive=np.ascontiguousarray(table.sensitive[order]),
        persons=None if table.persons is None else table.persons[order],
        earlier=None if table.earlier is None else table.earlier[order],
    )
    return wider, order
