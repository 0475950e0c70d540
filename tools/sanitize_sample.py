"""Prints which sources of src a sample builds with sanitizers, for CMake's NUMBUS_SAMPLE.

    python tools/sanitize_sample.py --seconds 150
    python tools/sanitize_sample.py                 all that a sample can have

First those that differ from the last commit a day before HEAD's, then others, both drawn by HEAD's
hash, until building them takes so many seconds of one core. src/compile is left out: a file of it
takes as long as ten others, because of LLVM's headers. `make sanitize` builds everything.
"""

import argparse
import sys

import sources


def seconds(source):
    """What building it takes: headers, then 75 lines a second (measured at -O1 on an AMD EPYC)."""
    return 2 + (sources.ROOT / source).read_bytes().count(b"\n") / 75


def can_be_built(source):
    # vqsort is built without sanitizers everywhere.
    return (
        source.startswith("src/")
        and not source.startswith("src/compile/")
        and source != "src/routines/vqsort.cpp"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    budget = parser.parse_args().seconds
    every = [f for f in sources.touched(None) if can_be_built(f)]
    base = sources.days_ago(1)
    recent = {f for f in sources.touched(base) if can_be_built(f)} if base else set()
    # Of the time a third is kept for files that nobody touched.
    taken, spent = [], 0
    for among, end in ((recent, budget * 2 / 3), (set(every), budget)):
        for source in sources.shuffled(among - set(taken)):
            if spent + seconds(source) <= end:
                taken.append(source)
                spent += seconds(source)
    print(f"[sanitize-sample] {len(taken)} of {len(every)} sources", file=sys.stderr)
    print(";".join(sorted(taken)))


if __name__ == "__main__":
    main()
