"""numbus.linalg against NumPy's: every function, dtypes, stacks, layouts, extents of zero, errors.

Where the device is the CPU, the code for GPUs runs, too, with LAPACK in cuSOLVER's place.
"""

import numpy as np
import pytest
from conftest import DEVICE, MODULE
from helpers import assert_same, draw
from stand_ins import Solver

DTYPES = ["float32", "float64", "complex64", "complex128"]
SQUARE = [(1, 1), (2, 2), (3, 3), (7, 7), (33, 33), (4, 5, 5), (2, 3, 4, 4)]
SHAPES = [
    (1, 1),
    (1, 4),
    (4, 1),
    (3, 5),
    (5, 3),
    (6, 6),
    (17, 40),
    (40, 17),
    (4, 2, 3),
    (2, 3, 4, 2),
]
EMPTY = [(0, 0), (0, 3), (3, 0), (0, 2, 2), (2, 0, 0), (2, 0, 3)]


@pytest.fixture(params=["library", "stand-in"])
def la(request, xp, monkeypatch):
    """The module under test."""
    if request.param == "stand-in":
        if MODULE != "numbus" or DEVICE != "cpu":
            pytest.skip("the real thing is tested")
        from numbus import _cusolver

        monkeypatch.setattr(xp.linalg, "_on_gpu", lambda a: True)
        monkeypatch.setattr(_cusolver, "_ready", lambda: None)
        monkeypatch.setattr(_cusolver, "_core", Solver(_cusolver._core))
    return xp.linalg


def tolerance(dtype):
    return 5e-4 if np.dtype(dtype).char in "fF" else 1e-11


def matrix(shape, dtype, seed=0):
    """Far from singular."""
    x = draw(shape, dtype, seed=seed)
    n = min(shape[-2:])
    x[..., range(n), range(n)] += 3 * n
    return x if x.dtype.kind == "i" else x / x.dtype.type(2 * n)


def hermitian(shape, dtype, seed=0):
    x = draw(shape, dtype, seed=seed)
    return x + x.conj().swapaxes(-1, -2)


def definite(shape, dtype, seed=0):
    x = draw(shape, dtype, seed=seed)
    return x @ x.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)


VIEWS = {
    "reversed": lambda x: x[..., ::-1, ::-1],
    "transposed": lambda x: x.swapaxes(-1, -2),
    "every other": lambda x: x[..., ::2, ::2],
    "part": lambda x: x[..., 1:6, 1:6],
}


def compare(got, want, rtol, what=""):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            compare(g, w, rtol, what)
    elif isinstance(want, np.ndarray | np.generic):
        assert_same(got, want, rtol, what)
    else:
        assert got == want


# --- what is unique -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize(
    "name", ["inv", "det", "slogdet", "eigvalsh", "cholesky", "svdvals", "cond"]
)
def test_square(la, xp, name, shape, dtype):
    make = {"eigvalsh": hermitian, "cholesky": definite}.get(name, matrix)
    x = make(shape, dtype)
    got, want = getattr(la, name)(xp.array(x)), getattr(np.linalg, name)(x)
    compare(got, want, tolerance(dtype), f"{name} {shape} {dtype}")
    for field in getattr(want, "_fields", ()):
        assert getattr(got, field) is not None


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_views(la, xp, view, dtype):
    x, y = matrix((2, 7, 7), dtype), draw((2, 7, 7), dtype, seed=1)
    view = VIEWS[view]
    a, b = view(xp.array(x)), view(xp.array(y))
    x, y = view(x), view(y)
    for name in ("inv", "det", "svdvals"):
        compare(getattr(la, name)(a), getattr(np.linalg, name)(x), tolerance(dtype), name)
    compare(la.solve(a, b), np.linalg.solve(x, y), tolerance(dtype), "solve")
    compare(la.svd(b)[1], np.linalg.svd(y)[1], tolerance(dtype), "svd")
    h = x + x.conj().swapaxes(-1, -2)
    compare(la.eigvalsh(xp.array(h)), np.linalg.eigvalsh(h), tolerance(dtype), "eigvalsh")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16"])
