"""What became of the items of a release, as lines for people."""

from __future__ import annotations

from collections.abc import Mapping


def set_lines(facts: object) -> list[tuple[str, str]]:
    """Say what became of the items of a release."""
    if not isinstance(facts, Mapping):
        return []
    words = [
        f"{facts['kept_occurrences']:.1%} of {facts['occurrences']:,} occurrences as they were",
        f"{facts['suppressed_occurrences']:.1%} suppressed",
        f"{facts['kept_items']} of {facts['items']} items kept, in {facts['labels']} labels",
    ]
    found = [("items", "; ".join(words))]
    if facts["query_error"] is not None:
        error = f"counts of two items are off by {facts['query_error']:.0%} on average"
        found.append(("queries", error))
    if facts["frequent_recall"] is not None:
        share = f"{facts['frequent_recall']:.0%} of the frequent sets of 1 or 2 items are still"
        found.append(("frequent", f"{share} frequent, {facts['top_sets']:.0%} of the top 100"))
    return found
