"""The tree on the page: an element of its own, which shows rows and asks for edits.

All tabs share the document of a column: what one tab edits, the others are sent as a patch.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from weakref import WeakSet

from nicegui import app, ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments

from shoal.core.documents import Document
from shoal.core.errors import HierarchyError, ShoalError
from shoal.web.texts import Texts
from shoal.web.tree.document import Patch, TreeDocument

ROUTE = "/tree/{key}"
MOST_CHOSEN = 100_000
_WORDS = (
    "tree", "tools", "search", "rename", "cut", "paste", "split", "merge", "dissolve", "undo",
    "redo",
)  # fmt: skip


class Editor:
    """A tree that is edited in several tabs.

    Attributes:
        document: the tree.
        key: where its browser finds it; nobody guesses it.
        is_edited: it is no longer what it was begun with.
    """

    def __init__(self, document: TreeDocument) -> None:
        self.document = document
        self.key = secrets.token_urlsafe(12)
        self.is_edited = False
        self._shown: WeakSet[HierarchyTree] = WeakSet()
        self._listeners: list[Callable[[], None]] = []

    def show(self, element: HierarchyTree) -> None:
        """Send an element what is edited from now on."""
        self._shown.add(element)

    def on_edit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call somebody after every edit; return what ends that."""
        self._listeners.append(callback)

        def stop() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return stop

    def edit(self, asked: Mapping[str, object]) -> Patch | None:
        """Do what a browser asks for; None: there was nothing to do.

        Raises:
            HierarchyError: it cannot be meant.
        """
        patch = done(self.document, asked)
        if patch is not None:
            self.tell(patch)
        return patch

    def tell(self, patch: Patch) -> None:
        """Tell all tabs of an edit."""
        self.is_edited = self.document.can_undo
        words = patch.to_document()
        for element in list(self._shown):
            if not element.is_deleted:
                element.run_method("patch", words)
        for each in list(self._listeners):
            each()


def done(tree: TreeDocument, asked: Mapping[str, object]) -> Patch | None:
    """Do one edit that a browser asks for; nothing of it is trusted.

    Raises:
        HierarchyError: it cannot be meant.
    """
    what, ids = asked.get("what"), asked.get("ids") or []
    if what in ("undo", "redo"):
        return tree.undo() if what == "undo" else tree.redo()
    if not isinstance(ids, list) or len(ids) > MOST_CHOSEN or not all(map(_is_number, ids)):
        raise _meaningless(tree)
    target, label = asked.get("target"), asked.get("label")
    if what == "rename" and ids and isinstance(label, str):
        return tree.rename(ids[0], label)
    if what == "move" and isinstance(target, int) and _is_number(target):
        return tree.move(ids, target)
    if what == "split":
        return tree.split(ids)
    if what == "merge":
        return tree.merge(ids)
    if what == "dissolve":
        return tree.dissolve(ids)
    raise _meaningless(tree)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _meaningless(tree: TreeDocument) -> HierarchyError:
    return HierarchyError(hierarchy=tree.name, problem="there is no such edit")


class HierarchyTree(Element, component="hierarchy.js"):
    """A tree that is looked at and edited, with the mouse or the keyboard."""

    def __init__(self, editor: Editor, texts: Texts) -> None:
        super().__init__()
        serve_trees()
        SHOWN[editor.key] = editor
        self._editor, self._texts = editor, texts
        self._props["source"] = ROUTE.replace("{key}", editor.key)
        self._props["texts"] = {name: texts(f"tree.{name}") for name in _WORDS}
        self._props["language"] = texts.language
        editor.show(self)
        self.on("edit", self._asked)

    def _asked(self, event: GenericEventArguments) -> None:
        asked = event.args if isinstance(event.args, dict) else {}
        try:
            patch = self._editor.edit(asked)
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        if patch is None:
            return
        if patch.chosen in patch.nodes and patch.nodes[patch.chosen] is not None:
            is_new = asked.get("what") == "split"
            self.run_method("about", {"id": patch.chosen, "rename": is_new})


SHOWN: dict[str, Editor] = {}
"""The trees that browsers may ask for, by their keys."""


def serve_trees() -> None:
    """Answer what trees ask for, unless that is done already."""
    if any(getattr(each, "path", None) == ROUTE for each in app.routes):
        return
    app.add_api_route(ROUTE, _answer, methods=["GET"], response_model=None)


def _answer(key: str) -> Document:
    """Return a whole tree; runs in a thread."""
    editor = SHOWN.get(key)
    return {"problem": "no such tree"} if editor is None else editor.document.to_document()
