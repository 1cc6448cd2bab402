"""Every paper that the code or the documentation cites stands in the bibliography."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = re.compile(r"[a-z]+(?:19|20)\d\d")
CITED = re.compile(r"\[((?:[a-z]+(?:19|20)\d\d)(?:, [a-z]+(?:19|20)\d\d)*)(?:, [^\]]*)?\]")


def texts():
    for folder in ("src", "docs", "benchmarks", "tests/naive"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md"):
                yield path, path.read_text(encoding="utf-8")


def known():
    listed = (ROOT / "docs/references.bib").read_text(encoding="utf-8")
    return re.findall(r"^@\w+\{(\w+),", listed, re.M)


def test_every_cited_paper_is_listed():
    cited = {key: path for path, text in texts() for each in CITED.findall(text)
             for key in KEY.findall(each)}  # fmt: skip
    assert len(cited) > 10
    assert not {key: str(path) for key, path in cited.items() if key not in known()}


def test_every_listed_paper_is_cited():
    everything = "\n".join(text for _, text in texts())
    assert not [key for key in known() if not re.search(rf"\[[^\]]*\b{key}\b", everything)]


def test_no_key_stands_twice():
    assert len(known()) == len(set(known()))
