"""A promise that the package does not know works everywhere, by one file."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.privacy import outside
from tests.privacy.outside import OutsideLikeness

import shoal
from shoal import api, edge
from shoal.core.errors import NoSolutionError

BETA = 1.5
METHODS = [method.name for method in api.methods()]


def frame(records=120, seed=5):
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [chance.randint(20, 60) for _ in range(records)],
            "job": [chance.choice("abcdef") for _ in range(records)],
            "ill": [chance.choices("uvwx", [8, 4, 2, 1])[0] for _ in range(records)],
        }
    )


def schema():
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "job": {"role": "quasi", "kind": "categorical"},
        "ill": {"role": "sensitive", "kind": "categorical"},
    }
    promise = [{"model": "k-anonymity", "k": 2}, {"model": "outside-likeness", "beta": BETA}]
    return shoal.Schema.from_document(
        {"columns": columns, "privacy": promise, "suppression_limit": 0.2}
    )


def keeps_it(rows):
    """Judge released rows by the definition, in fractions; shares no code with shoal."""
    whole = Counter(row["ill"] for row in rows)
    classes: dict = {}
    for row in rows:
        classes.setdefault((row["age"], row["job"]), []).append(row["ill"])
    return all(
        Fraction(count * len(rows), len(members) * whole[value]) - 1 <= Fraction(BETA)
        for members in classes.values()
        for value, count in Counter(members).items()
    )


def test_the_file_is_small():
    assert len(Path(outside.__file__).read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_it(method):
    try:
        release = shoal.anonymize(frame(), schema(), method=method)
    except NoSolutionError:
        assert method == "datafly"  # greedy: it may find nothing within the limit
        return
    assert keeps_it(release.table.to_dicts())
    assert [verdict.model.name for verdict in release.report.privacy] == [
        "k-anonymity",
        "outside-likeness",
    ]


def test_verify_measures_it():
    raw = shoal.verify(frame(), schema())
    assert not raw.holds
    assert not keeps_it(frame().to_dicts())
    asked = shoal.verify(
        frame(), schema(), privacy=[OutsideLikeness(beta=20.0)], replace_promise=True
    )
    assert asked.holds


def test_a_schema_file_and_a_report_name_it(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(yaml.safe_dump(schema().to_document()), encoding="utf-8")
    again = shoal.Schema.load(path)
    assert again.privacy == schema().privacy
    report = shoal.anonymize(frame(), again).report.to_document()
    assert report["privacy"][1]["model"] == "outside-likeness"


def test_a_parameter_without_a_stated_direction_drops_no_promise():
    release = shoal.anonymize(frame(), schema(), privacy=[OutsideLikeness(beta=BETA + 1)])
    asked = [verdict.model.parameters().get("beta") for verdict in release.report.privacy]
    assert asked == [None, BETA, BETA + 1]


def test_the_edge_keeps_it():
    model = shoal.learn(frame(), schema())
    document = model.to_document()
    rows = [{k: str(v) for k, v in row.items()} for row in frame(seed=6).to_dicts()]
    released, _ = edge.encode_safe(rows, document)
    assert released
    assert keeps_it(released)
    assert edge.verify(released, document).holds
