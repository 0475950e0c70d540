"""prange: reductions, independence of the number of threads, errors."""

import os
import subprocess
import sys

import numpy as np
import pytest
from jit_check import check
from numbus import njit, prange
from numbus.kernels import CompileError, UnsupportedError


@pytest.mark.parametrize("n", [0, 1, 5, 64, 65, 1000])
def test_reductions(n):
    def f(x):
        add = 0.0
        product = 1.0
        least = 1e300
        most = -1e300
        count = 0
        for i in prange(x.shape[0]):
            add += x[i]
            product *= 1 + x[i] / 1000
            least = min(least, x[i])
            most = max(x[i], most)
            if x[i] > 0:
                count += 1
        return add, product, least, most, count

    check(f, np.random.default_rng(n).standard_normal(n), parallel=True)


def test_integers():
    def f(x):
        s = 0
        t = np.int32(0)
        b = 0
        for i in prange(x.shape[0]):
            s += x[i]
            t -= x[i]
            b |= x[i]
        return s, t, b

    for t in ("int32", "int64"):
        if t == "int64":
            continue
        check(f, np.arange(100, dtype=t), parallel=True)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("x", [0.5, np.float32(0.5), np.uint64(3), 1.5j, np.complex64(2 - 1j)])
def test_sums_wider_than_their_start(n, x):
    """The variable has the type that holds its start and what the iterations add."""

    def add(n, x):
        total = more = 4
        for i in prange(n):
            total += x
            more -= x * i
        return total, more

    def multiply(n, x):
        product = True
        for i in prange(n):
            product *= x + i
        return product

    def least(n, x):
        found = 7
        for i in prange(n):
            found = min(found, i - x)
        return found

    for g in (add, multiply, least)[: 1 if np.iscomplexobj(x) else 3]:
        got, want = np.array(njit(g, parallel=True)(n, x)), np.array(g(n, x))
        assert (got == want).all()
        assert n == 0 or got.dtype == np.array(want.tolist()).dtype
    if np.iscomplexobj(x):
        with pytest.raises(UnsupportedError, match="product of complex numbers in a parallel loop"):
            njit(multiply, parallel=True)(n, x)


def test_steps_and_ranges():
    def f(n):
        out = np.zeros(n)
        for i in prange(3, n, 2):
            out[i] = i * 2
        for i in prange(n - 1, -1, -5):
            out[i] += 1
        for i in prange(2, 5):
            out[i] -= 7
        return out

    check(f, 50, parallel=True)


def test_nested_and_private():
    def f(x):
        out = np.zeros(x.shape)
        total = 0.0
        for i in prange(x.shape[0]):
            row = 0.0
            for j in range(x.shape[1]):
                if x[i, j] < 0:
                    continue
                row += x[i, j]
                if row > 100:
                    break
            k = 0
            while k < 3:
                row += k
                k += 1
            for j in prange(x.shape[1]):
                out[i, j] = row * x[i, j]
            total += row
        return out, total

    check(f, np.random.default_rng(3).standard_normal((40, 30)), parallel=True)


def test_captured():
    def f(x, t, n):
        scale = 2.5
        shape = x.shape
        out = np.empty_like(x)
        for i in prange(shape[0]):
            out[i] = x[i] * scale + t[0] + t[1] * n + helper(x[i])
        return out

    check(f, np.arange(30.0), (1, 2.5), 3, parallel=True)

    def g(x):
        s = 0.0
        for i in prange(x.shape[0]):
            y = x[i] + np.arange(3)
            s += y.sum() * (x[i, 0] if x[i, 0] > 0 else 1.0)
        return s

    check(g, np.random.default_rng(1).random((20, 3)), parallel=True)


def helper(v):
    return v * v


def test_raise():
    def f(x):
        s = 0.0
        for i in prange(x.shape[0]):
            if x[i] > 90:
                raise ValueError("large")
            s += x[i]
        return s

    check(f, np.arange(100.0), parallel=True)
    check(f, np.arange(50.0), parallel=True)


def test_mandelbrot():
    def f(n, steps):
        out = np.zeros((n, n), np.int32)
        for i in prange(n):
            for j in range(n):
                c = complex(-2 + 3 * j / n, -1.5 + 3 * i / n)
                z = 0j
                k = 0
                while k < steps and z.real * z.real + z.imag * z.imag < 4:
                    z = z * z + c
                    k += 1
                out[i, j] = k
        return out

    check(f, 40, 50, parallel=True)


def test_mistakes():
    @njit(parallel=True)
    def returns(x):
        for i in prange(x.shape[0]):
            if x[i] > 3:
                return i
        return -1

    with pytest.raises(CompileError, match="return"):
        returns(np.arange(5.0))


@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_arrays_add_up(n):
    def f(x, out):
        total, count = np.zeros(x.shape[1]), 0
        product = np.ones((2, 3), np.float32)
        hits = np.zeros(5, np.int64)
        for i in prange(x.shape[0]):
            total += x[i]
            total -= x[i] / 2
            count += 1
            product *= np.float32(1.5) if i % 3 == 0 else np.float32(0.75)
            own = np.zeros(5, np.int64)
            own[i % 5] = i
            hits += own
            out += x[i, 0]
        return total, count, product, hits, out.copy()

    x = np.random.default_rng(n).standard_normal((n, 4))
    want_out, got_out = np.ones((3, 2, 2))[:, 0], np.ones((3, 2, 2))[:, 0]
    want = f(x, want_out)
    got = njit(parallel=True)(f)(x, got_out)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-5)


