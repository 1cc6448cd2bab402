"""Values of options are read without loading what Typer reads them with."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from shoal.cli.help import Command
from shoal.cli.values import Value, read_plainly

app = typer.Typer()


@app.command(cls=Command)
def show(
    text: str,
    whole: int = 3,
    number: float | None = None,
    is_so: bool = False,
    several: list[str] = typer.Option([]),  # noqa: B008
) -> None:
    print(repr((text, whole, number, is_so, list(several))))


def shown(*words):
    return CliRunner().invoke(app, list(words))


def test_values_are_of_the_kind_that_the_command_takes():
    found = shown("7", "--whole", "-2", "--number", "1e-3", "--is-so", "--several", "a",
                  "--several", "b")  # fmt: skip
    assert found.output == "('7', -2, 0.001, True, ['a', 'b'])\n"
    assert shown("x").output == "('x', 3, None, False, [])\n"


@pytest.mark.parametrize("words", [("x", "--whole", "2.5"), ("x", "--number", "many")])
def test_what_is_of_another_kind_is_refused(words):
    found = shown(*words)
    assert found.exit_code == 2
    assert "is not a" in found.output


def test_what_is_neither_text_nor_number_is_left_to_typer():
    class Strange:
        type_descriptor = type("Descriptor", (), {"annotation": bytes})
        _runtime_param = None

    option = Strange()
    read_plainly([option])
    assert option._runtime_param is None
    Strange.type_descriptor.annotation = int | None
    read_plainly([option])
    assert option._runtime_param == Value(int)


@pytest.mark.parametrize("words", [["--help"], ["anonymize", "--help"], ["methods", "refine"]])
def test_no_command_loads_pydantic(words):
    code = (
        "import sys; from shoal.cli.main import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        "sys.exit('pydantic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
