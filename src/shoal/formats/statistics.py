"""Files of SPSS, Stata and SAS: numbers with names, in and out, through pyreadstat.

Such a file keeps a category as a number and says beside it what each number means. shoal works
with the names: they are what hierarchies, reports and people speak of. On the way out a name
gets its number again, and a label that is new (an interval, a group) one of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shoal.core.errors import InputError, OutputError
from shoal.formats.endings import check_extra

Code = int | float
_EXACT = 2**53  # whole numbers up to here are exact in the 64-bit floats of these files
_TRUTH: Mapping[Code, str] = {0: "false", 1: "true"}
_LONGEST = {"spss": 32_767, "stata": 2_000_000, "xpt": 200}  # bytes of a text


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What a file of statistics says about its columns.

    Attributes:
        names: by column, the name of each of its numbers.
        titles: by column, what it is about.
    """

    names: Mapping[str, Mapping[Code, str]] = field(default_factory=dict, repr=False)
    titles: Mapping[str, str] = field(default_factory=dict)

    def leaves(self, column: str) -> tuple[str, ...]:
        """Return the names of a column, in the order of their numbers."""
        names = distinct_names(self.names.get(column, {}))
        return tuple(names[code] for code in sorted(names))


def distinct_names(names: Mapping[Code, str]) -> dict[Code, str]:
    """Return the names with the number behind those that several numbers share.

    Example:
        >>> distinct_names({1: "other", 2: "flu", 9: "other"})
        {1: 'other (1)', 2: 'flu', 9: 'other (9)'}
    """
    times = Counter(names.values())
    return {
        code: name if times[name] == 1 else f"{name} ({code:g})" for code, name in names.items()
    }


def read_statistics(path: Path, kind: str) -> tuple[pl.DataFrame, Dictionary]:
    """Return the table of a file, named where every number that occurs has a name.

    kind: one of `endings.STATISTICS`.

    Raises:
        MissingExtraError: pyreadstat is not installed.
        InputError: the file cannot be read.
    """
    check_extra(kind)
    import pyreadstat

    readers: dict[str, Callable[..., tuple[pl.DataFrame, pyreadstat.metadata_container]]] = {
        "spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta,
        "sas": pyreadstat.read_sas7bdat, "xpt": pyreadstat.read_xport,
    }  # fmt: skip
    catalogue = path.with_suffix(".sas7bcat")
    more = {"catalog_file": str(catalogue)} if kind == "sas" and catalogue.exists() else {}
    try:
        frame, about = readers[kind](str(path), output_format="polars", **more)
    except Exception as error:  # its text may quote what it read
        problem = f"the file cannot be read ({type(error).__name__}); is it damaged? Get it again"
        raise InputError(where=str(path), problem=problem) from None
    names = {str(c): dict(found) for c, found in about.variable_value_labels.items() if found}
    titles = {str(c): str(t) for c, t in about.column_names_to_labels.items() if t}
    words = {c for c, t in (about.readstat_variable_types or {}).items() if t == "string"}
    columns = [
        _named(_plain(series, is_text=series.name in words), names.get(series.name, {}))
        for series in frame
    ]
    return pl.DataFrame(columns), Dictionary(names, titles)


def _plain(series: pl.Series, *, is_text: bool) -> pl.Series:
    """Return numbers as whole ones where all are, and empty texts as missing."""
    if series.dtype.is_float():
        found = series.fill_nan(None).drop_nulls()
        is_whole = found.len() and ((found == found.round()) & (found.abs() <= _EXACT)).all()
        return series.cast(pl.Int64) if is_whole else series.fill_nan(None)
    if series.dtype == pl.Null and not is_text:
        return series.cast(pl.Float64)
    if series.dtype in (pl.String, pl.Null):
        return series.cast(pl.String).replace("", None)
    return series


def _named(series: pl.Series, names: Mapping[Code, str]) -> pl.Series:
    """Return the names of numbers; the numbers where one that occurs has no name."""
    occurring = set(series.drop_nulls().unique().to_list())
    if not occurring or not occurring <= names.keys():
        return series
    if dict(names) == dict(_TRUTH):
        return series.cast(pl.Boolean)
    known = distinct_names(names)
    return series.replace_strict(
        {code: known[code] for code in occurring}, default=None, return_dtype=pl.String
    )


