#!/usr/bin/env bash
# Builds the wheels into dist/: one for Python 3.11, the stable-ABI one for 3.12 and newer and the benchmark's, then
# checks them. `build_wheels.sh abi3` leaves out the first. NUMBUS_PYTHON311 and NUMBUS_PYTHON312 name interpreters.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the first candidate that runs and has the Python version $1.
find_python() {
  local version=$1 chosen=$2 candidate
  for candidate in "$chosen" .venv/bin/python "python$version" python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python \
    "$HOME/.local/share/uv/python/cpython-$version"*/bin/python /opt/python/cp"${version/./}"-*/bin/python; do
    [ -n "$candidate" ] || continue
    if [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ]; then
      echo "$candidate"
      return
    fi
  done
  echo "build_wheels: no Python $version found; set NUMBUS_PYTHON${version/./}" >&2
  return 1
}

build() {
  local python
  python=$(find_python "$1" "$2")
  "$python" -m pip --disable-pip-version-check wheel -q --no-deps --wheel-dir dist "$3"
}

rm -f dist/*.whl
[ "${1:-}" = abi3 ] || build 3.11 "${NUMBUS_PYTHON311:-}" .
build 3.12 "${NUMBUS_PYTHON312:-}" .
build 3.12 "${NUMBUS_PYTHON312:-}" ./bench
python3 tools/check_wheel.py dist/*.whl
