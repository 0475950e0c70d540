"""Loops that compute with slices and rows of arrays."""

import random

import numbus as nb
import numpy as np
import pytest

from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too

LIBRARIES = pytest.mark.parametrize("library", [np, nb], ids=["numpy", "numbus"])

CHOLESKY = """
    def work(a):
        n = a.shape[0]
        low = np.zeros_like(a)
        for i in range(n):
            for j in range(i):
                low[i, j] = (a[i, j] - low[i, :j] @ low[j, :j]) / low[j, j]
            low[i, i] = np.sqrt(a[i, i] - low[i, :i] @ low[i, :i])
        return low
    x = np.arange(400.0).reshape(20, 20) % 7
    out = work(x @ x.T + 20 * np.eye(20))
"""

ORTHOGONAL = """
    def work(a):
        q = a.copy()
        n = a.shape[1]
        r = np.zeros((n, n))
        for j in range(n):
            r[j, j] = np.sqrt(np.dot(q[:, j], q[:, j]))
            q[:, j] /= r[j, j]
            for k in range(j + 1, n):
                r[j, k] = q[:, j] @ q[:, k]
                q[:, k] -= r[j, k] * q[:, j]
        return q, r
    out = work(np.arange(240.0).reshape(24, 10) % 11 + np.eye(24, 10))
"""

LEVINSON = """
    def work(r):
        n = r.size
        y = np.empty(n)
        alpha, beta = -r[0], 1.0
        y[0] = -r[0]
        for k in range(1, n):
            beta *= 1.0 - alpha * alpha
            alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
            y[:k] += alpha * y[:k][::-1]
            y[k] = alpha
        return y
    r = 0.4 ** np.arange(1, 121) + 0.001 / np.arange(3.0, 123)
    out = work(r)
"""

SPARSE = """
    def work(starts, columns, values, x):
        y = np.zeros(starts.size - 1)
        for row in range(y.size):
            low, high = starts[row], starts[row + 1]
            y[row] = values[low:high] @ x[columns[low:high]]
        return y
    starts = np.cumsum(np.arange(90) % 8)
    count = int(starts[-1])
    out = work(starts, (np.arange(count) * 7) % 50 - 25, np.arange(count) / 3, np.arange(50.0) - 7)
"""


@pytest.fixture
def at_once():
    """Small work is carried out at once, as it is for users."""
    before = nb._core.set_at_once(1024)
    yield
    nb._core.set_at_once(before)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("text", [CHOLESKY, ORTHOGONAL, LEVINSON, SPARSE], ids="abcd")
def test_products_of_parts_have_the_bits_of_arrays(text):
    made = check(text, 4, nb, entered=True)
    assert max(loop.exits for loop in made) <= 2, [loop.why for loop in made]
    check(text, 4, np)


@LIBRARIES
def test_elimination_by_rows(library):
    check("""
        def work(a, b):
            n = b.size
            for k in range(n):
                for i in range(k + 1, n):
                    f = a[i, k] / a[k, k]
                    a[i, k:] -= f * a[k, k:]
                    a[i][:2] += 0.0
                    b[i] -= f * b[k]
            return a, b
        out = work(np.arange(144.0).reshape(12, 12) % 7 + 9 * np.eye(12), np.arange(12.0))
    """, 2, library, entered=True)  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize(
    "statement",
    [
        "a[1:] = a[:-1]", "a[:-1] += 0.5 * a[1:]", "a[::-1][:5] = a[:5]", "a[:6] -= a[:6][::-1]",
        "m[i, 1:] = m[:-1, i]", "m[:, i] = -m[i]", "m[i] *= m[i, ::-1]", "a[::2] = 0.25",
        "a[i:] = a[i]", "a[i::3] -= a[i] / 3", "a[-3:] = b[:3] - 1", "a[i:3] += b[i:3]",
        "k[i:] = i", "k[::i + 1] = 3", "a[:4] = k[:4]", "t[i * i::i + 1] = False", "a[:3] = b[:1]",
        "a[2:3] += True", "m[i % 2][2:4] /= 2", "a[:2] = b[k[:2]]", "m[i, :] = 2 * m[3, :] + a[:8]",
    ],
)  # fmt: skip
def test_parts_that_overlap(library, statement):
    check(f"""
        def work():
            a, b = np.arange(12.0) / 3, np.arange(12.0) - 4
            m = np.arange(64.0).reshape(8, 8)
            k, t = np.arange(12), np.arange(12) >= 0
            for i in range(8):
                {statement}
            return a, b, m, k, t
        out = work()
    """, 2, library)  # fmt: skip


