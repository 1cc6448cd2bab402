"""Release data about people safely: every record swims with at least k - 1 others.

The names below are the documented surface. They load on first use, so that
``import shoal`` and ``shoal.edge`` stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from shoal.core.version import __version__

if TYPE_CHECKING:  # what type checkers and editors see
    from shoal.api import anonymize as anonymize
    from shoal.api import attack as attack
    from shoal.api import drift as drift
    from shoal.api import encode as encode
    from shoal.api import infer as infer
    from shoal.api import learn as learn
    from shoal.api import metrics as metrics
    from shoal.api import recommend as recommend
    from shoal.api import risk as risk
    from shoal.api import stats as stats
    from shoal.api import verify as verify
    from shoal.core.errors import ShoalError as ShoalError
    from shoal.dp.budget import Budget as Budget
    from shoal.formats.csv_file import CsvFile as CsvFile
    from shoal.formats.database import Database as Database
    from shoal.formats.excel import ExcelFile as ExcelFile
    from shoal.formats.spark_table import SparkTable as SparkTable
    from shoal.hierarchies.tree import Hierarchy as Hierarchy
    from shoal.inference.infer import Inference as Inference
    from shoal.jobs.encode import Encoded as Encoded
    from shoal.jobs.linked import LinkedRelease as LinkedRelease
    from shoal.jobs.linked import release_linked as release_linked
    from shoal.jobs.linked import risk_linked as risk_linked
    from shoal.jobs.linked import verify_linked as verify_linked
    from shoal.jobs.linked_requests import LinkedRequest as LinkedRequest
    from shoal.jobs.linked_requests import LinkedVerifyRequest as LinkedVerifyRequest
    from shoal.jobs.model import RecodingModel as RecodingModel
    from shoal.jobs.release import Release as Release
    from shoal.measures.risk.report import RiskReport as RiskReport
    from shoal.methods.catalogue import Auto as Auto
    from shoal.methods.catalogue import BestCut as BestCut
    from shoal.methods.catalogue import BestFirst as BestFirst
    from shoal.methods.catalogue import Bfs as Bfs
    from shoal.methods.catalogue import Datafly as Datafly
    from shoal.methods.catalogue import Dfs as Dfs
    from shoal.methods.catalogue import Flash as Flash
    from shoal.methods.catalogue import Incognito as Incognito
    from shoal.methods.catalogue import Kaca as Kaca
    from shoal.methods.catalogue import KMember as KMember
    from shoal.methods.catalogue import KMemberParallel as KMemberParallel
    from shoal.methods.catalogue import KModes as KModes
    from shoal.methods.catalogue import LocalSuppression as LocalSuppression
    from shoal.methods.catalogue import Mdav as Mdav
    from shoal.methods.catalogue import MdavGeneric as MdavGeneric
    from shoal.methods.catalogue import Mondrian as Mondrian
    from shoal.methods.catalogue import MondrianCategorical as MondrianCategorical
    from shoal.methods.catalogue import MondrianRelaxed as MondrianRelaxed
    from shoal.methods.catalogue import MondrianUnordered as MondrianUnordered
    from shoal.methods.catalogue import Oka as Oka
    from shoal.methods.catalogue import Refine as Refine
    from shoal.methods.catalogue import SaMdav as SaMdav
    from shoal.methods.catalogue import SaMdavStatic as SaMdavStatic
    from shoal.methods.catalogue import SaMondrian as SaMondrian
    from shoal.methods.catalogue import SMdav as SMdav
    from shoal.methods.catalogue import Threshold as Threshold
    from shoal.methods.catalogue import VMdav as VMdav
    from shoal.methods.catalogue import Wfcm as Wfcm
    from shoal.privacy import AlphaKAnonymity as AlphaKAnonymity
    from shoal.privacy import BetaLikeness as BetaLikeness
    from shoal.privacy import DeltaDisclosure as DeltaDisclosure
    from shoal.privacy import KAnonymity as KAnonymity
    from shoal.privacy import LDiversity as LDiversity
    from shoal.privacy import NTCloseness as NTCloseness
    from shoal.privacy import TCloseness as TCloseness
    from shoal.reports.compare import Compared as Compared
    from shoal.reports.release import ReleaseReport as ReleaseReport
    from shoal.reports.release import Verification as Verification
    from shoal.schema.linked import LinkedSchema as LinkedSchema
    from shoal.schema.schema import Attribute as Attribute
    from shoal.schema.schema import Kind as Kind
    from shoal.schema.schema import Role as Role
    from shoal.schema.schema import Schema as Schema
    from shoal.side_by_side import compare as compare
    from shoal.side_by_side import reach as reach

_HOMES = {
    "Attribute": "shoal.schema.schema",
    "Budget": "shoal.dp.budget",
    "CsvFile": "shoal.formats.csv_file",
    "ExcelFile": "shoal.formats.excel",
    "Database": "shoal.formats.database",
    "Hierarchy": "shoal.hierarchies.tree",
    "Kind": "shoal.schema.schema",
    "Role": "shoal.schema.schema",
    "Schema": "shoal.schema.schema",
    "ShoalError": "shoal.core.errors",
    "SparkTable": "shoal.formats.spark_table",
    "AlphaKAnonymity": "shoal.privacy",
    "BetaLikeness": "shoal.privacy",
    "DeltaDisclosure": "shoal.privacy",
    "KAnonymity": "shoal.privacy",
    "LDiversity": "shoal.privacy",
    "NTCloseness": "shoal.privacy",
    "TCloseness": "shoal.privacy",
    "Compared": "shoal.reports.compare",
    "Encoded": "shoal.jobs.encode",
    "LinkedRelease": "shoal.jobs.linked",
    "LinkedRequest": "shoal.jobs.linked_requests",
    "LinkedSchema": "shoal.schema.linked",
    "LinkedVerifyRequest": "shoal.jobs.linked_requests",
    "Inference": "shoal.inference.infer",
    "RecodingModel": "shoal.jobs.model",
    "Release": "shoal.jobs.release",
    "ReleaseReport": "shoal.reports.release",
    "RiskReport": "shoal.measures.risk.report",
    "Verification": "shoal.reports.release",
    **dict.fromkeys(
        (
            "Auto",
            "BestCut",
            "BestFirst",
            "Bfs",
            "Datafly",
            "Dfs",
            "Flash",
            "Incognito",
            "KMember",
            "KMemberParallel",
            "KModes",
            "Kaca",
            "LocalSuppression",
            "Mdav",
            "MdavGeneric",
            "Mondrian",
            "MondrianCategorical",
            "MondrianRelaxed",
            "MondrianUnordered",
            "Oka",
            "Refine",
            "SMdav",
            "SaMdav",
            "SaMdavStatic",
            "SaMondrian",
            "Threshold",
            "VMdav",
            "Wfcm",
        ),
        "shoal.methods.catalogue",
    ),
    "anonymize": "shoal.api",
    "attack": "shoal.api",
    "compare": "shoal.side_by_side",
    "drift": "shoal.api",
    "encode": "shoal.api",
    "infer": "shoal.api",
    "learn": "shoal.api",
    "metrics": "shoal.api",
    "reach": "shoal.side_by_side",
    "recommend": "shoal.api",
    "release_linked": "shoal.jobs.linked",
    "risk": "shoal.api",
    "risk_linked": "shoal.jobs.linked",
    "stats": "shoal.api",
    "verify": "shoal.api",
    "verify_linked": "shoal.jobs.linked",
}

__all__ = ["__version__", *sorted(_HOMES)]


if not TYPE_CHECKING:  # a name that is not there is an error for a type checker, too

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'shoal' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
