"""What an attack that says what it assumes prints: assumption, interval, control, scored claims."""

from __future__ import annotations

from collections.abc import Mapping

_CLAIMS = {
    "proven": "proven",
    "child": "somebody has this child",
    "likely": "more likely than not",
    "sure": "90 % sure",
}
_COUNTS = {
    "ends": "ends of intervals that are values of people",
    "tuples": "tuples that must exist",
    "people_alone_in_a_place": "people alone in a place where somebody must stand",
    "forced_cells": "cells with both children of their node",
    "people_in_the_register": "people in the register",
    "few": "records among too few",
    "unknown": "records whose class is not known",
}


def close_lines(found: object) -> list[str]:
    """Return what is known of one attack beside how often it is right; nothing else of some."""
    if not isinstance(found, Mapping) or "assumption" not in found:
        return []
    low, high, control = found["success_low"], found["success_high"], found["control"]
    lines = [f"  {found['attack']}", f"    assumes     {found['assumption']}"]
    sure = f"    95 %        {low:.1%} to {high:.1%}"
    if control is not None:
        sure += f"; of people who are not in the table {control:.1%}"
    lines.append(sure)
    for name, text in _CLAIMS.items():
        claims = found.get(f"{name}_claims")
        if claims is None:
            continue
        said = f"    claims      {text}: {claims:,}"
        if claims:
            right, least, most = (found[f"{name}_right{end}"] for end in ("", "_low", "_high"))
            said += f", right in {right:.1%} ({least:.1%} to {most:.1%})"
            said += f", which are {found[f'{name}_recall']:.1%} of all"
        lines.append(said)
    counts = [f"{found[key]:,} {text}" for key, text in _COUNTS.items() if key in found]
    if counts:
        lines.append(f"    counts      {'; '.join(counts)}")
    for key, value in found.items():
        if key.startswith("certain_") and f"{key}_alone" in found:
            one, name = found[f"{key}_alone"], key.removeprefix("certain_")
            lines.append(f"    certain     {name}: {one:.1%} by one release, {value:.1%} by all")
    return lines
