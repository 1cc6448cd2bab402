"""From wherever a model is to the encoder of it."""

from __future__ import annotations

from os import PathLike
from typing import Protocol

from shoal.edge.fast import FastEncoder
from shoal.model.document import checked, read_model, refuse_untrusted
from shoal.model.document_types import ModelDocument
from shoal.model.runtime import Encoder
from shoal.model.trust import Trust


class HasDocument(Protocol):
    """A model object: it can be written as a document."""

    def to_document(self) -> ModelDocument:
        """Return it as plain data."""


ModelSource = str | PathLike[str] | ModelDocument | dict[str, object] | HasDocument


def document_of(model: ModelSource, trust: Trust | None = None) -> ModelDocument:
    """Return the checked document of a path, a document, or a model object.

    trust: what the file of a path must show before it is used.

    Raises:
        ModelFormatError: it is newer, damaged, hostile, or no model at all.
    """
    if isinstance(model, dict):
        return checked(model)
    if hasattr(model, "to_document"):
        return checked(model.to_document())
    found = read_model(str(model))
    document = checked(found)
    refuse_untrusted(found, trust)
    return document


def load(
    model: ModelSource,
    *,
    on_unseen: str | None = None,
    suppressed: str = "star",
    trust: Trust | None = None,
    draw: int | None = None,
) -> Encoder:
    """Return the encoder of a model file (or document, or model object).

    Args:
        model: where the model is.
        on_unseen: suppress, nearest or error; None: what the model declares.
        suppressed: "star" releases a suppressed record with every quasi-identifier as the
            root, "remove" leaves it out.
        trust: what a model file must show before it is used.
        draw: the seed of values that are drawn from labels, by a model learned with
            `--release draw`; None: labels are released.

    Raises:
        ModelFormatError: it is newer, damaged, hostile, or no model at all; or it has nothing to
            draw from.
    """
    if draw is not None:
        from shoal.edge.drawing import DrawingEncoder

        return DrawingEncoder(document_of(model, trust), on_unseen, suppressed, seed=draw)
    return FastEncoder(document_of(model, trust), on_unseen, suppressed)
