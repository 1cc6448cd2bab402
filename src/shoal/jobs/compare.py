"""Try releases of a table side by side: methods, promises, forms, limits and seeds.

Every combination is released into a private folder, verified there, measured and removed; only
what was measured is kept. Runs go to processes of their own (`jobs.worker`), as many as there
are cores and memory for. What is finished is kept by what was asked, and is not run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue

import polars as pl

from shoal.core.documents import Document, parse_json
from shoal.core.errors import ShoalError
from shoal.core.temporary import beside, flush, publish
from shoal.core.version import __version__
from shoal.core.watch import tell, watcher
from shoal.engines.base import Checks, Output
from shoal.engines.choose import engine_for
from shoal.engines.local.source import open_source
from shoal.engines.local.write import all_or_nothing, write_text
from shoal.formats.csv_file import CsvFile
from shoal.jobs.documents import public_document, request_document
from shoal.jobs.faults import Fault, refuse
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.trials import Trial
from shoal.jobs.worker_process import WorkerProcess
from shoal.reports.compare import Compared, Run, with_front
from shoal.reports.compare_page import to_html
from shoal.reports.compare_paper import to_markdown, to_pdf

MOST_RUNS = 10_000
_PASSING = ("Bug", "Killed", "MemoryError", "MissingExtraError", "OutputError")
"""Kinds of errors that say nothing about what was asked: of the machine, or of ourselves."""
RUN_MEMORY = 300 << 20
"""What a run takes beside its table, in bytes, when the number of processes is chosen."""
TABLE_MEMORY = 8
"""How much larger a table is in memory than as a file, for the same purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What is tried, and how.

    Attributes:
        trials: the releases.
        processes: how many run side by side; None: as many as there are cores and memory for.
        keep: a folder for what is finished, which is not run again; None: nothing is kept.
    """

    trials: tuple[Trial, ...]
    processes: int | None = None
    keep: Path | None = None

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        found = []
        if not self.trials:
            found.append(Fault("there is nothing to compare: name methods"))
        if len(self.trials) > MOST_RUNS:
            text = f"{len(self.trials):,} runs are too many; at most {MOST_RUNS:,}"
            found.append(Fault(text))
        if any(engine_for(table).name != "local" for table in _different(self.trials)):
            found.append(Fault("compare needs the local engine", "--engine"))
        if self.processes is not None and self.processes < 1:
            found.append(Fault("must be at least 1", "--processes"))
        return found

    def check(self) -> None:
        """Refuse a request that cannot be meant; see `refuse`."""
        refuse(self.faults())


def _different(trials: Sequence[Trial]) -> list[object]:
    return list({id(each.request.table): each.request.table for each in trials}.values())


Watch = Callable[[Run], None]
"""Is given each run as it is finished, in whatever order that happens."""


def compare(request: CompareRequest, *, watch: Watch | None = None) -> Compared:
    """Make every release, verify and measure it; return all of them, in the order asked.

    A release that cannot be made is a run with the reason in it. Nothing is published.

    Raises:
        SchemaError: nothing can be meant by the request.
    """
    request.check()
    began = time.perf_counter()
    tell("compare")
    watching = watcher()

    def watched(run: Run) -> None:
        watching.advance(len(runs), len(request.trials))
        if watch is not None:
            watch(run)

    with tempfile.TemporaryDirectory(prefix="shoal-compare-") as made:
        folder = Path(made)
        asked = _on_disk(request.trials, folder)
        kept = _Kept.of(request.keep, asked)
        runs: dict[int, Run] = {}
        for number, found in kept.finished():
            runs[number] = _run(request.trials[number], found, again=False)
            watched(runs[number])
        left = [number for number in range(len(asked)) if number not in runs]
        for number, found in _answers(asked, left, folder, request.processes):
            kept.store(number, found)
            runs[number] = _run(request.trials[number], found, again=True)
            watched(runs[number])
    ordered = [runs[number] for number in range(len(asked))]
    return Compared(runs=tuple(with_front(ordered)), seconds=round(time.perf_counter() - began, 3))


def write_table(found: Compared, out: str | Path) -> None:
    """Write the table of runs as CSV, all or nothing."""
    write_text(out, found.to_csv())


def write_page(found: Compared, out: str | Path, commands: Mapping[str, str]) -> None:
    """Write all of it, all or nothing: HTML, PDF, Markdown or JSON, by the ending of its name.

    commands: what repeats each run.
    """
    ending = Path(out).suffix.lower()
    if ending == ".pdf":
        with all_or_nothing(out) as temporary:
            temporary.write_bytes(to_pdf(found, commands))
        return
    texts = {".md": to_markdown, ".json": _to_json}
    write_text(out, texts.get(ending, to_html)(found, commands))


def _to_json(found: Compared, commands: Mapping[str, str]) -> str:
    runs = [{**run.to_document(), "command": commands.get(run.name)} for run in found.runs]
    document = {**found.to_document(), "runs": runs}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _run(trial: Trial, found: Document, *, again: bool) -> Run:
    """Return what a run is in the result."""
    request = public_document(replace(trial.request, output=Output(out="release.csv")))
    return Run(
        name=trial.name, words=trial.words, facts=trial.facts, request=request, found=found,
        is_new=again,
    )  # fmt: skip


def _on_disk(trials: Sequence[Trial], folder: Path) -> list[ReleaseRequest]:
    """Return the requests with tables that another process can open.

    A frame, a table in a database, or a sample is written once into the private folder.
    """
    places: dict[tuple[int, int | None, int], Path] = {}
    found = []
    for trial in trials:
        table: object = trial.request.table
        if trial.sample is not None or not isinstance(table, (str, Path, CsvFile)):
            seed = trial.request.seed if trial.sample is not None else 0
            key = (id(table), trial.sample, seed)
            if key not in places:
                places[key] = folder / f"table-{len(places)}.parquet"
                _write(trial, seed, places[key])
            table = places[key]
        asked = trial.request.checks
        checks = Checks(attacks="none", fidelity=asked.fidelity, learn=asked.learn)
        found.append(replace(trial.request, table=table, checks=checks, threads=None))
    return found


def _write(trial: Trial, seed: int, place: Path) -> None:
    """Write the table of a trial, or a sample of it in the table's order."""
    source = open_source(trial.request.table, separator=trial.request.separator)
    frame = source.collect(source.scan(source.columns))
    if trial.sample is not None and trial.sample < frame.height:
        rows = pl.Series(range(frame.height)).sample(trial.sample, seed=seed).sort()
        frame = frame[rows]
    frame.write_parquet(place)


