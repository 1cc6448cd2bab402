"""Drawn releases whose marginals have noise: paid for first, refused where nothing is left."""

from __future__ import annotations

import pytest
from tests.jobs.test_drawn import WORDS, people

import shoal
from shoal.core.errors import SchemaError
from shoal.dp.accounting import Accounting, Limit
from shoal.dp.errors import BudgetError
from shoal.dp.ledgers import open_ledger
from shoal.dp.marginals import NoisyCounts, charge_marginals

pytest.importorskip("opendp")


def drawn(table, ledger, **words):
    return shoal.anonymize(table, **{**WORDS, "epsilon": 0.6, "budget": str(ledger), **words})


def test_marginals_are_charged_once_and_the_second_release_is_refused(tmp_path):
    ledger, out = tmp_path / "b.db", tmp_path / "out.csv"
    made = drawn(people(), ledger, fidelity=True)  # trials on halves of the table cost nothing
    about = made.report.facts["drawn"]
    assert about["exact_marginals"] is False
    assert about["epsilon"] == 0.6
    assert "the file as a whole is not" in made.report.warnings[1]
    with open_ledger(ledger) as book:
        (account,) = book.accounts()
        assert account.remaining == pytest.approx(0.4)
        charged = [entry for entry in book.entries() if entry.event == "charge"]
    assert [entry.question["columns"] for entry in charged] == [WORDS["qi"]]
    with pytest.raises(BudgetError, match=r"0\.4 is left"):
        drawn(people(), ledger, out=str(out))
    assert not out.exists()


def test_a_model_has_noisy_weights_too(tmp_path):
    words = {name: value for name, value in WORDS.items() if name != "attacks"}
    asked = {**words, "epsilon": 0.5, "budget": str(tmp_path / "b.db")}
    one, two = shoal.learn(people(), **asked), shoal.learn(people(), **asked)
    assert one.drawn is not None
    assert one.drawn != two.drawn  # the noise is the operating system's, not the seed's


def test_an_account_of_rho_pays_in_rho(tmp_path):
    with open_ledger(tmp_path / "b.db") as book:
        book.open(Limit(rho=0.1, delta=1e-6, accounting="zcdp").account("x"))
    after = charge_marginals("x", ["a"], epsilon=0.2, ledger=tmp_path / "b.db")
    assert after.accounting is Accounting.ZCDP
    assert after.left.to_document()["rho"] == pytest.approx(0.08)


def test_counts_are_near_what_they_are_and_never_negative():
    noisy = NoisyCounts(100.0, 2)
    found = noisy([0, 50, 1000])
    assert min(found) >= 0
    assert found == pytest.approx([0, 50, 1000], abs=5)
    spread = [NoisyCounts(0.1, 1)([1000])[0] for _ in range(200)]
    assert 5 < sum(abs(n - 1000) for n in spread) / 200 < 16  # 1/epsilon on average


@pytest.mark.parametrize(("words", "problem"), [
    ({"release": None}, "goes with --release draw"), ({"epsilon": 0.0}, "above 0"),
    ({"epsilon": None}, "goes with --epsilon"),
    ({"person": "illness", "sensitive": []}, "nothing bounds them"),
])  # fmt: skip
def test_what_does_not_go_with_noise_is_refused(words, problem, tmp_path):
    with pytest.raises(SchemaError, match=problem):
        drawn(people(50), tmp_path / "b.db", **words)
