"""Programs of plain Python, without NumPy, under CPython and under `python -m numbus`.

    python bench/plain/run.py                  every program of this folder, best of 3 processes
    python bench/plain/run.py --only queens    some of them

Both kinds of process take turns. Each prints what it has computed, which has to be the same. Times
are seconds of the processor, all threads, of whole processes, without and with what an empty script
takes. Ends with 1 where a result differs.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = {"python": [], "numbus": ["-m", "numbus"]}


def run(options, path):
    """(what a process prints, its seconds of the processor)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *options, str(path)], capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="", help="further options of numbus")
    given = parser.parse_args()
    kinds = {k: v + (given.options.split() if v else []) for k, v in KINDS.items()}
    names = given.only.split(",") if given.only else sorted(p.stem for p in HERE.glob("*.py"))
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text("")
        least = {k: min(run(v, empty)[1] for _ in range(5)) for k, v in kinds.items()}
    print(f"empty script: python {least['python']:.2f} s, numbus {least['numbus']:.2f} s")
    print(f"{'program':<16}{'python':>9}{'numbus':>9}{'ratio':>8}{'with the start':>16}")
    for name in names:
        if name == "run":
            continue
        printed, times = {}, {k: [] for k in kinds}
        for _ in range(given.rounds):
            for kind, options in kinds.items():
                text, seconds = run(options, HERE / f"{name}.py")
                printed.setdefault(kind, set()).add(text)
                times[kind].append(seconds)
        if printed["python"] != printed["numbus"] or len(printed["python"]) != 1:
            failed.append(name)
        whole = {k: min(w) for k, w in times.items()}
        own = {k: w - least[k] for k, w in whole.items()}
        print(
            f"{name:<16}{own['python']:>9.2f}{own['numbus']:>9.2f}"
            f"{own['python'] / own['numbus']:>7.1f}×{whole['python'] / whole['numbus']:>15.1f}×",
            flush=True,
        )
    print(f"other results: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
