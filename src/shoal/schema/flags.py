"""A schema from flags: what `--qi age,sex --sensitive diagnosis` stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.core.errors import SchemaError, ShoalError
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Others, Role, Schema, load_hierarchy


def schema_from_flags(
    roles: Mapping[Role, Sequence[str]],
    kinds: Mapping[Kind, Sequence[str]],
    *,
    hierarchies: str | Path | None = None,
    missing: Sequence[str] = (),
) -> Schema:
    """Return the schema that flags describe; columns nobody names are left out.

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
                faults.append(f"column {name!r} is named as {role_of[name]} and as {role}")
    kind_of: dict[str, Kind] = {}
    for kind, names in kinds.items():
        for name in names:
            if kind_of.setdefault(name, kind) is not kind:
                faults.append(f"column {name!r} is named as {kind_of[name]} and as {kind}")
            if name not in role_of:
                faults.append(f"column {name!r} has a kind but no role; add it to --qi, for one")
    for names in roles.values():
        twice = sorted({name for name in names if list(names).count(name) > 1})
        faults += [f"column {name!r} is named twice" for name in twice]
    trees = _trees(hierarchies, [n for n, r in role_of.items() if r in _RECODED], faults=faults)
    if faults:
        raise SchemaError(where="options", faults=faults)
    attributes = tuple(
        Attribute(name=name, role=role, kind=kind_of.get(name), hierarchy=trees.get(name))
        for name, role in role_of.items()
    )
    return Schema(attributes=attributes, others=Others.DROP, missing=tuple(missing))


_RECODED = (Role.QUASI, Role.SENSITIVE)


def _trees(
    folder: str | Path | None, names: Sequence[str], *, faults: list[str]
) -> dict[str, Hierarchy]:
    """Read the files *hierarchy_<column>.csv of a folder."""
    if folder is None:
        return {}
    place = Path(folder)
    if not place.is_dir():
        faults.append(f"--hierarchies {folder}: no such folder")
        return {}
    trees = {}
    for name in names:
        found = sorted(p for p in place.iterdir() if p.name.endswith(f"hierarchy_{name}.csv"))
        if len(found) > 1:
            faults.append(f"--hierarchies {folder}: {len(found)} files for column {name!r}")
        elif found:
            try:
                trees[name] = load_hierarchy(name, found[0])
            except ShoalError as error:
                faults.append(f"{found[0].name}: {error}")
    return trees
