"""Releases side by side as one page that needs nothing else: no network, no library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from shoal.core.documents import to_yaml
from shoal.reports.compare import Compared
from shoal.reports.compare_paper import TITLE, lead


def to_html(found: Compared, commands: Mapping[str, str] | None = None) -> str:
    """Return the page: risk against loss, lines over k, time and memory, and every run.

    It names columns and counts, never a value of the table.

    commands: the command that repeats each run, by its name.
    """
    commands = commands or {}
    runs = [
        {**run.to_document(), "request": to_yaml(run.request), "command": commands.get(run.name)}
        for run in found.runs
    ]
    known = {"runs": runs, "spread": found.spread(), "paper": found.paper}
    data = json.dumps(known, allow_nan=False)
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    here = files("shoal.reports")
    style, script = ((here / name).read_text("utf-8") for name in ("compare.css", "compare.js"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return "\n".join(
        [
            "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            "<meta name='viewport' content='width=device-width,initial-scale=1'>",
            f"<title>{TITLE}</title><style>{style}</style></head><body>",
            f"<h1>{TITLE}</h1><p class='lead'>{escape(lead(found))}</p>",
            "<main></main><noscript>This page draws with a script that is part of it; "
            "the same figures are in the table of runs (--out).</noscript>",
            f"<script type='application/json' id='data'>{data}</script>",
            f"<script>{script}</script></body></html>\n",
        ]
    )
