"""The blocks that a page is made of: every format writes the same ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A title; level 1 … 3. is_part: it opens one of the five parts."""

    text: str
    level: int
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph; tone: "", "lead", "note", "good" or "bad"."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list; tone as of a text."""

    items: tuple[str, ...]
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; numbers: the columns that are aligned to the right. tones: of whole rows."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    tones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture (SVG), what it shows in words, and, where there is no picture, in lines."""

    svg: str
    alt: str
    lines: tuple[str, ...]
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """A few numbers beside each other, each with its name, a sentence and a picture."""

    cards: tuple[tuple[str, str, str, Chart], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A frame with a title, boxes to tick and lines to sign."""

    title: str
    ticks: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Text as it is, in letters of one width."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks that belong together, and should not be torn apart on paper."""

    blocks: tuple[Block, ...]


Block = Heading | Text | Items | Table | Chart | Cards | Box | Code | Section
