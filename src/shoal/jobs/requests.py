"""Requests: everything that can be asked of a job, as one frozen object.

The command line, a notebook, the page and a YAML file build the same objects. A request checks
itself and names all faults together; it can be written down (`jobs.documents`) and run again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from shoal.core.errors import MethodError, SchemaError
from shoal.engines.base import Checks, Output
from shoal.jobs.compose_requests import ComposeRequest
from shoal.jobs.faults import (
    Fault,
    beside_faults,
    draw_faults,
    key_faults,
    noise_faults,
    over_time_faults,
    refuse,
    replaced_faults,
    room_faults,
    whole_faults,
)
from shoal.jobs.linked_requests import LinkedRequest, LinkedVerifyRequest
from shoal.jobs.persons import person_faults
from shoal.jobs.xk_requests import RecommendRequest, XkRequest
from shoal.methods.catalogue import Auto
from shoal.methods.method import Method
from shoal.methods.registry import resolve
from shoal.privacy import Promise
from shoal.schema.attribute import USUAL_LABELS, Labels
from shoal.schema.schema import Schema

ON_UNSEEN = ("suppress", "nearest", "error")
ATTACKED = 100_000
"""Records of a table that is attacked unasked: a larger one is read again for it."""


class People(TypedDict, total=False):
    """What is known of the people behind the records; see `Checks`."""

    population: object
    sampling_fraction: float | None
    weights: str | None
    household: str | None


def usual_checks(attacks: bool | None, *, reads: bool = True, **people: Unpack[People]) -> Checks:
    """Return what is measured of a release, by what was said about it.

    Args:
        attacks: True: attack in every way; False: not at all; None: nobody spoke of it, so
            that a table of at most `ATTACKED` records is attacked in some ways.
        reads: somebody reads the answer; otherwise nothing is measured unasked.
        people: what is known of the people behind the records.
    """
    if attacks is not None:
        return Checks(attacks="all" if attacks else "none", **people)
    is_asked = any(value is not None for value in people.values())
    wanted = "some" if reads or is_asked else "none"
    return Checks(attacks=wanted, most_records=ATTACKED, **people)


def k_of(schema: Schema) -> int:
    """Return the k that a schema promises, for what knows of no other promise (xk-anonymity).

    Raises:
        SchemaError: it promises none.
    """
    found = [int(getattr(model, "k", 0)) for model in schema.privacy if hasattr(model, "k")]
    if not found:
        raise SchemaError(where="options", faults=["xk-anonymity needs -k N"])
    return max(found)


def _suppression_faults(output: Output) -> list[Fault]:
    if output.suppressed in (None, "remove", "star"):
        return []
    return [Fault("must be remove or star", "--suppressed")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnRequest:
    """What a recoding is asked to be.

    Attributes:
        table: a path, a CsvFile, a Database, a Polars, pandas or Arrow table, a Spark DataFrame
            or a SparkTable.
        schema: roles, kinds and hierarchies of its columns, and the promise.
        release: what a class releases, "generalize" or "aggregate"; or "draw": the file keeps
            its values, each drawn from its label; None: what the method is made for.
        partitions: learn on so many parts side by side, and join them.
        infer: a quasi-identifier without a hierarchy gets the one that `infer` proposes.
        key: the key file that pseudonyms and shifted dates depend on; only its path is written
            down. A model has neither. model_bytes, device_ram: the room that a device has.
        epsilon, budget: of drawn values: what marginals with noise cost, and the ledger that it is
            charged to.
    """

    table: object
    schema: Schema
    method: Method = field(default_factory=Auto)
    release: str | None = None
    partitions: int | None = None
    partition_by: str = "kmeans"
    infer: bool = True
    seed: int = 0
    threads: int | None = None
    separator: str | None = None
    key: str | Path | None = None
    model_bytes: int | None = None
    device_ram: int | None = None
    epsilon: float | None = None
    budget: str | Path | None = None

    @property
    def labels(self) -> Labels:
        """Return the labels that classes write."""
        unread = self.release == "draw" and isinstance(self, ReleaseRequest)
        return self.schema.labels or (Labels.TIGHT if unread else USUAL_LABELS)

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        room = room_faults(self.model_bytes, self.device_ram, release=self.release)
        return [*replaced_faults(self.schema, self.key), *room, *self._method_faults()]

    def _method_faults(self) -> list[Fault]:
        found = noise_faults(self.schema, self.release, self.epsilon, self.budget)
        for check in (self._check_release, self._check_partitions, self._check_sets):
            try:
                check()
            except MethodError as error:
                found.append(Fault(str(error), None))
        if self.threads is not None and self.threads < 1:
            found.append(Fault("must be at least 1", "--threads"))
        return found

    def _check_release(self) -> None:
        resolve(self.method, release=self.release)

    def _check_sets(self) -> None:
        if self.method.family == "transactions" and not self.schema.sets:
            problem = f"--method {self.method.name} recodes sets of items; name them with --set"
            raise MethodError(problem=problem)

    def _check_partitions(self) -> None:
        if self.partitions is not None:
            from shoal.methods.partition import check_partitioning  # NumPy comes with it

            check_partitioning(self.partitions, self.partition_by)

    def check(self) -> None:
        """Refuse a request that cannot be meant; see `refuse`."""
        refuse(self.faults())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest(LearnRequest):
    """What a release is asked to be.

    Attributes:
        nested_in: the class file of an earlier release of the table, or its model: classes are to
            be unions of the earlier ones, or to lie inside them. With a ledger, also the number of
            a release in it.
        ledger: what went out of the table before; the release is entered there, and refused where
            it gives away, beside an earlier one, what neither gives away alone.
        waive_composition: numbers of releases in the ledger that it may stand beside all the same.
        after: the ledger, or the number in it, of releases over time that it follows: everybody
            keeps the sensitive values of their class (m-invariance).
        counterfeits: what becomes of a class that lacks a value: "fill" it with a record that
            nobody is behind (None: so), or "none": records wait.
        false_records: where to write the numbers of the counterfeits; it stays inside.
        counterfeit_table: where to write how many each class has; to be published.
    """

    output: Output = field(default_factory=Output)
    checks: Checks = field(default_factory=Checks)
    nested_in: str | Path | None = None
    ledger: str | Path | None = None
    waive_composition: tuple[str, ...] = ()
    after: str | Path | None = None
    counterfeits: str | None = None
    false_records: str | Path | None = None
    counterfeit_table: str | Path | None = None

    @property
    def book(self) -> str | Path | None:
        """Return the ledger that it is entered in."""
        return self.after if self.ledger is None else self.ledger

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        checks = [Fault(problem) for problem in self.checks.faults()]
        keys = key_faults(self.schema, self.key)
        persons = [Fault(*each) for each in person_faults(self.schema, self.output, self.checks)]
        found = [*keys, *self._method_faults(), *checks, *_suppression_faults(self.output)]
        beside = beside_faults(self.schema, self.nested_in, self.book, self.waive_composition)
        over_time = over_time_faults(self.schema, self._over_time(), ledger=self.ledger)
        drawn = draw_faults(self.schema, self.output) if self.release == "draw" else []
        drawn += room_faults(self.model_bytes, self.device_ram, learns=False)
        whole = whole_faults(self.nested_in, self.release, self.partitions)
        return [*found, *persons, *beside, *over_time, *drawn, *whole]

    def _over_time(self) -> dict[str, object]:
        """Return what a release over time takes, or is in its way, by option."""
        return {
            "--after": self.after, "--counterfeits": self.counterfeits,
            "--false-records": self.false_records, "--counterfeit-table": self.counterfeit_table,
            "--nested-in": self.nested_in, "--method": self.method.name != "auto",
            "--release": self.release is not None, "--partitions": self.partitions,
            "--keep-order": self.output.keep_order, "--key": self.key,
            "--suppressed": self.output.suppressed == "star",
            "--attacks": self.checks.attacks == "all",
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeRequest:
    """What is asked of a model at work on a table.

    Attributes:
        model: a model, or the path of one.
        safe: suppress what would break the promise within this batch, and verify. The model
            must have the fingerprint that it was learned with.
        on_unseen: suppress, nearest or error; what the model declares if None.
        release: "draw" or "generalize"; None: drawn, where the model has what to draw from.
        seed: of what is drawn.
        output: suppressed records are by default removed when safe, starred otherwise.
        schema: what is known of the columns; a model that protects one less is refused. When
            safe, the schema's promise is kept beside the model's.
        privacy: what is promised beside the model's promise, or more strictly; when safe.
        waive: kept columns that are meant as they are, beside those that the model waives.
        fold_case: join sensitive values that differ only by case, accents or spaces, as the
            model does where it was learned so; when safe.
    """

    table: object
    model: object
    safe: bool = False
    on_unseen: str | None = None
    release: str | None = None
    seed: int = 0
    output: Output = field(default_factory=Output)
    schema: Schema | None = None
    privacy: tuple[Promise, ...] | None = None
    waive: tuple[str, ...] = ()
    fold_case: bool = False
    separator: str | None = None

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        found = _suppression_faults(self.output)
        if self.on_unseen not in (None, *ON_UNSEEN):
            found.append(Fault("--on-unseen must be suppress, nearest or error", None))
        if self.release not in (None, "generalize", "draw"):
            found.append(Fault("must be generalize or draw", "--release"))
        if self.privacy is not None and not self.safe:
            found.append(Fault("a promise (-k, --l, --t) goes with --safe"))
        if self.fold_case and not self.safe:
            found.append(Fault("goes with --safe", "--fold-case"))
        if self.output.person_file is not None and not self.safe:
            found.append(Fault("goes with --safe", "--person-file"))
        return found

    def check(self) -> None:
        """Refuse a request that cannot be meant; see `refuse`."""
        refuse(self.faults())


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What is asked of a table as it stands, whoever made it.

    Attributes:
        schema: names quasi-identifiers and sensitive columns, and has the promise.
        blanked: sensitive cells may have been blanked: a class that is empty altogether
            passes, and elsewhere an empty cell is no value.
        person_file: who each record is about, where the table does not say it: a CSV file with
            a header and a line a record, in the order of the table.
        false_records: the numbers of false records (xk-anonymity), each a made-up person of its
            own beside those of the person file.
    """

    table: object
    schema: Schema
    blanked: bool = False
    person_file: str | Path | None = None
    false_records: str | Path | None = None
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsRequest:
    """What is asked of a release and the table it was made from.

    Attributes:
        starred: whether records that are the root in every quasi-identifier count as
            suppressed, or as a class of their own. None: as suppressed, with a notice.
        infer: the release was made with proposed hierarchies; see `LearnRequest`.
    """

    table: object
    release: object
    schema: Schema
    starred: bool | None = None
    infer: bool = True
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRequest:
    """What is asked about how easily people are found in a table; see `Checks`."""

    table: object
    schema: Schema
    population: object = None
    sampling_fraction: float | None = None
    weights: str | None = None
    household: str | None = None
    max_size: int | None = None
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRequest:
    """Attacks that are carried out on a table and its release.

    Attributes:
        register: an outside table that the attacker holds.
        key: the column that says who is who in the register and in the original; where persons
            are counted, the person columns say it.
        beside: other releases of the table that the attacker holds, too.
        class_files: or what `anonymize --class-file` wrote for each release, this one included.
        everything: every attack; otherwise singling out, linkability and inference.
        centroids: the release holds centroids: the attacker looks for the nearest one.
        targets: how many people are attacked.
        infer: the release was made with proposed hierarchies; see `LearnRequest`.
        person_file: who each record of the release is about, where persons are counted.
    """

    table: object
    release: object
    schema: Schema
    person_file: str | Path | None = None
    register: object = None
    key: str | None = None
    beside: tuple[object, ...] = ()
    class_files: tuple[str | Path, ...] = ()
    everything: bool = False
    centroids: bool = False
    targets: int = 500
    infer: bool = True
    seed: int = 0
    separator: str | None = None

    def check(self) -> None:
        """Refuse a register without its key, a key without a register, and releases in two ways."""
        if self.schema.sets:
            raise MethodError(problem="attacks know no column of sets; see shoal risk")
        if self.schema.person and self.key is not None:
            raise MethodError(problem="the person column says who is who; leave the key out")
        if not self.schema.person and (self.register is None) != (self.key is None):
            raise MethodError(problem="a register and the key column that joins it go together")
        if self.beside and self.class_files:
            raise MethodError(problem="name other releases, or the class files of all; not both")
        if len(self.class_files) == 1:
            raise MethodError(problem="class files of two releases at least are laid together")
        if self.person_file is not None and not self.schema.person:
            raise MethodError(problem="--person-file goes with --person")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRequest:
    """What is asked about the columns of a table.

    Attributes:
        max_size: largest number of columns in a set.
        seconds: time for the search of sets; None for no limit.
        threshold: residual entropy in bits under which a set identifies.
    """

    table: object
    max_size: int = 5
    seconds: float | None = 60.0
    threshold: float = 1.0
    separator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRequest:
    """Whether new records are still like those that a model was learned from.

    Attributes:
        false_alarm: how often a sample of the training data may be taken for other data.
    """

    table: object
    model: object
    false_alarm: float = 0.05
    separator: str | None = None


Request = (
    ReleaseRequest
    | LearnRequest
    | EncodeRequest
    | VerifyRequest
    | MetricsRequest
    | RiskRequest
    | AttackRequest
    | InferRequest
    | DriftRequest
    | RecommendRequest
    | XkRequest
    | ComposeRequest
    | LinkedRequest
    | LinkedVerifyRequest
)

__all__ = [
    "AttackRequest",
    "Checks",
    "ComposeRequest",
    "DriftRequest",
    "EncodeRequest",
    "Fault",
    "InferRequest",
    "LearnRequest",
    "LinkedRequest",
    "LinkedVerifyRequest",
    "MetricsRequest",
    "Output",
    "People",
    "RecommendRequest",
    "ReleaseRequest",
    "Request",
    "RiskRequest",
    "VerifyRequest",
    "XkRequest",
    "k_of",
    "refuse",
    "replaced_faults",
    "usual_checks",
]
