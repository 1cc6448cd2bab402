from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.dates import FORMS, find_form, fitting_forms, is_form, moment_of, moment_text
from shoal.core.errors import InputError, SchemaError
from shoal.core.keys import date_key, iso_of
from shoal.hierarchies.build import Dates
from shoal.schema.schema import Attribute, Kind, Role

ALL = (*FORMS, "%d.%m.%y", "%b %d, %y")


@pytest.mark.parametrize(("texts", "form"), [
    (["13.09.1967", "1.2.2001"], "%d.%m.%Y"),
    (["09/13/1967", "01/02/2001"], "%m/%d/%Y"),
    (["13/09/1967", "01/02/2001"], "%d/%m/%Y"),
    (["13-09-1967"], "%d-%m-%Y"),
    (["1967/09/13"], "%Y/%m/%d"),
    (["1967.09.13"], "%Y.%m.%d"),
    (["19670913"], "%Y%m%d"),
    (["13-Sep-1967", "01-feb-2001"], "%d-%b-%Y"),
    (["Sep 13, 1967"], "%b %d, %Y"),
    (["13.09.1967 10:30", "14.09.1967 10:30:05"], "%d.%m.%Y"),
    (["1967-09-13", "2024-03-17 10:00"], None),
    (["13.09.67"], None),  # the century is open
    (["flu", "cold"], None),
    (["31.02.1967"], None),
    ([], None),
])  # fmt: skip
def test_the_form_of_dates_is_found(texts: list[str], form: str | None) -> None:
    assert find_form(texts, column="birth") == form


def test_ambiguous_dates_are_asked_for_without_showing_them() -> None:
    with pytest.raises(InputError, match=r'--date-format "birth=%d/%m/%Y" or') as caught:
        find_form(["01/02/1967", "03/04/1968"], column="birth")
    assert "1967" not in str(caught.value)
    assert fitting_forms(["01/02/1967"]) == ("%d/%m/%Y", "%m/%d/%Y")


@given(day=st.dates(date(1969, 1, 1), date(2068, 12, 31)), form=st.sampled_from(ALL),
       seconds=st.sampled_from([0, 60, 45_296]))  # fmt: skip
def test_a_date_in_any_form_is_read_as_it_was_written(day: date, form: str, seconds: int) -> None:
    moment = datetime(day.year, day.month, day.day) + timedelta(seconds=seconds)
    text = moment_text(moment, form)
    assert moment_of(text, form) == moment
    assert date_key(text, form) == date_key(moment.isoformat())
    assert date_key(moment.isoformat(), form) == date_key(moment.isoformat())


@given(text=st.text(alphabet="0123456789./-% abJan,T:", max_size=14), form=st.sampled_from(ALL))
def test_other_texts_have_no_place_and_do_not_crash(text: str, form: str) -> None:
    iso = iso_of(text, form)
    assert iso is None or isinstance(iso, str)
    if date_key(text, form) is not None and iso is not None and date_key(iso) is not None:
        assert moment_of(text, form) is not None


@pytest.mark.parametrize(
    "form", ["%d.%m", "%d.%m.%Y %H", "%d.%d.%Y", "dd.mm.yyyy", "%", "%Y-%j", ""]
)
def test_a_form_has_a_day_a_month_and_a_year(form: str) -> None:
    assert not is_form(form)
    with pytest.raises(SchemaError, match="date_format must have"):
        Attribute(name="x", role=Role.QUASI, kind=Kind.DATE, date_format=form)


def test_a_schema_keeps_how_dates_are_written() -> None:
    with pytest.raises(SchemaError, match="need kind: date"):
        Attribute(name="x", role=Role.QUASI, date_format="%d.%m.%Y")
    with pytest.raises(SchemaError, match="must be iso or same"):
        Attribute(name="x", role=Role.QUASI, kind=Kind.DATE, dates="other")


def test_the_builder_of_dates_takes_them_too() -> None:
    rows = Dates().build("birth", ["13.09.1967", "14.09.1967"]).to_rows()
    assert rows[0] == ("13.09.1967", "1967-09", "1967-Q3", "1967", "1960s", "*")
    with pytest.raises(InputError, match="day first or month first"):
        Dates().build("birth", ["01/02/1967"])
    found = Dates(date_format="%m/%d/%Y").build("birth", ["01/02/1967"]).to_rows()
    assert found[0][:2] == ("01/02/1967", "1967-01")
