"""Small bars of letters, for counts and shares on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.cli import standard

WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, *, blocks: bool = True, width: int = WIDTH) -> str:
    """Return a bar of up to so many letters; something that is there is always seen.

    Args:
        share: of the longest bar, 0 … 1.
        blocks: draw eighths of a letter; False: whole letters that any terminal has.
        width: letters of the longest bar.

    Example:
        >>> bar(0.5), bar(0.01), bar(0), bar(0.5, blocks=False)
        ('████████████', '▎', '', '############')
    """
    inside = min(max(share, 0.0), 1.0)
    if not blocks:
        return "#" * max(round(inside * width), int(inside > 0))
    eighths = max(round(inside * width * 8), int(inside > 0))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def bar_lines(title: str, rows: Sequence[tuple[str, float, str]], *, indent: int) -> list[str]:
    """Return a line for each row: its name, a bar, and its number; the title stands on the first.

    Args:
        title: of all of them.
        rows: a name, the length of its bar, and its number as a text each.
        indent: letters before the names.
    """
    longest = max((length for _, length, _ in rows), default=0.0)
    width = max((len(name) for name, _, _ in rows), default=0)
    blocks = has_blocks()
    found = []
    for place, (name, length, text) in enumerate(rows):
        drawn = bar(length / longest if longest else 0.0, blocks=blocks)
        head = f"  {title if not place else '':<{indent - 2}}"
        found.append(f"{head}{name:>{width}}  {drawn:<{WIDTH}}  {text}".rstrip())
    return found


def has_blocks() -> bool:
    """Say whether the terminal can write blocks."""
    try:
        _EIGHTHS.encode(getattr(standard.answers(), "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
