# Needs Python 3.11 or newer and make, nothing else. On Windows, see README.md.

PYTHON ?= python3
SECONDS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed

.PHONY: demo test lint types tests clean

demo: $(STAMP) ## A show on this machine; `make demo SECONDS=10` ends by itself.
	$(BIN)/understudy demo $(if $(SECONDS),--seconds $(SECONDS))

test: lint types tests ## Lint, types and the whole suite.

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)
	$(BIN)/mypy

tests: $(STAMP)
	$(BIN)/pytest

clean: ## Remove the environment and caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The install is repeated only when what it installs has changed.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "understudy needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
	    "Give another: make PYTHON=python3.12" >&2; exit 1; }
	@echo "installing into $(VENV), once: a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)
