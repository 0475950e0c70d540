"""Compiled functions that call the host's code (base/host_call.h): sorts, searches, LAPACK, on both
sides of the sizes that loops serve, and what was wrong beside them.
"""

import cmath

import numpy as np
import pytest
from jit_check import check, equal, function_of, layouts
from numbus import njit

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

SIZES = [1, 16, 17, 100]
DTYPES = "bool int8 uint64 int64 float16 float32 float64 complex64 complex128".split()


def numbers(shape, dtype, seed=0):
    r = np.random.default_rng(seed)
    x = np.round(r.normal(0, 20, shape))
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.round(r.normal(0, 2, shape))
    if np.dtype(dtype).kind == "u":
        x = np.abs(x)
    x = x.astype(dtype)
    if x.dtype.kind in "fc" and x.size > 3:
        x.flat[x.size // 2] = np.nan
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_sorts(dtype, n):
    for shape, axis in [((n,), -1), ((3, n), -1), ((n, 3), 0), ((2, n, 3), 1), ((2, n), None)]:
        a = numbers(shape, dtype)
        check(function_of(f"np.sort(a, axis={axis})"), a)
        check(function_of(f"np.argsort(a, axis={axis}, kind='stable')"), a)
    line = np.sort(numbers(n, dtype))
    for side in ("left", "right"):
        check(function_of(f"np.searchsorted(a, b, side={side!r})", "a, b"), line, numbers(7, dtype))


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64"])
def test_partitions(dtype):
    a = numbers((4, 50), dtype)
    for kth in (0, -1, 7):
        got = njit(function_of(f"np.partition(a, {kth})"))(a)
        equal(got[:, kth], np.partition(a, kth)[:, kth], None)
        equal(np.sort(got), np.sort(a), None)
        order = njit(function_of(f"np.argpartition(a, {kth})"))(a)
        equal(np.take_along_axis(a, order, -1)[:, kth], np.partition(a, kth)[:, kth], None)
    with pytest.raises(ValueError, match="out of bounds"):
        njit(function_of("np.partition(a, 50)"))(a)


def matrix(m, n, dtype, seed=0):
    r = np.random.default_rng(seed)
    a = r.standard_normal((m, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * r.standard_normal((m, n))
    return a.astype(dtype)


LINALG = ["float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", LINALG)
@pytest.mark.parametrize("n", [1, 3, 9, 14])
def test_systems(dtype, n):
    a = matrix(n, n, dtype)
    rtol = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    for m in (a, np.asfortranarray(a)):
        for call in (
            "inv(a)",
            "det(a)",
            "slogdet(a)[1]",
            "solve(a, a[:, 0])",
            "solve(a, a[:, :1])",
        ):
            check(function_of(f"np.linalg.{call}"), m, rtol=rtol)
        for call in ("cond(a)", "cond(a, 1)", "pinv(a)", "matrix_rank(a)", "norm(a, 'nuc')"):
            check(function_of(f"np.linalg.{call}"), m, rtol=rtol)
    h = (a @ a.conj().T + n * np.eye(n)).astype(dtype)
    check(function_of("np.linalg.cholesky(a)"), h, rtol=rtol)
    check(function_of("np.linalg.eigvalsh(a)"), h, rtol=rtol)


@pytest.mark.parametrize("dtype", LINALG)
@pytest.mark.parametrize("m, n", [(3, 3), (5, 2), (2, 5), (12, 12), (20, 9), (9, 20)])
def test_factors(dtype, m, n):
    a = matrix(m, n, dtype)
    close = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    for full in (True, False):
        u, s, vt = njit(function_of(f"np.linalg.svd(a, {full})"))(a)
        want = np.linalg.svd(a, full)
        assert [x.shape for x in (u, s, vt)] == [x.shape for x in want]
        assert [x.dtype for x in (u, s, vt)] == [x.dtype for x in want]
        k = min(m, n)
        np.testing.assert_allclose((u[:, :k] * s) @ vt[:k], a, atol=close * 10)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(u.shape[1]), atol=close * 10)
        np.testing.assert_allclose(s, want[1], rtol=close)
    check(function_of("np.linalg.qr(a)[0]"), a, rtol=close * 100)
    check(function_of("np.linalg.qr(a)[1]"), a, rtol=close * 100)
    check(function_of("np.linalg.qr(a, mode='r')"), a, rtol=close * 100)
    b = matrix(m, 2, dtype, 1)
    x = njit(function_of("np.linalg.lstsq(a, b)[0]", "a, b"))(a, b)
    np.testing.assert_allclose(x, np.linalg.lstsq(a, b)[0], atol=close * 10)
    if m == n:
        h = (a + a.conj().T).astype(dtype)
        w, v = njit(function_of("np.linalg.eigh(a)"))(h)
        np.testing.assert_allclose(h @ v, v * w, atol=close * 30)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(h), atol=close * 30)


@pytest.mark.parametrize("n", [2, 12])
def test_eigenvalues(n):
    h = matrix(n, n, "float64")
    h = h + h.T
    w, v = njit(function_of("np.linalg.eig(a)"))(h)
    np.testing.assert_allclose(h @ v, v * w, atol=1e-10)
    np.testing.assert_allclose(np.sort(w), np.linalg.eigvalsh(h))
    z = matrix(n, n, "complex128")
    w, v = njit(function_of("np.linalg.eig(a)"))(z)
    np.testing.assert_allclose(z @ v, v * w, atol=1e-10)
    np.testing.assert_allclose(
        np.sort_complex(njit(function_of("np.linalg.eigvals(a)"))(z)), np.sort_complex(w)
    )
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match="complex values of a real matrix"):
        njit(function_of("np.linalg.eigvals(a)"))(turn)


