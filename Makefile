# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` set everything up in .venv first; a second run re-uses what is there.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LIBRARY := tvm_ascend/lib/libtvm_ascend.so
NATIVE_SOURCES := $(shell find src cmake CMakeLists.txt -type f)
CPP_SOURCES := $(shell find src -name '*.cc' -o -name '*.h')
OUT ?= build/demo
PYTEST_ARGS ?= -n auto --dist loadfile -m "not slow"

FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 0
FUZZ := build/fuzz

.PHONY: demo test bench fuzz lint docs setup setup-dev clean

demo: setup
	$(BIN)/python -m tvm_ascend demo --out $(OUT)

test: lint
	$(BIN)/python -m pytest -q $(PYTEST_ARGS)

bench: setup
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/simulator.py

fuzz: setup-dev
	$(BIN)/cmake -S . -B $(FUZZ) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1" \
	  -DTVM_ASCEND_SANITIZE=ON -DTVM_ASCEND_FUZZ=ON
	$(BIN)/cmake --build $(FUZZ) --target fuzz_simulator
	$(FUZZ)/fuzz_simulator $(FUZZ_SECONDS) $(FUZZ_SEED)

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP_SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tvm_ascend.isa.gen --check
	$(BIN)/python -m tvm_ascend.isa.gen_twin --check

docs: setup
	$(BIN)/python -m tvm_ascend.dev.reference --out build/docs

setup: $(LIBRARY)

setup-dev: $(STAMPS)/dev $(LIBRARY)

clean:
	rm -rf build tvm_ascend/lib $(VENV)

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "tvm_ascend needs Python 3.10 or later; try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "tvm_ascend needs a C++17 compiler; on Debian: apt-get install g++ (or set CXX)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "No virtual environment can be made; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@mkdir -p $(STAMPS)
	$(PIP) --upgrade 'pip>=25.1'
	@touch $@

$(STAMPS)/package: $(STAMPS)/venv pyproject.toml setup.py
	$(PIP) --group build
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(LIBRARY): $(STAMPS)/package $(NATIVE_SOURCES)
	$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

$(STAMPS)/dev: $(STAMPS)/package pyproject.toml
	$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@
