"""Names that nobody bears: every one is put together from made-up syllables."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

_GIVEN_START = ("Bre", "Dra", "Fzo", "Gwu", "Jeq", "Klo", "Mro", "Nyx", "Pli", "Qua", "Ruv", "Sko",
                "Tza", "Uvo", "Vlo", "Wix", "Xan", "Ybr", "Zeb", "Zwi")  # fmt: skip
_GIVEN_MIDDLE = ("bu", "do", "fli", "gru", "kwe", "lu", "mpo", "nzi", "qui", "rvo", "swe", "xo")
_GIVEN_END = {"F": ("ba", "dwa", "fie", "lya"), "M": ("bur", "dok", "gund", "zor"),
              "X": ("by", "dry", "quo", "wen")}  # fmt: skip
_FAMILY_START = ("Bax", "Brul", "Crev", "Dwo", "Ezq", "Flon", "Ghur", "Hruv", "Ixo", "Jazz", "Kvim",
                 "Lzo", "Mboq", "Nurv", "Oxwi", "Prez", "Quv", "Rhox", "Svul", "Tquo", "Ulz",
                 "Vrom", "Wzar", "Xel", "Yzo", "Zund")  # fmt: skip
_FAMILY_MIDDLE = ("a", "ebo", "idu", "oga", "uka", "ylo", "amu", "eno", "ipra", "oru", "usti",
                  "avo")  # fmt: skip
_FAMILY_END = ("bex", "dorp", "fling", "gusk", "kova", "lund", "mizz", "nark", "pell", "quist",
               "rooz", "stwick", "thup", "vand", "worx", "zyk")  # fmt: skip


def given_names(sex: str) -> list[str]:
    """Return the given names of one sex ("F", "M" or "X"), the common ones first.

    Example:
        >>> len(given_names("F")), given_names("F")[0]
        (960, 'Brebuba')
    """
    return _mixed(product(_GIVEN_START, _GIVEN_MIDDLE, _GIVEN_END[sex]))


def family_names() -> list[str]:
    """Return the family names, the common ones first.

    Example:
        >>> len(family_names()), family_names()[0]
        (4992, 'Baxabex')
    """
    return _mixed(product(_FAMILY_START, _FAMILY_MIDDLE, _FAMILY_END))


def _mixed(combinations: Iterable[tuple[str, ...]]) -> list[str]:
    # Neighbours share their first syllables: a stride that is prime to the number of
    # names (2, 3, 5 and 13 divide it) visits all and lets the common ones differ.
    names = ["".join(parts) for parts in combinations]
    return [names[step * 397 % len(names)] for step in range(len(names))]
