from __future__ import annotations

import json
import os
import time

import pytest
import yaml
from tests.web.conftest import QUASI, running

from shoal.core.errors import InputError, OutputError, SchemaError, ShoalError
from shoal.jobs.documents import load_request
from shoal.schema.schema import Schema
from shoal.web.child import Job, Standing
from shoal.web.folder import Folder
from shoal.web.project import BusyError, Project, StaleChangeError, project_beside
from shoal.web.state import State


def again(project) -> Project:
    return Project(project.folder, project.place)


def moved(state: State) -> State:
    return state.with_column("sex", role="neutral")


def test_a_project_opened_again_is_as_it_was(project):
    project.change("weight", lambda state: state.with_column("zip", weight=2.5))
    project.change("seed", lambda state: state.with_release(seed=7))
    project.change("by", lambda state: state.with_report(by="Dr. Example"))
    assert again(project).state == project.state
    assert again(project).schema == project.schema


def test_what_is_kept_is_what_commands_read(project, monkeypatch):
    project.change("seed", lambda state: state.with_release(seed=7))
    monkeypatch.chdir(project.folder.root)
    assert load_request("stays.project/request.yaml") == project.request()
    assert Schema.load("stays.project/schema.yaml") == project.schema


def test_every_change_can_be_undone_and_done_again_and_is_written_each_time(project):
    before = project.state
    project.change("sex is neutral", moved)
    after = project.state
    assert project.history.last == "sex is neutral"
    project.undo()
    assert project.state == before == again(project).state
    project.redo()
    assert project.state == after == again(project).state
    project.redo()
    assert project.state == after


def test_a_change_that_changes_nothing_is_none(project):
    version = project.version
    project.change("nothing", lambda state: state)
    assert (project.version, project.history.last) == (version, None)


def test_a_schema_with_faults_changes_nothing_here_or_on_disk(project):
    before = project.state
    told = []
    project.on_change(lambda: told.append(1))
    wrong = [
        lambda state: state.with_column("zip", role="nonsense"),
        lambda state: state.with_column("zip", weight=-1.0),
        lambda state: state.with_schema(privacy=[{"model": "k-anonymity", "k": 0}]),
        lambda state: state.with_schema(privacy=[{"model": "t-closeness", "t": "x"}]),
        lambda state: state.with_schema(suppression_limit=3),
        lambda state: state.with_schema(unheard="of"),
    ]
    for make in wrong:
        with pytest.raises(ShoalError):
            project.change("wrong", make)
    assert project.state == before == again(project).state
    assert not told
    assert project.history.last is None


def test_places_outside_are_refused_wherever_they_stand(project):
    outside = [
        lambda state: State(table="../x.csv", schema=state.schema),
        lambda state: State(table={"file": "/etc/passwd"}, schema=state.schema),
        lambda state: State(table={"spark": "table:x"}, schema=state.schema),
        lambda state: state.with_column("zip", hierarchy="../../etc/passwd"),
        lambda state: state.with_release(output={"out": "/tmp/x.csv"}),
        lambda state: state.with_release(checks={"population": "https://attacker.example/x"}),
        lambda state: state.with_report(out="../r.html"),
    ]
    before = project.state
    for make in outside:
        with pytest.raises(InputError):
            project.change("outside", make)
    assert project.state == before


def test_a_text_that_another_tab_has_changed_is_not_written_over(project):
    seen = project.version
    project.change("in one tab", moved)
    with pytest.raises(StaleChangeError, match="another tab"):
        project.change("in the other", lambda state: state.with_release(seed=1), seen=seen)
    assert "seed" not in project.state.release
    project.change("looked again", lambda s: s.with_release(seed=1), seen=project.version)


def test_changes_of_two_tabs_to_two_things_are_both_kept(project):
    project.change("in one tab", moved)
    project.change("in the other", lambda state: state.with_column("zip", weight=2.0))
    assert project.state.columns["sex"]["role"] == "neutral"
    assert project.state.columns["zip"]["weight"] == 2.0


def test_what_another_program_wrote_is_not_lost(project):
    place = project.place / "schema.yaml"
    theirs = place.read_text().replace("k: 3", "k: 9")
    place.write_text(theirs)
    with pytest.raises(StaleChangeError, match="another program"):
        project.change("ours", moved)
    assert place.read_text() == theirs
    assert project.state.columns["sex"]["role"] == "quasi"
    project.reload()
    assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 9}]
    project.change("ours", moved)
    project.undo()
    project.undo()
    assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 3}]


