# Everything a person or a machine does here, from a fresh clone with Python 3.11 or newer (python3-venv) and make.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8080
ARGS =

BIN := .venv/bin
INSTALLED := .venv/.installed
INSTALLED_DEV := .venv/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check
CODE := $(wildcard src tests bench scripts packaging)
OPENAPI := docs/reference/openapi.json

.PHONY: help install install-dev console run test lint lint-format lint-rules lint-types lint-console check fix bench guard openapi openapi-current reference access migration crash campaign prices pictures lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED)  ## make .venv from requirements.lock, with .venv/bin/retinue: what running it takes

install-dev: $(INSTALLED_DEV)  ## add what tests and checks need: requirements-dev.lock

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Retinue needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1 || true)."; \
		echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@[ -x $(BIN)/pip ] || $(PYTHON) -m venv --clear .venv || { \
		echo "Cannot make .venv: is the venv module installed (Debian: apt-get install python3-venv)?"; exit 1; }
	@echo "Installing $$(grep -c == requirements.lock) pinned packages into .venv …"
	@$(PIP) install -qq --no-deps --requirement requirements.lock
	@RETINUE_CONSOLE=skip $(PIP) install -qq --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q -j 0 src/retinue
	@$(PIP) check
	@touch $@

$(INSTALLED_DEV): requirements-dev.lock $(INSTALLED)
	@echo "Installing $$(grep -c == requirements-dev.lock) pinned packages for tests and checks into .venv …"
	@$(PIP) install -qq --no-compile --no-deps --requirement requirements-dev.lock
	@$(PIP) check
	@touch $@

console: install  ## build the console if its sources have changed; takes Node from the package index where there is none
	@$(BIN)/python packaging/console_build.py build

run: install  ## fetch the weights of the embedded models, start the server; HOST and PORT choose the address
	@$(BIN)/python packaging/console_build.py build || echo "Starting without the console, the chat widget and form pages: they could not be built."
	@$(BIN)/retinue models pull || echo "Starting without the embedded models whose weights are missing."
	@exec $(BIN)/retinue serve --host $(HOST) --port $(PORT) $(ARGS)

test: install-dev  ## the suite on SQLite, and on PostgreSQL and Redis where they answer; ARGS go to pytest
	@$(BIN)/python packaging/console_build.py build
	@$(BIN)/python packaging/console_build.py test
	@$(BIN)/python scripts/suite.py $(ARGS)

lint: install-dev  ## format, lint and types of both languages: the part of check for every few minutes
	@$(MAKE) --no-print-directory --output-sync=target -j4 lint-format lint-rules lint-types lint-console

lint-format:
	$(BIN)/ruff format --check $(CODE)
lint-rules:
	$(BIN)/ruff check $(CODE)
lint-types:
	$(BIN)/mypy
lint-console:
	@$(BIN)/python packaging/console_build.py check

check: lint  ## lint, import contracts, shape, dependencies, OpenAPI document
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest tests/contract/test_shape.py tests/contract/test_names.py tests/contract/test_dependencies.py
	@$(BIN)/python scripts/reference.py --check
	@$(MAKE) --no-print-directory openapi-current

fix: install-dev  ## format, and repair what ruff can repair
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

bench: install-dev  ## our CPU time per request beside a bare ASGI app; ARGS go to the benchmark
	$(BIN)/python -m bench $(ARGS)

guard: install-dev  ## one minute of it: this tree beside the last landed commit; ARGS name another one
	@$(BIN)/python -m bench.guard $(ARGS)

openapi: install  ## write docs/reference/openapi.json
	@mkdir -p $(dir $(OPENAPI))
	@$(BIN)/retinue openapi > $(OPENAPI).new && mv $(OPENAPI).new $(OPENAPI) || { rm -f $(OPENAPI).new; exit 1; }

reference: install  ## write docs/reference/*.md from the declarations
	@$(BIN)/python scripts/reference.py

access: install-dev  ## write the table of who may call what, to be read in review
	@PYTHONPATH=src:. $(BIN)/python -c 'from tests.contract.test_roles import TABLE, who_may_call; TABLE.write_text(who_may_call())'

migration: install-dev  ## draft the next migration: make migration NAME="add boxes"
	@$(BIN)/python scripts/migration.py $(NAME)

openapi-current: install
	@fresh=$$(mktemp) && trap 'rm -f "$$fresh"' EXIT && $(BIN)/retinue openapi > "$$fresh"; \
	if cmp --silent $(OPENAPI) "$$fresh"; then \
		echo "openapi: $(OPENAPI) is current"; \
	else \
		echo "openapi: $(OPENAPI) is missing or stale: run make openapi"; exit 1; \
	fi

crash: install-dev  ## 200 kills of the server under load
	RETINUE_TEST_KILLS=200 $(BIN)/python -m pytest tests/e2e/test_crash.py $(ARGS)

campaign: install-dev  ## the long forms of the tests, with their figures in docs/reference/campaign.md; ARGS name parts
	$(BIN)/python scripts/campaign.py $(ARGS)

prices: install  ## write the list prices of models (adapters/llm/prices.json) from the newest genai-prices
	@[ -x build/prices/bin/pip ] || $(PYTHON) -m venv --clear build/prices
	@build/prices/bin/pip install -qq --upgrade genai-prices
	@build/prices/bin/python scripts/prices.py

pictures: install-dev console  ## make docs/pictures of the console from a server that runs; ARGS name some of them
	$(BIN)/python scripts/pictures.py $(ARGS)

lock:  ## write the lock files and the bill of materials from what pyproject.toml names and .venv holds
	@[ -x $(BIN)/pip ] || $(PYTHON) -m venv --clear .venv
	@$(PIP) install -qq --editable '.[all,dev]'
	@$(BIN)/python scripts/lock.py
	@$(BIN)/python scripts/sbom.py

clean:  ## remove the environment, caches and builds; data/ stays
	rm -rf .venv .ruff_cache .mypy_cache .pytest_cache .import_linter_cache .hypothesis build dist src/*.egg-info
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +
