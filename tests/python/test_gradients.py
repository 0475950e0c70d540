"""nb.grad and its relatives: gradients of programs against differences of NumPy's results."""

import math

import numpy as np
import pytest
from gradient_check import check
from helpers import MODULE

_core = pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="gradients are Numbus's")

SIZES = [7, 700]


def vector(n, low=-1.0, high=1.0):
    """The same numbers in each order of the tests, none within 1e-3 of tenths, where kinks are."""
    x = np.random.default_rng(n).uniform(low, high, n)
    near = np.abs(x * 10 - np.round(x * 10)) < 0.01
    return np.where(near, x + 0.005 * (high - low), x)


def heat(np, u):
    for _ in range(4):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return (u**2).sum()


def in_place(np, x, y):
    z = x * y
    z += x
    z *= y
    z -= 0.5 * z
    z /= 2 + y * y
    x[:] = z * x
    return (x * z).sum()


def overwritten(np, x):
    y = x * x
    z = np.sin(y) * x
    y[: len(x) // 2] = 3.0
    x[1:] = y[:-1]
    return (z * y + x).sum()


def masks(np, x):
    y = np.where(x > 0.1, x * x, np.exp(x))
    y[x < -0.5] = 0.25
    y[x > 0.5] *= x[x > 0.5]
    return (y[y > 0.2] ** 2).sum() + y[x > 0].sum()


def gathers(np, x):
    index = np.arange(len(x)) * 3 % len(x)
    y = x[index] * x
    y[index[::2]] += x[: len(index[::2])]
    z = np.zeros(len(x))
    np.add.at(z, index // 2, y)
    return (z * np.cos(x)).sum() + np.take(y, [0, 1, 1, 2]).sum()


def repeated_writes(np, x):
    y = np.zeros(4)
    y[np.array([0, 1, 0, 2])] = x[:4] * 2
    return (y * np.array([1.0, 2.0, 3.0, 4.0])).sum()


def views(np, x):
    m = x[:6].reshape(2, 3)
    t = m.T
    t[0] = t[1] * 2
    r = x[::-1]
    r[::2] *= 3
    return (m * m).sum() + (t @ m).sum() + r[1:4].prod()


def windows(np, x):
    shape, strides = (len(x) - 2, 3), (x.strides[0], x.strides[0])
    w = np.lib.stride_tricks.as_strided(x, shape, strides)
    return (w * w[:, ::-1]).sum()


def control(np, x):
    total = x[0] * 0
    for k in range(5):
        v = x[k % len(x)]
        if v > 0:
            total = total + v * x[1]
        else:
            total = total - v**2
    while abs(total) > 2:
        total = total / 2
    return total * total


def numbers(np, x):
    a, b = x[0], x[1]
    y = np.array([a * b, 1.5, a - b])
    return (y * y).sum() + np.sqrt(a * a + b * b) * np.array([[a, b], [b, 2.0]]).sum()


def reductions(np, x):
    m = x.reshape(-1, 7)
    return (
        m.sum(axis=0).prod() + m.mean(axis=1).max() + m.min() + m.var() + m.std(axis=0).sum()
        + (m.max(axis=1, keepdims=True) * m).sum() + np.ptp(m) + np.linalg.norm(m)
    )  # fmt: skip


def products(np, x):
    m = x.reshape(7, -1)
    return (
        (m @ m.T).sum() + np.dot(x, x[::-1]) + np.einsum("ij,kj->ik", m, m * m).sum()
        + np.outer(x[:3], x[:4]).sum() + np.tensordot(m, m, 2) + np.inner(x, x)
        + (np.stack([m, m * 2]) @ m.T).sum()
    )  # fmt: skip


def scans(np, x):
    m = x.reshape(7, -1)
    return (
        (np.cumsum(x) * x).sum() + (np.cumsum(m, axis=0) ** 2).sum()
        + (np.cumprod(m[:, :1] + 1.5, axis=0) * 2).sum() + np.cumprod(x[:5]).sum()
    )  # fmt: skip


def sorts(np, x):
    m = x.reshape(-1, 7)
    parts = np.partition(m, 2, axis=1)
    x = x + (parts[:, 2] ** 3).sum() + np.sort(m, axis=0)[0] @ np.ones(7)
    weights = np.arange(len(x)) / len(x)
    return (np.sort(x) * weights).sum() + np.median(x) + (x[np.argsort(x)] * weights**2).sum()


def joins(np, x):
    y = np.concatenate([x * x, x[:2], np.ones(2)])
    z = np.stack([y, y[::-1]])
    p = np.pad(x, 2)
    return (z[0] * z[1]).sum() + (np.roll(x, 2) * x).sum() + p.sum() + np.hstack([x, x]).prod()


def pieces(np, x):
    y = np.clip(x, -0.5, 0.5) + np.maximum(x, 0) + np.minimum(x, 0.3) + np.abs(x)
    return (y * np.sign(1.5) + np.hypot(x, 2) + np.arctan2(x, 1 + x * x)).sum()


def broadcast(np, x):
    return (x[:, None] * x[None, :3] + x[0]).sum() + np.broadcast_to(x, (3, len(x))).sum() ** 2


def zeros_of_products(np, x):
    y = x.copy()
    y[0] = 0
    return y[:4].prod() + np.stack([y[:3], x[:3]]).prod(axis=1).sum() + np.cumprod(y[:4]).sum()


PROGRAMS = [
    heat, masks, gathers, overwritten, views, windows, control, numbers, scans, sorts, joins,
    pieces, broadcast, zeros_of_products, repeated_writes,
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(xp, mode, program, size):
    fine = {"rtol": 1e-5, "h": 2.0**-25} if program is sorts else {}  # elements lie close together
    check(xp, program, vector(size), **fine)


@pytest.mark.parametrize("size", SIZES)
def test_two_arguments(xp, mode, size):
    check(xp, in_place, vector(size), vector(size))


@pytest.mark.parametrize("program", [reductions, products], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [14, 700])
def test_matrices(xp, mode, program, size):
    check(xp, program, vector(size, 0.3, 1.2), rtol=1e-5)


ROWS = {row["name"]: row for row in _core.table()}


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row["differentiable"][0]])
def test_rows(xp, mode, name):
    from test_derivatives import points

    x = [v[:40] for v in points(name, 60)]
    if name == "copysign":  # its second argument has no derivative
        check(xp, lambda np, a: (getattr(np, name)(a, x[1]) * np.cos(a)).sum(), x[0], h=2.0**-14)
        return
    check(
        xp, lambda np, *a: (getattr(np, name)(*a) * np.cos(a[0])).sum(), *x, h=2.0**-14, rtol=1e-5
    )


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-3), ("float16", 0.05)])
def test_short_floats(xp, dtype, rtol):
    x = vector(50).astype(dtype)

    def program(np, x):
        return (np.tanh(x * 2) * x[::-1]).sum()

    got = xp.grad(lambda x: program(xp, x))(xp.array(x))
    want = xp.grad(lambda x: program(xp, x))(xp.array(x.astype(float)))
    assert got.dtype == dtype
    assert np.allclose(np.asarray(got), np.asarray(want), rtol, rtol)


