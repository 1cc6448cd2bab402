"""A script of R that does with sdcMicro the nearest thing to a schema, to compare with.

sdcMicro suppresses single cells where shoal recodes or suppresses records; it measures l-diversity
and does not enforce it, and knows no t-closeness. The script says so where it matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import KAnonymity, LDiversity, Promise
from shoal.schema.attribute import Kind, Role
from shoal.schema.schema import Schema

_GENERALIZE = """\
# Replaces each value by its ancestor; a file of a hierarchy has a row a value, then its levels.
generalize <- function(values, file, level) {
  if (level == 0) return(values)
  rows <- read.csv(file, header = FALSE, sep = ";", colClasses = "character",
                   encoding = "UTF-8", na.strings = character(0))
  found <- rows[[level + 1]][match(values, rows[[1]])]
  stopifnot(all(is.na(values) | !is.na(found)))
  found
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRequest:
    """What a script is written for.

    Attributes:
        table: the file as R reads it, a CSV file of UTF-8.
        separator: of its fields.
        release: the file that the script writes.
        hierarchies: by column, the file of its hierarchy in the common layout, with `;`.
        levels: by column, the level that it is recoded to; by default 1.
    """

    schema: Schema
    table: str
    separator: str = ","
    release: str = "release_sdcmicro.csv"
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)


def to_sdcmicro(request: ScriptRequest) -> str:
    """Return the script."""
    return "\n".join(_lines(request)) + "\n"


def _lines(request: ScriptRequest) -> Iterator[str]:
    schema = request.schema
    by_role = {role: _names(schema, role) for role in Role}
    yield "# Written by shoal from a schema: the nearest thing that sdcMicro does."
    yield "# install.packages('sdcMicro')"
    yield "library(sdcMicro)"
    yield "set.seed(1)"
    yield ""
    marks = ["", *schema.missing]
    yield (
        f"data <- read.csv({r_text(request.table)}, sep = {r_text(request.separator)}, "
        "check.names = FALSE, colClasses = 'character',"
    )
    yield f"                 encoding = 'UTF-8', na.strings = {r_texts(marks)})"
    gone = [*by_role[Role.IDENTIFYING], *by_role[Role.PERSON]]
    if gone:
        yield f"data <- data[, setdiff(names(data), {r_texts(gone)})]  # identifying"
    for name in _numbers(schema):
        yield f"data[[{r_text(name)}]] <- as.numeric(data[[{r_text(name)}]])"
    yield ""
    yield from _recoding(request, by_role[Role.QUASI])
    yield "sdc <- createSdcObj("
    yield "  dat = data,"
    yield f"  keyVars = {r_texts(by_role[Role.QUASI])},"
    sensitive = by_role[Role.SENSITIVE]
    yield f"  sensibleVar = {r_texts(sensitive) if sensitive else 'NULL'}"
    yield ")"
    yield "print(sdc, 'risk')"
    yield ""
    for promise in schema.privacy:
        yield from _promise(promise, by_role)
    yield "print(sdc, 'kAnon')"
    yield "print(sdc, 'risk')"
    yield "print(sdc, 'ls')  # cells that were suppressed"
    yield ""
    yield (
        f"write.csv(extractManipData(sdc), {r_text(request.release)}, row.names = FALSE, na = '', "
        "fileEncoding = 'UTF-8')"
    )


def _names(schema: Schema, role: Role) -> list[str]:
    return [each.name for each in schema.attributes if each.role is role]


def _numbers(schema: Schema) -> list[str]:
    return [
        each.name
        for each in schema.attributes
        if each.kind is Kind.NUMERIC and each.is_released and each.hierarchy is None
    ]


def _recoding(request: ScriptRequest, quasi: Sequence[str]) -> Iterator[str]:
    """Yield the recoding of the columns whose hierarchy is in a file."""
    files = {name: request.hierarchies[name] for name in quasi if name in request.hierarchies}
    if not files:
        return
    yield _GENERALIZE
    yield "# Levels of the hierarchies; 0 leaves a column as it is. Choose them as shoal did:"
    yield "# `shoal anonymize … --method flash --json` says `levels`."
    trees = {each.name: each.hierarchy for each in request.schema.attributes}
    for name, file in files.items():
        tree = trees[name]
        most = tree.levels - 1 if isinstance(tree, Hierarchy) else 1
        level = min(request.levels.get(name, 1), most)
        column = f"data[[{r_text(name)}]]"
        yield f"{column} <- generalize({column}, {r_text(file)}, {level})  # of {most}"
    yield ""


def _promise(promise: Promise, by_role: Mapping[Role, Sequence[str]]) -> Iterator[str]:
    if isinstance(promise, KAnonymity):
        yield "# k-anonymity: single cells are suppressed, and a suppressed cell is a wildcard."
        yield "# In shoal a missing value is a value of its own, so its k is the stricter one."
        yield f"sdc <- localSuppression(sdc, k = {promise.k})"
    elif isinstance(promise, LDiversity):
        column = [promise.column] if promise.column else list(by_role[Role.SENSITIVE])
        yield f"# l-diversity with l = {promise.l:g} ({promise.kind}): measured, not enforced."
        bound = f"l_recurs_c = {promise.c or 2:g}"
        yield f"sdc <- ldiversity(sdc, ldiv_index = {r_texts(column)}, {bound})"
        yield "print(sdc@risk$ldiversity)"
    else:
        yield f"# NOT done: sdcMicro has no {promise.name}."
    yield ""


def r_texts(texts: Sequence[str]) -> str:
    """Return a vector of texts as R reads it.

    Example:
        >>> r_texts(["age", "zip code"])
        "c('age', 'zip code')"
    """
    return f"c({', '.join(map(r_text, texts))})"


def r_text(text: str) -> str:
    """Return a text as R reads it: nothing in it can end it."""
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    escaped = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in plain)
    return f"'{escaped}'"
