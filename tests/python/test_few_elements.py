"""Functions whose calls of few elements NumPy answers: longer arrays, pending ones, GPUs' and
errors go to their bodies."""

import numpy as np
import pytest

pytestmark = pytest.mark.numbus
N = 5000  # more than are few

CALLS = {
    "frexp": lambda m, a: m.frexp(a),
    "ldexp": lambda m, a: m.ldexp(a, m.asarray(np.arange(N) % 60 - 30)),
    "modf": lambda m, a: m.modf(a),
    "spacing": lambda m, a: m.spacing(a.astype(np.float32)),
    "packbits": lambda m, a: m.packbits(a > 0),
    "unpackbits": lambda m, a: m.unpackbits((a > 0).astype(np.uint8), count=-3),
    "choose": lambda m, a: m.choose((a > 0).astype(int), [a, 7]),
    "insert": lambda m, a: m.insert(a, [0, N, 7], [1, 2, 3]),
    "unwrap": lambda m, a: m.unwrap(a, period=3),
    "piecewise": lambda m, a: m.piecewise(a, [a < 0, a > 2], [lambda v: -v, 2, 9]),
    "trim_zeros": lambda m, a: m.trim_zeros(m.where(abs(a) < 3, a, 0)),
    "polymul": lambda m, a: m.polymul(a[:50], a[3:9]),
    "polydiv": lambda m, a: m.polydiv(a[:9], a[3:7]),
    "append": lambda m, a: m.append(a, 3),
    "convolve": lambda m, a: m.convolve(a, a[:40]),
    "correlate": lambda m, a: m.correlate(a[:40], a * 1j, "same"),
    "nancumsum": lambda m, a: m.nancumsum(m.where(a > 1, np.nan, a)),
}


def data(m):
    a = m.asarray(np.linspace(-4, 4, N))
    return a * 1.5 + 0.25  # pending


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_long_and_pending(xp, core, name, few):
    before = core.answer_few(few)
    try:
        got, want = CALLS[name](xp, data(xp)), CALLS[name](np, data(np))
    finally:
        core.answer_few(before)
    several = isinstance(want, tuple)
    for x, y in zip(got, want, strict=True) if several else [(got, want)]:
        assert isinstance(x, xp.ndarray) and not isinstance(x, np.ndarray) and x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), y, 1e-12, 1e-12)


@pytest.mark.parametrize("name", ["modf", "ldexp", "unwrap", "spacing", "frexp", "append"])
def test_nothing_is_carried_out(xp, name):
    CALLS[name](xp, data(xp))
    xp.synchronize()
    a = data(xp)
    before = xp.stats()["flushes"]
    result = CALLS[name](xp, a)
    assert xp.stats()["flushes"] == before
    del result


def test_errors_are_ours(xp):
    few = xp.arange(3.0)
    for call in (
        lambda: xp.packbits(few),
        lambda: xp.choose(xp.asarray([0, 4]), [few[:2]]),
        lambda: xp.ldexp(few, few),
        lambda: xp.frexp(few + 1j),
    ):
        with pytest.raises((TypeError, ValueError), match=r"^\[\w+\] .*; got .*; expected "):
            call()
