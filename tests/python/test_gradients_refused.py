"""Derivatives that were refused once, against differences of the results of NumPy: of eig, lstsq,
pinv and singular vectors of complex matrices, of ufunc.at in all its forms, of loops in @vectorize.
"""

import math

import numpy as np
import pytest
from gradient_check import check
from helpers import MODULE
from numbus import primitives

_core = pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="gradients are Numbus's")

RNG = np.random.default_rng(3)
INDICES = [0, 2, 2, 1, 2, 0, -1]


def real(*shape):
    return RNG.normal(size=shape)


def complex_(*shape):
    return real(*shape) + 1j * real(*shape)


SQUARE = {"real": real(4, 4), "complex": complex_(4, 4), "stack": real(2, 3, 3)}
TALL = {
    "tall": real(4, 2), "wide": real(2, 4), "complex": complex_(3, 2),
    "wide complex": complex_(2, 3),
}  # fmt: skip


def weighted(np, a):
    return (a * np.asarray(1.0 + _numbers(a.shape))).sum()


def _numbers(shape):
    return np.arange(float(math.prod(shape))).reshape(shape) / max(math.prod(shape), 1)


@pytest.mark.parametrize("kind", SQUARE)
def test_eig(xp, kind):
    def values(np, a):
        found = np.linalg.eigvals(a)
        return np.real(found**3).sum() + (np.imag(np.exp(found)) ** 2).sum()

    def vectors(np, a):
        w, v = np.linalg.eig(a)
        each = np.abs(v) ** 2 * np.abs(w[..., None, :])
        return (each * each).sum()

    def function(np, a):
        w, v = np.linalg.eig(a)
        return weighted(np, np.real((v * np.exp(w)[..., None, :]) @ np.linalg.inv(v)))

    for program in (values, vectors, function):
        check(xp, program, SQUARE[kind], rtol=1e-5)


@pytest.mark.parametrize("kind", TALL)
def test_pinv_and_lstsq(xp, kind):
    a = TALL[kind]
    b = complex_(len(a), 2) if a.dtype.kind == "c" else real(len(a), 2)
    check(xp, lambda np, a: weighted(np, np.real(np.linalg.pinv(a))), a)

    def squares(np, a, b):
        x, rest, _, s = np.linalg.lstsq(a, b)
        return weighted(np, np.real(x * x)) + (rest**2).sum() + (s**3).sum()

    check(xp, squares, a, b)
    check(xp, squares, a, b[:, 0].copy())


@pytest.mark.parametrize("kind", ["complex", "wide complex"])
def test_singular_vectors_of_complex_matrices(xp, kind):
    def program(np, a):
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        part = weighted(np, np.real((u * np.exp(s)[..., None, :]) @ vt))
        return part + (np.abs(u) ** 4).sum() + (np.abs(vt) ** 4 * s[:, None]).sum()

    check(xp, program, TALL[kind])


def test_equal_values(xp):
    eye = np.eye(3)
    found = xp.grad(lambda a: xp.linalg.pinv(a).sum())(xp.array(eye))
    assert np.allclose(np.asarray(found), -1)
    found = xp.grad(lambda a: xp.linalg.eigvalsh(a).sum())(xp.array(eye))
    assert np.allclose(np.asarray(found), eye)
    # By vectors there is none, as in PyTorch and JAX.
    with xp.errstate(all="ignore"):
        found = xp.grad(lambda a: xp.linalg.eigh(a)[1].sum())(xp.array(eye))
    assert np.isnan(np.asarray(found)).all()


@pytest.mark.parametrize("name", ["eig", "eigh", "svd"])
def test_phases_of_vectors(xp, name):
    a = complex_(3, 3)
    number = 0 if name == "svd" else 1
    with pytest.raises(RuntimeError, match="phase"):
        xp.grad(lambda a: getattr(xp.linalg, name)(a)[number].real.sum())(xp.array(a + a.conj().T))


UPDATES = "multiply maximum minimum divide power hypot logaddexp arctan2 fmax add".split()


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("many", [False, True])
def test_ufunc_at(xp, name, many):
    indices = RNG.integers(0, 3, 200) if many else INDICES
    low, high = (0.9, 1.1) if many else (0.5, 2.0)

    def program(np, a, b):
        a = a * 1.0
        getattr(np, name).at(a, np.asarray(indices), b)
        return weighted(np, np.log(np.abs(a) + 1))

    check(xp, program, RNG.uniform(low, high, 4), RNG.uniform(low, high, len(indices)), rtol=1e-5)


def test_ufunc_at_of_lines(xp):
    def lines(np, a, b, c):
        a = a * 1.0
        np.multiply.at(a, (slice(None), [0, 1, 1]), b)
        np.maximum.at(a, [1, 0, 1], c)
        np.exp.at(a, ([0, 0, 1], [1, 1, 2]))
        np.multiply.at(a, [0, 0], 1.5)
        return (a**2).sum()

    check(xp, lines, 0.3 * real(2, 3), real(2, 3), real(3, 3))
    with pytest.raises(IndexError, match="out of range; got 3; expected -2 to 1"):
        xp.grad(lambda a: (xp.multiply.at(a, [3], a[0]), a.sum())[1])(xp.ones((2, 2)))


def test_second_derivatives_of_products_at(xp):
    def product(b):
        a = xp.ones(1)
        xp.multiply.at(a, [0, 0, 0], b)
        return a.sum()

    second = xp.grad(lambda b: xp.grad(product)(b).sum())
    found = second(xp.array([0.0, 0.0, 3.0]))
    assert np.asarray(found).tolist() == [3, 3, 0]


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_second_derivatives_of_sums_by_sorting(xp, name):
    """Repeated indices as a GPU has them, where runs of equal ones are folded."""
    if _core.get_device() == "cpu":
        primitives.load(f"fold_runs.{name}", "float64")
        primitives.load("search", "int64")
    ufunc, at, values = getattr(xp, name), xp.array([2, 0, 2, 2, 1]), real(5, 3)

    def loss(b, sorts):
        a = xp.arange(12.0).reshape(4, 3) * b[0, 0]
        if sorts:
            _core.update(ufunc, a, 1, [at], 0, xp.tanh(b), in_order=False)
        else:
            a += 0 * b[0, 0]
            for k, row in enumerate((2, 0, 2, 2, 1)):
                ufunc(a[row], xp.tanh(b[k]), out=a[row])
        return (a**3).sum()

    def of_square(b, sorts):
        return (xp.grad(loss)(b, sorts) ** 2).sum()

    for f in loss, of_square:
        got, want = (np.asarray(xp.grad(f)(xp.asarray(values), s)) for s in (True, False))
        np.testing.assert_allclose(got, want, rtol=1e-9)


def _functions():
    from numbus import njit, vectorize

    @njit
    def inner(x, k):
        total = 0.0
        for i in range(k):
            total += math.sin(x) / (i + 1)
        return total

    @vectorize
    def root(x, k):
        y = x
        for _ in range(20):
            better = 0.5 * (y + x / y)
            if abs(better - y) < 1e-12:
                break
            y = better
        return y + k

    @vectorize
    def orbit(x, k):
        a = b = 0.0
        n = 0
        while a * a + b * b < 4 and n < 30:
            a, b = a * a - b * b + x - 1, 2 * a * b + 0.3
            n += k
        return a * b + n

    @vectorize
    def calls(x, k):
        part = math.exp(x) if x > 1 else math.sqrt(x)
        return inner(x, k) + max(x, 0.3) + min(x, 1.5) ** 2 + part + np.log1p(x) + math.pow(x, 2)

    @vectorize(["f4(f4, i8)", "f8(f8, i8)"])
    def power(x, k):
        found = 1.0
        while k > 0:
            if k & 1:
                found *= x
            x *= x
            k >>= 1
        return found

    @vectorize
    def rounds(x, k):
        total = 0.0
        for i in range(int(x) + k):
            total += x * i
        return total

    return {f.__name__: f for f in (root, orbit, calls, power, rounds)}


@pytest.mark.parametrize("name", ["root", "orbit", "calls", "power", "rounds"])
def test_functions_with_loops(xp, name):
    function = _functions()[name]
    x, k = RNG.uniform(0.2, 3, (5, 7)), RNG.integers(1, 5, 7)
    for exponent in (k, 3):
        given = xp.array(exponent) if isinstance(exponent, np.ndarray) else exponent

        def program(np_, x, exponent=exponent, given=given):
            return (function(x, exponent if np_ is np else given) ** 2).sum()

        check(xp, program, x, rtol=1e-5)


def test_functions_with_loops_further(xp):
    root = _functions()["root"]
    x = xp.array([2.0, 4.0])
    second = xp.grad(lambda x: xp.grad(lambda x: root(x, 0).sum())(x).sum())(x)
    assert np.allclose(np.asarray(second), -0.25 * np.asarray(x) ** -1.5, 1e-9)
    each = xp.vmap(xp.grad(lambda x: root(x, 0)))(x)
    assert np.allclose(np.asarray(each), 0.5 / np.sqrt(np.asarray(x)))

    def into(x):
        out = xp.zeros(2)
        root(x, 0, out=out, where=xp.array([True, False]))
        return out.sum()

    assert np.allclose(np.asarray(xp.grad(into)(x)), [0.5 / math.sqrt(2), 0])