def test_it_is_seen_that_another_program_wrote_and_what_it_wrote_can_be_read(project):
    place = project.place / "schema.yaml"
    assert not project.is_overtaken
    place.write_text(place.read_text().replace("k: 3", "k: 9"))
    assert project.is_overtaken
    project.reload()
    assert not project.is_overtaken
    place.write_text("columns: [")
    with pytest.raises(ShoalError):
        project.reload()
    assert project.is_overtaken
    assert project.state.schema["privacy"] == [{"model": "k-anonymity", "k": 9}]


def test_what_another_program_removed_is_written_again_when_that_is_asked_for(project):
    before = project.state
    for name in ("request.yaml", "schema.yaml"):
        (project.place / name).unlink()
    with pytest.raises(StaleChangeError):
        project.change("ours", moved)
    project.reload()
    assert project.state == before == again(project).state
    project.change("ours", moved)


def test_everybody_who_listens_is_told_until_they_stop(project):
    told = []
    stop = project.on_change(lambda: told.append(1))
    project.on_change(lambda: told.append(2))
    project.change("one", moved)
    stop()
    stop()
    project.undo()
    assert told == [1, 2, 2]


def test_a_folder_that_cannot_be_written_leaves_the_state_as_it_was(project):
    before = project.state
    (project.place / "report.yaml").unlink()
    (project.place / "report.yaml").mkdir()
    with pytest.raises(OutputError):
        project.change("sex", moved)
    assert project.state == before


class TestHostileFolder:
    """A project that somebody else made."""

    def opened(self, tmp_path, *, schema="", request="job: release\ntable: a.csv\n"):
        place = tmp_path / "p"
        place.mkdir(exist_ok=True)
        (place / "request.yaml").write_text(request)
        if schema:
            (place / "schema.yaml").write_text(schema)
        return Project(Folder.at(tmp_path), "p")

    @pytest.mark.parametrize(
        "request_",
        [
            "job: release\ntable: ../../etc/passwd\n",
            "job: release\ntable: {file: /etc/passwd}\n",
            "job: release\ntable: {spark: 'table:x', master: 'spark://attacker.example'}\n",
            "job: release\ntable: a.csv\noutput: {out: /etc/cron.d/x}\n",
            "job: release\ntable: a.csv\nkey: ../../home/key\n",
            "job: release\ntable: a.csv\nledger: 'postgresql://attacker.example/x'\n",
            "[1, 2]\n",
            "a: &a [x]\nb: !!python/object/apply:os.system ['true']\n",
            "job: release\njob: release\n",
            "\0",
            "job: release\ntable: a.csv\nmethod: nonsense\n",
            "job: release\ntable: a.csv\nmethod: [1]\n",
            "job: release\ntable: a.csv\nchecks: 3\n",
            "job: release\ntable: a.csv\nchecks: {learn: [1]}\n",
            "job: release\ntable: a.csv\noutput: {out: [1]}\n",
            "job: release\ntable: a.csv\nseed: x\n",
            "job: release\ntable: a.csv\nunheard: of\n",
            "job: release\ntable: a.csv\nafter: ../series.db\n",
            "job: release\ntable: a.csv\nafter: l.db\ncounterfeit_table: /tmp/c.csv\n",
        ],
    )
    def test_a_request_that_reaches_out_is_refused(self, tmp_path, request_):
        with pytest.raises(ShoalError) as caught:
            self.opened(tmp_path, request=request_)
        assert "passwd" not in str(caught.value)

    @pytest.mark.parametrize(
        "report",
        ["export: perl", "audience: [1]", "audience: everybody", "by: {a: 1}", "model: 3",
         "unheard: of", "out: ../r.html", "- 1"],
    )  # fmt: skip
    def test_a_report_that_cannot_be_meant_is_refused(self, tmp_path, report):
        place = tmp_path / "p"
        place.mkdir()
        (place / "report.yaml").write_text(report + "\n")
        with pytest.raises(ShoalError):
            self.opened(tmp_path, schema="columns: {a: quasi}\n")

    def test_no_server_is_asked_because_a_folder_says_so(self, tmp_path):
        request = "job: release\ntable: {database: 'postgresql://attacker.example/x', table: t}\n"
        assert self.opened(tmp_path, request=request).state.table is None

    @pytest.mark.parametrize(
        "schema",
        [
            "columns: {a: {role: quasi, hierarchy: ../../../etc/passwd}}\n",
            "columns: {a: {role: quasi, hierarchy: {mask: {}, dates: {}}}}\n",
            "columns: {a: nonsense}\n",
            "tables: {}\n",
            "- 1\n",
        ],
    )
    def test_a_schema_that_cannot_be_meant_is_refused(self, tmp_path, schema):
        with pytest.raises(ShoalError):
            self.opened(tmp_path, schema=schema)

    def test_a_document_that_unfolds_for_ever_is_refused_at_once(self, tmp_path):
        rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
        began = time.process_time()
        with pytest.raises(InputError, match="too large"):
            self.opened(tmp_path, request="\n".join(rows) + "\n")
        assert time.process_time() - began < 10

    def test_a_document_nested_for_ever_is_refused(self, tmp_path):
        with pytest.raises(ShoalError):
            self.opened(tmp_path, request="a: " + "[" * 900 + "]" * 900 + "\n")

    def test_a_link_to_a_file_outside_is_not_read(self, tmp_path):
        secret = tmp_path / "secret.yaml"
        secret.write_text("job: release\ntable: a.csv\nseed: 4711\n")
        inside = tmp_path / "in"
        (inside / "p").mkdir(parents=True)
        (inside / "p" / "request.yaml").symlink_to(secret)
        with pytest.raises(InputError, match="outside"):
            Project(Folder.at(inside), "p")

    def test_a_project_outside_the_folder_is_refused(self, tmp_path):
        with pytest.raises(InputError):
            Project(Folder.at(tmp_path), "../p")


