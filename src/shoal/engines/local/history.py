"""The releases of a ledger, laid over a new one of the same table."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.core.release_ledger import LedgerEntry
from shoal.engines.local.compose import Original, Overlay
from shoal.engines.local.identities import CLASS, ID, WHO, Identity, person_hashes
from shoal.engines.local.source import Source
from shoal.measures.composition import ABSENT, UNKNOWN, Meet
from shoal.privacy import KAnonymity, Promise, Verdict, judge_sizes
from shoal.privacy.registry import from_document
from shoal.reports.composition import Composition
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Schema

Numbers = NDArray[np.int64]


def identity_of(entry: LedgerEntry) -> Identity:
    """Return what the records of a release are recognised by."""
    return Identity(tuple(entry.identity), entry.is_key)


@dataclass(frozen=True)
class Known:
    """The records of a table by their hashes, for one ledger.

    Attributes:
        source: the table.
        schema: fitted to it.
        key: of the hashes.
    """

    source: Source
    schema: Schema
    key: bytes = field(repr=False)
    _hashes: dict[Identity, pl.Series] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def who(self) -> pl.Series:
        """Return the hash of who each record is about; null: nobody, or no person is named."""
        return person_hashes(self.source, self.schema, self.key)

    def hashes(self, identity: Identity) -> pl.Series:
        """Return the hash of each record by what it is recognised by."""
        if identity not in self._hashes:
            self._hashes[identity] = identity.hashes(self.source, self.schema, self.key)
        return self._hashes[identity]

    def members(
        self, identity: Identity, classes: Numbers, signatures: pl.DataFrame | None = None
    ) -> bytes:
        """Return what is entered of the records of a release; numbers of classes by chance.

        signatures: of a release over time, the signature of each person (WHO, SIGNATURE).

        Raises:
            InputError: the table changed while it was released.
        """
        hashes = self.hashes(identity)
        if hashes.len() != len(classes) or self.who.len() != len(classes):
            raise InputError(where=self.source.where, problem="changed while it was released")
        names, numbers = np.unique(classes, return_inverse=True)
        drawn = np.random.default_rng().permutation(len(names))[numbers]
        frame = pl.DataFrame([hashes, self.who, pl.Series(CLASS, drawn, dtype=pl.Int32)]).filter(
            pl.Series(classes >= 0)
        )
        if signatures is not None:
            frame = frame.join(signatures, on=WHO, how="left", maintain_order="left")
        held = io.BytesIO()
        # By the hash: neither the order of the table nor that of classes is kept.
        frame.sort(ID).write_ipc(held, compression="zstd")
        return held.getvalue()

    def past(self, entry: LedgerEntry, members: bytes) -> Past:
        """Find the records of the table in a release of the ledger.

        Raises:
            InputError: they cannot be looked for; see `obstacle`.
        """
        if (obstacle := self.obstacle(entry)) is not None:
            raise InputError(
                where=self.source.where,
                problem=f"{entry.title} {obstacle}, and nothing can be said of both together; if "
                f"it is meant so: --waive-composition {entry.number}",
            )
        identity = identity_of(entry)
        held = pl.read_ipc(io.BytesIO(members))
        own = self.hashes(identity).to_frame()
        found = own.join(held, on=ID, how="left", maintain_order="left")[CLASS]
        unknown = own[ID].is_null()
        classes = found.cast(pl.Int64).fill_null(ABSENT).to_numpy().copy()
        classes[unknown.to_numpy()] = UNKNOWN
        gone = held.join(own.filter(pl.col(ID).is_not_null()), on=ID, how="anti")
        # What has no hash is somebody of their own, here and in every other release.
        nobody = pl.format(f"{entry.number}:{{}}", pl.int_range(pl.len())).cast(pl.Binary)
        return Past(entry, classes, gone.with_columns(pl.col(ID).fill_null(nobody)))

    def obstacle(self, entry: LedgerEntry) -> str | None:
        """Say why the records of a release cannot be looked for, if they cannot."""
        if lost := identity_of(entry).missing_in(self.source):
            named = ", ".join(map(repr, lost))
            return f"is recognised by {named}, which the table does not have"
        if set(entry.persons) - set(self.schema.person):
            named = ", ".join(map(repr, entry.persons))
            return f"counts persons by {named}, which the schema does not name as a person"
        return None

    def is_like(self, entry: LedgerEntry) -> bool:
        """Say whether a release may be of this table: it can be looked for, or is recoded alike."""
        is_there = not identity_of(entry).missing_in(self.source)
        return is_there or bool(set(entry.quasi) & set(self.schema.quasi))


@dataclass(frozen=True)
class Past:
    """A release of the ledger.

    Attributes:
        classes: int64[records of the table], the class of each; ABSENT, UNKNOWN.
        left: what the ledger has of records that are no longer in the table.
    """

    entry: LedgerEntry
    classes: Numbers
    left: pl.DataFrame

    @property
    def is_of_this_table(self) -> bool:
        """Say whether it has any record of the table, or may have one."""
        return bool((self.classes != ABSENT).any())

    @property
    def numbers(self) -> NDArray[np.int32]:
        """Return the class of each record; -1 where it has none, or none that can be told."""
        return self.classes.clip(ABSENT).astype(np.int32)

    @cached_property
    def promise(self) -> tuple[Promise, ...]:
        """Return what it keeps."""
        return tuple(from_document(document) for document in self.entry.promise)


@dataclass(frozen=True)
class History:
    """Earlier releases of a table and a new one, laid over each other.

    Attributes:
        known: the records of the table.
        past: the earlier releases.
        classes: int64[records], the class of each record in the new one.
        promise: of the new one, a model for each sensitive column that it speaks of.
        smallest_class: of the new one.
    """

    known: Known
    past: tuple[Past, ...]
    classes: Numbers
    promise: tuple[Promise, ...]
    smallest_class: int

    @cached_property
    def original(self) -> Original:
        """Return the table, with every column that a promise speaks of as a sensitive one.

        Raises:
            InputError: the table no longer has one of them.
        """
        schema, source = self.known.schema, self.known.source
        asked = {each.column for past in self.past for each in past.promise} - {None}
        for name in sorted(str(each) for each in asked.difference(schema.sensitive)):
            if name not in source.columns:
                named = [p.entry for p in self.past if name in {m.column for m in p.promise}]
                raise InputError(
                    where=source.where,
                    problem=f"has no column {name!r} any more, of which {named[0].title} promised "
                    "something, and nothing can be said of both together; if it is meant so: "
                    f"--waive-composition {','.join(str(each.number) for each in named)}",
                )
            others = tuple(a for a in schema.attributes if a.name != name)
            known = [a.kind for a in schema.attributes if a.name == name]
            kind = (known or [Kind.CATEGORICAL])[0]
            more = Attribute(name=name, role=Role.SENSITIVE, kind=kind)
            schema = replace(schema, attributes=(*others, more), target=None, waive=())
        return Original(source, schema)

    @property
    def size(self) -> int:
        """Return how many people everybody must be among.

        No more than was promised, and no more than the smallest class of any of the releases:
        with fewer, that one alone would say it.
        """
        models = [*self.promise, *(model for past in self.past for model in past.promise)]
        asked = max((model.least_records for model in models), default=1)
        alone = min(past.entry.smallest_class for past in self.past)
        return max(min(asked, alone, self.smallest_class), 1)

    @cached_property
    def values(self) -> tuple[Promise, ...]:
        """Return what is promised of sensitive values, but for what a release alone breaks.

        A release that shows the column and did not promise it may break it by itself: then it is
        not both together that do. Where somebody left since, nobody can tell, and it is asked.
        """
        every = dict.fromkeys([*self.promise, *(m for past in self.past for m in past.promise)])
        return tuple(
            model
            for model in every
            if model.column is not None and not self._is_broken_alone(model)
        )

    def _is_broken_alone(self, model: Promise) -> bool:
        shown = self.known.schema.sensitive
        if (
            model not in self.promise
            and model.column in shown
            and self._breaks(model, self.classes)
        ):
            return True
        return any(
            model.column in past.entry.shown
            and model not in past.promise
            and not past.left.height
            and self._breaks(model, past.classes)
            for past in self.past
        )

    def _breaks(self, model: Promise, classes: Numbers) -> bool:
        judged = Overlay.of(self.original, [classes]).judge([model])
        return judged is not None and not judged.holds

    def compose(self) -> Composition:
        """Judge what everybody may expect of all releases together."""
        laid = Overlay.of(self.original, [*(past.classes for past in self.past), self.classes])
        meet, left = self._meet(laid)
        values = laid.judge(self.values) if self.values else None
        privacy: tuple[Verdict, ...] = () if values is None else values.privacy
        if len(meet.sizes):
            held = None if self.original.persons is None else meet.sizes.tolist()
            privacy = (
                judge_sizes(KAnonymity(self.size), meet.people.tolist(), held=held),
                *privacy,
            )
        # What those who left had is not known any more.
        unknown = meet.unknown + (left if self.values else 0)
        return Composition(
            records=self.original.records,
            releases=len(self.past) + 1,
            published=int(meet.sizes.sum()) + meet.unknown,
            unknown=unknown,
            classes=len(meet.sizes),
            smallest_class=int(meet.people.min()) if len(meet.people) else 0,
            alone=meet.below(2),
            below={k: meet.below(k) for k in sorted({2, self.size})},
            certain={name: laid.certain(name) for name in self.known.schema.sensitive},
            linked=None,
            violating_records=meet.below(self.size),
            privacy=privacy,
            warnings=self._moved(left),
        )

    def _meet(self, laid: Overlay) -> tuple[Meet, int]:
        """Return the meet with those who are no longer in the table, and their number."""
        gone = self._gone()
        classes = np.concatenate((laid.classes, gone.select(pl.exclude(ID, WHO)).to_numpy()))
        if not self.known.schema.person:
            return Meet.of(classes), gone.height
        who = pl.concat([self.known.who, gone[WHO]]).rank("dense").cast(pl.Int64).fill_null(-1)
        return Meet.of(classes, who.to_numpy().astype(np.int64)), gone.height

    def _gone(self) -> pl.DataFrame:
        """Return those who are no longer in the table: who, and their class in each release."""
        names = [f"c{number}" for number in range(len(self.past))]
        types = {ID: pl.Binary, WHO: pl.Binary}
        found = pl.DataFrame(schema=types)
        for name, past in zip(names, self.past, strict=True):
            own = past.left.select(ID, WHO, pl.col(CLASS).cast(pl.Int64).alias(name))
            found = found.join(own, on=[ID, WHO], how="full", coalesce=True, nulls_equal=True)
        absent = pl.lit(ABSENT, dtype=pl.Int64)
        return found.select(
            ID, WHO, *(pl.col(name).fill_null(absent) for name in names), absent.alias("new")
        )

    def _moved(self, left: int) -> tuple[str, ...]:
        """Say how the table changed since the earlier releases."""
        found = []
        for past in self.past:
            new = int((past.classes == ABSENT).sum()) - (past.entry.records - past.entry.released)
            if past.left.height or new > 0:
                found.append(
                    f"{past.entry.title}: {past.left.height:,} of its records are not in the table "
                    f"any more (they left, or changed), {max(new, 0):,} are new; whoever comes or "
                    "goes is looked for among those who did"
                )
            if (unknown := int((past.classes == UNKNOWN).sum())) > 0:
                found.append(f"{past.entry.title}: {unknown:,} records have no key of their own")
        return tuple(found)
