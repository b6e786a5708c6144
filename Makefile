# Two commands matter: `make run` and `make test`. Both start from a bare checkout.
# Options:  make run DATA=somewhere PORT=8001      make test PYTEST="-k observation"

PYTHON ?= python3
DATA ?= interplay-data
PORT ?= 8000
PYTEST ?=
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check format lint types unit browser clean

run: $(VENV)/installed-run
	$(BIN)/interplay serve --data $(DATA) --port $(PORT)

test: $(VENV)/installed-test node_modules/.package-lock.json
	@bash tools/ensure-chromium.sh
	$(MAKE) check
	$(BIN)/python -m pytest $(PYTEST)

# Format, lint and types: seconds, run them before every commit.
check: $(VENV)/installed-test node_modules/.package-lock.json
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m compileall -q interplay
	npm run --silent types
	npm run --silent test

format: $(VENV)/installed-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# torch comes first and by its exact name, so that nothing later pulls another build of it.
$(VENV)/installed-run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed-run
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

clean:
	rm -rf $(VENV) node_modules build dist *.egg-info