def complex_program(np, z):
    w = z * z + np.exp(z.conj()) / (2 + z)
    w.imag *= 2
    return (np.abs(w) + w.real * w.imag).sum() + np.real(z @ z.conj())


def test_complex_numbers(xp, mode):
    z = vector(20) + 1j * vector(20)
    check(xp, complex_program, z)


def symmetric(np, a):
    return a + a.T + 4 * np.eye(4)


LINALG = {
    "solve": lambda np, a, b: (np.linalg.solve(a, b) ** 2).sum(),
    "solve_matrix": lambda np, a, b: (np.linalg.solve(a, b[:, None] * b) ** 2).sum(),
    "inv": lambda np, a, b: (np.linalg.inv(a) @ b).sum(),
    "det": lambda np, a, b: np.linalg.det(a) * b[0],
    "slogdet": lambda np, a, b: np.linalg.slogdet(a)[1] * b[0],
    "cholesky": lambda np, a, b: (np.linalg.cholesky(symmetric(np, a)) * b).sum(),
    "eigh": lambda np, a, b: (np.linalg.eigh(symmetric(np, a))[0] * b).sum(),
    "eigh_vectors": lambda np, a, b: (np.linalg.eigh(symmetric(np, a))[1] ** 2 * b).sum(),
    "eigvalsh": lambda np, a, b: (np.linalg.eigvalsh(symmetric(np, a)) * b).sum(),
    "svd": lambda np, a, b: (np.linalg.svd(a[:, :3], full_matrices=False)[1] * b[:3]).sum(),
    "svd_vectors": lambda np, a, b: (
        (np.linalg.svd(a[:, :3], full_matrices=False)[0] ** 2 * b[:, None]).sum()
        + (np.linalg.svd(a[:3], full_matrices=False)[2] ** 2 * b).sum()
    ),
    "svd_values": lambda np, a, b: (np.linalg.svd(a, compute_uv=False) * b).sum(),
    "qr": lambda np, a, b: (np.abs(np.linalg.qr(a[:, :3])[1]) * b[:3]).sum(),
    "qr_q": lambda np, a, b: (np.linalg.qr(a[:, :3])[0] ** 2 * b[:, None]).sum(),
    "norm": lambda np, a, b: np.linalg.norm(a, 2) + np.linalg.norm(a, "nuc") + np.linalg.norm(b, 3),
    "power": lambda np, a, b: (np.linalg.matrix_power(a, 3) @ b).sum(),
    "multi_dot": lambda np, a, b: np.linalg.multi_dot([b, a, a, b]),
    "pinv": lambda np, a, b: (np.linalg.pinv(a[:, :3]) @ b).sum(),
}


