"""The page: its start, a click while a job runs, 3,000,000 records, a hierarchy of 10,000 leaves.

Measured in a real Chromium, from the click to the drawn rows: `python -m benchmarks.page`, or as a
section of docs/benchmarks.md: `python -m benchmarks.run page`.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from tests.web.chromium import browsed
from tests.web.server import served

from shoal.samples import hospital

if TYPE_CHECKING:
    from playwright.sync_api import Page

RECORDS, LEAVES, AGAIN, ROUNDS = 3_000_000, 10_000, 5, 6
TITLE = "The page"
NOTE = """In a real Chromium, from the click to what is drawn, in seconds of wall time: the best of
several, for other work on the machine makes them longer.

"""
MARKS: dict[str, tuple[str, float, str]] = {
    "up": ("until the page answers", 2.0, "s"),
    "memory": ("memory of the server, the page drawn, no table open", 100.0, "MB"),
    "first rows": ("first rows of 3,000,000 records, CSV", 4.0, "s"),
    "sort": ("sort them by a column", 1.0, "s"),
    "filter": ("filter them", 0.5, "s"),
    "click": ("a click while a release is made, 95th percentile", 0.05, "s"),
    "cancel": ("until a cancelled job is seen to be", 0.5, "s"),
    "killed": ("until no process is left of a server that was killed", 2.0, "s"),
    "edit of the tree": ("edits of a hierarchy of 10,000 leaves, 95th percentile", 0.3, "s"),
}
FIRST = ".ag-pinned-left-cols-container .ag-row[row-index='0']"
# Does something, and returns the seconds until what a selector finds reads otherwise.
UNTIL = """async ([selector, act]) => {
  const read = () => document.querySelector(selector)?.textContent ?? "";
  const before = read(), began = performance.now();
  await new Function("return (async () => {" + act + "})()")();
  while (read() === before || read() === "") {
    if (performance.now() - began > 120000) throw new Error("it did not come about");
    await new Promise((done) => setTimeout(done, 4));
  }
  return (performance.now() - began) / 1000;
}"""


def write_table(place: Path) -> None:
    """Write a table of nine columns; one of them is different in every record."""
    random = np.random.default_rng(0)
    widths = {"age": 100, "zip": 50_000, "ward": 16, "code": 1_000, "weight": 300}
    columns = {name: random.integers(0, width, RECORDS) for name, width in widths.items()}
    frame = pl.DataFrame({**columns, "id": np.arange(RECORDS) * 7 % RECORDS})
    frame = frame.with_columns(pl.format("w{}", "code").alias("code"), sex=pl.col("age") % 2)
    frame.write_csv(place)


def write_tree(folder: Path) -> None:
    """Write a table whose column has ten thousand values, and a hierarchy of them."""
    values = [f"{at:04d}" for at in range(LEAVES)]
    rows = "".join(f"{value},{'ab'[at % 2]}\n" for at, value in enumerate(values * 2))
    (folder / "codes.csv").write_text("code,ill\n" + rows, encoding="utf-8")
    project = folder / "codes.project"
    (project / "hierarchies").mkdir(parents=True)
    lines = "".join(f"{v};{v[:2]}**;{v[:1]}***;*\n" for v in values)
    (project / "hierarchies" / "code.csv").write_text(lines, encoding="utf-8")
    schema = {
        "columns": {
            "code": {
                "role": "quasi",
                "kind": "categorical",
                "hierarchy": "hierarchies/code.csv",
            },
            "ill": {"role": "sensitive", "kind": "categorical"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (project / "schema.yaml").write_text(json.dumps(schema), encoding="utf-8")
    request = {"job": "release", "table": "codes.csv", "schema": "codes.project/schema.yaml"}
    (project / "request.yaml").write_text(json.dumps(request), encoding="utf-8")


def table_times(folder: Path) -> dict[str, float]:
    """Return the seconds to the first rows, and those of a sort and a filter once it is read."""
    write_table(folder / "large.csv")
    found: dict[str, float] = {}
    with served(folder) as server, browsed(server.address) as page:
        page.get_by_label("A file of this folder").click()
        page.get_by_label("A file of this folder").fill("large.csv")
        item = page.locator(".q-menu .q-item", has_text="large.csv").first
        item.wait_for()
        began = time.perf_counter()
        item.click()
        page.wait_for_selector(FIRST)
        found["first rows"] = time.perf_counter() - began

        def click(column: str) -> str:
            return f"""document.querySelector(
                ".ag-header-cell[col-id='{column}'] .ag-header-cell-label").click()"""

        found["all read, and sorted"] = page.evaluate(UNTIL, [FIRST, click("c0")])
        page.wait_for_function("document.querySelector('.job').offsetParent === null")
        sorts = [page.evaluate(UNTIL, [FIRST, click(f"c{at}")]) for at in (1, 2, 3, 4, 5)]
        found["sort"] = min(sorts)
        page.locator(".ag-header-cell[col-id='c3'] .ag-header-cell-filter-button").click()
        page.locator(".ag-filter input[type=text]").first.wait_for()
        filters = []
        for text in ("w12", "w7", "w99", "w40", "w61"):
            act = f"""const box = document.querySelector(".ag-filter input[type=text]");
                box.value = {text!r}; box.dispatchEvent(new Event("input", {{bubbles: true}}));"""
            filters.append(page.evaluate(UNTIL, [FIRST, act]))
        found["filter"] = min(filters)
    return found


def tree_times(folder: Path) -> dict[str, float]:
    """Return the seconds of a rename and of a move in a tree of ten thousand leaves."""
    write_tree(folder)
    found: dict[str, float] = {}
    with served(folder, "codes.csv") as server, browsed(server.address) as page:
        page.locator("#hierarchies .columns-row button", has_text="code").click()
        page.wait_for_selector(".tree-row")
        page.wait_for_selector("#hierarchies table.plain td")  # the loss is there: all is quiet
        rows = page.locator("[role=tree]")
        times = []
        for _ in range(AGAIN):
            rows.focus()
            for key in ("Home", "ArrowDown", "F2"):
                page.keyboard.press(key)
            page.wait_for_selector("input.tree-name")
            page.keyboard.type(f"n{len(times)}")
            act = """document.querySelector("input.tree-name").dispatchEvent(
                new KeyboardEvent("keydown", {key: "Enter", bubbles: true}))"""
            label = ".tree-row:nth-child(2) .tree-label"
            times.append(page.evaluate(UNTIL, [label, act]))
        for _ in range(AGAIN):  # a whole branch of a thousand leaves into another one, and back
            rows.focus()
            for key in ("Home", "ArrowDown", "Control+x", "End"):
                page.keyboard.press(key)
            for key in ("v", "z"):
                act = f"""document.querySelector("[role=tree]").dispatchEvent(
                    new KeyboardEvent("keydown", {{key: "{key}", ctrlKey: true, bubbles: true}}))"""
                times.append(page.evaluate(UNTIL, ["[role=tree]", act]))
        found["edit of the tree"] = float(np.percentile(times, 95))
    return found


def start_figures() -> dict[str, float]:
    """Return the seconds until the page answers, and the memory before a table is opened."""
    up = []
    for _ in range(AGAIN):
        visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with _folder() as folder:
            began = time.perf_counter()
            with served(folder) as server, visitor.open(server.address) as answer:
                assert b"nicegui" in answer.read()
                up.append(time.perf_counter() - began)
    with _folder() as folder, served(folder) as server, browsed(server.address) as page:
        page.wait_for_selector("section#release")
        return {"up": min(up), "memory": _megabytes(server.process.pid)}


def _megabytes(pid: int) -> float:
    """Return the memory of a process that is in the machine now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return float(status.partition("VmRSS:")[2].split()[0]) / 1024


