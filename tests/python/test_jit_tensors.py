"""Linear algebra of stacks and of tensors, and what depends on extents, in compiled functions
against NumPy.
"""

import itertools

import numpy as np
import pytest
from jit_check import check, function_of
from numbus import njit
from numbus.kernels import UnsupportedError

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

rng = np.random.default_rng(3)
S = rng.random((2, 3, 4, 4))
C = S + 1j * rng.random(S.shape)
H = S @ S.swapaxes(-1, -2) - 0.5 * np.eye(4)
K = C @ C.conj().swapaxes(-1, -2) - 0.5 * np.eye(4)
R = rng.random((2, 3, 5, 4))
EMPTY = np.zeros((0, 4, 4))
STACKS = {
    "np.linalg.det(a)": [S, C, S.astype("f4"), EMPTY],
    "tuple(np.linalg.slogdet(a))": [S, C, EMPTY],
    "np.linalg.inv(a)": [S, C, EMPTY],
    "np.linalg.solve(a, a)": [S],
    "np.linalg.solve(a, np.arange(4.0))": [S, EMPTY],
    "np.linalg.cholesky(a + np.eye(4))": [H, K],
    "np.linalg.cholesky(a + np.eye(4), upper=True)": [H],
    "np.linalg.matrix_power(a, 3)": [S, C],
    "np.linalg.matrix_power(a, -2)": [S],
    "tuple(np.linalg.qr(a))": [R, C, R.astype("f4")],
    "tuple(np.linalg.qr(a, mode='complete'))": [R],
    "np.linalg.qr(a, 'r')": [R, R.swapaxes(-1, -2)],
    "np.linalg.qr(a, mode='raw')": [R, C, S.astype("f4"), R[0, 0], C[0, 0], R[0, 0].T],
    "np.linalg.eigvalsh(a)": [H, K, EMPTY],
    "np.linalg.svd(a, compute_uv=False)": [R, C],
    "np.linalg.svd(a, compute_uv=False, hermitian=True)": [H, K, H[0, 0]],
    "np.linalg.pinv(a)": [R, C],
    "np.linalg.pinv(a, hermitian=True)": [H, K, H[0, 0]],
    "np.linalg.matrix_rank(a)": [R, S.astype("f4")],
    "np.linalg.matrix_rank(a, rtol=0.5)": [H],
    "np.linalg.matrix_rank(a, hermitian=True)": [H, K, H[0, 0]],
    "np.linalg.cond(a, 1)": [S],
}
CASES = [(text, k) for text, arrays in STACKS.items() for k in range(len(arrays))]


@pytest.mark.parametrize("text, k", CASES)
def test_stacks(text, k):
    a = STACKS[text][k]
    check(function_of(text), a, rtol=1e-3 if a.dtype == "f4" else 1e-7)


@pytest.mark.parametrize("a", [R, C, S.astype("f4")])
def test_factors_of_stacks_give_the_matrices(a):
    for text, given in (("np.linalg.svd(a, False)", a), ("np.linalg.svd(a, hermitian=True)", K)):
        u, s, v = njit(function_of(text))(given)
        np.testing.assert_allclose((u * s[..., None, :]) @ v, given, atol=1e-5)
        np.testing.assert_allclose(s, np.linalg.svd(given)[1], atol=1e-5)


