"""A promise that was asked for, put together with the one a schema already makes.

A flag or a keyword may add a privacy model or make one stricter. One that asks for less than
the schema promises is refused: whoever wrote the schema is not to be overruled in silence.

Two models can be compared when they are of one sort (the same model, kind and distance) and
speak of the same sensitive column. One is at least as strict as the other when each of its
parameters is; each model says which way that is (`Promise.stricter`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shoal.core.errors import PrivacyError
from shoal.privacy.promise import Promise


def combined(
    promised: Iterable[Promise],
    asked: Iterable[Promise],
    sensitive: Sequence[str] = (),
    *,
    owner: str = "schema",
) -> tuple[Promise, ...]:
    """Return what keeps both promises; what is stricter takes the place of what it implies.

    Args:
        promised: the schema's promise.
        asked: what is asked for beside it.
        sensitive: the sensitive columns; a model that names none speaks of each of them.
        owner: who promised: a schema, or a learned model, whose promise cannot be dropped.

    Raises:
        PrivacyError: a model asks for less than what is promised.

    Example:
        >>> from shoal.privacy import KAnonymity, LDiversity
        >>> combined([KAnonymity(5), LDiversity(2)], [KAnonymity(10)])
        (KAnonymity(k=10), LDiversity(l=2, kind='distinct', c=None, column=None))
    """
    promise, wanted = tuple(promised), tuple(asked)
    for model in wanted:
        _refuse_looser(model, promise, sensitive, owner=owner)
    return joined(promise, wanted, sensitive)


def joined(
    promised: Iterable[Promise], others: Iterable[Promise], sensitive: Sequence[str] = ()
) -> tuple[Promise, ...]:
    """Return what keeps both promises, where neither is to overrule the other.

    Example:
        >>> from shoal.privacy import KAnonymity, LDiversity
        >>> joined([KAnonymity(5)], [KAnonymity(3), LDiversity(2)])
        (KAnonymity(k=5), LDiversity(l=2, kind='distinct', c=None, column=None))
    """
    promise, wanted = tuple(promised), tuple(others)
    new = [model for model in wanted if not _is_covered(model, promise, sensitive)]
    kept: dict[Promise, None] = {}
    for known in promise:
        if not _is_covered(known, new, sensitive):
            kept[known] = None
            continue
        kept |= dict.fromkeys(m for m in new if _is_covered(known, [m], sensitive))
    return tuple(kept | dict.fromkeys(new))


def _refuse_looser(
    model: Promise, promise: Sequence[Promise], sensitive: Sequence[str], *, owner: str
) -> None:
    """Refuse a model where the promise is stricter everywhere that the model speaks of."""
    k = _k(model)
    larger = [] if k is None else [known for known in promise if (_k(known) or 0) > k]
    if larger:  # records of a class are counted once, whichever model asks for them
        raise _looser(model, larger[0], owner)
    if model in promise:
        return
    above = [_above(view, promise) for view in _views(model, sensitive)]
    stricter = [known for found in above for known in found if not model.implies(known)]
    if stricter and all(above):
        raise _looser(model, stricter[0], owner)


def _is_covered(model: Promise, by: Sequence[Promise], sensitive: Sequence[str]) -> bool:
    """Return whether others of its sort ask for as much, on each column it speaks of."""
    return all(_above(view, by) for view in _views(model, sensitive))


def _above(view: Promise, by: Sequence[Promise]) -> list[Promise]:
    return [k for k in by if k.column in (None, view.column) and k.implies(view)]


def _views(model: Promise, sensitive: Sequence[str]) -> list[Promise]:
    if model.column is not None or not model.needs_sensitive or not sensitive:
        return [model]
    return [replace(model, column=column) for column in sensitive]


def _looser(model: Promise, known: Promise, owner: str) -> PrivacyError:
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


def _k(model: Promise) -> float | None:
    k = model.parameters().get("k")
    return k if isinstance(k, int | float) else None
