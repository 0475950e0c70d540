"""Runs clang-tidy on C++ files; fails if it finds something.

    python tools/tidy.py                  all files of src, bindings and tests/cpp
    python tools/tidy.py --base main      those that differ from the common ancestor with main
    python tools/tidy.py --days 1         those that differ from the last commit a day before HEAD's
    python tools/tidy.py ... --seconds 60 as many of them as can be begun in this time

The commands and which file includes which come from the build; a header that differs is read
through a file that includes it (tools/sources.py). With a time the files are drawn by HEAD's hash.
"""

import argparse
import concurrent.futures
import subprocess
import sys
import time

import sources

TIDY = [sources.ROOT / ".venv/bin/clang-tidy", "-p", sources.ROOT / "build", "--quiet"]
TIDY += ["--extra-arg=-Wno-unknown-warning-option"]


def check(source, end):
    """The exit status and what clang-tidy said; nothing where the time is over."""
    if time.monotonic() > end:
        return None
    done = subprocess.run([*TIDY, source], cwd=sources.ROOT, text=True, capture_output=True)
    # What clang says on stderr counts warnings; where it could not start, that is all there is.
    return done.returncode, done.stdout or (done.stderr if done.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--base", help="a branch or commit")
    which.add_argument("--days", type=float)
    parser.add_argument("--seconds", type=float, help="begin no file after this time")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    base = sources.days_ago(arguments.days) if arguments.days else None
    if arguments.base:
        (base,) = sources.git("merge-base", "HEAD", arguments.base)
    files, end = sources.touched(base), float("inf")
    if arguments.seconds is not None:
        files, end = sources.shuffled(files), time.monotonic() + arguments.seconds
    print(f"[tidy] {len(files)} files", flush=True)
    bad, said, left_out = [], set(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        ends = [end] * len(files)
        for source, found in zip(files, pool.map(check, files, ends), strict=True):
            if found is None:
                left_out += 1
                continue
            status, text = found
            if status:
                bad.append(source)
            if text not in said:  # many files read the same header
                said.add(text)
                print(text, end="", flush=True)
    looked = f"{len(files) - left_out} files, {left_out} left out"
    print(f"[tidy] found something in {len(bad)} of {looked}: {' '.join(bad) or 'fine'}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
