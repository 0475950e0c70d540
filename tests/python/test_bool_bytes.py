"""Booleans of bytes other than 0 and 1: views of other types, memory of others. Every byte but 0 is
true, whoever reads it. (A copy that NumPy makes keeps such bytes, ours makes them 1.)
"""

import numpy as np
import pytest
from helpers import assert_same, outcome

BYTES = np.array([2, 1, 0, 255, 128, 0, 1, 3, 0, 16, 4, 0] * 30, np.uint8)
OTHER = np.roll(BYTES[::-1], 5).copy()

SOURCES = {
    "view": lambda xp, b: xp.array(b).view(bool),
    "view of int8": lambda xp, b: xp.array(b.view(np.int8)).view("?"),
    "view of int64": lambda xp, b: xp.array(b.view(np.int64)).view(bool),
    "frombuffer": lambda xp, b: xp.frombuffer(b.tobytes(), bool),
    "asarray": lambda xp, b: xp.asarray(b.view(bool)),
    "dlpack": lambda xp, b: xp.from_dlpack(b.view(bool)),
    "dtype": lambda xp, b: with_dtype(xp.array(b)),
    "strided": lambda xp, b: xp.array(np.repeat(b, 3)).view(bool)[::3],
    "written": lambda xp, b: written(xp, b),
    "memoryview": lambda xp, b: xp.asarray(memoryview(b.view(bool))),
}


def with_dtype(a):
    a.dtype = bool
    return a


def written(xp, b):
    """A view whose bytes change after it was made and used."""
    a = xp.zeros(b.size, "uint8")
    view = a.view(bool)
    view.any()
    a[...] = xp.array(b)
    return view


CALLS = """
a.sum() | a.sum(dtype='int8') | a.prod() | a.any() | a.all() | a.mean() | a.max() | a.min()
a.var() | a.std(dtype='float32') | a.argmax() | a.argmin() | a.cumsum() | a.cumprod() | a[:4].all()
xp.count_nonzero(a) | xp.nonzero(a)[0] | xp.flatnonzero(a) | xp.argwhere(a) | a.nonzero()[0]
a.reshape(12, -1).sum(axis=0) | a.reshape(12, -1).any(axis=1) | a.reshape(12, -1).cumsum(axis=0)
~a | a & b | a | b | a ^ b | a == b | a != b | a < b | a <= b | a > b | a >= b | a + b | a * b
a == True | a ^ True | a + 1 | a * 2.5 | a / 2 | a // 1 | a + xp.arange(360) | -(a + 0)
xp.logical_not(a) | xp.logical_and(a, b) | xp.logical_or(a, b) | xp.logical_xor(a, b)
xp.maximum(a, b) | xp.minimum(a, b) | xp.add(a, b) | xp.multiply(a, b) | xp.power(a, 2)
xp.bitwise_or(a, 4) | xp.invert(a) | xp.sqrt(a) | xp.exp(a) | xp.absolute(a) | xp.isnan(a)
a.astype('int8') | a.astype('uint8') | a.astype('int64') | a.astype('float16') | a.astype('float64')
a.astype('complex64') | a.astype(bool) | a.copy() | a[::-1] | a[3:300:7] | a.reshape(12, 30).T
xp.where(a, 1, 2) | xp.where(a, b, False) | xp.where(b, a, True) | xp.where(a)[0]
xp.arange(360.0)[a] | xp.arange(360)[~a] | xp.arange(360.0)[a] + xp.arange(360)[a]
xp.arange(360.0)[a].sum() | (xp.arange(360) * a).sum() | xp.arange(360).sum(where=a)
xp.compress(a, xp.arange(360)) | xp.extract(a, xp.arange(360)) | xp.select([a], [1], 0)
xp.choose(a, [xp.zeros(360), xp.ones(360)]) | xp.take(a, [0, 3, 5]) | a[[0, 3, 5, -1]]
a[[0, 1]] + 0 | a @ b | xp.dot(a, b) | a.reshape(12, 30) @ b.reshape(30, 12)
xp.vdot(a, b) | xp.outer(a[:5], b[:5]) | xp.inner(a, b) | xp.einsum('i,i->', a, b)
xp.einsum('i,j->ij', a[:4], b[:4])
xp.tensordot(a, b, 1) | xp.concatenate([a, b]) | xp.stack([a, b]) | xp.hstack([a, b])
xp.tile(a, 2) | xp.repeat(a, 2)
xp.unique(a) | xp.sort(a) | xp.argsort(a, kind='stable') | xp.bincount(a) | xp.histogram(a, 2)[0]
xp.add.reduce(a) | xp.logical_and.reduce(a) | xp.add.accumulate(a) | xp.logical_xor.reduce(a)
xp.maximum.reduce(a) | xp.logical_or.accumulate(a) | xp.multiply.outer(a[:3], b[:3])
a.tolist() | a.item(0) | bool(a[0]) | int(a[3]) | float(a[4]) | a[3] + 1 | a[4] * 2.5 | a[3] == True
xp.diff(a) | xp.diff(a + 0) | xp.roll(a, 3) | xp.flip(a) | xp.pad(a, 2) | xp.clip(a, False, True)
xp.array_equal(a, a.astype('uint8')) | xp.allclose(a, b) | xp.isclose(a, b) | xp.average(a)
xp.interp(xp.arange(3), xp.arange(360), a) | xp.searchsorted(xp.sort(a), True) | xp.trapezoid(a)
xp.nansum(a) | xp.nanmax(a) | xp.median(a) | xp.cov(a, b) | xp.ptp(a + 0) | xp.gradient(a + 0.0)
xp.full(360, 7)[a] | xp.copysign(1.0, a) | xp.heaviside(a, 0.5) | xp.tril(a.reshape(12, 30))
xp.fft.fft(a).real.round(9) | xp.linalg.norm(a) | xp.array([a, b]) | xp.array(a, 'int64')
hash(a[0]) | xp.count_nonzero(a.reshape(12, 30), axis=1) | xp.place(xp.zeros(360), a, [1, 2])
xp.full(3, a[0])
""".replace("a | b", "a BAR b").replace("\n", "|")
CALLS = [call.strip().replace("BAR", "|") for call in CALLS.split("|") if call.strip()]
STATEMENTS = [
    "y = xp.zeros(360); y[a] = 5",
    "y = xp.zeros(360); y[a] += 5",
    "y = xp.zeros(360); y[a] = xp.arange(360)[a]",
    "y = xp.zeros(360); xp.copyto(y, 3, where=a)",
    "y = xp.zeros(360); xp.putmask(y, a, 3)",
    "y = xp.zeros(360); xp.add(y, 1, out=y, where=a)",
    "y = xp.zeros(360); y += a",
    "y = xp.zeros(360, 'uint8'); y[...] = a",
    "y = xp.zeros(360, bool); xp.logical_and(a, b, out=y)",
    "y = xp.zeros(3, int); xp.add.at(y, a.astype(int), 1)",
    "a &= b; y = a.astype(int)",
    "a |= b; y = a + 0",
    "a ^= b; y = a.sum()",
    "y = 1 if a[0] else 2",
    "y = [1 if x else 0 for x in a[:20]]",
    "y = xp.arange(360); y = y[a & b]; y = y + 1",
    "y = xp.arange(360); m = a > 0; y[m] = -1",
]