def test_integers(la, xp, dtype):
    x = np.array([[3, 1, 0], [1, 2, 0], [0, 1, 1]]).astype(dtype)
    a = xp.array(x)
    if dtype != "bool":
        for name in ("inv", "det", "slogdet", "svdvals", "eigvalsh", "cholesky", "pinv"):
            compare(getattr(la, name)(a), getattr(np.linalg, name)(x), 1e-12, name)
        compare(la.solve(a, a), np.linalg.solve(x, x), 1e-12)
        compare(la.matrix_power(a, 5), np.linalg.matrix_power(x, 5), 0)
    compare(la.svdvals(a), np.linalg.svdvals(x), 1e-12)


@pytest.mark.parametrize("types", [("f4", "f8"), ("f4", "c8"), ("f8", "c8"), ("i4", "f4")])
def test_solve_promotes(la, xp, types):
    a, b = matrix((4, 4), types[0]), draw((4, 2), types[1])
    compare(la.solve(xp.array(a), xp.array(b)), np.linalg.solve(a, b), 1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 1)),
        ((3, 3), (3, 5)),
        ((30, 30), (30, 30)),
        ((4, 3, 3), (4, 3, 2)),
        ((4, 3, 3), (3, 2)),
        ((4, 3, 3), (3,)),
        ((3, 3), (4, 3, 2)),
        ((2, 1, 3, 3), (4, 3, 1)),
        ((0, 0), (0,)),
        ((0, 0), (0, 2)),
        ((2, 0, 0), (2, 0, 3)),
        ((3, 3), (3, 0)),
        ((0, 3, 3), (0, 3, 2)),
    ],
)
def test_solve(la, xp, a, b, dtype):
    x = matrix(a, dtype) if min(a[-2:]) else np.zeros(a, dtype)
    y = draw(b, dtype, seed=1)
    compare(la.solve(xp.array(x), xp.array(y)), np.linalg.solve(x, y), tolerance(dtype))


def test_inputs_stay(la, xp):
    x = definite((4, 4), "float64")
    a, b = xp.array(x), xp.array(x[:, :2])
    la.solve(a, b), la.inv(a), la.det(a), la.cholesky(a), la.qr(a), la.svd(a), la.eigh(a)
    la.lstsq(a, b), la.pinv(a), la.slogdet(a), la.svd(a.T), la.qr(a.T)
    assert_same(a, x)
    assert_same(b, x[:, :2])


def test_inside_a_program(la, xp):
    x = matrix((8, 8), "float64")
    a = xp.array(x)
    a += 1
    y = la.solve(a, a[:, :1] * 2) + 1
    a *= 0
    assert_same(y, np.linalg.solve(x + 1, (x + 1)[:, :1] * 2) + 1, 1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3, 3)])
def test_singular(la, xp, shape):
    x = np.ones(shape)
    a = xp.array(x)
    for name in ("solve", "inv"):
        with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
            getattr(la, name)(*((a, a) if name == "solve" else (a,)))
    assert_same(la.det(a), np.linalg.det(x))
    compare(la.slogdet(a), np.linalg.slogdet(x), 0)
    compare(la.cond(a, 1), np.linalg.cond(x, 1), 0)
    assert (np.asarray(la.cond(a)) > 1e15).all()
    compare(la.matrix_rank(a), np.linalg.matrix_rank(x), 0)
    some = x.copy()
    some[..., 0, 0] = 2
    with pytest.raises(np.linalg.LinAlgError, match="positive"):
        la.cholesky(xp.array(-some))


def test_one_of_a_stack_is_singular(la, xp):
    x = matrix((3, 2, 2), "float64")
    x[1] = 1
    with pytest.raises(np.linalg.LinAlgError):
        la.inv(xp.array(x))
    compare(la.det(xp.array(x)), np.linalg.det(x), 1e-13)
    compare(la.cond(xp.array(x), "fro"), np.linalg.cond(x, "fro"), 1e-12)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(la, xp, upper):
    for dtype in ("float64", "complex128"):
        x = definite((5, 5), dtype)
        broken = np.triu(x) if upper else np.tril(x)
        want = np.linalg.cholesky(x, upper=upper)
        compare(la.cholesky(xp.array(broken), upper=upper), want, 1e-12)


