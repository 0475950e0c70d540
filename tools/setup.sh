#!/usr/bin/env bash
# Prepares a machine for building Numbus: Debian packages, then .venv with pinned Python packages.
# Safe to run again at any time; with nothing to do it takes a fraction of a second.
set -euo pipefail
cd "$(dirname "$0")/.."

apt_packages=(
  g++ ccache ninja-build make git binutils
  llvm-19-dev lld-19 zlib1g-dev libzstd-dev libhwy-dev doctest-dev
  python3-dev python3-venv chromium
)

# Several people may build in one checkout.
mkdir -p build
exec 9>build/.setup.lock
flock 9

missing=()
for package in "${apt_packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: please install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
fi

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
python=${NUMBUS_PYTHON:-}
if [ -z "$python" ]; then
  for candidate in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
      python=$candidate
      break
    fi
  done
fi
[ -n "$python" ] || { echo "setup: Python 3.11 or newer is needed" >&2; exit 1; }

# The stamp holds what the environment was made from, so that an edit of either file renews it.
stamp=.venv/.numbus-setup
want=$(cat tools/setup.sh requirements-dev.txt | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ]; then
  echo "setup: preparing .venv"
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r requirements-dev.txt
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$PWD/python" "$PWD/bench/src" "$PWD/cluster/src" >"$site/numbus-dev.pth"
  echo "$want" >"$stamp"
fi
