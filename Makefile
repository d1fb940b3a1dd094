# Two commands do everything: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
NATIVE := $(shell find native -type f) CMakeLists.txt CMakePresets.json
NATIVE_TESTS := $(shell find tests/native benchmarks/kernels -type f)
CPP := $(shell find native tests/native benchmarks/kernels -name '*.?pp' -o -name '*.inl' -o -name '*.h')

.DELETE_ON_ERROR:
.PHONY: help demo test test-python test-native test-long lint types stubs bench docs format clean

help:
	@echo "make demo       set up, build, and show the main job end to end"
	@echo "make test       set up, build, and run every check"
	@echo "make test-long  slow studies"
	@echo "make bench      timings against the peers, in an environment of their own"
	@echo "make docs       the documentation as pages, in build/docs"
	@echo "make format     format Python and C++;  make clean  remove everything built"

demo: build/installed.stamp
	$(BIN)/spinney demo

test: lint types test-native test-python

$(VENV)/tools.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import sys; assert sys.version_info >= (3, 11), "Spinney needs Python 3.11 or newer"'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python tools/requirements.py build > $(VENV)/build-requirements.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/build-requirements.txt
	touch $@

# Editable: Python changes need no rebuild; Ninja rebuilds only the C++ that changed.
build/installed.stamp: $(VENV)/tools.stamp pyproject.toml $(NATIVE)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

build/checkers.stamp: build/installed.stamp
	$(BIN)/python tools/requirements.py test lint > $(VENV)/check-requirements.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/check-requirements.txt
	touch $@

lint: build/checkers.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/codespell
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/lint-imports

types: build/checkers.stamp
	$(BIN)/mypy

test-python: build/checkers.stamp
	$(BIN)/python -m pytest -n $(JOBS) -m "not long"

test-long: build/checkers.stamp
	$(BIN)/python -m pytest -m long

build/native/%.stamp: $(VENV)/tools.stamp $(NATIVE) $(NATIVE_TESTS)
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --preset $* -G Ninja
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/native/$*
	touch $@

test-native: build/native/tests.stamp build/native/tsan.stamp build/native/asan.stamp
	for preset in tests tsan asan; do \
	  $(BIN)/ctest --test-dir build/native/$$preset --output-on-failure || exit 1; \
	done

stubs: build/checkers.stamp
	$(BIN)/python -m nanobind.stubgen -m spinney._native._ext -o src/spinney/_native/_ext.pyi

format: build/checkers.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# Not editable, so every source counts.
build/bench-venv.stamp: benchmarks/requirements.txt build/installed.stamp $(shell find src -name '*.py')
	test -x .bench-venv/bin/python || $(PYTHON) -m venv .bench-venv
	.bench-venv/bin/python -m pip install --quiet -r benchmarks/requirements.txt
	.bench-venv/bin/python -m pip install --quiet --force-reinstall --no-deps .
	touch $@

# For example: make bench BENCH="--part boosting --only '1 k x 10'"
bench: build/native/bench.stamp build/bench-venv.stamp
	$(BIN)/python -m benchmarks.run --peers .bench-venv/bin/python $(BENCH)

# The pages are made from the sources as text, so nothing has to be built first.
build/docs-venv.stamp: pyproject.toml
	test -x .docs-venv/bin/python || $(PYTHON) -m venv .docs-venv
	.docs-venv/bin/python tools/requirements.py docs > .docs-venv/requirements.txt
	.docs-venv/bin/python -m pip install --quiet --disable-pip-version-check -r .docs-venv/requirements.txt
	mkdir -p build
	touch $@

docs: build/docs-venv.stamp
	PATH="$(CURDIR)/.docs-venv/bin:$$PATH" NO_MKDOCS_2_WARNING=1 mkdocs build --strict
	@echo "Open build/docs/index.html"

clean:
	rm -rf build $(VENV) .bench-venv .docs-venv