# --- what is so up to signs: by what it has to satisfy ------------------------------------------


def unit(x):
    """That the columns are orthonormal."""
    x = np.asarray(x)
    if x.size == 0:
        return
    got = x.conj().swapaxes(-1, -2) @ x
    limit = 1e-5 if x.dtype.char in "fF" else 1e-12
    assert abs(got - np.eye(x.shape[-1])).max() < limit * x.shape[-2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES + EMPTY)
@pytest.mark.parametrize("full", [False, True])
def test_svd(la, xp, shape, dtype, full):
    x = draw(shape, dtype)
    got, want = la.svd(xp.array(x), full_matrices=full), np.linalg.svd(x, full_matrices=full)
    for g, w in zip(got, want):
        assert g.shape == w.shape and g.dtype == w.dtype
    assert got.U is got[0] and got.S is got[1] and got.Vh is got[2]
    compare(got.S, want.S, tolerance(dtype))
    unit(got.U)
    unit(np.asarray(got.Vh).swapaxes(-1, -2))
    k = min(shape[-2:])
    u, vt = np.asarray(got.U)[..., :k], np.asarray(got.Vh)[..., :k, :]
    compare(xp.array((u * np.asarray(got.S)[..., None, :]) @ vt), x, tolerance(dtype))
    compare(la.svd(xp.array(x), compute_uv=False), want.S, tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("triangle", ["L", "U", "l"])
@pytest.mark.parametrize("shape", [*SQUARE, (0, 0), (2, 0, 0)])
def test_eigh(la, xp, shape, triangle, dtype):
    x = hermitian(shape, dtype)
    one = np.tril(x) if triangle.upper() == "L" else np.triu(x)  # the rest is not read
    w, v = got = la.eigh(xp.array(one), triangle)
    want = np.linalg.eigh(x)
    compare(w, want[0], tolerance(dtype))
    compare(la.eigvalsh(xp.array(one), triangle), want[0], tolerance(dtype))
    assert v.shape == want[1].shape and v.dtype == want[1].dtype and got.eigenvectors is v
    unit(v)
    compare(xp.array(x) @ v, np.asarray(v) * np.asarray(w)[..., None, :], tolerance(dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hermitian_svd(la, xp, dtype):
    x = hermitian((2, 5, 5), dtype)
    a = xp.array(x)
    u, s, vt = la.svd(a, hermitian=True)
    compare(s, np.linalg.svd(x, hermitian=True)[1], 1e-12)
    compare(la.svd(a, compute_uv=False, hermitian=True), np.linalg.svdvals(x), 1e-12)
    compare(xp.array((np.asarray(u) * np.asarray(s)[..., None, :]) @ np.asarray(vt)), x, 1e-12)
    compare(la.matrix_rank(a, hermitian=True), np.linalg.matrix_rank(x, hermitian=True), 0)
    compare(la.pinv(a, hermitian=True), np.linalg.pinv(x), 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES + EMPTY)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_qr(la, xp, shape, mode, dtype):
    x = draw(shape, dtype)
    a = xp.array(x)
    got, want = la.qr(a, mode), np.linalg.qr(x, mode)
    pairs = [(got, want)] if mode == "r" else list(zip(got, want))
    for g, w in pairs:
        assert g.shape == w.shape and g.dtype == w.dtype
    if mode in ("reduced", "complete"):
        assert got.Q is got[0] and got.R is got[1]
        unit(got.Q)
        r = np.asarray(got.R)
        assert (np.tril(r, -1) == 0).all()
        if 0 not in shape:
            compare(got.Q @ got.R, x, tolerance(dtype))
        else:
            compare(got.Q, want.Q, 0)
    elif mode == "r":
        compare(abs(got), abs(want), tolerance(dtype))
    elif x.size:
        compare(abs(got[1]), abs(want[1]), tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (8, 8), (3, 4, 4), (2, 1, 3, 3)])
def test_eig(la, xp, shape, dtype):
    x = draw(shape, dtype)
    w, v = got = la.eig(xp.array(x))
    assert got.eigenvalues is w and v.dtype == w.dtype == np.linalg.eig(x)[0].dtype
    assert v.shape == x.shape and w.shape == x.shape[:-1]
    v, w = np.asarray(v), np.asarray(w)
    compare(xp.array(x @ v), v * w[..., None, :], tolerance(dtype))
    want = np.sort_complex(np.linalg.eigvals(x).astype("D"))
    compare(
        np.sort_complex(np.asarray(la.eigvals(xp.array(x))).astype("D")), want, tolerance(dtype)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "a, b",
    [
        ((6, 3), (6,)),
        ((6, 3), (6, 2)),
        ((3, 6), (3, 2)),
        ((4, 4), (4,)),
        ((0, 3), (0, 2)),
        ((3, 0), (3, 2)),
    ],
)
def test_lstsq(la, xp, a, b, dtype):
    x, y = draw(a, dtype), draw(b, dtype, seed=1)
    compare(la.lstsq(xp.array(x), xp.array(y)), np.linalg.lstsq(x, y), 2 * tolerance(dtype))


def test_lstsq_of_a_deficient_matrix(la, xp):
    x = draw((6, 4), "float64")
    x[:, 3] = x[:, 0] + x[:, 1]
    y = draw((6, 2), "float64", seed=1)
    compare(la.lstsq(xp.array(x), xp.array(y)), np.linalg.lstsq(x, y), 1e-11)
    compare(la.lstsq(xp.array(x), xp.array(y), 0.5)[2], np.linalg.lstsq(x, y, 0.5)[2], 0)


# --- what is composed ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3), (2, 3, 0)])
def test_pinv(la, xp, shape, dtype):
    x = draw(shape, dtype)
    compare(la.pinv(xp.array(x)), np.linalg.pinv(x), 10 * tolerance(dtype))


def test_limits(la, xp):
    """How small a singular value may be."""
    x = np.stack([np.diag([1.0, 0.1, 1e-3]), np.diag([1.0, 1e-8, 0.0])])
    a = xp.array(x)
    for kwargs in (
        {"rcond": 0.01},
        {"rtol": 0.01},
        {"rtol": None},
        {"rcond": np.array([0.5, 0.01])},
    ):
        compare(la.pinv(a, **kwargs), np.linalg.pinv(x, **kwargs), 1e-12)
    for kwargs in ({}, {"tol": 0.01}, {"rtol": 0.5}, {"tol": np.array([0.5, 0.01])}):
        compare(la.matrix_rank(a, **kwargs), np.linalg.matrix_rank(x, **kwargs), 0)
    assert la.matrix_rank(xp.zeros(3)) == 0 and la.matrix_rank(xp.ones(3)) == 1
    assert int(la.matrix_rank(xp.ones((3, 3)))) == 1
    for name in ("pinv", "matrix_rank"):
        with pytest.raises(ValueError, match="both"):
            getattr(la, name)(a, 0.1, rtol=0.1)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_cond_and_norms(la, xp, p):
    for dtype in ("float32", "complex128"):
        x = matrix((3, 4, 4), dtype)
        compare(la.cond(xp.array(x), p), np.linalg.cond(x, p), tolerance(dtype))
        if p is not None:
            y = draw((2, 3, 5), dtype)
            b = xp.array(y)
            for kwargs in ({"axis": (1, 2)}, {"axis": (2, 0)}, {"axis": (0, 1), "keepdims": True}):
                compare(la.norm(b, p, **kwargs), np.linalg.norm(y, p, **kwargs), tolerance(dtype))
            compare(la.matrix_norm(b, ord=p), np.linalg.matrix_norm(y, ord=p), tolerance(dtype))
    x = draw((4, 6), "float64")
    if p in (None, 2, -2):
        compare(la.cond(xp.array(x), p), np.linalg.cond(x, p), 1e-12)
    bad = matrix((2, 2, 2), "float64")
    bad[0, 0, 0] = np.nan
    if p in (1, "fro"):
        compare(la.cond(xp.array(bad), p), np.linalg.cond(bad, p), 1e-12)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 4, 7, 10])
