"""The command `completion`: a shell is told how a command line may go on.

`shoal completion bash` prints a script. What it defines asks `shoal completion bash -- …` whenever
somebody presses the tabulator, and is answered by `shoal.cli.complete`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import typer

from shoal.cli import complete as proposals
from shoal.cli import options as opt
from shoal.core.suggest import did_you_mean

# Words are cut by the shell's own rules (COMP_WORDBREAKS), which break --set effort=best at the
# equals sign; so the whole line is handed over, and what comes back begins where bash's word does.
_BASH = r"""
# Completion of shoal in bash 4 and newer:  eval "$(shoal completion bash)"
_shoal_complete() {
    local line mode=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $mode ]]; then mode=$line; else COMPREPLY+=("$line"); fi
    done < <("$1" completion bash -- "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    case $mode in
        files) compopt -o default 2>/dev/null ;;
        folders) compopt -o dirnames 2>/dev/null ;;
        open) compopt -o nospace 2>/dev/null ;;
    esac
}
complete -F _shoal_complete shoal
"""

_ZSH = r"""
#compdef shoal
# Completion of shoal in zsh, after compinit:  eval "$(shoal completion zsh)"
_shoal() {
    local -a lines found shown
    local line
    lines=("${(@f)$("${(Q)words[1]}" completion zsh -- "${(@Q)words[1,CURRENT-1]}" \
        "${(Q)PREFIX}" 2>/dev/null)}")
    case $lines[1] in
        files) compset -P '--*='; _files; return ;;
        folders) compset -P '--*='; _files -/; return ;;
    esac
    for line in "${(@)lines[2,-1]}"; do
        found+=("${line%%$'\t'*}")
        if [[ $line == *$'\t'* ]]; then
            shown+=("${(r:24:)line%%$'\t'*} ${line#*$'\t'}")
        else
            shown+=("$line")
        fi
    done
    (( $#found )) || return 1
    if [[ $lines[1] == open ]]; then
        compadd -S '' -l -d shown -a found
    else
        compadd -l -d shown -a found
    fi
}
if (( $+functions[compdef] )); then compdef _shoal shoal; fi
if [[ $funcstack[1] == _shoal ]]; then _shoal; fi
"""

_FISH = r"""
# Completion of shoal in fish:  shoal completion fish | source
function __shoal_complete
    set -l token (string unescape -- (commandline -ct | string replace -r '^["\']' ''))
    set -l words (commandline -opc)
    set -l lines ($words[1] completion fish -- $words "$token" 2>/dev/null)
    set -l head (string match -r -- '^--[^=]+=' "$token")
    set -l rest (string replace -r -- '^--[^=]+=' '' "$token")
    switch "$lines[1]"
        case files
            for path in (__fish_complete_path "$rest")
                echo "$head$path"
            end
        case folders
            for path in (__fish_complete_directories "$rest")
                echo "$head$path"
            end
        case '*'
            set -e lines[1]
            test (count $lines) -gt 0; and printf '%s\n' $lines
    end
end
complete -c shoal -f -a '(__shoal_complete)'
"""

SCRIPTS = {"bash": _BASH.lstrip(), "zsh": _ZSH.lstrip(), "fish": _FISH.lstrip()}
_SPECIAL = frozenset(" \t\"'\\$`&|;<>()*?[]#~!{}")  # what bash would not take as it is


@opt.command(
    examples="""
    # this shell; for every one, put the line into ~/.bashrc
    eval "$(shoal completion bash)"
    # zsh, in ~/.zshrc behind compinit
    eval "$(shoal completion zsh)"
    # fish, once
    shoal completion fish > ~/.config/fish/completions/shoal.fish
    """
)
def completion(
    context: typer.Context,
    shell: Annotated[
        str,
        typer.Argument(
            metavar="bash|zsh|fish",
            help="The shell that the script is for.",
            rich_help_panel="Input",
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORDS]",
            help="Behind --: what was typed so far; how it may go on is printed.",
            rich_help_panel="Input",
        ),
    ] = None,
) -> int:
    """Print a script that completes command lines: options, methods, columns of the table."""
    if shell not in SCRIPTS:
        meant = did_you_mean(shell, list(SCRIPTS), before=", ") or ";"
        raise opt.refusal("completion", f"no shell {shell!r}{meant} there are bash, zsh and fish")
    if not words:
        print(SCRIPTS[shell], end="")
        return 0
    root = cast("proposals.Command", context.find_root().command)
    answer = _answered(root, shell, words)
    print("\n".join(answer))
    return 0


def _answered(root: proposals.Command, shell: str, words: Sequence[str]) -> list[str]:
    """Return the lines that a shell is answered; none where anything goes wrong."""
    try:
        if shell != "bash":
            return proposals.complete(root, words).lines()
        breaks, text = words[0], words[-1]
        line = Typed.read(text, breaks)
        mode, found = proposals.complete(root, line.words)
        return [mode, *(line.rest_of(each.word) for each in found)]
    except Exception:  # somebody is typing: whatever it is, the command itself will say it
        return []


@dataclass
class Typed:
    """A line of bash up to the cursor, cut into words as bash would.

    Attributes:
        words: without their quotes; the last one is begun, and may be empty.
        quote: the quote that is open at the cursor.
        cut: how many characters of the begun word stand before what bash replaces.
    """

    words: list[str]
    quote: str = ""
    cut: int = 0

    @classmethod
    def read(cls, text: str, breaks: str) -> Typed:
        """Read a line. breaks: the characters at which bash begins a word of its own."""
        typed, word, is_escaped = cls([]), None, False
        for mark in text:
            if is_escaped or (typed.quote and mark != typed.quote):
                word, is_escaped = (word or "") + mark, False
            elif mark == "\\" and typed.quote != "'":
                word, is_escaped = word or "", True
            elif mark in "\"'":
                word = word or ""
                typed.quote = "" if typed.quote else mark
                typed.cut = len(word)
            elif mark in " \t\n":
                if word is not None:
                    typed.words.append(word)
                word, typed.cut = None, 0
            else:
                word = (word or "") + mark
                if mark in breaks:
                    typed.cut = len(word)
        typed.words.append(word or "")
        return typed

    def rest_of(self, word: str) -> str:
        """Return the part of a proposed word that bash puts in, quoted where it must be."""
        rest = word[self.cut :]
        if self.quote:
            return rest
        return "".join(f"\\{mark}" if mark in _SPECIAL else mark for mark in rest)
