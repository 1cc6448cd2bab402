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
from itertools import product
from pathlib import Path
from queue import Empty, SimpleQueue

from shoal.core.documents import Document, parse_json
from shoal.core.errors import SchemaError, ShoalError
from shoal.core.temporary import beside, flush, publish
from shoal.core.version import __version__
from shoal.engines.base import Checks, Output
from shoal.engines.choose import engine_for
from shoal.engines.local.source import open_source
from shoal.engines.local.write import write_text
from shoal.formats.csv_file import CsvFile
from shoal.jobs.documents import public_document, request_document, request_from
from shoal.jobs.faults import Fault, refuse
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.worker_process import WorkerProcess
from shoal.methods.method import Method
from shoal.privacy import Promise
from shoal.reports.compare import Compared, Run, with_front
from shoal.reports.compare_page import to_html
from shoal.schema.schema import Schema

MOST_RUNS = 10_000
RUN_MEMORY = 300 << 20
"""What a run takes beside its table, in bytes, when the number of processes is chosen."""
TABLE_MEMORY = 8
"""How much larger a table is in memory than as a file, for the same purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One release that is tried.

    Attributes:
        name: what tells it from the others.
        request: what is asked; where the release goes does not matter.
        words: what a command line says for what it is tried with.
        facts: the table, the method, the promise … as plain data, to group runs by.
    """

    name: str
    request: ReleaseRequest
    words: tuple[str, ...] = ()
    facts: Document = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Every combination of what is tried.

    Attributes:
        tables: each has the columns of the schema.
        schema: has a promise of its own, or none; `promises` are kept beside it, or
            (`replace_promise`) in its place.
        releases: "generalize", "aggregate", or None: what the method is made for.
        limits: suppression limits; None: the schema's.
    """

    tables: tuple[object, ...]
    schema: Schema
    methods: tuple[Method, ...]
    promises: tuple[tuple[Promise, ...], ...] = ((),)
    releases: tuple[str | None, ...] = (None,)
    limits: tuple[float | None, ...] = (None,)
    seeds: tuple[int, ...] = (0,)
    replace_promise: bool = False
    infer: bool = True
    separator: str | None = None

    def trials(self) -> tuple[Trial, ...]:
        """Return a trial for each combination; names say what differs."""
        lists = (self.tables, self.methods, self.promises, self.releases, self.limits, self.seeds)
        return tuple(self._trial(*each) for each in product(*lists))

    def _trial(
        self,
        table: object,
        method: Method,
        promise: tuple[Promise, ...],
        release: str | None,
        limit: float | None,
        seed: int,
    ) -> Trial:
        schema = self.schema.with_promise(
            promise, suppression_limit=limit, replace_promise=self.replace_promise
        )
        request = ReleaseRequest(
            table=table, schema=schema, method=method, release=release, infer=self.infer,
            seed=seed, separator=self.separator,
        )  # fmt: skip
        own = {name: value for name, value in method.to_document().items() if name != "name"}
        words = ["--method", method.name]
        words += [word for name, value in own.items() for word in ("--set", f"{name}={value}")]
        parts = [method.name, *(f"{name}={value}" for name, value in own.items())]
        asked: Document = {}
        for each in promise:
            for option in each.options:
                value = getattr(each, option.parameter, None)
                if value is not None and str(value) != option.default:
                    words += [min(option.flags, key=len), str(value)]
                    asked[option.name] = value
        parts += [f"{name}={value}" for name, value in asked.items()]
        for flag, value, several in (
            ("--release", release, len(self.releases) > 1),
            ("--suppression-limit", limit, len(self.limits) > 1),
            ("--seed", seed or None, False),
        ):
            if value is not None:
                words += [flag, str(value)]
            if several:
                parts.append(f"{flag[2:]}={value if value is not None else 'own'}")
        if len(self.tables) > 1:
            parts.append(f"of {_called(table)}")
        name = " ".join(parts)
        facts: Document = {
            "table": _called(table), "method": " ".join(parts[: 1 + len(own)]), "promise": asked,
            "release": release, "suppression_limit": limit, "seed": seed, "group": name,
        }  # fmt: skip
        if len(self.seeds) > 1:
            name += f" seed={seed}"
        return Trial(name=name, request=request, words=tuple(words), facts=facts)


def trials_from(document: object, base: ReleaseRequest, *, where: str) -> tuple[Trial, ...]:
    """Return the trials that a file describes: `runs`, a list of release requests.

    base: what holds where a run says nothing else (the table, the schema …). A run may have a
        `name`.

    Raises:
        SchemaError: names everything that is wrong with a run.
    """
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or not all(isinstance(each, dict) for each in runs):
        raise SchemaError(where=where, faults=["`runs` must be a list of release requests"])
    usual = request_document(base)
    found = []
    for number, run in enumerate(runs, start=1):
        own = {name: value for name, value in run.items() if name != "name"}
        request = request_from({**usual, **own}, where=f"{where}, run {number}")
        if not isinstance(request, ReleaseRequest):
            raise SchemaError(where=f"{where}, run {number}", faults=["is not a release"])
        method = request.method.name
        name = str(run.get("name", f"{method}, run {number}"))
        k = max((promise.least_records for promise in request.schema.privacy), default=1)
        facts: Document = {
            "table": _called(request.table), "method": method, "promise": {"k": k},
            "release": request.release, "suppression_limit": request.schema.suppression_limit,
            "seed": request.seed, "group": name,
        }  # fmt: skip
        found.append(Trial(name=name, request=request, facts=facts))
    twice = {each.name for each in found if [x.name for x in found].count(each.name) > 1}
    if twice:
        raise SchemaError(where=where, faults=[f"{len(twice)} names of runs stand twice"])
    return tuple(found)


def _called(table: object) -> str:
    return Path(os.fspath(table)).name if isinstance(table, (str, os.PathLike)) else "table"


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
    watched = watch or (lambda run: None)
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
    """Write all of it as one page, all or nothing; commands: what repeats each run."""
    write_text(out, to_html(found, commands))


def _run(trial: Trial, found: Document, *, again: bool) -> Run:
    """Return what a run is in the result."""
    request = public_document(replace(trial.request, output=Output(out="release.csv")))
    return Run(
        name=trial.name, words=trial.words, facts=trial.facts, request=request, found=found,
        is_new=again,
    )  # fmt: skip


def _on_disk(trials: Sequence[Trial], folder: Path) -> list[ReleaseRequest]:
    """Return the requests with tables that another process can open.

    A frame, or a table in a database, is written once into the private folder.
    """
    places: dict[int, object] = {}
    found = []
    for trial in trials:
        table = trial.request.table
        if not isinstance(table, (str, Path, CsvFile)):
            if id(table) not in places:
                places[id(table)] = folder / f"table-{len(places)}.parquet"
                source = open_source(table, separator=trial.request.separator)
                frame = source.collect(source.scan(source.columns))
                frame.write_parquet(str(places[id(table)]))
            table = places[id(table)]
        checks = Checks(attacks="none")
        found.append(replace(trial.request, table=table, checks=checks, threads=None))
    return found


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
                if isinstance(found, dict):
                    yield number, found

    def store(self, number: int, found: Document) -> None:
        """Keep a finished run, readable by its owner only; bugs and killed runs are not kept."""
        error = found.get("error")
        is_lasting = not isinstance(error, dict) or error.get("kind") not in (
            "Bug", "MemoryError", "Killed",
        )  # fmt: skip
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
    content = [_hash(os.fspath(file), hashes) for file in files]  # type: ignore[call-overload]
    text = json.dumps([__version__, document, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _hash(path: str, hashes: dict[str, str]) -> str:
    if path not in hashes:
        with suppress(OSError), open(path, "rb") as file:
            hashes[path] = hashlib.file_digest(file, "blake2b").hexdigest()
    return hashes.get(path, "")