def test_matrix_power(la, xp, n):
    for shape in ((3, 3), (2, 4, 4)):
        x = matrix(shape, "float64") / 10
        compare(la.matrix_power(xp.array(x), n), np.linalg.matrix_power(x, n), 1e-11)
    x = np.array([[1, 1], [1, 0]])
    if n >= 0:
        compare(la.matrix_power(xp.array(x), n), np.linalg.matrix_power(x, n), 0)


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 4), (4, 5)],
        [(10, 30), (30, 5), (5, 60)],
        [(4,), (4, 2), (2, 3)],
        [(4, 2), (2, 3), (3,)],
        [(4,), (4, 3), (3,)],
        [(5, 2), (2, 7), (7, 3), (3, 4), (4, 6)],
    ],
)
def test_multi_dot(la, xp, shapes):
    arrays = [draw(shape, "float64", seed=n) for n, shape in enumerate(shapes)]
    ours = [xp.array(a) for a in arrays]
    want = np.linalg.multi_dot(arrays)
    compare(la.multi_dot(ours), want, 1e-13)
    if want.ndim == 2:
        out = xp.zeros(want.shape)
        assert la.multi_dot(ours, out=out) is out
        compare(out, want, 1e-13)


def test_tensors(la, xp):
    x = draw((4, 6, 8, 3), "float64")
    compare(la.tensorinv(xp.array(x)), np.linalg.tensorinv(x), 1e-10)
    y = draw((24, 8, 3), "float64")
    compare(la.tensorinv(xp.array(y), ind=1), np.linalg.tensorinv(y, ind=1), 1e-10)
    z = draw((6, 4, 2, 3, 4), "float64", seed=2)
    b = draw((6, 4), "float64", seed=3)
    compare(la.tensorsolve(xp.array(z), xp.array(b)), np.linalg.tensorsolve(z, b), 1e-10)
    z = z.transpose(0, 2, 1, 3, 4)
    got = la.tensorsolve(xp.array(z), xp.array(b), (1,))
    compare(got, np.linalg.tensorsolve(z, b, (1,)), 1e-10)


