"""A schema from flags: what `--qi age,sex --sensitive diagnosis` stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.core.errors import SchemaError, ShoalError
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Promise,
    TCloseness,
)
from shoal.schema.schema import Attribute, Kind, Others, Role, Schema, load_hierarchy


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseFlags:
    """The promise as it stands on a command line."""

    k: int | None = None
    l: float | None = None  # noqa: E741 - the option's name
    l_kind: str = "distinct"
    c: float | None = None
    t: float | None = None
    t_distance: str = "equal"
    n: int | None = None
    alpha: float | None = None
    beta: float | None = None
    delta: float | None = None

    def models(self) -> tuple[Promise, ...]:
        """Return the privacy models that the flags ask for.

        Raises:
            PrivacyError: a parameter is impossible.
            SchemaError: a flag without the one it belongs to.
        """
        faults = []
        if self.c is not None and self.l is None:
            faults.append("--c belongs to --l with --l-kind recursive")
        if self.n is not None and self.t is None:
            faults.append("--n belongs to --t: together they ask for (n,t)-closeness")
        if self.alpha is not None and self.k is None:
            faults.append("--alpha needs -k: together they ask for (alpha,k)-anonymity")
        if self.l_kind != "distinct" and self.l is None:
            faults.append("--l-kind belongs to --l")
        if self.t_distance != "equal" and self.t is None:
            faults.append("--t-distance belongs to --t")
        if faults:
            raise SchemaError(where="options", faults=faults)
        models: list[Promise] = []
        if self.k is not None:
            models.append(KAnonymity(self.k))
        if self.l is not None:
            whole = int(self.l) if float(self.l).is_integer() else self.l
            models.append(LDiversity(whole, self.l_kind, c=self.c))  # type: ignore[arg-type]
        if self.t is not None and self.n is not None:
            models.append(NTCloseness(self.n, self.t, distance=self.t_distance))  # type: ignore[arg-type]
        elif self.t is not None:
            models.append(TCloseness(self.t, self.t_distance))  # type: ignore[arg-type]
        if self.alpha is not None and self.k is not None:
            models.append(AlphaKAnonymity(self.alpha, self.k))
        if self.beta is not None:
            models.append(BetaLikeness(self.beta))
        if self.delta is not None:
            models.append(DeltaDisclosure(self.delta))
        return tuple(models)


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
