"""The groups of options that commands share."""

from shoal.cli.options.answer import AnswerOptions, JsonOptions
from shoal.cli.options.columns import ColumnOptions
from shoal.cli.options.groups import Group, Use, command, option
from shoal.cli.options.input import FileOptions, InputOptions, is_url, names, refusal
from shoal.cli.options.method import MethodOptions
from shoal.cli.options.output import CheckOptions, OutputOptions
from shoal.cli.options.promise import PromiseOptions
from shoal.cli.options.releases import ReleasesOptions
from shoal.cli.options.replacing import ReplacingOptions
from shoal.cli.options.report import ReportOptions

__all__ = [
    "AnswerOptions", "CheckOptions", "ColumnOptions", "FileOptions", "Group", "InputOptions",
    "JsonOptions", "MethodOptions", "OutputOptions", "PromiseOptions", "ReleasesOptions",
    "ReplacingOptions", "ReportOptions", "Use",
    "command", "is_url", "names", "option", "refusal",
]  # fmt: skip