def test_real_eigenvalues_are_real(la, xp):
    x = np.triu(draw((4, 4), "float64"))
    w, v = la.eig(xp.array(x))
    assert w.dtype == v.dtype == np.linalg.eig(x)[0].dtype  # real up to NumPy 2.4
    compare(np.sort(np.asarray(w).real), np.sort(np.diag(x)), 1e-12)
    np.testing.assert_allclose(np.asarray(xp.array(x) @ v), np.asarray(v * w), atol=1e-12)
    assert la.eigvals(xp.array(np.array([[0, 1], [-1, 0]], "f4"))).dtype == np.complex64
    for name in ("eig", "eigvals"):
        with pytest.raises(np.linalg.LinAlgError):
            getattr(la, name)(xp.array(np.array([[0, np.nan], [-1, 0]])))
        with pytest.raises(np.linalg.LinAlgError):
            getattr(la, name)(xp.array(x[:2]))


# --- extents of zero, names, errors -------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["inv", "det", "slogdet", "eigvalsh", "cholesky", "svdvals", "eig", "eigvals"]
)
@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0)])
def test_empty(la, xp, name, shape):
    for dtype in ("float32", "complex128"):
        x = np.zeros(shape, dtype)
        compare(getattr(la, name)(xp.array(x)), getattr(np.linalg, name)(x), 0)


def test_keywords_and_lists(la, xp):
    x = matrix((3, 3), "float64")
    a = xp.array(x)
    compare(la.inv(a=a), np.linalg.inv(x), 1e-12)
    compare(la.solve(a, b=a[0]), np.linalg.solve(x, b=x[0]), 1e-12)
    compare(la.svd(a=a, compute_uv=False), np.linalg.svdvals(x), 1e-12)
    compare(la.det([[1, 2], [3, 5]]), np.linalg.det([[1, 2], [3, 5]]), 1e-12)
    compare(la.solve([[1, 2], [3, 5]], [1, 2]), np.linalg.solve([[1, 2], [3, 5]], [1, 2]), 1e-12)
    with pytest.raises(TypeError):
        la.inv()


def test_all_names(la):
    assert sorted(la.__all__) == sorted(np.linalg.__all__)
    for name in np.linalg.__all__:
        assert callable(getattr(la, name)) and getattr(la, name).__doc__


