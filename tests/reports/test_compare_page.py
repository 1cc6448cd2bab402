"""The page of `compare`: self-contained, escaped, and drawn by a real script engine."""

from __future__ import annotations

import json
import re

import quickjs
from tests.reports.test_compare import BROKEN, run_of

from shoal.reports.compare import Compared, with_front
from shoal.reports.compare_page import to_html

HOSTILE = "</script><script>alert(1)</script> <b>&amp;"


def page():
    runs = with_front([run_of("plain", 0.1, 0.2), run_of(HOSTILE, 0.3, 0.1), BROKEN])
    return to_html(Compared(runs=tuple(runs)), {"plain": f"shoal anonymize {HOSTILE}"})


def test_nothing_is_loaded_from_elsewhere():
    html = page()
    assert not re.search(
        r"""(src|href)\s*=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)""", html
    )
    assert "default-src 'none'" in html


def test_a_hostile_name_ends_no_script():
    html = page()
    assert html.count("</script>") == 2
    data = re.search(r"id='data'>(.*?)</script>", html, re.DOTALL)[1]
    assert json.loads(data)["runs"][1]["name"] == HOSTILE


def test_its_script_draws_every_run():
    """A document of stand-ins is enough: what is drawn is appended, texts among them."""
    html = page()
    data = re.search(r"id='data'>(.*?)</script>", html, re.DOTALL)[1]
    script = html.rsplit("<script>", 1)[1].removesuffix("</script></body></html>\n")
    engine = quickjs.Context()
    engine.eval(
        """
        const made = [];
        function element(name) {
          const own = {name, inside: [], words: {}};
          own.setAttribute = (key, value) => { own.words[key] = String(value); };
          own.addEventListener = () => {};
          own.append = (...more) => { own.inside.push(...more); };
          own.replaceChildren = (...more) => { own.inside = more; };
          made.push(own);
          return own;
        }
        const root = element("main");
        function texts(node) {
          return typeof node === "string" ? [node] : node.inside.flatMap(texts);
        }
        """
    )
    engine.set("source", data)
    engine.eval(
        "var document = {getElementById: () => ({textContent: source}), querySelector: () => root,"
        "createElement: element, createElementNS: (space, name) => element(name)};"
    )
    engine.eval(script)
    drawn = json.loads(engine.eval("JSON.stringify(texts(root))"))
    assert HOSTILE in drawn
    assert "nothing" in drawn  # the reason of the run that failed
    assert f"shoal anonymize {HOSTILE}" in drawn
    circles = json.loads(
        engine.eval("JSON.stringify(made.filter((e) => e.name === 'circle').length)")
    )
    assert circles == 2
