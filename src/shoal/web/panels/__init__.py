"""The panels of the page: a file a step of the work.

Every panel is one function `build(project, texts)`, called inside the element that it fills. It
draws what the project holds now, and draws itself anew where the project calls it
(`project.on_change`).
"""

from __future__ import annotations

from typing import Protocol

from shoal.web.project import Project
from shoal.web.texts import Texts


class Panel(Protocol):
    """A step of the work on the page."""

    def __call__(self, project: Project, texts: Texts) -> None:
        """Draw it into the element that is open now."""


STEPS = ("data", "columns", "hierarchies", "promise", "explore", "result", "release")
"""The steps in their order; each is a module of this folder."""