ERRORS = [
    ("inv(v)", np.linalg.LinAlgError),
    ("inv(x[:2])", np.linalg.LinAlgError),
    ("det(v)", np.linalg.LinAlgError),
    ("solve(x, x[:2])", ValueError),
    ("solve(x[:2], v)", np.linalg.LinAlgError),
    ("cholesky(x[:2])", np.linalg.LinAlgError),
    ("cholesky(-x @ x.T)", np.linalg.LinAlgError),
    ("qr(v)", np.linalg.LinAlgError),
    ("qr(x, 'thin')", ValueError),
    ("svd(v)", np.linalg.LinAlgError),
    ("svd(x[:2], hermitian=True)", np.linalg.LinAlgError),
    ("eigh(x, 'M')", ValueError),
    ("eigh(x[:2])", np.linalg.LinAlgError),
    ("eigvalsh(v)", np.linalg.LinAlgError),
    ("lstsq(v, v)", np.linalg.LinAlgError),
    ("lstsq(x, v[:2])", np.linalg.LinAlgError),
    ("inv(x.astype('float16'))", TypeError),
    ("svd(x.astype('float16'))", TypeError),
    ("cond(v)", np.linalg.LinAlgError),
    ("cond(x[:0])", np.linalg.LinAlgError),
    ("pinv(v)", np.linalg.LinAlgError),
    ("matrix_power(x, 1.5)", TypeError),
    ("matrix_power(x[:2], 2)", np.linalg.LinAlgError),
    ("multi_dot([x])", ValueError),
    ("multi_dot([x, v, x])", np.linalg.LinAlgError),
    ("tensorinv(x, 0)", ValueError),
    ("tensorinv(x[:2], 1)", np.linalg.LinAlgError),
    ("tensorsolve(x[:2], v[:2])", np.linalg.LinAlgError),
    ("norm(x, 'middle')", ValueError),
]


@pytest.mark.parametrize("call, error", ERRORS)
def test_errors(la, xp, call, error):
    x, v = matrix((3, 3), "float64"), draw((3,), "float64")
    with pytest.raises(error):
        eval("la." + call, {"la": np.linalg, "x": x, "v": v})
    with pytest.raises(error):
        eval("la." + call, {"la": la, "x": xp.array(x), "v": xp.array(v)})


@pytest.mark.numbus
@pytest.mark.parametrize(
    "call, text",
    [
        ("inv(v)", r"\[inv\] no matrices; got 1-d; expected 2-d or more"),
        ("inv(x[:2])", r"\[inv\] the matrices are not square; got \(2, 3\); expected equal"),
        ("inv(x * 0)", r"^Singular matrix$"),
        ("solve(x, x[:2])", r"\[solve\] extents differ; got \(3, 3\) and \(2, 3\); expected"),
        ("qr(x, 'thin')", r"\[qr\] unknown mode; got 'thin'; expected 'reduced', "),
        ("eigh(x, 'M')", r"\[eigh\] unknown triangle; got 'M'; expected 'L' or 'U'"),
        ("lstsq(x, v[:2])", r"\[lstsq\] extents differ; got \(3, 3\) and \(2, 1\)|got .* \(2,\)"),
        ("svd(x.astype('e'))", r"\[svd\] unsupported type; got float16; expected float32 or"),
        ("matrix_power(x, 1.5)", r"\[matrix_power\] exponent is no integer; got float; expected"),
        ("multi_dot([x])", r"\[multi_dot\] too few arrays; got 1; expected two or more"),
        ("tensorinv(x, 0)", r"\[tensorinv\] not a number of axes; got 0; expected 1 or more"),
    ],
)
def test_messages(xp, monkeypatch, call, text):
    """Those of code of our own; LAPACK in NumPy has its own."""
    from numbus import _cusolver

    if DEVICE == "cpu":
        monkeypatch.setattr(xp.linalg, "_on_gpu", lambda a: True)
        monkeypatch.setattr(_cusolver, "_ready", lambda: None)
        monkeypatch.setattr(_cusolver, "_core", Solver(_cusolver._core))
    x, v = xp.array(matrix((3, 3), "float64")), xp.array(draw((3,), "float64"))
    with pytest.raises((ValueError, TypeError, np.linalg.LinAlgError), match=text):
        eval("xp.linalg." + call, {"xp": xp, "x": x, "v": v})


