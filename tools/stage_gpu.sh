#!/usr/bin/env bash
# Collects in .gpu/ what a machine with a GPU needs and cannot build: the stable-ABI wheel, the benchmark's, tests, scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

limit_mib=64
tools/build_wheels.sh abi3
rm -rf .gpu
mkdir .gpu
cp dist/*-abi3-*.whl dist/numbus_bench-*.whl .gpu/
for folder in tests bench examples; do
  [ -d "$folder" ] || continue
  # Through git, so that caches and results stay behind but new files come along.
  git ls-files -z --cached --others --exclude-standard "$folder" |
    while IFS= read -r -d '' file; do [ -f "$file" ] && cp --parents "$file" .gpu/; done
done
cp pyproject.toml .gpu/

size=$(du -sm .gpu | cut -f1)
echo "staged $size MiB in .gpu/"
[ "$size" -lt "$limit_mib" ] || { echo "stage_gpu: more than $limit_mib MiB" >&2; exit 1; }
