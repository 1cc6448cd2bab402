# Everything a fresh machine needs is python3 (3.11 or newer, with venv), pip and make.
#
#   make run     set up what running needs, make a sample, release it, verify the release
#   make test    set up what tests need too, and run every test but the nightly ones, with a sample of each law
#   make test-all    every test: 10,000 random releases before an independent judge, for one
#   make test-spark  the tests that go through an engine once more, on Spark (needs Java)
#   make test-plain  the kernels' tests once more, compiled by Numba's own way
#   make check   ruff, mypy and the import table
#   make house   what can be counted of the source, and where to look
#   make readme  renew the output that README shows
#   make tutorials   renew what the Python examples of the tutorials print
#   make notebooks  run the notebooks again, and keep what they print
#   make mistakes    renew the page of mistakes and their messages
#   make reference   renew the pages of commands, methods and Python names
#   make docs    the documentation as a site, in site/
#   make dist    wheel and source distribution in dist/, with an SBOM (CycloneDX) of what running needs

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
OUT := out
SITE := .venv-docs/.ready
BUILD := .venv-dist/.ready
MICROPYTHON := $(VENV)/npm/.ready

.PHONY: run test test-all test-plain test-spark check house readme tutorials notebooks mistakes reference docs dist format lock bench clean

# Kernels are compiled when a command first needs them: `make run` needs few.
$(RUNS): requirements-run.lock pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --require-hashes -r requirements-run.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# The same versions and more, into the same folder; tests use every kernel.
$(STAMP): requirements.lock $(RUNS)
	$(PIP) --require-hashes -r requirements.lock
	$(BIN)/shoal warm --quiet
	@touch $@

run: $(RUNS)
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
	SHOAL_NPM=$(abspath $(dir $(MICROPYTHON))) $(BIN)/python -m pytest -n 2 --dist loadgroup \
	    --hypothesis-profile=sample -m "not nightly"

test-all: $(MICROPYTHON)
	SHOAL_NPM=$(abspath $(dir $(MICROPYTHON))) $(BIN)/python -m pytest -n 2 --dist loadgroup

test-plain: $(STAMP)
	SHOAL_PLAIN_NUMBA=1 $(BIN)/python -m pytest -n 2 -m "not slow and not nightly" tests/kernels

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

readme: $(RUNS)
	$(BIN)/python -m tests.docs.readme

tutorials: $(STAMP)
	$(BIN)/python -m tests.docs.tutorials

notebooks: $(STAMP)
	$(BIN)/python -m tests.docs.notebooks

mistakes: $(STAMP)
	$(BIN)/python -m tests.docs.mistakes

reference: $(STAMP)
	$(BIN)/python -m tests.docs.reference

# The site's generator has an environment of its own: it shares nothing with what it describes.
$(SITE): requirements-docs.lock
	$(PYTHON) -m venv --clear $(dir $@)
	$(dir $@)bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

docs: $(SITE)
	$(dir $(SITE))bin/zensical build --strict

$(BUILD): requirements-dist.lock
	$(PYTHON) -m venv --clear $(dir $@)
	$(dir $@)bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dist.lock
	@touch $@

dist: $(BUILD)
	rm -rf dist
	$(dir $(BUILD))bin/python -m build --outdir dist .
	$(dir $(BUILD))bin/cyclonedx-py requirements requirements-run.lock --pyproject pyproject.toml \
	    --output-reproducible --output-format JSON --output-file dist/shoal.cdx.json

format: $(STAMP)
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.clustering

# Needs the tool uv; the files it writes name no host. What running needs has the same versions in both.
COMPILE := uv pip compile pyproject.toml --universal --python-version 3.11 \
    --generate-hashes --no-annotate --no-header --quiet
lock:
	$(COMPILE) --extra dev -o requirements.lock
	$(COMPILE) --group build --constraint requirements.lock -o requirements-run.lock
	$(subst pyproject.toml,--group docs,$(COMPILE)) -o requirements-docs.lock
	$(subst pyproject.toml,--group dist,$(COMPILE)) -o requirements-dist.lock

clean:
	rm -rf $(VENV) .venv-docs .venv-dist site $(OUT) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
