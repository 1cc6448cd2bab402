import stat
from collections import Counter

import polars as pl
import pytest
from tests.engines.test_xk import QUASI, SCHEMA, people

from shoal.api import Choices, Techniques, release_xk
from shoal.core.errors import NoSolutionError, OutputError

pytestmark = pytest.mark.local("xk-anonymity")


def released(tmp_path, label="gcs", **options):
    folder = tmp_path / "inside" / "steps"
    chosen = Choices(techniques=Techniques.parse(label), diversity=2, **options)
    done = release_xk(
        people(), SCHEMA, k=5, out=tmp_path / "o.csv", xk=3, choices=chosen, steps=folder
    )
    return done, folder


def read(path):
    return pl.read_csv(path, infer_schema=False)


def test_steps_writes_pairs_and_table_after_each_step_for_this_user_alone(tmp_path):
    _, folder = released(tmp_path)
    names = ["1-unification", "2-diversification", "3-generalization", "4-cell-suppression",
             "5-filling", "6-suppression", "7-confirmation"]  # fmt: skip
    expected = {f"{name}-{what}.csv" for name in names for what in ("pairs", "table")}
    assert {path.name for path in folder.iterdir()} == expected
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_pairs_of_each_step_are_those_of_its_table(tmp_path):
    _, folder = released(tmp_path)
    for path in sorted(folder.glob("*-pairs.csv")):
        pairs, table = read(path), read(str(path).replace("-pairs", "-table"))
        counted = Counter(table.filter(table["is_false"] == "false").select(QUASI).rows())
        false = Counter(table.filter(table["is_false"] == "true").select(QUASI).rows())
        assert len(counted) == pairs.height
        for row in pairs.iter_rows(named=True):
            key = tuple(row[name] for name in QUASI)
            assert int(row["records"]) == counted[key]
            assert int(row["false_records"]) == false[key]
            own = table.filter(*(pl.col(n).eq_missing(pl.lit(row[n])) for n in QUASI))
            values = own["illness"].drop_nulls().n_unique()  # with S, empty cells are no values
            assert int(row["diversity_illness"]) == values


def test_the_first_step_is_the_unified_table_and_the_last_one_the_release(tmp_path):
    done, folder = released(tmp_path)
    first = read(folder / "1-unification-table.csv")
    assert first.height == 400
    last = read(folder / "7-confirmation-table.csv")
    assert last.drop("is_false", "is_to_be_suppressed").equals(read(tmp_path / "o.csv"))
    marked = read(folder / "5-filling-table.csv")["is_to_be_suppressed"]
    assert (marked == "true").sum() == done.outcome.suppressed  # S removes nothing in step 2


def test_gradual_steps_are_numbered_by_their_stage(tmp_path):
    _, folder = released(tmp_path, "c", gradual=True)
    assert (folder / "4-cell-suppression-1-table.csv").is_file()


def test_steps_need_a_folder_of_their_own(tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").touch()
    with pytest.raises(OutputError, match="not empty"):
        release_xk(people(), SCHEMA, k=5, out=tmp_path / "o.csv", xk=3, steps=full)
    with pytest.raises(OutputError, match="write the release to another folder"):
        release_xk(people(), SCHEMA, k=5, out=tmp_path / "o.csv", xk=3, steps=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be a folder"):
        release_xk(people(), SCHEMA, k=5, out=tmp_path / "o.csv", xk=3, steps=tmp_path / "file")
    assert not (tmp_path / "o.csv").exists()


def test_columns_that_have_the_names_of_the_trail_keep_them(tmp_path):
    table = people().rename({"wage": "is_false", "sex": "records"})
    document = SCHEMA.to_document()
    document["columns"] = {
        {"wage": "is_false", "sex": "records"}.get(name, name): entry
        for name, entry in document["columns"].items()
    }
    document["waive"] = ["is_false", "illness"]
    schema = type(SCHEMA).from_document(document)
    release_xk(table, schema, k=5, out=tmp_path / "o.csv", xk=3, steps=tmp_path / "steps")
    assert "is_false_" in read(tmp_path / "steps" / "5-filling-table.csv").columns
    assert "records_" in read(tmp_path / "steps" / "5-filling-pairs.csv").columns


def test_the_trail_of_a_refused_release_stays_for_the_audit(tmp_path):
    chosen = Choices(suppression_limit=0)
    with pytest.raises(NoSolutionError):
        release_xk(people(), SCHEMA, k=5, out=tmp_path / "o.csv", xk=3, choices=chosen,
                   steps=tmp_path / "steps")  # fmt: skip
    assert (tmp_path / "steps" / "6-suppression-table.csv").is_file()
    assert not (tmp_path / "o.csv").exists()
