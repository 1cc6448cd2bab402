"""What a data decision maker may choose, checked against the schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.xk.pipeline import Plan, Techniques
from shoal.privacy import KAnonymity, LDiversity, Promise, expand
from shoal.schema.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a data decision maker may say beside table, schema and k.

    Attributes:
        techniques: what may be done to save records from suppression.
        diversity: l for all sensitive columns or for each, beside the schema's promise.
        replace_promise: k and `diversity` take the place of the schema's promise.
        preference: none, originals or precision.
        minimum_precision: in percent; fractions of k below it are not recommended.
        ranking: the quasi-identifiers, the most important first; by weight, then in the
            schema's order, if empty.
        generalized, suppressed: the columns that the techniques change; the least
            important ones if None.
        level: how many steps of its hierarchy a generalized cell climbs.
        gradual: introduce the quasi-identifiers one by one.
        marks: texts of empty cells; those of the paper and of the schema if None.
        suppression_limit: share of the records that may be suppressed; the schema's limit,
            where it has one above 0, if None.
    """

    techniques: Techniques = field(default_factory=Techniques)
    diversity: int | Mapping[str, int] | None = None
    replace_promise: bool = False
    preference: str = "none"
    minimum_precision: float | None = None
    ranking: Sequence[str] = ()
    generalized: str | None = None
    suppressed: str | None = None
    level: int = 1
    gradual: bool = False
    marks: Sequence[str] | None = None
    suppression_limit: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.level, bool) or self.level < 1:
            raise MethodError(problem="a generalized cell climbs at least one level")
        if self.suppression_limit is not None and not 0 <= self.suppression_limit <= 1:
            raise MethodError(problem="the suppression limit must lie between 0 and 1")

    def plan(self, schema: Schema, *, k: int, xk: int) -> Plan:
        """Return the plan that these choices stand for."""
        return Plan(
            k=k,
            xk=xk,
            techniques=self.techniques,
            diversity=asked_diversity(schema, self),
            ranking=self.ranking or importance(schema),
            generalized=self.generalized,
            suppressed=self.suppressed,
            gradual=self.gradual,
        )


def importance(schema: Schema) -> list[str]:
    """Return the quasi-identifiers by weight, the heaviest first, then in the schema's order."""
    return sorted(schema.quasi, key=lambda name: -schema.attribute(name).weight)


def promised_diversity(models: Iterable[Promise], schema: Schema) -> dict[str, int]:
    """Return the diversity that a promise asks of each sensitive column.

    Raises:
        MethodError: the promise holds a model that xk-anonymity cannot keep.
    """
    found: dict[str, int] = {}
    for model in expand(tuple(models), schema.sensitive):
        if isinstance(model, KAnonymity):
            continue
        if not isinstance(model, LDiversity) or model.kind != "distinct":
            raise MethodError(
                problem=f"xk-anonymity keeps k-anonymity and distinct l-diversity, not {model.name}"
            )
        column = str(model.column)
        found[column] = max(found.get(column, 1), int(model.l))
    return found


def asked_diversity(schema: Schema, choices: Choices) -> dict[str, int]:
    """Return the diversity to be kept, without the columns of which nothing is asked.

    Raises:
        MethodError: a diversity or technique that the schema's columns do not allow.
        PrivacyError: a diversity below the schema's promise.
    """
    asked = {} if choices.diversity is None else choices.diversity
    if isinstance(asked, int):
        if asked > 1 and not schema.sensitive:
            raise MethodError(
                problem="a diversity l needs a sensitive column; name one, or leave l out"
            )
        asked = dict.fromkeys(schema.sensitive, asked)
    unknown = sorted(name for name in asked if name not in schema.sensitive)
    if unknown:
        named = ", ".join(repr(name) for name in unknown)
        raise MethodError(problem=f"diversity: {named} is not a sensitive column")
    if any(isinstance(x, bool) or not isinstance(x, int) or x < 1 for x in asked.values()):
        raise MethodError(problem="the diversity l must be a whole number from 1 on")
    if choices.techniques.sensitive_suppression and not schema.sensitive:
        raise MethodError(
            problem="sensitive suppression was asked for, but there is no sensitive column; "
            "name one, or leave sensitive suppression out"
        )
    models: Iterable[Promise] = [LDiversity(x, column=name) for name, x in asked.items()]
    if not choices.replace_promise:
        models = schema.with_promise(models).privacy
    kept = promised_diversity(models, schema)
    return {name: wanted for name, wanted in kept.items() if wanted > 1}


def check_k(schema: Schema, k: int, choices: Choices) -> None:
    """Refuse a k below the schema's promise.

    Raises:
        PrivacyError: the schema promises more.
    """
    if not choices.replace_promise:
        schema.with_promise([KAnonymity(k)])


def limit_of(schema: Schema, choices: Choices) -> float | None:
    """Return the share of the records that may be suppressed; None allows any."""
    if choices.suppression_limit is not None:
        return choices.suppression_limit
    return schema.suppression_limit or None  # 0 is what a schema has that says nothing


def check_limit(suppressed: int, records: int, limit: float | None) -> None:
    """Raise NoSolutionError where more records would be suppressed than was allowed."""
    if limit is None or suppressed <= floor(limit * records + 1e-9):
        return
    least = ceil(suppressed / records * 1e6) / 1e6
    raise NoSolutionError(
        problem=f"{suppressed} of {records} records would be suppressed, more than the suppression "
        f"limit of {limit:g} allows. Take a smaller xk or more techniques, or allow "
        f"--suppression-limit {least:g}"
    )
