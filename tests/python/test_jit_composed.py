"""Functions of arrays in compiled functions whose arguments decide about types: results in `out=`,
masks of variances, einsum, block, stacks of matrices, norms along axes. NumPy is the oracle.
"""

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(13)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((4, 5))
V = RNG.standard_normal(4)
T = RNG.standard_normal((2, 4, 3))
Q = RNG.standard_normal((4, 4))
S = RNG.standard_normal((2, 3, 4, 4))
D = S @ S.swapaxes(-1, -2) + 4 * np.eye(4)
WHOLE = RNG.integers(-5, 6, (3, 4))


def copies(given):
    return [x.copy() if isinstance(x, np.ndarray) else x for x in given]


def check(text, *given, rtol=1e-9):
    """The expression of a, b, c compiled and in NumPy: results, types and what was written to."""
    function = function_of(text, ", ".join("abcd"[: len(given)]))
    real, mine = copies(given), copies(given)
    with np.errstate(all="ignore"):
        want = function(*real)
        got = njit(function)(*mine)
    if isinstance(got, (int, float, complex)):
        got = np.asarray(got).astype(np.asarray(want).dtype)
    for x, y in zip([got, *mine], [want, *real]):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol, 1e-12 if rtol < 1e-6 else rtol)


def refused(text, error, *given):
    function = function_of(text, ", ".join("abcd"[: len(given)]))
    with pytest.raises(error):
        function(*copies(given))
    with pytest.raises(error):
        njit(function)(*copies(given))


OUT = [
    ("np.dot(a, b, out=c)", A, B, np.zeros((3, 5))),
    ("np.matmul(a, b, c)", A, B, np.zeros((3, 5), "f4")),
    ("np.matmul(a, b, dtype=np.float32)", A, B),
    ("np.matmul(a, b, c, casting='unsafe')", A, B, np.zeros((3, 5), int)),
    ("np.matmul(c, c, out=c)", A, B, Q),
    ("np.vecdot(a, b, out=c)", A, A, np.zeros(3)),
    ("np.matvec(a, b, dtype=np.complex64)", A, V),
    ("np.outer(a, b, out=c)", V, V, np.zeros((4, 4))),
    ("np.ptp(a, axis=0, out=b)", A, np.zeros(4, "f4")),
    ("np.take(a, np.array([0, 2]), 0, out=b)", A, np.zeros((2, 4))),
    ("np.cumsum(b, 0, out=b)", A, A),
    ("np.concatenate((a, a), 0, out=b)", A, np.zeros((6, 4))),
    ("np.trace(a, out=b)", Q, np.array(0.0)),
    ("np.median(a, 0, out=b)", A, np.zeros(4)),
    ("np.sum(a, axis=0, out=b)", A, np.zeros(4)),
    ("a.max(1, b)", A, np.zeros(3)),
    ("np.mean(a, 0, out=b, where=a > 0)", A, np.zeros(4)),
    ("np.argmax(a, 0, out=b)", A, np.zeros(4, int)),
    ("np.std(a, 0, out=b, ddof=1)", A, np.zeros(4)),
    ("np.einsum('ij,jk', a, b, out=c)", A, B, np.zeros((3, 5))),
]


@pytest.mark.parametrize("case", OUT, ids=lambda case: case[0])
def test_out(case):
    short = any(text in case[0] for text in ("float32", "complex64"))
    short = short or any(x.dtype == np.float32 for x in case[1:])
    check(*case, rtol=1e-5 if short else 1e-9)


@pytest.mark.parametrize(
    "text, error, of",
    [
        ("np.matmul(a, b, out=c)", TypeError, np.zeros((3, 5), int)),
        ("np.matmul(a, b, dtype=np.int64)", TypeError, V),
        ("np.matmul(a, b, casting='no such')", ValueError, V),
        ("np.dot(a, b, out=c)", ValueError, np.zeros((3, 5), "f4")),
        ("np.dot(a, b, out=c.T)", ValueError, np.zeros((5, 3))),
        ("np.sum(a, 0, out=c)", ValueError, np.zeros(3)),
        ("np.take(a, np.array([0]), 0, out=c)", ValueError, np.zeros((2, 4))),
    ],
)
def test_refused_out(text, error, of):
    refused(text, error, A, B, of)


@pytest.mark.parametrize("dtype", ["f4", "i4", "c16"])
@pytest.mark.parametrize(
    "text",
    [
        "np.var(a, where=b)",
        "np.std(a, axis=0, where=b)",
        "np.std(a, axis=(0, 2), ddof=1, keepdims=True, where=b)",
        "np.var(a, axis=1, where=b[0, 0])",
        "np.std(a + a, axis=-1, where=b, correction=2)",
        "a.std(where=b)",
    ],
)
def test_variance_under_a_mask(text, dtype):
    a = (RNG.standard_normal((3, 4, 5)) * 9).astype(dtype)
    a = a + 1j * a[::-1] if dtype == "c16" else a
    mask = np.arange(60).reshape(3, 4, 5) % 7 < 4
    check(text, a, mask, rtol=1e-4 if dtype == "f4" else 1e-9)


