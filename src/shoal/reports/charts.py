"""Charts as SVG, written by hand: rows of bars with their names on the left.

Attributes only, no style sheet and no script: the same picture stands in a page and in a PDF.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from shoal.reports.blocks import Chart
from shoal.reports.document import Attack, Attacker, Bars
from shoal.reports.words import percent, times

FONT = "Source Sans Pro, Helvetica, Arial, sans-serif"
INK, PALE, BEFORE, AFTER, LIMIT, RULE = (
    "#1c2733", "#5b6b7a", "#b9c6d2", "#2f6f9f", "#a8201a", "#dde4ea",
)  # fmt: skip
_ROW, _NAME, _VALUE = 20, 170, 110
WIDTH = 640
_LETTERS = 24  # of a name where it is read, not drawn
# Widths in shares of the size of letters, as of a wide font: nobody knows which one there is.
_NARROW, _PLAIN, _CAPITAL, _WIDE = 0.36, 0.63, 0.75, 1.0
_NARROW_ONES = frozenset(" .,:;'|!()[]{}ijl/-–ftr")
_WIDE_ONES = frozenset("mwMW%@…→")
_WORDS = 4000  # letters of what is read out in the place of a picture


def shortened(text: str, most: int = _LETTERS) -> str:
    """Return a text that fits into a picture; control characters are shown as escapes.

    Example:
        >>> shortened("a very long name of a value", 10)
        'a very lo…'
    """
    plain = text if text.isprintable() else text.encode("unicode_escape").decode()
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def width_of(text: str, size: int) -> float:
    """Return how wide a text is at most, in pixels of a picture.

    Example:
        >>> width_of("ill", 10) < width_of("age", 10) < width_of("名前w", 10)
        True
    """
    wide = sum(
        _NARROW if c in _NARROW_ONES
        else _WIDE if c in _WIDE_ONES or ord(c) > 0x2E7F
        else _CAPITAL if c.isupper()
        else _PLAIN
        for c in text
    )  # fmt: skip
    return wide * size


def fitted(text: str, room: float, size: int) -> str:
    """Return a text that fits into so many pixels; what is cut is shown by an ellipsis.

    Example:
        >>> fitted("Orthopedics-Reconstructive", 100, 12), fitted("age", 100, 12)
        ('Orthopedics-…', 'age')
    """
    plain = shortened(text, _WORDS)
    if width_of(plain, size) <= room:
        return plain
    while plain and width_of(plain + "…", size) > room:
        plain = plain[:-1]
    return plain + "…"


def gauge(name: str, share: float, limit: float | None) -> Chart:
    """Draw a share as a bar from 0 to 1, with a mark at the limit."""
    width = 200
    parts = [
        _rect(0, 8, width, 12, RULE),
        _rect(0, 8, width * share, 12, AFTER),
        label(0, 34, "0 %", PALE, 10),
        label(width, 34, "100 %", PALE, 10, "end"),
    ]
    if limit is not None:
        at = width * limit
        parts.append(line(at, 2, at, 26, LIMIT, 2))
        parts.append(label(at, 34, f"limit {percent(limit)}", LIMIT, 10, _anchor(limit)))
        parts = [each for each in parts if limit > 0.2 or ">0 %<" not in each]
        parts = [each for each in parts if limit < 0.8 or ">100 %<" not in each]
    words = f"{name}: {percent(share)}" + ("" if limit is None else f", limit {percent(limit)}")
    return drawn(parts, width, 40, words, (words,))


def _anchor(share: float) -> str:
    return "start" if share < 0.3 else "end" if share > 0.7 else "middle"


def bars(title: str, found: Bars) -> Chart:
    """Draw counts by name: before as a pale broad bar, after as a dark narrow one upon it."""
    series = [each for each in (found.before, found.after) if each is not None]
    most = max((number for each in series for number in each), default=0.0) or 1.0
    texts = [" → ".join(times(each[row]) for each in series) for row in range(len(found.names))]
    room = WIDTH - _NAME - max((_VALUE, *(width_of(text, 11) + 8 for text in texts)))
    parts, lines = [], []
    for row, name in enumerate(found.names):
        y = row * _ROW + 4
        parts.append(_named(name, y))
        if found.before is not None:
            parts.append(_rect(_NAME, y, room * found.before[row] / most, 16, BEFORE))
        if found.after is not None:
            thin = 4 if found.before is not None else 0
            wide = room * found.after[row] / most
            parts.append(_rect(_NAME, y + thin, wide, 16 - 2 * thin, AFTER))
        long = max((each[row] for each in series), default=0.0)
        parts.append(label(_NAME + room * long / most + 6, y + 12, texts[row], PALE, 11))
        lines.append(f"{shortened(name)}: {texts[row]}")
    height = len(found.names) * _ROW + 8
    if len(series) == 2:
        parts += _legend(height)
        height += 20
    return drawn(parts, WIDTH, height, f"{title}: {'; '.join(lines)}", tuple(lines))


def _named(name: str, y: float) -> str:
    """Return a name on the left of its row."""
    return label(_NAME - 8, y + 12, fitted(name, _NAME - 8, 12), INK, 12, "end")


def _legend(y: int) -> list[str]:
    return [
        _rect(_NAME, y, 12, 12, BEFORE), label(_NAME + 18, y + 11, "before", PALE, 11),
        _rect(_NAME + 76, y, 12, 12, AFTER), label(_NAME + 94, y + 11, "after", PALE, 11),
    ]  # fmt: skip


def shares(title: str, found: Sequence[tuple[str, float]]) -> Chart:
    """Draw shares by name, on a scale from 0 to 1."""
    room = WIDTH - _NAME - _VALUE
    parts, lines = [], []
    for row, (name, share) in enumerate(found):
        y = row * _ROW + 4
        inside = min(max(share, 0.0), 1.0)
        parts += [
            _named(name, y),
            _rect(_NAME, y + 2, room, 12, "#f1f4f7"),
            _rect(_NAME, y + 2, room * inside, 12, AFTER),
            label(_NAME + room + 6, y + 12, percent(share), PALE, 11),
        ]
        lines.append(f"{shortened(name)}: {percent(share)}")
    words = f"{title}: {'; '.join(lines)}"
    return drawn(parts, WIDTH, len(found) * _ROW + 8, words, tuple(lines))


def attacker_chart(found: Sequence[Attacker]) -> Chart:
    """Draw the risk from each attacker, before and after, and the limit of a profile."""
    names = tuple(f"{each.name}, {each.measure}" for each in found)
    room = WIDTH - _NAME - _VALUE
    parts, lines = [], []
    for row, (name, each) in enumerate(zip(names, found, strict=True)):
        y = row * _ROW + 4
        parts.append(_named(name, y))
        parts.append(_rect(_NAME, y, room, 16, "#f1f4f7"))
        if each.before is not None:
            parts.append(_rect(_NAME, y, room * min(each.before, 1), 16, BEFORE))
        if each.after is not None:
            parts.append(_rect(_NAME, y + 4, room * min(each.after, 1), 8, AFTER))
        if each.limit is not None:
            at = _NAME + room * each.limit
            parts.append(line(at, y - 2, at, y + 18, LIMIT, 2))
        texts = [percent(share) for share in (each.before, each.after) if share is not None]
        parts.append(label(_NAME + room + 6, y + 12, " → ".join(texts), PALE, 11))
        limit = "" if each.limit is None else f", limit {percent(each.limit)}"
        lines.append(f"{name}: {' → '.join(texts)}{limit}")
    height = len(found) * _ROW + 8
    if any(each.before is not None for each in found):
        parts += _legend(height)
        height += 20
    return drawn(parts, WIDTH, height, f"risk by attacker: {'; '.join(lines)}", tuple(lines))


def attack_chart(found: Sequence[Attack]) -> Chart:
    """Draw how often each attack is right: a point, its confidence interval, and guessing."""
    room = WIDTH - _NAME - _VALUE
    parts, lines = [], []
    found = [each for each in found if each.targets]  # an attack on nobody says nothing
    for row, each in enumerate(found):
        y = row * _ROW + 12

        def at(share: float) -> float:
            return _NAME + room * share

        parts += [
            _named(each.name, y - 8),
            line(_NAME, y, _NAME + room, y, RULE, 1),
            line(at(each.guessing), y - 7, at(each.guessing), y + 7, PALE, 1.5),
            line(at(each.low), y, at(each.high), y, AFTER, 4),
            f'<circle cx="{at(each.after):.1f}" cy="{y}" r="5" fill="{AFTER}"/>',
            label(_NAME + room + 8, y + 4, percent(each.after), PALE, 11),
        ]
        if each.before is not None:
            parts.append(
                f'<circle cx="{at(each.before):.1f}" cy="{y}" r="5" fill="none" '
                f'stroke="{PALE}" stroke-width="1.5"/>'
            )
        lines.append(
            f"{each.name}: {percent(each.after)} ({percent(each.low)} to {percent(each.high)}), "
            f"guessing {percent(each.guessing)}"
        )
    height = len(found) * _ROW + 8
    parts += [
        label(_NAME, height + 10, "0 %", PALE, 10),
        label(_NAME + room, height + 10, "100 %", PALE, 10, "end"),
    ]
    words = f"attacks: {'; '.join(lines)}"
    return drawn(parts, WIDTH, height + 16, words, tuple(lines))


def heat_map(
    title: str, names: Sequence[str], cells: Sequence[Sequence[float]], darkest: float = 1.0
) -> Chart:
    """Draw how strongly columns go together: the darker, the stronger; losses are red.

    darkest: the value that is drawn in full.
    """
    side, left = 22, 96
    parts, lines = [], []
    for row, name in enumerate(names):
        y = row * side
        parts.append(label(left - 6, y + 15, fitted(name, left - 6, 11), INK, 11, "end"))
        for column, value in enumerate(cells[row]):
            shade = AFTER if value >= 0 else LIMIT
            strong = min(abs(value) / darkest, 1.0)
            parts.append(
                f'<rect x="{left + column * side}" y="{y}" width="{side - 1}" '
                f'height="{side - 1}" fill="{shade}" fill-opacity="{strong:.3f}" '
                f'stroke="{RULE}" stroke-width="0.5"/>'
            )
            if column < row:
                lines.append(f"{shortened(name)} and {shortened(names[column])}: {value:.2f}")
    parts.append(label(0, len(names) * side + 32, title, PALE, 11))
    for column in range(len(names)):
        parts.append(
            label(left + column * side + side / 2, len(names) * side + 14, str(column + 1), PALE,
                   9, "middle")
        )  # fmt: skip
    width, height = left + max(len(names) * side, 160) + 4, len(names) * side + 38
    return drawn(parts, width, height, f"{title}: {'; '.join(lines)}", tuple(lines))


def drawn(parts: Sequence[str], width: int, height: int, alt: str, lines: tuple[str, ...]) -> Chart:
    """Return a picture of its parts; alt: what is read out in its place."""
    alt = shortened(alt, _WORDS)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label={quoteattr(alt)} font-family="{FONT}">'
    )
    return Chart(svg=head + "".join(parts) + "</svg>", alt=alt, lines=lines, width=width)


def _rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height}" '
        f'fill="{fill}"/>'
    )


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float) -> str:
    """Return a stroke from one place to another."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
        f'stroke-width="{width}"/>'
    )


def label(x: float, y: float, text: str, fill: str, size: int, anchor: str = "start") -> str:
    """Return a text at a place, escaped."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
