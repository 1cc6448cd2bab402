"""Keys: made once, read by their owner alone, shown to nobody."""

from __future__ import annotations

import os
import pickle
import stat

import pytest

from shoal.core.errors import InputError, OutputError
from shoal.core.secret_keys import Keys, fingerprint_of, read_key, write_key


def test_a_key_is_32_bytes_that_only_its_owner_reads(tmp_path):
    mark = write_key(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    key = read_key(tmp_path / "key")
    assert len(key) == 32
    assert fingerprint_of(key) == mark
    assert mark not in key.hex()


def test_a_key_is_never_overwritten(tmp_path):
    write_key(tmp_path / "key")
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(OutputError, match="never overwritten"):
        write_key(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_key_that_others_can_reach_is_refused(tmp_path, mode):
    write_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InputError, match="others can read"):
        read_key(tmp_path / "key")


@pytest.mark.parametrize("content", [b"", b"x" * 31, bytes(range(33)), b"\0" * 32])
def test_what_is_no_key_is_refused_and_not_shown(tmp_path, content):
    place = tmp_path / "key"
    place.write_bytes(content)
    place.chmod(0o600)
    with pytest.raises(InputError, match="not a key") as caught:
        read_key(place)
    assert "xxx" not in str(caught.value)


def test_there_is_no_such_file_or_it_is_a_folder(tmp_path):
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError):
            read_key(place)


def test_keys_of_purposes_domains_and_releases_differ(tmp_path):
    write_key(tmp_path / "key")
    keys, again = Keys.of(tmp_path / "key"), Keys.of(tmp_path / "key")
    one = keys.derived("pseudonym", "id", fresh=False)
    assert one == again.derived("pseudonym", "id", fresh=False)
    others = {
        keys.derived("pseudonym", "mrn", fresh=False),
        keys.derived("shift", "id", fresh=False),
        keys.derived("pseudonymi", "d", fresh=False),
        keys.derived("pseudonym", "id", fresh=True),
        again.derived("pseudonym", "id", fresh=True),
    }
    assert len(others | {one}) == 6


def test_keys_are_neither_shown_nor_pickled():
    keys = Keys(bytes(range(32)))
    assert "1f" not in repr(keys)
    assert "\\x" not in repr(keys)
    with pytest.raises(TypeError):
        pickle.dumps(keys)


def test_without_a_key_file_nothing_is_derived():
    with pytest.raises(InputError, match="shoal key"):
        Keys().derived("pseudonym", "id", fresh=False)
