"""Plots of pairs of figures as SVG, written by hand: points with a front, and lines.

As in `charts`: attributes only, no style sheet and no script, for a page and for a PDF.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from shoal.reports.blocks import Chart
from shoal.reports.charts import INK, PALE, RULE, WIDTH, drawn, fitted, label, line, shortened

COLOURS = (
    "#2f6f9f", "#c8553d", "#4d8b57", "#8a5aa8", "#b8860b", "#3aa6a6", "#a83f6f", "#6b7a88",
    "#7a5c3e", "#5566cc", "#99aa22", "#cc6699",
)  # fmt: skip
_FRONT = "#0a6b3d"
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 300, 70, 30, 10, 44
_LEGEND_ROW, _A_ROW = 16, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A pair of figures; group: what it belongs to. is_front: it is joined with its like.

    Attributes:
        is_pale: another one beats it.
        table: only points of one table are joined.
    """

    name: str
    group: str
    x: float
    y: float
    is_front: bool = False
    is_pale: bool = False
    table: str = ""


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two, at most seven.

    Example:
        >>> ticks(0, 1), ticks(0, 47)
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0])
    """
    room = (high - low) or 1.0
    step = 10.0 ** math.floor(math.log10(room / 4))
    wide = next((w * step for w in (1, 2, 5, 10) if room / (w * step) <= 6), 10 * step)
    first, last = math.ceil(low / wide - 1e-9), math.floor(high / wide + 1e-9)
    return [float(f"{number * wide:.6g}") for number in range(first, last + 1)]


def scatter(points: Sequence[Point], x_name: str, y_name: str) -> Chart:
    """Draw a point each, by the colour of its group; those of the front are joined."""
    parts, at = _frame([p.x for p in points], [p.y for p in points], x_name, y_name)
    groups = list(dict.fromkeys(point.group for point in points))
    for table in dict.fromkeys(point.table for point in points):
        front = [point for point in points if point.is_front and point.table == table]
        front.sort(key=lambda point: (point.x, -point.y))
        parts.append(_polyline([at(p.x, p.y) for p in front], _FRONT, dashes="4 3"))
    for point in sorted(points, key=lambda each: not each.is_pale):
        parts.append(_dot(*at(point.x, point.y), _colour(groups, point.group), point.is_pale))
    said = tuple(
        f"{shortened(p.name, 60)}: {x_name} {p.x:.4g}, {y_name} {p.y:.4g}"
        + (", no other one beats it" if p.is_front else "")
        for p in points
    )
    return _finished(parts, groups, f"{y_name} against {x_name}", said)


def over(points: Sequence[Point], x_name: str, y_name: str) -> Chart:
    """Draw a line a group: the median where several points have one x, and their spread."""
    parts, at = _frame([p.x for p in points], [p.y for p in points], x_name, y_name)
    groups = list(dict.fromkeys(point.group for point in points))
    said = []
    for group in groups:
        values: dict[float, list[float]] = {}
        for point in points:
            if point.group == group:
                values.setdefault(point.x, []).append(point.y)
        middles = {x: median(values[x]) for x in sorted(values)}
        colour = _colour(groups, group)
        parts.append(_polyline([at(x, y) for x, y in middles.items()], colour))
        for x, ys in values.items():
            (left, top), (_, bottom) = at(x, max(ys)), at(x, min(ys))
            if len(ys) > 1:
                parts.append(line(left, top, left, bottom, colour, 1))
            parts.append(_dot(*at(x, middles[x]), colour, False))
        figures = ", ".join(f"{y:.4g} at {x:g}" for x, y in middles.items())
        said.append(f"{shortened(group, 60)}: {figures}")
    return _finished(parts, groups, f"{y_name} over {x_name}", tuple(said))


def _colour(groups: Sequence[str], group: str) -> str:
    return COLOURS[groups.index(group) % len(COLOURS)]


Places = Callable[[float, float], tuple[float, float]]


def _frame(
    xs: Sequence[float], ys: Sequence[float], x_name: str, y_name: str
) -> tuple[list[str], Places]:
    """Return axes with round numbers, and what turns a pair of figures into a place."""
    (x0, x1), (y0, y1) = _ends(xs), _ends(ys)
    wide, high = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + wide * (x - x0) / (x1 - x0),
            _TOP + high * (1 - (y - y0) / (y1 - y0)),
        )

    parts = []
    for x in ticks(x0, x1):
        place, foot = at(x, y0)
        parts += [
            line(place, _TOP, place, foot, RULE, 1),
            label(place, foot + 14, f"{x:,g}", PALE, 10, "middle"),
        ]
    for y in ticks(y0, y1):
        _, place = at(x0, y)
        parts += [
            line(_LEFT, place, WIDTH - _RIGHT, place, RULE, 1),
            label(_LEFT - 6, place + 4, f"{y:,g}", PALE, 10, "end"),
        ]
    parts.append(label(_LEFT + wide / 2, _HEIGHT - 10, x_name, INK, 11, "middle"))
    turned = label(0, 0, y_name, INK, 11, "middle")
    parts.append(f'<g transform="translate(14 {_TOP + high / 2:.1f}) rotate(-90)">{turned}</g>')
    return parts, at


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min((0.0, *values)), max((1e-9, *values))
    return low, high + (high - low) * 0.05


def _dot(x: float, y: float, colour: str, is_pale: bool) -> str:
    opacity = ' fill-opacity="0.3"' if is_pale else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"{opacity}/>'


def _polyline(places: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> str:
    if len(places) < 2:
        return ""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"{dashed}/>'


def _finished(parts: list[str], groups: Sequence[str], title: str, lines: tuple[str, ...]) -> Chart:
    """Put the names of the groups below, and close the picture."""
    across = (WIDTH - _LEFT) / _A_ROW
    for place, group in enumerate(groups):
        row, column = divmod(place, _A_ROW)
        x, y = _LEFT + column * across, _HEIGHT + 10 + row * _LEGEND_ROW
        parts += [
            _dot(x + 5, y - 4, _colour(groups, group), False),
            label(x + 14, y, fitted(group, across - 18, 11), INK, 11),
        ]
    rows = math.ceil(len(groups) / _A_ROW)
    height = _HEIGHT + rows * _LEGEND_ROW + 4
    return drawn(parts, WIDTH, height, f"{title}: {'; '.join(lines)}", lines)
