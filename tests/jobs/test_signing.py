"""Signing: what the command writes is trusted by the key's public half."""

from __future__ import annotations

import subprocess

import pytest

from shoal.model.model import RecodingModel
from shoal.model.trust import Trust, read_public_key

pytest.importorskip("cryptography", reason="cryptography is not installed")


@pytest.mark.local("models are signed where they are learned")
def test_a_model_is_signed_as_it_is_learned(tmp_path, run):
    key, public = tmp_path / "key.pem", tmp_path / "key.pub"
    try:
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, timeout=60
        )
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    except OSError:
        pytest.skip("openssl is not installed")
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    table.write_text("age,place\n" + "".join(f"{20 + i % 4},P{i % 3}\n" for i in range(120)))
    flags = ("--qi", "age,place", "--numeric", "age", "-k", 4, "--model", model)
    assert run("learn", table, *flags, "--sign", key).code == 0
    assert RecodingModel.load(model, trust=Trust(key=read_public_key(public))).records == 120
    out = tmp_path / "o.csv"
    assert run("encode", model, table, "--out", out, "--trust", public, "--min-k", 4).code == 0
    refused = run("encode", model, table, "--out", out, "--min-k", 60)
    assert refused.code == 2
    assert "at least 60 are asked for" in refused.err
    refused = run("learn", table, *flags[:-1], tmp_path / "n.json", "--sign", public)
    assert refused.code == 2
    assert not (tmp_path / "n.json").exists()