# NumPy copies one element after the other where only the signs of strides are the same.
@LIBRARIES
@pytest.mark.parametrize(
    "statement",
    [
        "m[i] = m[:, 3]", "m[:, 3] = m[i]", "m[1:, -1] = m[i, 1:]", "m[i, 2:] = m[2:, -2]",
        "m[i, i + 1:] = m[i + 1:, i]", "m[:i, i] = m[i, :i]", "a[::2] = a[:6]", "a[:6] = a[::2]",
        "a[1:12:2] = a[2:8]", "a[2::i + 1] = a[1:1 + (9 - i) // (i + 1) + 1]", "b[:6] = a[::2]",
        "a[:6] = b[::-1][:6]", "b[::2] = a[3:9]", "b[1:7] = a[2:8]", "b[2:8] = a[1:7]",
        "c[:5] = a[1:6]", "a[1:6] = c[:5]", "a[3:8] = c[:5]", "d[:, 1] = d[2, :4]",
        "d[2] = d[:4, 3]", "d[1] = d[2]", "m[i][1:] = t[i, 1:]", "t[1:, i] = m[2, 1:]",
        "for r in m: r[:] = m[:, 2]", "e[1:5] = e[2:6]", "e[i] = m[i]", "m[:, i] = e[i, :]",
        "m[::-1][:8] = m[:8]", "m[i, ::-1] = m[:, i]", "m[i] = m[::-1, 1]", "f[1:5] = f[:4]",
        "a[:5] = f[1:6]", "f[3:7] = a[5:9]", "m[i] = (m[:, 3] + 0.0)",
    ],
)  # fmt: skip
def test_copies_of_parts_with_other_strides_that_overlap(library, statement):
    view = "np.lib.stride_tricks.as_strided(g, (4, 4), (16, 8))" if library is np else "m[:4, :4]"
    check(f"""
        def work():
            g = np.arange(40.0)
            a = g[:12]
            b, c, d, f = g[1:13], g[2:20:3], {view}, g[30:9:-2]
            m = np.arange(64.0).reshape(8, 8)
            t, e = m.T, m[::-1]
            for i in range(8):
                {statement}
            return g, m
        out = work()
    """, 2, library)  # fmt: skip


def _part(r, count):
    """A part of one of the arrays of test_random_copies_of_parts(), of so many elements."""
    array, first, step = r.choice("mmtteeabcf"), r.choice(["0", "0", "1", "i"]), r.randint(1, 2)
    free = f"{first}:{first} + {(count - 1) * step + 1}:{step}"
    if array in "abcf":
        return f"{array}[{free}]"
    fixed = r.choice(["i", "i + 1", "-1", "0", "3"])
    return f"{array}[{r.choice([f'{fixed}, {free}', f'{free}, {fixed}'])}]"


@LIBRARIES
@pytest.mark.parametrize("seed", range(20))
def test_random_copies_of_parts(library, seed):
    r = random.Random(seed)
    statements = []
    for _ in range(12):
        count = r.randint(3, 8)
        statements += [f"for i in range(6): {_part(r, count)} = {_part(r, count)}"]
    body = "\n            ".join(statements)
    check(f"""
        def work():
            g, m = np.arange(60.0), np.arange(441.0).reshape(21, 21)
            a, b, c, f = g[:24], g[1:30], g[2:59:3], g[59:1:-2]
            t, e = m.T, m[::-1]
            {body}
            return g, m
        out = work()
    """, 2, library)  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("statement", ["m[i, i + 1:] = m[i + 1:, i]", "c[i] = m[:, i]"])
def test_copies_of_parts_that_do_not_overlap_are_compiled(library, statement):
    if library is nb and nb.zeros(1).device != "cpu":
        pytest.skip("its elements are no numbers of the host")
    made = check(f"""
        def work():
            m, c = np.arange(900.0).reshape(30, 30), np.zeros((30, 30))
            for i in range(30):
                {statement}
            return m, c
        out = work()
    """, 2, library, entered=True)  # fmt: skip
    assert max(loop.exits for loop in made) == 0, [loop.why for loop in made]


def test_arrays_of_both_libraries_in_the_same_memory():
    check("""
        import numpy, numbus
        def work():
            g = numpy.arange(40.0).reshape(5, 8)
            h = numbus.asarray(g)
            k = numpy.asarray(h)
            for i in range(5):
                k[:, i] = h[i, :5]
                h[:, i] = k[i, 2:7]
            return g, h, k
        out = work()
    """, 2)  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize(
    "statement",
    [
        "a[:4] /= i - 3", "a[:4] = (b[:4] + 0.5) / a[:4]", "a[:4] = a[:5]",
        "a[:4] *= 1e200", "r[:3] = 1.0",
        "a[k[:i]] = 2.0", "a[:3] = b[k[i + 3:i + 6]]", "a[2.0:] = 1.0",
        "a[i:4:0] = 1.0", "m[9 - i, :2] += 1.0", "a[:2] = m[0]", "k[:2] = 2.5", "a[:3] -= a[:0]",
    ],
)  # fmt: skip
def test_statements_fail_and_warn_as_in_python(library, statement):
    check(f"""
        a, b, k = np.arange(12.0) * 1e30, np.arange(12.0) - 4, np.arange(12)
        m = np.arange(64.0).reshape(8, 8)
        r = np.frombuffer(bytes(80))
        for i in range(8):
            b[i] += 1
            {statement}
    """, 2, library)  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "of", ["np.sum(a[:i])", "np.sum(a[:i] * b[:i])", "a @ b", "a[:i] @ (2 * b[:i])"]
)
def test_sums_that_may_be_computed_later_are_stored(of):
    made = check(f"""
        def work(n):
            a, b = np.arange(n * 1.0) / 3, 1 / np.arange(3.0, n + 3.0)
            c = np.zeros(n)
            str((a, b, c))
            for i in range(1, 9):
                c[i] = 2.0 - np.sqrt({of}) / 7
            x = 0.0
            for i in range(9):
                x = {of}
            return c, str(x)
        out = work(12), work(5000)
    """, 2, nb)  # fmt: skip
    assert made[0].entries and not made[1].entries, [loop.why for loop in made]


def test_flags_that_a_loop_leaves_warn_of_nothing():
    check("""
        x, n, count = np.float64(3.5), 33, 1
        m = np.zeros((41, 41))
        for i in reversed(range(3)):
            if x / n > 0.5:
                count *= 3
        for i in reversed(range(-1, 3, 2)):
            m[i][1:n] += m[i, 1:n] / (i // 3)
    """, library=nb)  # fmt: skip
