"""What `anonymize --method xk` and `recommend` share: the options of xk-anonymity."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import typer

from shoal.cli import options as opt
from shoal.cli.render import role_rows, warning_lines
from shoal.core.documents import read_document
from shoal.jobs.requests import Output, XkRequest, k_of
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.api import Choices
    from shoal.jobs.xk import XkRelease

# What `anonymize --method xk` honours beside its own; -k and --l make a promise that it can keep.
HONOURED = (
    "source", "out", "report", "table", "query", "schema", "qi", "sensitive", "identifying",
    "neutral", "person", "person_file", "waive", "numeric", "categorical", "date", "hierarchies",
    "missing", "fold_case", "k", "l", "l_kind", "replace_promise", "method", "suppression_limit",
    "seed", "threads", "sep", "encoding", "skip_lines", "spreadsheet_safe", "json", "quiet",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class XkOptions(opt.Group):
    """How pairs are filled with false records."""

    panel: ClassVar[str] = "xk-anonymity"

    xk: int | None = opt.option(None, "xk itself (default: the recommended one).")
    techniques: str = opt.option(
        "none", "xk: g generalize, c suppress cells, s blank sensitive.", "gcs"
    )
    ranking: str | None = opt.option(None, "xk: quasi-identifiers by importance.", "A,B")
    generalize: str | None = opt.option(None, "xk: column to generalize.", "COLUMN")
    suppress_cells: str | None = opt.option(None, "xk: column to suppress in.", "COLUMN")
    level: int = opt.option(1, "xk: steps a generalized cell climbs.", "N")
    gradual: bool = opt.option(False, "xk: introduce quasi-identifiers one by one.")
    false_records: str | None = opt.option(
        None, "xk, and --after: which rows are false; stays inside.", "FILE"
    )
    steps: str | None = opt.option(
        None, "xk: pairs and table after each step; RAW DATA, stays inside.", "DIR"
    )

    def choices(
        self,
        columns: opt.ColumnOptions,
        limit: float | None,
        *,
        prefer: str = "none",
        min_precision: float | None = None,
    ) -> Choices:
        """Return the choices that the options stand for.

        limit: the suppression limit of the flag.
        """
        from shoal.api import Choices, Techniques

        return Choices(
            techniques=Techniques.parse(self.techniques),
            preference=prefer,
            minimum_precision=min_precision,
            ranking=opt.names(self.ranking),
            generalized=self.generalize,
            suppressed=self.suppress_cells,
            level=self.level,
            gradual=self.gradual,
            marks=None if columns.missing is None else opt.names(columns.missing),
            suppression_limit=_stated(columns.schema) if limit is None else limit,
        )

    def release(
        self,
        place: opt.InputOptions,
        schema: Schema,
        choices: Choices,
        *,
        output: Output,
        seed: int,
    ) -> XkRelease:
        """Carry it out."""
        from shoal.jobs.xk import release_xk

        request = XkRequest(
            table=place.input(), schema=schema, k=k_of(schema), output=output,
            xk=self.xk, choices=choices, seed=seed, separator=place.sep,
            false_records=self.false_records, steps=self.steps,
        )  # fmt: skip
        return release_xk(request)


OWN = tuple(each.name for each in fields(XkOptions))


def _stated(schema: str | None) -> float | None:
    """Return the suppression limit that a schema file states: 0 is one, too."""
    document = None if schema is None else read_document(schema)
    stated = document.get("suppression_limit") if isinstance(document, dict) else None
    return stated if isinstance(stated, (int, float)) else None


def given(context: typer.Context, *, among: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the options that were given on the command line, by name, as they are written."""
    return {
        str(each.name): max(each.opts, key=len)
        for each in context.command.params
        if (source := context.get_parameter_source(str(each.name))) is not None
        and source.name == "COMMANDLINE"
        and (not among or each.name in among)
    }


def check_options(context: typer.Context, method: opt.MethodOptions) -> None:
    """Refuse what `anonymize` would ignore: xk's own options elsewhere, all others with xk.

    Threads are limited, too, before anything is loaded that starts some.
    """
    found = given(context)
    method.limit_threads()
    if method.method == "xk":
        ignored = [option for name, option in found.items() if name not in (*OWN, *HONOURED)]
        why = "not with --method xk, which keeps k-anonymity and distinct l-diversity only"
    else:
        shared = ("false_records",) if "after" in found else ()
        ignored = [o for name, o in found.items() if name in OWN and name not in shared]
        why = "goes with --method xk" if len(ignored) == 1 else "go with --method xk"
    if ignored:
        raise opt.refusal("options", f"{', '.join(ignored)}: {why}")


def applied_lines(done: XkRelease) -> list[str]:
    """Say what was carried out, what must not be overlooked second, the columns last."""
    head, *rest = done.outcome.summary()
    roles = [f"  {name:<12}{text}" for name, text in role_rows(done.roles)]
    return [head, *warning_lines(done.warnings), *rest, *roles]
