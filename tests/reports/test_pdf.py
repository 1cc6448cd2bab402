"""The report as a PDF: tagged, the same bytes twice, its text found, any label shown as it is."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import date

import pytest
from tests.reports.reports import BROKEN, HOLDS, report

from shoal.reports.about import About
from shoal.reports.of_release import of_release

pytest.importorskip("typst", reason="shoal[report] is not installed")
from shoal.reports.pdf import to_pdf

ABOUT = About(day=date(2026, 1, 31), by="A. Board", table="t.csv")
HOSTILE = ('#panic("x")', "$x^2$ *b* _i_", "</svg><script>", "\\u{41}", "@preview/x:1.0")


@pytest.fixture
def text_of(tmp_path):
    """Return the text of a PDF, as a program without fonts of its own finds it."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")

    def read(pdf: bytes) -> str:
        (tmp_path / "r.pdf").write_bytes(pdf)
        command = ["pdftotext", "-layout", str(tmp_path / "r.pdf"), "-"]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout

    return read


def test_it_is_tagged_for_readers_who_do_not_see_it():
    pdf = to_pdf(of_release(report(warnings=("look here",)), ABOUT))
    assert pdf.startswith(b"%PDF-1.7")
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf


def test_the_same_document_gives_the_same_bytes():
    document = of_release(report(), ABOUT)
    assert to_pdf(document) == to_pdf(document)
    later = replace(document, making=replace(document.making, date="2026-02-01"))
    assert to_pdf(later) != to_pdf(document)


def test_its_text_and_that_of_its_pictures_is_found(text_of):
    text = text_of(to_pdf(of_release(report(privacy=(HOLDS, BROKEN)), ABOUT)))
    for words in ("Release of t.csv", "1. For the decision", "NOT keep its promise", "A. Board",
                  "What is not protected", "prosecutor, maximum", "100 %"):  # fmt: skip
        assert words in text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_as_it_is(text_of, name):
    found = of_release(report(columns={name: 0.5}, request={name: name}), ABOUT)
    assert name in text_of(to_pdf(found)).replace("\u200b", "")


@pytest.mark.parametrize("name", ["名前", "\x00\x07", "a\nb", "😀", "\u200b"])
def test_letters_that_no_font_has_stop_nothing(name):
    found = of_release(report(columns={name: 0.5}, warnings=(name,)), ABOUT)
    assert to_pdf(found).startswith(b"%PDF")
