"""What is packed: every file of the source and no test; it runs where it is installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from benchmarks import install

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def data_files() -> list[str]:
    """Return the files of the package that are no Python, from the package's folder."""
    return [
        path.relative_to(SOURCE / "shoal").as_posix()
        for path in (SOURCE / "shoal").rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]


def test_every_file_that_is_no_python_is_packed():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["shoal"]
    names = [pattern.removeprefix("**/") for pattern in patterns]
    found = data_files()
    assert "model/model.schema.json" in found
    assert [f for f in found if not any(fnmatch(Path(f).name, name) for name in names)] == []


def test_every_extra_is_named_in_the_readme():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for extra in PROJECT["project"]["optional-dependencies"]:
        assert extra == "dev" or f"`{extra}`" in page, extra


def test_versions_agree():
    from shoal.core.version import __version__

    assert PROJECT["project"]["version"] == __version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for():
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    project = PROJECT["project"]
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert run == {*project["dependencies"], f"python{project['requires-python']}"}
    build = {each.replace(" ", "") for each in recipe["requirements"]["host"]}
    assert {*PROJECT["build-system"]["requires"]} <= build
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["license"] == project["license"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"shoal = {project['scripts']['shoal']}"
    source = (ROOT / "packaging/conda" / recipe["source"]["path"]).resolve()
    assert source == ROOT


def test_the_size_of_an_installation_is_counted_by_package(tmp_path):
    for name, size in (("numpy/a", 7), ("numpy.libs/b", 5), ("pip/c", 9), ("rich/d.pyc", 9)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size * 10**6)
    found = install.sizes(tmp_path)
    assert found == {"numpy": 12 * 10**6, "rich": 0}
    assert "| numpy | 12 |" in install.table(found)
    assert "| together | 12 |" in install.table(found)


@pytest.mark.nightly
def test_a_wheel_holds_the_package_alone_and_runs_where_it_is_installed(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    make = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run([*pip, *make], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"shoal/{name}" for name in data_files()} <= names
    assert all(name.startswith(("shoal/", "shoal-")) for name in names)
    place = tmp_path / "place"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(place), str(wheel)], check=True)
    table = "age,sex\n" + "".join(f"{20 + n % 7},{'mf'[n % 2]}\n" for n in range(70))
    (tmp_path / "t.csv").write_text(table)
    words = [
        "anonymize",
        "t.csv",
        "--qi",
        "age,sex",
        "-k",
        "3",
        "--out",
        "r.csv",
        "--report",
        "r.html",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "shoal", *words], cwd=tmp_path, env={"PYTHONPATH": str(place)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").stat().st_size > 10_000
