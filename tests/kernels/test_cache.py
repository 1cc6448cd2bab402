"""Where compiled kernels are kept: never stale, never where others can write, never a crash."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.kernels import cache

ROOT = Path(__file__).parents[2]
TABLE = "age,sex,ill\n" + "".join(f"{20 + i % 4},{'fm'[i % 2]},{i % 3}\n" for i in range(40))
FLAGS = (
    "--qi", "age,sex", "--sensitive", "ill", "-k", "3", "--method", "flash", "--out", "o.csv",
)  # fmt: skip

# A kernel in one file that calls the judge in another, as those of the methods do.
PROBE = """
import numpy as np
from shoal.kernels.helpers import outer
from shoal.kernels.judge import HIGH, LIMIT, LOW, ROOM, top_share

@outer
def ask(rules, hist):
    return top_share(rules, 0, hist, 0)

def main():
    rules = np.zeros(64)
    rules[LIMIT], rules[LOW], rules[HIGH], rules[ROOM] = 2, 0, 3, 40
    print(ask(rules, np.array([[6, 2, 1]])), sum(ask.stats.cache_hits.values()))
"""


@pytest.fixture
def place():
    """Return the function that chooses the place, which has chosen nothing yet."""
    cache.place.cache_clear()
    yield cache.place
    cache.place.cache_clear()


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package that may be edited."""
    ignore = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(ROOT / "src" / "shoal", tmp_path / "src" / "shoal", ignore=ignore)


def python(package, *argv, **more):
    known = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    return subprocess.run(
        [sys.executable, "-B", *argv], cwd=package.parents[1], capture_output=True, text=True,
        check=False, env={**known, "PYTHONPATH": str(package.parent), **more}, timeout=300,
    )  # fmt: skip


def nothing_writable(package):
    """Make it so that nobody, not even root, can write beside the kernels or into HOME."""
    (package / "kernels" / "__pycache__").write_text("a file, where a folder would have to be")
    return {"HOME": "/dev/null"}


def test_a_stale_compiled_kernel_does_not_survive_an_edit_of_the_judge(package):
    (package / "kernels" / "probe.py").write_text(PROBE)
    ask = ("-c", "from shoal.kernels.probe import main; main()")
    assert python(package, *ask).stdout.split() == ["2.0", "0"]  # 6 / (2 + 1), compiled
    assert python(package, *ask).stdout.split() == ["2.0", "1"]  # from the cache
    judge = package / "kernels" / "judge.py"
    edited = judge.read_text().replace("count = float(hist[h, v])", "count = 2.0 * hist[h, v] + 1")
    assert edited != judge.read_text()
    judge.write_text(edited)
    assert python(package, *ask).stdout.split() == ["1.625", "0"]  # 13 / (5 + 3), compiled anew
    again = python(package, *ask)
    assert again.stdout.split() == ["1.625", "1"], again.stderr


def test_the_hash_changes_with_every_source_and_every_version(tmp_path, monkeypatch):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "a.py").write_text("one")
    found = [cache.fingerprint(tmp_path)]
    (tmp_path / "a.py").write_text("two")
    found.append(cache.fingerprint(tmp_path))
    (tmp_path / "deeper" / "b.py").write_text("three")
    found.append(cache.fingerprint(tmp_path))
    for module in (cache.numba, cache.np):
        monkeypatch.setattr(module, "__version__", "0.0.1")
        found.append(cache.fingerprint(tmp_path))
    monkeypatch.setattr(cache, "LEFT_OUT", frozenset({"index"}))  # other code of the same sources
    found.append(cache.fingerprint(tmp_path))
    assert len(set(found)) == len(found)
    assert cache.fingerprint(tmp_path) == found[-1]


def test_the_hash_is_not_paid_by_help():
    done = python(ROOT / "src" / "shoal", "-X", "importtime", "-m", "shoal", "--help")
    assert done.returncode == 0
    assert "shoal.kernels" not in done.stderr


def test_other_users_of_numba_keep_their_setting():
    before = vars(cache.config).copy()
    made = cache.kept(nogil=True)(lambda x: x + 1)
    assert vars(cache.config) == before
    assert Path(made._cache.cache_path).parent == cache.place()


