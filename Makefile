# Everything runs in .venv, which is made when it is missing: `make demo` and
# `make test` need nothing but make and Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
VENV_BIN := $(VENV)/bin
PYTHON_VENV := $(VENV_BIN)/python
# More for pytest, for instance: make test PYTEST_ARGS="-m slow"
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint format types imports coverage doc benchmarks clean

help:
	@echo "make demo        compare two models on real rows, then on clustered rows"
	@echo "make test        run the test suite"
	@echo "make lint        ruff: rules and formatting"
	@echo "make format      ruff: mend what it can, and format"
	@echo "make types       mypy"
	@echo "make imports     import-linter: imports point downwards only"
	@echo "make coverage    test suite with branch coverage"
	@echo "make doc         documentation with its gallery, into doc/_build/html"
	@echo "make benchmarks  measure and simulate everything, and write the pages of numbers"
	@echo "make clean       remove .venv and everything that tools left"

demo: $(VENV)/.installed-cli
	$(PYTHON_VENV) examples/demo.py

test: $(VENV)/.installed-test
	$(VENV_BIN)/pytest -n 2 $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(VENV_BIN)/ruff check .
	$(VENV_BIN)/ruff format --check .

format: $(VENV)/.installed-dev
	$(VENV_BIN)/ruff check --fix .
	$(VENV_BIN)/ruff format .

types: $(VENV)/.installed-dev
	$(VENV_BIN)/mypy

imports: $(VENV)/.installed-dev
	$(VENV_BIN)/lint-imports

coverage: $(VENV)/.installed-test
	$(VENV_BIN)/pytest -n 2 --cov --cov-report=term $(PYTEST_ARGS)

doc: $(VENV)/.installed-doc
	rm -rf doc/_build/html
	$(PYTHON_VENV) -m sphinx -b html -W --keep-going -n -q doc doc/_build/html
	$(PYTHON_VENV) doc/check_pages.py doc/_build/html

benchmarks: $(VENV)/.installed-test
	$(PYTHON_VENV) benchmarks/make_page.py --run
	$(PYTHON_VENV) benchmarks/make_coverage_page.py --run

clean:
	rm -rf $(VENV) doc/_build doc/api doc/gallery build dist *.egg-info htmlcov .coverage .coverage.* .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PYTHON_VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.13 ..." >&2; \
		exit 1; }
	$(PYTHON) -m venv --clear $(VENV)

# .installed-EXTRA stands for `pip install -e .[EXTRA]`; renewed when the
# requirements or the version change.
$(VENV)/.installed-%: pyproject.toml sklearn_pairboot/_version.py | $(PYTHON_VENV)
	@echo "Installing into $(VENV) (a minute or two the first time)"
	@$(PYTHON_VENV) -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@
