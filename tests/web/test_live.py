from __future__ import annotations

import asyncio

from nicegui import ui
from nicegui.element import Element
from nicegui.testing import user_simulation

from shoal.core.errors import InputError
from shoal.web.live import follow, listen, mirror, told
from shoal.web.project import Project


def shown(project: Project, draw, act) -> None:
    async def whole() -> None:
        async with user_simulation(root=draw) as user:
            await user.open("/")
            await act(user)

    asyncio.run(whole())


def weigh(project: Project, weight: float) -> None:
    project.change("weight", lambda state: state.with_column("zip", weight=weight))


def test_what_follows_is_drawn_anew_where_what_it_depends_on_is_another(project):
    drawn = []

    def draw() -> None:
        follow(project, lambda: drawn.append(1), key=lambda: project.state.columns["sex"]["role"])
        follow(project, lambda: drawn.append(2))

    async def act(user) -> None:
        assert drawn == [1, 2]
        weigh(project, 2.0)
        assert drawn == [1, 2, 2]
        project.change("role", lambda state: state.with_column("sex", role="neutral"))
        assert sorted(drawn[3:]) == [1, 2]

    shown(project, draw, act)


def test_a_control_shows_what_holds_and_stays_the_same_element(project):
    found = []

    def draw() -> None:
        field = ui.number(value=1.0)
        mirror(project, field, lambda: project.state.columns["zip"].get("weight"))
        found.append(field)

    async def act(user) -> None:
        weigh(project, 3.0)
        assert found[0].value == 3.0
        found[0].delete()
        weigh(project, 4.0)
        assert found[0].value == 3.0

    shown(project, draw, act)


def test_a_tab_that_cannot_draw_itself_does_not_hold_up_the_others(project, caplog):
    told_ = []

    def broken() -> None:
        raise ValueError("Alice")

    def draw() -> None:
        listen(project, broken)
        listen(project, lambda: told_.append(1))

    async def act(user) -> None:
        weigh(project, 2.0)
        assert told_ == [1]
        caplog.clear()

    shown(project, draw, act)


def test_a_closed_tab_is_no_longer_told(project):
    def draw() -> None:
        follow(project, lambda: Element("p"))

    async def act(user) -> None:
        assert len(project._listeners) == 1
        user.client.delete()
        assert not project._listeners

    shown(project, draw, act)


def test_a_refusal_is_told_and_anything_else_is_raised(project):
    def refuse() -> None:
        raise InputError(where="x", problem="cannot be meant")

    def draw() -> None:
        ui.button("go", on_click=told(refuse))

    async def act(user) -> None:
        user.find("go").click()
        await user.should_see("x: cannot be meant")

    shown(project, draw, act)