def test_folders_of_other_sources_go_but_the_newest_and_those_in_use(place, tmp_path, monkeypatch):
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    now = time.time()
    names = [f"{cache.PREFIX}{i}" for i in range(6)]
    for i, name in enumerate(names):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (now - i * 10, now - i * 10))
    (tmp_path / "of-somebody-else").mkdir()
    for name in names[-2:]:
        os.utime(tmp_path / name, (now - 2 * cache.IDLE,) * 2)
    left = {*names[:4], place().name, "of-somebody-else"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_it_starts_where_package_folder_and_home_are_not_writable(package, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    where = nothing_writable(package)
    done = python(
        package, "-m", "shoal", "anonymize", "t.csv", *FLAGS, TMPDIR=str(temporary), **where
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "NUMBA_CACHE_DIR" in line]
    assert len(said) == 1
    (private,) = temporary.iterdir()
    assert str(private) in said[0]
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert list(private.rglob("*.nbc"))
    kept = tmp_path / "kept"
    load = ("-c", "from shoal.kernels.cache import place; print(place())")
    again = python(package, *load, NUMBA_CACHE_DIR=str(kept), **where)
    assert again.stderr == ""
    assert Path(again.stdout.strip()).parent == kept


def double(x):
    return 2 * x


@pytest.mark.skipif(not cache.is_ours, reason="Numba's own way takes no folder without writing")
def test_kernels_of_an_image_are_loaded_by_whoever_can_only_read_them(
    place, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    kept = cache.kept()(double)
    assert kept(2) == 4  # compiled, and kept
    baked = place()
    assert not (baked / cache.WARMED).exists()
    writable = cache._writable

    def only_read(folder):
        return None if folder.is_relative_to(tmp_path) else writable(folder)

    monkeypatch.setattr(cache, "_writable", only_read)
    for function in (place, cache._is_read_only):
        function.cache_clear()
    assert place() != baked  # nobody says that all of them are there
    monkeypatch.setattr(cache, "_writable", writable)
    for function in (place, cache._is_read_only):
        function.cache_clear()
    cache.warmed()
    before = {path: path.stat().st_mtime_ns for path in baked.rglob("*")}
    monkeypatch.setattr(cache, "_writable", only_read)
    for function in (place, cache._is_read_only):
        function.cache_clear()
    assert place() == baked
    again = cache.kept()(double)
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1
    assert again(2.5) == 5.0  # other types are compiled, and not kept
    assert {path: path.stat().st_mtime_ns for path in baked.rglob("*")} == before
    assert capsys.readouterr().err == ""
    cache._is_read_only.cache_clear()
    assert "ensure_cache_path" not in vars(cache.UserProvidedCacheLocator)


@pytest.fixture
def nowhere(place, tmp_path, monkeypatch):
    """Leave no place but the temporary one."""
    monkeypatch.setattr(cache, "_roots", lambda: iter(()))
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    return place


@pytest.mark.skipif(os.name == "nt", reason="temporary folders belong to the user there")
@pytest.mark.parametrize("planted", ["open", "of-another", "link", "file"])
def test_compiled_code_that_another_user_could_have_planted_is_not_loaded(
    nowhere, tmp_path, monkeypatch, capsys, planted
):
    own = tmp_path / f"shoal-{os.geteuid()}"
    if planted == "file":
        own.write_text("")
    elif planted == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        own.symlink_to(tmp_path / "elsewhere")
    else:
        own.mkdir(mode=0o700)
        if planted == "open":
            own.chmod(0o777)
        else:
            another = os.geteuid() + 1
            monkeypatch.setattr(cache.os, "geteuid", lambda: another)
            own.rename(tmp_path / f"shoal-{os.geteuid()}")
    found = nowhere()
    assert found.parent.name.startswith("shoal-")
    assert found.parent.name != f"shoal-{os.geteuid()}"
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    assert "until this run ends" in capsys.readouterr().err
    shutil.rmtree(found.parent)


@pytest.mark.skipif(os.name == "nt", reason="temporary folders belong to the user there")
def test_where_others_can_exchange_folders_nothing_is_kept(nowhere, tmp_path, capsys):
    tmp_path.chmod(0o777)  # no sticky bit
    assert nowhere() is None
    assert "not kept" in capsys.readouterr().err
    assert cache.kept(nogil=True)(lambda x: x + 1)(1) == 2


def test_a_home_folder_that_others_can_write_is_not_used(place, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    if os.name != "nt":
        assert list(cache._roots())[-1] == tmp_path / "shoal"
        (tmp_path / "shoal").chmod(0o770)
        assert list(cache._roots())[-1] is None


LOAD = """
import sys
import numpy as np
from shoal.kernels import cache
from shoal.kernels.encoding import csv_shape
state = csv_shape.fresh_state()
is_fine = csv_shape.scan(np.frombuffer(b"a,b\\n1,2\\n", dtype=np.uint8), ord(","), 2, state)
print(bool(is_fine), int(state[csv_shape.RECORDS]))
print(*(count > 0 for count in cache.made()), "numba.np.linalg" in sys.modules)
"""


@pytest.mark.parametrize(("plain", "imports"), [("", False), ("1", True)])
def test_a_kernel_that_is_kept_is_loaded_without_what_compiling_needs(tmp_path, plain, imports):
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "SHOAL_PLAIN_NUMBA": plain,
        "PYTHONPATH": str(Path(cache.__file__).parents[2]),
    }  # fmt: skip
    command = [sys.executable, "-c", LOAD]
    told = {"env": environment, "capture_output": True, "text": True, "check": True}
    first, second = (subprocess.run(command, **told).stdout.split() for _ in range(2))
    assert first == ["True", "2", "True", "False", "True"]  # compiled, not loaded
    assert second == ["True", "2", "False", "True", str(imports)]
