from __future__ import annotations

from shoal.cli.attack_lines import close_lines

FOUND = {
    "attack": "membership", "assumption": "a list of all", "success_low": 0.1, "success_high": 0.3,
    "control": 0.0, "proven_claims": 20, "proven_right": 0.95, "proven_right_low": 0.76,
    "proven_right_high": 0.99, "proven_recall": 0.2, "sure_claims": 0, "sure_right": None,
    "people_in_the_register": 1_000, "certain_ill": 0.5, "certain_ill_alone": 0.1,
}  # fmt: skip


def test_assumption_interval_control_and_scored_claims_are_printed():
    assert close_lines(FOUND) == [
        "  membership",
        "    assumes     a list of all",
        "    95 %        10.0% to 30.0%; of people who are not in the table 0.0%",
        "    claims      proven: 20, right in 95.0% (76.0% to 99.0%), which are 20.0% of all",
        "    claims      90 % sure: 0",
        "    counts      1,000 people in the register",
        "    certain     ill: 10.0% by one release, 50.0% by all",
    ]


def test_without_a_control_or_an_assumption_nothing_is_invented():
    assert close_lines({**FOUND, "control": None})[2] == "    95 %        10.0% to 30.0%"
    assert close_lines({"attack": "linkage"}) == []
    assert close_lines(None) == []