@pytest.mark.numbus
def test_singular_values_of_hermitian_matrices_do_not_fall_back(la, xp, core):
    before = core.answer_few(False)
    core.reset_stats()
    try:
        x = hermitian((3, 4, 4), "complex128")
        got = la.svd(xp.array(x), hermitian=True, compute_uv=False)
        compare(got, np.linalg.svd(x, compute_uv=False), 1e-12)
        la.pinv(xp.array(x), hermitian=True), la.matrix_rank(xp.array(x), hermitian=True)
        assert core.stats()["fallbacks"] == 0
    finally:
        core.answer_few(before)


@pytest.mark.numbus
def test_no_fallbacks(xp, core):
    """Library calls all, or code of our own."""
    core.reset_stats()
    x = xp.array(definite((4, 4), "float64"))
    la = xp.linalg
    for name in """inv det slogdet cholesky qr svd svdvals eigh eigvalsh pinv matrix_rank cond
        matrix_norm vector_norm trace""".split():
        getattr(la, name)(x)
    la.solve(x, x), la.lstsq(x, x), la.matrix_power(x, 3), la.multi_dot([x, x, x])
    la.tensorinv(x, 1), la.tensorsolve(x, x[0]), la.norm(x, 2), la.norm(x, "nuc")
    if not DEVICE.startswith("cuda") or core.cusolver_has_geev():
        la.eig(x), la.eigvals(x)
    assert core.stats()["fallbacks"] == 0


@pytest.mark.numbus
@pytest.mark.cpu
def test_nothing_is_copied(xp):
    """What NumPy reads on a CPU is the array's own memory."""
    from numbus import linalg

    seen = []
    real = linalg.library

    def library(function, args, kwargs):
        result = real(function, args, kwargs)
        seen.append((np.asarray(args[0]).__array_interface__["data"][0], result))
        return result

    x = xp.array(definite((80, 80), "float64"))
    linalg.library = library
    try:
        y = linalg.lstsq(x, x)
    finally:
        linalg.library = real
    assert seen[0][0] == np.asarray(x).__array_interface__["data"][0] and seen[0][1] is y


@pytest.mark.gpu
@pytest.mark.numbus
def test_large(xp):
    """Where the library takes its blocked ways."""
    la, n = xp.linalg, 600
    x = matrix((n, n), "float64")
    a = xp.array(x)
    compare(la.inv(a) @ a, np.eye(n), 1e-10)
    compare(la.solve(a, a[:, :7]), np.eye(n)[:, :7], 1e-10)
    u, s, vt = la.svd(a)
    compare((u * s) @ vt, x, 1e-10)
    h = xp.array(x + x.T)
    w, v = la.eigh(h)
    compare(h @ v, np.asarray(v * w), 1e-9)
    q, r = la.qr(a[:, :100])
    compare(q @ r, x[:, :100], 1e-11)
    d = a @ a.T
    low = la.cholesky(d)
    compare(low @ low.T, np.asarray(d), 1e-11)
    sign, log = la.slogdet(a)
    compare(xp.array([sign, log]), np.array(np.linalg.slogdet(x)), 1e-10)


def test_norms_of_nothing(la, xp):
    empty, vectors = xp.ones((0, 0)), xp.ones((3, 0))
    for order in (1, 2, np.inf, "nuc", "fro"):
        assert float(la.norm(empty, order)) == 0
        assert la.matrix_norm(empty, ord=order, keepdims=True).shape == (1, 1)
    for order in (1, 2, np.inf):
        np.testing.assert_array_equal(np.asarray(la.norm(vectors, order, 1)), np.zeros(3))
    for order in (-1, -2, -np.inf):
        with pytest.raises(ValueError):
            la.norm(empty, order)


def test_outer_takes_vectors(la):
    x, y = np.arange(3.0), np.arange(4)
    np.testing.assert_array_equal(np.asarray(la.outer(x, y)), np.outer(x, y))
    for wrong in (np.ones((2, 2)), np.float64(1)):
        with pytest.raises(ValueError):
            la.outer(wrong, x)
        with pytest.raises(ValueError):
            la.outer(x, wrong)
