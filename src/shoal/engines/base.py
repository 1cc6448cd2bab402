"""What a platform must be able to do.

A job knows these Protocols and no platform. An `Engine` opens tables; the `Records` of a table
are what a schema releases of it; `Counts` are its frequency table, on this machine or left on a
cluster; `Classes` are what a search made of them; `Written` is a release that nobody sees yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shoal.core.errors import OutputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.core.documents import Document
    from shoal.core.secret_keys import Keys
    from shoal.edge.stream import EncodeReport
    from shoal.engines.drawing.drawing import Drawing
    from shoal.formats.database import Database
    from shoal.inference.infer import Inference
    from shoal.inference.kept import KeptCheck, KeptColumn
    from shoal.measures.attacks.result import Comparison
    from shoal.measures.risk.persons import Repeats
    from shoal.measures.risk.question import RiskQuestion
    from shoal.measures.risk.report import RiskReport
    from shoal.measures.risk.trajectories import TrajectoryRisk
    from shoal.measures.utility import Grouping
    from shoal.methods.coarse import Coarse
    from shoal.methods.method import Method, Setting
    from shoal.methods.to_model import Trial
    from shoal.model.batch import Judge
    from shoal.model.model import RecodingModel
    from shoal.privacy import Promise, Verdict
    from shoal.reports.release import Risk, Verification
    from shoal.schema.schema import Schema
    from shoal.table.frequency import FrequencyTable
    from shoal.table.recoding import Recoding

    ClassNumbers = NDArray[np.int32]
    """The class of each record of a table in a release, in its order; -1: it is not there."""

Progress = Callable[[str], None]
"""Is called with the name of each stage as it begins. How far a stage is, an engine tells whoever
watches; see `core.watch`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is asked of the counts of a table.

    Attributes:
        release: what a class releases, "generalize", "aggregate" or "draw".
        partitions: learn on parts of the table side by side, and join them.
        why: what `auto` says of its choice.
    """

    method: Method
    release: str
    promise: tuple[Promise, ...]
    setting: Setting
    partitions: Coarse | None = None
    why: str | None = None

    @property
    def alone(self) -> Setting:
        """Return the setting of a search that is one of many side by side: one thread each."""
        return replace(self.setting, threads=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a release goes, and in which form it is written.

    Attributes:
        out: the file, or the table of a database; None returns a table of the kind that came in.
        replace_table: a table of a database that is there gives way.
        suppressed: what becomes of suppressed records: "remove", "star" (every
            quasi-identifier is the root), or None, what the job does by default.
        keep_order: leave the records in the order of the input (a stated choice).
        spreadsheet_safe: see `core.spreadsheet`; None: what suits the format.
        inputs: further files that must not be overwritten.
        class_file: where to write the class of each record of the table, in its order, -1
            for one that is not released. It stays inside: with it, a release is no release.
        person_file: where to write who stands behind each released record, in the order of the
            release, for a later `verify`. It stays inside, as the class file does.
    """

    out: str | Path | Database | None = None
    suppressed: str | None = None
    keep_order: bool = False
    spreadsheet_safe: bool | None = None
    inputs: tuple[str | Path, ...] = ()
    class_file: str | Path | None = None
    person_file: str | Path | None = None
    replace_table: bool = False

    @property
    def file(self) -> str | Path | None:
        """Return the file that is written; jobs that write to a database give engines one.

        Raises:
            OutputError: only a file can be written here.
        """
        if self.out is None or isinstance(self.out, (str, PathLike)):
            return self.out
        problem = "only anonymize and encode write to a database; name a file with --out"
        raise OutputError(where=self.out.where, problem=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """What is measured of a release beside its loss.

    Attributes:
        attacks: carried out on table and release: "none", "some" (singling out, linkability,
            inference) or "all".
        most_records: of a table that is attacked without being asked for; None: any.
        population: a table of everybody the records may come from: journalist risk.
        sampling_fraction: or: the share of the population that is in the table.
        weights: or: the column with the sampling weight of each record.
        household: the column that says who lives together.
        profile: a rule that the release must pass before it is published: the name of one, or
            a file.
        pictures: count what the pictures of a report show.
        fidelity: how near what the release shows is to the table.
        learn: a released column that models are trained to tell, on the release and beside it.
        bound: seconds to look for the least that any release must lose; None: not asked.
    """

    attacks: str = "none"
    most_records: int | None = None
    population: object = None
    sampling_fraction: float | None = None
    weights: str | None = None
    household: str | None = None
    profile: str | Path | None = None
    pictures: bool = False
    fidelity: bool = False
    learn: str | None = None
    bound: float | None = None

    @property
    def about_people(self) -> list[str]:
        """Return the names of what is known about the people behind the records."""
        named = ("population", "sampling_fraction", "weights", "household")
        return [name for name in named if getattr(self, name) is not None]

    def faults(self) -> list[str]:
        """Return everything that is wrong with it."""
        found = []
        if self.attacks not in ("none", "some", "all"):
            found.append("attacks must be none, some or all")
        if self.bound is not None and not 0 < self.bound < float("inf"):
            found.append("bound must be a number of seconds above 0")
        if self.about_people and self.attacks == "none":
            named = ", ".join(f"--{name.replace('_', '-')}" for name in self.about_people)
            found.append(f"{named}: not with --no-attacks or --engine spark")
        return found


class Compared(NamedTuple):
    """A table and its release, measured and attacked by the same rules."""

    before: RiskReport
    after: RiskReport
    attacks: tuple[Comparison, ...]


class Classes(Protocol):
    """The equivalence classes that a search found, wherever their tuples are."""

    @property
    def recoding(self) -> Recoding:
        """Return the recoding; on a cluster, its rows are the classes themselves."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what is to be known of how they were found."""
        ...

    def judge(self, promise: Sequence[Promise]) -> tuple[Verdict, ...]:
        """Judge them as they were found; nothing is written for it."""
        ...

    def grouping(self, target: str | None) -> Grouping:
        """Describe them for the measures of utility."""
        ...

    def sse_loss(self) -> float | None:
        """Return the squared loss of centroids; None where boxes are released."""
        ...

    def trial(self) -> Trial | None:
        """Return what tries a model on the tuples; None: the recoding has them."""
        ...


class Counts(Protocol):
    """The frequency table of an open table.

    `CountsHere` has its rows on this machine; where they do not fit, they stay on the cluster.
    """

    @property
    def schema(self) -> Schema:
        """Return the schema with what was found out: kinds, and how dates are written."""
        ...

    @property
    def table(self) -> FrequencyTable:
        """Return it; of rows that stay on the cluster, domains, totals and histograms."""
        ...

    @property
    def risk(self) -> Risk:
        """Return how easily records are found as they are."""
        ...

    @property
    def is_distributed(self) -> bool:
        """Say whether the rows stay on the cluster."""
        ...

    def compile(self, search: Search, progress: Progress) -> None:
        """Load or compile what the search will need, so that its clock does not count it."""
        ...

    def search(self, search: Search) -> Classes:
        """Run the method."""
        ...

    def close(self) -> None:
        """Let go of what is held for them."""
        ...


class Written(Protocol):
    """A release that is made and not yet published."""

    @property
    def table(self) -> object:
        """Return it as the kind of table that came in; None where it goes to a file."""
        ...

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Read it again and judge it."""
        ...

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of the persons of table and release, and attack both."""
        ...

    def class_numbers(self) -> NDArray[np.int64]:
        """Return the class of each record of the table, in its order; -1: it is not released."""
        ...


class Drawn(Written, Protocol):
    """A drawn release; what `verify` judges are its labels, and every cell lies in its own."""

    def compare_labels(self, checks: Checks, *, seed: int) -> Compared:
        """Measure the risk of table and labels by the same rules, and attack both."""
        ...

    def account(self, *, fidelity: bool) -> Document:
        """Return what is to be known of the draw."""
        ...


class Records(Protocol):
    """The records of a table, as far as a schema releases or counts them."""

    def check_kept(self, *, ordered: bool = False) -> KeptCheck:
        """Ask of every kept column whether it says by itself who a record is.

        ordered: the release keeps the order of the records, which may say it, too.
        """
        ...

    def count(self) -> Counts:
        """Count the distinct tuples."""
        ...

    def judge_starred(self, classes: Classes, promise: Sequence[Promise]) -> Verification:
        """Judge the release with suppressed records as the root, before it is written."""
        ...

    def recode(
        self, classes: Classes, output: Output, *, star: bool
    ) -> AbstractContextManager[Written]:
        """Write the release; it is published at the end, if nothing was raised."""
        ...

    def draw(
        self, classes: Classes, output: Output, drawing: Drawing, *, star: bool
    ) -> AbstractContextManager[Drawn]:
        """Write a release whose cells are drawn; published at the end, if nothing was raised."""
        ...

    def repeats(self, classes: Classes, k: int, *, star: bool) -> Repeats | None:
        """Count the people of the classes, where an identifying column repeats."""
        ...

    def compare(self, release: object, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of table and release by the same rules, and attack both."""
        ...


class Encoding(Protocol):
    """A table on its way through a model."""

    @property
    def kept(self) -> KeptCheck:
        """Return what was found in the kept columns."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what is to be known of the batch."""
        ...

    @property
    def report(self) -> EncodeReport:
        """Return the counts, complete once the batch is written."""
        ...

    def suppress_failing(self, judge: Judge) -> None:
        """Suppress classes until those that are left keep the promise within the batch."""
        ...

    def write(self, output: Output) -> AbstractContextManager[Written]:
        """Encode; what is written is published at the end, if nothing was raised."""
        ...


class Table(Protocol):
    """An open table, and what can be asked of it."""

    @property
    def where(self) -> str:
        """Return what the table is called in messages."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of its columns, in their order."""
        ...

    def records(
        self,
        schema: Schema,
        counted: Sequence[str],
        keys: Keys,
        *,
        earlier: ClassNumbers | None = None,
    ) -> Records:
        """Return the records as a schema releases them.

        counted: sensitive columns to count. keys: what replaces values depends on them.
        earlier: the class of each record in an earlier release, in the table's order.
        """
        ...

    def verify(
        self, schema: Schema, promise: Sequence[Promise], *, blanked: bool = False
    ) -> Verification:
        """Judge it as it stands. blanked: sensitive cells may have been blanked."""
        ...

    def trajectories(self, schema: Schema) -> TrajectoryRisk:
        """Count the persons whose records, all together, nobody else has."""
        ...

    def with_persons(
        self, file: str | Path, false_records: str | Path | None = None
    ) -> tuple[Table, tuple[str, ...]]:
        """Return the table with the columns of a person file beside it, and their names.

        file: CSV, a header and one line a record, in the order of the table.
        false_records: the numbers of records that are false: each is a person of its own.
        """
        ...

    def check_kept(self, names: Sequence[str], waived: Sequence[str]) -> KeptCheck:
        """Ask columns whether they say by themselves who a record is."""
        ...

    def check_links(self, schema: Schema, names: Sequence[str]) -> tuple[KeptColumn, ...]:
        """Ask columns whether they link the records of a person; nothing without persons."""
        ...

    def repeats(self, schema: Schema, k: int) -> Repeats | None:
        """Count the people of its own classes, where an identifying column repeats."""
        ...

    def encode(
        self, model: RecodingModel, *, on_unseen: str | None, star: bool
    ) -> AbstractContextManager[Encoding]:
        """Check it against a model; nothing is encoded yet."""
        ...

    def risk(self, question: RiskQuestion, *, population: object = None) -> RiskReport:
        """Measure how easily people are found in it."""
        ...

    def check_risk(self, question: RiskQuestion, *, population: object = None) -> None:
        """Refuse a question about risk that cannot be answered."""
        ...

    def measure(
        self, release: object, schema: Schema, *, starred: bool | None, separator: str | None
    ) -> Document:
        """Measure a release that was made from it, by its labels alone."""
        ...

    def infer(self, *, max_size: int, seconds: float | None, threshold: float) -> Inference:
        """Say what each column seems to be and which sets of columns identify people."""
        ...


class Engine(Protocol):
    """A platform: it opens tables."""

    name: str

    def check_output(self, output: Output) -> None:
        """Refuse a place that cannot be written, before any work is done."""
        ...

    def open(self, table: object, *, separator: str | None = None) -> Table:
        """Open a table."""
        ...

    def open_release(self, table: object, *, separator: str | None = None) -> Table:
        """Open a table that is probably sorted by its values."""
        ...
