"""The page: self-contained, escaped, and honest about what does not hold."""

from __future__ import annotations

import html
import math
import re
from html.parser import HTMLParser

from tests.reports.reports import BROKEN, HOLDS, report

from shoal.core.documents import parse_yaml
from shoal.privacy import AlphaKAnonymity, Verdict
from shoal.reports.html import to_html as page_of
from shoal.reports.of_release import of_release

VOID = ("meta",)


def to_html(account) -> str:
    """Return the page of a release by its account."""
    return page_of(of_release(account))


class Checker(HTMLParser):
    """Sees that every element is closed in its turn, and gathers text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert not any(name in ("src", "href") or name.startswith("on") for name, _ in attrs)
        assert tag not in ("script", "link", "img")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Of a picture: closed at once."""
        assert tag in ("rect", "line", "circle")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def text_of(page: str) -> str:
    """Return what a reader sees of a page, which must be well-formed."""
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return " ".join(checker.text)


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere():
    page = to_html(report(warnings=("first <b>",), notices=("last & least",)))
    text = text_of(page)
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert text.index("first <b>") < text.index("The promise") < text.index("last & least")


def test_names_of_columns_are_escaped():
    page = to_html(report(privacy=(BROKEN,), roles={"<u>": role(None)}))
    for name in ("<zip>", "<i>", "<u>"):
        assert name not in page
        assert html.escape(name) in page


def role(name, *, waived=False, finding=None):
    """Return what a report says of a column."""
    return {"role": name, "waived": waived, "finding": finding, "why": None}


def test_the_verdict_is_said_in_words():
    assert "It keeps its promise" in text_of(to_html(report()))
    page = to_html(report(privacy=(HOLDS, BROKEN)))
    assert "It does NOT keep its promise" in text_of(page)
    assert page.count("<tr class='good'>") == 1
    assert page.count("<tr class='bad'>") == 1


def test_values_that_a_promise_names_are_not_on_the_page():
    model = AlphaKAnonymity(0.5, 2, values=["Alice"])
    page = to_html(report(privacy=(Verdict(model=model, holds=True, value=None),)))
    assert "Alice" not in page
    assert "<td class='n'>–</td>" in page


def test_every_role_says_what_became_of_its_column():
    roles = {
        "a": role("identifying"),
        "b": role("quasi"),
        "c": role("sensitive"),
        "d": role("neutral", waived=True, finding="looks like a number of a person"),
        "e": role(None),
    }
    page = to_html(report(roles=roles))
    cells = re.findall(r"<tr><td>([a-e])</td><td>(\w+)</td><td>[^<]*</td><td>([^<]*)</td>", page)
    assert cells == [
        ("a", "identifying", "removed"),
        ("b", "quasi", "generalized: each class gets what covers its values"),
        ("c", "sensitive", "released as it is"),
        ("d", "neutral", "released as it is; waived by name; looks like a number of a person"),
    ]
    assert "Left out, because nobody gave them a role: e." in page


def test_measures_are_said_once_and_without_bounds_in_a_word():
    page = to_html(
        report(utility={"entropy": 1.0, "class-entropy": 1.0, "x": math.inf, "cm": None})
    )
    assert page.count("<td>class-entropy</td>") == 1
    assert "<td>entropy</td>" not in page
    assert "<td>x</td><td class='n'>infinite</td>" in page
    assert "<td>cm</td><td class='n'>not known</td>" in page


def test_columns_stand_by_their_loss():
    page = to_html(report())
    assert "Most is lost in &lt;zip&gt; (40 %), age (10 %)." in page


def test_records_that_repeat_people_are_said_beside_the_risk():
    text = "they have several records, and records were counted"
    assert text in to_html(report(repeats={"column": "id"}))
    assert text not in to_html(report())


def test_the_request_is_shown_as_yaml_that_repeats_the_release():
    request = {
        "schema": {"columns": {"</pre><b>": {"role": "quasi"}, "zip & co": {"role": "neutral"}}},
        "method": "mondrian",
        "seed": 7,
    }
    page = to_html(report(request=request))
    assert "</pre><b>" not in page
    shown = re.search(r"<h3>How to repeat it</h3>\s*<pre[^>]*><code>(.*?)</code></pre>", page, re.S)
    assert shown is not None
    assert parse_yaml(html.unescape(shown[1]), where="page") == request
    text_of(page)


def test_a_report_without_a_request_says_nothing_of_it():
    assert "How to repeat" not in to_html(report())


def test_linked_tables_have_a_line_each():
    line = {"table": "sta<ys", "parent": "patients", "records": 1200, "released": 7, "ncp": 0.125}
    other = {"table": "visits", "parent": None, "records": 3, "released": 3, "ncp": None}
    text = text_of(to_html(report(facts={"tables": [line, other]})))
    assert "Table sta<ys: 7 rows are released, 12.5 % of the information lost (NCP)." in text
    assert "Table visits: 3 rows are released." in text
    assert "rows are released" not in text_of(to_html(report()))
