from __future__ import annotations

from tests.web.tab import Tab, in_a_tab


def test_both_commands_can_be_copied_and_it_is_said(project):
    async def act(tab: Tab) -> None:
        assert tab.user.client is not None
        copies = [e for e in tab.user.client.elements.values() if e.props.get("label") == "Copy"]
        assert len(copies) == 2
        for button in copies:
            tab.fire(button, "click")
        assert tab.user.notify.messages == ["Copied", "Copied"]

    in_a_tab(project, act, is_answered=False)
