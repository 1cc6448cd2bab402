"""The slow, obvious encoder: every class is asked about every record, cell by cell."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, InvalidOperation


def is_missing(value, marks):
    return value is None or value.strip() in ("", *marks)


def on_scale(text, entry, about):
    """Return what a text is compared by; None if it has no place on the scale."""
    if entry["scale"] == "number":
        try:
            found = Decimal(text.strip())
        except InvalidOperation:
            return None
        return found if found.is_finite() else None
    if entry["scale"] == "date":
        try:
            return datetime.fromisoformat(text.strip())
        except ValueError:
            return None
    if entry["scale"] == "rank":
        known = about.get("order") or about["hierarchy"]["labels"]
        return known.index(text.strip()) if text.strip() in known else None
    return text


def ancestors(text, about):
    """Return the nodes from a text up to the root; none if the hierarchy does not know it."""
    tree = about["hierarchy"]
    found = []
    node = tree["labels"].index(text.strip()) if text.strip() in tree["labels"] else -1
    while node >= 0:
        found.append(node)
        node = tree["parents"][node]
    return found


def masked(text, mask, lost):
    room = mask["length"] - len(text)
    if room < 0:
        return None
    full = text + mask["fill"] * room if mask["pad"] == "right" else mask["fill"] * room + text
    chars = list(full)
    for i in range(lost):
        chars[-1 - i if mask["direction"] == "right" else i] = mask["char"]
    return "".join(chars)


def line_place(value, entry, about):
    """Return what a value is compared with cuts by; None if it has no place."""
    if entry["scale"] != "text":
        return on_scale(value, entry, about)
    if "labels" in (about.get("hierarchy") or {}):
        return (ancestors(value, about) or [None])[0]
    if "mask" not in entry:
        return value.strip()
    full = masked(value, entry["mask"], 0)
    return full if full is None or entry["mask"]["direction"] == "right" else full[::-1]


def between_cuts(cell, value, entry, about, marks):
    """Say whether a value lies between the cuts of a cell."""
    low, high = cell["cut"]
    if low < 0 and high == len(entry["cuts"]) + 1:
        return True
    if is_missing(value, marks):
        return low < 0 and entry.get("missing", False)
    here = line_place(value, entry, about)
    if here is None:
        return False

    def at(cut):
        return cut if entry["scale"] == "text" else on_scale(cut, entry, about)

    if entry.get("first") is not None and not at(entry["first"]) <= here <= at(entry["last"]):
        return False
    if low > 0 and here < at(entry["cuts"][low - 1]):
        return False
    if high == 0:
        return False
    return high > len(entry["cuts"]) or here < at(entry["cuts"][high - 1])


def covers(cell, value, entry, about, marks=()):
    """Say whether a cell of a column covers a value."""
    if "cut" in cell:
        label = {key: cell[key] for key in cell if key not in ("cut", "variant")}
        label = {"any": label["label"]} if set(label) == {"label"} else label
        return between_cuts(cell, value, entry, about, marks) and covers(
            label, value, entry, about, marks
        )
    if "any" in cell:
        return True
    if is_missing(value, marks) or "missing" in cell:
        return is_missing(value, marks) and "missing" in cell
    if "node" in cell:
        return cell["node"] in ancestors(value, about)
    if "value" in cell or "values" in cell:
        return value.strip() in (cell.get("values") or [cell["value"]])
    if "mask" in cell:
        return masked(value, entry["mask"], cell["lost"]) == cell["mask"]
    here = on_scale(value, entry, about)
    if here is None:
        return False
    is_open = cell.get("open", "")
    if cell["low"] is not None:
        low = on_scale(cell["low"], entry, about)
        if here < low or (here == low and is_open in ("low", "both")):
            return False
    if cell["high"] is not None:
        high = on_scale(cell["high"], entry, about)
        if here > high or (here == high and is_open in ("high", "both")):
            return False
    return True


def uncovered(document, region, values):
    """Return the columns in which a class does not cover a tuple."""
    schema = document["schema"]
    return [
        j
        for j, (entry, cell, value) in enumerate(
            zip(document["columns"], document["regions"][region], values, strict=True)
        )
        if not covers(
            entry["cells"][cell], value, entry, schema["columns"][entry["name"]],
            schema.get("missing", ()),
        )
    ]  # fmt: skip


def find(document, values, closed=()):
    """Return the first open class that covers a tuple, -1 if none does."""
    for region in range(len(document["regions"])):
        if region not in closed and not uncovered(document, region, values):
            return region
    return -1


def nearest(document, values):
    """Return the first of the classes that cover a tuple in most columns; what it misses."""
    missed = [uncovered(document, region, values) for region in range(len(document["regions"]))]
    best = min(range(len(missed)), key=lambda region: len(missed[region]))
    return best, missed[best]


def label(cell, about):
    """Return what a cell releases."""
    if "missing" in cell or "label" in cell:
        return cell.get("label")
    for kind in ("any", "value", "mask"):
        if kind in cell:
            return cell[kind]
    if "node" in cell:
        return about["hierarchy"]["labels"][cell["node"]]
    return cell["low"] if cell["low"] == cell["high"] else f"[{cell['low']}, {cell['high']}]"


def labels(document, region):
    """Return what a class releases."""
    return [
        label(entry["cells"][cell], document["schema"]["columns"][entry["name"]])
        for entry, cell in zip(document["columns"], document["regions"][region], strict=True)
    ]
