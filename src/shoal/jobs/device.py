"""What a model takes of the room that a device has, and what fitting it cost."""

from __future__ import annotations

from shoal.core.documents import Document
from shoal.core.errors import NoSolutionError
from shoal.jobs.requests import LearnRequest
from shoal.methods.fit_device import Fitted
from shoal.model.device import Room, ram_of
from shoal.model.model import RecodingModel


def room_of(request: LearnRequest) -> Room:
    """Return the room that a device has for the model."""
    return Room(request.model_bytes, request.device_ram)


def device_facts(model: RecodingModel, request: LearnRequest, fitted: Fitted | None) -> Document:
    """Return how a model stands against the room that was asked for; nothing where none was.

    Raises:
        NoSolutionError: it does not fit.
    """
    room = room_of(request)
    if room == Room():
        return {}
    size, columns = len(model.to_json().encode()), len(model.columns)
    problem = room.problem(size, columns)
    if problem is not None:
        way = (
            "allow more" if fitted is not None
            else "models of Mondrian and bestcut can be made smaller, this one cannot"
        )  # fmt: skip
        raise NoSolutionError(problem=f"the model does not fit: {problem}; {way}")
    found: Document = {
        "bytes": size,
        "most_bytes": request.model_bytes,
        "ram": ram_of(size, columns),
        "most_ram": request.device_ram,
    }
    if fitted is not None:
        found |= {
            "classes_before": fitted.whole_classes,
            "loss": round(fitted.loss, 6),
            "loss_before": round(fitted.whole_loss, 6),
            "roots": list(fitted.roots),
        }
    return {"device": found}


def device_line(found: Document, classes: int) -> str:
    """Return in one line what was made smaller, and what that costs."""
    text = f"{found['bytes']:,} bytes, up to {found['ram']:,} in the memory of MicroPython"
    if found.get("loss_before") is None:
        return text
    if found["classes_before"] == classes and not found["roots"]:
        return f"{text}; nothing had to be left out"
    roots = found["roots"]
    named = (
        f"; released as the root: {', '.join(map(str, roots))}"
        if isinstance(roots, list) and roots
        else ""
    )
    return (
        f"{text}; {found['classes_before']:,} classes became {classes:,}, and the loss "
        f"{_percent(found['loss'])} instead of {_percent(found['loss_before'])}{named}"
    )


def _percent(share: object) -> str:
    return f"{100 * share:.1f} %" if isinstance(share, float) else "none"
