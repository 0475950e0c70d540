"""Which C++ sources a check looks at: those that a change touches, and parts that fit a budget."""

import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
KINDS = [
    f"{folder}/*.{kind}" for folder in ("src", "bindings", "tests/cpp") for kind in ("cpp", "h")
]


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"[sources] git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.split()


# A program of its own, with headers that only GCC has.
ALONE = {"tests/cpp/ulp.cpp"}


def every_file():
    """All sources and headers of the core, the bindings and the C++ tests."""
    return [f for f in git("ls-files", *KINDS) if (ROOT / f).exists() and f not in ALONE]


def days_ago(days):
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


def touched(base):
    """The sources that differ from a commit, and for each header that does a source that reads it:
    the one of its name, else the first. Without a commit all sources."""
    every = every_file()
    if not base:
        return [f for f in every if f.endswith(".cpp")]
    differ = [f for f in git("diff", "--name-only", base, "--", *KINDS) if f in every]
    files = {f for f in differ if f.endswith(".cpp")}
    table = readers()
    for header in set(differ) - files:
        including = table.get(header, [])
        namesake = header.removesuffix(".h") + ".cpp"
        files.update([namesake] if namesake in including else sorted(including)[:1])
    return sorted(files)


def shuffled(files):
    """In an order that HEAD's hash gives, so that each commit begins with others."""
    (commit,) = git("rev-parse", "HEAD")
    order = sorted(files)
    random.Random(commit).shuffle(order)
    return order
