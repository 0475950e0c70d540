#!/usr/bin/env bash
# Runs Python tests on an extension whose core reports what ASan and UBSan find:
#
#     tools/sanitize_python.sh BUILD tests/python/test_jit_lists.py ...
#
# BUILD is where `make sanitize-python` has linked the extension. What compiled functions do with
# memory is not seen, as their code is made at run time; nor are leaks, of which Python has its own.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
shift

# The package with another extension.
package=$build/package
mkdir -p "$package"
cp -rsf "$root/python/numbus" "$package/"
rm -f "$package"/numbus/_core.cpython*.so
ln -sf "$build/_core.so" "$package/numbus/_core.so"

# The sanitizers come before everything, and the C++ library with them: they look for its throw.
LD_PRELOAD=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so):$(g++ -print-file-name=libstdc++.so.6)
export LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export NUMBUS_TEST_PACKAGE=$package
exec "$root/.venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
