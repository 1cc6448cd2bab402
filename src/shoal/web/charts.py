"""Charts of the page, as plain options of ECharts: built from documents, in light and in dark.

ECharts does not follow the page into the dark: a chart is built again with other colours. The
colours are those of Okabe and Ito, which people tell apart whose eyes mix up red and green, and
a method has a shape of its own, too. Texts are drawn, never read as HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shoal.core.documents import Document, Json
from shoal.reports.charts import shortened
from shoal.web.texts import Texts

PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a800", "#8c7bb8",
)  # fmt: skip
SHAPES = ("circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow")
_LIGHT_SCALE = ("#f1f5f9", "#7fb2d6", "#0b4f80")
_DARK_SCALE = ("#1d2935", "#2f78ab", "#a8dcff")
MOST_BARS = 60
_SHORT = 8  # characters of a label that fits under its bar
_WIDE, _TURNED, _MOST_SHOWN = 40, 16, 14
"""Characters that fit below a chart in one line; bars that are all named, aslant; of one name."""
_LATTICE_WIDTH, _LATTICE_HEIGHT = 640.0, 380.0
_PERCENT = {
    "en": "v => (100 * v).toLocaleString('en', {maximumFractionDigits: 2}) + '%'",
    "de": "v => (100 * v).toLocaleString('de', {maximumFractionDigits: 2}) + '\\u00a0%'",
}
_COUNT = {
    "en": "v => v.toLocaleString('en')",
    "de": "v => v.toLocaleString('de')",
}


@dataclass(frozen=True, slots=True)
class Look:
    """The colours of a chart, for a light page or a dark one, and the language of its texts."""

    texts: Texts
    is_dark: bool = False

    @property
    def ink(self) -> str:
        """Return the colour of texts."""
        return "#e5ebf0" if self.is_dark else "#1c2733"

    @property
    def soft(self) -> str:
        """Return the colour of texts that stand back."""
        return "#a9b8c6" if self.is_dark else "#52616f"

    @property
    def line(self) -> str:
        """Return the colour of rules."""
        return "#36434f" if self.is_dark else "#dde4ea"

    @property
    def before(self) -> str:
        """Return the colour of the table as it was."""
        return "#5a6a79" if self.is_dark else "#b9c6d2"

    @property
    def after(self) -> str:
        """Return the colour of the release."""
        return "#56b4e9" if self.is_dark else "#0072b2"

    @property
    def unsafe(self) -> str:
        """Return the colour of what breaks a promise."""
        return "#ff9b6a" if self.is_dark else "#b8450b"

    @property
    def paper(self) -> str:
        """Return what is behind a chart."""
        return "#1b232b" if self.is_dark else "#ffffff"

    @property
    def scale(self) -> tuple[str, ...]:
        """Return the colours from little to much."""
        return _DARK_SCALE if self.is_dark else _LIGHT_SCALE

    def frame(self, said: str) -> Document:
        """Return what all charts share; said: what a screen reader says of it."""
        return {
            "animation": False,
            "aria": {"enabled": True, "label": {"description": said}},
            "textStyle": {"color": self.ink, "fontFamily": "inherit"},
            "backgroundColor": "transparent",
            "color": list(PALETTE),
            "tooltip": {
                "renderMode": "richText",
                "confine": True,
                "backgroundColor": self.paper,
                "borderColor": self.line,
                "textStyle": {"color": self.ink, "fontSize": 12},
            },
        }

    def axis(self, kind: str, name: str = "", **more: Json) -> Document:
        """Return an axis; kind: "value", "percent", or "category"."""
        form = {"percent": _PERCENT, "value": _COUNT}.get(kind)
        label: Document = {"color": self.soft, "fontSize": 11}
        if form is not None:
            label[":formatter"] = form[self.texts.language]
        return {
            "type": "category" if kind == "category" else "value",
            "name": name,
            "nameLocation": "middle",
            "nameTextStyle": {"color": self.soft, "fontSize": 12},
            "axisLabel": label,
            "axisLine": {"lineStyle": {"color": self.line}},
            "axisTick": {"show": False},
            "splitLine": {"show": kind != "category", "lineStyle": {"color": self.line}},
            **more,
        }

    def legend(self, names: Sequence[str]) -> Document:
        """Return a legend above the chart."""
        style: Document = {"color": self.soft}
        return {"data": list(names), "top": 0, "type": "scroll", "textStyle": style,
                "pageTextStyle": style, "inactiveColor": self.line, "itemGap": 20,
                "itemWidth": 16, "itemHeight": 11}  # fmt: skip


class Point(NamedTuple):
    """One release among others."""

    name: str
    method: str
    loss: float
    risk: float
    is_front: bool = False


def points(found: Sequence[Point], look: Look, *, chosen: str | None = None) -> Document:
    """Draw releases as points of risk against loss, and a line through those that none beats."""
    methods = list(dict.fromkeys(each.method for each in found))
    front = sorted((each.loss, each.risk) for each in found if each.is_front)
    series: list[Json] = [
        {
            "type": "scatter",
            "name": method,
            "symbol": SHAPES[at % len(SHAPES)],
            "itemStyle": {"color": PALETTE[at % len(PALETTE)]},
            "data": [_point(each, look, each.name == chosen) for each in found
                     if each.method == method],
            "emphasis": {"scale": 1.4},
        }
        for at, method in enumerate(methods)
    ]  # fmt: skip
    line: Document = {
        "type": "line", "name": look.texts("charts.front"), "silent": True, "showSymbol": False,
        "step": "end", "z": 1, "data": [list(pair) for pair in front],
        "lineStyle": {"color": look.soft, "type": "dashed", "width": 1.5},
        "itemStyle": {"color": look.soft}, "tooltip": {"show": False},
    }  # fmt: skip
    return {
        **look.frame(look.texts("charts.points_said", n=len(found), front=len(front))),
        "legend": look.legend([*methods, look.texts("charts.front")]),
        "grid": {"left": 64, "right": 24, "top": 44, "bottom": 52},
        "xAxis": look.axis("percent", look.texts("charts.loss"), nameGap=32),
        "yAxis": look.axis("percent", look.texts("charts.risk"), nameGap=46),
        "series": [*series, line],
    }


def _point(each: Point, look: Look, is_chosen: bool) -> Document:
    texts = look.texts
    lines = (
        each.name,
        f"{texts('charts.loss')} {texts.percent(each.loss, digits=2)}",
        f"{texts('charts.risk')} {texts.percent(each.risk, digits=2)}",
    )
    return {
        "name": each.name,
        "value": [each.loss, each.risk],
        "symbolSize": 18 if is_chosen else 13 if each.is_front else 9,
        "itemStyle": {
            "opacity": 1 if each.is_front or is_chosen else 0.55,
            "borderColor": look.ink if is_chosen else look.paper,
            "borderWidth": 3 if is_chosen else 1,
        },
        "tooltip": {"formatter": _plain("\n".join(lines))},
    }


class LatticeNode(NamedTuple):
    """A node of a lattice: the level of each column, and what a release there would be like."""

    levels: tuple[int, ...]
    loss: float
    suppressed: float
    is_safe: bool


def lattice(
    nodes: Sequence[LatticeNode], columns: Sequence[str], look: Look, *,
    chosen: tuple[int, ...] | None = None,
) -> Document:  # fmt: skip
    """Draw a lattice, the original at the bottom: darker nodes lose more, unsafe ones are rings."""
    places = _places(nodes)
    names = {each.levels: "-".join(map(str, each.levels)) for each in nodes}
    links: list[Json] = [
        {"source": names[low.levels], "target": names[high.levels]}
        for low in nodes
        for high in nodes
        if sum(high.levels) == sum(low.levels) + 1
        and all(a <= b for a, b in zip(low.levels, high.levels, strict=True))
    ]
    most = max((each.loss for each in nodes), default=0.0) or 1.0
    widest = max(map(len, _rows(nodes).values()), default=1)
    size = min(16.0, 0.8 * _LATTICE_WIDTH / widest)
    drawn: list[Json] = [
        _node(each, columns, look, places[each.levels], size, is_chosen=each.levels == chosen)
        for each in nodes
    ]
    safe = sum(each.is_safe for each in nodes)
    return {
        **look.frame(look.texts("charts.lattice_said", n=len(nodes), safe=safe)),
        "visualMap": {
            "min": 0, "max": most, "dimension": 0, "calculable": False, "right": 0, "top": "middle",
            "itemHeight": 120, "inRange": {"color": list(look.scale)}, "seriesIndex": 0,
            "text": [look.texts("charts.loss"), ""], "textStyle": {"color": look.soft},
        },
        "series": [
            {
                "type": "graph", "layout": "none", "roam": True, "left": 30, "right": 90,
                "top": 24, "bottom": 24, "symbolSize": 16, "edgeSymbol": ["none", "none"],
                "lineStyle": {"color": look.line, "width": 1}, "data": drawn, "links": links,
                "emphasis": {"focus": "adjacency", "lineStyle": {"width": 2, "color": look.soft}},
            }
        ],
    }  # fmt: skip


def _places(nodes: Sequence[LatticeNode]) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return where each node stands: a row for each sum of levels, spread evenly."""
    rows = _rows(nodes)
    # About as wide and as high as it is shown: a graph that is stretched has flat nodes.
    found, low, step = {}, min(rows, default=0), _LATTICE_HEIGHT / max(len(rows) - 1, 1)
    for height, row in rows.items():
        for at, levels in enumerate(row):
            x = _LATTICE_WIDTH * (at + 0.5) / len(row)
            found[levels] = (x, -step * (height - low))
    return found


