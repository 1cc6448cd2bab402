from __future__ import annotations

from functools import partial

from tests.web.conftest import running
from tests.web.tab import Tab, in_a_tab

from shoal.schema.schema import Role
from shoal.web.child import Standing
from shoal.web.panels.columns import with_role
from shoal.web.panels.result import attempt, can_be_learned, kept_columns, with_check
from shoal.web.plain import listed, mapping, numbers_of


def test_a_release_that_is_tried_is_shown_with_its_promises_risks_and_losses(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.named("try"), "click")
        await tab.until(lambda: "release" in project.results)
        await tab.until(lambda: bool(tab.elements("verdict")))
        text = tab.texts()
        assert "Every promise holds" in text
        for word in ("Risk by attacker", "Prosecutor", "What is not protected", "What was lost",
                     "Loss of each column", "zip, before and after"):  # fmt: skip
            assert word in text
        assert "Something has changed" not in text
        project.change("weight", lambda state: state.with_column("zip", weight=2.0))
        assert "Something has changed" in tab.texts()
        project.undo()
        assert "Something has changed" not in tab.texts()
        tab.fire(tab.labelled("Show some"), "click")
        await tab.until(lambda: "rows" in project.results)
        assert any(e.tag == "ins" for e in tab.user.client.elements.values())

    in_a_tab(project, act)
    assert not (project.place / "results").exists()


def test_a_promise_that_cannot_be_kept_says_so(project):
    project.change("k", lambda s: s.with_schema(privacy=[{"model": "k-anonymity", "k": 4000}]))

    async def act(tab: Tab) -> None:
        tab.fire(tab.named("try"), "click")
        await tab.until(lambda: project.job is not None and not project.job.is_running)
        await tab.until(lambda: "no solution" in tab.texts("note"))
        assert not tab.elements("verdict")

    in_a_tab(project, act)


def test_a_release_that_is_cancelled_says_so_and_can_be_tried_again(project):
    async def act(tab: Tab) -> None:
        tab.fire(tab.named("try"), "click")
        await project.cancel()
        assert project.job is not None
        assert project.job.standing is Standing.CANCELLED
        await tab.until(lambda: "Cancelled." in tab.texts("note"))
        assert tab.named("try").enabled

    in_a_tab(project, act)


def test_without_a_table_nothing_can_be_tried(project):
    project.move("empty")

    async def act(tab: Tab) -> None:
        assert not tab.named("try").enabled

    in_a_tab(project, act)


def test_a_reload_in_the_middle_finds_the_job_where_it_is(project):
    async def work():
        job = attempt(project)
        assert job is not None
        assert project.job is job
        return await job.wait()

    job = running(project, work)
    assert job.standing is Standing.DONE

    async def act(tab: Tab) -> None:
        assert tab.elements("verdict")

    in_a_tab(project, act)


def test_parts_of_documents_that_are_not_there_are_empty():
    assert mapping(None) == mapping([1]) == {}
    assert listed(None) == listed({"a": 1}) == []
    assert listed([{"a": 1}, 3]) == [{"a": 1}]
    assert numbers_of([1, 2.5, None]) == [1.0, 2.5, 0.0]
    assert numbers_of("x") is None


def test_models_are_offered_of_columns_that_are_kept_and_have_few_values(project):
    project.change("neutral", lambda s: s.with_column("insurance", role="neutral"))
    assert kept_columns(project.state) == ("diagnosis", "insurance")
    project.results["columns"] = {
        "columns": {"diagnosis": {"distinct": 64}, "insurance": {"distinct": 7}}
    }
    assert not can_be_learned(project, "diagnosis")
    assert can_be_learned(project, "insurance")

    async def act(tab: Tab) -> None:
        tab.labelled("Train models to tell").value = "insurance"
        near = next(e for e in tab.elements("checks")[0].descendants() if e.tag == "q-checkbox")
        near.value = True
        assert project.state.release["checks"] == {"learn": "insurance", "fidelity": True}
        assert "--learn insurance --fidelity" in str(tab.named("release-command")._text)
        project.undo()
        assert near.value is False
        project.change("role", partial(with_role, name="insurance", role=Role.IDENTIFYING))
        assert "checks" not in project.state.release

    in_a_tab(project, act, is_answered=False)


def test_what_is_measured_keeps_what_else_is_asked(project):
    state = project.state.with_release(checks={"profile": "cms-cell-size"})
    asked = with_check(state, name="fidelity", value=True)
    assert asked.release["checks"] == {"profile": "cms-cell-size", "fidelity": True}
    assert with_check(asked, name="fidelity", value=None) == state


def test_a_result_of_an_earlier_session_is_shown_as_one(project):
    report = {"decision": {"holds": True, "numbers": [], "promises": []}}
    project.results["release"] = {
        "report": report, "asked": project.fingerprint, "is_kept": True
    }  # fmt: skip

    async def act(tab: Tab) -> None:
        assert "read from its folder" in tab.texts("note")
        project.change("weight", lambda s: s.with_column("zip", weight=2.0))
        assert "Something has changed" in tab.texts("note")

    in_a_tab(project, act, is_answered=False)
