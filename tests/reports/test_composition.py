"""What several releases give away together, as a document."""

from __future__ import annotations

import json

from shoal.privacy import KAnonymity, Verdict
from shoal.reports.composition import Composition

FACTS = {
    "records": 10, "releases": 2, "published": 9, "unknown": 0, "classes": 3,
    "smallest_class": 2, "alone": 0, "below": {2: 0, 5: 9},
    "certain": {"ill": (0.0, 0.5)}, "linked": None, "violating_records": 0,
    "privacy": (Verdict(model=KAnonymity(2), holds=True, value=2),),
}  # fmt: skip


def test_it_holds_only_where_every_class_is_known():
    assert Composition(**FACTS).holds
    assert not Composition(**{**FACTS, "unknown": 1}).holds
    broken = Verdict(model=KAnonymity(5), holds=False, value=2)
    assert not Composition(**{**FACTS, "privacy": (broken,)}).holds


def test_the_document_is_plain_json():
    document = json.loads(json.dumps(Composition(**FACTS).to_document()))
    assert document["below"] == {"2": 0, "5": 9}
    assert document["certain"]["ill"] == {"one": 0.0, "together": 0.5}
    assert document["privacy"][0]["holds"] is True
