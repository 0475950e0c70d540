#!/usr/bin/env bash
# Runs the tests that concern a GPU on a machine that has one, from what tools/stage_gpu.sh staged:
#
#     cd .gpu && tests/on_gpu.sh [SECONDS] [PROCESSES]
#
# What failed, and the seconds of each file, are in $OUT/progress.txt (or here) after each thousand
# tests, also where the time runs out.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python -m pip --version > /dev/null 2>&1 && pip=(python -m pip) || pip=(pip)
"${pip[@]}" install -q --no-deps --no-index --upgrade --target "$packages" ./*.whl 2>&1 | grep -v WARN || true

# Files about the kernel language on a CPU, the runner, tools and pages.
about_cpus='test_(numba_names|bench|examples|docs|dist|loop|sweep|snippets|foreign|array_api|runner|tutorials|advise|cupy_c|stubs|tools|notebooks|data|order|leaks|signatures|warnings|report|program_seeds|registry_samples|jit_|njit_|small_calls|quick|extending|jitclass|recursion)'
tests=$(ls tests/python/test_*.py | grep -v -E "$about_cpus"; ls tests/python/test_jit_{tensors,arrays,calls}.py)
export NUMBUS_DEVICE=cuda NUMBUS_TEST_PACKAGE=$packages PYTHONPATH=$PWD/tests
export NUMBUS_TEST_PROGRESS=${OUT:-.}/progress.txt
status=0
# shellcheck disable=SC2086
timeout "${1:-540}" python -m pytest $tests tests/errors/test_messages.py -n "${2:-14}" -q -p progress_plugin \
  -p no:cacheprovider --capture=sys --timeout 120 > "${OUT:-.}/suite.txt" 2>&1 || status=$?
tail -1 "${OUT:-.}/suite.txt"
grep -E "node down|Fatal|Segmentation|free\(\)|terminate called" "${OUT:-.}/suite.txt" | sort | uniq -c || true
cut -c1-300 "$NUMBUS_TEST_PROGRESS" | head -90
exit "$status"
