"""Learn a recoding and hand it out as a model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.core.errors import NoSolutionError, UnsafeReleaseError
from shoal.core.watch import tell
from shoal.engines.base import Classes, Progress, Search
from shoal.engines.counts import ClassesHere
from shoal.engines.drawing.drawing import Drawer
from shoal.engines.drawing.model import with_drawn_columns
from shoal.jobs.account import Judged, account
from shoal.jobs.clock import Clock, rounded
from shoal.jobs.device import device_facts, room_of
from shoal.jobs.documents import public_document
from shoal.jobs.drawn import drawing_of
from shoal.jobs.model import RecodingModel
from shoal.jobs.requests import LearnRequest
from shoal.jobs.search import Opened, opened
from shoal.methods.cut_model import model_of_cuts
from shoal.methods.cut_tree import Cutting, cut_regions
from shoal.methods.fit_device import Fitted, fit
from shoal.methods.to_model import model_of
from shoal.model.document import checked
from shoal.model.model import RecodingModel as LearnedModel
from shoal.reports.release import ReleaseReport


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A learned model and the account of how it was found."""

    model: RecodingModel
    report: ReleaseReport


def learn(request: LearnRequest, *, progress: Progress = tell) -> Learned:
    """Open, count, search, judge, and describe what was found as a model.

    Raises:
        NoSolutionError: even the whole table as one class does not meet the promise, or every
            record would have to be suppressed.
        UnsafeReleaseError: the judged classes do not keep the promise.
    """
    request.check()
    clock = Clock(progress)
    with opened(request, clock) as job:
        search, classes = job.search(learns=True)
        with clock.time("model"):
            cutting, fitted = _cut(classes, search, job)
        if cutting is not None:
            classes = ClassesHere(cutting.recoding, classes.notices)
        with clock.time("verify"):
            verdicts = classes.judge(job.promise)
        recoding = classes.recoding
        if not recoding.classes:
            raise NoSolutionError(problem="every record would have to be suppressed")
        if not all(verdict.holds for verdict in verdicts):
            raise UnsafeReleaseError(problem="the learned classes do not keep the promise")
        judged = Judged(
            verdicts, recoding.classes, int(recoding.persons.min()),
            persons=recoding.people, largest_share=recoding.largest_share,
        )  # fmt: skip
        report = account(job, search, classes, judged)
        with clock.time("model"):
            model = _model(job, report, cutting, fitted, classes)
        if request.release == "draw":
            with clock.time("model"):
                model = _drawn(model, job, search)
        checked(model.to_document())  # what cannot be read is not handed out
        device = device_facts(model, request, fitted)
        facts = {**report.facts, **device, "cpu_seconds": rounded(clock.cpu)}
        report = replace(
            report, seconds=clock.spent(), facts=facts, request=public_document(request)
        )
        return Learned(model=RecodingModel.of(model), report=report)


def _drawn(model: LearnedModel, job: Opened, search: Search) -> LearnedModel:
    """Return the model with what its cells are drawn from."""
    drawing = drawing_of(job.request, search, job.promise, job.schema.quasi)
    assert drawing is not None  # it was asked for
    return with_drawn_columns(model, Drawer(job.counts.table, job.schema, drawing))


def _cut(classes: Classes, search: Search, job: Opened) -> tuple[Cutting | None, Fitted | None]:
    """Return the regions of a partition, where the tuples are here and boxes are released.

    Beside them, where a device has little room: what the best model that fits is.
    """
    if search.method.family != "mondrian" or not isinstance(classes, ClassesHere):
        return None, None
    most = room_of(job.request).most_bytes(len(job.schema.quasi))
    if most is None:
        return cut_regions(classes.recoding, job.schema, job.promise), None
    fitted = fit(classes.recoding, job.schema, job.promise, method=search.method.name, most=most)
    return (None, None) if fitted is None else (fitted.cutting, fitted)


def _model(
    job: Opened,
    report: ReleaseReport,
    cutting: Cutting | None,
    fitted: Fitted | None,
    classes: Classes,
) -> LearnedModel:
    """Return regions, or classes that may overlap, as a model."""
    if cutting is None:
        recoding = classes.recoding
        released = recoding.released
        return model_of(
            recoding, job.schema, method=report.method, utility=report.utility,
            released=None if released is None else list(zip(*released, strict=True)),
            trial=classes.trial(),
        )  # fmt: skip
    if fitted is None:
        return model_of_cuts(cutting, job.schema, method=report.method, utility=report.utility)
    utility = {"ncp": report.utility["ncp"]}  # no room for what no device reads
    return model_of_cuts(cutting, fitted.schema, method=report.method, utility=utility)
