"""Real shells on a terminal of their own: what stands on the line after the tabulator."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOW = "\x07"  # Ctrl-G, which prints the line in <<…>> and clears it
SETUP = {
    "bash": """
        PS1='READY> '; bind 'set enable-bracketed-paste off'
        eval "$(shoal completion bash)"
        bind -x '"\\C-g": printf "<<%s>>\\n" "$READLINE_LINE"; READLINE_LINE='
    """,
    "zsh": """
        PS1='READY> '; autoload -Uz compinit; compinit -D -u
        eval "$(shoal completion zsh)"
        show() { zle -I; print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show; bindkey '^G' show
    """,
    "fish": """
        function fish_prompt; echo 'READY> '; end
        shoal completion fish | source
        bind \\cg 'echo "<<"(commandline)">>"; commandline ""'
    """,
}
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}


def installed(shell: str) -> bool:
    return shutil.which(shell) is not None


def environment(folder: Path) -> dict[str, str]:
    """Return variables by which a shell finds the shoal of this tree, and nobody's settings."""
    command = folder / "bin" / "shoal"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shoal "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return {
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }


class Terminal:
    """A shell on a terminal."""

    def __init__(self, shell: str, folder: Path) -> None:
        variables = environment(folder)
        setup = folder / f"setup.{shell}"
        setup.write_text(SETUP[shell], encoding="utf-8")
        self.seen = ""
        self.child, self.screen = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(START[shell][0], START[shell], variables)
        self._until(r"[$#%>]")
        self.write(f". ./{setup.name}\n")
        self._until(r"READY>[^>]*$")

    def write(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def line_after(self, keys: str) -> str:
        """Type keys; return what then stands on the line; it is cleared."""
        self.seen = ""
        self.write(keys)
        self.write(SHOW)
        return self._until(r"<<(.*?)>>", is_final=True)

    def _until(self, pattern: str, *, is_final: bool = False, seconds: float = 30) -> str:
        """Wait for a text; where it is not final, until nothing more comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([self.screen], [], [], 0.2)
            if ready:
                self.seen += os.read(self.screen, 65536).decode(errors="replace")
                if not is_final:
                    continue
            if found := re.search(pattern, self.seen, re.DOTALL):
                return found[found.re.groups and 1]
        raise TimeoutError(self.seen[-2000:])

    def close(self) -> None:
        os.close(self.screen)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
