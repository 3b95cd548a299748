# Everything runs in .venv, which the first target makes from pyproject.toml and constraints.txt.
# Needs make and Python 3.10 or newer; choose one with `make demo PYTHON=python3.12`.

PYTHON ?= python3
BIN := .venv/bin
RUNTIME := .venv/.runtime
TOOLS := .venv/.tools
KERNELS := .venv/.kernels
READY := $(TOOLS) $(KERNELS)
DOCS_READY := .venv/.docs-ready
# Bytecode is written at the first import: most modules of the dependencies never are imported.
# Kernels have a target of their own, which compiles them while pip goes on.
INSTALL := INFINIMIX_AHEAD=none $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile -c constraints.txt
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Bytecode is kept, whatever the environment says: tests start dozens of processes.
export PYTHONDONTWRITEBYTECODE :=
# Kernels compile while pip installs tools; lint runs beside them, and then beside the tests.
# Only `make clean test` goes one after the other.
ifeq ($(filter clean,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=3
endif

.DEFAULT_GOAL := help
.PHONY: help demo test tests bench guard wheel docs lint format lowest clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(READY)  ## Train on digits with holes and write infinimix-demo.html
	@$(BIN)/infinimix demo

test: lint tests  ## Run lint and all tests, beside each other

tests: $(READY)  ## Run all tests on two cores
	@$(ONE_THREAD) $(BIN)/python -m pytest -q -n auto --maxprocesses 2 --dist worksteal

bench: $(READY)  ## Measure speed and quality against peers, one thread
	@$(ONE_THREAD) $(BIN)/python -m bench

guard: $(READY)  ## Compare speeds with those recorded: nothing may be slower unseen
	@$(ONE_THREAD) $(BIN)/python -m bench guard

wheel: $(READY)  ## Build dist/infinimix-*.whl with compiled kernels for this platform and Python
	@$(BIN)/python -m infinimix.kernels.ahead
	@INFINIMIX_AHEAD=src/infinimix/kernels/ahead_of_time $(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps -w dist .
	@ls -sh dist/*.whl

docs: $(DOCS_READY)  ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --color build
	@echo "Wrote site/index.html"

lint: $(TOOLS)  ## Check style, types and the arrows between rooms
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(TOOLS)  ## Rewrite the sources in the house style
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

lowest:  ## Install the lowest versions that are allowed, for PYTHON, and use them
	rm -rf build/lowest && $(PYTHON) tests/lowest.py $(PYTHON) build/lowest

clean:  ## Remove .venv, caches and what was built
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@rm -rf build dist site infinimix-demo.html src/infinimix/kernels/ahead_of_time
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNTIME): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("infinimix needs Python 3.10 or newer: make PYTHON=..." if sys.version_info < (3, 10) else 0)'
	@echo "Making .venv (once, a minute or two)"
	@$(PYTHON) -m venv --clear .venv
	@$(INSTALL) --upgrade pip  # the one that comes with Python may need twice as long for the rest
	@$(INSTALL) -e .
	@touch $@

$(TOOLS): $(RUNTIME)
	@$(INSTALL) -e '.[dev]'
	@touch $@

# While pip replaces the package by itself, it is found by its path.
$(KERNELS): $(RUNTIME)
	@echo "Compiling kernels (once, about a minute)"
	@PYTHONPATH=src $(BIN)/python -m infinimix.kernels.ahead
	@touch $@

$(DOCS_READY): $(TOOLS)
	@$(INSTALL) -e '.[docs]'
	@touch $@
