"""The command `risk`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli.bars import bar_lines
from shoal.cli.linked import SOURCE, has_tables, risk_of_linked
from shoal.cli.render import at, attack_lines, entries, rows
from shoal.cli.sets import risk_of_sets
from shoal.jobs.requests import AttackRequest, RiskRequest
from shoal.reports.profile import load_profile

_PEOPLE = opt.Use(
    without=("attacks",),
    help={
        "population": "Everybody the records may come from.",
        "sampling_fraction": "… or the share here.",
        "weights": "… or the sampling weights.",
        "household": "Who lives together.",
        "profile": "Gate: exit code 1 if a rule is not passed (a name, or a file).",
    },
)


@opt.command(
    examples="""
    # how easily people are found in the table as it stands
    shoal risk stays.csv --schema stays.schema.yaml
    # a gate: exit code 1 if anybody is found with more than 20 %
    shoal risk release.csv --schema stays.schema.yaml --max-risk 0.2
    # attack the table and its release
    shoal risk stays.csv --schema stays.schema.yaml --release release.csv
    # linked tables: by all rows of a person, and by one
    shoal risk wards --schema wards/schema.yaml
    """
)
def risk(
    context: typer.Context,
    place: Annotated[opt.InputOptions, opt.Use(without=("driver_rows",), help={"source": SOURCE})],
    columns: Annotated[opt.ColumnOptions, opt.Use(without=("neutral", "waive", "fold_case"))],
    people: Annotated[opt.CheckOptions, _PEOPLE],
    reported: opt.ReportOptions,
    answer: opt.JsonOptions,
    max_size: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Largest set for special uniques.", rich_help_panel="Method"
        ),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(metavar="X", help="Gate: exit code 1 above it.", rich_help_panel="Checks"),
    ] = None,
    gate: Annotated[
        str,
        typer.Option(
            metavar="maximum|average",
            help="Which risk the gate looks at.",
            rich_help_panel="Checks",
        ),
    ] = "maximum",
    release: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A release of INPUT: attack both.", rich_help_panel="Checks"
        ),
    ] = None,
    person_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Who each record of the release is about, as anonymize --person-file wrote it.",
            rich_help_panel="Checks",
        ),
    ] = None,
    register: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What the attacker holds from outside.", rich_help_panel="Checks"
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Who is who in the register.", rich_help_panel="Checks"
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE",
            help="Other releases that the attacker holds.",
            rich_help_panel="Checks",
        ),
    ] = None,
    class_files: Annotated[
        str | None,
        typer.Option(
            metavar="FILE,FILE",
            help="Or what anonymize --class-file wrote for every release.",
            rich_help_panel="Checks",
        ),
    ] = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Carry out every attack.", rich_help_panel="Checks")
    ] = False,
) -> int:
    """Measure how easily people are found in a table as it stands."""
    from shoal.jobs import risk as job

    if has_tables(columns):
        return risk_of_linked(context, place, columns, answer, max_risk=max_risk, gate=gate)
    if release is None and (
        attacks or any(f is not None for f in (register, person_file, beside, class_files))
    ):
        named = "--register, --person-file, --beside, --class-files and --attacks"
        raise opt.refusal("risk", f"{named} go with --release FILE")
    schema, table = columns.read(), place.input()
    if place.on_spark and release is not None:
        raise opt.refusal("--engine", "attacks need the local engine")
    if schema.sets:
        return risk_of_sets(context, place, schema, answer, max_risk=max_risk, gate=gate)
    files = (*place.files(), *columns.files())
    reported.check(*files)
    profile = None if people.profile is None else load_profile(people.profile)
    known = people.people()
    if people.population is not None:
        known["population"] = place.beside(people.population)
    request = RiskRequest(
        table=table, schema=schema, max_size=max_size, separator=place.sep, **known
    )
    found, carried = job.risk(request), None
    if release is not None:
        asked = AttackRequest(
            table=table, release=release, schema=schema, register=register, key=key,
            everything=attacks, infer=columns.infer, separator=place.sep, person_file=person_file,
            beside=tuple(opt.names(beside)), class_files=tuple(opt.names(class_files)),
        )  # fmt: skip
        carried = job.attack(asked)
    document = found.to_document()
    if carried is not None:
        document["attacks"] = [each.to_document() for each in carried]
        document["notices"] = [*rows(document, "notices"), *job.attack_notices(asked)]
    passed = True if max_risk is None else found.within(max_risk, measure=gate)
    if max_risk is not None:
        document["gate"] = {"measure": gate, "max_risk": max_risk, "passed": passed}
    if profile is not None:
        document["profile"] = job.held(profile, found)
        passed = passed and bool(at(document, "profile", "passed"))
    facts = reported.asked(
        table=table, schema=schema, attacks=carried or (), profile=people.profile
    )
    reported.write(found, facts, *files, request=request)
    answer.print(document, "\n".join(_lines(document)))
    return 0 if passed else 1


def _lines(document: dict[str, object]) -> list[str]:
    word = "re-identified" if document["repeats"] is None else "found, were each another person's"
    of, unit = "", "records"
    if document["persons"] is not None:
        of, unit = f" of {document['persons']:,} persons", "persons"
    lines = [
        f"{document['records']:,} records{of} in {document['classes']:,} classes, "
        f"{document['unique']:,} {'unique' if not of else 'persons alone in a class'}",
        *(f"  WARNING       {warning}" for warning in rows(document, "warnings")),
        f"  global risk   {document['global_risk']:.4%} "
        f"({document['expected_reidentifications']:,.2f} {unit} expected to be {word})",
        "  in classes    "
        + ", ".join(f"under {k}: {n:,}" for k, n in entries(document, "below").items()),
    ]
    lines += _size_lines(document)
    if document["largest_share"] is not None:
        share = f"{document['largest_share']:.1%} of a class's records are of one person"
        lines.append(f"  at most       {share}")
    for name in ("prosecutor", "journalist"):
        if document[name] is not None:
            average, highest = at(document, name, "average"), at(document, name, "maximum")
            lines.append(f"  {name:<14}{average:.2%} on average, {highest:.2%} at most")
    shares = [
        f"{name} {at(facts, 'contribution'):.1%}"
        for name, facts in entries(document, "columns").items()
    ]
    lines.append("  by column     " + ", ".join(shares))
    lines += attack_lines(rows(document, "attacks"))
    if "gate" in document:
        verdict = "passed" if at(document, "gate", "passed") else "NOT passed"
        lines.append(f"  gate          {verdict}")
    if "profile" in document:
        lines += _profile_lines(document["profile"])
    return lines + [f"  notice        {notice}" for notice in rows(document, "notices")]


def _size_lines(document: dict[str, object]) -> list[str]:
    """Draw how many records stand in classes of which size; a size that none has is left out."""
    unit = "records" if document["persons"] is None else "persons"
    found = []
    for band in rows(document, "sizes"):
        low, high, number = (at(band, key) for key in ("from", "to", "records"))
        name = f"{low}+" if high is None else str(low) if low == high else f"{low}-{high}"
        if number:
            found.append((name, float(str(number)), f"{number:,} records"))
    return bar_lines(f"class of {unit}", found, indent=20)


def _profile_lines(found: object) -> list[str]:
    named = f"{at(found, 'name')}, of {at(found, 'date')}"
    failures = [f"                {each}" for each in rows(found, "failures")]
    word = "NOT passed" if failures else "passed"
    return [f"  profile       {named}: {word}", *failures]