def write_statistics(
    frame: pl.DataFrame, path: Path, kind: str, dictionary: Dictionary | None = None
) -> None:
    """Write a table; names that the dictionary knows become numbers with names again.

    Raises:
        MissingExtraError: pyreadstat is not installed.
        OutputError: the format has no place for a name or a text.
    """
    check_extra(kind)
    import pyreadstat

    dictionary = dictionary or Dictionary()
    columns, names = [], {}
    for series in frame:
        written, found = _numbered(series, dictionary.names.get(series.name, {}), kind)
        columns.append(written)
        if found is not _TRUTH:
            found = _occurring(written, found)
        if found:
            names[series.name] = found
    plain = pl.DataFrame(columns)
    _check_texts(plain, path, kind)
    titles = [dictionary.titles.get(name) for name in plain.columns]
    labels = {} if kind == "xpt" else {"variable_value_labels": names}
    writers: dict[str, Callable[..., None]] = {
        "spss": pyreadstat.write_sav,
        "stata": pyreadstat.write_dta,
        "xpt": pyreadstat.write_xport,
    }
    packed = {"compress": True} if path.suffix.lower() == ".zsav" else {}
    try:
        writers[kind](plain, str(path), column_labels=titles, **labels, **packed)
    except OSError:
        raise
    except Exception as error:  # its text may quote a name or a value
        raise OutputError(
            where=str(path),
            problem=f"cannot be written so ({type(error).__name__}): columns need names of "
            "letters, digits and _, as that program takes them; or name the file .csv or .parquet",
        ) from None


def _numbered(
    series: pl.Series, names: Mapping[Code, str], kind: str
) -> tuple[pl.Series, Mapping[Code, str]]:
    """Return a column as the file holds it, and the names of its numbers."""
    dtype = series.dtype
    if dtype == pl.Boolean:
        return (series.cast(pl.Float64), {} if kind == "xpt" else _TRUTH)
    if dtype.is_integer():
        widest = series.cast(pl.Int128).abs().max() if series.len() else None
        if isinstance(widest, int) and widest > _EXACT:
            return series.cast(pl.String), {}
        return series.cast(pl.Float64), names
    if dtype.is_float():
        return series.cast(pl.Float64), names
    if dtype.is_decimal():
        return series.cast(pl.Float64), names
    if isinstance(dtype, pl.Datetime):
        return series.dt.replace_time_zone(None).cast(pl.Datetime("us")), {}
    if dtype in (pl.Date, pl.Time):
        return series, {}
    texts = series.cast(pl.String)
    if not names or kind == "xpt":
        return texts.fill_null(""), {}
    return _coded(texts, names)


def _coded(texts: pl.Series, names: Mapping[Code, str]) -> tuple[pl.Series, Mapping[Code, str]]:
    """Return the number of each name; a label that the file did not know gets the next one."""
    known = distinct_names(names)
    codes = {name: code for code, name in known.items()}
    fresh = max((int(code) for code in names), default=0) + 1
    new = sorted(set(texts.drop_nulls().unique().to_list()) - codes.keys())
    codes |= {name: fresh + place for place, name in enumerate(new)}
    written = texts.replace_strict(codes, default=None, return_dtype=pl.Float64)
    return written, {code: name for name, code in codes.items()}


def _occurring(series: pl.Series, names: Mapping[Code, str]) -> Mapping[Code, str]:
    """Return the names of the numbers that are released; others may name who was suppressed."""
    found = set(series.drop_nulls().unique().to_list())
    return {code: name for code, name in names.items() if code in found}


def _check_texts(frame: pl.DataFrame, path: Path, kind: str) -> None:
    lengths = frame.select(pl.col(pl.String).str.len_bytes().max())
    long = [name for name in lengths.columns if (lengths[name][0] or 0) > _LONGEST[kind]]
    if long:
        named = ", ".join(map(repr, long))
        problem = f"column {named}: a text has more than {_LONGEST[kind]:,} bytes; name it .parquet"
        raise OutputError(where=str(path), problem=problem)


def named_hierarchies(dictionary: Dictionary, columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the leaves of the columns that have names: also of those that do not occur."""
    return {name: dictionary.leaves(name) for name in columns if dictionary.names.get(name)}
