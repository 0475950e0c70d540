"""Numba's names over Numbus: imports, types, settings, and whole scripts."""

import os
import subprocess
import sys
from pathlib import Path

import numbus as nb
import numbus.compat.numba as numba
import numpy as np
import pytest
from numbus import cuda, kernels
from numbus.compat import rewrite

pytestmark = pytest.mark.numbus
ROOT = Path(__file__).resolve().parents[2]


def run(tmp_path, script, *options, code=0, env=None):
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "-m", "numbus", *options, str(tmp_path / "script.py")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.mark.parametrize(("name", "ours"), [
    ("numpy.linalg", "numbus.linalg"), ("cupy", "numbus.compat.cupy"),
    ("cupyx.profiler", "numbus.compat.cupyx.profiler"), ("numba", "numbus.compat.numba"),
    ("numba.cuda", "numbus.cuda"), ("numba.cuda.random", "numbus.cuda.random"),
    ("numba.cuda.cudadrv.driver", "numbus.compat.numba_driver.driver"),
    ("numba.types", "numbus.compat.numba.types"), ("numbax", None), ("cupyy.a", None),
])  # fmt: skip
def test_replacement(name, ours):
    assert rewrite.replacement(name) == ours
    if ours is not None and not name.startswith("numpy"):
        assert rewrite.original(ours) == name


def test_names_are_those_of_the_kernels():
    for name in ("jit", "njit", "prange", "vectorize", "guvectorize", "stencil"):
        assert getattr(numba, name) is getattr(kernels, name)
    assert numba.__name__ == "numba" and numba.cuda is cuda
    assert numba.float32 is kernels.types.float32 and numba.types.void is numba.void
    assert numba.core.types.int64 is numba.int64 and numba.b1 is numba.boolean
    assert tuple(map(int, numba.__version__.split(".")[:2])) == numba.version_info[:2]
    assert numba.core.errors.TypingError is kernels.CompileError
    assert numba.cuda.cudadrv.driver.driver.get_device_count() >= 1
    assert callable(numba.literal_unroll)


def test_typeof():
    for value, text in [(1, "int64"), (1.5, "float64"), (True, "bool"), (2j, "complex128"),
                        (np.float32(1), "float32"), (None, "none"),
                        (np.zeros((2, 3), "i4"), "array(int32, 2d, C)"),
                        (np.zeros((2, 3), order="F"), "array(float64, 2d, F)"),
                        (nb.zeros(4)[::2], "array(float64, 1d, A)"),
                        ((1, 2.0), "Tuple(int64, float64)")]:  # fmt: skip
        assert repr(numba.typeof(value)) == text
    assert numba.from_dtype(np.dtype("u2")) is numba.uint16
    with pytest.raises(ValueError, match=r"\[typeof\].*got list"):
        numba.typeof([1])
    with pytest.raises(NotImplementedError, match=r"\[from_dtype\]"):
        numba.from_dtype("S3")


def test_threads():
    n = numba.get_num_threads()
    assert n >= 1 and numba.config.NUMBA_NUM_THREADS == n
    numba.set_num_threads(1)
    assert numba.get_num_threads() == 1
    numba.set_num_threads(n)
    for wrong in (0, n + 1):
        with pytest.raises(ValueError, match=r"\[set_num_threads\] so many threads are not there"):
            numba.set_num_threads(wrong)
    with pytest.raises(TypeError, match="not a number of threads"):
        numba.set_num_threads("many")
    with numba.parallel_chunksize(8):
        assert numba.get_parallel_chunksize() == 8
    assert numba.get_parallel_chunksize() == 0
    assert numba.threading_layer() and numba.get_thread_id() == 0


def test_declared_signatures():
    @numba.njit(["int32(int32, int32)", "float64(float64, float64)"])
    def add(a, b):
        return a + b

    # A Python int is an int64: nearer to float64 than to int32, as in Numba.
    assert add(1, 2) == 3.0 and type(add(1, 2)) is float
    assert add(np.int32(1), np.int32(2)) == 3 and type(add(np.int32(1), np.int32(2))) is int

    @numba.njit("int32(float64)")
    def cut(x):
        return x * 2

    assert cut(1.75) == 3 and cut(3) == 6

    @numba.njit(numba.float32(numba.float32[:]))
    def first(x):
        return x[0] / 3

    assert first(np.ones(4, "f4")[::2]) == float(np.float32(1) / np.float32(3))
    for wrong in (np.ones(4), np.ones((2, 2), "f4"), 1.0, "text"):
        with pytest.raises(
            TypeError, match=r"\[first\] no matching signature .*expected \(float32"
        ):
            first(wrong)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_error_functions(dtype):
    import math

    @numba.njit
    def both(x, e, c):
        for i in range(x.size):
            e[i] = math.erf(x[i])
            c[i] = math.erfc(x[i])

    x = np.linspace(-6, 6, 999).astype(dtype)
    e, c = np.empty_like(x), np.empty_like(x)
    both(x, e, c)
    rtol = 1e-5 if dtype == "f4" else 1e-13
    np.testing.assert_allclose(e, [math.erf(v) for v in x], rtol=rtol)
    np.testing.assert_allclose(c, [math.erfc(v) for v in x], rtol=rtol)


