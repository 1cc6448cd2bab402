"""What a model must have before anything that was encoded with it is called safe.

A model file travels, and whoever can write it decides what is released. A fingerprint notices
damage, not intent: it can be computed anew. So the promise is never empty, and the roles of
a schema that the caller trusts can be held against the model's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shoal.core.errors import ModelFormatError, PrivacyError, SchemaError
from shoal.model.model import RecodingModel
from shoal.privacy import Promise
from shoal.privacy.combine import combined, joined
from shoal.schema.schema import REMOVED, Others, Role, Schema


def for_safe(
    model: RecodingModel,
    *,
    schema: Schema | None = None,
    privacy: Iterable[Promise] | None = None,
    fold_case: bool = False,
) -> RecodingModel:
    """Return the model with the whole promise that a safe batch must keep.

    Args:
        model: as it was learned or read.
        schema: what the caller knows of the columns; its roles are enforced, its promise is kept.
        privacy: what is promised beside the model's promise, or more strictly.
        fold_case: join sensitive values that differ only by case, accents or spaces, even if
            neither the model nor the schema says so.

    Raises:
        ModelFormatError: the model has no fingerprint that fits it.
        PrivacyError: there is no promise, or one that asks for less than the model's.
        SchemaError: the model releases what the schema protects, or counts other persons.
    """
    if not model.sealed:
        raise ModelFormatError(
            problem=(
                "it has no fingerprint that fits it, so nothing encoded with it is called safe; "
                "take the file as `shoal learn` wrote it"
            )
        )
    promise = model.privacy
    if schema is not None:
        enforce_roles(model, schema)
        promise = joined(promise, schema.privacy, model.schema.sensitive)
    promise = combined(promise, privacy or (), model.schema.sensitive, owner="model")
    if not promise:
        raise PrivacyError(
            model="none",
            problem="the model promises nothing, so no batch is safe by it; ask for a promise, "
            "such as -k 5 (privacy=)",
        )
    known = model.schema
    if schema is not None and schema.person and set(schema.person) != set(known.person):
        if known.person:
            ours, theirs = (" and ".join(map(repr, s.person)) for s in (schema, known))
            raise SchemaError(
                where="schema",
                faults=[f"persons are counted by {ours} here, and by {theirs} in the model"],
            )
        known = known.with_person(schema.person)
    fold = fold_case or model.schema.fold_case or (schema is not None and schema.fold_case)
    return replace(model, schema=replace(known, privacy=promise, fold_case=fold))


def enforce_roles(model: RecodingModel, schema: Schema) -> None:
    """Refuse a model that protects a column less than a schema asks for.

    Raises:
        SchemaError: what the schema removes, recodes or checks, the model releases otherwise.
    """
    roles = {a.name: a.role for a in model.schema.attributes}
    keeps_others = model.schema.others is Others.KEEP
    asked = {a.name: a.role for a in schema.attributes}
    faults = []
    for name, role in asked.items():
        treated = roles.get(name, Role.NEUTRAL if keeps_others else Role.IDENTIFYING)
        if role is not Role.NEUTRAL and treated not in (role, *REMOVED):
            faults.append(f"column {name!r} is {role} here, and {treated} in the model")
    if schema.others is not Others.KEEP:
        faults += [
            f"column {name!r} has no role here, and the model releases it"
            for name, role in roles.items()
            if name not in asked and role not in REMOVED
        ]
        if keeps_others:
            faults.append("the model keeps columns that it does not name; here they are not kept")
    if faults:
        raise SchemaError(
            where="schema", faults=[*faults, "learn the model again with this schema"]
        )
