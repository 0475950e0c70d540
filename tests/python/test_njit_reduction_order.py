"""Reductions in compiled functions have the bits of the array call on a host, each of them."""

import linecache

import numbus as nb
import numpy as np
import pytest
from numbus import njit

REDUCTIONS = "sum prod min max any all argmin argmax mean var std count_nonzero".split()
DTYPES = ["f2", "f4", "f8", "i1", "i4", "u8", "?", "c8", "c16"]
_count = 0


def compiled(expression: str, parameters: str = "x"):
    global _count
    _count += 1
    text, name = f"def f({parameters}):\n    return {expression}\n", f"<order {_count}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return njit(space["f"])


def same(got, want) -> bool:
    want = np.asarray(want)
    got = np.asarray(got).astype(want.dtype) if want.ndim == 0 else np.asarray(got)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    parts = [(got.real, want.real), (got.imag, want.imag)] if want.dtype.kind == "c" else [
        (got, want)]  # fmt: skip
    for g, w in parts:
        if not np.array_equal(g, w, equal_nan=w.dtype.kind == "f"):
            return False
        if w.dtype.kind == "f" and not np.array_equal(np.signbit(g), np.signbit(w) | np.isnan(w)):
            if not np.isnan(w).any():
                return False
    return True


def values(r, dtype, *shape):
    x = r.standard_normal(shape) * r.choice([1e-3, 1, 1e3], shape)
    if dtype == "?":
        return x > 0
    if np.dtype(dtype).kind == "c":
        return (x + 1j * r.standard_normal(shape)).astype(dtype)
    if np.dtype(dtype).kind == "u":
        x = abs(x)
    return (x * 0.1).astype(dtype)


def layouts(r, dtype):
    """Arrays of one to three axes whose lines begin, end and cross where lanes and units do."""
    for n in (1, 2, 7, 31, 32, 33, 100, 1000, 16384, 16385, 50000):
        yield values(r, dtype, n)
    yield values(r, dtype, 3000)[::3]
    yield values(r, dtype, 3000)[::-1]
    for rows, columns in ((3, 5), (40, 7), (7, 40), (50, 60), (100, 1), (1, 100), (17, 33),
                          (1000, 8), (15, 32), (16, 32), (2, 20000)):  # fmt: skip
        yield values(r, dtype, rows, columns)
        yield np.asfortranarray(values(r, dtype, rows, columns))
        yield values(r, dtype, 2 * rows, columns)[::2]
        yield values(r, dtype, columns, 2 * rows)[:, ::2].T
    yield values(r, dtype, 5, 20, 30)
    yield values(r, dtype, 5, 20, 30).transpose(1, 2, 0)
    yield values(r, dtype, 5, 20, 60)[:, ::-1, ::2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_bits_of_the_array_call(name, dtype):
    r = np.random.default_rng([REDUCTIONS.index(name), DTYPES.index(dtype)])
    functions = {}
    for x in layouts(r, dtype):
        axes = [None, *range(x.ndim)] if x.ndim > 1 else [None]
        if x.ndim == 3 and not name.startswith("arg"):
            axes += [(0, 1), (0, 2), (1, 2)]
        for axis in axes:
            if x.ndim > 1 and r.random() > 0.15:
                continue
            if axis not in functions:
                functions[axis] = compiled(f"np.{name}(x, axis={axis})")
            with np.errstate(all="ignore"):
                got = functions[axis](x)
                want = getattr(nb, name)(nb.asarray(x, device="cpu"), axis=axis)
            assert same(got, want), (name, dtype, x.shape, x.strides, axis)


SHAPES = [(5,), (32,), (33,), (777,), (40000,), (9, 3), (40, 33), (200, 300)]


@pytest.mark.parametrize("shape", SHAPES)
def test_expressions_add_up_as_array_calls_do(shape):
    r = np.random.default_rng(3)
    text = "((x - y) * np.abs(x)).sum(), np.max(x * y), (x + y).std(), np.mean(x * 2)"
    f = compiled(text, "x, y")
    for dtype in ("f4", "f8"):
        for narrow in ((), *(((slice(0, 1),) * k) for k in range(1, len(shape) + 1))):
            x, y = values(r, dtype, *shape), values(r, dtype, *shape)[narrow]
            a, b = nb.asarray(x, device="cpu"), nb.asarray(y, device="cpu")
            want = ((a - b) * nb.abs(a)).sum(), nb.max(a * b), (a + b).std(), nb.mean(a * 2)
            for got, expected in zip(f(x, y), want):
                assert same(got, expected), (dtype, shape, narrow)


def test_options_add_up_as_array_calls_do():
    r = np.random.default_rng(4)
    x = values(r, "f4", 100, 40)
    a = nb.asarray(x, device="cpu")
    for call in ("np.sum({}, dtype=np.float64)", "np.var({}, ddof=2)", "np.std({}, axis=1, ddof=1)",
                 "np.sum({}, axis=0, keepdims=True)", "np.mean({}, axis=1, dtype=np.float64)",
                 "np.prod({}, axis=1, dtype=np.complex64)", "np.sum({}, initial=0.1)"):  # fmt: skip
        want = eval(call.format("a"), {"np": nb, "a": a})
        assert same(compiled(call.format("x"))(x), want), call


def test_pythons_sum_adds_one_after_the_other():
    x = np.random.default_rng(5).standard_normal(1000).astype(np.float32)
    want = np.float32(0)
    for v in x:
        want = want + v
    assert compiled("sum(x)")(x) == want
