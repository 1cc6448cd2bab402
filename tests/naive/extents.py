"""What covers two labels, the slow and obvious way: all values are written down."""

from __future__ import annotations


def above(label, tree):
    """Return the labels from one up to the root."""
    found = []
    node = tree["labels"].index(label)
    while node >= 0:
        found.append(tree["labels"][node])
        node = tree["parents"][node]
    return found


def ancestor(one, other, tree):
    """Return the lowest label above both."""
    return next(label for label in above(one, tree) if label in above(other, tree))


def height(label, tree):
    """Return the longest way down from a label, as a share of that from the root."""

    def down(node):
        below = [n for n, parent in enumerate(tree["parents"]) if parent == node]
        return 1 + max(map(down, below)) if below else 0

    return down(tree["labels"].index(label)) / down(len(tree["labels"]) - 1)


def masked(one, other, char):
    """Return the text that hides all from the first character on which two differ."""
    for shown in range(len(one), 0, -1):
        if one[:shown] == other[:shown] and one[:shown].strip(char):
            return one[:shown] + char * (len(one) - shown)
    return "*"


def interval(one, other):
    """Return the interval around the numbers of two."""
    ends = sorted((float(e), e) for text in (one, other) for e in text.strip("[]").split(", "))
    return f"[{ends[0][1]}, {ends[-1][1]}]"


def covers(outer, inner, columns):
    """Say whether each label of one tuple covers that of another; joining adds nothing."""
    return all(
        column.join(column.read(a), column.read(b)).label == a
        for column, a, b in zip(columns, outer, inner, strict=True)
    )