@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(xp, mode, name):
    rng = np.random.default_rng(3)
    a = rng.standard_normal((4, 4)) + np.diag([3.0, 4.0, 5.0, 6.0])
    check(xp, LINALG[name], a, rng.uniform(0.5, 1, 4), rtol=1e-5)


TRANSFORMS = {
    "rfftn": lambda np, x: (np.abs(np.fft.rfftn(x.reshape(3, -1))) ** 2 * [[1], [2], [3]]).sum(),
    "rfft2": lambda np, x: (np.fft.rfft2(x.reshape(3, -1), (2, 5), norm="ortho").imag ** 3).sum(),
    "irfftn": lambda np, x: (np.fft.irfftn(np.fft.rfftn(x.reshape(3, -1)) * 2j) ** 3).sum(),
    "irfft2": lambda np, x: (np.fft.irfft2(x.reshape(3, -1) * (1 + 2j), norm="forward") ** 2).sum(),
    "hfft": lambda np, x: (np.fft.hfft(x * (1 + 0.5j), 9) ** 3).sum(),
    "ihfft": lambda np, x: (np.abs(np.fft.ihfft(x)) ** 2 * np.arange(7)).sum(),
    "fft": lambda np, x: (np.abs(np.fft.fft(x)) ** 2 * np.arange(len(x))).sum(),
    "fft_n": lambda np, x: np.abs(np.fft.fft(x, 5, norm="ortho")).sum(),
    "ifft": lambda np, x: (np.fft.ifft(x, len(x) + 3).real * np.arange(len(x) + 3)).sum(),
    "rfft": lambda np, x: (np.abs(np.fft.rfft(x, len(x) + 1)) ** 2).sum(),
    "irfft": lambda np, x: (np.fft.irfft(np.fft.rfft(x) * 2) * np.arange(len(x) // 2 * 2)).sum(),
    "irfft_odd": lambda np, x: (np.fft.irfft(np.fft.rfft(x), 5) ** 3).sum(),
    "fft2": lambda np, x: (np.abs(np.fft.fft2(x.reshape(2, -1))) ** 2 * [[1], [2]]).sum(),
    "fftn": lambda np, x: (np.fft.fftn(x.reshape(2, -1), norm="ortho").real ** 2).sum(),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms(xp, mode, name):
    check(xp, TRANSFORMS[name], vector(12))


def test_gradient_of_a_gradient(xp, mode):
    x = vector(9)

    def f(x):
        return (xp.sin(x) * x**3).sum()

    def inner(x):
        return (xp.grad(f)(x) ** 2).sum()

    got = np.asarray(xp.grad(inner)(xp.array(x)))
    first = np.cos(x) * x**3 + 3 * np.sin(x) * x**2
    second = -np.sin(x) * x**3 + 6 * np.cos(x) * x**2 + 6 * np.sin(x) * x
    assert np.allclose(got, 2 * first * second, 1e-12, 1e-12)


def test_third_derivative_of_a_number(xp):
    third = xp.grad(xp.grad(xp.grad(lambda x: xp.exp(2 * x) * x)))
    x = 0.3
    assert math.isclose(float(third(x)), math.exp(2 * x) * (8 * x + 12), rel_tol=1e-12)


def test_hessian(xp):
    x = vector(5)
    hessian = xp.jacobian(xp.grad(lambda x: (x**3).sum() + x[0] * x[1]))(xp.array(x))
    want = np.diag(6 * x)
    want[0, 1] = want[1, 0] = 1
    assert np.allclose(np.asarray(hessian), want, 1e-12, 1e-12)


def test_jacobian_vjp_jvp(xp, mode):
    x, v, w = vector(6), vector(6), vector(3)

    def f(x):
        return xp.array([x[0] * x[1], xp.exp(x[2]), (x[3:] ** 2).sum()])

    j = np.zeros((3, 6))
    j[0, :2] = x[1], x[0]
    j[1, 2] = np.exp(x[2])
    j[2, 3:] = 2 * x[3:]
    assert np.allclose(np.asarray(xp.jacobian(f)(xp.array(x))), j, 1e-12, 1e-12)
    value, pull = xp.vjp(f, xp.array(x))
    assert np.allclose(np.asarray(value), np.asarray(f(xp.array(x))))
    for _ in range(2):
        (got,) = pull(xp.array(w))
        assert np.allclose(np.asarray(got), w @ j, 1e-12, 1e-12)
    value, tangent = xp.jvp(f, (xp.array(x),), (xp.array(v),))
    assert np.allclose(np.asarray(tangent), j @ v, 1e-12, 1e-12)


NUMBERS = {  # functions of two numbers, and their derivatives
    "product": (lambda xp, x, y: xp.sin(x) * y, lambda x, y: (math.cos(x) * y, math.sin(x))),
    "itself": (lambda xp, x, y: x, lambda x, y: (1, 0)),
    "constant": (lambda xp, x, y: 3.0, lambda x, y: (0, 0)),
    "power": (lambda xp, x, y: x**3 / y, lambda x, y: (3 * x * x / y, -(x**3) / y**2)),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("kind", [float, np.float64, "array"])
def test_numbers_by_every_front_door(xp, name, kind):
    f, derivative = NUMBERS[name]
    kind = xp.array if kind == "array" else kind
    x, y, v, w = kind(0.7), kind(1.3), kind(0.5), kind(-2.0)
    by_x, by_y = derivative(0.7, 1.3)
    tree, along = {"a": x, "b": [y]}, {"a": v, "b": [w]}

    def of_tree(d):
        return {"f": f(xp, d["a"], d["b"][0]), "twice": [2 * f(xp, d["a"], d["b"][0])]}

    _, tangent = xp.jvp(of_tree, (tree,), (along,))
    wanted = 0.5 * by_x - 2 * by_y
    assert math.isclose(tangent["f"], wanted, abs_tol=1e-12)
    assert math.isclose(tangent["twice"][0], 2 * wanted, abs_tol=1e-12)
    _, pull = xp.vjp(of_tree, tree)
    (found,) = pull({"f": 1.0, "twice": [10.0]})
    assert np.allclose([float(found["a"]), float(found["b"][0])], [21 * by_x, 21 * by_y])
    rows = xp.jacobian(of_tree)(tree)
    assert np.allclose([float(rows["f"]["a"]), float(rows["f"]["b"][0])], [by_x, by_y])
    again = xp.grad(lambda x: xp.checkpoint(lambda x: xp.sin(x))(x) * 2)(x)
    assert math.isclose(again, 2 * math.cos(0.7))
    twice = xp.grad(lambda x: xp.jvp(lambda x: x**3, (x,), (v,))[1])(x)
    assert math.isclose(twice, 0.5 * 6 * 0.7)


def test_trees_and_auxiliary_values(xp):
    parameters = {"w": xp.array(vector(4)), "b": [xp.array([1.0]), (xp.array(2.0), None)]}

    def loss(p, x):
        y = p["w"] * x + p["b"][0]
        return (y * y).sum() * p["b"][1][0], {"y": y}

    (value, aux), g = xp.value_and_grad(loss, has_aux=True)(parameters, xp.array(vector(4)))
    assert set(g) == {"w", "b"} and g["b"][1][1] is None
    assert g["w"].shape == (4,) and g["b"][0].shape == (1,) and g["b"][1][0].shape == ()
    y = np.asarray(aux["y"])
    assert np.allclose(np.asarray(g["b"][0]), 4 * y.sum())
    assert math.isclose(float(g["b"][1][0]), (y * y).sum())
    assert math.isclose(float(value), 2 * (y * y).sum())


def test_an_argument_in_the_closure_is_a_constant(xp):
    a = xp.array([1.0, 2.0, 3.0])
    got = xp.grad(lambda x: (x * a).sum())(a)
    assert np.asarray(got).tolist() == [1.0, 2.0, 3.0]


def test_unused_and_constant(xp):
    x = xp.array([1.0, 2.0])
    assert np.asarray(xp.grad(lambda x: 3.0)(x)).tolist() == [0, 0]
    assert np.asarray(xp.grad(lambda x: xp.stop_gradient(x).sum() + x[0])(x)).tolist() == [1, 0]
    assert np.asarray(xp.grad(lambda x: x.sum() * x.sum().item())(x)).tolist() == [3, 3]


def test_printing_and_questions_are_no_derivatives(xp, capsys):
    def f(x):
        y = x * x
        print(y, f"{y[0]:.1f}", repr(y.sum()))
        assert y.tolist() == [1.0, 4.0]
        return y.sum() if y[0] > 0 else x.sum()

    assert np.asarray(xp.grad(f)(xp.array([1.0, 2.0]))).tolist() == [2, 4]
    assert "[1. 4.] 1.0" in capsys.readouterr().out


def test_custom_gradient(xp):
    @xp.custom_gradient
    def cube(x):
        real = np.asarray(x) ** 3
        return xp.array(real), lambda g: g * 3 * xp.array(np.asarray(x) ** 2)

    x = xp.array([1.0, 2.0])
    assert np.asarray(cube(x)).tolist() == [1, 8]
    got = xp.grad(lambda x: (cube(x * 2) * xp.array([1.0, 10.0])).sum())(x)
    assert np.asarray(got).tolist() == [24, 960]
    assert float(xp.grad(lambda x: x * cube(x))(xp.array(2.0))) == 32


@pytest.mark.parametrize("wrap", ["custom_gradient", "checkpoint"])
def test_second_derivatives_of_pieces_of_work_raise(xp, wrap):
    def cube(x):
        return x * x * x

    if wrap == "custom_gradient":
        f = xp.custom_gradient(lambda x: (cube(x), lambda g: g * 3 * x * x))
    else:
        f = xp.checkpoint(cube)
    x = xp.array([2.0])
    for h in (lambda x: f(x).sum(), lambda x: (x * f(x)).sum()):
        with pytest.raises(NotImplementedError, match="derivative of its derivative"):
            xp.jacobian(xp.grad(h))(x)


def test_checkpoint(xp, mode):
    def block(x, y):
        for _ in range(3):
            x = xp.sin(x) * y
        return x

    def f(wrap, x, y):
        return (wrap(block)(wrap(block)(x, y), x) ** 2).sum()

    x, y = xp.array(vector(8)), xp.array(vector(8))
    want = xp.grad(lambda x, y: f(lambda g: g, x, y), (0, 1))(x, y)
    got = xp.grad(lambda x, y: f(xp.checkpoint, x, y), (0, 1))(x, y)
    for a, b in zip(got, want, strict=True):
        assert np.allclose(np.asarray(a), np.asarray(b), 1e-13, 1e-13)


def test_compiled_function_of_numbers(xp):
    from numbus import vectorize

    @vectorize
    def soft(x, t):
        return x - t if x > t else x * t

    def plain(np, x):
        return np.where(x > 0.2, x - 0.2, x * 0.2)

    x = vector(30)
    got = xp.grad(lambda x: (soft(x, 0.2) ** 2).sum())(xp.array(x))
    want = xp.grad(lambda x: (plain(xp, x) ** 2).sum())(xp.array(x))
    assert np.allclose(np.asarray(got), np.asarray(want), 1e-13)


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_programs(xp, first):
    """tests/fuzz/gradients.py runs more of them."""
    import gradients

    for seed in range(first, first + 20):
        word, detail = gradients.check(seed, xp, 10)
        assert word not in ("differs", "error"), (seed, detail)


# On a GPU a result took the memory of an operand that was loaded again after the store.
@pytest.mark.parametrize("seed", [45025, 45900, 46137, 46335])
def test_programs_that_failed(xp, seed):
    import gradients

    word, detail = gradients.check(seed, xp, 10)
    assert word == "equal", detail


MISTAKES = {
    "float": (lambda xp, x: math.sqrt(x[0]), TypeError, "read by code that has no derivative"),
    "numpy": (lambda xp, x: xp.array(np.asarray(x)).sum(), TypeError, "no derivative"),
    "floor": (lambda xp, x: xp.floor(x).sum(), ValueError, "floor"),
    "integers": (lambda xp, x: x.astype(int).sum(), TypeError, "not a real floating-point number"),
    "array": (lambda xp, x: x * 2, TypeError, "shape"),
    "njit": (lambda xp, x: compiled()(x), TypeError, "custom_gradient"),
}


def compiled():
    from numbus import njit

    @njit
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    return total


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(xp, name):
    function, error, text = MISTAKES[name]
    with pytest.raises(error, match="(?s)" + text) as caught:
        xp.grad(lambda x: function(xp, x))(xp.array([1.0, 2.0, 3.0, 4.0]))
    assert "; got " in str(caught.value) and "; expected " in str(caught.value)


def test_lines_of_errors(xp):
    def f(x):
        return xp.rint(x).sum()

    with pytest.raises(ValueError, match=r"rint at .*test_gradients\.py:\d+"):
        xp.grad(f)(xp.array([0.4, 1.0]))


def test_arguments_without_gradients(xp):
    for bad in (xp.array([1, 2]), 3, "x", [1.0, 2]):
        with pytest.raises(TypeError, match="argument without a gradient"):
            xp.grad(lambda x: 1.0)(bad)
    with pytest.raises(ValueError, match="no argument of that number"):
        xp.grad(lambda x: x, argnums=1)(1.0)


def test_after_an_error_work_is_as_before(xp):
    with pytest.raises(ZeroDivisionError):
        xp.grad(lambda x: 1 / 0)(xp.array([1.0]))
    assert not _core.watching()
    assert float(xp.array([2.0])[0]) == 2


def test_a_program_prints_and_verifies():
    import numbus as nb

    x = nb.array([1.0, 2.0])
    with _core.Program() as program:
        program.watch(x)
        y = (x * x + 1).sum()
    program.verify()
    text = str(program)
    assert len(program) == 3 == text.count("\n")
    assert "multiply" in text and "sum" in text
    (g,) = program.gradient([y], [nb.array(1.0)], [x])
    assert np.asarray(g).tolist() == [2, 4]
