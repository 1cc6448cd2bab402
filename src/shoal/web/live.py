"""Elements that follow the project: drawn anew when it changes, as long as their page is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from nicegui import app, ui
from nicegui.element import Element
from nicegui.elements.mixins.value_element import ValueElement

from shoal.core.errors import ShoalError
from shoal.web.project import Project


def follow(
    project: Project, draw: Callable[[], None], *, key: Callable[[], object] | None = None
) -> Callable[[], None]:
    """Draw something into an element of its own, and again after every change.

    key: what the drawing depends on: it is drawn again only where that is another.

    Returns:
        What draws it again in this tab alone.
    """
    place = Element("div").classes("live")
    drawn: list[object] = []

    def again() -> None:
        now = key() if key is not None else object()
        if drawn and drawn[0] == now:
            return
        drawn[:] = [now]
        with place:
            place.clear()
            draw()

    again()
    listen(project, again)
    return again


def listen(project: Project, callback: Callable[[], None]) -> None:
    """Call something after every change, as long as this page is open."""

    def heard() -> None:
        try:
            callback()
        except Exception as error:  # one tab that cannot draw itself must not hold up the others
            app.handle_exception(error)

    ui.context.client.on_delete(project.on_change(heard))


def mirror(project: Project, field: ValueElement[Any], read: Callable[[], object]) -> None:
    """Let a control show what the project holds, without drawing it anew: it keeps the focus.

    read: what the control is to show now.
    """

    def again() -> None:
        if field.is_deleted:
            stop()
        elif field.value != (now := read()):
            field.value = now

    stop = project.on_change(again)
    ui.context.client.on_delete(stop)


def told(act: Callable[[], None]) -> Callable[[], None]:
    """Return the handler of a click that tells the user why something was refused."""

    @wraps(act)
    def handler() -> None:
        try:
            act()
        except ShoalError as error:
            refused(error)

    return handler


def refused(error: ShoalError) -> None:
    """Tell the user why something was refused."""
    ui.notify(str(error), type="negative", multi_line=True, timeout=10_000)
