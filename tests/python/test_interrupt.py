"""Ctrl-C: compiled functions, kernels and array work end soon, and the process goes on usable.

Each program runs in a process of its own, which another one sends SIGINT while it computes.
"""

import os
import subprocess
import sys
import tempfile
import textwrap

import numbus as nb
import numpy as np
import pytest
from numbus import cuda

# A quiet machine needs some milliseconds; what is refused is a wait until the work has ended.
SLACK = 1.0

PRELUDE = """
import os, signal, struct, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's parent ignores it
import numpy as np
import numbus as nb
from numbus import cuda, njit, prange, vectorize

def signal_after(seconds, times=1):
    # A child sends it, since compiled code holds Python's lock; gives the time of the last one.
    here, there = os.pipe()
    me = os.getpid()
    if os.fork() == 0:
        for _ in range(times):
            time.sleep(seconds)
            os.write(there, struct.pack("d", time.perf_counter()))
            os.kill(me, signal.SIGINT)
        os._exit(0)
    def sent():
        all = os.read(here, 8 * times)
        os.wait()
        return struct.unpack("d", all[-8:])[0]
    return sent

def interrupted(work):
    sent = signal_after(0.3)
    try:
        work()
    except KeyboardInterrupt:
        took = time.perf_counter() - sent()
        assert took < SLACK, took
        return took
    raise AssertionError("not interrupted")
"""


def run(program, device="cpu", **environment):
    code = f"SLACK = {SLACK}\n" + PRELUDE + textwrap.dedent(program)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:  # kernels are compiled from it
        script.write(code)
        script.flush()
        done = subprocess.run(
            [sys.executable, script.name],
            env={**os.environ, "NUMBUS_DEVICE": device, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def gpu():
    return nb.cuda.is_available()


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not gpu(), reason="no GPU"))]