def test_singular_matrices():
    for n in (3, 12):
        for call in ("inv(a)", "solve(a, a[0])", "cholesky(-a - np.eye(a.shape[0]))"):
            with pytest.raises(np.linalg.LinAlgError):
                njit(function_of(f"np.linalg.{call}"))(np.zeros((n, n)))


EXPRESSIONS = """
np.nonzero(a); np.argwhere(a); np.argmax(a); np.argmin(a); np.argmax(a, axis=-1); divmod(a, b)
np.sum(a, where=a != 0); np.mean(a, axis=0, where=a != 0); np.prod(a, axis=-1, where=a != 0)
a.reshape(n); a.reshape(n, 1); np.transpose(a); np.swapaxes(a, axis1=0, axis2=-1)
np.concatenate((a, a), axis=-1); np.stack((a, a), axis=-1); np.cumsum(a, axis=0); np.average(a)
np.average(a, axis=-1, weights=np.ones(a.shape[-1])); np.indices(a.shape); np.asfortranarray(a)
""".replace("\n", ";")


@pytest.mark.long
@pytest.mark.parametrize("text", [x.strip() for x in EXPRESSIONS.split(";") if x.strip()])
def test_every_number_of_axes(text):
    for dtype in ("float64", "int32", "complex64"):
        if dtype == "complex64" and "divmod" in text:
            continue
        for shape in [(5,), (2, 3), (2, 3, 2), (2, 1, 3, 2)]:
            for a in layouts(shape, dtype):
                check(function_of(text, "a, b, n"), a, np.abs(a) + np.ones(1, dtype), -1)


def test_orders_that_are_kept():
    f = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for text in """a + 1; a * a; -a; np.sqrt(a); a.astype(np.float32); np.copy(a); np.array(a)
        np.where(a > 1, a, a); np.zeros_like(a); np.full_like(a, 2); a + np.ones(3)
        a + np.ones((2, 3)); a.copy(); a.T + 1; (a + 1).T; (a + 1).ravel()""".replace(
        "\n", ";"
    ).split(";"):
        check(function_of(f"({text.strip()}).strides"), f)
        check(function_of(text.strip()), f)


def test_numbers_from_size_and_angle():
    special = [0.0, -0.0, 1.5, -1.5, cmath.inf, -cmath.inf, cmath.nan]
    compiled = njit(function_of("cmath.rect(r, phi)", "r, phi", cmath=cmath))
    for r in special:
        for phi in special:
            got = compiled(r, phi)
            try:
                want = cmath.rect(r, phi)
            except ValueError:
                continue
            for x, y in ((got.real, want.real), (got.imag, want.imag)):
                assert x == y or (x != x and y != y), (r, phi, got, want)
