# Everything a newcomer needs: `make demo`, `make test`.  Both set up .venv first.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup check format test demo lock clean

help:                        ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: .venv/.installed      ## a virtual environment with the locked dependencies

.venv/.installed: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

check: setup                 ## formatter, linter, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup                ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup                  ## the whole test suite
	$(BIN)/python -m pytest

demo: setup                  ## crawl a living shop on loopback
	$(BIN)/python -m crawler demo

lock: setup                  ## resolve requirements.lock anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --extra dev --output-file requirements.lock pyproject.toml

clean:                       ## remove the environment and the caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
