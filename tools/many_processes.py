"""Starts many processes at once on one disk cache of compiled code, which others damage meanwhile.

    .venv/bin/python tools/many_processes.py --processes 200 [--directory /nfs/cache]

Each compiles the same kernels, or loads them, and compares their results with NumPy's. On a
directory of NFS, start it on several machines at the same time.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROGRAM = """
import sys, time
import numpy
import numbus as nb
from numbus import njit, _core

time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
_core.set_compile_beside(False)
problem = _core.disk_cache()["problem"]
assert not problem, problem

def f(k):
    @njit
    def g(x):
        return x * k + k
    return g

a = numpy.linspace(0, 1, 200000)
for k in range(int(sys.argv[2])):
    assert f(k)(3) == 4 * k
    x, y = nb.array(a), a
    for i in range(k % 5 + 1):
        x, y = x * 0.5 + i, y * 0.5 + i
    assert (numpy.asarray(x) == y).all()
print(_core.stats()["compiles"], _core.stats()["disk_hits"])
"""


def damage(folder, stop):
    """Flips, cuts and removes files until `stop` is set; returns nothing."""
    while not stop.wait(0.01):
        files = list(folder.glob("*.o"))
        if not files:
            continue
        file = random.choice(files)
        try:
            if random.random() < 0.3:
                file.unlink()
                continue
            with open(file, "r+b") as f:
                size = f.seek(0, 2)
                f.seek(random.randrange(max(size, 1)))
                f.truncate() if random.random() < 0.3 else f.write(random.randbytes(3))
        except FileNotFoundError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--kernels", type=int, default=10)
    parser.add_argument("--wait", type=float, default=30, help="seconds until all begin at once")
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--limit", default="1G")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="numbus-many-"))
    folder = options.directory or scratch / "cache"
    source = scratch / "program.py"
    source.write_text(PROGRAM)
    env = {**os.environ, "NUMBUS_CACHE_DIR": str(folder), "NUMBUS_CACHE_LIMIT": options.limit}
    begin, stop = time.time() + options.wait, threading.Event()
    command = [sys.executable, str(source), str(begin), str(options.kernels)]
    several = [
        subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(options.processes)
    ]
    damager = threading.Thread(target=damage, args=(folder, stop))
    damager.start()
    ended = [(*p.communicate(), p.returncode) for p in several]
    stop.set()
    damager.join()
    bad = [error or status for _, error, status in ended if error or status]
    counts = [[int(n) for n in out.split()] for out, _, status in ended if status == 0]
    left = [f.name for f in folder.iterdir() if f.suffix not in (".o", "")]
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(
        f"{len(several)} processes, {time.time() - begin:.1f} s: {len(bad)} failed; "
        f"{sum(c for c, _ in counts)} array kernels compiled, {sum(h for _, h in counts)} loaded; "
        f"{size} bytes kept, temporary files left: {len(left)}"
    )
    if bad:
        print(bad[0])
    return bool(bad or left)


if __name__ == "__main__":
    sys.exit(main())
