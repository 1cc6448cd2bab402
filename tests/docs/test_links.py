"""Every link between the pages leads to a page that is there, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings; those that repeat have a number."""
    found: dict[str, int] = {}
    names = set()
    for title in re.findall(r"^#{1,6} (.*)$", FENCE.sub("", page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        name = re.sub(r"[^\w -]", "", text.strip().lower()).replace(" ", "-")
        names |= {name if name not in found else f"{name}-{found[name]}"}
        found[name] = found.get(name, 0) + 1
    return names


def broken(path: Path, page: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", page))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve()
        there = target.exists() and target.is_relative_to(ROOT)
        text = (
            target.read_text(encoding="utf-8")
            if name and there and target.suffix == ".md"
            else page
        )
        if not there or (anchor and anchor not in anchors(text)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    assert broken(path, path.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found():
    page = "# One `two`\n[a](nowhere.md) [b](#one-two) [c](#three) `[d](x)`\n```\n[e](y)\n```\n"
    assert broken(ROOT / "README.md", page) == ["nowhere.md", "#three"]


def navigation(entry: object) -> list[str]:
    """Return the pages below an entry of the site's navigation."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for each in inner for page in navigation(each)]


def test_every_page_stands_once_in_the_site():
    listed = navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(listed) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))
