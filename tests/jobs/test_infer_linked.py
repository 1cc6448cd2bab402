"""A schema of linked tables, proposed from a folder of them."""

import pytest

from shoal.core.errors import InputError
from shoal.jobs.infer_linked import infer_linked
from shoal.jobs.linked import verify_linked
from shoal.jobs.linked_requests import LinkedVerifyRequest
from shoal.jobs.requests import InferRequest
from shoal.samples.linked import linked_hospital
from shoal.schema.linked import LinkedSchema

pytestmark = pytest.mark.local("linked tables")
ASKED = InferRequest(table=None, max_size=2)


@pytest.fixture
def hospital(tmp_path):
    linked_hospital(tmp_path / "h", 200)
    return tmp_path / "h"


def test_keys_parents_and_roles_are_those_of_the_sample(hospital, tmp_path):
    found = infer_linked(hospital, ASKED)
    right = LinkedSchema.load(hospital / "schema.yaml")
    for table in found.schema.tables:
        known = next(each for each in right.tables if each.name == table.name)
        assert (table.key, table.parent, table.foreign_key) == (
            known.key, known.parent, known.foreign_key,
        )  # fmt: skip
    assert found.links.root == "patients"
    assert found.schema.persons.schema.attribute("name").role == "identifying"
    document = found.to_document()
    assert document["tables"]["patients"]["persons"] is True
    assert not any("persons are counted by it" in text for text in document["notices"])


def test_what_is_written_is_a_schema_that_the_tables_are_judged_by(hospital, tmp_path):
    infer_linked(hospital, ASKED).write(tmp_path / "proposed.yaml")
    text = (tmp_path / "proposed.yaml").read_text()
    assert not any(value in text for value in ("P0", "S0", "R0"))
    schema = LinkedSchema.load(tmp_path / "proposed.yaml")
    found = verify_linked(LinkedVerifyRequest(tables=hospital, schema=schema))
    assert (found.holds, found.persons) == (False, 200)


def test_a_further_key_in_a_table_is_removed(hospital):
    stays = {}
    for line in (hospital / "stays.csv").read_text().splitlines()[1:]:
        stay, patient, *_ = line.split(",")
        stays[stay] = patient
    lines = (hospital / "prescriptions.csv").read_text().splitlines()
    more = [f"{lines[0]},patient_id", *(f"{x},{stays[x.split(',')[1]]}" for x in lines[1:])]
    (hospital / "prescriptions.csv").write_text("\n".join(more) + "\n")
    found = infer_linked(hospital, ASKED)
    assert found.links.parents["prescriptions"].parent == "stays"
    (table,) = (each for each in found.schema.tables if each.name == "prescriptions")
    assert table.schema.attribute("patient_id").role == "identifying"


def test_folders_that_hold_no_linked_tables_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="at least two tables"):
        infer_linked(tmp_path, ASKED)
    (tmp_path / "b.csv").write_text("y\n1\n2\n")
    with pytest.raises(InputError, match="no table is the persons'"):
        infer_linked(tmp_path, ASKED)
    (tmp_path / "b.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="keep one file of a table"):
        infer_linked(tmp_path, ASKED)
