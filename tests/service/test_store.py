from __future__ import annotations

import asyncio
import stat

import pytest

from shoal.service.limits import Limits
from shoal.service.refusals import Refusal
from shoal.service.store import Store, remove_folder


async def chunks(*parts: bytes):
    for part in parts:
        yield part


def bring(store, *parts, client="a", ending=".csv"):
    return asyncio.run(store.bring(client, ending, chunks(*parts)))


def test_a_table_is_private_and_seen_by_its_client_alone(tmp_path):
    store = Store(tmp_path, Limits())
    table = bring(store, b"a\n", b"1\n")
    assert table.path.read_bytes() == b"a\n1\n"
    assert stat.S_IMODE(table.path.stat().st_mode) == 0o600
    assert store.table("a", table.id) == table
    assert store.tables("b") == []
    for client, number in (("b", table.id), ("a", "nothing")):
        with pytest.raises(Refusal) as caught:
            store.table(client, number)
        assert caught.value.status == 404


@pytest.mark.parametrize(
    ("limits", "status"), [({"upload": 3}, 413), ({"disk": 3}, 507)]
)  # fmt: skip
def test_what_is_too_large_is_not_kept(tmp_path, limits, status):
    store = Store(tmp_path, Limits(**limits))
    with pytest.raises(Refusal) as caught:
        bring(store, b"ab", b"cd")
    assert caught.value.status == status
    assert list(tmp_path.iterdir()) == []
    assert bring(store, b"ab").bytes == 2


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    async def broken():
        yield b"ab"
        raise ConnectionError

    store = Store(tmp_path, Limits())
    with pytest.raises(ConnectionError):
        asyncio.run(store.bring("a", ".csv", broken()))
    assert list(tmp_path.iterdir()) == []


def test_there_are_so_many_tables_and_formats(tmp_path):
    store = Store(tmp_path, Limits(tables=1))
    bring(store, b"x")
    with pytest.raises(Refusal, match="1 tables are kept"):
        bring(store, b"y")
    with pytest.raises(Refusal, match="format must be") as caught:
        bring(store, b"y", ending=".exe")
    assert caught.value.status == 415


def test_what_comes_at_once_is_counted_together_and_by_client(tmp_path):
    store = Store(tmp_path, Limits(disk=5, tables=2))

    async def act():
        gate = asyncio.Event()

        async def slowly():
            yield b"abc"
            await gate.wait()
            yield b"d"

        first = asyncio.create_task(store.bring("a", ".csv", slowly()))
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as caught:  # 3 bytes of the first one are on their way
            await store.bring("a", ".csv", chunks(b"abc"))
        assert caught.value.status == 507
        await store.bring("a", ".csv", chunks(b"a"))
        with pytest.raises(Refusal, match="2 tables are kept"):
            await store.bring("a", ".csv", chunks(b""))
        await store.bring("b", ".csv", chunks(b"abcde"))  # another client has its own room
        gate.set()
        return (await first).bytes

    assert asyncio.run(act()) == 4
    assert sorted(each.stat().st_size for each in tmp_path.iterdir()) == [1, 4, 5]


def test_files_are_deleted_on_time(tmp_path):
    now = [0.0]
    store = Store(tmp_path, Limits(keep=10), clock=lambda: now[0])
    table = bring(store, b"x")
    now[0] = 9.0
    store.sweep()
    assert store.table("a", table.id)
    now[0] = 10.0
    store.sweep()
    assert store.tables("a") == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_new_and_private(tmp_path):
    store = Store(tmp_path, Limits())
    one, two = store.new_folder(), store.new_folder()
    assert one != two
    assert stat.S_IMODE(one.stat().st_mode) == 0o700
    remove_folder(one)
    remove_folder(one)
    assert not one.exists()
