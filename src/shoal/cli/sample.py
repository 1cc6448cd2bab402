"""The command `sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt


@opt.command(
    examples="""
    # a made-up register of hospital stays, with its schema
    shoal sample hospital --records 5000 --out hospital.csv
    # the same as linked tables: patients, stays, prescriptions
    shoal sample hospital --linked --records 1000 --out hospital
    # a sample of a table in which every sex keeps its share; it is raw data
    shoal sample proportional --from stays.csv --by sex --records 100 \\
        --out part.csv
    """
)
def sample(
    which: Annotated[
        str,
        typer.Argument(
            metavar="hospital|zipf|proportional",
            help="Which table to make.",
            rich_help_panel="Input",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The table (.csv, .parquet …).", rich_help_panel="Output"
        ),
    ],
    files: opt.FileOptions,
    answer: opt.JsonOptions,
    records: Annotated[
        int, typer.Option(metavar="N", help="Number of records.", rich_help_panel="Method")
    ] = 10_000,
    seed: Annotated[
        int, typer.Option(metavar="S", help="Same seed, same bytes.", rich_help_panel="Method")
    ] = 0,
    exponent: Annotated[
        float, typer.Option(help="zipf: the exponent; 0 is uniform.", rich_help_panel="Method")
    ] = 1.0,
    attributes: Annotated[
        int, typer.Option(help="zipf: number of columns.", rich_help_panel="Method")
    ] = 16,
    values: Annotated[
        int, typer.Option(help="zipf: values per column.", rich_help_panel="Method")
    ] = 16,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files.", rich_help_panel="Output")
    ] = False,
    linked: Annotated[
        bool,
        typer.Option(
            "--linked",
            help="hospital: a folder of linked tables; N is the number of patients.",
            rich_help_panel="Method",
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="INPUT", help="proportional: the table.", rich_help_panel="Input"
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="proportional: columns whose values keep their share.",
            rich_help_panel="Method",
        ),
    ] = None,
) -> int:
    """Write a made-up table with its schema and hierarchies, or a sample of a table (raw data)."""
    from shoal import api

    if which == "proportional":
        if source is None or not opt.names(by):
            raise opt.refusal("sample", "proportional needs --from INPUT and --by COLUMN")
        if Path(out).exists() and not overwrite:
            raise opt.refusal(out, "is there already; --overwrite replaces it")
        drawn = api.sample_proportionally(
            files.file(source), opt.names(by), records, out=out, seed=seed, separator=files.sep
        )
        text = f"{drawn:,} records in {out}; they are raw data"
        answer.print({"table": out, "records": drawn}, text)
        return 0
    if which not in ("hospital", "zipf"):
        raise opt.refusal("sample", "there are two samples, hospital and zipf, and proportional")
    if source or by or files != opt.FileOptions():
        text = "--from, --by, --sep, --encoding and --skip-lines go with proportional"
        raise opt.refusal("sample", text)
    if linked:
        return _linked(which, out, records, seed, answer, overwrite=overwrite)
    made = api.sample(
        which, out, records=records, seed=seed, overwrite=overwrite,
        exponent=exponent, attributes=attributes, values=values,
    )  # fmt: skip
    document = {"table": str(made.table), "schema": str(made.schema), "records": records}
    answer.print(document, f"{records:,} records in {made.table}, their schema in {made.schema}")
    return 0


def _linked(
    which: str, out: str, records: int, seed: int, answer: opt.JsonOptions, *, overwrite: bool
) -> int:
    """Write the hospital sample as linked tables."""
    from shoal.api import linked_sample

    if which != "hospital":
        raise opt.refusal("--linked", "goes with hospital")
    if overwrite:
        raise opt.refusal("--overwrite", "not with --linked: a folder is never replaced")
    made = linked_sample(out, patients=records, seed=seed)
    told = ", ".join(f"{number:,} {name}" for name, number in made.rows.items())
    document = {"folder": str(made.folder), "schema": str(made.schema), "tables": made.rows}
    answer.print(document, f"{told} in {made.folder}, their schema in {made.schema}")
    return 0