def test_the_request_says_everything_that_is_wrong(project):
    assert project.request().schema.quasi == QUASI
    with pytest.raises(SchemaError, match="no table is open"):
        Project(project.folder, "other").request()


def test_files_that_are_read_are_named_as_a_command_names_them(project):
    place = project.hierarchy_place("zip")
    target = project.folder.writable(f"stays.project/{place}")
    target.write_text("".join(f"{zip_:05};*\n" for zip_ in range(3)))
    project.change("tree", lambda state: state.with_column("zip", hierarchy=place))
    assert project.hierarchy("zip") == place
    wanted = ["stays.csv", "stays.project/schema.yaml", f"stays.project/{place}"]
    assert project.inputs() == wanted
    assert project.table == "stays.csv"


@pytest.mark.parametrize("column", ["../../x", "a/b", "", "..", "x" * 300, "Straße 1", "\x00"])
def test_the_file_of_a_hierarchy_lies_in_the_project_whatever_the_column_is_called(project, column):
    place = project.hierarchy_place(column)
    found = project.folder.below(project.place / place)
    assert found.parent == project.place / "hierarchies"
    assert len(os.path.basename(place)) < 100


def test_a_result_belongs_to_what_was_asked(project):
    before = project.fingerprint
    project.change("out", lambda state: state.with_release(output={"out": "o.csv"}))
    assert project.fingerprint == before
    project.change("sex", moved)
    assert project.fingerprint != before


def test_one_long_job_at_a_time_whose_answer_is_kept_and_told(project):
    told = []
    project.on_change(lambda: told.append(1))

    async def work() -> tuple[Job, Job]:
        job = project.start("infer", {"table": "stays.csv"})
        with pytest.raises(BusyError, match="cancel"):
            project.start("infer", {"table": "stays.csv"})
        await job.wait()
        other = project.start("infer", {"table": "stays.csv", "seconds": 60.0})
        await project.cancel()
        return job, other

    job, other = running(project, work)
    assert project.results["infer"]["records"] == 400
    assert (job.standing, other.standing) == (Standing.DONE, Standing.CANCELLED)
    assert len(told) >= 4


def test_an_error_over_the_pipe_has_no_value_of_the_data(project):
    (project.folder.root / "odd.csv").write_text('zip,ill\n1,"Alice\n')

    async def work() -> Job:
        return await project.start("infer", {"table": "odd.csv"}).wait()

    job = running(project, work)
    assert job.standing is Standing.FAILED
    assert "Alice" not in str(job.error)


def test_dates_of_yaml_are_texts_and_no_error(tmp_path):
    place = tmp_path / "p"
    place.mkdir()
    (place / "request.yaml").write_text("job: release\ntable: a.csv\n")
    (place / "report.yaml").write_text("purpose: 2026-01-31\n")
    assert Project(Folder.at(tmp_path), "p").state.report == {"purpose": "2026-01-31"}


def test_the_project_of_a_table_lies_beside_it():
    assert project_beside(None) == "shoal-project"
    assert project_beside("wards/stays.csv.gz") == "wards/stays.project"


def test_what_is_kept_is_plain_yaml(project):
    document = yaml.safe_load((project.place / "schema.yaml").read_text())
    assert json.dumps(document["columns"]) == json.dumps(project.state.columns)
