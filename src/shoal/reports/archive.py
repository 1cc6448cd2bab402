"""A release described for archives: Frictionless, Croissant 1.1 and DDI-Codebook 2.5.

A description has what the release itself shows: names, types and roles of columns, how many records
it has, and what was promised. It holds no value of the data, and nothing is invented: a licence, a
creator or an address are for those who publish it to add.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from shoal.core.documents import Document, Json

CROISSANT = "http://mlcommons.org/croissant/1.1"
DDI = "ddi:codebook:2_5"
TYPES = ("integer", "number", "boolean", "date", "datetime", "time", "string")
_SCHEMA_ORG: Mapping[str, str] = {
    "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean", "date": "sc:Date",
    "datetime": "sc:DateTime", "time": "sc:Time", "string": "sc:Text",
}  # fmt: skip
_MEDIA: Mapping[str, str] = {
    "csv": "text/csv", "csv.gz": "application/gzip", "csv.zst": "application/zstd",
    "parquet": "application/vnd.apache.parquet", "jsonl": "application/jsonlines",
    "arrow": "application/vnd.apache.arrow.file", "spss": "application/x-spss-sav",
    "stata": "application/x-stata-dta", "xpt": "application/x-sas-xport",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "database": "application/sql",
}  # fmt: skip
_ROLES: Mapping[str, str] = {
    "quasi": "recoded, so that records share its values",
    "sensitive": "released as it is; its spread within a class was checked",
    "neutral": "released as it is",
    "identifying": "replaced",
    "person": "replaced by a pseudonym",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A column of a release. type: one of TYPES."""

    name: str
    type: str
    role: str
    form: str | None = None  # of dates, where they are not ISO

    @property
    def about(self) -> str:
        """Return what was done to it."""
        return _ROLES.get(self.role, "released as it is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What is described.

    Attributes:
        name: of the release: its file or table, without folders.
        kind: the format, or database.
        place: where it is, beside the description; of a database its address.
        variables: its columns, in their order.
        records: how many it has.
        promise: what was promised, in words.
        sha256, size: of the file; None: there is none.
        missing: what stands for a missing value, beside nothing at all.
        separator: of a text file.
        suppressed: records that were left out.
        program: what made it, and its version.
    """

    name: str
    kind: str
    place: str
    variables: tuple[Variable, ...]
    records: int
    promise: tuple[str, ...]
    suppressed: int
    program: str
    sha256: str | None = None
    size: int | None = None
    missing: tuple[str, ...] = ()
    separator: str = ","

    @property
    def slug(self) -> str:
        """Return a name of small letters, digits, points, dashes and underscores."""
        plain = re.sub(r"[^a-z0-9._-]+", "-", self.name.lower()).strip("-.")
        return plain or "release"

    @property
    def abstract(self) -> str:
        """Return what it is, in a sentence or two."""
        promised = "; ".join(self.promise) or "nothing is promised"
        return (
            f"{self.records:,} records about persons, anonymized with {self.program} "
            f"({promised}). {self.suppressed:,} records were suppressed."
        )


def to_frictionless(about: Description) -> str:
    """Return a Data Package with a Table Schema, version 1."""
    resource: Document = {
        "profile": "tabular-data-resource",
        "name": about.slug,
        "path": about.place,
        "format": about.kind.partition(".")[0],
        "mediatype": _MEDIA[about.kind],
        "encoding": "utf-8",
    }
    if about.kind.startswith("csv"):
        resource["dialect"] = {"delimiter": about.separator, "doubleQuote": True}
    if about.kind.partition(".")[2]:
        resource["compression"] = about.kind.partition(".")[2]
    if about.sha256 is not None and about.size is not None:
        resource |= {"hash": f"sha256:{about.sha256}", "bytes": about.size}
    fields: list[Json] = [_field(each) for each in about.variables]
    resource["schema"] = {"fields": fields, "missingValues": ["", *about.missing]}
    package: Document = {
        "profile": "tabular-data-package",
        "name": about.slug,
        "description": about.abstract,
        "resources": [resource],
    }
    return _json(package)


def _field(variable: Variable) -> Document:
    found: Document = {
        "name": variable.name, "type": variable.type, "description": variable.about
    }  # fmt: skip
    if variable.form is not None:
        found["format"] = variable.form
    return found


def to_croissant(about: Description) -> str:
    """Return a Croissant 1.1 description (JSON-LD)."""
    source: Document = {
        "@type": "cr:FileObject",
        "@id": about.slug,
        "name": about.name,
        "description": "the release",
        "contentUrl": about.place,
        "encodingFormat": _MEDIA[about.kind],
    }
    if about.sha256 is not None and about.size is not None:
        source |= {"contentSize": f"{about.size} B", "sha256": about.sha256}
    fields: list[Json] = [
        {
            "@type": "cr:Field",
            "@id": f"records/{each.name}",
            "name": each.name,
            "description": each.about,
            "dataType": _SCHEMA_ORG[each.type],
            "source": {"fileObject": {"@id": about.slug}, "extract": {"column": each.name}},
        }
        for each in about.variables
    ]
    package: Document = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": about.slug,
        "description": about.abstract,
        "distribution": [source],
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}
        ],
    }
    return _json(package)


def _context() -> Document:
    """Return the context that every Croissant description has."""
    words = (
        "citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
        "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
        "references", "regex", "repeated", "replace", "separator", "source", "subField",
        "transform",
    )  # fmt: skip
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        **{word: f"cr:{word}" for word in words},
    }


def to_ddi(about: Description) -> str:
    """Return a DDI-Codebook 2.5 instance."""
    variables = "\n".join(
        f'    <var ID="V{number}" name={quoteattr(each.name)} files="F1" '
        f'intrvl="{"contin" if each.type in ("integer", "number") else "discrete"}">\n'
        f"      <labl>{escape(each.name)}</labl>\n"
        f"      <txt>{escape(each.about)}</txt>\n"
        f'      <varFormat type="{_ddi_type(each.type)}"{_category(each.type)}/>\n'
        "    </var>"
        for number, each in enumerate(about.variables, start=1)
    )
    promised = "".join(f"\n    <notes>{escape(each)}</notes>" for each in about.promise)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="{DDI}" version="2.5" xml:lang="en">
  <stdyDscr>
    <citation>
      <titlStmt><titl>{escape(about.name)}</titl></titlStmt>
      <prodStmt><software>{escape(about.program)}</software></prodStmt>
    </citation>
    <stdyInfo><abstract>{escape(about.abstract)}</abstract></stdyInfo>{promised}
  </stdyDscr>
  <fileDscr ID="F1" URI={quoteattr(about.place)}>
    <fileTxt>
      <fileName>{escape(about.name)}</fileName>
      <dimensns>
        <caseQnty>{about.records}</caseQnty>
        <varQnty>{len(about.variables)}</varQnty>
      </dimensns>
      <fileType>{escape(_MEDIA[about.kind])}</fileType>
    </fileTxt>
  </fileDscr>
  <dataDscr>
{variables}
  </dataDscr>
</codeBook>
"""


def _ddi_type(kind: str) -> str:
    return "numeric" if kind in ("integer", "number", "boolean") else "character"


def _category(kind: str) -> str:
    """Return what DDI says of dates and times beside their being characters."""
    known = {"date": "date", "datetime": "date", "time": "time"}
    return f' category="{known[kind]}"' if kind in known else ""


WRITERS: Mapping[str, Callable[[Description], str]] = MappingProxyType(
    {
        "datapackage.json": to_frictionless,
        "croissant.json": to_croissant,
        "ddi.xml": to_ddi,
    }
)
"""What each kind of description is written by, by the end of its file's name."""


def _json(document: Document) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
