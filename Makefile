# Two commands matter: `make run` and `make test`. Both start from a bare checkout.
# Options:  make run DATA=somewhere PORT=8001      make test PYTEST="-k observation"
# While you work:  make quick (under 90 seconds)   make check (before every commit)
# Before a release, and in CI:  make test-all, the tests that `make test` leaves out

PYTHON ?= python3
DATA ?= interplay-data
PORT ?= 8000
PYTEST ?=
JOBS ?= 4
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-all test-fresh suite quick check lint types format clean

run: $(VENV)/installed-run
	$(BIN)/interplay serve --data $(DATA) --port $(PORT)

test: $(VENV)/installed-test node_modules/.package-lock.json
	@bash tools/ensure-chromium.sh
	$(MAKE) lint
	$(MAKE) --jobs 2 types suite

suite: $(VENV)/installed-test
	$(BIN)/interplay compile
	$(RUN_TESTS) --numprocesses $(JOBS) -m "journey or not ($(LEFT_OUT))" $(PYTEST)

# What `make test` leaves out, and nothing that it has.
test-all: $(VENV)/installed-test
	@bash tools/ensure-chromium.sh
	$(BIN)/interplay compile
	$(RUN_TESTS) --numprocesses $(JOBS) -m "not journey and ($(LEFT_OUT))" $(PYTEST)

# Why a test is left out: the marks that pyproject.toml explains.
LEFT_OUT := browser or postgres or processes or live_clock or every_machine or every_environment or documentation or fuzz or long_proof

# A fresh clone, `make run` in it, and then everything that the README says.
test-fresh:
	$(PYTHON) tests/fresh.py

# Whole files go to each process, because the tests of a file share servers and data. Compiled tests are kept for the next run.
# Many tests wait for clocks and browsers, so there are two processes more than the usual two cores.
RUN_TESTS := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder

# What one changes most, in 90 seconds: lint, the house, the browser modules, rules and arithmetic; more with PYTEST="tests/judge".
QUICK := tests/test_house.py tests/test_words.py tests/test_tables.py tests/test_files.py tests/rank tests/tasks packages/blockworld/tests
quick: $(VENV)/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	npm run --silent test
	$(RUN_TESTS) --numprocesses $(JOBS) -q -m "not ($(LEFT_OUT))" $(QUICK) $(PYTEST)

# Format, lint and types: seconds, run them before every commit.
check: lint types

lint: $(VENV)/installed-test node_modules/.package-lock.json
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m compileall -q interplay packages/blockworld
	npm run --silent test

types: $(VENV)/installed-test node_modules/.package-lock.json
	npm run --silent types
	$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python --summary=none

format: $(VENV)/installed-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

PIP := $(BIN)/pip install --disable-pip-version-check --constraint constraints.txt

# torch comes first and by its exact name, so that nothing later pulls another build of it.
$(VENV)/installed-run: pyproject.toml packages/blockworld/pyproject.toml constraints.txt
	@echo "Installing, once: 1 of 4, a Python environment in $(VENV)/"
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing, once: 2 of 4, PyTorch, the largest part"
	@$(PIP) torch
	@echo "Installing, once: 3 of 4, Interplay and what it needs"
	@$(PIP) --editable packages/blockworld --editable '.[all]'
	@$(PIP) --only-binary multi-agent-ale-py --editable packages/blockworld --editable '.[atari2p]' || echo "There is no emulator for two players for this Python: Space Invaders for two is left out."
	@echo "Installing, once: 4 of 4, the block world"
	@$(BIN)/interplay compile
	@touch $@

$(VENV)/installed-test: $(VENV)/installed-run
	@echo "Installing, once: what the tests need"
	@$(PIP) --editable packages/blockworld --editable '.[test]'
	@touch $@

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

clean:
	rm -rf $(VENV) node_modules build dist *.egg-info packages/*/dist
