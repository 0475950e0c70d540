"""Decompositions of stacks of small matrices by several threads: NumPy's results and errors."""

import numpy as np
import pytest
from conftest import DEVICE
from test_libraries import run

NAMES = ["eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]
NAMES += ["inv", "det", "slogdet", "cholesky"]


@pytest.fixture(autouse=True)
def _on_a_cpu():
    if DEVICE != "cpu":
        pytest.skip("a CPU's threads")


def arrays_of(result):
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize(
    "shape", [(5001, 10, 10), (3, 700, 12, 12), (2000, 20, 7), (1, 9000, 8, 8), (60001, 5, 5)]
)
def test_bits(xp, name, dtype, shape):
    rng = np.random.default_rng(len(name) + shape[0])
    a = rng.standard_normal(shape)
    a = (a + 1j * rng.standard_normal(shape) if dtype in "FD" else a).astype(dtype)
    if name not in ("qr", "svd", "svdvals") and shape[-1] != shape[-2]:
        return
    if name == "cholesky":
        a = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1], dtype=dtype)
    expected = getattr(np.linalg, name)(a)
    got = getattr(xp.linalg, name)(xp.asarray(a))
    assert type(got).__name__ == type(expected).__name__ or not isinstance(expected, tuple)
    for x, y in zip(arrays_of(got), arrays_of(expected), strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    ("name", "keywords"),
    [("qr", {"mode": "r"}), ("qr", {"mode": "complete"}), ("svd", {"full_matrices": False}),
     ("svd", {"compute_uv": False}), ("eigh", {"UPLO": "U"}), ("qr", {"mode": "raw"})],
)  # fmt: skip
def test_keywords(xp, name, keywords):
    a = np.random.default_rng(1).standard_normal((6000, 9, 9))
    expected = getattr(np.linalg, name)(a, **keywords)
    got = getattr(xp.linalg, name)(xp.asarray(a), **keywords)
    for x, y in zip(arrays_of(got), arrays_of(expected), strict=True):
        assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    "right", [(40000, 10, 3), (1, 10, 2), (10, 4), (10,), (1, 1, 10, 2), (3, 10, 2), (40000, 10, 1)]
)
def test_solve(xp, right):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((40000, 10, 10)), rng.standard_normal(right)
    try:
        expected = np.linalg.solve(a, b)
    except ValueError:
        with pytest.raises(ValueError):  # in the words of whoever looks first
            xp.linalg.solve(xp.asarray(a), xp.asarray(b))
        return
    got = np.asarray(xp.linalg.solve(xp.asarray(a), xp.asarray(b)))
    assert got.shape == expected.shape and got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["inv", "cholesky", "solve"])
@pytest.mark.parametrize("at", [0, 39999])
def test_a_matrix_without_a_result(xp, name, at):
    a = np.broadcast_to(np.eye(10), (40000, 10, 10)).copy()
    a[at, 2] = 0
    more = [np.ones((40000, 10, 1))] if name == "solve" else []
    with pytest.raises(np.linalg.LinAlgError) as expected:
        getattr(np.linalg, name)(a, *more)
    with pytest.raises(np.linalg.LinAlgError) as raised:
        getattr(xp.linalg, name)(xp.asarray(a), *[xp.asarray(x) for x in more])
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("at", [0, 4999])
def test_a_matrix_that_fails(xp, at):
    a = np.random.default_rng(1).standard_normal((5000, 10, 10))
    a[at, 3, 4] = np.nan
    for name in ("eig", "eigvals", "svd"):
        try:
            expected = getattr(np.linalg, name)(a)
        except np.linalg.LinAlgError as error:
            with pytest.raises(np.linalg.LinAlgError) as raised:
                getattr(xp.linalg, name)(xp.asarray(a))
            assert str(raised.value) == str(error)
        else:
            got = getattr(xp.linalg, name)(xp.asarray(a))
            for x, y in zip(arrays_of(got), arrays_of(expected), strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.numbus
def test_after_a_fork():
    code = (
        "import os, numpy as np, numbus as nb\n"
        "a = np.random.default_rng(1).standard_normal((9000, 8, 8))\n"
        "e = np.linalg.svd(a)[1]\n"
        "assert (np.asarray(nb.linalg.svd(nb.asarray(a))[1]) == e).all()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if (np.asarray(nb.linalg.svd(nb.asarray(a))[1]) == e).all() else 3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert run(code, NUMBUS_NUM_THREADS="3").split()[-1] == "0"