def test_extending():
    @numba.extending.register_jitable
    def twice(x):
        return 2 * x

    @numba.njit
    def f(x):
        return twice(x) + 1

    assert f(3) == 7 and numba.extending.is_jitted(f) and not numba.extending.is_jitted(twice)


@pytest.mark.parametrize(("line", "name"), [
    ("from numba.typed import Set", "numba.typed.Set"),
    ("import numba; numba.typed.Set()", "numba.typed.Set"),
    ("from numba.experimental import structref", "numba.experimental.structref"),
    ("from numba import gdb", "numba.gdb"),
    ("import numba; numba.gdb_init", "numba.gdb_init"),
    ("from numba.extending import typeof_impl", "numba.extending.typeof_impl"),
    ("from numba import types; types.NPDatetime", "numba.types.NPDatetime"),
])  # fmt: skip
def test_what_is_not_served_names_the_line(tmp_path, line, name):
    err = run(tmp_path, f"x = 1\n{line}\n", code=1).stderr
    assert f"does not serve yet; got {name} at " in err and "script.py:2; expected" in err
    assert 'script.py", line 2' in err


def test_modules_that_are_not_served(tmp_path):
    for name in ("numba.pycc", "numba.cuda.compiler", "cupyx.scipy.ndimage", "cupy.sparse"):
        err = run(tmp_path, f"import {name}\n", code=1).stderr
        assert "ModuleNotFoundError" in err and f"got {name}; expected" in err, err
    script = "try:\n    import numba.pycc\nexcept ImportError:\n    print('without')\n"
    assert run(tmp_path, script).stdout == "without\n"


@pytest.mark.parametrize("form", [
    "import numba\nf = numba.njit(g)", "import numba as nb\nf = nb.njit(g)",
    "from numba import njit\nf = njit(g)", "from numba import njit as n, prange\nf = n(g)",
    "from numba import *\nf = njit(g)", "import numba.types, numba\nf = numba.njit(g)",
    "import importlib\nf = importlib.import_module('numba').njit(g)",
    "f = __import__('numba').njit(g)", "import numba.cuda\nf = numba.njit(g)",
    "from numba import jit\nf = jit('float64(float64)', nopython=True)(g)",
])  # fmt: skip
def test_import_forms(tmp_path, form):
    script = f"def g(x):\n    return x * 2\n\n{form}\nprint(f(1.5), type(f).__module__)"
    assert run(tmp_path, script).stdout.startswith("3.0 numbus.kernels")


def test_find_spec(tmp_path):
    script = """
import importlib.util
from importlib import util
for name in ("cupy", "numba", "numba.cuda"):
    assert importlib.util.find_spec(name) is not None and util.find_spec(name) is not None
assert importlib.util.find_spec("no_such_module") is None
print(importlib.util.spec_from_loader is not None)
"""
    assert run(tmp_path, script).stdout == "True\n"


def test_installed_packages_keep_theirs(tmp_path):
    """A package under site-packages gets the real cupy and numba, and nobody's sys.modules ours."""
    site = tmp_path / "lib" / "site-packages"
    for package in ("cupy", "numba"):
        (site / package).mkdir(parents=True)
        (site / package / "__init__.py").write_text(
            "name = 'the real one'\ndef njit(f): return 3\n"
        )
    (site / "other.py").write_text(
        "import cupy, numba\nfrom numba import njit\n"
        "names = cupy.name, numba.name, njit(None)\n"
        "def kind(xp): return xp.__name__\n"
    )
    script = (
        f"import sys\nsys.path.insert(1, {str(site)!r})\nimport cupy as cp, numba, other\n"
        "print(other.names, numba.njit(lambda x: x + 1)(2), float(cp.ones(3).sum()))\n"
        "print(other.kind(cp), other.kind(numba), sys.modules['cupy'].name)"
    )
    lines = run(tmp_path, script).stdout.split("\n")
    assert lines[0] == "('the real one', 'the real one', 3) 3 3.0"
    assert lines[1] == "cupy numba the real one"


def test_nothing_is_left_in_sys_modules(tmp_path):
    script = (
        "import sys, cupy, cupyx, numba, numba.cuda\nfrom numba import cuda\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('cupy', 'cupyx', 'numba')])"
    )
    assert run(tmp_path, script).stdout == "[]\n"


# --- Whole scripts, in the style of the classic tutorials

