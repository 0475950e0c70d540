# Every target prepares the machine first (quick when there is nothing to do).
PYTHON := .venv/bin/python
CMAKE := .venv/bin/cmake
CXX_FILES = $(wildcard $(shell git ls-files '*.cpp' '*.h'))
PY_FILES = $(wildcard $(shell git ls-files '*.py'))

.DEFAULT_GOAL := build
.PHONY: setup build demo test ctest pytest cluster fuzz programs lint lint-all tidy tidy-recent format sanitize \
  sanitize-core sanitize-sample sanitize-python wheel docs stubs clean

setup:
	@tools/setup.sh

# The lock lets several people build in one checkout.
build: setup
	@mkdir -p build
	@test -f build/build.ninja || $(CMAKE) -S . -B build -G Ninja -DNUMBUS_INPLACE=ON \
	  -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON)
	@flock build/.lock $(CMAKE) --build build

demo: build
	$(PYTHON) -m numbus examples/heat.py --demo

# pytest runs even if the fuzzer fails, and last: its closing line says how it went.
test: ctest
	@failed=0; \
	$(MAKE) --no-print-directory fuzz PROGRAMS=300 || failed=1; \
	$(MAKE) --no-print-directory programs PROGRAMS=300 || failed=1; \
	$(MAKE) --no-print-directory pytest || failed=1; \
	exit $$failed

ctest: build
	.venv/bin/ctest --test-dir build --output-on-failure

# Two processes, as CI's machine has two cores.
PROCESSES ?= 2
pytest: build
	$(PYTHON) -m pytest -q -n $(PROCESSES) $(wildcard tests/python tests/errors)

# The queue tool needs no build; where Slurm's packages cannot be installed, its tests skip those
# with the real Slurm and say why.
cluster: setup
	@cluster/tests/slurm/install.sh
	cd cluster && ../$(PYTHON) -m pytest -q tests

PROGRAMS ?= 10000
fuzz: build
	@if [ -f tests/fuzz/run.py ]; then \
	  echo $(PYTHON) tests/fuzz/run.py --programs $(PROGRAMS); \
	  $(PYTHON) tests/fuzz/run.py --programs $(PROGRAMS); \
	else echo "fuzz: tests/fuzz/run.py is not there yet"; fi

programs: build
	$(PYTHON) tests/programs/run.py --programs $(PROGRAMS)

lint: setup
	@bad=$$(.venv/bin/clang-format --dry-run $(CXX_FILES) 2>&1 | \
	  sed -n 's/^\([^ :]*[.][a-z]*\):[0-9]*:.*/\1/p' | sort | uniq -c); \
	if [ -n "$$bad" ]; then echo "clang-format would change (lines, file):"; echo "$$bad"; exit 1; fi
	@.venv/bin/ruff check --quiet --force-exclude $(PY_FILES)
	@.venv/bin/ruff format --quiet --check --force-exclude $(PY_FILES)
	$(PYTHON) tools/check_includes.py
	$(PYTHON) tools/check_imports.py
	$(PYTHON) tools/check_arguments.py

# clang-tidy reads the commands of the build. `tidy` takes the files that differ from BASE,
# `tidy-recent` those of yesterday's that can be begun in a minute: a file takes it 4 to 35 seconds.
BASE ?= main
tidy: build
	$(PYTHON) tools/tidy.py --base $(BASE)

tidy-recent: build
	$(PYTHON) tools/tidy.py --days 1 --seconds 60

lint-all: build lint
	$(PYTHON) tools/tidy.py

format: setup
	.venv/bin/clang-format -i $(CXX_FILES)
	.venv/bin/ruff check --quiet --fix --force-exclude $(PY_FILES)
	.venv/bin/ruff format --quiet --force-exclude $(PY_FILES)

# All that the C++ tests do, with every random case, under ASan and UBSan.
sanitize: setup
	@test -f build-sanitize/build.ninja || $(CMAKE) -S . -B build-sanitize -G Ninja \
	  -DNUMBUS_SANITIZE=address,undefined
	$(CMAKE) --build build-sanitize
	NUMBUS_TEST_ALL=1 .venv/bin/ctest --test-dir build-sanitize --output-on-failure

# The same without LLVM and with a tenth of the random cases.
sanitize-core: setup
	@test -f build-sanitize-core/build.ninja || $(CMAKE) -S . -B build-sanitize-core -G Ninja \
	  -DNUMBUS_SANITIZE=address,undefined -DNUMBUS_COMPILER=OFF
	$(CMAKE) --build build-sanitize-core
	.venv/bin/ctest --test-dir build-sanitize-core --output-on-failure

# What CI has time for: the C++ tests with some of the sources under the sanitizers, for which two
# and a half minutes of one core are enough; all else is what the build has made.
sanitize-sample: build
	$(CMAKE) -S . -B build-sanitize-sample -G Ninja -DNUMBUS_SANITIZE=address,undefined \
	  -DNUMBUS_SAMPLE="$$($(PYTHON) tools/sanitize_sample.py --seconds 110)"
	$(CMAKE) --build build-sanitize-sample
	.venv/bin/ctest --test-dir build-sanitize-sample --output-on-failure

# Python tests on an extension whose core, but for src/compile, is under the sanitizers.
SANITIZED ?= array_arguments creation indexing inplace_overlap jit_aliasing jit_arrays jit_list_names \
  jit_lists jit_sequences jit_views masked_overlaps masks views
sanitize-python: build
	$(CMAKE) -S . -B build-sanitize-python -G Ninja -DNUMBUS_SANITIZE=address,undefined \
	  -DNUMBUS_SAMPLE="$$($(PYTHON) tools/sanitize_sample.py)"
	$(CMAKE) --build build-sanitize-python --target _core
	tools/sanitize_python.sh build-sanitize-python $(SANITIZED:%=tests/python/test_%.py)

# The API reference and the guides as a site in build/site.
docs: build
	$(PYTHON) tools/reference.py

# The type stubs, after a change of a signature.
stubs: build
	$(PYTHON) tools/stubs.py

wheel: setup
	tools/build_wheels.sh

clean:
	rm -rf build build-sanitize build-sanitize-core build-sanitize-sample build-sanitize-python dist .gpu python/numbus/_core*.so python/numbus/_loops*.so
