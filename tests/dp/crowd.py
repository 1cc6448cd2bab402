"""Many processes against one ledger, and processes that die: shared by both kinds of ledger."""

from __future__ import annotations

import multiprocessing
import random
import time

from tests.dp.ledger_workers import DATASET, ask_once, open_with, spend_forever

from shoal.dp.ledgers import open_ledger


def _context() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    # Loaded once instead of in every process; a module that is not installed is passed over.
    context.set_forkserver_preload(
        ["tests.dp.ledger_workers", "shoal.dp.commands", "opendp.prelude", "psycopg"]
    )
    return context


def crowd(place: str, *, processes: int = 50, room: int = 20) -> None:
    """Fifty processes ask at once where there is room for twenty."""
    context = _context()
    open_with(place, epsilon=room * 0.05)
    results = context.Queue()
    workers = [
        context.Process(target=ask_once, args=(place, 0.05, results)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    outcomes = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    answered = [outcome for outcome in outcomes if outcome != "refused"]
    with open_ledger(place) as ledger:
        account = ledger.account(DATASET)
        charges = [e for e in ledger.entries(DATASET) if e.event == "charge"]
    assert account is not None
    assert len(answered) == len(charges) == room
    assert account.spent == account.limit
    assert account.remaining == 0.0


def kills(place: str, *, times: int = 200, most_seconds: float = 0.04) -> None:
    """Kill a spender at a random moment, again and again; look at the books each time."""
    context = _context()
    limit, step = 10.0, 0.01  # small enough to be reached before the last kill
    open_with(place, epsilon=limit)
    before, told = 0, 0
    with open_ledger(place) as ledger:
        for _ in range(times):
            mine, theirs = context.Pipe(duplex=False)
            worker = context.Process(target=spend_forever, args=(place, step, theirs))
            worker.start()
            theirs.close()
            mine.poll(30)  # its first charge; from then on any moment is as good as another
            time.sleep(random.random() * most_seconds)
            worker.kill()
            worker.join()
            told += _heard(mine)
            mine.close()
            account = ledger.account(DATASET)
            assert account is not None
            spent = account.spent.epsilon
            assert before <= spent <= account.limit.epsilon
            assert told * round(step * 1e12) <= spent  # what was told of is never lost
            before = spent
        lines = [e.amount.epsilon for e in ledger.entries(DATASET) if e.event == "charge"]
    assert sum(lines) == before
    assert told > 0


def _heard(pipe: object) -> int:
    count = 0
    try:
        while pipe.poll():  # type: ignore[attr-defined]
            pipe.recv_bytes()  # type: ignore[attr-defined]
            count += 1
    except (EOFError, OSError):
        pass
    return count
