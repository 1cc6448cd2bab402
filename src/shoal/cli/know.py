"""The commands `infer` and `risk`."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.core.errors import SchemaError
from shoal.schema.schema import Kind, Role


def infer(
    source: opt.Input,
    max_size: Annotated[
        int, typer.Option("--max-size", metavar="N", help="Largest set of columns.")
    ] = 5,
    seconds: Annotated[float, typer.Option(metavar="S", help="Time for the search of sets.")] = 60,
    threshold: Annotated[
        float, typer.Option(metavar="BITS", help="Residual entropy under which a set identifies.")
    ] = 1.0,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Do as a rule says: hipaa-safe-harbor.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Day that decides ages.")
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Schema to edit (YAML).")] = None,
    prepared: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --preset: the table after its steps.")
    ] = None,
    table: opt.Table = None,
    query: opt.Query = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
) -> int:
    """Say which columns identify people, and propose a schema."""
    from shoal import api
    from shoal.cli.render import as_json

    if prepared is not None and preset is None:
        raise SchemaError(where="infer", faults=["--prepared goes with --preset"])
    place = opt.file_of(source, encoding, skip_lines)
    asked = opt.input_of(place, table, query, engine, master)
    if engine == "spark" and preset is not None:
        raise SchemaError(where="--engine", faults=["--preset needs the local engine"])
    found = api.infer(asked, max_size=max_size, seconds=seconds, threshold=threshold, separator=sep)
    notices = list(found.notices())
    if preset is not None:
        notices += api.write_preset(
            asked, found, preset, as_of=_day(as_of), schema_out=out, table_out=prepared,
            separator=sep,
        )  # fmt: skip
    elif out is not None:
        api.write_schema(found, out, inputs=(source,))
    document = found.to_document()
    if json:
        print(as_json(document))
        return 0
    print(_columns(document))
    for notice in notices:
        print(f"notice: {notice}")
    for written in (out, prepared):
        if written is not None:
            print(f"written: {written}")
    return 0


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise SchemaError(where="--as-of", faults=["must be a day such as 2026-01-31"]) from None


def _columns(document: dict[str, Any]) -> str:
    width = max(len(name) for name in document["columns"]) + 2
    lines = [f"{document['records']:,} records"]
    for name, facts in document["columns"].items():
        sure = f"{facts['confidence']:.0%}"
        lines.append(
            f"  {name:<{width}}{facts['role']:<13}{facts['kind']:<13}{sure:>4}  {facts['why']}"
        )
    sets = document["sets"]
    if sets:
        lines.append("sets of columns that identify (residual entropy, distinction, separation):")
    for found in sets[:12]:
        numbers = (
            f"{found['residual_entropy']:.2f} bits, {found['distinction']:.1%}, "
            f"{found['separation']:.2%}"
        )
        lines.append(f"  {', '.join(found['columns'])}: {numbers}")
    if len(sets) > 12:
        lines.append(f"  … and {len(sets) - 12} more (see --json)")
    return "\n".join(lines)


def risk(
    source: opt.Input,
    schema: opt.SchemaFile = None,
    qi: opt.Quasi = None,
    sensitive: opt.Sensitive = None,
    identifying: opt.Identifying = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Date = None,
    date_format: opt.DateFormat = None,
    dates: opt.Dates = None,
    hierarchies: opt.Hierarchies = None,
    missing: opt.Missing = None,
    population: Annotated[
        str | None, typer.Option(metavar="FILE", help="Everybody the records may come from.")
    ] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option("--sampling-fraction", metavar="X", help="… or the share here.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="… or the sampling weights.")
    ] = None,
    household: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Who lives together.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="Largest set for special uniques.")
    ] = None,
    max_risk: Annotated[
        float | None, typer.Option("--max-risk", metavar="X", help="Gate: exit code 1 above it.")
    ] = None,
    gate: Annotated[str, typer.Option(metavar="WHAT", help="maximum or average.")] = "maximum",
    release: Annotated[
        str | None, typer.Option(metavar="FILE", help="A release of INPUT: attack both.")
    ] = None,
    register: Annotated[
        str | None, typer.Option(metavar="FILE", help="What the attacker holds from outside.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Who is who in the register.")
    ] = None,
    attacks: Annotated[bool, typer.Option("--attacks", help="Carry out every attack.")] = False,
    table: opt.Table = None,
    query: opt.Query = None,
    engine: opt.Engine = "local",
    master: opt.Master = None,
    sep: opt.Sep = None,
    encoding: opt.Encoding = None,
    skip_lines: opt.SkipLines = 0,
    json: opt.Json = False,
) -> int:
    """Measure how easily people are found in a table as it stands."""
    from shoal import api
    from shoal.cli.render import as_json

    if release is None and (register is not None or attacks):
        raise SchemaError(where="risk", faults=["--register and --attacks go with --release FILE"])
    read = opt.read_schema(
        schema,
        {Role.QUASI: qi, Role.SENSITIVE: sensitive, Role.IDENTIFYING: identifying},
        {Kind.NUMERIC: numeric, Kind.CATEGORICAL: categorical, Kind.DATE: date},
        hierarchies=hierarchies,
        missing=missing,
    )
    read = opt.with_dates(read, date_format, dates)
    place = opt.file_of(source, encoding, skip_lines)
    asked = opt.input_of(place, table, query, engine, master)
    if engine == "spark" and release is not None:
        raise SchemaError(where="--engine", faults=["attacks need the local engine"])
    everybody: object = population
    if engine == "spark" and population is not None:
        everybody = opt.input_of(population, None, None, engine, master)
    found = api.risk(
        asked, read, population=everybody, sampling_fraction=sampling_fraction, weights=weights,
        household=household, max_size=max_size, separator=sep,
    )  # fmt: skip
    document = found.to_document()
    if release is not None:
        made = api.attack(
            asked, release, read, register=register, key=key, everything=attacks, separator=sep
        )
        document["attacks"] = [each.to_document() for each in made]
    passed = True if max_risk is None else found.within(max_risk, measure=gate)
    if max_risk is not None:
        document["gate"] = {"measure": gate, "max_risk": max_risk, "passed": passed}
    print(as_json(document) if json else _risk(document))
    return 0 if passed else 1


def _risk(document: dict[str, Any]) -> str:
    below = document["below"]
    word = "re-identified" if document["repeats"] is None else "found, were each another person's"
    lines = [
        f"{document['records']:,} records in {document['classes']:,} classes, "
        f"{document['unique']:,} unique",
        *(f"  WARNING       {warning}" for warning in document["warnings"]),
        f"  global risk   {document['global_risk']:.4%} "
        f"({document['expected_reidentifications']:,.2f} records expected to be {word})",
        "  in classes    " + ", ".join(f"under {k}: {n:,}" for k, n in below.items()),
        f"  prosecutor    {document['prosecutor']['average']:.2%} on average, "
        f"{document['prosecutor']['maximum']:.2%} at most",
    ]
    if document["journalist"] is not None:
        lines.append(
            f"  journalist    {document['journalist']['average']:.2%} on average, "
            f"{document['journalist']['maximum']:.2%} at most"
        )
    lines.append("  by column     " + ", ".join(
        f"{name} {facts['contribution']:.1%}" for name, facts in document["columns"].items()
    ))  # fmt: skip
    lines += attack_lines(document.get("attacks", []))
    if "gate" in document:
        verdict = "passed" if document["gate"]["passed"] else "NOT passed"
        lines.append(f"  gate          {verdict}")
    lines += [f"  notice        {notice}" for notice in document["notices"]]
    return "\n".join(lines)


def attack_lines(attacks: list[dict[str, Any]]) -> list[str]:
    """Return a line for each attack: how often it is right before and after, and by guessing."""
    if not attacks:
        return []
    width = max(len(each["attack"]) for each in attacks) + 2
    lines = [f"  {'attack':<{width}}before    after  guessing"]
    for each in attacks:
        before, after = each["before"], each["after"]
        lines.append(
            f"  {each['attack']:<{width}}{before['success']:>6.1%}  {after['success']:>6.1%}"
            f"    {after['baseline']:>6.1%}"
        )
    return lines


def risk_lines(
    before: dict[str, Any], after: dict[str, Any], *, records: bool = False
) -> list[str]:
    """Return every risk of a table and of its release, side by side.

    records: people have several of them, so that these are no risks of people.
    """
    rows: list[tuple[str, str, str]] = []

    def add(name: str, *path: str, share: bool = True) -> None:
        pair = [_at(document, path) for document in (before, after)]
        if pair[0] is not None:
            texts = ["-" if x is None else f"{x:.2%}" if share else f"{x:,.6g}" for x in pair]
            rows.append((name, texts[0], texts[1]))

    add("prosecutor, highest", "prosecutor", "maximum")
    add("prosecutor, average", "prosecutor", "average")
    add("journalist, highest", "journalist", "maximum")
    add("journalist, average", "journalist", "average")
    add("smallest in population", "population", "smallest_class", share=False)
    add("marketer", "marketer", "average")
    add("individual, highest", "individual", "maximum")
    add("individual, average", "individual", "average")
    add("records above 5 %", "individual", "high_risk_records", share=False)
    add("records below 5 alike", "below", "5", share=False)
    add("expected to be found", "expected_reidentifications", share=False)
    add("household, highest", "household", "maximum")
    add("household, average", "household", "average")
    add("special uniques", "special_uniques", "records", share=False)
    width = max(len(row[0]) for row in rows) + 2
    head = "risk of records" if records else "risk"
    lines = [f"  {head:<{width}}{'before':>10}{'after':>12}"]
    return lines + [f"  {name:<{width}}{old:>10}{new:>12}" for name, old, new in rows]


def _at(document: dict[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = document
    for key in path:
        found = None if found is None else found.get(key)
    return found
