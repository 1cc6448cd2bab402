"""The least loss at a bounded risk, and the least risk at a bounded loss."""

from __future__ import annotations

import pytest
from tests.jobs.people import files_in

from shoal.core.errors import NoSolutionError, SchemaError
from shoal.jobs.goal import GoalRequest, reach
from shoal.methods.registry import method_named
from shoal.schema.schema import Schema

pytestmark = [
    pytest.mark.local("compare"), pytest.mark.xdist_group("compare"),
    pytest.mark.usefixtures("lent_workers"),
]  # fmt: skip


def asked(folder, minimize, most, **words):
    files = files_in(folder)
    return GoalRequest(
        table=str(files.table), schema=Schema.load(files.schema), minimize=minimize, most=most,
        methods=(method_named("bestcut"),), limits=(0.0,), keep=folder / "kept", **words,
    )  # fmt: skip


def test_the_least_loss_within_a_risk_is_at_the_smallest_k_that_has_it(tmp_path):
    found = reach(asked(tmp_path, "loss", 0.16))  # one in seven: k = 7 is between 5 and 8
    assert found.best.risk["maximum"] <= 0.16
    tried = [run for run in found.compared.runs if run.error is None]
    fit = [run.loss for run in tried if run.risk["maximum"] <= 0.16]
    assert found.best.loss == min(fit)
    assert {run.facts["promise"]["k"] for run in tried} & {6, 7}
    assert "--method" in found.trial.words


def test_the_least_risk_within_a_loss(tmp_path):
    found = reach(asked(tmp_path, "risk", 0.5, risk="average"))
    tried = [run for run in found.compared.runs if run.error is None]
    fit = [run.risk["average"] for run in tried if run.loss <= 0.5]
    assert found.best.risk["average"] == min(fit)
    assert found.best.loss <= 0.5


def test_no_k_below_the_promise_of_the_schema_is_tried(tmp_path):
    found = reach(asked(tmp_path, "loss", 0.5))
    assert min(run.facts["promise"]["k"] for run in found.compared.runs) == 4


def test_a_bound_that_nothing_keeps_is_said_with_the_least_there_is(tmp_path):
    with pytest.raises(NoSolutionError, match=r"loss of at most 0.01%; the least was \d"):
        reach(asked(tmp_path, "risk", 0.0001))


def test_where_no_release_can_be_made_the_reason_is_said(tmp_path):
    request = asked(tmp_path, "loss", 0.2)
    (tmp_path / "people.csv").write_text("age,job,grade,ill\n", encoding="utf-8")
    with pytest.raises(NoSolutionError, match=r"no release could be made: .*no record"):
        reach(request)


def test_a_goal_that_cannot_be_meant_is_refused_with_all_faults(tmp_path):
    with pytest.raises(SchemaError) as caught:
        asked(tmp_path, "beauty", 2.0, risk="mean").check()
    for word in ("--goal", "--risk", "--max-loss"):
        assert word in str(caught.value)
