"""Names: made up, all different, and the common ones are not alike."""

from __future__ import annotations

from itertools import pairwise

import pytest

from shoal.samples import catalogue, names


def test_names_are_put_together_from_syllables_and_unique():
    for listed in (*map(names.given_names, catalogue.SEXES), names.family_names()):
        assert len(set(listed)) == len(listed)


def test_each_sex_has_names_of_its_own():
    lists = [set(names.given_names(sex)) for sex in catalogue.SEXES]
    assert len(set.union(*lists)) == sum(map(len, lists))


@pytest.mark.parametrize("listed", [names.given_names("F"), names.family_names()])
def test_the_common_names_do_not_begin_alike(listed):
    assert all(one[:3] != two[:3] for one, two in pairwise(listed[:50]))
