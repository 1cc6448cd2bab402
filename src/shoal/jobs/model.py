"""A learned model that can be put to work: the document, with verbs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Unpack, overload

from shoal.formats.frames import Frame
from shoal.jobs import encode as encoding
from shoal.jobs.encode import Encoded
from shoal.jobs.places import write_model
from shoal.jobs.words import EncodeWords, encode_request
from shoal.model import model as learned
from shoal.reports.face import Face, percent


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecodingModel(learned.RecodingModel):
    """A learned recoding as data that can be handed on, and applied to new records."""

    @classmethod
    def of(cls, model: learned.RecodingModel) -> RecodingModel:
        """Return a model that can be put to work."""
        return cls(**{each.name: getattr(model, each.name) for each in fields(model)})

    @overload
    def encode(
        self, table: Frame, *, out: None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[Frame]: ...

    @overload
    def encode(
        self, table: object, *, out: str | Path | None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[object]: ...

    def encode(
        self, table: object, *, out: str | Path | None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[object]:
        """Apply the model record by record; nothing is promised about the batch.

        Records that no class covers are released with every quasi-identifier as the root,
        unless `suppressed` or `on_unseen` says otherwise; see `EncodeRequest`.
        """
        return encoding.encode(encode_request(table, self, words, out=out))

    @overload
    def encode_safe(
        self, table: Frame, *, out: None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[Frame]: ...

    @overload
    def encode_safe(
        self, table: object, *, out: str | Path | None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[object]: ...

    def encode_safe(
        self, table: object, *, out: str | Path | None = None, **words: Unpack[EncodeWords]
    ) -> Encoded[object]:
        """Apply the model to a batch, suppress what would break the promise, and verify it."""
        return encoding.encode(encode_request(table, self, words, out=out, safe=True))

    def save(self, path: str | Path) -> None:
        """Write the model file, all or nothing; `load` reads it back."""
        write_model(self, path)

    def face(self) -> Face:
        """Return what a notebook shows of it: no released value."""
        promise = ", ".join(model.words() for model in self.privacy)
        return Face(
            title=f"{len(self.regions):,} classes of {self.records:,} records, by {self.method}",
            facts={
                "quasi-identifiers": ", ".join(column.name for column in self.columns),
                "promise": promise or "none",
                "suppressed": f"{self.suppressed:,} records",
                "unseen records": self.on_unseen,
                "loss (NCP)": percent(self.utility.get("ncp") or 0.0),
            },
        )

    def __repr__(self) -> str:
        return self.face().line("RecodingModel")

    def _repr_html_(self) -> str:
        return self.face().html()
