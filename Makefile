# Every target sets up what it needs in .venv. Start with `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# What a target needs, installed: weft alone, with what tests and checks need, with the rivals that benchmarks measure.
WEFT   := $(VENV)/.weft
TESTS  := $(VENV)/.tests
BENCH  := $(VENV)/.bench

.PHONY: help demo test check bench torture docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     crawl a miniature web on this machine and show the corpus"
	@echo "make test     run the tests, two files at a time"
	@echo "make check    format, lint, types, architecture"
	@echo "make bench    measure speed and memory, rivals beside us"
	@echo "make torture  the long forms of the slow suites"
	@echo "make docs     write docs/configuration.md anew from config.py"
	@echo "make clean    remove what the other targets made"

$(WEFT): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing weft into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(TESTS): $(WEFT)
	@echo "installing what tests and checks need …"
	@$(BIN)/python -m pip install --quiet --editable '.[test,check]'
	@touch $@

$(BENCH): $(TESTS)
	@echo "installing the rivals …"
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

demo: $(WEFT)
	@$(BIN)/weft demo

test: $(TESTS)
	@.ci/servers
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: $(TESTS)
	@$(BIN)/ruff format --check src tests bench
	@$(BIN)/ruff check src tests bench
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_architecture.py

bench: $(BENCH)
	@$(BIN)/python -m bench

torture: $(TESTS)
	@.ci/servers
	@$(BIN)/python -m pytest -m long --no-header

docs: $(WEFT)
	@$(BIN)/python -m weft.config > docs/configuration.md

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-crawl
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