JIT = """
from numba import njit, prange, vectorize, guvectorize, float64, int64, config
import numba as nb
import numpy as np
import warnings
from numba.core.errors import NumbaPerformanceWarning
warnings.simplefilter("ignore", category=NumbaPerformanceWarning)
config.THREADING_LAYER = "threadsafe"

@njit(fastmath=True, cache=True)
def monte_carlo(points):
    inside = 0
    for i in range(points.shape[0]):
        x, y = points[i]
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / points.shape[0]

@nb.jit(nopython=True, parallel=True)
def rows(a):
    out = np.zeros(a.shape[0])
    for i in nb.prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out

@vectorize([float64(float64, float64)], target="parallel")
def rel_diff(x, y):
    return 2 * (x - y) / (x + y)

@guvectorize([(int64[:], int64, int64[:])], "(n),()->(n)")
def shift(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + y

points = np.random.default_rng(0).random((100_000, 2))
a = np.arange(12.0).reshape(3, 4)
print(abs(monte_carlo(points) - np.pi) < 0.05, rows(a).tolist())
print(rel_diff(a, 1.0)[0].tolist() == (2 * (a - 1) / (a + 1))[0].tolist(), shift(np.arange(3), 2))
"""

CUDA = """
import math
import numpy as np
import numba
from numba import cuda, float32, void, int32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

TPB = 8

@cuda.jit
def matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=numba.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.)
    for i in range(cuda.gridDim.x):
        sA[tx, ty] = 0
        sB[tx, ty] = 0
        if x < A.shape[0] and ty + i * TPB < A.shape[1]:
            sA[tx, ty] = A[x, ty + i * TPB]
        if y < B.shape[1] and tx + i * TPB < B.shape[0]:
            sB[tx, ty] = B[tx + i * TPB, y]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[tx, j] * sB[j, ty]
        cuda.syncthreads()
    if x < C.shape[0] and y < C.shape[1]:
        C[x, y] = tmp

@cuda.jit(void(float32[:], float32[:], float32))
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]

@cuda.jit(device=True)
def clamp(v, low, high):
    return max(low, min(high, v))

@cuda.jit
def noise(states, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = clamp(xoroshiro128p_uniform_float32(states, i), 0.25, 0.75)

@numba.vectorize(["float32(float32, float32)"], target="cuda")
def add(a, b):
    return a + b

@cuda.jit
def maximum(x, result):
    cuda.atomic.max(result, 0, x[cuda.grid(1)])

rng = np.random.default_rng(3)
A, B = rng.random((20, 17)).astype(np.float32), rng.random((17, 23)).astype(np.float32)
C = cuda.device_array((20, 23), np.float32)
matmul[(3, 3), (TPB, TPB)](cuda.to_device(A), cuda.to_device(B), C)
assert np.allclose(C.copy_to_host(), A @ B, rtol=1e-5)

stream = cuda.stream()
x = cuda.to_device(np.arange(100, dtype=np.float32), stream=stream)
y = cuda.to_device(np.ones(100, dtype=np.float32), stream=stream)
start, end = cuda.event(), cuda.event()
start.record(stream)
saxpy[math.ceil(100 / 32), 32, stream](x, y, np.float32(2))
end.record(stream)
stream.synchronize()
assert start.elapsed_time(end) >= 0
assert np.allclose(y.copy_to_host(), 1 + 2 * np.arange(100))

states, out = create_xoroshiro128p_states(64, seed=1), np.zeros(64, np.float32)
noise[1, 64](states, out)
assert out.min() >= 0.25 and out.max() <= 0.75 and len(set(out.tolist())) > 10
assert (add(A, A) == 2 * A).all()
top = np.zeros(1, np.float32)
maximum[2, 32](np.arange(64, dtype=np.float32), top)
free, total = cuda.current_context().get_memory_info()
print(top[0], cuda.gpus[0] is not None, free <= total, len(cuda.get_current_device().name) > 0)
"""

TYPED = """
import numba
import numpy as np
from numba import types, int32, float64, njit
sig = types.float64(types.float64, types.int32)

@njit(sig)
def power(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result

@njit([int32(int32, int32), float64(float64, float64)])
def add(a, b):
    return a + b

@njit("int32(int32)")
def twice(x):
    return 2 * x

@njit([float64(float64[:]), int32(int32[:, ::1])])
def total(x):
    return x.sum()

sums = [int(total(np.ones(4)[::2])), int(total(np.ones((2, 3), np.int32)))]
print(power(2, 10.5), add(1, 2), add(1.5, 2.0), numba.typeof(add(1.5, 2.0)), sums, twice(10.7))
"""


@pytest.mark.parametrize(("script", "output"), [
    (JIT, "True [6.0, 22.0, 38.0]\nTrue [2 3 4]\n"),
    (CUDA, "63.0 True True True\n"),
    (TYPED, "1024.0 3.0 3.5 float64 [2, 6] 20\n"),
])  # fmt: skip
def test_scripts(tmp_path, script, output):
    done = run(tmp_path, script, "--strict", "--report")
    assert done.stdout == output and "no fallbacks" in done.stderr


def test_without_a_gpu(tmp_path):
    done = run(tmp_path, CUDA, "--strict", env={"NUMBUS_DEVICE": "cpu"})
    assert done.stdout == "63.0 True True True\n"


def test_number_of_threads_by_numbas_variable(tmp_path):
    script = "import numba\nprint(numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS)"
    env = {"NUMBA_NUM_THREADS": "1"}
    assert run(tmp_path, script, env=env).stdout == "1 1\n"
