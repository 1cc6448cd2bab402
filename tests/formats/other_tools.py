"""Files as Amnesia and SPSS write them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

AGES = """range
name age
type int
height 3

0.0,50.0 has 0.0,25.0 25.0,50.0
50.0,100.0 has 50.0,75.0 75.0,100.0

0.0,100.0 has 0.0,50.0 50.0,100.0

"""


def write_survey(place: Path) -> Path:
    """Write a file of SPSS; nothing where pyreadstat is not installed."""
    try:
        import pyreadstat
    except ImportError:
        return place
    coded = pl.DataFrame({"sex": [1.0, 2.0], "age": [30.0, 31.0]})
    names = {"sex": {1: "m", 2: "f", 3: "d"}}
    pyreadstat.write_sav(coded, str(place), variable_value_labels=names)
    return place
