"""A text of a machine, such as a command, that people copy."""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element

from shoal.web.texts import Texts


def snippet(name: str, text: str, texts: Texts) -> None:
    """Show a text that can be copied.

    name: its id on the page.
    """
    Element("pre").classes("code").props(f'id="{name}" tabindex=0')._text = text
    button = ui.button(texts("shell.copy"), icon="content_copy").props("flat dense size=sm")
    button.classes("self-start")
    button.on(
        "click",
        lambda: ui.notify(texts("shell.copied"), type="positive"),
        js_handler=f"""() => navigator.clipboard.writeText(
        document.getElementById({name!r}).textContent).then(() => emit())""",
    )