def _rows(nodes: Sequence[LatticeNode]) -> dict[int, list[tuple[int, ...]]]:
    rows: dict[int, list[tuple[int, ...]]] = {}
    for each in sorted(nodes, key=lambda each: each.levels, reverse=True):
        rows.setdefault(sum(each.levels), []).append(each.levels)
    return rows


def _node(
    each: LatticeNode, columns: Sequence[str], look: Look, place: tuple[float, float],
    size: float, *, is_chosen: bool,
) -> Document:  # fmt: skip
    texts = look.texts
    levels = ", ".join(f"{name} {level}" for name, level in zip(columns, each.levels, strict=True))
    words = texts("charts.safe" if each.is_safe else "charts.unsafe")
    said = (
        f"{levels}\n{words}\n{texts('charts.loss')} {texts.percent(each.loss)}\n"
        f"{texts('charts.suppressed')} {texts.percent(each.suppressed)}"
    )
    edge = look.ink if is_chosen else look.after if each.is_safe else look.unsafe
    return {
        "name": "-".join(map(str, each.levels)),
        "x": place[0],
        "y": place[1],
        "value": each.loss,
        "symbol": "circle" if each.is_safe else "diamond",
        "symbolSize": size + 8 if is_chosen else size,
        "itemStyle": {"borderColor": edge, "borderWidth": 3 if is_chosen else 1.5},
        "tooltip": {"formatter": _plain(said)},
    }


