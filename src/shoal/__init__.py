"""Release data about people safely: every record swims with at least k - 1 others.

The names below are the documented surface. They load on first use, so that
``import shoal`` and ``shoal.edge`` stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Attribute": "shoal.schema.schema",
    "Budget": "shoal.dp.budget",
    "CsvFile": "shoal.engines.local.csv_file",
    "Database": "shoal.engines.local.database",
    "Hierarchy": "shoal.hierarchies.tree",
    "Kind": "shoal.schema.schema",
    "Role": "shoal.schema.schema",
    "Schema": "shoal.schema.schema",
    "ShoalError": "shoal.core.errors",
    "SparkTable": "shoal.engines.spark.source",
    "AlphaKAnonymity": "shoal.privacy",
    "BetaLikeness": "shoal.privacy",
    "DeltaDisclosure": "shoal.privacy",
    "KAnonymity": "shoal.privacy",
    "LDiversity": "shoal.privacy",
    "NTCloseness": "shoal.privacy",
    "TCloseness": "shoal.privacy",
    "RecodingModel": "shoal.model.model",
    "anonymize": "shoal.api",
    "attack": "shoal.api",
    "drift": "shoal.api",
    "encode": "shoal.api",
    "infer": "shoal.api",
    "learn": "shoal.api",
    "metrics": "shoal.api",
    "recommend": "shoal.api",
    "risk": "shoal.api",
    "stats": "shoal.api",
    "verify": "shoal.api",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