def world(module, source):
    if module is np:
        return {"xp": np, "a": BYTES.view(bool).copy(), "b": OTHER.view(bool).copy()}
    return {"xp": module, "a": SOURCES[source](module, BYTES.copy()),
            "b": SOURCES[source](module, OTHER.copy())}  # fmt: skip


@pytest.mark.numbus
@pytest.mark.parametrize("source", SOURCES)
def test_expressions(xp, mode, source):
    names, ours = world(np, source), world(xp, source)
    for call in CALLS:
        want = outcome(lambda c=call: eval(c, names))
        got = outcome(lambda c=call: eval(c, ours))
        if isinstance(want, Exception):
            assert isinstance(got, Exception), f"{call}: {got!r} where NumPy raises {want!r}"
        elif isinstance(want, (np.ndarray, np.generic)):
            assert not isinstance(got, Exception), f"{call}: {got!r}"
            assert_same(got, want, 1e-6 if want.dtype.kind in "fc" else 0, call)
        else:
            assert got == want, call


@pytest.mark.numbus
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(xp, mode, source, text):
    names, ours = world(np, source), world(xp, source)
    if "a &=" in text or "a |=" in text or "a ^=" in text:
        if not ours["a"].flags.writeable:
            pytest.skip("read-only memory")
    exec(text, names)
    exec(text, ours)
    want, got = names["y"], ours["y"]
    if isinstance(want, (np.ndarray, np.generic)):
        assert_same(got, want, what=text)
    else:
        assert got == want


@pytest.mark.numbus
@pytest.mark.cpu
def test_the_memory_stays(xp):
    """Reading changes no byte."""
    real = BYTES.copy()
    a = xp.asarray(real).view(bool)
    a.sum(), (a | a).any(), a.copy()
    assert (real == BYTES).all() and (xp.asarray(real) == xp.array(BYTES)).all()
    assert a.view("uint8").tolist() == BYTES.tolist()
