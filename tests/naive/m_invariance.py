"""m-invariance [xiao2007], slowly: the checker, the attack, and division, balancing, assignment."""

from __future__ import annotations

from collections import Counter, defaultdict


def classes_of(rows, quasi, value):
    """Return the (person, value) pairs of each class; a person of None is a counterfeit."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append((row["person"], row[value]))
    return found


def faults(rows, quasi, value, *, m, k):
    """Return what is wrong with one release: classes that are not m-unique or have too few."""
    found = []
    for pairs in classes_of(rows, quasi, value).values():
        held = Counter(each for _, each in pairs)
        people = [person for person, _ in pairs if person is not None]
        if len(held) < m or len(set(held.values())) > 1:
            found.append("not m-unique")
        if len(set(people)) < k:
            found.append("too few persons")
        if len(set(people)) < len(people):
            found.append("a person twice")
    return found


def signatures(rows, quasi, value):
    """Return the values of the class of every person."""
    found = {}
    for pairs in classes_of(rows, quasi, value).values():
        values = frozenset(each for _, each in pairs)
        found.update({person: values for person, _ in pairs if person is not None})
    return found


def is_invariant(releases, quasi, value):
    """Say whether everybody has one signature in all the releases that they are in."""
    seen = {}
    for rows in releases:
        for person, values in signatures(rows, quasi, value).items():
            if seen.setdefault(person, values) != values:
                return False
    return True


def left_over(releases, quasi, value):
    """Return the values that everybody may have by all releases: the intersection."""
    found = {}
    for rows in releases:
        for person, values in signatures(rows, quasi, value).items():
            found[person] = found.get(person, values) & values
    return found


def is_eligible(new, m):
    """Say whether none of the values has more than a share 1/m of the records."""
    return not new or max(Counter(new).values()) * m <= len(new)


def without(new, values):
    """Return new records without one of each of some values; None: one of them is missing."""
    rest = list(new)
    for value in values:
        if value not in rest:
            return None
        rest.remove(value)
    return rest


def fill(owned, new, m):
    """Divide, balance and assign, record by record.

    owned: for each signature, the values of the records that have it already. new: the values of
    the others, m-eligible.

    Returns:
        For each signature its real values and its counterfeits, and what is left over.
    """
    order = sorted(owned, key=lambda each: (-len(owned[each]), each))
    real = {signature: list(owned[signature]) for signature in order}
    false = {signature: [] for signature in order}
    for signature in order:
        most = max(Counter(owned[signature]).values())
        for value in signature:
            while real[signature].count(value) + false[signature].count(value) < most:
                rest = without(new, [value])
                if rest is not None and is_eligible(rest, m):
                    new = rest
                    real[signature].append(value)
                else:
                    false[signature].append(value)
    for signature in order:
        while (rest := without(new, signature)) is not None and is_eligible(rest, m):
            new = rest
            real[signature] += signature
    while (found := _largest(new, m)) is not None:
        signature, layers, new = found
        real.setdefault(signature, [])
        false.setdefault(signature, [])
        real[signature] += list(signature) * layers
    return real, false, new


def _largest(new, m):
    """Return the fewest most frequent values that can be taken, as often as that is possible."""
    ranked = sorted(Counter(new).items(), key=lambda item: (-item[1], item[0]))
    for number in range(m, len(ranked) + 1):
        signature = tuple(sorted(value for value, _ in ranked[:number]))
        best = None
        for layers in range(1, ranked[number - 1][1] + 1):
            rest = without(new, signature * layers)
            if is_eligible(rest, m):
                best = layers, rest
        if best is not None:
            return signature, *best
    return None
