"""The commands `releases …`: what went out of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from shoal.cli import options as opt

if TYPE_CHECKING:
    from shoal.core.release_ledger import LedgerEntry

releases = typer.Typer(
    no_args_is_help=True, help="List and show the releases in a ledger.", add_completion=False
)


@dataclass(frozen=True, kw_only=True)
class LedgerOptions(opt.Group):
    """Which ledger."""

    panel: ClassVar[str] = "Input"

    ledger: str | None = opt.option(None, "What anonymize --ledger wrote.", "FILE")

    @property
    def place(self) -> str:
        """Return the ledger; there must be one."""
        if not self.ledger:
            raise opt.refusal("options", "name the ledger: --ledger FILE")
        return self.ledger


@releases.command("list")
@opt.command(
    examples="""
    shoal releases list --ledger releases.db
    """
)
def list_releases(kept: LedgerOptions, answer: opt.JsonOptions) -> int:
    """List what went out, oldest first."""
    from shoal.jobs.ledger import releases as read

    found = read(kept.place)
    lines = [_line(each) for each in found]
    documents = [{k: v for k, v in e.to_document().items() if k != "request"} for e in found]
    answer.print({"releases": documents}, "\n".join(lines) or "nothing was released yet")
    return 0


@releases.command("show")
@opt.command(
    examples="""
    # with the request that repeats it
    shoal releases show 1 --ledger releases.db
    """
)
def show(
    kept: LedgerOptions,
    answer: opt.JsonOptions,
    number: Annotated[
        str, typer.Argument(metavar="NUMBER", help="The release.", rich_help_panel="Input")
    ],
) -> int:
    """Show one release: what was promised, and what was asked for."""
    from shoal.core.documents import to_yaml
    from shoal.jobs.ledger import release_entry

    found = release_entry(kept.place, number)
    kind = "a key" if found.is_key else "the whole record"
    lines = [
        _line(found),
        f"  {'recoded':<12}{', '.join(found.quasi)}",
        f"  {'shown':<12}{', '.join(found.shown) or 'nothing else'}",
        f"  {'recognised':<12}by {kind}: {', '.join(found.identity)}",
        *([f"  {'over time':<12}{_over_time(found.over_time)}"] if found.over_time else []),
        *([f"  {'WAIVED':<12}beside {_numbers(found.waived)}"] if found.waived else []),
        "request:",
        *(f"  {line}" for line in to_yaml(found.request).splitlines()),
    ]
    answer.print(found.to_document(), "\n".join(lines))
    return 0


def _over_time(found: Mapping[str, object]) -> str:
    """Say what a release over time keeps."""
    after = found["after"]
    assert isinstance(after, list)
    where = f"after {_numbers(after)}" if after else "the first of its series"
    return f"m {found['m']} for {found['column']}, {found['counterfeits']:,} counterfeits, {where}"


def _numbers(numbers: list[int]) -> str:
    return "release " + ", ".join(map(str, numbers))


def _line(found: LedgerEntry) -> str:
    """Say in a line what went out when, and under which promise."""
    promises = ", ".join(_promise(each) for each in found.promise)
    state = "" if found.state == "published" else "  (begun; may have been published)"
    waived = f"  WAIVED beside {_numbers(found.waived)}" if found.waived else ""
    return (
        f"{found.number:>4}  {found.at[:16].replace('T', ' ')}  {found.name or '(in memory)':<20}  "
        f"{found.released:,} of {found.records:,} records, {found.classes:,} classes, smallest "
        f"{found.smallest_class:,}  {promises}{waived}{state}"
    )


def _promise(document: Mapping[str, object]) -> str:
    """Return a promise without values that it may name."""
    words = [f"{k} {v}" for k, v in document.items() if k not in ("model", "values")]
    return " ".join([str(document["model"]), *words])
