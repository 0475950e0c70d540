"""A fresh process: import beyond NumPy, and the first fused result, cache cold and warm."""

import os
import subprocess
import sys
import tempfile

from common import ROOT, on_gpu

TARGETS = {
    "import beyond NumPy": ("ms at most", 60.0),
    "first result, cold disk cache": ("ms at most", 300.0 if on_gpu() else 120.0),
    "first result, warm disk cache": ("ms at most", 300.0 if on_gpu() else 30.0),
}
PEERS = ("numbus", "numba", "jax")
UNIT = "ms"

SCRIPT = """
import time, json
t0 = time.perf_counter()
import numpy as np
t1 = time.perf_counter()
{imports}
t2 = time.perf_counter()
{first}
t3 = time.perf_counter()
assert abs(s - 211092.80) < 1.0, s
print(json.dumps([t1 - t0, t2 - t1, t3 - t2]))
"""
FIRST = {
    "numbus": (
        "import numbus as nb",
        "x = nb.arange(100000.0)\ns = float((nb.sin(x * 1e-3) * 2 + nb.sqrt(x * 1e-4)).sum())",
    ),
    "jax": (
        "import jax; jax.config.update('jax_enable_x64', True)\nimport jax.numpy as jnp",
        "f = jax.jit(lambda x: (jnp.sin(x * 1e-3) * 2 + jnp.sqrt(x * 1e-4)).sum())\n"
        "s = float(f(jnp.arange(100000.0)))",
    ),
    "numba": (
        "import numba",
        "@numba.njit(parallel=True)\ndef f(x):\n    s = 0.0\n"
        "    for i in numba.prange(x.size):\n"
        "        s += np.sin(x[i] * 1e-3) * 2 + np.sqrt(x[i] * 1e-4)\n    return s\n"
        "s = f(np.arange(100000.0))",
    ),
}


def fresh(name, cache):
    imports, first = FIRST[name]
    env = {**os.environ, "NUMBUS_CACHE_DIR": cache, "JAX_COMPILATION_CACHE_DIR": cache}
    env["PYTHONPATH"] = str(ROOT / "python")
    script = SCRIPT.format(imports=imports, first=first)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    import json

    return json.loads(done.stdout)


def measure(name, quick):
    repeats = 2 if quick else 5
    cold, warm, imports, numpy_import = [], [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fresh(name, cache)[2])
            for _ in range(2):
                n, i, f = fresh(name, cache)
                numpy_import.append(n)
                imports.append(i)
                warm.append(f)
    middle = {
        "import beyond NumPy": sorted(imports)[len(imports) // 2],
        "first result, cold disk cache": sorted(cold)[len(cold) // 2],
        "first result, warm disk cache": sorted(warm)[len(warm) // 2],
        "import of NumPy itself": sorted(numpy_import)[len(numpy_import) // 2],
    }
    return {k: v * 1e3 for k, v in middle.items()}
