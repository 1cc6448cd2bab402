"""Finding the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import MethodError
from shoal.dp.ledgers import default_ledger, open_ledger


def test_an_unknown_kind_of_address_is_refused():
    with pytest.raises(MethodError, match="postgresql"), open_ledger("mysql://somewhere/x"):
        pass


def test_the_place_of_the_ledger_can_be_set_once_for_all(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOAL_LEDGER", "team.sqlite")
    assert default_ledger() == "team.sqlite"
    monkeypatch.delenv("SHOAL_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert default_ledger() == str(Path("data") / "shoal" / "ledger.sqlite")
