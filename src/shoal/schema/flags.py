"""A schema from flags or keywords: what `--qi age,sex` and `qi=["age", "sex"]` stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shoal.core.documents import read_text
from shoal.core.errors import SchemaError, ShoalError
from shoal.core.suggest import did_you_mean
from shoal.hierarchies.builder import Builder
from shoal.hierarchies.read import load_hierarchy, read_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Others, Role, Schema
from shoal.schema.techniques import Pseudonym

Trees = Mapping[str, Hierarchy | Builder]


def schema_from_flags(
    roles: Mapping[Role, Sequence[str]],
    kinds: Mapping[Kind, Sequence[str]],
    *,
    hierarchies: str | Path | Mapping[str, object] | None = None,
    missing: Sequence[str] = (),
) -> Schema:
    """Return the schema that flags describe; columns nobody names are left out.

    Args:
        roles: the columns of each role.
        kinds: the columns of each kind.
        hierarchies: a folder with files *hierarchy_<column>.csv; or, by column, a hierarchy or
            what a schema writes for one: a path, a tree, a builder.
        missing: marks of missing values.

    Example:
        >>> schema = schema_from_flags({Role.QUASI: ["age"]}, {Kind.NUMERIC: ["age"]})
        >>> schema.attribute("age").kind
        <Kind.NUMERIC: 'numeric'>
    """
    faults: list[str] = []
    role_of: dict[str, Role] = {}
    for role, names in roles.items():
        for name in names:
            if role_of.setdefault(name, role) is not role:
                faults.append(
                    f"column {name!r} is named as {role_of[name]} and as {role}; keep one"
                )
    kind_of: dict[str, Kind] = {}
    for kind, names in kinds.items():
        for name in names:
            if kind_of.setdefault(name, kind) is not kind:
                faults.append(
                    f"column {name!r} is named as {kind_of[name]} and as {kind}; keep one"
                )
            if name not in role_of:
                faults.append(f"column {name!r} has a kind but no role; add it to --qi, for one")
    for names in roles.values():
        twice = sorted({name for name in names if list(names).count(name) > 1})
        faults += [f"column {name!r} is named twice; name it once" for name in twice]
    recoded = [n for n, r in role_of.items() if r in _RECODED]
    if isinstance(hierarchies, Mapping):
        trees = _given_trees(hierarchies, recoded, kinds.get(Kind.SET, ()), faults=faults)
    else:
        sets = kinds.get(Kind.SET, ())
        trees = _trees(hierarchies, recoded, sets, faults=faults)
    if faults:
        raise SchemaError(where="options", faults=faults)
    attributes = tuple(
        Attribute(name=name, role=role, kind=kind_of.get(name), hierarchy=trees.get(name))
        for name, role in role_of.items()
    )
    return Schema(attributes=attributes, others=Others.DROP, missing=tuple(missing))


_RECODED = (Role.QUASI, Role.SENSITIVE)


def refuse_both(schema: object, given: Sequence[str], spell: Callable[[str], str]) -> None:
    """Refuse a schema together with words that describe columns, and neither of them.

    Args:
        schema: what was given as a schema, or None.
        given: the words that were given, such as qi, numeric or hierarchies.
        spell: writes a word as the user does: --qi, or qi=.

    Raises:
        SchemaError: which of them to leave out, or to add.
    """
    if schema is not None and given:
        named = ", ".join(map(spell, given))
        text = f"give either {spell('schema')} or {named}, not both"
        raise SchemaError(where="options", faults=[text])
    if schema is None and "qi" not in given:
        text = f"name the quasi-identifiers with {spell('qi')}, or give {spell('schema')}"
        raise SchemaError(where="options", faults=[text])


def with_dates(schema: Schema, formats: Mapping[str, str], dates: str | None = None) -> Schema:
    """Return the schema with how dates are written and released.

    Args:
        schema: whose columns are meant.
        formats: how the dates of a column are written; "" stands for all columns of dates.
        dates: how they are released, "iso" or "same"; None: as the schema says.

    Raises:
        SchemaError: no such column, or no such way.
    """
    known = {attribute.name for attribute in schema.attributes}
    unknown = [name for name in formats if name and name not in known]
    faults = [f"no column {name!r}{did_you_mean(name, known)}" for name in unknown]
    if faults:
        raise SchemaError(where="--date-format", faults=faults)
    if dates not in (None, "iso", "same"):
        raise SchemaError(where="--dates", faults=["must be iso or same"])

    def dated(each: Attribute) -> Attribute:
        usual = formats.get("") if each.kind is Kind.DATE else None
        form = formats.get(each.name, usual)
        if form is not None:
            each = replace(each, kind=Kind.DATE, date_format=form)
        if dates is not None and each.kind is Kind.DATE:
            each = replace(each, dates=dates)
        return each

    return replace(schema, attributes=tuple(dated(each) for each in schema.attributes))


def with_set_sep(schema: Schema, separator: str | None) -> Schema:
    """Return the schema with what stands between the items of its sets.

    Raises:
        SchemaError: it has no column of sets.
    """
    if separator is None:
        return schema
    sets = [each for each in schema.attributes if each.kind is Kind.SET]
    if not sets:
        raise SchemaError(where="--set-sep", faults=["goes with a column of sets (--set)"])
    return schema.with_attributes([replace(each, set_sep=separator) for each in sets])


def with_utility_constraints(schema: Schema, place: str | Path | None) -> Schema:
    """Return the schema with the sets of items of a file, which labels must not cross.

    place: a text file with a set a line, its items between |.

    Raises:
        SchemaError: it has no column of sets, or the file names an item twice.
    """
    if place is None:
        return schema
    if not schema.sets:
        faults = ["goes with a column of sets (--set)"]
        raise SchemaError(where="--utility-constraints", faults=faults)
    lines = [line for line in read_text(place).splitlines() if line.strip()]
    found = tuple(tuple(item for item in line.split("|") if item) for line in lines)
    attribute = schema.attribute(schema.sets[0])
    return schema.with_attributes([replace(attribute, utility_constraints=found)])


def with_released_person(schema: Schema, how: str | None) -> Schema:
    """Return the schema whose release tells, by a pseudonym, which records are of one person.

    Raises:
        SchemaError: there is no such way, or not one column that says who a record is about.
    """
    if how is None:
        return schema
    if how != Pseudonym.name:
        raise SchemaError(where="--release-person", faults=["must be pseudonym"])
    if len(schema.person) != 1:
        text = "needs one column that says who a record is about (--person)"
        raise SchemaError(where="--release-person", faults=[text])
    person = replace(schema.attribute(schema.person[0]), release=Pseudonym())
    return schema.with_attributes([person])


def _given_trees(
    given: Mapping[str, object],
    names: Sequence[str],
    sets: Sequence[str],
    *,
    faults: list[str],
) -> dict[str, Hierarchy | Builder]:
    """Read hierarchies that stand beside the names of their columns."""
    trees: dict[str, Hierarchy | Builder] = {}
    for name, entry in given.items():
        if name not in names:
            meant = did_you_mean(name, names)
            faults.append(
                f"hierarchies: {name!r} is no quasi-identifier or sensitive column{meant}"
            )
            continue
        if isinstance(entry, (Hierarchy, Builder)):
            trees[name] = entry
            continue
        try:
            plain = str(entry) if isinstance(entry, Path) else entry
            found = read_hierarchy(name, plain, folder=Path(), items=name in sets)
        except ShoalError as error:
            faults.append(f"column {name!r}: {error}")
            continue
        if found is not None:
            trees[name] = found
    return trees


def _trees(
    folder: str | Path | None, names: Sequence[str], sets: Sequence[str], *, faults: list[str]
) -> dict[str, Hierarchy | Builder]:
    """Read the files *hierarchy_<column>.csv of a folder."""
    if folder is None:
        return {}
    place = Path(folder)
    if not place.is_dir():
        faults.append(f"--hierarchies {folder}: no such folder")
        return {}
    trees: dict[str, Hierarchy | Builder] = {}
    for name in names:
        found = sorted(p for p in place.iterdir() if p.name.endswith(f"hierarchy_{name}.csv"))
        if len(found) > 1:
            faults.append(f"--hierarchies {folder}: {len(found)} files for column {name!r}")
        elif found:
            try:
                trees[name] = load_hierarchy(name, found[0], items=name in sets)
            except ShoalError as error:
                faults.append(f"{found[0].name}: {error}")
    return trees
