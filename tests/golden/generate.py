"""Writes the golden files: `python -m tests.golden.generate` from the project's root.

A model of each kind, learned from a made-up table, the lines that are fed to it, and what
must come out: `<name>.model.json`, `lines.jsonl`, `<name>.expected.jsonl`. A rejected line is
"!" and the reason. Look at the difference before you commit it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
from tests.methods.calls import mondrian, refine, search

from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.methods.cut_model import model_of_cuts
from shoal.methods.cut_tree import Cutting, cut_regions
from shoal.methods.lattice.space import space_of
from shoal.methods.to_model import model_of
from shoal.model.column import Rejected
from shoal.model.lines import encode_line
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

HERE = Path(__file__).parent
PLACES = {"*": {"Norden": ["Århus", "Malmö"], "Süden": ["Málaga", "Αθήνα"], "東": ["東京", "大阪"]}}
GRADES = ["low", "middle", "high", "top"]
JOBS = ["nurse", "Bäcker", "cook 👩‍🍳", 'a "quoted" job', "back\\slash"]


def table() -> pl.DataFrame:
    """Return 400 made-up people; a few values are missing."""
    chance = random.Random(6)
    rows = []
    for i in range(400):
        rows.append(
            {
                "age": chance.choice(["-5", "0", "0.1", "0.30", "17", "18", "34", "35.5", "120",
                                      "1e6", "12345678901234567890", None]),
                "born": chance.choice(["1969-12-31", "1970-01-01", "1999-02-28", "2000-02-29",
                                       "2000-03-01", "2024-03-17 10:20:30", None]),
                "grade": chance.choice([*GRADES, "?"]),
                "place": chance.choice(["Århus", "Malmö", "Málaga", "Αθήνα", "東京", "大阪", None]),
                "job": chance.choice(JOBS[: 1 + i % len(JOBS)]),
                "zip": chance.choice(["75275", "75201", "10115", "213", "99"]),
                "illness": chance.choice(["flu", "cold", "grippe"]),
                "note": str(i),
                "name": f"person {i}",
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(rows[0], pl.String))


def schema(*, levels: bool, k: int, quasi: tuple[str, ...] = ()) -> Schema:
    """Return roles and kinds; with rules for levels, or as little as Mondrian needs."""
    tree = {"tree": PLACES}
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "born": {"role": "quasi", "kind": "date"},
        "grade": {"role": "quasi", "kind": "ordinal", "order": GRADES},
        "place": {"role": "quasi", "kind": "categorical", "hierarchy": tree},
        "job": {"role": "quasi", "kind": "categorical"},
        "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
        "illness": {"role": "sensitive"},
        "note": {"role": "neutral"},
        "name": {"role": "identifying"},
    }
    if levels:
        columns["age"]["hierarchy"] = {"intervals": {"cuts": [[0, 18, 65], [0]]}}
        columns["born"]["hierarchy"] = {"dates": {}}
        columns["grade"]["hierarchy"] = {"order": {"groups": [2], "order": GRADES}}
    for name in columns if quasi else ():
        if columns[name]["role"] == "quasi" and name not in quasi:
            columns[name] = {"role": "neutral"}
    return Schema.from_document(
        {
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": k}],
            "others": "drop",
            "missing": ["?"],
        }
    )


def count(
    frame: pl.DataFrame, wanted: Schema, *, sensitive: tuple[str, ...] = ()
) -> FrequencyTable:
    source = open_source(frame)
    names = [*wanted.quasi, *sensitive]
    scanned = source.scan(names, coded=names)
    return frequencies(source, scanned, wanted, sensitive=sensitive).table


def at_levels(table: FrequencyTable, levels: dict[str, int]) -> Recoding:
    """Return full-domain recoding at given levels, whatever it promises."""
    space = space_of(table)
    steps = [levels[ladder.domain.name] for ladder in space.ladders]
    codes = np.stack(
        [
            ladder.codes[step][table.codes[:, j]]
            for j, (ladder, step) in enumerate(zip(space.ladders, steps, strict=True))
        ],
        axis=1,
    )
    classes, label = np.unique(codes, axis=0, return_inverse=True)
    low = np.full(classes.shape, 10**6, dtype=np.int32)
    high = np.zeros(classes.shape, dtype=np.int32)
    np.minimum.at(low, label, table.codes)
    np.maximum.at(high, label, table.codes)
    node = np.stack(
        [
            ladder.nodes[step][classes[:, j]]
            for j, (ladder, step) in enumerate(zip(space.ladders, steps, strict=True))
        ],
        axis=1,
    )
    return Recoding(
        table=space.table,
        low=low,
        high=high,
        row=np.arange(table.rows, dtype=np.int64),
        label=label.astype(np.int64),
        count=table.counts,
        node=node.astype(np.int32),
        facts={"levels": levels},
    )


def models() -> dict[str, RecodingModel]:
    """Return a model of each kind."""
    frame = table()
    fine, coarse = schema(levels=False, k=4), schema(levels=True, k=3)
    few = count(frame, fine)
    cut = mondrian(few, [KAnonymity(4)])
    centroids = [["7" if j == 0 else None for j in range(6)] for _ in range(cut.classes)]
    ladder = search(count(frame, coarse), [KAnonymity(3)], suppression_limit=0.6)
    clusters = refine(few, [KAnonymity(4)])
    about = {"utility": {"ncp": None}}
    rules = {
        "rules": {"age": 1, "born": 2},
        "masks": {"grade": 1, "zip": 3},
    }
    ruled = {}
    for name, levels in rules.items():
        wanted = schema(levels=True, k=5, quasi=tuple(levels))
        found = at_levels(count(frame, wanted), levels)
        ruled[name] = model_of(found, wanted, method="levels", **about)
    return {
        "levels": model_of(ladder, coarse, method="flash", **about),
        "mondrian": model_of(cut, fine, method="mondrian", **about),
        "clusters": model_of(clusters, fine, method="refine", on_unseen="nearest", **about),
        "centroids": model_of(cut, fine, method="mdav", released=centroids, **about),
        **ruled,
        "cuts": model_of_cuts(cutting(cut, fine), fine, method="mondrian", **about),
        "near": model_of_cuts(
            cutting(mondrian(few, [KAnonymity(9)]), fine), fine, method="mondrian",
            on_unseen="nearest", **about,
        ),
    }  # fmt: skip


def cutting(found: Recoding, wanted: Schema) -> Cutting:
    """Return the regions of a partition."""
    made = cut_regions(found, wanted, wanted.privacy)
    assert made is not None
    return made


ODD = [
    '{"age": -0, "born": "1970-01-01", "grade": "low", "place": "Malmö", "job": "nurse", '
    '"zip": 99}',
    '{"age": -0.0, "born": "2000-02-29T23:59:59.999999Z", "grade": " high ", "place": "Norden", '
    '"job": "B\\u00e4cker", "zip": "213", "note": 1.50}',
    '{"age":"1e2","born":"2000-02-30","grade":"?","place":null,"job":"",'
    '"zip":"75275","note":[1,{"a":"b"}]}',
    '{"age":17.999999999999999999999,"born":null,"grade":"top","place":"Αθήνα",'
    '"job":"cook \\ud83d\\udc69\\u200d\\ud83c\\udf73","zip":"10115","note":12345678901234567890}',
    '{"age":12345678901234567891,"born":"1999-02-28 00:00","grade":"middle","place":"東京","job":'
    '"nurse","zip":"75201","name":"nobody","extra":true}',
    '{"age":1E400,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"75275"}',
    '{"age":"٣","born":"1970-1-1","grade":"none","place":"Atlantis","job":"pilot","zip":"752755"}',
    '{"age":18,"born":"1969-12-31T24:00","grade":"low","place":"Süden","job":"a \\"quoted\\" job",'
    '"zip":"7527","note":"\\u0001 \\/ \\t"}',
    '{"age":0.1,"born":"2024-03-17 10:20:30","grade":"low","place":"大阪","job":'
    '"back\\\\slash","zip":"99"}',
    '{"age":0.1000000000000000055511151231257827,"born":"2024-03-17T10:20:30+01:00","grade":"low",'
    '"place":" 大阪 ","job":"nurse","zip":"99","note":null}',
    '{"age":true,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"}',
    '{"age":[1],"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"}',
    '{"age":1,"age":1,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"}',
    '{"age":1,"born":"1970-01-01"}',
    '{"age":01,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"}',
    '{"age":NaN,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"}',
    '{"age":1,"born":"1970-01-01","grade":"low","place":"\\ud800","job":"nurse","zip":"99"}',
    '{"age":1,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"',
    '{"age":1,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99"} {}',
    '{"age":1,"born":"1970-01-01","grade":"low","place":"Malmö","job":"nurse","zip":"99","note":'
    + "[" * 50 + "]" * 50 + "}",
    "null", "[]", "", "age,born",
    ' \t{ "zip" : "75201" , "job":"Bäcker","place":"Málaga","grade":"middle","born":"2000-03-01",'
    '"age":"+34.","note":"last",\r"illness":"flu" } ',
]  # fmt: skip


def lines(*, records: int = 60, seed: int = 1) -> list[str]:
    """Return lines: some people of the table, people mixed from its values, and odd ones."""
    chance = random.Random(seed)
    people = table().to_dicts()
    found = []
    for i in range(records):
        person = dict(chance.choice(people))
        if i % 3:
            for name in person:
                person[name] = chance.choice(people)[name]
        if i % 5 == 4:
            name = chance.choice(["age", "born", "grade", "place", "job", "zip"])
            person[name] = chance.choice(["", "?", " 34", "-1", "1e1", "2000-01-15", "東", "75299"])
        found.append(json.dumps(person, ensure_ascii=bool(i % 2)))
    return found


def encoded(document: dict[str, object], given: list[str]) -> list[str]:
    """Return what the plain encoder makes of lines."""
    encoder = Encoder(document)
    out = []
    for line in given:
        try:
            out.append(encode_line(encoder, line)[0])
        except Rejected as problem:
            out.append(f"!{problem}")
    return out


def main() -> None:
    """Write every golden file."""
    given = [*lines(), *ODD]
    (HERE / "lines.jsonl").write_text("\n".join(given) + "\n", encoding="utf-8")
    for name, model in models().items():
        (HERE / f"{name}.model.json").write_text(model.to_json(), encoding="utf-8")
        text = "\n".join(encoded(model.to_document(), given)) + "\n"
        (HERE / f"{name}.expected.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
