"""A hierarchy that is edited: the server owns it, and says what each edit changed.

An edit replaces a few nodes; what they were is kept, so that it can be undone. The same few nodes
are all that a browser is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from shoal.core.documents import Document, Json
from shoal.core.errors import HierarchyError
from shoal.hierarchies.builder import ROOT
from shoal.hierarchies.tree import Hierarchy

MOST_STEPS = 500
"""Edits that can be undone."""
_LONGEST = 500  # letters of a label


class Node(NamedTuple):
    """A node: its label, its parent (-1: it is the root) and its children in their order."""

    label: str
    parent: int
    children: tuple[int, ...] = ()


class Edit(NamedTuple):
    """What an edit changed: each node before and after it; None: it was not there."""

    before: dict[int, Node | None]
    after: dict[int, Node | None]


class Patch(NamedTuple):
    """What a browser is told of an edit.

    Attributes:
        nodes: the nodes that changed; None: it is gone.
        chosen: the node that the edit was about.
        version: of the document, after it.
    """

    nodes: dict[int, Node | None]
    chosen: int
    version: int

    def to_document(self) -> Document:
        """Return it as plain data."""
        nodes: Document = {
            str(number): None if node is None else _plain(node)
            for number, node in self.nodes.items()
        }
        return {"nodes": nodes, "chosen": self.chosen, "version": self.version}


class TreeDocument:
    """A tree with names, which can be edited; numbers of nodes never change.

    Attributes:
        name: the column it belongs to.
        version: grows with every edit.

    Guarantee:
        After every edit it is one tree, and no two nodes have the same label.

    Law:
        `undo` after an edit gives the tree before it; `redo` after that the one after it.
    """

    def __init__(self, name: str, nodes: dict[int, Node], root: int) -> None:
        self.name, self.root = name, root
        self.version = 0
        self._nodes = nodes
        self._number_of = {node.label: number for number, node in nodes.items()}
        self._next = max(nodes) + 1
        self._done: list[Edit] = []
        self._undone: list[Edit] = []

    @classmethod
    def of(cls, tree: Hierarchy) -> TreeDocument:
        """Return the document of a hierarchy; its levels are those that follow from the tree."""
        children: list[list[int]] = [[] for _ in tree.labels]
        for node, above in enumerate(tree.parents):
            if above >= 0:
                children[above].append(node)
        nodes = {
            number: Node(label, tree.parents[number], tuple(children[number]))
            for number, label in enumerate(tree.labels)
        }
        return cls(tree.name, nodes, tree.root)

    @classmethod
    def flat(cls, name: str, values: Iterable[str]) -> TreeDocument:
        """Return the tree in which every value stands directly below the root."""
        return cls.of(Hierarchy.flat(name, list(values)))

    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy as it stands."""
        labels: list[str] = []
        parents: list[int] = []
        place: dict[int, int] = {}
        for number in self._post_order():
            place[number] = len(labels)
            labels.append(self._nodes[number].label)
            parents.append(number)
        above = [self._nodes[number].parent for number in parents]
        return Hierarchy(
            self.name, labels, parents=[place[each] if each >= 0 else -1 for each in above]
        )

    def _post_order(self) -> list[int]:
        """Return the nodes, children before their parent; no recursion, for it may be deep."""
        found, waiting = [], [self.root]
        while waiting:
            number = waiting.pop()
            found.append(number)
            waiting.extend(self._nodes[number].children)
        return found[::-1]

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, label: object) -> bool:
        return label in self._number_of

    def node(self, number: int) -> Node:
        """Return a node.

        Raises:
            HierarchyError: it is not there any more: another tab may have taken it away.
        """
        found = self._nodes.get(number)
        if found is None:
            self._refuse("a node is not there any more; look at the tree again")
        return found

    def number_of(self, label: str) -> int | None:
        """Return the number of the node with a label; None: there is none."""
        return self._number_of.get(label)

    def leaves(self) -> list[str]:
        """Return the labels of the leaves."""
        return [node.label for node in self._nodes.values() if not node.children]

    def missing(self, values: Iterable[str]) -> list[str]:
        """Return the values that have no place in the tree, in their order."""
        return [value for value in values if value not in self._number_of]

    # Edits.

    def rename(self, number: int, label: str) -> Patch:
        """Give a node another label."""
        node = self.node(number)
        return self._edit({number: node._replace(label=self._free(label, but=number))}, number)

    def move(self, numbers: Sequence[int], target: int) -> Patch:
        """Move nodes below another one, after the children that it has."""
        chosen = self._chosen(numbers)
        below = self.node(target)
        if target in chosen or any(self._is_above(number, target) for number in chosen):
            self._refuse("a node cannot be moved below itself")
        changes = self._without(chosen)
        for number in chosen:
            changes[number] = self._nodes[number]._replace(parent=target)
        own = changes.get(target) or below
        changes[target] = own._replace(children=(*own.children, *chosen))
        return self._edit(changes, chosen[0])

    def split(self, numbers: Sequence[int], label: str | None = None) -> Patch:
        """Let children of one node leave it for a new node beside it; of the root: below it."""
        chosen = self._chosen(numbers)
        (parent, *others) = dict.fromkeys(self._nodes[number].parent for number in chosen)
        if others:
            self._refuse("choose children of one node to split off")
        old = self._nodes[parent]
        if len(chosen) == len(old.children):
            self._refuse("leave at least one child behind, or there is nothing to split")
        above = parent if old.parent < 0 else old.parent
        new, text = self._next, self._free(label if label is not None else self._proposed(chosen))
        changes = self._without(chosen)
        for number in chosen:
            changes[number] = self._nodes[number]._replace(parent=new)
        own = changes.get(above) or self._nodes[above]
        at = own.children.index(parent) + 1 if above != parent else len(own.children)
        changes[above] = own._replace(children=(*own.children[:at], new, *own.children[at:]))
        changes[new] = Node(text, above, tuple(chosen))
        return self._edit(changes, new)

    def merge(self, numbers: Sequence[int]) -> Patch:
        """Make several inner nodes one: the first takes over the children of the others."""
        first, *others = self._chosen(numbers)
        if not others:
            self._refuse("choose at least two nodes to merge")
        if any(not self._nodes[number].children for number in (first, *others)):
            self._refuse("only nodes with children are merged: a value of the table stays itself")
        for number in others:
            if self._is_above(number, first) or self._is_above(first, number):
                self._refuse("a node cannot be merged with one that stands above it")
        changes = self._without(others)
        own = changes.get(first) or self._nodes[first]
        gained = [child for number in others for child in self._nodes[number].children]
        for child in gained:
            changes[child] = self._nodes[child]._replace(parent=first)
        changes[first] = own._replace(children=(*own.children, *gained))
        changes |= dict.fromkeys(others)
        return self._edit(changes, first)

    def dissolve(self, numbers: Sequence[int]) -> Patch:
        """Take nodes away; their children go to their parents. A leaf is gone."""
        changes: dict[int, Node | None] = {}
        chosen = self._chosen(numbers)
        above = self._nodes[chosen[0]].parent
        for number in chosen:
            node = changes.get(number) or self._nodes[number]
            parent = changes.get(node.parent) or self._nodes[node.parent]
            at = parent.children.index(number)
            around = (*parent.children[:at], *node.children, *parent.children[at + 1 :])
            if not around and not node.children and node.parent == self.root:
                self._refuse("the last value cannot be taken away")
            changes[node.parent] = parent._replace(children=around)
            for child in node.children:
                kept = changes.get(child) or self._nodes[child]
                changes[child] = kept._replace(parent=node.parent)
            changes[number] = None
        return self._edit(changes, above)

    def add(self, labels: Sequence[str], target: int) -> Patch:
        """Give values a place below a node."""
        below = self.node(target)
        if not labels:
            self._refuse("choose values to give a place to")
        texts = [self._free(label) for label in labels]
        if len(set(texts)) < len(texts):
            self._refuse("a value stands twice")
        fresh = range(self._next, self._next + len(texts))
        changes: dict[int, Node | None] = {
            number: Node(text, target) for number, text in zip(fresh, texts, strict=True)
        }
        changes[target] = below._replace(children=(*below.children, *fresh))
        return self._edit(changes, fresh[0])

    # What was done.

    def undo(self) -> Patch | None:
        """Take the last edit back; None: there is none."""
        if not self._done:
            return None
        edit = self._done.pop()
        self._undone.append(edit)
        return self._put(edit.before)

    def redo(self) -> Patch | None:
        """Do again what was taken back; None: there is nothing."""
        if not self._undone:
            return None
        edit = self._undone.pop()
        self._done.append(edit)
        return self._put(edit.after)

    @property
    def can_undo(self) -> bool:
        """Say whether there is an edit to take back."""
        return bool(self._done)

    def to_document(self) -> Document:
        """Return all of it as a browser reads it."""
        nodes: Document = {str(number): _plain(node) for number, node in self._nodes.items()}
        return {"root": self.root, "nodes": nodes, "version": self.version}

    def _edit(self, changes: dict[int, Node | None], chosen: int) -> Patch:
        before = {number: self._nodes.get(number) for number in changes}
        self._done = [*self._done[-MOST_STEPS + 1 :], Edit(before, changes)]
        self._undone = []
        patch = self._put(changes)
        return patch._replace(chosen=chosen)

    def _put(self, nodes: dict[int, Node | None]) -> Patch:
        for number in nodes:
            known = self._nodes.get(number)
            if known is not None and self._number_of.get(known.label) == number:
                del self._number_of[known.label]
        for number, node in nodes.items():
            if node is None:
                self._nodes.pop(number, None)
            else:
                self._nodes[number] = node
                self._number_of[node.label] = number
                self._next = max(self._next, number + 1)
        self.version += 1
        chosen = next((number for number, node in nodes.items() if node is not None), self.root)
        return Patch(nodes, chosen, self.version)

    def _without(self, chosen: Sequence[int]) -> dict[int, Node | None]:
        """Return the parents that lose these children; one left bare stays, it may be a value."""
        gone, changes = set(chosen), {}
        for number in chosen:
            parent = self._nodes[number].parent
            if parent not in changes:
                node = self._nodes[parent]
                kept = tuple(each for each in node.children if each not in gone)
                changes[parent] = node._replace(children=kept)
        found: dict[int, Node | None] = dict(changes)
        return found

    def _chosen(self, numbers: Sequence[int]) -> list[int]:
        """Return the chosen nodes, each once, without those below another chosen one."""
        chosen = list(dict.fromkeys(numbers))
        if not chosen:
            self._refuse("choose a node first")
        for number in chosen:
            if self.node(number).parent < 0:
                self._refuse("the root stays where it is")
        return [
            number for number in chosen
            if not any(other != number and self._is_above(other, number) for other in chosen)
        ]  # fmt: skip

    def _is_above(self, number: int, below: int) -> bool:
        while below >= 0:
            below = self._nodes[below].parent
            if below == number:
                return True
        return False

    def _free(self, label: str, *, but: int | None = None) -> str:
        """Return a label that no other node has."""
        text = label.strip()
        if not text or len(text) > _LONGEST or "\n" in text or "\r" in text:
            self._refuse("a label is one line of text, and not empty")
        if self._number_of.get(text, but) != but:
            self._refuse("another node has this label; choose another")
        return text

    def _proposed(self, chosen: Sequence[int]) -> str:
        """Return a label for a new node: its first child and its last."""
        first, last = self._nodes[chosen[0]].label, self._nodes[chosen[-1]].label
        text = f"{first} +" if first == last else f"{first} … {last}"
        text = text[: _LONGEST - 8]
        found, number = text, 2
        while found in self._number_of or found == ROOT:
            found, number = f"{text} ({number})", number + 1
        return found

    def _refuse(self, problem: str) -> NoReturn:
        raise HierarchyError(hierarchy=self.name, problem=problem)


def _plain(node: Node) -> Json:
    return [node.label, node.parent, list(node.children)]