FUNCTIONS = {
    # Loops of every shape that polls know: counting up and down, by what they find, around others,
    # with calls, by recursion, with a result of many lanes.
    "up": ("s = 1\n    for i in range(n):\n        s = s * 3 + i\n    return s", "10**16"),
    "down": ("s = 1\n    for i in range(n, 0, -1):\n        s = s * 3 + i\n    return s", "10**16"),
    "step": ("s = 1\n    for i in range(0, n, 7):\n        s = s * 3 + i\n    return s", "10**16"),
    "while": (
        "k = n\n    while k != 0:\n        k = k * 3 + 2 * n\n        if k == 15:\n"
        "            k = 0\n    return k",
        "2",
    ),
    "nothing": ("k = 0\n    while n > 4:\n        k += 1\n    return k", "5"),
    "nested": (
        "s = 0.0\n    for j in range(n):\n        for i in range(x.size):\n"
        "            s += x[i]\n    return s",
        "10**14",
    ),
    "empty inside": (
        "s = 0.0\n    for j in range(n):\n        for i in range(x.size - 1000):\n"
        "            s += x[i] * j\n        s = s * 0.5 + j\n    return s",
        "10**16",
    ),
    "calls": ("s = 0\n    for j in range(n):\n        s += len([j])\n    return s", "10**16"),
    "memory": (
        "s = 0.0\n    for j in range(n):\n        s += np.zeros(3 + j % 2)[0]\n    return s",
        "10**16",
    ),
    "functions": (
        "s = 0.0\n    for j in range(n):\n        s += np.sin(s + j)\n    return s",
        "10**16",
    ),
    "product": (
        "s = 0.0\n    a = np.ones((900, 901)) * x[0]\n    for j in range(n):\n"
        "        s += np.dot(a, a.T)[j % 900, 3] + (a.T @ a)[3, 3] * j\n    return s",
        "10**9",
    ),
    "returns": (
        "for j in range(n):\n        if x[j % 1000] > 2:\n            return j\n    return -1",
        "10**16",
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    body, endless = FUNCTIONS[name]
    run(f"""
x = np.ones(1000)
def plain(n, x):
    {body}
f = njit(plain)
expected = plain(3, x)
assert f(3, x) == expected
for _ in range(2):
    interrupted(lambda: f({endless}, x))
    assert f(3, x) == expected
assert float((nb.asarray(x) + 1).sum()) == 2000
""")


def test_recursive_functions():
    run("""
@njit
def calls(n):
    if n < 2:
        return n
    return calls(n - 1) + calls(n - 2)
assert calls(20) == 6765
interrupted(lambda: calls(100))
assert calls(20) == 6765
""")


def test_memory_of_functions_comes_back():
    """Arrays and lists that a function held when it was interrupted, in its parallel loop as well,
    and none that it had given back or that a handler's function has made.
    """
    run("""
def used():
    return nb._core.memory_stats("cpu")["used_bytes"]

@njit
def holds(n):
    a = np.ones(300_000)
    kept = [np.ones(1000)]
    s = 0.0
    for j in range(n):
        kept.append(np.full(1000, j * 1.0))
        if len(kept) > 50:
            kept = [kept[k] for k in range(40, len(kept))]
        b = a * j
        s += b[3] + kept[-1][0]
    return s

@njit(parallel=True)
def parts(n, x):
    a = np.ones(300_000)
    s = 0.0
    for i in prange(8):
        t = np.zeros(200_000)
        for j in range(n):
            t = t + a[:200_000] * j
            x[i] = t[5]
    return a[3]

@njit
def made(n):
    return np.arange(n) * 0.5

@njit
def deep(n):
    if n == -1:
        return 0.0
    a = np.ones(3000)
    return deep(n + 1) + a[n % 3000]

x = np.zeros(8)
holds(3), parts(3, x), made(10)
try:
    deep(0)
except RecursionError:
    pass
before = used()
results = []
def handler(signum, frame):
    results.append(made(100_000))
    raise KeyboardInterrupt
for _ in range(3):
    interrupted(lambda: holds(10**16))
    interrupted(lambda: parts(10**16, x))
    try:
        deep(0)
    except RecursionError:
        pass
    assert used() == before, (used(), before)
signal.signal(signal.SIGINT, handler)
interrupted(lambda: holds(10**16))
signal.signal(signal.SIGINT, signal.default_int_handler)
fresh = [made(100_000) + 1.0 for _ in range(5)]
assert (results[0] == np.arange(100_000) * 0.5).all()
results.clear()
del fresh
assert used() == before, (used(), before)
assert holds(5) == holds(5)
""")


def test_typed_dicts_stay_whole():
    """What an interrupted function has put into a dict of the caller's stays in it."""
    run("""
from numbus import types
from numbus.kernels.typed import Dict

@njit
def work(d, e, n):
    for i in range(n):
        d[i % 100_000, i % 3] = np.full(i % 5, i * 1.0)
        e[i] = i * 2
        if i % 3 == 0:
            d.pop((i % 70_000, 1), np.zeros(0))
            e.pop(i // 2, 0)
        if i == 10**6:
            i = 10**7
            while i:  # to be interrupted at last
                i = i * 3 % 10**6 + 1

d = Dict.empty(types.UniTuple(types.int64, 2), types.float64[::1])
e = Dict.empty(types.int64, types.int64)
work(d, e, 2)
for seconds in (0.01, 0.03, 0.1, 0.2, 0.5):
    sent = signal_after(seconds)
    try:
        work(d, e, 10**12)
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        sent()
    assert len(d) == len(list(d)) > 1000 and len(e) == len(list(e)) > 1000
    assert all(v == 2 * k for k, v in e.items())
    assert all((v % 100_000 == k[0]).all() for k, v in d.items())
    for k in list(d)[:100]:
        del d[k]
d.clear()
assert len(d) == 0 and len(e) > 1000
""")


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_parallel_loops(threads):
    run(
        """
@njit(parallel=True)
def total(n, x):
    s = 0
    for j in prange(64):
        k = 1
        for i in range(n):
            k = k * 3 + i
        s += k
    return s
@njit(parallel=True)
def lengths(n, out):  # lanes: iterations of different lengths
    for j in prange(out.size):
        k = 0
        z = 0.5
        while k < n and z < 4.0:
            z = z * z + 0.1
            k += 1
        out[j] = k
x, out = np.ones(10), np.zeros(100, np.int64)
before = total(100, x)
lengths(50, out)
for _ in range(2):
    interrupted(lambda: total(10**16, x))
    assert total(100, x) == before
    interrupted(lambda: lengths(10**16, np.zeros(100, np.int64)))
    again = np.zeros(100, np.int64)
    lengths(50, again)
    assert (again == out).all()
# The pool serves arrays, too.
assert float(nb.sqrt(nb.full(1_000_000, 4.0)).sum()) == 2_000_000
""",
        NUMBUS_NUM_THREADS=threads,
    )


KERNELS = {
    "counts": "k = 1\n    for j in range(x[i]):\n        k = k * 3 + j\n    y[i] = k",
    "down": "k = 1\n    for j in range(x[i], -x[i], -12):\n        k = k * 3 + j\n    y[i] = k",
    "strides": (
        "k = 1\n    for j in range(i, x[i], cuda.gridsize(1)):\n        k = k * 3 + j\n    y[i] = k"
    ),
    "leaves": (
        "k = 1\n    for j in range(x[i]):\n        k = k * 3 + j\n        if k == 2:\n"
        "            break\n    y[i] = k"
    ),
    "nested": (
        "k = 1\n    for j in range(x[i]):\n        for l in range(j % 100):\n"
        "            k = k * 3 + j * l\n        k ^= 5\n    y[i] = k"
    ),
    "barriers": (
        "k = 1\n    for j in range(x[i]):\n        k = k * 3 + j\n        cuda.syncthreads()\n"
        "    y[i] = k"
    ),
    "while": "k = 1\n    while x[i] > 4:\n        k += 1\n    y[i] = k",
    "barrier": (
        "k = 1\n    while x[i] > 4:\n        cuda.syncthreads()\n        k += 1\n    y[i] = k"
    ),
    "warp": ("k = 1\n    while cuda.any_sync(0xFFFFFFFF, x[i] > 4):\n        k += 1\n    y[i] = k"),
}


@pytest.mark.parametrize("fibers", [False, True])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, device, fibers):
    body = KERNELS[name]
    if device == "cuda" and fibers:
        pytest.skip("there are no fibers")
    run(
        f"""
@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    {body}
def launch(n):
    x, y = cuda.to_device(np.full(256, n)), cuda.to_device(np.zeros(256, np.int64))
    f[4, 64](x, y)
    cuda.synchronize()
    return y.copy_to_host()
expected = launch(3)
for _ in range(2):
    interrupted(lambda: launch(10**16))
    assert (launch(3) == expected).all()
assert float((nb.arange(1000) + 1.0).sum()) == 500500
""",
        device,
        **({"NUMBUS_FIBERS": "1"} if fibers else {}),
    )


@cuda.jit
def block_maximum(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] = max(s[t], s[t + k])
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def block_and_a_loop(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    while s[t] < 1e30:
        s[t] *= 2
    out[cuda.blockIdx.x] = s[0]


@pytest.mark.cpu
@pytest.mark.parametrize("kernel, polls", [(block_maximum, False), (block_and_a_loop, True)])
def test_no_polls_in_short_loops_over_lanes(kernel, polls):
    """A block has at most 1,024 threads, so that loops over groups of them end by themselves."""
    x = np.arange(512, dtype=np.float32) + 1
    out = np.zeros(2, np.float32)
    kernel[2, 256](x, out)
    if kernel is block_maximum:
        assert out.tolist() == [256, 512]
    ((_, code),) = kernel._core.inspect("asm", 90, 80)
    assert ("numbus_poll_entry" in code) == polls


@pytest.mark.parametrize("device", DEVICES)
def test_array_work(device):
    """A loop of array work, one long plan, and what is lost by it."""
    run(
        """
x = nb.linspace(0, 1, 3_000_000)
def loop():
    while True:
        y = x
        for _ in range(30):
            y = nb.sin(y) * 0.5 + nb.cos(y)
        assert 0 < float(y.mean()) < 1
interrupted(loop)
kept = nb.arange(10.0) * 2
assert abs(float(x.sum()) - 1_500_000) < 1
assert kept.tolist() == [2.0 * i for i in range(10)]
assert abs(float((x * 2).sum()) - 3_000_000) < 1
""",
        device,
    )


@pytest.mark.parametrize("call", [
    "nb.power.accumulate(x[:40_000_000])", "nb.hypot.reduceat(x, [0])", "nb.add.reduceat(x, [0])",
    "nb.logaddexp.reduceat(nb.broadcast_to(one, (80_000, 2_000)), [0, 9])",
    "nb.hypot.at(nb.ones(9), zeros, 3.0)",
])  # fmt: skip
def test_folds(call):
    """Every element waits for the one before."""
    run(f"""
one = nb.ones(1, "float32")
x = nb.broadcast_to(one, (120_000_000 if "add" not in {call!r} else 10**10,))
zeros = nb.broadcast_to(nb.zeros(1, int), (60_000_000,))
def work():
    nb.synchronize()
    kept = {call}
    nb.synchronize()
interrupted(work)
assert nb.hypot.reduceat(nb.ones(4), [0, 1])[0] == 1
assert nb.subtract.accumulate(nb.ones(4)).tolist() == [1, 0, -1, -2]
""")


def test_long_plans():
    """One expression that takes seconds: what was not computed says so, all else is there."""
    run("""
@vectorize
def slow(x, n):
    s = x
    k = 0
    while k < n:
        s = s * 0.999 + x
        k += 1
    return s
x = nb.ones(200_000)
expected = slow(x, 10)[0]
result = []
def work():
    result.append(slow(x, 10**9))
    result[0].sum().item()
interrupted(work)
try:
    print(result[0][:3])
except RuntimeError as error:
    assert "interrupted" in str(error).lower(), error
else:
    raise AssertionError("an interrupted array has values")
assert float(x.sum()) == 200_000
assert slow(x, 10)[0] == expected
""")


LIBRARY_CALLS = {
    "solve": "a = rng.standard_normal((3000, 3000))\nwork = lambda: nb.linalg.solve(a, a)",
    "svd": "a = rng.standard_normal((1600, 1600))\nwork = lambda: nb.linalg.svd(a)",
    "fft": "a = rng.standard_normal(2**24 + 1)\nwork = lambda: (nb.fft.fft(a), nb.synchronize())",
    "normal": "work = lambda: rng.standard_normal(150_000_000)",
    "gamma": "work = lambda: nb.random.gamma(2.0, size=40_000_000)",
    "permutation": "work = lambda: rng.permutation(60_000_000)",
}


@pytest.mark.parametrize("name", LIBRARY_CALLS)
def test_library_calls(name):
    """NumPy's own code cannot be stopped: it goes on without us, until its end."""
    run(
        "rng = nb.random.default_rng(1)\n"
        + LIBRARY_CALLS[name]
        + """
interrupted(work)
assert float((nb.arange(10.0) * 2).sum()) == 90
a = nb.eye(5) * 2
assert float(nb.linalg.inv(a)[0, 0]) == 0.5
"""
    )


def test_long_library_calls_raise_and_warn():
    """What a call in a thread of its own raises arrives; np.errstate holds there."""
    run("""
try:
    nb.linalg.solve(nb.zeros((1500, 1500)), nb.ones(1500))
except np.linalg.LinAlgError:
    pass
else:
    raise AssertionError("no error")
try:
    nb.random.default_rng(1).gamma(-1.0, size=3_000_000)
except ValueError:
    pass
else:
    raise AssertionError("no error")
a = nb.random.default_rng(1).standard_normal((1200, 3))
assert np.allclose(np.asarray(nb.linalg.svd(a)[1]), np.linalg.svd(np.asarray(a))[1])
""")


def test_products():
    """BLAS goes on after Ctrl-C: what it reads stays, what it writes belongs to nothing else."""
    said = run("""
def seconds(n):
    y = np.ones((n, n))
    start = time.perf_counter()
    y @ y
    return time.perf_counter() - start
seconds(500)
rate = seconds(1500) / 1500**3
n = int((1.0 / rate) ** (1 / 3))  # a second's work
if n > 7000:
    print("too fast")
    sys.exit()
pause = 3.0
rng = np.random.default_rng(1)
x = rng.standard_normal((n, n))
a, b = nb.asarray(x), nb.ones((n, n)) * 0.5
float(b[0, 0])
c = nb.zeros((n, n))
float(c[0, 0])
results = []
def work():
    results.append(a @ b)
    results[0][0, 0].item()
def into():
    nb.matmul(a, b, out=c)
    c[0, 0].item()
for what in (work, into):
    interrupted(what)
    # The memory of operands and results is asked for again while BLAS is at work.
    fresh = [nb.full((n, n), k) + 0.25 for k in range(6)]
    assert [float(f[0, 0]) for f in fresh] == [k + 0.25 for k in range(6)]
    for lost in results + [c] * (what is into):
        try:
            print(lost[:2])
        except RuntimeError as error:
            assert "interrupted" in str(error).lower(), error
        else:
            raise AssertionError("an interrupted array has values")
    results.clear()
    if what is into:
        # A part of it is not enough; all of it is, while BLAS still writes to what it was.
        for wrong in (lambda: c.__setitem__(0, 1.0), lambda: nb.add(c, 1.0, out=c)):
            try:
                wrong()
                float(c[1, 1])
            except RuntimeError as error:
                assert "interrupted" in str(error).lower(), error
            else:
                raise AssertionError("a part of an interrupted array has values")
        other = c[::-1]
        nb.add(b, 0.25, out=c)
        c[3] = 2.0
        assert float(c[0, 0]) == float(other[0, 0]) == 0.75
    time.sleep(pause)
    for k, f in enumerate(fresh):
        assert float(f.min()) == float(f.max()) == k + 0.25
    del fresh
assert float(c.min()) == 0.75 and float(c.max()) == 2.0 == float(c[3].min())
# Operands that die meanwhile, and a result that is shared with NumPy, which is waited for.
d = nb.asarray(rng.standard_normal((n, n)))
def dies():
    global d
    e = d * 2
    del d
    (e @ e).sum().item()
interrupted(dies)
fresh = [nb.full((n, n), k) + 0.25 for k in range(4)]
assert [float(f.min()) for f in fresh] == [k + 0.25 for k in range(4)]
time.sleep(pause)
assert [float(f.max()) for f in fresh] == [k + 0.25 for k in range(4)]
m = a[:300, :300]
assert np.allclose(np.asarray(m @ m), x[:300, :300] @ x[:300, :300])
""")
    if "too fast" in said:
        pytest.skip("a product of a second is too large")


def test_handlers_that_return():
    """The numbers come out as without signals, and the handler has run in the middle."""
    run("""
seen = []
@njit(parallel=True)
def total(n):
    s = 0
    for j in prange(16):
        k = j
        for i in range(n):
            k = k * 3 + i
        s += k
    return s
@njit
def count(n):
    k = 1
    for i in range(n):
        k = k * 3 + i
    return k
@cuda.jit
def kernel(y, n):
    i = cuda.grid(1)
    k = i
    for j in range(n):
        k = k * 3 + j
    y[i] = k
def launch(n):
    y = np.zeros(64, np.int64)
    kernel[2, 32](y, n)
    return y.tolist()
for f, n in ((count, 10**9), (total, 2 * 10**8), (launch, 10**8)):
    f(1)
    start = time.perf_counter()
    expected = f(n)
    took = time.perf_counter() - start
    def handler(number, frame):  # set after the import: it stays chained
        seen.append(time.perf_counter())
        assert count(5) == count.py_func(5) and total(4) == total(4)
        assert nb.arange(5).sum() == 10
    signal.signal(signal.SIGINT, handler)
    sent = signal_after(took / 8, 2)
    assert f(n) == expected
    ended, last = time.perf_counter(), sent()
    assert len(seen) == 2, seen
    assert seen[-1] <= ended and seen[-1] - last < SLACK
    seen.clear()
""")


def test_handlers_that_raise():
    run("""
class Stop(Exception):
    pass
def handler(number, frame):
    raise Stop("now")
@njit
def endless(n):
    k = 1
    while n > 0:
        k = k * 3 + n
    return k
assert endless(0) == 1
signal.signal(signal.SIGINT, handler)
for _ in range(2):
    sent = signal_after(0.3)
    try:
        endless(1)
    except Stop as stop:
        assert stop.args == ("now",) and time.perf_counter() - sent() < SLACK
    else:
        raise AssertionError
assert endless(0) == 1
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupted(lambda: endless(1))
""")


def test_other_threads_go_on():
    run("""
import threading
@njit(nogil=True)
def count(n):
    k = 1
    for i in range(n):
        k = k * 3 + i
    return k
expected = count(10**9)
result = []
thread = threading.Thread(target=lambda: result.append(count(10**9)))
thread.start()
interrupted(lambda: count(10**16))
thread.join()
assert result == [expected]
""")


def test_an_ignored_signal_stays_ignored():
    run("""
signal.signal(signal.SIGINT, signal.SIG_IGN)
@njit
def count(n):
    k = 1
    for i in range(n):
        k = k * 3 + i
    return k
expected = count(10**9)
sent = signal_after(0.1)
assert count(10**9) == expected
sent()
""")


def test_signals_between_calls_are_pythons():
    """What Python has handled does not interrupt later work."""
    run("""
@njit
def count(n):
    k = 1
    for i in range(n):
        k = k * 3 + i
    return k
expected = count(10**8)
x = nb.ones(2_000_000)
for _ in range(3):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    except KeyboardInterrupt:
        pass
    assert count(10**8) == expected
    y = x
    for _ in range(60):
        y = nb.sin(y) + x
    assert float(y.sum()) > 0
""")


def test_signals_while_the_interpreter_ends():
    """Then Python is asked nothing any more: the handler that was there has come back."""
    done = subprocess.run(
        [sys.executable, "-c", """
import atexit, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
def last():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
    except KeyboardInterrupt:
        print("raised")
    print(float((nb.arange(1000) + 1.0).sum()))
atexit.register(last)
import numbus as nb
"""],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.split() == ["raised", "500500.0"], done.stderr


def test_an_empty_script_opens_no_gpu(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit\n"
        "atexit.register(lambda: print('libcuda' in open('/proc/self/maps').read()))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "NUMBUS_DEVICE"}
    done = subprocess.run(
        [sys.executable, "-m", "numbus", str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "False\n", done.stdout + done.stderr
