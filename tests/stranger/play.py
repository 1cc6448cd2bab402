"""Lets shoal make releases of random tables, and the judge look at each.

    python -m tests.stranger.play --releases 10000 --first 0

A refusal is fine where it is one on purpose (a ShoalError with exit code 1 or 2) and leaves
nothing behind. Everything else is written down with the seed that shows it again.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import signal
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.stranger import judge
from tests.stranger.tables import as_csv, as_records, make_case

import shoal
from shoal import api, edge
from shoal.cli.main import main as main_command
from shoal.core.errors import UnsafeReleaseError

METHODS = sorted(method.name for method in api.methods())
WAYS = ("anonymize", "command", "encode", "edge")
TELLING = ("café au lait", "Ménière", "D-10115", "12 kg", "#REF!", "13.09.1967", "c, d", 'e"f')


class Tally:
    """What came of it."""

    def __init__(self):
        self.releases = Counter()  # by way
        self.refusals = Counter()  # by way and kind of error
        self.violations = []  # (seed, way, method, what)
        self.stopped = []  # releases that shoal's own verification stopped
        self.strange = []  # errors that nobody meant

    def __str__(self):
        lines = [f"{sum(self.releases.values())} releases judged: {dict(self.releases)}"]
        lines.append(f"{sum(self.refusals.values())} refused: {dict(self.refusals)}")
        lines += [f"VIOLATION {each}" for each in self.violations]
        lines += [f"STOPPED {each}" for each in self.stopped]
        lines += [f"BUG {each}" for each in self.strange]
        lines.append(f"{len(self.violations)} violations, {len(self.strange)} bugs")
        return "\n".join(lines)


def schema_document(case):
    return {
        "columns": case["columns"], "missing": case["missing"], "privacy": case["promise"],
        "suppression_limit": case["suppression_limit"], "waive": case["waive"],
    }  # fmt: skip


def schema_of(case):
    return shoal.Schema.from_document(schema_document(case))


def facts_of(case, rows):
    """Return what the judge is told: plain data, with trees as trees and what must not get out."""
    columns = {}
    for name, entry in case["columns"].items():
        tree = entry.get("hierarchy", {}).get("tree")
        columns[name] = {**entry, "tree": None if tree is None else as_tree(tree)}
    places = {name: place for place, name in enumerate(case["columns"])}
    secrets = [row[places[name]] for name in ("name",) if name in places for row in rows]
    told = [name for name, entry in columns.items() if entry["role"] == "sensitive"]
    behind = [[row[places[n]] for n in ("who", *told)] for row in rows] if "who" in places else []
    return {**case, "columns": columns, "secrets": secrets, "behind": behind}


def as_tree(entry):
    if isinstance(entry, dict):
        return {label: as_tree(below) for label, below in entry.items()}
    return {label: {} for label in entry}


def play(seed, folder, tally):
    """Make one release, if shoal agrees to, and judge it."""
    case = make_case(seed)
    way = WAYS[seed % len(WAYS)]
    method = METHODS[seed // len(WAYS) % len(METHODS)]
    for old in folder.iterdir():
        old.unlink()
    out = folder / f"o.{case['form']}"
    (folder / "t.csv").write_bytes(as_csv(case, case["rows"]))
    (folder / "b.csv").write_bytes(as_csv(case, case["batch"]))
    try:
        content, form, released, rows, who = WORK[way](case, method, folder, out)
    except shoal.ShoalError as error:
        tally.refusals[f"{way}: {type(error).__name__}"] += 1
        if any(
            value in str(error) for value in (*TELLING, *facts_of(case, case["rows"])["secrets"])
        ):
            tally.strange.append((seed, way, method, "the message holds a value of the data"))
        if isinstance(error, UnsafeReleaseError):
            tally.stopped.append((seed, way, method))
        if error.exit_code not in (1, 2):
            tally.strange.append((seed, way, method, f"exit code {error.exit_code}"))
        left = [path.name for path in folder.iterdir() if path.name not in ("t.csv", "b.csv")]
        if left:
            tally.strange.append((seed, way, method, "something was left behind"))
        return
    except Exception as error:
        tally.strange.append((seed, way, method, f"{type(error).__name__}: {error}"[:300]))
        return
    tally.releases[way] += 1
    for fault in judge.faults(content, form, facts_of(case, rows), released=released, who=who):
        tally.violations.append((seed, way, method, fault))


def persons_in(case, folder):
    """Return where who stands behind each record is kept; None: the table has no persons."""
    return folder / "who.csv" if "who" in case["columns"] else None


def behind(file):
    """Return who stands behind each record of a release: a header, and a line a record."""
    if file is None:
        return None
    return [line[0] for line in csv.reader(file.read_text("utf-8").splitlines())][1:]


def by_anonymize(case, method, folder, out):
    who = persons_in(case, folder)
    options = {"method": method, "suppressed": case["suppressed"], "threads": 1,
        "release": "aggregate" if case["chance"] < 0.1 else None,
        "partitions": 2 if 0.1 <= case["chance"] < 0.2 else None,
        "keep_order": case["chance"] > 0.8, "labels": case["labels"], "person_file": who,
        "utility": case["utility"]}  # fmt: skip
    made = api.anonymize(folder / "t.csv", schema_of(case), out=out, **options)
    return out.read_bytes(), case["form"], made.report.released, case["rows"], behind(who)


def by_command(case, method, folder, out):
    """Release through the command line; what it refuses is raised as an error of its code."""
    schema, who = folder / "s.json", persons_in(case, folder)
    schema.write_text(json.dumps(schema_document(case)), encoding="utf-8")
    words = ["anonymize", folder / "t.csv", "--schema", schema, "--out", out, "--method", method,
             "--suppressed", case["suppressed"], "--sep", case["separator"], "--json",
             "--labels", case["labels"], *(["--person-file", who] if who else [])]  # fmt: skip
    said, told = io.StringIO(), io.StringIO()
    before = signal.getsignal(signal.SIGTERM)
    try:
        with redirect_stdout(said), redirect_stderr(told):
            code = main_command([str(word) for word in words])
    finally:
        signal.signal(signal.SIGTERM, before)
        schema.unlink()
    if code:
        error = shoal.ShoalError(problem=told.getvalue() + said.getvalue())
        error.exit_code = code
        raise error
    released = json.loads(said.getvalue())["released"]
    return out.read_bytes(), case["form"], released, case["rows"], behind(who)


def learned(case, method, folder):
    options = {"method": method, "threads": 1, "labels": case["labels"]}
    return api.learn(folder / "t.csv", schema_of(case), **options)


def by_encode(case, method, folder, out):
    who = persons_in(case, folder)
    choices = {"on_unseen": case["on_unseen"], "suppressed": case["suppressed"], "person_file": who}
    model = learned(case, method, folder)
    done = api.encode(folder / "b.csv", model, out=out, safe=True, **choices)
    return out.read_bytes(), case["form"], done.report.released, case["batch"], behind(who)


def by_edge(case, method, folder, out):
    """Release what a device would. It keeps the order, and so the persons if nothing is left out.

    Where persons count, suppressed records are released as the root, if that is safe: otherwise
    nobody but the device knows whose records are left, and only what has no persons is judged.
    """
    persons = "who" in case["columns"]
    model = learned(case, method, folder)
    choices = {
        "on_unseen": case["on_unseen"],
        "suppressed": "star" if persons else case["suppressed"],
    }
    try:
        rows, report = edge.encode_safe(as_records(case, case["batch"]), model, **choices)
    except edge.Rejected as problem:
        raise shoal.ShoalError(problem=str(problem)) from None
    lines = [json.dumps(row) + "\n" for row in rows]
    place = list(case["columns"]).index("who") if persons else None
    who = [row[place] for row in case["batch"]] if persons else None
    if persons and len(rows) < len(case["batch"]):
        raise shoal.ShoalError(problem="a device does not say whose records are left")
    return "".join(lines).encode(), "jsonl", report.released, case["batch"], who


WORK = {"anonymize": by_anonymize, "command": by_command, "encode": by_encode, "edge": by_edge}


def run(releases, *, first=0, most=None, progress=None):
    """Play until so many releases were judged, or `most` cases were played."""
    tally = Tally()
    seed = first
    with tempfile.TemporaryDirectory() as name:
        while sum(tally.releases.values()) < releases and (most is None or seed - first < most):
            play(seed, Path(name), tally)
            seed += 1
            if progress is not None and seed % 500 == 0:
                progress(f"{seed - first} played\n{tally}\n")
    return tally, seed - first


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args(argv)
    tally, played = run(asked.releases, first=asked.first, progress=sys.stderr.write)
    print(f"{played} cases played\n{tally}")
    return 1 if tally.violations or tally.strange else 0


if __name__ == "__main__":
    sys.exit(main())
