"""The release: where it goes, for whom, and what is written beside it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from nicegui import ui
from nicegui.element import Element

from shoal.core.documents import Document, Json
from shoal.core.errors import ShoalError
from shoal.web.child import Job
from shoal.web.command import anonymize_command, export_command, learn_command
from shoal.web.live import follow, mirror, refused
from shoal.web.plain import mapping
from shoal.web.project import RESULTS, Project
from shoal.web.snippet import snippet
from shoal.web.state import State
from shoal.web.texts import Texts

LANGUAGES = {"python": ".py", "micropython": ".mpy.py", "javascript": ".js"}


def build(project: Project, texts: Texts) -> None:
    """Draw what is written, the button that writes it, and what was written."""
    Element("p").classes("lead")._text = texts("release.lead")
    follow(project, partial(_form, project, texts), key=lambda: _key(project))
    follow(project, partial(_commands, project, texts), key=lambda: project.version)
    follow(project, partial(_write, project, texts), key=lambda: _standing(project))


def _key(project: Project) -> str:
    has_model = project.state.report.get("model") is not None
    return json.dumps([project.state.table is None, places(project), has_model])


def _standing(project: Project) -> tuple[object, ...]:
    job = project.job
    running = job is not None and job.is_running
    return (project.state.table is None, running, id(project.results.get("written")),
            _is_old(project),
            id(job) if job is not None and not running else None)  # fmt: skip


def _is_old(project: Project) -> bool:
    """Say whether something has changed since the release was written."""
    return project.results.get("written", {}).get("asked") != project.fingerprint


def places(project: Project) -> dict[str, str]:
    """Return where the parts of a release go by default."""
    table = project.state.table
    place = table.get("file") if isinstance(table, dict) else table
    stem = Path(str(place or "table")).name.split(".")[0]
    folder = project.folder.name(project.place / RESULTS)
    names = {"out": "release.csv", "report": "report.html", "model": "model.json"}
    return {name: f"{folder}/{stem}.{end}" for name, end in names.items()}


def out_of(state: State) -> str | None:
    """Return where the release goes."""
    found = mapping(state.release.get("output")).get("out")
    return None if found is None else str(found)


def _form(project: Project, texts: Texts) -> None:
    if project.state.table is None:
        Element("p").classes("muted")._text = texts("shell.no_table")
        return
    usual, report = places(project), project.state.report
    with Element("div").classes("cols"):
        with Element("div").classes("stack"):
            Element("h3")._text = texts("release.files")
            _place(project, texts, "release", out_of(project.state) or usual["out"])
            _place(project, texts, "report", str(report.get("out") or usual["report"]))
            _optional(project, texts, usual["model"])
        with Element("div").classes("stack"):
            Element("h3")._text = texts("release.said")
            for name in ("purpose", "recipient", "by"):
                field = ui.input(texts(f"release.{name}"), value=str(report.get(name) or ""))
                field.props("outlined dense debounce=500")
                field.on_value_change(partial(_said, project, texts, name))
                mirror(project, field, partial(_shown, project, name))
            audiences = {each: texts(f"release.{each}") for each in ("internal", "external")}
            whom = ui.select(audiences, value=str(report.get("audience") or "internal"),
                             label=texts("release.audience")).props("outlined dense")  # fmt: skip
            whom.on_value_change(partial(_said, project, texts, "audience"))
            mirror(project, whom, lambda: _shown(project, "audience") or "internal")


def _place(project: Project, texts: Texts, name: str, value: str) -> None:
    field = ui.input(texts(f"release.{name}_file"), value=value).without_auto_validation()
    field.props(f'outlined dense debounce=600 id="{name}-file"')

    def changed(text: str) -> None:
        try:
            place = project.folder.name(project.folder.below(text))
            if name == "release":
                project.change(texts("release.release_file"), partial(_with_out, out=place))
            else:
                what = texts(f"release.{name}_file")
                key = "out" if name == "report" else name
                project.change(what, lambda state: state.with_report(**{key: place}))
        except ShoalError as error:
            field.error = str(error)  # it stands beside what was typed, and is not written to
            refused(error)
        else:
            field.error = None

    field.on_value_change(lambda e: changed(str(e.value or "")))
    usual = places(project)["out" if name == "release" else name]
    key = "out" if name == "report" else name

    def now() -> object:
        found = out_of(project.state) if name == "release" else project.state.report.get(key)
        return found or usual

    mirror(project, field, now)


def _shown(project: Project, name: str) -> str:
    return str(project.state.report.get(name) or "")


def _with_out(state: State, *, out: str) -> State:
    return state.with_release(output={**mapping(state.release.get("output")), "out": out})


def _optional(project: Project, texts: Texts, model: str) -> None:
    """Offer a model, and an encoder of it."""
    report = project.state.report
    has = report.get("model") is not None
    box = ui.checkbox(texts("release.model"), value=has)
    box.on_value_change(
        lambda e: _report(project, texts, "model", model=model if e.value else None, export=None)
    )
    if not has:
        return
    choices = {"": texts("release.no_export"), **{each: each for each in LANGUAGES}}
    now = str(report.get("export") or "")
    chosen = ui.select(choices, value=now, label=texts("release.export")).props("outlined dense")
    chosen.on_value_change(lambda e: _report(project, texts, "export", export=e.value or None))
    mirror(project, chosen, partial(_shown, project, "export"))


def _report(project: Project, texts: Texts, what: str, **entries: Json) -> None:
    try:
        project.change(texts(f"release.{what}"), lambda state: state.with_report(**entries))
    except ShoalError as error:
        refused(error)


def _said(project: Project, texts: Texts, name: str, event: object) -> None:
    value = str(getattr(event, "value", "") or "") or None
    kept = None if (name, value) == ("audience", "internal") else value
    _report(project, texts, name, **{name: kept})


def whole(project: Project) -> tuple[Document, Document]:
    """Return the request and the report of the release, with every place named."""
    usual, state = places(project), project.state
    output: Document = {
        "suppressed": "remove",
        **mapping(state.release.get("output")),
        "out": out_of(state) or usual["out"],
        "inputs": [*project.inputs()],
    }
    report = {name: value for name, value in state.report.items()
              if name not in ("model", "export")}  # fmt: skip
    return {**project.document, "output": output}, {"out": usual["report"], **report}


def encoder_of(project: Project) -> str | None:
    """Return where the encoder of the model goes; None: none is asked for."""
    model, language = project.state.report.get("model"), project.state.report.get("export")
    if model is None or language is None:
        return None
    ending = LANGUAGES.get(str(language))
    return None if ending is None else str(Path(str(model)).with_suffix("")) + ending


def commands(project: Project) -> list[str]:
    """Return the commands that write the same."""
    request, report = whole(project)
    found = [anonymize_command(request, report)]
    model, language = project.state.report.get("model"), project.state.report.get("export")
    if model is not None:
        found.append(learn_command(request, str(model)))
    encoder = encoder_of(project)
    if encoder is not None:
        found.append(export_command(str(model), str(language), encoder))
    return found


def write(project: Project) -> Job | None:
    """Write the release and what goes with it; nothing is written that is not verified."""
    request, report = whole(project)
    asked: dict[str, Json] = {"request": request, "report": report}
    for name, place in (("model", project.state.report.get("model")),
                        ("export", encoder_of(project))):  # fmt: skip
        if place is not None:
            asked[name] = place
    try:
        project.request()
        out = mapping(request["output"])["out"]
        for place in (out, report["out"], asked.get("model"), asked.get("export")):
            if place is not None:
                project.folder.writable(place)
        return project.start("release", asked)
    except ShoalError as error:
        refused(error)
        return None


def _commands(project: Project, texts: Texts) -> None:
    if project.state.table is None:
        return
    Element("h3").style("margin: 18px 0 6px")._text = texts("shell.command")
    with Element("div").classes("stack"):
        snippet("release-command", "\n".join(commands(project)), texts)


def _write(project: Project, texts: Texts) -> None:
    job = project.job
    button = ui.button(texts("release.write"), icon="verified_user",
                       on_click=partial(write, project)).style("margin-top: 16px")  # fmt: skip
    button.props('id="write"')
    button.set_enabled(project.state.table is not None and not (job and job.is_running))
    if job is not None and job.error is not None and "report" in job.asked:
        note = Element("div").classes("note bad").style("margin-top: 12px").props("role=alert")
        note._text = texts("release.nothing", problem=job.error)
    found = project.results.get("written", {}).get("files")
    if isinstance(found, list):
        is_old = _is_old(project)
        note = Element("div").classes("note" if is_old else "note good").props("role=status")
        with note.style("margin-top: 12px"):
            Element("strong")._text = texts("release.before" if is_old else "release.done")
            with Element("ul").classes("written"):
                for place in found:
                    _one_written(project, texts, str(place))
            said = texts("release.beside", folder=project.folder.name(project.place))
            Element("p").classes("small").style("margin: 6px 0 0")._text = said


def _one_written(project: Project, texts: Texts, place: str) -> None:
    """Name a file that was written, and let it be saved elsewhere by the browser."""

    def save() -> None:
        try:
            file = project.folder.below(place)
        except ShoalError as error:
            refused(error)
        else:
            if file.is_file():
                ui.download.file(file, file.name)

    with Element("li"):
        Element("span").classes("mono")._text = place
        button = ui.button(icon="download", on_click=save).props("flat dense round size=sm")
        button.props["aria-label"] = texts("release.save", file=place)
