"""Privacy requirements: k records or none, and no item in a message."""

from __future__ import annotations

import pytest
from tests.privacy.test_km_anonymity import seen

from shoal.core.errors import PrivacyError, SchemaError
from shoal.privacy import EquivalenceClass, Requirements, from_document, from_flags, judge_classes

RECORDS = [frozenset("ab"), frozenset("ab"), frozenset("a"), frozenset("c"), frozenset()]


@pytest.mark.parametrize(
    ("items", "k", "holds", "value"),
    [
        ([["a", "b"]], 2, True, 2),
        ([["a", "b"]], 3, False, 2),
        ([["a", "c"]], 3, True, 3),  # nobody has both
        ([["z"]], 4, True, 4),
        ([["a"], ["c"]], 2, False, 1),
    ],
)
def test_a_requirement_fits_k_records_or_none(items, k, holds, value):
    model = Requirements(k, tuple(map(tuple, items)))
    verdict = judge_classes(model, [seen(RECORDS)])
    assert (verdict.holds, verdict.value) == (holds, value)
    assert verdict.violating_records == (0 if holds else value)


def test_it_is_written_and_read_and_shows_no_item():
    model = from_document({"model": "privacy-requirements", "k": 4, "items": [["secret", "b"]]})
    assert from_document(model.to_document()) == model
    assert model.shown() == {"k": 4, "requirements": 1}
    assert "secret" not in repr(model) + model.words()
    assert Requirements(1, (("a",),)).is_void
    assert model.least_records == 1


def test_a_file_has_a_requirement_a_line(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text("Asthma products|Skin products\n\nBeef\n")
    found = from_flags({"k": 4, "requirements": str(path)})
    assert found == (Requirements(4, (("Asthma products", "Skin products"), ("Beef",))),)
    with pytest.raises(SchemaError, match="needs -k"):
        from_flags({"requirements": str(path)})


@pytest.mark.parametrize("items", [[], "ab", ["ab"], [[]], [[""]], [[1]]])
def test_what_is_no_list_of_requirements_is_refused(items):
    with pytest.raises(PrivacyError, match="privacy-requirements"):
        from_document({"model": "privacy-requirements", "k": 4, "items": items})


def test_a_class_without_its_sets_is_never_safe():
    with pytest.raises(PrivacyError, match="without the sets"):
        Requirements(2, (("a",),)).measure(EquivalenceClass(9))
    assert Requirements(2, (("a",),)).violating(EquivalenceClass(9)) == 9
