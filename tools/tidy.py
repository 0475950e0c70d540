"""Runs clang-tidy on C++ files; fails if it finds something.

    python tools/tidy.py                  all files of src, bindings and tests/cpp
    python tools/tidy.py --base main      those that differ from the common ancestor with main
    python tools/tidy.py --days 1         those that differ from the last commit a day before HEAD's
    python tools/tidy.py ... --limit 16   at most 16 of them

The commands and which file includes which come from the build. A header that differs is read
through one file that includes it: the one of its name, else the first. With a limit the files
are drawn by HEAD's hash, so that each commit looks at others.
"""

import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIDY = [ROOT / ".venv/bin/clang-tidy", "-p", ROOT / "build", "--quiet"]
TIDY += ["--extra-arg=-Wno-unknown-warning-option"]
KINDS = [
    f"{folder}/*.{kind}" for folder in ("src", "bindings", "tests/cpp") for kind in ("cpp", "h")
]


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"[tidy] git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.split()


def base_of(days):
    """The last commit that is so many days older than HEAD; None where history begins later."""
    (time,) = git("log", "-1", "--format=%ct")
    commit = git("rev-list", "-1", f"--before={int(time) - int(days * 86400)}", "HEAD")
    return commit[0] if commit else None


def readers():
    """For each header the sources that include it, as the build has found."""
    found = subprocess.run(
        ["ninja", "-C", ROOT / "build", "-t", "deps"], text=True, capture_output=True, check=True
    )
    table, source = {}, None
    for line in found.stdout.splitlines():
        name = line.strip()
        if not name.startswith("../"):
            continue
        name = name.removeprefix("../")
        if name.endswith(".cpp"):
            source = name  # the first of an object's files
        else:
            table.setdefault(name, []).append(source)
    return table


def chosen(arguments):
    every = [f for f in git("ls-files", *KINDS) if (ROOT / f).exists()]
    sources = [f for f in every if f.endswith(".cpp")]
    base = base_of(arguments.days) if arguments.days else None
    if arguments.base:
        (base,) = git("merge-base", "HEAD", arguments.base)
    if not base:
        return sources
    differ = [f for f in git("diff", "--name-only", base, "--", *KINDS) if f in every]
    files = {f for f in differ if f.endswith(".cpp")}
    table = readers()
    for header in set(differ) - files:
        including = table.get(header, [])
        namesake = header.removesuffix(".h") + ".cpp"
        files.update([namesake] if namesake in including else sorted(including)[:1])
    return sorted(files)


def check(source):
    done = subprocess.run([*TIDY, source], cwd=ROOT, text=True, capture_output=True)
    # What clang says on stderr counts warnings; where it could not start, that is all there is.
    return done.returncode, done.stdout or (done.stderr if done.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--base", help="a branch or commit")
    which.add_argument("--days", type=float)
    parser.add_argument("--limit", type=int, help="look at no more files than this")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    sources = chosen(arguments)
    left_out = 0
    if arguments.limit is not None and len(sources) > arguments.limit:
        left_out = len(sources) - arguments.limit
        (commit,) = git("rev-parse", "HEAD")
        sources = sorted(random.Random(commit).sample(sources, arguments.limit))
    print(
        f"[tidy] {len(sources)} files" + (f", {left_out} left out" if left_out else ""), flush=True
    )
    bad, said = [], set()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for source, (status, text) in zip(sources, pool.map(check, sources), strict=True):
            if status:
                bad.append(source)
            if text not in said:  # many files read the same header
                said.add(text)
                print(text, end="", flush=True)
    if bad:
        print(f"[tidy] found something in {len(bad)} of {len(sources)} files: {' '.join(bad)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
