"""The hierarchy of one column while it is worked on: what it comes from, and what is known of it.

All tabs share the drafts of a project. A draft becomes part of the project when it is taken over:
a builder as the schema says it, an edited tree as a file of the project.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from shoal.core.documents import Document, Json, parse_json, parse_yaml, to_yaml
from shoal.core.errors import HierarchyError, ShoalError
from shoal.hierarchies.read import load_hierarchy, parse_csv, parse_tree, read_hierarchy, to_csv
from shoal.hierarchies.tree import Hierarchy
from shoal.web.child import Job, Standing
from shoal.web.folder import write_text
from shoal.web.project import Project
from shoal.web.tree.document import TreeDocument
from shoal.web.tree.element import SHOWN, Editor

MOST_BYTES = 16 * 2**20
"""Of a hierarchy that is brought from elsewhere."""


PAUSE = 0.4
"""Seconds without an edit before what it means is counted."""


class Draft:
    """The hierarchy of a column while it is worked on.

    Attributes:
        editor: the tree; None: there is none yet.
        entry: the builder that it came from; None: it did not.
        found: what a child found out: values without a place, the loss at each level.
        problem: why there is no tree.
        is_taken: the project has it as it stands.
        has_own_levels: the file's levels do not follow from its tree, and an edit loses them.
        version: grows with everything that is to be drawn anew.
    """

    def __init__(self, project: Project, column: str) -> None:
        self.project, self.column = project, column
        self.editor: Editor | None = None
        self.entry: Json = None
        self.found: Document = {}
        self.problem: str | None = None
        self.is_taken = True
        self.has_own_levels = False
        self.version = 0
        self._origin: Json = None
        self._is_loaded = False
        self._job: Job | None = None
        self._words: Document = {}
        self._fresh = False
        self._later: asyncio.TimerHandle | None = None

    @property
    def tree(self) -> TreeDocument | None:
        """Return the tree that is edited."""
        return None if self.editor is None else self.editor.document

    def follow(self) -> None:
        """Read the hierarchy that the project has, unless that was done already."""
        entry = self.project.hierarchy(self.column)
        if self._is_loaded and entry == self._origin:
            if self._job is not None and self._job.standing is Standing.CANCELLED:
                self._ask(
                    self._words, fresh=self._fresh
                )  # another column's question took its place
            return
        self._is_loaded, self._origin = True, entry
        self.entry, self.problem, self.is_taken = None, None, True
        try:
            tree = self._known(entry)
        except ShoalError as error:
            self.problem = str(error)
            self._changed()
            return
        if tree is not None:
            self._begin(tree)
        elif entry is not None:
            self._ask({"entry": entry})
        else:
            self.editor = None
            self._ask({})

    def _known(self, entry: Json) -> Hierarchy | None:
        """Return the tree that an entry of the schema holds or names; None: it is built."""
        if isinstance(entry, str):
            place = self.project.folder.below(self.project.place / entry)
            return load_hierarchy(self.column, place)
        found = read_hierarchy(self.column, entry, folder=self.project.place)
        return found if isinstance(found, Hierarchy) else None

    def _begin(self, tree: Hierarchy) -> None:
        """Begin to edit a tree."""
        if self.editor is not None:
            SHOWN.pop(self.editor.key, None)
        self.editor = Editor(TreeDocument.of(tree))
        self.has_own_levels = self.editor.document.hierarchy() != tree.named(self.column)
        self.editor.on_edit(self._edited)
        self.look()

    def _edited(self) -> None:
        """Look at an edited tree once people pause: the edit itself is answered first."""
        self.is_taken = False
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.get_running_loop().call_later(PAUSE, self.look)
        self.project.tell()

    def look(self) -> None:
        """Have a child look at the tree as it stands."""
        if self.tree is not None:
            self._ask({"tree": self.tree.hierarchy().to_document()})

    def build(self, entry: Json) -> None:
        """Have a tree built from the values of the column, to be looked at."""
        self._ask({"entry": entry}, fresh=True)

    def build_wordnet(self, words: Document) -> None:
        """Have a tree built from WordNet; its files lie below the folder of the page.

        Raises:
            InputError: they do not.
        """
        places = {n: str(self.project.folder.below(words[n])) for n in ("mapping", "dict")}
        self._ask({"wordnet": {**words, **places}}, fresh=True)

    def build_flat(self) -> None:
        """Have the tree built in which every value stands below the root."""
        self._ask({"flat": True}, fresh=True)

    def bring(self, name: str, content: bytes) -> None:
        """Begin with a hierarchy from elsewhere: CSV, YAML or JSON.

        Raises:
            ShoalError: it is no hierarchy.
        """
        if len(content) > MOST_BYTES:
            raise HierarchyError(hierarchy=self.column, problem="larger than 16 MiB")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise HierarchyError(
                hierarchy=self.column, problem="not UTF-8 text; save it as UTF-8"
            ) from None
        ending = PurePosixPath(name.lower()).suffix
        if ending == ".json":
            tree = parse_tree(self.column, parse_json(text, where="hierarchy"))
        elif ending in (".yaml", ".yml"):
            tree = parse_tree(self.column, parse_yaml(text, where="hierarchy"))
        else:
            tree = parse_csv(self.column, text)
        self.entry, self.is_taken = None, False
        self._begin(tree)

    def csv(self) -> str:
        """Return the tree as CSV, as a schema names it."""
        return to_csv(self._tree().hierarchy())

    def yaml(self) -> str:
        """Return the tree as nested YAML."""
        tree = self._tree()

        def below(number: int) -> Json:
            children = [tree.node(child) for child in tree.node(number).children]
            if all(not each.children for each in children):
                return [each.label for each in children]
            return {
                tree.node(child).label: below(child) if tree.node(child).children else []
                for child in tree.node(number).children
            }

        return to_yaml({tree.node(tree.root).label: below(tree.root)})

    def add_unplaced(self, label: str) -> None:
        """Give the values without a place one, below the node with this label.

        Raises:
            HierarchyError: there is no such node.
        """
        tree, found = self._tree(), self.found.get("unplaced")
        target = tree.number_of(label.strip())
        if target is None:
            raise HierarchyError(hierarchy=self.column, problem="no node has this label")
        values = [str(each) for each in found] if isinstance(found, list) else []
        assert self.editor is not None
        self.editor.tell(tree.add(tree.missing(values), target))

    def take(self, what: str) -> None:
        """Make it the project's: a builder stays a builder, a tree is written as a file.

        what: what the step is called, beside undo.
        """
        entry = self.entry
        if entry is None or (self.editor is not None and self.editor.is_edited):
            text = self.csv()
            # A file for each state of the tree: undo finds the one before.
            place = PurePosixPath(self.project.hierarchy_place(self.column))
            mark = hashlib.sha256(text.encode()).hexdigest()[:8]
            entry = str(place.with_name(f"{place.stem}-{mark}.csv"))
            write_text(self.project.folder.writable(self.project.place / entry), text)
        self._origin, self.is_taken = entry, True
        self.project.change(what, lambda state: state.with_column(self.column, hierarchy=entry))
        self._changed()

    def drop(self) -> None:
        """Go back to what the project has."""
        self._is_loaded = False
        self.follow()

    def _tree(self) -> TreeDocument:
        if self.tree is None:
            raise HierarchyError(hierarchy=self.column, problem="there is no tree yet; build one")
        return self.tree

    def _ask(self, words: Document, *, fresh: bool = False) -> None:
        """Have a child look; fresh: what it builds is new, and not yet the project's."""
        project = self.project
        missing = project.state.schema.get("missing") or []
        asked = {"table": project.state.table, "column": self.column, "missing": missing, **words}

        def heard(job: Job) -> None:
            if job.result is None and job.error is None:
                return
            if job.error is not None:
                self.problem = job.error
            elif job.result is not None:
                self._answered(job.result, words, fresh=fresh)
            self._changed()

        self._words, self._fresh = words, fresh
        self._job = project.ask("hierarchy", asked, heard)

    def _answered(self, found: Document, words: Document, *, fresh: bool) -> None:
        self.problem = None
        self.found = found
        document = found.get("tree")
        if document is None:
            return
        if self.editor is not None:
            SHOWN.pop(self.editor.key, None)
        self.editor = Editor(TreeDocument.of(Hierarchy.from_document(self.column, document)))
        self.editor.on_edit(self._edited)
        self.entry, self.has_own_levels = words.get("entry"), False
        self.is_taken = not fresh

    def _changed(self) -> None:
        self.version += 1
        self.project.tell()


_DRAFTS: WeakKeyDictionary[Project, tuple[str, dict[str, Draft]]] = WeakKeyDictionary()


def draft_of(project: Project, column: str) -> Draft:
    """Return the draft of a column, the same for all tabs; another table has other drafts."""
    table = json.dumps(project.state.table)
    known = _DRAFTS.get(project)
    if known is None or known[0] != table:
        known = (table, {})
        _DRAFTS[project] = known
    return known[1].setdefault(column, Draft(project, column))
