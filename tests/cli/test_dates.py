"""Dates as people write them, through every command: found, asked for, kept, released."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import call

import shoal
from shoal import api
from shoal.core.dates import moment_of, moment_text
from shoal.edge.export import export
from shoal.model.lines import encode_line
from shoal.model.runtime import Encoder

FORMS = ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%b-%Y"]
DAYS = [date(1967, 9, 1) + timedelta(days=37 * i) for i in range(60)]


def write(place: Path, form: str, days: list[date] = DAYS) -> list[str]:
    texts = [moment_text(moment_of(day.isoformat()), form) for day in days]  # type: ignore[arg-type]
    rows = "".join(f"{text};{i % 3}\n" for i, text in enumerate(texts))
    place.write_text("birth;ill\n" + rows, encoding="utf-8")
    return texts


def bounds(label: str, form: str | None) -> tuple[object, object]:
    ends = label.strip("[]").split(", ") if label.startswith("[") else [label, label]
    return moment_of(ends[0], form), moment_of(ends[-1], form)


FLAGS = ("--qi", "birth", "--sensitive", "ill", "--date", "birth", "-k", "5")
TIGHT = ("--labels", "tight")  # which are dates in the form of the column


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dates", ["iso", "same"])
def test_dates_in_a_form_are_dates_and_released_as_iso_or_the_same_way(
    tmp_path: Path, form: str, dates: str
) -> None:
    place, out = tmp_path / "t.csv", tmp_path / "r.csv"
    write(place, form)
    asked = (*FLAGS, *TIGHT, "--dates", dates, "--out", str(out), "--json")
    answer = call("anonymize", str(place), *asked)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["utility"]["ncp"] < 0.2
    labels = pl.read_csv(out, separator=";", infer_schema=False)["birth"].to_list()
    written = form if dates == "same" else None
    covered = [bounds(label, written) for label in labels]
    assert all(low is not None and high is not None for low, high in covered)
    if dates == "iso":
        assert all("-" in label and "/" not in label for label in labels)
    # Sorted by their low ends, each record's label covers a date of its own.
    days = sorted(moment_of(day.isoformat()) for day in DAYS)  # type: ignore[type-var]
    ordered = sorted(covered)  # type: ignore[type-var]
    assert all(
        low <= day <= high
        for day, (low, high) in zip(days, ordered, strict=True)  # type: ignore[operator]
    )
    more = ("--dates", dates) if form != "%d/%m/%Y" else ("--dates", dates, "--date-format", form)
    found = call("metrics", str(place), str(out), *FLAGS[:6], *more, "--json")
    assert found.code == 0, found.err
    measured = json.loads(found.out)["utility"]["ncp"]
    assert measured == pytest.approx(json.loads(answer.out)["utility"]["ncp"])


@pytest.mark.parametrize("form", FORMS)
def test_what_infer_finds_is_what_anonymize_uses(tmp_path: Path, form: str) -> None:
    place, schema, out = tmp_path / "t.csv", tmp_path / "s.yaml", tmp_path / "r.csv"
    write(place, form)
    assert call("infer", str(place), "--out", str(schema)).code == 0
    column = shoal.Schema.load(schema).attribute("birth")
    assert (column.kind, column.date_format) == (shoal.Kind.DATE, form)
    answer = call("anonymize", str(place), "--schema", str(schema), "--out", str(out), "--json")
    assert answer.code == 0, answer.err
    assert "*" not in out.read_text(encoding="utf-8")


def test_ambiguous_dates_are_asked_for(tmp_path: Path) -> None:
    place, out = tmp_path / "t.csv", tmp_path / "r.csv"
    days = [date(1960 + i, 1 + i % 12, 1 + i % 11) for i in range(20)]
    texts = write(place, "%m/%d/%Y", days)
    answer = call("anonymize", str(place), *FLAGS, "--out", str(out))
    assert answer.code == 2
    assert '--date-format "birth=%d/%m/%Y" or --date-format "birth=%m/%d/%Y"' in answer.err
    assert not any(text in answer.err for text in texts)
    assert not out.exists()
    for said in ("%m/%d/%Y", "birth=%m/%d/%Y"):
        answer = call("anonymize", str(place), *FLAGS, "--date-format", said, "--out", str(out))
        assert answer.code == 0, answer.err
    assert call("infer", str(place)).out.count("say date_format %d/%m/%Y or %m/%d/%Y") == 1
    answer = call("anonymize", str(place), *FLAGS, "--date-format", "nobody=%d/%m/%Y",
                  "--out", str(out))  # fmt: skip
    assert answer.code == 2


def test_dates_that_are_declared_categorical_stay_text(tmp_path: Path) -> None:
    place, out = tmp_path / "t.csv", tmp_path / "r.csv"
    texts = write(place, "%d.%m.%Y", DAYS[:2] * 10)
    flags = ("--qi", "birth", "--neutral", "ill", "--categorical", "birth", "-k", "5")
    assert call("anonymize", str(place), *flags, "--out", str(out)).code == 0
    found = pl.read_csv(out, separator=";", infer_schema=False)["birth"]
    assert set(found) == set(texts)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["mondrian", "flash"])
def test_every_runtime_of_a_model_reads_the_form(tmp_path: Path, form: str, method: str) -> None:
    """Local, the edge's plain encoder, and JavaScript: the same bytes."""
    place, schema, model = (tmp_path / name for name in ("t.csv", "s.yaml", "m.json"))
    texts = write(place, form)
    columns = {"birth": {"role": "quasi", "kind": "date", "hierarchy": {"dates": {}}},
               "ill": "neutral"}  # fmt: skip
    document = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    schema.write_text(json.dumps(document), encoding="utf-8")
    answer = call("learn", str(place), "--schema", str(schema), "--method", method,
                  "--dates", "same", "--model", str(model))  # fmt: skip
    assert answer.code == 0, answer.err
    learned = json.loads(model.read_text(encoding="utf-8"))
    assert learned["schema"]["columns"]["birth"]["date_format"] == form
    done = api.encode(place, model)
    assert done.report.unseen == 0
    encoder = Encoder(learned)
    lines = [json.dumps({"birth": text, "ill": "x"}) for text in (*texts, "31.02.1967", "x", "")]
    mine = [encode_line(encoder, line)[0] for line in lines]
    labels = [json.loads(line)["birth"] for line in mine[: len(texts)]]
    assert labels == done.table["birth"].cast(pl.String).to_list()
    quickjs = pytest.importorskip("quickjs", reason="the package quickjs is not installed")
    context = quickjs.Context()
    context.eval(export(learned, "javascript"))
    theirs = [context.eval(f"shoal.encodeLine({json.dumps(line)})") for line in lines]
    assert theirs == mine