SUM = """
import numpy as np
from numbus import njit, prange
@njit(parallel=True)
def f(x):
    s = 0.0
    for i in prange(x.shape[0]):
        s += np.sin(x[i]) * 1e-3
    return s
print(f(np.random.default_rng(1).random(12345)).hex())
"""
DRAWS = """
import numpy as np
from numbus import njit, prange
@njit(parallel=True)
def f(out):
    np.random.seed(3)
    for i in prange(out.size):
        out[i] = np.random.normal()
out = np.zeros(20000)
f(out)
print(hash(out.tobytes()), out.mean())
"""


@pytest.mark.parametrize("text", [SUM, DRAWS])
def test_threads_do_not_matter(tmp_path, text):
    script = tmp_path / "sums.py"
    script.write_text(text)
    found = set()
    for threads in ("1", "2", "5"):
        env = dict(os.environ, NUMBUS_NUM_THREADS=threads, PYTHONHASHSEED="0")
        done = subprocess.run(
            [sys.executable, script], env=env, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("at", [0, 3, 70, 999])
def test_errors_in_turns_of_different_lengths(at):
    # Turns run side by side in the lanes of vector registers; one of them raises.
    @njit(parallel=True)
    def f(x, y):
        for i in prange(x.shape[0]):
            v = x[i]
            k = 0
            while v > 1.0:
                v *= 0.5
                k += 1
                if k > 100:
                    raise ValueError("too long")
            y[i] = k

    x = np.random.default_rng(1).random(1000) * 100
    y, want = np.zeros(1000), np.ceil(np.log2(np.maximum(x, 1.0)))
    f(x, y)
    np.testing.assert_array_equal(y, want)
    x[at] = np.inf
    with pytest.raises(ValueError, match="too long"):
        f(x, y)


def test_names_of_turns():
    @njit(parallel=True)
    def f(x):
        t, k = 1.0, 3
        a = x * 2
        for i in prange(x.size):
            t = x[i] * k
            a[i] += t
            for k2 in range(3):
                a[i] += k2
        t = 5.0
        for i in range(3):
            a[i] += t * i
        for i in prange(x.size):
            if i % 2:
                t = 1.0
            else:
                t = 2.0
            a[i] *= t
        return a

    x = np.arange(10.0)
    np.testing.assert_allclose(f(x), f.py_func(x))


@njit(parallel=True)
def reads_first_where_it_may_not(n, m, x):
    out = np.zeros(n)
    for i in prange(n):
        t = 0.0
        if i > 2:
            t += i % m + x[i % x.size]
        inner = [k % m for k in range(i)]
        for k in range(m):
            t += k * x[k % x.size] + len(inner)
        out[i] = t
    return out


def test_what_is_captured_is_read_first_in_a_branch():
    x = np.linspace(0, 1, 7)
    got = reads_first_where_it_may_not(20, 3, x)
    np.testing.assert_allclose(got, reads_first_where_it_may_not.py_func(20, 3, x), rtol=1e-14)


def raises_a_key(a, n):
    d = {-1: 2.0}
    v = 0.0
    for i in prange(n):
        v += d[a[i]]
    return v


def raises_an_index(a, n):
    v = 0.0
    for i in prange(n):
        v += a[a[i] + n]
    return v


def raises_its_own(a, n):
    v = 0.0
    for i in prange(n):
        if a[i] > 0:
            raise ValueError("item", a[i])
        v += a[i]
    return v


def raises_in_loops(a, n):
    v = 0.0
    for i in prange(n):
        for k in range(i % 5 + 1):
            if a[i] > 0 and k == i % 3:
                raise ValueError("item", a[i], k)
            v += k
    return v


def raises_within_lists(a, n):
    v = 0.0
    for i in prange(n):
        made = [str(a[i]), str(n)]
        if a[i] > 0:
            raise KeyError(made[0])
        v += len(made)
    return v


def error_of(f, *args):
    with pytest.raises((KeyError, IndexError, ValueError)) as raised:
        f(*args)
    return type(raised.value), *raised.value.args


@pytest.mark.numbus
@pytest.mark.parametrize("n", [7, 1000])
@pytest.mark.parametrize(
    "f",
    [raises_a_key, raises_an_index, raises_its_own, raises_within_lists],
    ids=lambda f: f.__name__,
)
def test_the_first_iteration_that_fails_is_the_one_that_raises(f, n):
    """Whichever thread comes to an error when."""
    compiled = njit(parallel=True)(f)
    for first in (0, 1, n // 2, n - 1):
        a = np.full(n, -1)
        a[first:] = np.arange(first, n) + 10
        plain = error_of(njit(f), a, n)
        for _ in range(50):
            assert error_of(compiled, a, n) == plain


@pytest.mark.numbus
def test_iterations_side_by_side_raise_the_same_error_each_time():
    """Of those in the lanes of a register the one that comes to its error first."""
    compiled = njit(parallel=True)(raises_in_loops)
    for first in (0, 1, 500):
        a = np.full(1000, -1)
        a[first:] = np.arange(first, 1000) + 10
        seen = {error_of(compiled, a, 1000) for _ in range(50)}
        assert len(seen) == 1
        assert first + 10 <= min(seen)[2] < first + 26
