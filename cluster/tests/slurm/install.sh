#!/usr/bin/env bash
# Installs Debian's Slurm, its database daemon, MariaDB and munge for the tests; starts none of them.
# Where that cannot be done it says why and succeeds: the tests skip what needs them.
set -uo pipefail

packages=(slurm-wlm slurmdbd mariadb-server munge)
missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "cluster: ${missing[*]} cannot be installed: root and Debian's apt-get are needed"
  exit 0
fi
echo "cluster: installing ${missing[*]}"
# Services of the packages must not start: the tests run their own, on their own ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
log=$(mktemp)
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
  --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
  echo "cluster: the packages cannot be installed: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
fi
rm -f "$log"
exit 0
