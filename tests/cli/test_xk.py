"""What `anonymize --method xk` and `recommend` share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from shoal.cli import xk
from shoal.cli.main import app, main
from shoal.cli.options import ColumnOptions
from shoal.cli.options.groups import Use
from shoal.core.errors import MethodError

pytestmark = pytest.mark.local("xk")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "t.csv"
    place.write_text("sex,ill\n" + "".join(f"{'mfx'[i % 3]},{'ab'[i % 2]}\n" for i in range(60)))
    return place


def _command(name: str):
    return typer.main.get_command(app).commands[name]


def _asked(option, value="2") -> list[str]:
    flag = max(option.opts, key=len)
    return [flag] if option.is_flag else [flag, value]


_KNOWN = {*xk.OWN, *xk.HONOURED, "help"}
_UNKNOWN = [p for p in _command("anonymize").params if p.name not in _KNOWN]


@pytest.mark.sampled
@pytest.mark.parametrize("option", _UNKNOWN, ids=lambda option: option.name)
def test_anonymize_xk_refuses_every_option_that_it_does_not_honour(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option
) -> None:
    out = tmp_path / "o.csv"
    code = main([
        "anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--xk", "3",
        "--out", str(out), *_asked(option),
    ])  # fmt: skip
    captured = capsys.readouterr()
    assert code == 2
    assert max(option.opts, key=len) in captured.err
    assert "--method xk" in captured.err
    assert not out.exists()


@pytest.mark.parametrize(
    "given",
    [
        ["--utility", "ncp"], ["--effort", "best"], ["--keep-order"], ["--suppressed", "star"],
        ["--target", "ill"], ["--explain"], ["--seconds", "3"], ["--attacks"],
        ["--partitions", "2"], ["--t", "0.2"], ["--alpha", "0.5"], ["--engine", "spark"],
        ["--sensitive", "ill", "--l", "2", "--l-kind", "entropy"],
    ],
    ids=lambda given: given[-2] if len(given) > 1 else given[0],
)  # fmt: skip
def test_anonymize_xk_refuses_what_it_used_to_ignore(
    table: Path, tmp_path: Path, given: list[str]
) -> None:
    out = tmp_path / "o.csv"
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--method", "xk", "--out",
                 str(out), *given]) == 2  # fmt: skip
    assert not out.exists()


@pytest.mark.parametrize("name", sorted(xk.OWN))
def test_other_methods_refuse_the_options_of_xk(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    option = next(p for p in _command("anonymize").params if p.name == name)
    assert main(["anonymize", str(table), "--qi", "sex", "-k", "6", "--out",
                 str(tmp_path / "o.csv"), *_asked(option)]) == 2  # fmt: skip
    assert "with --method xk" in capsys.readouterr().err


def test_every_name_that_is_honoured_is_an_option_of_anonymize() -> None:
    names = {each.name for each in _command("anonymize").params}
    assert {*xk.OWN, *xk.HONOURED} <= names
    assert not set(xk.OWN) & set(xk.HONOURED)
    assert set(xk.OWN) == {each.name for each in Use().options(xk.XkOptions)}


@pytest.mark.parametrize(
    ("stated", "flag", "limit"),
    [(None, None, None), (0.25, None, 0.25), (0, None, 0), (0.25, 0.5, 0.5), ("x", None, None)],
)
def test_the_limit_is_the_flags_or_the_one_that_a_schema_states(
    tmp_path: Path, stated: object, flag: float | None, limit: float | None
) -> None:
    place = tmp_path / "s.json"
    more = {} if stated is None else {"suppression_limit": stated}
    place.write_text(json.dumps({"columns": {"sex": "quasi"}, **more}))
    found = xk.XkOptions().choices(ColumnOptions(schema=str(place)), flag)
    assert found.suppression_limit == limit


def test_choices_are_what_the_options_say() -> None:
    asked = xk.XkOptions(
        techniques="gc", ranking="a, b", generalize="a", suppress_cells="b", level=2, gradual=True
    )
    found = asked.choices(ColumnOptions(missing="?,NA"), None, prefer="precision", min_precision=9)
    assert (found.ranking, found.generalized, found.suppressed) == (["a", "b"], "a", "b")
    assert (found.level, found.gradual, found.preference) == (2, True, "precision")
    assert (found.marks, found.minimum_precision) == (["?", "NA"], 9)
    assert asked.choices(ColumnOptions(), None).marks is None
    with pytest.raises(MethodError, match="climbs at least one level"):
        xk.XkOptions(level=0).choices(ColumnOptions(), None)