def histograms(
    names: Sequence[str], before: Sequence[float] | None, after: Sequence[float] | None, look: Look
) -> Document:
    """Draw a column before and after in the same bins, one upon the other."""
    series: list[Json] = []
    for said, values, colour, width in (
        (look.texts("charts.before"), before, look.before, "86%"),
        (look.texts("charts.after"), after, look.after, "46%"),
    ):
        if values is not None:
            bars: list[Json] = [round(each, 3) for each in values]
            own: Document = {"name": said, "data": bars, "barWidth": width, "z": len(series)}
            series.append({"type": "bar", "itemStyle": {"color": colour}, **own})
    if len(series) == 2:  # bars of two widths stand in the middle of each other on two axes
        series[1] = {**_mapping(series[1]), "xAxisIndex": 1}
    axis = look.axis("category", data=[shortened(name, _MOST_SHOWN) for name in names])
    if len(names) * max(map(len, names), default=0) > _WIDE and 2 < len(names) <= _TURNED:
        label: Document = {"rotate": 40, "interval": 0, "fontSize": 10}
        axis["axisLabel"] = {**_mapping(axis["axisLabel"]), **label}
    elif any(len(name) > _SHORT for name in names):  # a long one would be cut off at the edge
        inside: Document = {"alignMinLabel": "left", "alignMaxLabel": "right"}
        axis["axisLabel"] = {**_mapping(axis["axisLabel"]), **inside}
    return {
        **look.frame(look.texts("charts.histograms_said", n=len(names))),
        "legend": look.legend([str(_mapping(each)["name"]) for each in series]),
        "grid": {"left": 8, "right": 12, "top": 36, "bottom": 8, "containLabel": True},
        # The second one takes no room for labels that nobody sees.
        "xAxis": [
            axis,
            {**axis, "show": False, "position": "bottom", "axisLabel": {"show": False}},
        ],
        "yAxis": look.axis("value"),
        "series": series,
    }


