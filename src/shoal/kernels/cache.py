"""Keeps the compiled kernels honest: `python -m shoal.kernels.cache`.

Numba invalidates a cached function when its own file changes, not when a
function that it calls in another file does: a wrong result was seen. So all
cached kernels go as soon as one kernel file is newer than one of them.
"""

from __future__ import annotations

from pathlib import Path


def drop_stale() -> int:
    """Remove every cached kernel if any kernel file is newer than the oldest; return how many.

    Guarantee:
        What remains was compiled from the files as they are now.
    """
    folder = Path(__file__).parent
    sources = [path.stat().st_mtime for path in folder.glob("*.py")]
    cached = [*folder.glob("__pycache__/*.nbi"), *folder.glob("__pycache__/*.nbc")]
    if not cached or max(sources) < min(path.stat().st_mtime for path in cached):
        return 0
    for path in cached:
        path.unlink(missing_ok=True)
    return len(cached)


if __name__ == "__main__":
    removed = drop_stale()
    if removed:
        print(f"removed {removed} files of stale compiled kernels")
