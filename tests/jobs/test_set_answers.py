"""Tables with sets as they stand."""

from __future__ import annotations

import polars as pl
import pytest
from tests.naive import itemsets as naive

from shoal.core.errors import InputError, MethodError
from shoal.jobs.requests import RiskRequest, VerifyRequest
from shoal.jobs.set_answers import any_risk, folded, relational, risk_sets, verify_sets
from shoal.measures.risk.report import RiskReport
from shoal.measures.risk.sets import SetRisk
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("columns of sets")

SCHEMA = Schema.from_document(
    {
        "columns": {"age": "quasi", "items": {"role": "quasi", "kind": "set"}},
        "privacy": [{"model": "km-anonymity", "k": 2, "m": 1}],
    }
)
TABLE = pl.DataFrame({"age": [1, 1, 1, 2, 2], "items": ["a", "a|b", "b", "c", "c"]})


def test_classes_are_those_of_the_other_quasi_identifiers():
    found = verify_sets(VerifyRequest(table=TABLE, schema=SCHEMA))
    assert found.holds
    assert (found.records, found.classes, found.smallest_class) == (5, 2, 2)
    apart = TABLE.with_columns(age=pl.Series([1, 1, 2, 2, 2]))
    broken = verify_sets(VerifyRequest(table=apart, schema=SCHEMA))
    assert not broken.holds
    assert broken.violating_records == 2  # those with b, each alone with it in its class
    assert "1 items is held by 1" in " ".join(broken.warnings)


def test_risk_counts_within_the_classes_and_knows_the_kind_of_table():
    found = risk_sets(RiskRequest(table=TABLE, schema=SCHEMA))
    first = [frozenset("a"), frozenset("ab"), frozenset("b")]
    assert found.by["2"].unique == naive.rare_records(first, 2, 2)
    assert found.classes == 2
    assert isinstance(any_risk(RiskRequest(table=TABLE, schema=SCHEMA)), SetRisk)
    plain = Schema.from_document({"columns": {"age": "quasi"}, "others": "drop"})
    assert isinstance(any_risk(RiskRequest(table=TABLE, schema=plain)), RiskReport)
    assert relational(SCHEMA) == ["age"]
    assert callable(folded)


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="no record to judge"):
        verify_sets(VerifyRequest(table=TABLE.head(0), schema=SCHEMA))
    with pytest.raises(InputError, match="no record to judge"):
        risk_sets(RiskRequest(table=TABLE.head(0), schema=SCHEMA))
    with pytest.raises(MethodError, match="--blanked"):
        verify_sets(VerifyRequest(table=TABLE, schema=SCHEMA, blanked=True))
