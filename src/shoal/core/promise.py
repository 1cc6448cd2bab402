"""A promise that was asked for, put together with the one a schema already makes.

A flag or a keyword may add a privacy model or make one stricter. One that asks for less than
the schema promises is refused: whoever wrote the schema is not to be overruled in silence.

Two models can be compared when they are of one sort (the same model, kind and distance) and
speak of the same sensitive column. One is at least as strict as the other when each of its
parameters is: k, l, n and the bounded values of (alpha,k)-anonymity may be more, c, t and alpha
may be less. A larger n is the stricter one, because a set of n records around a class is also
a set of any smaller number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from shoal.core.errors import PrivacyError
from shoal.core.privacy import PrivacyModel

__all__ = ["combined", "implies", "joined"]

_MORE_IS_STRICTER = ("k", "l", "n")
_LESS_IS_STRICTER = ("c", "t", "alpha")


def implies(one: PrivacyModel, other: PrivacyModel) -> bool:
    """Return whether `one` is of the other's sort and at least as strict, columns aside.

    Example:
        >>> from shoal.core.privacy import LDiversity, NTCloseness
        >>> implies(LDiversity(3), LDiversity(2)), implies(LDiversity(3, "entropy"), LDiversity(2))
        (True, False)
        >>> implies(NTCloseness(1000, 0.1), NTCloseness(500, 0.2))
        True
    """
    if type(one) is not type(other):
        return False
    if any(_of(one, name) != _of(other, name) for name in ("kind", "distance")):
        return False
    wide, narrow = _of(one, "values"), _of(other, "values")
    return (
        (wide is None or (narrow is not None and set(wide) >= set(narrow)))
        and all(_of(one, n) >= _of(other, n) for n in _MORE_IS_STRICTER if _of(one, n) is not None)
        and all(_of(one, n) <= _of(other, n) for n in _LESS_IS_STRICTER if _of(one, n) is not None)
    )


def combined(
    promised: Iterable[PrivacyModel],
    asked: Iterable[PrivacyModel],
    sensitive: Sequence[str] = (),
    *,
    owner: str = "schema",
) -> tuple[PrivacyModel, ...]:
    """Return what keeps both promises; what is stricter takes the place of what it implies.

    Args:
        promised: the schema's promise.
        asked: what is asked for beside it.
        sensitive: the sensitive columns; a model that names none speaks of each of them.
        owner: who promised: a schema, or a learned model, whose promise cannot be dropped.

    Raises:
        PrivacyError: a model asks for less than what is promised.

    Example:
        >>> from shoal.core.privacy import KAnonymity, LDiversity
        >>> combined([KAnonymity(5), LDiversity(2)], [KAnonymity(10)])
        (KAnonymity(k=10), LDiversity(l=2, kind='distinct', c=None, column=None))
    """
    promise, wanted = tuple(promised), tuple(asked)
    for model in wanted:
        _refuse_looser(model, promise, sensitive, owner=owner)
    return joined(promise, wanted, sensitive)


def joined(
    promised: Iterable[PrivacyModel], others: Iterable[PrivacyModel], sensitive: Sequence[str] = ()
) -> tuple[PrivacyModel, ...]:
    """Return what keeps both promises, where neither is to overrule the other.

    Example:
        >>> from shoal.core.privacy import KAnonymity, LDiversity
        >>> joined([KAnonymity(5)], [KAnonymity(3), LDiversity(2)])
        (KAnonymity(k=5), LDiversity(l=2, kind='distinct', c=None, column=None))
    """
    promise, wanted = tuple(promised), tuple(others)
    new = [model for model in wanted if not _is_covered(model, promise, sensitive)]
    kept: dict[PrivacyModel, None] = {}
    for known in promise:
        if not _is_covered(known, new, sensitive):
            kept[known] = None
            continue
        kept |= dict.fromkeys(m for m in new if _is_covered(known, [m], sensitive))
    return tuple(kept | dict.fromkeys(new))


def _refuse_looser(
    model: PrivacyModel, promise: Sequence[PrivacyModel], sensitive: Sequence[str], *, owner: str
) -> None:
    """Refuse a model where the promise is stricter everywhere that the model speaks of."""
    k = _of(model, "k")
    larger = [] if k is None else [known for known in promise if (_of(known, "k") or 0) > k]
    if larger:  # records of a class are counted once, whichever model asks for them
        raise _looser(model, larger[0], owner)
    if model in promise:
        return
    above = [_above(view, promise) for view in _views(model, sensitive)]
    stricter = [known for found in above for known in found if not implies(model, known)]
    if stricter and all(above):
        raise _looser(model, stricter[0], owner)


def _is_covered(model: PrivacyModel, by: Sequence[PrivacyModel], sensitive: Sequence[str]) -> bool:
    """Return whether others of its sort ask for as much, on each column it speaks of."""
    return all(_above(view, by) for view in _views(model, sensitive))


def _above(view: PrivacyModel, by: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    return [k for k in by if k.column in (None, view.column) and implies(k, view)]


def _views(model: PrivacyModel, sensitive: Sequence[str]) -> list[PrivacyModel]:
    if model.column is not None or not model.needs_sensitive or not sensitive:
        return [model]
    return [replace(cast(Any, model), column=column) for column in sensitive]


def _looser(model: PrivacyModel, known: PrivacyModel, owner: str) -> PrivacyError:
    ways = {
        "schema": "drop the schema's whole promise with --replace-promise (replace_promise=True)",
        "model": "learn a model that promises no more",
    }
    return PrivacyError(
        model=model.name,
        problem=(
            f"the {owner} promises {known.words()}, and {model.words()} asks for less; leave it "
            f"out, or {ways[owner]}"
        ),
    )


def _of(model: PrivacyModel, name: str) -> Any:
    return getattr(model, name, None)
