"""A tab of the page without a browser: NiceGUI's own simulation of a user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nicegui.element import Element
from nicegui.testing import User, user_simulation

from shoal.web.page import build
from shoal.web.project import Project

PATIENCE = 120.0


class Tab:
    """What somebody sees and does in one tab."""

    def __init__(self, user: User) -> None:
        self.user = user

    def elements(self, kind: str) -> list[Element]:
        """The elements with a class, in their order."""
        assert self.user.client is not None
        return [each for each in self.user.client.elements.values() if kind in each.classes]

    def texts(self, kind: str | None = None) -> str:
        """All texts of the page, or those inside the elements with a class."""
        assert self.user.client is not None
        if kind is None:
            found = list(self.user.client.elements.values())
        else:
            found = [x for each in self.elements(kind) for x in (each, *each.descendants())]
        parts = [str(each._text) for each in found if each._text]
        labels = [str(each.props[name]) for each in found for name in ("label", "aria-label")
                  if each.props.get(name)]  # fmt: skip
        return "\n".join([*parts, *labels])

    def named(self, name: str) -> Element:
        """The element with an id of ours."""
        assert self.user.client is not None
        (found,) = [e for e in self.user.client.elements.values() if e.props.get("id") == name]
        return found

    def labelled(self, text: str) -> Element:
        """The control with a label."""
        assert self.user.client is not None
        found = [e for e in self.user.client.elements.values()
                 if text in (e.props.get("label"), e._text, e.props.get("aria-label"))]  # fmt: skip
        assert found, f"no control {text!r}"
        return found[0]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        for _ in range(int(PATIENCE / 0.05)):
            if holds():
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"it did not come about; the page says:\n{self.texts()[:3000]}")

    def fire(self, element: Element, event: str, args: object = None) -> None:
        """Let an event happen on an element."""
        listener = [e for e in element._event_listeners.values() if e.type == event][-1]
        element._handle_event({"listener_id": listener.id, "args": args})


def in_a_tab(
    project: Project, act: Callable[[Tab], Awaitable[None]], *, table: str | None = None,
    path: str = "/", is_answered: bool = True,
) -> None:  # fmt: skip
    """Open the page of a project in a tab, and do something in it.

    is_answered: False: quick questions are left unanswered, so that no child is started for them.
    """
    if not is_answered:
        project.ask = lambda *question: None  # type: ignore[assignment]

    async def whole() -> None:
        async with user_simulation(root=build(project, table)) as user:
            try:
                await user.open(path)
                await asyncio.wait_for(act(Tab(user)), 2 * PATIENCE)
            finally:
                await project.children.stop()

    asyncio.run(whole())
