from __future__ import annotations

from tests.web.tab import Tab, in_a_tab

from shoal.web.panels.release import commands, encoder_of, places, whole


def test_it_is_written_where_the_form_says_with_the_command_beside_it(project):
    async def act(tab: Tab) -> None:
        command = tab.named("release-command")._text
        assert command == (
            "shoal anonymize stays.csv --schema stays.project/schema.yaml "
            "--out stays.project/results/stays.release.csv "
            "--report stays.project/results/stays.report.html"
        )
        tab.fire(tab.named("write"), "click")
        await tab.until(lambda: "written" in project.results)
        await tab.until(lambda: "Verified and written:" in tab.texts("note"))
        project.change("k", lambda s: s.with_schema(privacy=[{"model": "k-anonymity", "k": 4}]))
        assert "Verified and written before the last change:" in tab.texts("note")
        project.undo()
        assert "Verified and written:" in tab.texts("note")

    in_a_tab(project, act)
    names = {place.name for place in (project.place / "results").iterdir()}
    assert names == {"stays.release.csv", "stays.report.html"}


def test_what_only_people_can_say_is_kept_and_goes_into_the_command(project):
    async def act(tab: Tab) -> None:
        tab.labelled("Purpose").value = "Study 12; rm -rf /"
        tab.labelled("Decided by").value = "Dr. A. Example"
        tab.labelled("Report for").value = "external"
        assert project.state.report == {
            "purpose": "Study 12; rm -rf /", "by": "Dr. A. Example", "audience": "external"
        }  # fmt: skip
        assert "--purpose 'Study 12; rm -rf /'" in str(tab.named("release-command")._text)
        project.undo()
        assert tab.labelled("Report for").value == "internal"
        tab.labelled("Purpose").value = ""
        assert "purpose" not in project.state.report

    in_a_tab(project, act)


def test_a_place_outside_is_refused_with_a_word(project):
    async def act(tab: Tab) -> None:
        for place in ("../out.csv", "/etc/out.csv", "https://example.org/o.csv"):
            tab.named("release-file").value = place
            assert "output" not in project.state.release
            assert "folder" in str(tab.named("release-file").error)
        assert len(tab.user.notify.messages) == 3
        tab.named("release-file").value = "o.csv"
        assert tab.named("release-file").error is None

    in_a_tab(project, act, is_answered=False)


def test_a_release_that_would_break_a_rule_is_not_written(project):
    project.change("rule", lambda s: s.with_release(checks={"profile": "cms-cell-size"}))

    async def act(tab: Tab) -> None:
        tab.fire(tab.named("write"), "click")
        await tab.until(lambda: project.job is not None and not project.job.is_running)
        await tab.until(lambda: "Nothing was released" in tab.texts("note"))

    in_a_tab(project, act)
    assert list((project.place / "results").iterdir()) == []


def test_a_model_and_its_encoder_are_offered(project):
    async def act(tab: Tab) -> None:
        tab.labelled("A model, too: it encodes new records").value = True
        tab.labelled("Encoder for devices").value = "javascript"
        assert project.state.report["model"] == places(project)["model"]
        assert encoder_of(project) == "stays.project/results/stays.model.js"
        assert [each.split()[1] for each in commands(project)] == ["anonymize", "learn", "edge"]
        tab.labelled("A model, too: it encodes new records").value = False
        assert encoder_of(project) is None

    in_a_tab(project, act)


def test_the_request_names_what_is_read_so_that_it_is_never_written_over(project):
    request, report = whole(project)
    assert request["output"] == {
        "suppressed": "remove", "out": "stays.project/results/stays.release.csv",
        "inputs": ["stays.csv", "stays.project/schema.yaml"],
    }  # fmt: skip
    assert report == {"out": "stays.project/results/stays.report.html"}
