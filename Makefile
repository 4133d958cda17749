# Every target sets up .venv by itself; nothing but Python 3.11 or newer is needed beforehand.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SLOW := browser or cluster or kill or calibration or docs

.PHONY: help quickstart test test-all check format site clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | expand -t 20

quickstart: .venv/ready  ## five simulators of a synthetic department, and a report on them
	$(BIN)/edsim quickstart $(OPTIONS)

test: .venv/ready  ## the tests, at most ten minutes on two cores
	$(BIN)/pytest -n 2 -m "not ($(SLOW))"

test-all: test  ## and the slow ones: browser, cluster, kill, calibration, docs
	$(BIN)/pytest -m "$(SLOW)"

check: .venv/ready  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest tests/test_layers.py

site: .venv/ready  ## the documentation, as build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

format: .venv/ready  ## let ruff put the code in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove the environment and everything made
	rm -rf .venv quickstart build .mypy_cache .ruff_cache .pytest_cache

# -c constraints.txt: exact versions, and the CPU build of torch where torch is asked for
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "edsim needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv with everything that is needed: one to three minutes, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs,meds,models,peers,ray,safetensors,xes]'
	@touch $@