def heat(names: Sequence[str], values: Sequence[Sequence[float]], look: Look) -> Document:
    """Draw how strongly columns go together: 0 not at all, 1 as one."""
    cells: list[Json] = [
        [x, y, round(share, 3)] for y, row in enumerate(values) for x, share in enumerate(row)
    ]
    ticks: list[Json] = [shortened(name, 16) for name in names]
    turned: Document = {"color": look.soft, "fontSize": 11, "rotate": 40}
    across = look.axis("category", data=ticks)
    return {
        **look.frame(look.texts("charts.heat_said", n=len(names))),
        "grid": {"left": 8, "right": 70, "top": 8, "bottom": 8, "containLabel": True},
        "xAxis": {**across, "axisLabel": turned},
        "yAxis": look.axis("category", data=ticks, inverse=True),
        "visualMap": {
            "min": 0, "max": 1, "right": 0, "top": "middle", "itemHeight": 110, "precision": 1,
            "inRange": {"color": list(look.scale)}, "textStyle": {"color": look.soft},
        },
        "series": [{"type": "heatmap", "data": cells,
                    "itemStyle": {"borderColor": look.paper, "borderWidth": 1}}],
    }  # fmt: skip


def sizes(
    names: Sequence[str], before: Sequence[float] | None, after: Sequence[float], look: Look
) -> Document:
    """Draw how many stand in classes of each size, before and after, side by side."""
    both = [(look.texts("charts.before"), before, look.before),
            (look.texts("charts.after"), after, look.after)]  # fmt: skip
    axis = look.axis("category", look.texts("charts.class_size"), data=list(names))
    series: list[Json] = [
        {"type": "bar", "name": said, "data": list(values), "itemStyle": {"color": colour}}
        for said, values, colour in both
        if values is not None
    ]
    return {
        **look.frame(look.texts("charts.sizes_said", n=len(names))),
        "legend": look.legend([said for said, values, _ in both if values is not None]),
        "grid": {"left": 8, "right": 12, "top": 36, "bottom": 26, "containLabel": True},
        "xAxis": {**axis, "nameGap": 28},
        "yAxis": look.axis("value"),
        "series": series,
    }


def bars(
    names: Sequence[str], values: Sequence[float], look: Look, *, limit: float | None = None
) -> Document:
    """Draw a share for each name, the first on top, and a rule at a limit."""
    drawn = list(zip(names, values, strict=True))[:MOST_BARS]
    shares: list[Json] = [
        {"value": value, "name": name,
         "itemStyle": {"color": look.unsafe if limit is not None and value > limit else look.after},
         "tooltip": {"formatter": _plain(f"{name}\n{look.texts.percent(value, digits=2)}")}}
        for name, value in drawn
    ]  # fmt: skip
    rule: Document = {
        "silent": True, "symbol": "none", "data": [{"xAxis": limit}], "label": {"show": False},
        "lineStyle": {"color": look.unsafe, "type": "dashed"},
    }  # fmt: skip
    ticks: list[Json] = [shortened(name) for name, _ in drawn]
    return {
        **look.frame(look.texts("charts.bars_said", n=len(drawn))),
        "grid": {"left": 8, "right": 24, "top": 8, "bottom": 8, "containLabel": True},
        "xAxis": look.axis("percent", min=0),
        "yAxis": look.axis("category", data=ticks, inverse=True),
        "series": [{"type": "bar", "data": shares, "barMaxWidth": 16,
                    **({} if limit is None else {"markLine": rule})}],
    }  # fmt: skip


def steps(losses: Sequence[float | None], look: Look, *, chosen: int | None = None) -> Document:
    """Draw the loss of a column at each level of its hierarchy."""
    values: list[Json] = [
        {"value": loss, "symbolSize": 12 if level == chosen else 7}
        for level, loss in enumerate(losses)
    ]
    levels: list[Json] = [str(level) for level in range(len(losses))]
    return {
        **look.frame(look.texts("charts.steps_said", n=len(losses))),
        "grid": {"left": 8, "right": 16, "top": 12, "bottom": 26, "containLabel": True},
        "xAxis": look.axis("category", look.texts("charts.level"), data=levels, nameGap=26),
        "yAxis": look.axis("percent", min=0, max=1),
        "series": [{"type": "line", "step": "middle", "data": values, "symbol": "circle",
                    "itemStyle": {"color": look.after}, "lineStyle": {"color": look.after},
                    "areaStyle": {"color": look.after, "opacity": 0.12}}],
    }  # fmt: skip


def _plain(text: str) -> str:
    """Return a text in which ECharts finds no field to fill in and no style to apply."""
    return text.replace("{", "\u2774").replace("}", "\u2775")


def _mapping(value: Json) -> Document:
    assert isinstance(value, dict)
    return value
