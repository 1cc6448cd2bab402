"""The command `anonymize`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from shoal.cli import options as opt
from shoal.cli import standard
from shoal.cli.infer import day_of
from shoal.cli.linked import SOURCE, anonymize_linked, has_tables
from shoal.cli.render import attack_lines, measured_lines, risk_lines, summary
from shoal.cli.xk import XkOptions, applied_lines, check_options
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.privacy import KAnonymity
from shoal.reports.release import ReleaseReport
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.jobs.preset import Plan
    from shoal.jobs.release import Release
    from shoal.jobs.xk import XkRelease


@dataclass(frozen=True, kw_only=True)
class PresetOptions(opt.Group):
    """A rule of the law that decides about every column."""

    panel: ClassVar[str] = "Roles"

    preset: str | None = opt.option(None, "Do as a rule says.", "hipaa-safe-harbor")
    as_of: str | None = opt.option(None, "Day that decides ages, with --preset.", "DATE")

    def plan(
        self, place: opt.InputOptions, columns: opt.ColumnOptions, method: opt.MethodOptions
    ) -> Plan | None:
        """Return what the rule does to each column; hardly another flag goes with it."""
        if self.preset is None:
            if self.as_of is not None:
                raise opt.refusal("--as-of", "goes with --preset")
            return None
        from shoal.jobs.preset import plan_preset

        others = ("schema", "qi", "sensitive", "neutral", "numeric", "categorical", "date",
                  "hierarchies", "missing", "date_format")  # fmt: skip
        found = [f"--{name.replace('_', '-')}" for name in others if getattr(columns, name)]
        found += ["--method xk"] * (method.method == "xk") + ["--engine spark"] * place.on_spark
        if found:
            problem = f"decides about every column; leave {', '.join(found)} out"
            raise opt.refusal("--preset", problem)
        return plan_preset(
            place.input(), self.preset, as_of=day_of(self.as_of), separator=place.sep,
            identifying=opt.names(columns.identifying),
        )  # fmt: skip


WRITTEN = opt.Use(
    help={"out": "The release: a file, a database URI, a new folder, or - (once verified)."},
    default={"suppressed": "remove"},
)


@opt.command(
    examples="""
    # every record shares its quasi-identifiers with at least four others
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 --out release.csv
    # without a schema: name the columns
    shoal anonymize stays.csv --qi birth_date,sex,zip --sensitive diagnosis \\
        --identifying patient_id,name -k 5 --out release.csv --report report.html
    # another method, with a parameter of its own (see shoal methods refine)
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 \\
        --method refine --set effort=fast --out release.csv
    # a second release that may stand beside the first
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 --out inside.csv \\
        --class-file inside.classes.csv
    shoal anonymize stays.csv --schema stays.schema.yaml -k 10 --out public.csv \\
        --nested-in inside.classes.csv
    # enter it in a ledger, unless it gives too much away beside others
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 --out release.csv \\
        --ledger releases.db
    # a table that grows and changes: everybody keeps the values of their class
    shoal anonymize stays.csv --qi birth_date,sex,zip --sensitive diagnosis \\
        --person patient_id -k 5 --m 2 --after series.db --suppression-limit 0.3 \\
        --counterfeit-table counterfeits.csv --out april.csv
    # in a pipe: standard output gets the release once it is verified
    shoal anonymize - --schema stays.schema.yaml --out - < stays.csv > out.csv
    # described for an archive, beside the release
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 --out release.csv \\
        --metadata release.datapackage.json,release.croissant.json,release.ddi.xml
    # into a table of a database: all of it in one transaction, or nothing
    shoal anonymize stays.csv --schema stays.schema.yaml -k 5 \\
        --out sqlite:///research.db --table release
    # linked tables, a folder with a file each: whole persons look alike
    shoal anonymize wards --schema wards/schema.yaml --out released
    """
)
def anonymize(
    context: typer.Context,
    place: Annotated[opt.InputOptions, opt.Use(help={"source": SOURCE})],
    written: Annotated[opt.OutputOptions, WRITTEN],
    columns: opt.ColumnOptions,
    replaced: opt.ReplacingOptions,
    promised: opt.PromiseOptions,
    method: opt.MethodOptions,
    xk: XkOptions,
    checks: opt.CheckOptions,
    reported: opt.ReportOptions,
    others: opt.ReleasesOptions,
    answer: opt.AnswerOptions,
    rule: PresetOptions,
) -> int:
    """Turn a table into a verified release."""
    check_options(context, method)
    place, written = _with_table(place, written)
    if has_tables(columns):
        about = (columns, replaced, promised, method)
        return anonymize_linked(context, place, written, reported, *about, answer)
    plan = rule.plan(place, columns, method)
    schema = method.added_to(_read(plan, columns, promised, replaced))
    inputs = (*place.files(), *columns.files(), *replaced.files(), *others.files())
    output = written.output("anonymize", on_spark=place.on_spark, inputs=inputs)
    described = _checked_places(written, output, method, reported)
    if method.method == "xk":
        done = _released_xk(xk, place, schema, columns, method, output)
        return _answer_xk(done, reported, place.input(), output, answer)
    seen = {"on_spark": place.on_spark, "reads": not answer.quiet}
    request = ReleaseRequest(
        table=place.input(), schema=schema, infer=columns.infer, separator=place.sep,
        key=replaced.key, output=output, **method.words(learns=False), **others.words(),
        checks=checks.checks(**seen, report=reported.report), false_records=xk.false_records,
    )  # fmt: skip
    made = _released(request, plan)
    _publish(made, reported, request.table, output, checks.profile)
    _describe(made, output, described, inputs)
    answer.print(_document(made), "\n".join(_lines(made, written, method)))
    return 0


def _with_table(
    place: opt.InputOptions, written: opt.OutputOptions
) -> tuple[opt.InputOptions, opt.OutputOptions]:
    """Let --table name the table to make where --out is a database."""
    if not opt.is_url(written.out) or place.on_spark:
        return place, written
    place, table = place.without_table()
    return place, written.with_table(table)


def _read(
    plan: Plan | None,
    columns: opt.ColumnOptions,
    promised: opt.PromiseOptions,
    replaced: opt.ReplacingOptions,
) -> Schema:
    read = columns.read(promised, replaced) if plan is None else _promised(plan, promised)
    return read.with_waived(opt.names(columns.waive))


def _checked_places(
    written: opt.OutputOptions,
    output: Output,
    method: opt.MethodOptions,
    reported: opt.ReportOptions,
) -> list[str]:
    """Return where the release is described; false records cannot be."""
    reported.check(*output.inputs, str(output.out))
    described = written.described(output)
    if described and method.method == "xk":
        raise opt.refusal("--metadata", "does not go with --method xk")
    return described


def _describe(
    made: Release[object], output: Output, described: list[str], inputs: tuple[str | Path, ...]
) -> None:
    if described:
        from shoal.jobs.metadata import write_metadata

        write_metadata(made, output.out, described, inputs=inputs)


def _released_xk(
    xk: XkOptions,
    place: opt.InputOptions,
    schema: Schema,
    columns: opt.ColumnOptions,
    method: opt.MethodOptions,
    output: Output,
) -> XkRelease:
    choices = xk.choices(columns, method.suppression_limit)
    return xk.release(place, schema, choices, output=output, seed=method.seed)


def _answer_xk(
    done: XkRelease,
    reported: opt.ReportOptions,
    table: object,
    output: Output,
    answer: opt.AnswerOptions,
) -> int:
    """Publish a release under xk-anonymity, and say what was done."""
    _publish(done.report(), reported, table, output)
    answer.print(done.to_document(), "\n".join(applied_lines(done)))
    return 0


def _publish(
    made: Release[object] | ReleaseReport,
    reported: opt.ReportOptions,
    table: object,
    output: Output,
    profile: str | None = None,
) -> None:
    """Write the report, if one was asked for, and hand a release to standard output."""
    asked = reported.asked(table=table, release=output.out, profile=profile)
    reported.write(made, asked, *output.inputs, str(output.out))
    standard.deliver()


def _released(request: ReleaseRequest, plan: Plan | None) -> Release[object]:
    from shoal.jobs.preset import release_preset
    from shoal.jobs.release import release

    return release(request) if plan is None else release_preset(plan, request)


def _document(made: Release[object]) -> dict[str, object]:
    risks, attacks = _compared(made)
    return {**made.report.to_document(), "risk": risks, "attacks": attacks}


def _lines(
    made: Release[object], written: opt.OutputOptions, method: opt.MethodOptions
) -> list[str]:
    risks, attacks = _compared(made)
    lines = [summary(made.report, out=written.place_in_words)]
    if risks is not None:
        is_of_records = made.report.repeats is not None
        lines += risk_lines(risks["before"], risks["after"], records=is_of_records)
    lines += [*attack_lines(attacks), *measured_lines(made.report.facts)]
    return [*lines, *method.explanation(made.report)]


def _promised(plan: Plan, promised: opt.PromiseOptions) -> Schema:
    """Return the schema of a plan with the promise of flags; without one, nothing is promised."""
    schema = promised.added_to(plan.schema)
    return schema if schema.privacy else schema.with_promise([KAnonymity(1)])


def _compared(
    made: Release[object],
) -> tuple[dict[str, dict[str, object]] | None, list[dict[str, object]]]:
    """Return the risks of table and release, and how attacks on both went, as documents."""
    if made.compared is None:
        return None, []
    before, after, attacks = made.compared
    risks = {"before": before.to_document(), "after": after.to_document()}
    return risks, [each.to_document() for each in attacks]
