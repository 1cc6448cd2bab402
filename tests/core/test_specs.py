"""Specifications: every fault in one message, and a document that reads back."""

from __future__ import annotations

import pytest

from shoal.core.specs import is_count
from shoal.hierarchies.build import Mask


def test_a_document_reads_back():
    assert Mask.from_document(Mask(length=5).to_document()) == Mask(length=5)


def test_all_faults_are_named_together():
    with pytest.raises(ValueError, match=r"unknown option 'size'.*char must be") as caught:
        Mask.from_document({"size": 3, "char": "ab"})
    assert "there are char" in str(caught.value)
    with pytest.raises(ValueError, match="mapping"):
        Mask.from_document(3)


def test_a_truth_is_no_count():
    assert is_count(3, least=1)
    assert not is_count(True, least=1)
    assert not is_count(0, least=1)
