"""Slow, obvious twins of the attacks on persons.

A table is a list of (class, person, value) records; a person who is None is nobody. Nothing of
shoal is used.
"""

from __future__ import annotations

from fractions import Fraction


def people(records):
    """Return the different persons of some records."""
    return sorted({person for _, person, _ in records if person is not None}, key=str)


def _in_class(records, name):
    return [record for record in records if record[0] == name]


def singled_out(records):
    """Return the share of the persons who are alone in a class that they have a record in."""
    alone = {
        person
        for name, person, _ in records
        if person is not None and people(_in_class(records, name)) == [person]
    }
    return Fraction(len(alone), len(people(records)))


def linked(records, targets, fits):
    """Return the average chance to find targets: (person, what is known of them) each.

    fits(known, class) says whether a class covers what is known.
    """
    total = Fraction(0)
    for person, known in targets:
        fitting = [record for record in records if fits(known, record[0])]
        own = [record for record in fitting if record[1] == person]
        total += Fraction(len(own), len(fitting)) if fitting else 0
    return total / len(targets)


def _commonest(records):
    """Return the value that most persons of some records have, the first of equals."""
    values = sorted({value for _, person, value in records if person is not None}, key=str)
    have = {v: len({p for _, p, own in records if p is not None and own == v}) for v in values}
    return max(values, key=lambda v: (have[v], -values.index(v)))


def named(records):
    """Return how often the commonest value of a class is right, and a single guess for all.

    Every record of a person is as likely to be the known one; right is what the person has in
    its class.
    """

    def score(guess):
        total = Fraction(0)
        for person in people(records):
            mine = [record for record in records if record[1] == person]
            hits = sum(
                (name, person, guess(name)) in records for name, _, _ in mine
            )  # fmt: skip
            total += Fraction(hits, len(mine))
        return total / len(people(records))

    right = score(lambda name: _commonest(_in_class(records, name)))
    values = {value for _, _, value in records}
    return right, max(score(lambda _, v=v: v) for v in values)
