"""Releases of a table that changes: who shares a class with whom in all of them, by name."""

from __future__ import annotations


def cells(releases):
    """Return, for each name in any release, how many share its class in every one.

    releases: for each of them, the class of each name that is in it.
    """
    names = {name for release in releases for name in release}
    where = {name: tuple(release.get(name) for release in releases) for name in names}
    return {name: sum(where[name] == where[other] for other in names) for name in names}
