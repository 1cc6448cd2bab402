"""Where a release goes, and what is measured of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from shoal.cli import standard
from shoal.cli.options.groups import Group, option
from shoal.cli.options.input import is_url, names, refusal
from shoal.jobs.requests import Checks, Output, People, usual_checks

if TYPE_CHECKING:
    from shoal.api import Database


@dataclass(frozen=True, kw_only=True)
class OutputOptions(Group):
    """Where a release goes, and in which form."""

    panel: ClassVar[str] = "Output"

    out: str | None = option(None, "The release; - is standard output, once verified.", "FILE|URI")
    out_table: str | None = option(
        None, "Where --out is a database URI: the table to make (or --table).", "NAME"
    )
    replace_table: bool = option(False, "A table of that name gives way, in one transaction.")
    metadata: str | None = option(
        None,
        "Describe the release for archives: NAME.datapackage.json, .croissant.json, .ddi.xml.",
        "FILE,FILE",
    )
    suppressed: str | None = option(
        None, "What becomes of suppressed records (star: every cell is *).", "remove|star"
    )
    keep_order: bool = option(False, "Keep the input's order of records (it may reveal them).")
    spreadsheet_safe: bool | None = option(
        None,
        "Put ' before texts that a spreadsheet would run as formulas (=, +, -, @).",
        shown="on for Excel output, off for CSV",
    )

    class_file: str | None = option(
        None, "The class of each input record, for compose; stays inside.", "FILE"
    )

    person_file: str | None = option(
        None, "With --person: who is behind each record, for verify; stays inside.", "FILE"
    )

    def output(self, command: str, *, on_spark: bool, inputs: tuple[str | Path, ...]) -> Output:
        """Return place and form; refuse places that cannot be written, before any work is done.

        inputs: files that are read and must not be written to.
        """
        from shoal.jobs.places import check_place

        if not self.out:
            raise refusal("options", f"{command} needs --out FILE (or --out -, standard output)")
        if self.out == standard.MARK and on_spark:
            raise refusal("--out", "standard output needs the local engine; name a file")
        place = self._place(on_spark=on_spark)
        if isinstance(place, Path) and not (on_spark and is_url(self.out)):
            check_place(place, inputs=inputs)
        beside = place if isinstance(place, Path) else ""
        if self.class_file is not None:
            check_place(self.class_file, inputs=(*inputs, beside))
        if self.person_file is not None:
            check_place(self.person_file, inputs=(*inputs, beside))
        return Output(
            out=self.out if on_spark else place,
            suppressed=self.suppressed,
            keep_order=self.keep_order,
            spreadsheet_safe=self.spreadsheet_safe,
            inputs=inputs,
            class_file=self.class_file,
            person_file=self.person_file,
            replace_table=self.replace_table,
        )

    def with_table(self, table: str | None) -> Self:
        """Return the options with the table that --table names, where that means the release."""
        return replace(self, out_table=self.out_table or table)

    def _place(self, *, on_spark: bool) -> Path | Database:
        assert self.out is not None
        if self.out == standard.MARK:
            return standard.release()
        if on_spark or not is_url(self.out):
            for name, given in (
                ("--out-table", self.out_table),
                ("--replace-table", self.replace_table),
            ):
                if given:
                    raise refusal(name, "goes with a database URI as --out")
            return Path(self.out)
        if self.out_table is None:
            raise refusal("--out", "a database: name the table to make with --out-table NAME")
        from shoal.api import Database

        return Database(uri=self.out, table=self.out_table)

    def described(self, output: Output) -> list[str]:
        """Return where the release is described; refuse places that cannot be written."""
        places = names(self.metadata)
        if places:
            from shoal.jobs.metadata import check_metadata

            if self.out == standard.MARK:
                raise refusal("--metadata", "needs a release in a file or a database")
            beside = [output.out] if isinstance(output.out, Path) else []
            check_metadata(places, inputs=(*output.inputs, *beside))
        return places

    @property
    def place_in_words(self) -> str | None:
        """Return where the release is, for a person."""
        if self.out is not None and self.out_table is not None and is_url(self.out):
            return f"table {self.out_table}"  # the URI may have a password
        return "standard output" if self.out == standard.MARK else self.out


@dataclass(frozen=True, kw_only=True)
class CheckOptions(Group):
    """What is measured of a release beside its loss."""

    panel: ClassVar[str] = "Checks"

    attacks: bool | None = option(
        None,
        "Measure and attack table and release (--attacks: in every way) and compare.",
        shown="on up to 100,000 records",
    )
    population: str | None = option(
        None, "Everybody the records may come from: journalist risk.", "FILE"
    )
    sampling_fraction: float | None = option(
        None, "Share of the population in the table: journalist risk.", "X"
    )
    weights: str | None = option(None, "Sampling weights: journalist risk.", "COLUMN")
    household: str | None = option(None, "Who lives together: household risk.", "COLUMN")
    profile: str | None = option(
        None,
        "Gate: a rule that the release must pass, or nothing is written (a name, or a file).",
        "NAME",
    )
    fidelity: bool = option(
        False, "Measure how near the release shows the table to be (k-marginal score, queries …)."
    )
    learn: str | None = option(
        None, "Train models on the release to tell this column, and test them (slow).", "COLUMN"
    )
    bound: float | None = option(
        None, "Say how far above the least possible loss it is; search so long for that.", "SECONDS"
    )

    def people(self) -> People:
        """Return what is known of the people behind the records."""
        return {
            "population": self.population,
            "sampling_fraction": self.sampling_fraction,
            "weights": self.weights,
            "household": self.household,
        }

    def checks(self, *, on_spark: bool, reads: bool, report: str | None = None) -> Checks:
        """Return what is measured; see `usual_checks`. report: where one is written."""
        pictures = report is not None
        if on_spark and self.attacks:
            raise refusal("--engine", "--attacks need the local engine")
        attacks = False if on_spark else self.attacks
        checks = usual_checks(attacks, reads=reads or pictures, **self.people())
        if on_spark and (self.fidelity or self.learn or self.bound is not None):
            raise refusal("--engine", "--fidelity, --learn and --bound need the local engine")
        return replace(
            checks, profile=self.profile, pictures=pictures, fidelity=self.fidelity,
            learn=self.learn, bound=self.bound,
        )  # fmt: skip