def test_equations_of_tensors():
    a = rng.random((4, 6, 8, 3))
    check(function_of("np.linalg.tensorinv(a)"), a, rtol=1e-7)
    check(function_of("np.linalg.tensorinv(a, ind=1)"), a.reshape(24, 8, 3), rtol=1e-7)
    for text in ("np.linalg.tensorinv(a)", "np.linalg.tensorinv(a, 0)"):
        error = ValueError if "0" in text else np.linalg.LinAlgError
        with pytest.raises(error):
            njit(function_of(text))(rng.random((2, 3, 5)))
    parameter = njit(function_of("np.linalg.tensorinv(a, k)", "a, k"))
    for k, given in ((2, a), (1, a.reshape(24, 8, 3))):
        np.testing.assert_allclose(parameter(given, k), np.linalg.tensorinv(given, k), rtol=1e-7)
    with pytest.raises(UnsupportedError, match="ind= of run time"):
        njit(function_of("np.linalg.tensorinv(a, int(a[0, 0, 0, 0]) + 2)"))(a)
    text = "np.linalg.tensorsolve(a, b)"
    for shape, right in (((2, 3, 6), (2, 3)), ((6, 3, 2), (6,)), ((2, 3, 2, 3), (2, 3))):
        check(function_of(text, "a, b"), rng.random(shape), rng.random(right), rtol=1e-7)
    with pytest.raises(np.linalg.LinAlgError):
        njit(function_of(text, "a, b"))(rng.random((2, 3, 5)), rng.random((2, 3)))
    x = rng.random((2, 6, 3))
    check(function_of(text[:-1] + ", axes=(0, 2))", "a, b"), x, rng.random(6), rtol=1e-7)
    check(function_of(text[:-1] + ", axes=(-1,))", "a, b"), x, rng.random(6))


@pytest.mark.parametrize("extents", [(2, 9, 3, 8, 4), (9, 2, 8, 3, 7), (5, 6, 1, 6, 5), (4, 2, 7)])
def test_products_of_several(extents):
    matrices = [rng.random(shape) for shape in itertools.pairwise(extents)]
    names = "abcd"[: len(matrices)]
    for text in (f"[{', '.join(names)}]", f"({', '.join(names)})"):
        f = function_of(f"np.linalg.multi_dot({text})", ", ".join(names))
        check(f, *matrices, rtol=1e-12)
        if len(names) > 2:
            check(f, matrices[0][0], *matrices[1:], rtol=1e-12)
            check(f, matrices[0][0], *matrices[1:-1], matrices[-1][:, 0], rtol=1e-12)
    with pytest.raises(ValueError, match="at least two"):
        njit(function_of("np.linalg.multi_dot((a,))"))(matrices[0])


def test_points_of_one_array():
    points = rng.random((30, 2))
    for text in ("a, (3, 4)", "a, 5, ((0.0, 1.0), (0.0, 2.0))"):
        check(function_of(f"np.histogramdd({text})[0]"), points)
    with pytest.raises(ValueError, match="expected one per axis"):
        njit(function_of("np.histogramdd(a, (3, 4, 5))[0]"))(points)
    for order in "CFAK":
        for x in (points, points.T, points[::2], np.array(2.0)):
            f = function_of(f"np.asarray_chkfinite(a, order={order!r})")
            want, got = f(x), njit(f)(x)
            np.testing.assert_array_equal(want, got)
            assert want.flags.c_contiguous == got.flags.c_contiguous
            assert want.flags.f_contiguous == got.flags.f_contiguous


@pytest.mark.parametrize(
    "text, instead",
    [
        ("np.squeeze(a)", "axis="),
        ("np.squeeze(a[None])", "axis="),
        ("np.histogramdd(a, 3)[0]", "tuple"),
        ("np.real_if_close(a + 1j)", "x.real"),
        ("np.unique(a, axis=0)", ""),
        ("np.nansum(a, where=a > 1)", "where"),
    ],
)
def test_not_yet_names_the_line(text, instead):
    with pytest.raises(UnsupportedError, match="not yet") as error:
        njit(function_of(text, "a, t"))(np.eye(2) + 1, "ij,jk")
    assert text in str(error.value) and instead in str(error.value)


def test_lambdas_of_one_line():
    # fmt: off
    several = {"a": (lambda a: np.linalg.qr(a)[0], 1), "b": (lambda a: np.linalg.qr(a, "r"),
        lambda a: np.linalg.qr(a, "complete")[0], lambda a: np.linalg.qr(a)[0]), "c": (lambda a: a,
        lambda a: a + 2), "d": [lambda a: a + 3, lambda a, b=4: a + b]}
    # fmt: on
    x = rng.random((5, 4))
    for value in several.values():
        for f in value:
            if callable(f):
                np.testing.assert_allclose(njit(f)(x), f(x), atol=1e-12)
