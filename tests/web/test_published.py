from __future__ import annotations

from shoal.web.published import published
from shoal.web.texts import Texts

EN = Texts("en")
PICTURE = {"form": "values", "names": ["75275", "75201"], "counts": [3, 2]}


def looked(project, **pictures) -> None:
    project.results["columns"] = {"columns": {**pictures}}


def test_each_role_says_what_becomes_of_a_column(project):
    assert published(project, EN, "patient_id") == ["Nothing: the column is removed."]
    assert published(project, EN, "diagnosis") == ["Every value, as it is."]
    project.change("person", lambda state: state.with_column("patient_id", role="person"))
    assert "persons are counted" in published(project, EN, "patient_id")[0]


def test_a_value_and_what_it_may_become(project):
    looked(project, zip=PICTURE)
    lines = published(project, EN, "zip")
    assert lines == ["75201 may become", "7520*  →  752**  →  75***  →  7****  →  *"]


def test_numbers_without_a_hierarchy_become_intervals_and_categories_stay_or_go(project):
    project.change("kind", lambda state: state.with_column("sex", kind="categorical"))
    looked(project, sex={"form": "values", "names": ["F"]})
    assert "where a class shares it" in published(project, EN, "sex")[0]
    project.change("kind", lambda state: state.with_column("sex", kind="numeric"))
    assert "Intervals" in published(project, EN, "sex")[0]


def test_ends_of_a_histogram_stand_for_its_values(project):
    project.change("bands", lambda state: state.with_column(
        "zip", kind="numeric", hierarchy={"intervals": {"width": [5, 10]}}))  # fmt: skip
    looked(project, zip={"form": "histogram", "low": 3.0, "high": 42.0})
    lines = published(project, EN, "zip")
    assert lines[0] == "3 may become"
    assert lines[1].endswith("*")


def test_a_hierarchy_that_cannot_be_built_of_these_values_is_left_out(project):
    looked(project, birth_date={"form": "values", "names": ["no date"]})
    assert published(project, EN, "birth_date") == ["Intervals that join the values of a class."]


def test_what_the_last_release_did_stands_below(project):
    looked(project, zip=PICTURE)
    report = {"columns": [{"name": "zip", "technique": "intervals and ancestors"}]}
    project.results["release"] = {"report": report}
    assert published(project, EN, "zip")[-1] == "In the last try: intervals and ancestors"
