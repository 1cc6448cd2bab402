"""What an attacker can still do: the pictures and the figures of the guide.

    python -m benchmarks.attackers

draws docs/images/attack-*.svg from made-up people, and prints who a register of 50,000 people, a
tenth of whom are in the table, proves to be there; and how many classes are so large that a search
which could have divided them says something by leaving them whole.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from shoal import api
from shoal.core.grids import NumberGrid
from shoal.engines.local.attack import Attacker
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PLANE = {"columns": {name: {"role": "quasi", "kind": "numeric"} for name in ("x", "y")}}
BLUE, RED, GREY = "#1f6fb4", "#c0392b", "#b9bec4"
METHODS = ("bestcut", "mondrian")
SIDE, MARGIN = 420, 20


def picture(name: str, width: int, height: int, parts: list[str]) -> None:
    """Write a picture."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13"><rect width="{width}" height="{height}" '
        'fill="#fff"/>'
    )
    text = "\n".join([head, *parts, "</svg>\n"])
    (IMAGES / f"attack-{name}.svg").write_text(text, encoding="utf-8")


def text(x: float, y: float, words: str, fill: str = "#222", anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{fill}" text-anchor="{anchor}">{words}</text>'


def dot(x: float, y: float, fill: str, radius: float = 3) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>'


def plan(frame: pl.DataFrame, method: str, place: Path) -> tuple[list[int], list[tuple[int, ...]]]:
    """Release people of a plane; return the class of each, and the boxes."""
    classes = place / f"{method}.csv"
    made = api.anonymize(
        frame, PLANE, k=5, method=method, labels="tight", attacks=False, class_file=classes
    ).table
    boxes = []
    for row in made.unique().iter_rows():
        ends = [label.strip("[]").split(", ") for label in row]
        boxes.append(tuple(int(end[side]) for side in (0, -1) for end in ends))
    number = pl.read_csv(classes, infer_schema=False).to_series(-1)
    return number.to_list(), boxes


def intersection(place: Path) -> None:
    """Draw two releases of one table, and who is alone in both together."""
    chance = np.random.default_rng(4)
    points = np.unique(chance.integers(2, 99, (64, 2)), axis=0)
    frame = pl.DataFrame(points, schema=["x", "y"], orient="row")
    (one, boxes), (two, others) = (plan(frame, name, place) for name in ("bestcut", "mondrian"))
    cells = list(zip(one, two, strict=True))
    scale = SIDE / 100
    parts = []
    for found, colour, inset in ((boxes, BLUE, 3), (others, RED, 5)):
        for box in found:
            left, top = (MARGIN + place * scale - inset for place in box[:2])
            width, height = (
                (high - low) * scale + 2 * inset for low, high in zip(box[:2], box[2:], strict=True)
            )
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
                f'fill="none" stroke="{colour}" stroke-width="1.4"/>'
            )
    alone = 0
    for (x, y), cell in zip(points.tolist(), cells, strict=True):
        is_alone = cells.count(cell) == 1
        alone += is_alone
        parts.append(dot(MARGIN + x * scale, MARGIN + y * scale, "#000" if is_alone else GREY, 4))
    y = SIDE + 3 * MARGIN
    parts += [
        text(MARGIN, y, "classes of one release", BLUE),
        text(MARGIN + 160, y, "of another one", RED),
        text(MARGIN + 270, y, f"{alone} of {len(points)} alone in both"),
    ]
    picture("intersection", SIDE + 2 * MARGIN, SIDE + 4 * MARGIN, parts)
    print(f"picture of two releases: {alone} of {len(points)} people alone")