def job_times() -> dict[str, float]:
    """Return what a click and a cancel take while a release is made, and a kill of the server."""
    clicks, cancels, ends = [], [], []
    with _folder() as folder:
        hospital(folder / "stays.csv", 60_000, seed=2)
        with (
            served(folder, "stays.csv") as server,
            browsed(server.address, is_quiet=False) as page,
        ):
            page.wait_for_selector("#risk .figure")
            page.wait_for_selector(".card .bars")
            for _ in range(ROUNDS):
                spent, cancelled = _one_job(page)
                clicks.append(float(np.percentile(spent, 95)))
                cancels.append(cancelled)
            page.click("#try")
            page.wait_for_selector(".job .track", state="visible")
            children = server.children()
            began = time.perf_counter()
            server.process.kill()
            while any(map(_is_alive, children)):
                time.sleep(0.005)
            ends.append(time.perf_counter() - began)
    return {"click": min(clicks), "cancel": min(cancels), "killed": min(ends)}


def _one_job(page: Page) -> tuple[list[float], float]:
    """Start a release, choose cards while it runs, and cancel it."""
    page.click("#try")
    page.wait_for_selector(".job .track", state="visible")
    spent = []
    for name in ["sex", "zip"] * 10:
        act = f"""document.querySelector(".card[aria-label='{name}']").click()"""
        spent.append(page.evaluate(UNTIL, ["#columns .detail h3", act]))
    page.wait_for_selector(".job .track", state="visible")  # it still ran
    act = """[...document.querySelectorAll(".job button")].pop().click()"""
    return spent, page.evaluate(UNTIL, ["#result", act])


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="shoal-page-") as name:
        place = Path(name) / "here"
        place.mkdir()
        yield place


def measure() -> Iterator[tuple[str, float]]:
    """Measure all of it; of what is measured often, the best: other work makes it slower."""
    yield from start_figures().items()
    yield from job_times().items()
    for times in (tree_times, table_times):
        with _folder() as folder:
            yield from times(folder).items()


def rows() -> list[dict[str, Any]]:
    """Return a row a mark, beside what was measured."""
    found = dict(measure())
    return [
        {"what": words, "mark": f"{mark:g} {unit}", "measured": f"{found[name]:.3g} {unit}"}
        for name, (words, mark, unit) in MARKS.items()
    ]


def main() -> None:
    """Print the figures beside their marks."""
    for name, value in measure():
        words, mark, unit = MARKS.get(name, (name, None, "s"))
        beside = "" if mark is None else f"  (mark {mark:g} {unit})"
        print(f"{words:60} {value:8.3f} {unit}{beside}", flush=True)


if __name__ == "__main__":
    main()
