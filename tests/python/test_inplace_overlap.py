"""In-place operators and assignments between overlapping parts of one array."""

import itertools

import numpy as np
import pytest
from helpers import run_both

SLICES = ["1:", ":-1", "::-1", "::2", "1::2", "2:", ":-2", ":", "-2::-1", "5:1:-1", ":4", "4:8"]
A = np.random.default_rng(1).uniform(-3, 3, 12)


def lengths():
    for left, right in itertools.product(SLICES, SLICES):
        n = len(eval(f"A[{left}]"))
        if n == len(eval(f"A[{right}]")):
            yield left, right


@pytest.mark.parametrize(("left", "right"), list(lengths()))
def test_pairs(xp, mode, left, right):
    for text in (
        f"a[{left}] = a[{right}]",
        f"a[{left}] += a[{right}]",
        f"a[{left}] = a[{right}] * 2 - a[{left}]",
        f"xp.add(a[{left}], a[{right}], out=a[{left}])",
        f"a[{left}] *= a[{right}]\na[{right}] -= a[{left}]",
    ):
        run_both(xp, text, a=A)


@pytest.mark.parametrize("text", [
    "a[...] = a.T", "a += a.T", "a[1:, 1:] = a[:-1, :-1]", "a[1:, :] += a[:-1, :]",
    "a[:, 1:] = a[:, :-1]", "a[::-1] = a", "a[:, ::-1] += a[::-1]", "a -= a[0]", "a -= a[:, :1]",
    "a[1] = a[0] + a[2]", "a *= a[0, 0]", "a[:2, :2] = a[-2:, -2:]", "a[1:-1, 1:-1] = a[2:, 1:-1]",
    "a[1:-1, 1:-1] = 0.25*(a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])",
    "a[1:-1, 1:-1] += a[2:, 2:] - a[:-2, :-2]", "a.T[1:] = a.T[:-1]",
    "a.reshape(-1)[1:] = a.reshape(-1)[:-1]", "a.diagonal()\na[0] = a.diagonal()",
    "b = a[0]\na += b", "b = a[:, 0]\na -= b[:, None]\na += b", "xp.add(a, a.T, out=a)",
    "xp.multiply(a, a[0], out=a.T)", "xp.sin(a[::-1], out=a)",
    "a[0], a[1] = a[1].copy(), a[0].copy()", "a[0], a[1] = a[1], a[0]",
    "xp.where(a > 0, a, a.T)\na[a > 0] = 1",
    "for _ in range(3):\n    a[1:] = a[:-1]\n    a[:-1] += a[1:]",
    "q = a.copy()\nq[1:-1, 1:-1] = 0.5 * (a[2:, 1:-1] + a[:-2, 1:-1])\nd = q - a\na, q = q, a",
    "a[1:3] = 1\na[2:4] = 2\na[0:2] += 3\nb = a * 2", "xp.copyto(a[1:], a[:-1])",
    "xp.copyto(a, a[::-1], where=a > 0)",
])  # fmt: skip
def test_square(xp, mode, text):
    run_both(xp, text, rtol=1e-15, a=np.random.default_rng(2).uniform(-3, 3, (5, 5)))


@pytest.mark.numbus
@pytest.mark.parametrize(("left", "right"), [("::2", ":6"), (":6", "::2"), ("2:6", "::3"),
                                             ("1::3", "2:6"), ("::-2", ":5:-1")])  # fmt: skip
def test_unequal_strides(xp, mode, left, right):
    """The right side is read before anything is written; NumPy's own result hangs on its order."""
    x, a = A.copy(), xp.array(A)
    exec(f"x[{left}] = x[{right}].copy()\na[{left}] = a[{right}]", {"x": x, "a": a})
    assert np.asarray(a).tolist() == x.tolist()


def test_large_overlap(xp, mode):
    """More than one block of the interpreter, more than one thread."""
    x = np.random.default_rng(3).uniform(-1, 1, 300_000)
    run_both(xp, "a[1:] = a[:-1]\na[:-7] += a[7:]\na[...] = a[::-1]\na[3:] -= a[:-3]", a=x)


@pytest.mark.parametrize("op", ["+=", "-=", "*=", "/=", "//=", "%=", "**="])
def test_operators(xp, mode, op):
    for value in ("2", "1.5", "b", "b[0]"):
        text = f"a {op} {value}\nc = a + 1"
        run_both(xp, text, 1e-14, a=np.linspace(1, 4, 7), b=np.linspace(3, 1, 7))


@pytest.mark.parametrize("op", ["&=", "|=", "^=", "<<=", ">>=", "+=", "*=", "//=", "%="])
def test_integer_operators(xp, mode, op):
    run_both(xp, f"a {op} b\nc = a[::-1]\nc {op} 2", a=np.arange(1, 9), b=np.arange(8, 0, -1))


@pytest.mark.parametrize("text", ["a += 1.5", "a += xp.ones(3)", "a /= 2", "a -= 1j", "a **= 0.5",
                                  "xp.add(a, 1.5, out=a)", "xp.sin(a, out=a)"])  # fmt: skip
def test_casting_errors(xp, text):
    """An integer array does not take floats silently, and keeps its values."""
    a = xp.array(np.arange(3))
    with pytest.raises(TypeError):
        exec(text, {"a": a, "xp": xp})
    assert a.tolist() == [0, 1, 2]


def test_shape_cannot_grow(xp):
    a = xp.zeros(3)
    with pytest.raises(ValueError):
        a += xp.ones((2, 3))
    with pytest.raises(ValueError):
        a[:] = xp.ones((2, 3))
    with pytest.raises(ValueError):
        xp.add(a, xp.ones((2, 3)), out=a)
    assert a.tolist() == [0, 0, 0]


def test_float_into_int_by_assignment(xp):
    run_both(xp, "a[1:] = b[1:]\na[0] = 2.9", a=np.arange(4), b=np.array([1.5, -1.5, 2.5, 1e9]))
