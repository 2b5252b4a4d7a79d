# Everything here sets itself up: it needs python3 (3.11 or later), pip and make.
#
# PYTHON=python3.12 make test     use another interpreter (after `make clean`)

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint suite exhaustive bench fuzz crash docs clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.run ## the whole road on simulated data; ends with a page to look at
	@$(VENV)/bin/splice demo

test: $(VENV)/.dev ## lint, and all tests and doctests beside it
	@$(MAKE) --no-print-directory -j 2 lint suite

suite: $(VENV)/.dev ## all tests and doctests
	@$(PY) -m pytest -q -n 2

exhaustive: $(VENV)/.dev ## the tests that take long, which have smaller twins in `make test`
	@SPLICE_EXHAUSTIVE=1 $(PY) -m pytest -q -n 2 -m exhaustive

lint: $(VENV)/.dev ## ruff (rules and format) and mypy
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy

bench: $(VENV)/.run ## measure speed, as ratios within one run
	@$(PY) -m benchmarks

fuzz: $(VENV)/.dev ## damaged input for everything that reads; SECONDS=3600 for as long, fuzz.log counts
	@PYTHONPATH=tests $(PY) -m fuzz.campaign --seconds $(or $(SECONDS),60) --log fuzz.log

crash: $(VENV)/.dev ## stop every writing command at every call that writes; SHARE=0.1 for a part, crash.log counts
	@PYTHONPATH=tests $(PY) -m crash.campaign --share $(or $(SHARE),1.0) --log crash.log

docs: $(VENV)/.docs ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	@echo "the documentation is in site/index.html"

clean: ## remove all that make has made
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks splice-demo.html
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of packages; a change of what they are made from installs again.
$(VENV)/.run:  WHAT := .
$(VENV)/.dev:  WHAT := .[dev]
$(VENV)/.docs: WHAT := .[docs]

$(VENV)/.run $(VENV)/.dev $(VENV)/.docs: pyproject.toml constraints.txt | $(PY)
	@echo "installing $(WHAT) into $(VENV), in the versions of constraints.txt"
	@$(PIP) install -c constraints.txt hatchling
	@$(PIP) install -c constraints.txt --no-build-isolation --editable '$(WHAT)'
	@touch $@

$(PY):
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: '$(PYTHON)' is not there; install Python 3.11 or later, or say PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is `$(PYTHON) -V 2>&1`; splice needs Python 3.11 or later" >&2; \
	  echo "hint: name another interpreter, for example: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "error: $(PYTHON) cannot make virtual environments: its 'venv' or 'ensurepip' module is missing" >&2; \
	  echo "hint: on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) with `$(PYTHON) -V`"
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