def test_the_order_of_a_sensitive_date_is_that_of_time(tmp_path: Path) -> None:
    """Ordered t-closeness: 02.01.1968 is after 13.09.1967, whatever their texts say."""
    place = tmp_path / "t.csv"
    values = ["13.09.1967", "02.01.1968", "01.02.1970", "15.12.1966"]
    iso = [str(moment_of(value, "%d.%m.%Y"))[:10] for value in values]
    found = []
    for texts in (values, iso):
        rows = "".join(f"{'ab'[i // 4]};{texts[i % 3 + (i > 3)]}\n" for i in range(8))
        place.write_text("q;s\n" + rows, encoding="utf-8")
        schema = shoal.Schema.from_document(
            {"columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive", "kind": "date"}}}
        )
        promise = [shoal.TCloseness(1.0, distance="ordered", column="s")]
        found.append(api.verify(place, schema, privacy=promise).privacy[0].value)
    assert found[0] == found[1]


def test_the_hierarchy_command_takes_them(tmp_path: Path) -> None:
    place, out = tmp_path / "t.csv", tmp_path / "h.csv"
    write(place, "%d.%m.%Y")
    answer = call("hierarchy", "build", str(place), "--column", "birth", "--dates",
                  "--out", str(out))  # fmt: skip
    assert answer.code == 0, answer.err
    assert out.read_text(encoding="utf-8").startswith("01.09.1967;1967-09;1967-Q3;1967;1960s;*")
