"""xk-anonymity on tables: from a table to a recommendation, and to a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import Json
from shoal.core.errors import UnsafeReleaseError
from shoal.engines.local.blanked import verify_release
from shoal.engines.local.copies import Exposure
from shoal.engines.local.kept import check_kept
from shoal.engines.local.links import check_links
from shoal.engines.local.person_file import with_made_up
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.xk_table import Opened
from shoal.engines.person_key import PERSON
from shoal.methods.xk.choices import Choices, check_limit, limit_of
from shoal.methods.xk.outcome import Outcome, outcome_of, tally_of
from shoal.methods.xk.recommendation import Recommendation
from shoal.methods.xk.rows import Pairs, pairs_of
from shoal.reports.release import Risk
from shoal.schema.schema import Schema

__all__ = ["Applied", "Choices", "apply", "recommend", "verify_release"]


class Applied(NamedTuple):
    """A verified release, the account of it, and which of its rows are false.

    The marks stay inside, and so do the people (where persons are counted, whom each row is
    about; a false one is nobody's): the release itself does not carry them.
    """

    released: pl.DataFrame
    outcome: Outcome
    false_rows: NDArray[np.bool_]
    risks: tuple[Risk, Risk]
    exposure: Exposure
    warnings: tuple[str, ...] = ()
    roles: Mapping[str, Mapping[str, Json]] = MappingProxyType({})
    repeats: Mapping[str, Json] | None = None
    people: pl.Series | None = None

    def marks(self) -> pl.DataFrame:
        """Return the false rows as a table of their own: their numbers, the first row is 1."""
        return pl.DataFrame({"false_row": np.flatnonzero(self.false_rows) + 1})


def recommend(
    table: object,
    schema: Schema,
    k: int,
    *,
    choices: Choices | None = None,
    separator: str | None = None,
) -> Recommendation:
    """Recommend the fraction of k for a table, and work out what every technique gives on it.

    Args:
        table: a path, or a Polars, pandas or Arrow table.
        schema: names the quasi-identifiers and sensitive columns.
        k: records that a released pair must have.
        choices: techniques, diversity, preference, minimum precision.
        separator: of a CSV file; found out if None.

    Raises:
        MethodError: choices that contradict each other or the schema.
        NoSolutionError: nothing could be released as asked.

    Example:
        >>> from shoal.schema.schema import Schema
        >>> table = pl.DataFrame({"sex": ["F"] * 9 + ["M"] * 4 + ["X"]})
        >>> schema = Schema.from_document({"columns": {"sex": "quasi"}})
        >>> recommend(table, schema, 5).recommended.fraction
        '3/4'
    """
    opened = Opened.read(table, schema, k, choices or Choices(), separator)
    return opened.recommend(k)


def apply(
    table: object,
    schema: Schema,
    k: int,
    *,
    xk: int | None = None,
    choices: Choices | None = None,
    seed: int = 0,
    separator: str | None = None,
    steps: Path | None = None,
) -> Applied:
    """Make a table xk-anonymous and verify the release.

    Args:
        table: a path, or a Polars, pandas or Arrow table.
        schema: roles, kinds and hierarchies of its columns.
        k: records that a released pair has, false ones included.
        xk: original records that a released pair has; the recommended number if None.
        choices: techniques, diversity and columns.
        seed: chooses the records that false ones copy.
        separator: of a CSV file; found out if None.
        steps: an empty folder for the pairs and the table after each step; raw data.

    Guarantee:
        Rows are sorted by what is released, so their order tells nothing about the table
        or about which records are false; the same seed gives the same rows whatever the
        order of the table.

    Raises:
        SchemaError: a kept column is an identifier or tells false records from real ones,
            and the schema does not waive it; or the release would link a person's records.
        NoSolutionError: every record would be suppressed, or more than the limit allows.
        UnsafeReleaseError: the release did not verify; there is none.

    Example:
        >>> from shoal.schema.schema import Schema
        >>> table = pl.DataFrame({"sex": ["F"] * 9 + ["M"] * 4 + ["X"]})
        >>> schema = Schema.from_document({"columns": {"sex": "quasi"}})
        >>> found = apply(table, schema, 5, xk=4)
        >>> found.released["sex"].value_counts(sort=True).rows(), int(found.false_rows.sum())
        ([('F', 9), ('M', 5)], 1)
    """
    opened = Opened.read(table, schema, k, choices or Choices(), separator)
    kept = check_kept(opened.source, opened.batch.lazy(), opened.schema.kept, schema.waive)
    if opened.who is not None:
        beside = opened.batch.with_columns(opened.who).lazy()
        links = check_links(
            opened.source,
            beside,
            opened.schema,
            opened.schema.kept,
            promised=bool(opened.diversity),
        )
        kept = kept.with_links(links)
    kept.refuse(opened.source.where)
    foreseen = opened.rank(k)
    threshold = foreseen.recommended.xk if xk is None else xk
    carried = opened.carry_out(k, threshold, seed=seed, steps=steps)
    found = tally_of(carried)
    check_limit(found.suppressed, found.records, limit_of(schema, opened.choices))
    exposure = opened.exposure(carried.after, k)
    exposure.refuse(schema.waive, where=opened.source.where)
    released, false_rows, _, people = opened.release(carried.after, seed=seed)
    judged, known = with_false(released, opened.schema, people, false_rows)
    blank = opened.choices.techniques.sensitive_suppression
    verified = verify_release(judged, known, k, diversity=opened.diversity, blanked=blank)
    if not all(result.holds for result in verified):
        wrong = sum(result.violating_records for result in verified)
        raise UnsafeReleaseError(
            problem=f"{wrong} released records break the promise; nothing was released"
        )
    outcome = outcome_of(
        carried, columns=len(released.columns), prediction=foreseen.prediction(threshold)
    )
    risks = (_risk(pairs_of(carried.before)), _risk(pairs_of(carried.after)))
    roles = kept.roles(opened.schema, opened.source.columns)
    repeats = opened.repeats(carried.after, k)
    few = () if repeats is None else (repeats.text,)
    spelled = dict.fromkeys(text for result in verified for text in result.warnings)
    warnings = (*few, *kept.warnings, *exposure.warnings(), *spelled)
    return Applied(
        released, outcome, false_rows, risks, exposure, warnings, roles,
        None if repeats is None else repeats.to_document(), people,
    )  # fmt: skip


def with_false(
    released: object, schema: Schema, people: pl.Series | None, false_rows: NDArray[np.bool_]
) -> tuple[Source, Schema]:
    """Return a release with the person of each of its rows, and a schema that counts them.

    people: None where each record is a person.
    """
    source = open_source(released)
    if people is None:
        return source, schema
    frame = source.collect(source.scan(source.columns)).with_columns(people.alias(PERSON))
    numbers = (np.flatnonzero(false_rows) + 1).tolist()
    both, names = with_made_up(open_source(frame), (PERSON,), numbers)
    return both, schema.with_person(names)


def _risk(pairs: Pairs) -> Risk:
    sizes = pairs.people + pairs.false
    return Risk(
        records=int((pairs.records + pairs.false).sum()),
        classes=len(sizes),
        smallest_class=int(sizes.min()),
        unique=int((sizes == 1).sum()),
    )
