"""The methods by name, and what `auto` stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import NamedTuple

from shoal.core.errors import MethodError
from shoal.core.suggest import did_you_mean
from shoal.methods.catalogue import (
    Auto,
    BestCut,
    BestFirst,
    Bfs,
    Datafly,
    Dfs,
    Flash,
    Incognito,
    Kaca,
    KMember,
    KMemberParallel,
    KModes,
    LocalSuppression,
    Mdav,
    MdavGeneric,
    Mondrian,
    MondrianCategorical,
    MondrianRelaxed,
    MondrianUnordered,
    Oka,
    Refine,
    RefineCentroids,
    SaMdav,
    SaMdavStatic,
    SaMondrian,
    SMdav,
    Threshold,
    VMdav,
    Wfcm,
)
from shoal.methods.method import Method
from shoal.methods.transactions.catalogue import SET_METHODS

METHODS: Mapping[str, type[Method]] = {
    kind.name: kind
    for kind in (
        *(Mondrian, MondrianRelaxed),
        *(Flash, Bfs, Dfs, Incognito, BestFirst, Datafly),
        *(BestCut, Refine, KMember, KMemberParallel, Oka, Kaca, Threshold, Wfcm, LocalSuppression),
        *(Mdav, VMdav, MdavGeneric, SMdav, SaMdav, SaMdavStatic, KModes),
        *(MondrianUnordered, MondrianCategorical, SaMondrian),
    )
}
"""The methods in the order of a listing; `auto` is not one of them."""

# Methods that are not searches for a recoding: (name, family, what it does).
OTHERS = (
    (
        "xk",
        "adaptive",
        "fill pairs of xk … k - 1 records with false ones, suppress smaller ones",
    ),
)

AUTO = "mondrian"
"""What `auto` stands for where a model is learned: its classes leave no gaps between them."""

AUTO_RELEASE = "refine"
"""What `auto` stands for where a table is released: `jobs.auto` chooses its effort by the table,
and for centroids among more methods."""

RELEASES = ("generalize", "aggregate", "draw")


class Resolved(NamedTuple):
    """The method that searches, and what its classes release."""

    method: Method
    release: str


def method_named(name: str, parameters: Mapping[str, object] | None = None) -> Method:
    """Return a method by its name, with its parameters; None stands for a default.

    Raises:
        MethodError: there is no such method; or parameters that it does not take, or of a wrong
            type or out of range, all named together.

    Example:
        >>> method_named("refine", {"effort": "best"})
        Refine(effort='best', seconds=None)
        >>> method_named("refine", {"efort": "best"})
        Traceback (most recent call last):
        shoal.core.errors.MethodError: --method refine: no parameter 'efort', did you mean 'effort'? it takes effort, seconds
    """  # noqa: E501
    kind = kind_named(name)
    given = {key: value for key, value in (parameters or {}).items() if value is not None}
    kind.check(given)
    make: Callable[..., Method] = kind
    return make(**given)


def listed() -> tuple[type[Method], ...]:
    """Return every method, those for columns of sets behind the others."""
    return (*METHODS.values(), *SET_METHODS.values())


def kind_named(name: str) -> type[Method]:
    """Return the class of a method by its name.

    Raises:
        MethodError: there is no such method.
    """
    if name in {other[0] for other in OTHERS}:
        raise MethodError(
            problem=f"--method {name} adds false records to one table, so it has no recoding and "
            "no model; release a table with `shoal anonymize --method xk` or `shoal recommend "
            "--apply` (in Python: release_xk)"
        )
    kind = Auto if name == Auto.name else METHODS.get(name) or SET_METHODS.get(name)
    if kind is None:
        every = [Auto.name, *METHODS, *SET_METHODS]
        known = ", ".join(every)
        meant = did_you_mean(name, every) or ";"
        raise MethodError(problem=f"--method {name}: no such method{meant} there are {known}")
    return kind


def resolve(method: Method, *, release: str | None = None, learns: bool = False) -> Resolved:
    """Return the method that searches, and what its classes release.

    Args:
        method: what was asked for; `Auto` becomes a method.
        release: what the classes are to release; None: what the method is made for.
        learns: a model is learned (or the tuples stay where they are, to be cut there).

    Raises:
        MethodError: there is no such way to release, or not with this method.
    """
    if release is not None and release not in RELEASES:
        raise MethodError(problem=f"--release must be one of {', '.join(RELEASES)}")
    if release == "aggregate" and method.blanks:
        raise MethodError(
            problem=f"--method {method.name} releases values as they are, or blank: it has no "
            "centroids; leave --release aggregate out, or take another method"
        )
    if isinstance(method, Auto):
        method = METHODS[AUTO if learns else AUTO_RELEASE]()
    if release == "aggregate" and isinstance(method, Refine):
        method = RefineCentroids(**{f.name: getattr(method, f.name) for f in fields(method)})
    return Resolved(method, method.release if release is None else release)
