from __future__ import annotations

from tests.web.tab import Tab, in_a_tab

from shoal.privacy.promise import PROMISES, Needs


def asked(project) -> dict:
    return {each["model"]: each for each in project.state.schema["privacy"]}


# Those that tests define have no words (`Option`) by which people could ask for them.
OURS = [name for name, kind in PROMISES.items() if kind.__module__.startswith("shoal.")]
OF_ITEMS = [name for name in OURS if Needs.ITEMSETS in PROMISES[name].needs]


def test_every_model_there_is_can_be_promised_and_let_go(project):
    async def act(tab: Tab) -> None:
        for name in OURS:
            if name not in OF_ITEMS:
                one(tab, name)

    def one(tab: Tab, name: str) -> None:
        switch = tab.labelled(name)
        if name in asked(project):
            switch.value = False
            assert name not in asked(project)
            switch = tab.labelled(name)
        switch.value = True
        assert name in asked(project)
        assert project.schema.privacy
        tab.labelled(name).value = False
        assert name not in asked(project)

    in_a_tab(project, act, is_answered=False)


def test_a_slider_sets_k_and_its_sentence_follows_without_being_drawn_anew(project):
    async def act(tab: Tab) -> None:
        assert "with at least 3 records" in tab.texts("promise")
        slider = next(e for e in tab.elements("dial")[0].descendants() if e.tag == "q-slider")
        tab.fire(slider, "change", 11)
        assert asked(project)["k-anonymity"]["k"] == 11
        assert "with at least 11 records" in tab.texts("promise")
        assert not slider.is_deleted
        project.undo()
        assert slider.value == 3

    in_a_tab(project, act, is_answered=False)


def test_what_no_k_can_be_is_refused_with_a_word(project):
    async def act(tab: Tab) -> None:
        field = next(e for e in tab.elements("dial")[0].descendants() if e.tag == "q-input")
        for times, value in enumerate(("0", "-1", "x", "1e400", "2.5", "nan"), start=1):
            tab.fire(field, "update:modelValue", value)
            assert asked(project)["k-anonymity"]["k"] == 3
            assert len(tab.user.notify.messages) == times

    in_a_tab(project, act, is_answered=False)


def test_a_choice_of_words_is_offered_as_one(project):
    async def act(tab: Tab) -> None:
        tab.labelled("t-closeness").value = True
        tab.labelled("distance (--t-distance)").value = "ordered"
        assert asked(project)["t-closeness"]["distance"] == "ordered"

    in_a_tab(project, act, is_answered=False)


def test_a_kind_that_needs_a_bound_comes_with_one(project):
    async def act(tab: Tab) -> None:
        tab.labelled("l-diversity").value = True
        tab.labelled("kind (--l-kind)").value = "recursive"
        assert asked(project)["l-diversity"] == {
            "model": "l-diversity", "l": 2, "kind": "recursive", "c": 2.0
        }  # fmt: skip
        tab.labelled("kind (--l-kind)").value = "entropy"
        assert "c" not in asked(project)["l-diversity"]

    in_a_tab(project, act, is_answered=False)


def two_sensitive(project) -> None:
    project.change("two", lambda state: state.with_column("cost", role="sensitive"))
    project.change("l", lambda state: state.with_schema(privacy=[
        {"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2}]))  # fmt: skip


def diversities(project) -> list[tuple[object, object]]:
    return [(each.get("column"), each["l"]) for each in project.state.schema["privacy"]
            if each["model"] == "l-diversity"]  # fmt: skip


def test_a_promise_speaks_of_each_sensitive_column_or_of_the_one_that_is_chosen(project):
    two_sensitive(project)

    async def act(tab: Tab) -> None:
        assert diversities(project) == [(None, 2)]
        choice = tab.labelled("Sensitive column")
        assert choice.value == ""
        choice.value = "cost"
        assert diversities(project) == [("cost", 2)]
        tab.fire(tab.labelled("Promise the same of another column"), "click")
        assert diversities(project) == [("cost", 2), ("diagnosis", 2)]
        assert "" not in tab.labelled("Sensitive column").options
        assert project.schema.privacy

    in_a_tab(project, act, is_answered=False)


def test_what_is_set_for_one_column_weakens_nothing_that_is_promised_of_another(project):
    two_sensitive(project)
    project.change("both", lambda state: state.with_schema(privacy=[
        {"model": "l-diversity", "l": 5, "column": "diagnosis"},
        {"model": "l-diversity", "l": 2, "column": "cost"}]))  # fmt: skip

    async def act(tab: Tab) -> None:
        dials = [e for dial in tab.elements("dial") for e in dial.descendants()
                 if e.tag == "q-slider"]  # fmt: skip
        assert [each.value for each in dials] == [5, 2]
        tab.fire(dials[1], "change", 3)
        assert diversities(project) == [("diagnosis", 5), ("cost", 3)]
        switches = [e for e in tab.user.client.elements.values() if e._text == "l-diversity"
                    or e.props.get("label") == "l-diversity"]  # fmt: skip
        switches[1].value = False
        assert diversities(project) == [("diagnosis", 5)]

    in_a_tab(project, act, is_answered=False)


def test_without_a_sensitive_column_nothing_is_offered_about_one(project):
    project.change("none", lambda state: state.with_column("diagnosis", role="neutral"))

    async def act(tab: Tab) -> None:
        assert "l-diversity" not in tab.texts("promise")
        assert "k-anonymity" in tab.texts("promise")
        assert "Give a column the role sensitive" in tab.texts()

    in_a_tab(project, act, is_answered=False)


def test_a_rule_says_whether_k_is_enough(project):
    async def act(tab: Tab) -> None:
        tab.labelled("Rule").value = "cms-cell-size"
        assert project.state.release["checks"] == {"profile": "cms-cell-size"}
        assert "k = 3 is too small" in tab.texts("note")
        project.change("k", lambda state: state.with_schema(
            privacy=[{"model": "k-anonymity", "k": 11}]))  # fmt: skip
        assert "k = 11 is enough" in tab.texts("note")
        tab.labelled("Rule").value = ""
        assert "checks" not in project.state.release

    in_a_tab(project, act, is_answered=False)


def test_the_search_is_set_and_shown_as_yaml(project):
    async def act(tab: Tab) -> None:
        tab.labelled("Method").value = "mondrian"
        tab.labelled("Records that may be suppressed, at most").value = 2
        tab.labelled("Ends of intervals").value = "tight"
        assert project.state.release["method"] == {"name": "mondrian"}
        assert project.state.schema["suppression_limit"] == 0.02
        assert project.state.schema["labels"] == "tight"
        assert "--method mondrian" in tab.texts("aside")
        tab.labelled("Method").value = "auto"
        assert "method" not in project.state.release
        tab.labelled("Records that may be suppressed, at most").value = 200
        assert project.state.schema["suppression_limit"] == 0.02

    in_a_tab(project, act, is_answered=False)