EINSUM = """
ij,jk->ik AB|ij,jk AB|ij->ji A|ii Q|ii->i Q|i,i VV|i,i->i VV|i,j VV|ij,j AV|ij-> A|ij->j A|
...ij,jk->...ik SB|...j,j SV|bij,bkj->bik TT|ij,jk,lk->il ABB|ij,ij-> AA|i j , j k -> k i AB|
ijk->kji T|iij->j Z|iij,jk->ik ZB|iijj->ij Y|ij,kj->ik WW|ij,kj->ik MM|ij-> M|ij,kj->ik WA|-> N|
,-> NN|ij, AN|i,ij,j UAV
""".replace("\n", "").split("|")
ARRAYS = {
    "A": A,
    "B": B,
    "V": V,
    "Q": Q,
    "S": S,
    "T": T,
    "U": A[:, 0],
    "W": WHOLE,
    "M": WHOLE > 0,
    "N": np.array(3.0),
    "Z": RNG.standard_normal((3, 3, 4)),
    "Y": np.arange(36.0).reshape(2, 2, 3, 3),
}


@pytest.mark.parametrize("case", EINSUM)
def test_einsum(case):
    subscripts, names = case.rsplit(" ", 1)
    operands = ", ".join("abcd"[: len(names)])
    check(f"np.einsum({subscripts!r}, {operands})", *[ARRAYS[name] for name in names])


@pytest.mark.parametrize("subscripts", ["ij,ij->ik", "i,ij", "ij,jk->ii", "ij,jj"])
def test_refused_einsum(subscripts):
    refused(f"np.einsum({subscripts!r}, a, b)", ValueError, A, B)


def test_einsum_of_axes_in_tuples():
    check("np.einsum(a, (0, 1), b, (1, 2), (2, 0))", A, B)


@pytest.mark.parametrize(
    "text",
    [
        "np.block([[a, a[:, :2]], [b[:3], b[:3, :1]]])",
        "np.block([c, 1.0, c])",
        "np.block(a)",
        "np.block([[1, 2], [3.5, 4]])",
        "np.block([1, 2])",
        "np.block([[c], [a]])",
        "np.block([[[c, c]], [[c, c]]])",
        "np.block([[np.eye(4), c.reshape(-1, 1)], [c, 1.0]]) + 1",
    ],
)
def test_block(text):
    check(text, A, B, V)


STACKS = [
    ("np.linalg.det(a)", S),
    ("np.linalg.slogdet(a)[1]", S),
    ("np.linalg.inv(a)", S),
    ("np.linalg.solve(a, b)", S, V),
    ("np.linalg.solve(a, b)", S, B),
    ("np.linalg.solve(a, b)", Q, S),
    ("np.linalg.cholesky(a, upper=True)", D),
    ("np.linalg.matrix_power(a, 3)", S),
    ("np.linalg.matrix_power(a, -2)", D),
    ("np.abs(np.linalg.qr(a, 'r'))", T),
    ("np.abs(np.linalg.qr(a, 'complete')[0])", T),
    ("np.linalg.eigh(a)[0]", D),
    ("np.linalg.eigvalsh(a)", D),
    ("np.linalg.svd(a)[1]", T),
    ("np.linalg.svd(a, compute_uv=False)", T),
    ("np.linalg.svdvals(a)", T),
    ("np.abs(np.linalg.svd(a, False)[0])", T),
    ("np.linalg.pinv(a)", T),
    ("np.linalg.matrix_rank(a)", S),
    ("np.linalg.cond(a)", S),
    ("np.linalg.det(a)", S[:0]),
    ("np.linalg.inv(a)", S[:, :0]),
    ("np.sort(np.linalg.eigvals(a).real)", D + 0j),
]


@pytest.mark.parametrize("case", STACKS, ids=lambda case: case[0])
def test_stacks_of_matrices(case):
    check(*case, rtol=1e-8)


def test_refused_stacks():
    refused("np.linalg.inv(a)", np.linalg.LinAlgError, np.zeros((2, 2, 2)))
    refused("np.linalg.det(a)", np.linalg.LinAlgError, T)


@pytest.mark.parametrize("order", "None 1 2 np.inf 3 -1 'nuc' 0".split())
@pytest.mark.parametrize("axis", ["1", "(2, 0)"])
def test_norm_along_axes(order, axis):
    text = f"np.linalg.norm(a, {order}, axis={axis}, keepdims={axis == '1'})"
    try:
        function_of(text, "a")(T)
    except ValueError:
        refused(text, Exception, T)
    else:
        check(text, T, rtol=1e-8)


@pytest.mark.parametrize(
    "case",
    [
        ("np.linalg.vector_norm(a, axis=(0, 1))", T),
        ("np.linalg.vector_norm(a, keepdims=True, ord=1)", T),
        ("np.linalg.matrix_norm(a, ord=1)", T),
        ("np.linalg.norm(a, axis=1)", WHOLE),
        ("np.linalg.norm(a, axis=1)", A + 1j),
        ("np.round(a, b)", A * 100, 2),
        ("np.round(a, b)", A * 1000, -2),
        ("a.round(b)", A * 10 + 1j, 1),
        ("np.histogramdd((a, b), 3)[0]", V, V[::-1].copy()),
        ("np.histogramdd((a, b), (3, 2), range=((-1, 1), None), weights=b)[0]", V, V[::-1].copy()),
        ("np.average(a, axis=(1, 0), weights=b)", T, np.arange(1.0, 9).reshape(4, 2)),
        ("np.average(a, axis=(0, 2), weights=b, returned=True)[1]", T, np.ones((2, 3))),
        ("np.diagonal(a, 1, 0, 2)", T),
        ("np.moveaxis(a, (2, 0), (0, 1))", T),
        ("np.real_if_close(a)", A),
    ],
    ids=lambda case: case[0],
)
def test_others(case):
    check(*case)


def test_order_of_full_is_a_word():
    for text in ("np.full((2, 2), a, order='X')", "np.zeros((2, 2), order='A')"):
        refused(text, Exception, 1.0)
