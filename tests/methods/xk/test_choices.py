import pytest

from shoal.core.errors import MethodError, PrivacyError
from shoal.methods.xk.choices import (
    Choices,
    asked_diversity,
    check_k,
    importance,
    promised_diversity,
)
from shoal.methods.xk.pipeline import Techniques
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({
    "columns": {"sex": "quasi", "age": {"role": "quasi", "weight": 2}, "illness": "sensitive"},
    "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
})  # fmt: skip


def test_the_promise_gives_the_diversity_unless_another_is_asked():
    assert asked_diversity(SCHEMA, Choices()) == {"illness": 2}
    assert asked_diversity(SCHEMA, Choices(diversity=3)) == {"illness": 3}
    assert asked_diversity(SCHEMA, Choices(diversity={"illness": 4})) == {"illness": 4}
    assert asked_diversity(SCHEMA, Choices(diversity=1, replace_promise=True)) == {}


def test_xk_is_not_asked_for_less_than_the_schema_promises():
    with pytest.raises(PrivacyError, match=r"l=2.*l=1"):
        asked_diversity(SCHEMA, Choices(diversity=1))
    with pytest.raises(PrivacyError, match=r"k=5.*k=4"):
        check_k(SCHEMA, 4, Choices())
    check_k(SCHEMA, 4, Choices(replace_promise=True))
    check_k(SCHEMA, 6, Choices())


def test_a_diversity_beside_a_promise_that_xk_cannot_keep_does_not_drop_it():
    close = SCHEMA.with_promise([TCloseness(0.2)])
    with pytest.raises(MethodError, match="not t-closeness"):
        asked_diversity(close, Choices(diversity=3))


def test_the_strongest_of_several_promises_counts():
    assert promised_diversity([KAnonymity(5), LDiversity(2), LDiversity(3)], SCHEMA) == {
        "illness": 3
    }


@pytest.mark.parametrize("model", [TCloseness(0.2), LDiversity(2, "entropy")])
def test_promises_that_false_records_could_break_are_refused(model):
    with pytest.raises(MethodError, match=r"not (t-closeness|l-diversity)"):
        promised_diversity([model], SCHEMA)


@pytest.mark.parametrize("diversity", [0, -1, {"illness": 0}, {"illness": True}, {"sex": 2}])
def test_a_diversity_that_cannot_be_meant_is_refused(diversity):
    with pytest.raises(MethodError, match="diversity"):
        asked_diversity(SCHEMA, Choices(diversity=diversity))


def test_importance_follows_the_weights():
    assert importance(SCHEMA) == ["age", "sex"]


def test_choices_become_a_plan():
    chosen = Choices(techniques=Techniques.parse("gs"), suppressed="sex")
    plan = chosen.plan(SCHEMA, k=5, xk=3)
    assert (plan.k, plan.xk, plan.techniques.label) == (5, 3, "GS")
    assert (list(plan.ranking), plan.diversity, plan.suppressed) == (
        ["age", "sex"], {"illness": 2}, "sex")  # fmt: skip


@pytest.mark.parametrize("level", [0, -1, True])
def test_a_step_climbs_at_least_one_level(level):
    with pytest.raises(MethodError, match="at least one level"):
        Choices(level=level)
