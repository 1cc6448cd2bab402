"""Options that replace identifying columns: what they make of a schema, and what they refuse."""

from __future__ import annotations

import pytest

from shoal.cli.options.replacing import ReplacingOptions
from shoal.core.errors import SchemaError, ShoalError
from shoal.schema.schema import Schema
from shoal.schema.techniques import Mask, Pseudonym, Shift


def schema(**columns):
    return Schema.from_document({"columns": {"age": "quasi", "name": "identifying", **columns}})


def test_nothing_asked_changes_nothing():
    assert ReplacingOptions().added_to(schema()) == schema()
    assert ReplacingOptions().files() == ()


def test_a_known_column_is_replaced_and_a_new_one_is_added():
    found = ReplacingOptions(pseudonym="id,name", key="k").added_to(schema())
    assert found.replaced == {"name": Pseudonym(), "id": Pseudonym()}
    assert found.released == ("age", "name", "id")


def test_fresh_holds_for_pseudonyms_and_shifts():
    asked = ReplacingOptions(pseudonym="id", shift="day", shift_by="id", fresh=True)
    found = asked.added_to(schema()).replaced
    assert found == {"id": Pseudonym(fresh=True), "day": Shift(by="id", fresh=True)}


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("name=first:1", Mask(keep_first=1)),
        ("name=last:4", Mask(keep_last=4)),
        ("name=first:1,last:2", Mask(keep_first=1, keep_last=2)),
    ],
)
def test_masks_are_read(text, mask):
    assert ReplacingOptions(mask=[text]).added_to(schema()).replaced == {"name": mask}


@pytest.mark.parametrize("text", ["name", "=last:4", "name=middle:1", "name=last:x", "name="])
def test_a_mask_that_cannot_be_read_is_refused(text):
    with pytest.raises(ShoalError, match="must be such as ssn=last:4"):
        ReplacingOptions(mask=[text]).added_to(schema())


def test_the_key_file_must_not_be_written_to():
    assert ReplacingOptions(key="project.key").files() == ("project.key",)


def test_a_column_of_another_role_is_not_replaced():
    with pytest.raises(SchemaError, match="'age' is quasi"):
        ReplacingOptions(pseudonym="age", fresh=True).added_to(schema())


def test_days_are_checked():
    with pytest.raises(ShoalError, match="from 1 to 36500"):
        ReplacingOptions(shift="day", shift_by="id", shift_days=0).added_to(schema())
