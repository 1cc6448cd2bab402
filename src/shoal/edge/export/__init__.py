"""A model and its encoder as one readable source file, for machines without shoal."""

from __future__ import annotations

import ast
import json
from importlib.resources import files

from shoal.core.errors import MethodError
from shoal.edge.loading import ModelSource, document_of
from shoal.model.column import MEMO
from shoal.model.device import Room
from shoal.model.document import explicit_regions
from shoal.model.document_types import ModelDocument
from shoal.model.runtime import MOST_TEMPLATES

__all__ = ["TARGETS", "export"]

PARTS = ("column", "cut_tree", "cell_index", "runtime", "lines")  # of the runtime, in this order
TARGETS = ("python", "micropython", "javascript")
_HEAD = """\
{mark} An encoder with its model in one file, written by shoal {version}.
{mark}
{mark} Method {method}, {classes} classes learned from {records} records, model fingerprint
{mark} {fingerprint}.
{mark} What a record is released as: {call}
{mark} Lines of JSON from standard input to standard output: {run}
"""


def export(model: ModelSource, to: str, room: Room | None = None) -> str:
    """Return one self-contained source file: the encoder and the model.

    Args:
        model: a path, a document or a model.
        to: "python" (or "cpython", from 3.8 on), "micropython" or "javascript" (Node, browsers,
            QuickJS).
        room: what the device has; encoders in Python remember as many texts as fit beside.

    Guarantee:
        The file needs nothing but the language, and releases what `shoal.edge` releases.

    Raises:
        MethodError: there is no such target, or no room for the model.
    """
    to = "python" if to == "cpython" else to
    if to not in TARGETS:
        raise MethodError(problem=f"--to {to}: no such target; there are {', '.join(TARGETS)}")
    document = document_of(model)
    room = room or Room()
    if room.ram is not None and to != "micropython":
        raise MethodError(
            problem="--device-ram is for --to micropython; the other interpreters take megabytes "
            "of their own, which shoal edge bench measures"
        )
    size, columns = _size(document), len(document["columns"])
    problem = room.problem(size, columns)
    if problem is not None:
        raise MethodError(
            problem=f"the model does not fit: {problem}; learn one that does with --model-bytes "
            "and --device-ram"
        )
    if to == "javascript":
        return _javascript(document)
    text = _python(document, micro=to == "micropython")
    return _remembering(text, room.texts(size, columns))


def _size(document: ModelDocument) -> int:
    """Return the bytes of a model as a file has it."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _remembering(text: str, texts: int) -> str:
    """Return an encoder in Python that remembers at most so many texts of a column."""
    for name, usual in (("MEMO", MEMO), ("MOST_TEMPLATES", MOST_TEMPLATES)):
        before, after = f"\n{name} = {usual}", f"\n{name} = {min(texts, usual)}"
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


def _head(document: ModelDocument, *, mark: str, call: str, run: str) -> str:
    from shoal.core.version import __version__

    return _HEAD.format(
        mark=mark,
        version=__version__,
        method=document["method"],
        classes=len(explicit_regions(document)),
        records=document["records"],
        fingerprint=document.get("fingerprint", "unknown"),
        call=call,
        run=run,
    )


def _javascript(document: ModelDocument) -> str:
    head = _head(
        document, mark="//", call="shoal.encode({…})", run="node FILE < records > released"
    )
    model = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return (
        f'{head}"use strict";\n\n{_read("edge/export/runtime.js")}\n'
        f"const MODEL = {model};\n{_read('edge/export/footer.js')}"
    )


def _python(document: ModelDocument, *, micro: bool) -> str:
    head = _head(
        document,
        mark="#",
        call="Encoder(MODEL).encode({…})",
        run=f"{'micropython' if micro else 'python3'} FILE < records > released",
    )
    names = ("core/keys", *(f"model/{part}" for part in PARTS))
    runtime = "\n\n\n".join(_body(_read(f"{name}.py")) for name in names)
    # Annotations stay: MicroPython skips them, and CPython does with the line below.
    future = "" if micro else "from __future__ import annotations\n\n"
    # As UTF-8: MicroPython's JSON reads an escaped pair of surrogates as two characters.
    model = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    literal = f"MODEL = json.loads({_quoted(model)})"
    return (
        f"{head}\n{future}import json\n\n{runtime}\n\n\n"
        f"{literal}\n{_read('edge/export/footer_python.txt')}"
    )


def _quoted(text: str) -> str:
    """Return a Python literal of a JSON text, which holds no control character."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _body(source: str) -> str:
    """Return a module without its docstring and its imports, those for type checkers included."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        is_docstring = isinstance(node, ast.Expr) and node.lineno == 1
        is_import = isinstance(node, (ast.Import, ast.ImportFrom))
        if is_docstring or is_import or "TYPE_CHECKING" in lines[node.lineno - 1]:
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip()


def _read(name: str) -> str:
    return files("shoal").joinpath(*name.split("/")).read_text(encoding="utf-8")