def _answers(
    asked: Sequence[ReleaseRequest], left: Sequence[int], folder: Path, processes: int | None
) -> Iterator[tuple[int, Document]]:
    """Yield the number of each run and what it answered, as they are finished."""
    if not left:
        return
    number = processes or _affordable([asked[i].table for i in left])
    number = min(number, len(left))
    tasks: SimpleQueue[int] = SimpleQueue()
    for each in left:
        tasks.put(each)
    done: SimpleQueue[tuple[int, Document]] = SimpleQueue()
    with _workers(number) as workers, ThreadPoolExecutor(number) as pool:
        futures = {pool.submit(_work, worker, tasks, asked, folder, done) for worker in workers}
        try:
            while futures:
                ended, futures = wait(futures, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in ended:
                    future.result()
                with suppress(Empty):
                    while True:
                        yield done.get_nowait()
        except BaseException:
            for worker in workers:
                worker.stop()
            raise


@contextmanager
def _workers(number: int) -> Iterator[list[WorkerProcess]]:
    threads = max((os.cpu_count() or 1) // number, 1)
    workers = [WorkerProcess(threads) for _ in range(number)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()


def _work(
    worker: WorkerProcess,
    tasks: SimpleQueue[int],
    asked: Sequence[ReleaseRequest],
    folder: Path,
    done: SimpleQueue[tuple[int, Document]],
) -> None:
    """Hand one run after the other to a worker until there are none."""
    with suppress(Empty):
        while True:
            number = tasks.get_nowait()
            out = folder / f"run-{number}.parquet"
            request = replace(asked[number], output=Output(out=out, suppressed="remove"),
                              threads=worker.threads)  # fmt: skip
            done.put((number, worker.run(number, request_document(request), out)))


def _affordable(tables: Sequence[object]) -> int:
    """Return how many runs there are cores and memory for."""
    sizes = [0]
    for table in tables:
        with suppress(OSError, TypeError):
            sizes.append(os.stat(os.fspath(table)).st_size)  # type: ignore[call-overload]
    cores = os.cpu_count() or 1
    with suppress(OSError, ValueError, AttributeError):
        memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return max(min(cores, memory // (RUN_MEMORY + TABLE_MEMORY * max(sizes))), 1)
    return cores


@dataclass(frozen=True, slots=True)
class _Kept:
    """Finished runs in a folder, each by what was asked: the request, the files, the version."""

    folder: Path | None
    names: tuple[str, ...]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, folder: Path | None, asked: Sequence[ReleaseRequest]) -> _Kept:
        if folder is None:
            return cls(None, ())
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        hashes: dict[str, str] = {}
        return cls(folder, tuple(_key(each, hashes) for each in asked))

    def finished(self) -> Iterator[tuple[int, Document]]:
        """Yield the runs that need not be made again."""
        for number, name in enumerate(self.names):
            assert self.folder is not None
            with suppress(OSError, ShoalError):
                text = (self.folder / f"{name}.json").read_text(encoding="utf-8")
                found = parse_json(text, where="kept run")
                if isinstance(found, dict) and ("result" in found or "error" in found):
                    yield number, found

    def store(self, number: int, found: Document) -> None:
        """Keep a finished run, readable by its owner only; what may go better next time is not."""
        error = found.get("error")
        is_lasting = not isinstance(error, dict) or error.get("kind") not in _PASSING
        if self.folder is None or not is_lasting:
            return
        goal = self.folder / f"{self.names[number]}.json"
        with suppress(OSError), beside(goal, ending=".json") as path:
            path.write_text(json.dumps(found), encoding="utf-8")
            flush(path)
            publish(path, goal, private=True)


def _key(request: ReleaseRequest, hashes: dict[str, str]) -> str:
    """Return the name of a run: equal ones are asked of equal files by the same version."""
    files = [request.table, *request.schema.files()]
    document = request_document(replace(request, output=Output(), threads=None))
    table = document.pop("table")
    if isinstance(table, dict):  # how a file is read counts, not where it is
        document["table"] = {name: each for name, each in table.items() if name != "file"}
    content = [_hash(os.fspath(file), hashes) for file in files]  # type: ignore[call-overload]
    text = json.dumps([__version__, document, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _hash(path: str, hashes: dict[str, str]) -> str:
    if path not in hashes:
        with suppress(OSError), open(path, "rb") as file:
            hashes[path] = hashlib.file_digest(file, "blake2b").hexdigest()
    return hashes.get(path, "")
