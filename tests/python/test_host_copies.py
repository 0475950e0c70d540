"""What writes through NumPy must reach an array whose memory NumPy cannot see, as on a GPU."""

import numpy as np
import pytest
from helpers import run_both

pytestmark = pytest.mark.numbus


class CopyingNumpy:
    """numpy, but asarray of a Numbus array is a read-only copy: what a GPU array gives."""

    def __getattr__(self, name):
        return getattr(np, name)

    def asarray(self, x, *args, **kwargs):
        real = np.array(x, *args, order="K", **kwargs)
        real.flags.writeable = False
        return real


@pytest.fixture
def far(monkeypatch):
    """Arrays behave as if they were not in host memory."""
    from numbus.core import host as _host

    monkeypatch.setattr(_host, "numpy", CopyingNumpy())
    monkeypatch.setattr(_host, "on_host", lambda a: False)


STATEMENTS = [
    "a[[0, 2]] = 7",
    "a[[0, 2], [1, 3]] += 1",
    "a[a[:, 0] > 0] = -1",
    "a[1:, [0, 3]] = xp.ones((2, 2))",
    "v = a[:, 1:3]\nv[[0, 1]] = 5",
    "a.sort()",
    "a.sort(axis=0)",
    "a.T.sort()",
    "a.partition(1)",
    "a.put([0, 5], [8, 9])",
    "xp.put(a, [1, 2], 4)",
    "xp.putmask(a, a > 0, xp.arange(3.0))",
    "xp.place(a, a > 0, [1.0, 2.0])",
    "xp.fill_diagonal(a, xp.arange(3.0))",
    "xp.put_along_axis(a, xp.argmax(a, axis=1, keepdims=True), 9, 1)",
    "a.flat = 3",
    "a.flat[4] = 3",
    "a.flat[::2] = xp.arange(6.0)",
    "xp.add.at(a, [0, 0, 1], 1)",
    "xp.add.accumulate(a, axis=1, out=a)",
    "xp.cumsum(a, axis=0, out=a)",
    "b = xp.empty((3, 3))\nxp.matmul(a, a.T, out=b)",
    "b = a @ a.T",
    "b = xp.median(a)",
    "xp.random.default_rng(1).shuffle(a)",
    "xp.random.default_rng(1).random(out=a)",
    "c = a + 1j\nc[[0, 1]] = 1j\nc.sort()",
    "b = a > 0\nb[[0, 1]] = False",
    "b = list(a.flat)[3]\nc = a.flat[[1, 2]]",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_writes_arrive(xp, far, text):
    run_both(xp, text, rtol=1e-15, a=np.random.default_rng(5).uniform(-3, 3, (3, 4)))


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_same_in_host_memory(xp, text):
    run_both(xp, text, rtol=1e-15, a=np.random.default_rng(5).uniform(-3, 3, (3, 4)))


def test_partial_writes_stay(xp, far):
    a = xp.zeros(4)
    with pytest.raises(IndexError):
        a.put([0, 9], [1.0, 2.0])
    assert a.tolist() == [1, 0, 0, 0]


def test_read_only(xp, far):
    a = xp.broadcast_to(xp.ones(3), (2, 3))
    for text in ("a[[0]] = 1", "a.sort()", "a.put([0], 1)"):
        with pytest.raises(ValueError):
            exec(text, {"a": a})
