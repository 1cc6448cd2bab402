"""Scripts for other tools that do the nearest thing to a schema, to compare with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from shoal.core.errors import OutputError, SchemaError
from shoal.engines.local.source import open_source
from shoal.engines.local.write import write_text
from shoal.formats.exporters.sdcmicro import ScriptRequest, to_sdcmicro
from shoal.hierarchies.read import to_csv
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.hierarchy import ColumnValues
from shoal.schema.attribute import Attribute, Role
from shoal.schema.schema import Schema

TOOLS = ("sdcmicro",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What is written.

    Attributes:
        table: a CSV file of UTF-8; R reads it as it is.
        out: the script; hierarchies are written beside it, so that R finds them.
    """

    table: str | Path
    schema: Schema
    out: str | Path
    tool: str = "sdcmicro"
    separator: str | None = None


def export_script(request: ExportRequest) -> tuple[str, ...]:
    """Write the script and what it reads; return the names of the files.

    Raises:
        SchemaError: the schema does not fit the table, or the tool is not known.
        OutputError: the script does not end in .R, or would replace the table.
    """
    if request.tool not in TOOLS:
        raise SchemaError(where="--to", faults=[f"must be one of {', '.join(TOOLS)}"])
    out = Path(request.out)
    if out.suffix.lower() != ".r":
        raise OutputError(where=str(out), problem="is a script of R; name it NAME.R")
    source = open_source(request.table, separator=request.separator)
    if source.format != "csv":
        problem = "R reads a CSV file of UTF-8; write the table as one first"
        raise SchemaError(where=source.where, faults=[problem])
    schema = request.schema.fit(source.columns, where=source.where)
    schema = schema.with_attributes(_built(request, each) for each in schema.attributes)
    trees = {
        each.name: each.hierarchy
        for each in schema.attributes
        if each.role is Role.QUASI and isinstance(each.hierarchy, Hierarchy)
    }
    files = {
        name: f"{out.stem}_hierarchy_{number}.csv" for number, name in enumerate(trees, start=1)
    }
    script = to_sdcmicro(
        ScriptRequest(
            schema=schema,
            table=str(request.table),
            separator=source.separator,
            release=f"{out.stem}_release.csv",
            hierarchies=files,
        )
    )
    inputs = (request.table,)
    for name, tree in trees.items():
        write_text(out.with_name(files[name]), to_csv(tree), inputs=inputs)
    write_text(out, script, inputs=inputs)
    return (out.name, *files.values())


def _built(request: ExportRequest, attribute: Attribute) -> Attribute:
    """Return a column with its hierarchy as a tree: R knows no builder."""
    if attribute.hierarchy is None or isinstance(attribute.hierarchy, Hierarchy):
        return attribute
    values = ColumnValues(
        table=request.table, column=attribute.name, separator=request.separator,
        missing=request.schema.missing,
    )  # fmt: skip
    return replace(attribute, hierarchy=attribute.hierarchy.build(attribute.name, values.texts()))
