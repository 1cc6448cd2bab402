"""What the sample knows of medicine fits together."""

from __future__ import annotations

import pytest

from shoal.samples import catalogue
from shoal.samples.catalogue import DIAGNOSES, chapter


def test_diagnosis_blocks_hold_their_codes():
    for d in catalogue.DIAGNOSES:
        low, high = d.block.split("-")
        assert low <= d.code <= high
        assert d.department in catalogue.DEPARTMENTS
        assert d.calendar in catalogue.CALENDARS


def test_codes_are_different_and_belong_to_a_chapter():
    codes = [d.code for d in DIAGNOSES]
    assert len(set(codes)) == len(codes)
    assert {chapter(code) for code in codes} <= {*catalogue.CHAPTERS.values(), "VIII Ear"}


@pytest.mark.parametrize("d", DIAGNOSES, ids=lambda d: d.code)
def test_numbers_are_shares_and_amounts(d):
    assert 0 <= d.female <= 1
    assert 0 <= d.children < 1
    assert min(d.weight, d.stay, d.cost) > 0
    assert (d.spread == 0) == (d.age == 0)


def test_two_letters_belong_to_two_chapters_each():
    assert chapter("D49") == chapter("C50") != chapter("D50")
    assert (chapter("H59"), chapter("H60")) == ("VII Eye", "VIII Ear")


def test_every_group_has_several_members():
    for groups in (catalogue.DEPARTMENTS, catalogue.INSURANCES):
        found = list(groups.values())
        assert all(found.count(group) > 1 for group in found)
        assert not set(groups) & set(found)  # a label stands on one level only