def ends() -> None:
    """Draw one class between the people of a register, with both labels."""
    chance = np.random.default_rng(2)
    ages = np.sort(chance.choice(np.arange(20, 70), 40, replace=False))
    members = ages[14:19]
    low, high = int(members[0]), int(members[-1])
    span = NumberGrid(0).span(str(low), str(high))
    scale = 12.0

    def at(age: float) -> float:
        return MARGIN + (age - 20) * scale

    parts = []
    rows = ((40, f"[{low}, {high}]", low, high, RED), (120, span.label, span.begin, span.end, BLUE))
    for y, label, begin, end, colour in rows:
        parts.append(
            f'<rect x="{at(begin) - 4:.0f}" y="{y - 12}" width="{(end - begin) * scale + 8:.0f}" '
            f'height="24" fill="{colour}" fill-opacity="0.18" stroke="{colour}"/>'
        )
        for age in ages.tolist():
            is_end = colour == RED and age in (low, high)
            fill = RED if is_end else "#000" if age in members else GREY
            parts.append(dot(at(age), y, fill, 5 if is_end else 3.5))
        parts.append(text(at(begin), y + 34, label, colour))
    parts.append(
        text(MARGIN, 190, "people of a register by age; black: in the table; red: proven by an end")
    )
    picture("ends", round(at(70)) + MARGIN, 205, parts)


def proven(place: Path) -> None:
    """Draw whom a register proves, and print what is claimed of members and of others."""
    api.sample("hospital", out=place / "register.csv", records=50_000, seed=3)
    people = pl.read_csv(place / "register.csv", infer_schema=False)
    chosen = np.sort(np.random.default_rng(0).permutation(people.height)[:5_000])
    people[chosen].write_csv(place / "table.csv")
    schema = Schema.load(place / "register.schema.yaml")
    print("\n| 5,000 of 50,000 people, k = 5 | proven members | of the register | of others | "
          "value named | 90 % sure: right | of somebody outside |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|")
    rows = []
    for method in METHODS:
        for labels in ("tight", "round"):
            out = place / "o.csv"
            api.anonymize(
                place / "table.csv", schema, k=5, replace_promise=True, method=method,
                labels=labels, attacks=False, out=out,
            )  # fmt: skip
            close = Attacker(open_source(place / "table.csv"), open_source(out).as_labels(), schema)
            reader = close._reader(close._released)
            found = reader.membership(open_source(place / "register.csv"), "patient_id")
            said = reader.inference("diagnosis")
            right = said.detail["sure_right"]
            sure = f"{said.detail['sure_claims']:,}: " + ("–" if right is None else f"{right:.0%}")
            print(
                f"| {method}, {labels} | {found.success:.1%} | "
                f"{found.detail['proven_of_the_register']:.2%} | {found.control:.1%} | "
                f"{said.success:.1%} | {sure} | {said.control:.1%} |",
                flush=True,
            )
            rows.append((f"{method}, {labels}", found.success))
            out.unlink()
    members(rows)


def members(rows: list[tuple[str, float]]) -> None:
    """Draw the share of the members that is proven, by method and labels."""
    parts = []
    for i, (name, share) in enumerate(rows):
        y = 24 + 28 * i
        colour, width = RED if name.endswith("tight") else BLUE, max(share * 600, 1)
        parts += [
            text(150, y + 13, name, anchor="end"),
            f'<rect x="160" y="{y}" width="{width:.0f}" height="18" fill="{colour}"/>',
            text(168 + share * 600, y + 13, f"{share:.1%}"),
        ]
    parts.append(text(160, 24 + 28 * len(rows) + 14, "of the members proven; of all others nobody"))
    picture("members", 640, 24 + 28 * len(rows) + 30, parts)


def left_whole(place: Path) -> None:
    """Print how many records stand in classes that a search could have divided by their number."""
    print("\n| left whole | classes | of 2k records or more | their records |")
    print("|---|---:|---:|---:|")
    table, schema = place / "table.csv", Schema.load(place / "register.schema.yaml")
    for method in METHODS:
        made = api.anonymize(
            table, schema, k=5, replace_promise=True, method=method, labels="tight", attacks=False
        ).table
        sizes = made.group_by(list(schema.quasi)).len()["len"].to_numpy()
        large = sizes[sizes >= 10]
        print(f"| {method} | {len(sizes):,} | {len(large):,} | {large.sum() / sizes.sum():.1%} |")


def main() -> None:
    """Draw the pictures and print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        intersection(place)
        ends()
        proven(place)
        left_whole(place)


if __name__ == "__main__":
    main()
