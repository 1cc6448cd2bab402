# Everything a fresh machine needs is python3 (3.11 or newer, with venv), pip and make.
#
#   make run     set up, make a sample, release it, verify the release
#   make test    set up and run every test but the nightly ones
#   make test-all    every test: 10,000 random releases before an independent judge, for one
#   make test-spark  the tests that go through an engine once more, on Spark (needs Java)
#   make check   ruff, mypy and the import table
#   make house   what can be counted of the source, and where to look

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
OUT := out
MICROPYTHON := $(VENV)/npm/.ready

.PHONY: run test test-all test-spark check house format lock bench clean

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(STAMP)
	@mkdir -p $(OUT)
	$(BIN)/shoal sample hospital --records 20000 --seed 1 --out $(OUT)/hospital.csv --overwrite
	$(BIN)/shoal anonymize $(OUT)/hospital.csv --schema $(OUT)/hospital.schema.yaml -k 5 --l 2 \
	    --out $(OUT)/release.csv --report $(OUT)/report.html
	$(BIN)/shoal verify $(OUT)/release.csv --schema $(OUT)/hospital.schema.yaml -k 5 --l 2

# A real MicroPython (compiled to WebAssembly) for the exported files; skipped without npm.
$(MICROPYTHON): $(STAMP)
	@mkdir -p $(dir $@)
	-@command -v npm >/dev/null && npm install --silent --no-audit --no-fund --no-save \
	    --no-package-lock --prefix $(dir $@) @micropython/micropython-webassembly-pyscript@1.27.0
	@touch $@

test: $(MICROPYTHON)
	SHOAL_NPM=$(abspath $(dir $(MICROPYTHON))) $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not nightly"

test-all: $(MICROPYTHON)
	SHOAL_NPM=$(abspath $(dir $(MICROPYTHON))) $(BIN)/python -m pytest -n 2 --dist loadgroup

# One session for the run. The guide docs/guides/spark.md says what is left to the local engine.
test-spark: $(STAMP)
	$(BIN)/python -m pytest --engine spark -m "not slow and not nightly" tests

check: $(STAMP)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_imports.py

house: $(STAMP)
	@$(BIN)/python -m tests.house

format: $(STAMP)
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.clustering

# Needs the tool uv; the file it writes names no host.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	    --generate-hashes --no-annotate --no-header --quiet -o requirements.lock

clean:
	rm -rf $(VENV) $(OUT) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
