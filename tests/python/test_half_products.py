"""Products of half floats are summed in float32 and rounded once, as NumPy's are, with its warnings
of what that overflows; in array calls, pending ones and compiled functions.
"""

import itertools
import warnings

import numbus as nb
import numpy as np
import pytest
from jit_check import function_of
from numbus import _core as core
from numbus import njit

pytestmark = pytest.mark.numbus

VECTORS = [[300, 300, 1], [300, -300, 1], [np.inf, 0, 2], [0.1, 7, -3], [6e4, 6e4, 6e4]]
CALLS = """
np.dot(a, b); np.inner(a, b); np.vdot(a, b); np.vecdot(a, b); a @ b; np.tensordot(a, b, 1)
np.dot(m, b); m @ n; np.inner(m, n); np.matvec(m, a); np.vecmat(a, m); np.einsum('i,i->', a, b)
np.einsum('ij,ij->j', m, n); np.dot(a, c); np.dot(m[None], n)
""".replace("\n", ";").split(";")
CALLS = [call.strip() for call in CALLS if call.strip()]


def operands(xp, x, y, halves, late):
    a, b = (np.array(v, np.float16) for v in (x, y))
    m, n = np.stack([a, b, a]), np.stack([b, a, b])
    named = {"a": a, "b": b, "m": m, "n": n, "c": np.arange(3, dtype="i1")}
    named = {name: xp.array(value) for name, value in named.items()}
    return {name: value * halves if late else value for name, value in named.items()}


def outcome(xp, call, given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = np.asarray(eval(call, {"np": xp, **given}))
    return result, {str(w.message) for w in caught}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_products(call, late):
    for x, y in itertools.product(VECTORS, VECTORS):
        given = [operands(xp, x, y, xp.float16(1), late) for xp in (np, nb)]
        want, told = outcome(np, call, given[0])
        got, tells = outcome(nb, call, given[1])
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-3, err_msg=f"{call} {x} {y}")
        if core.get_device() == "cpu" and not late and not ({np.inf} & {*x, *y}):
            assert tells == told, (call, x, y)


@pytest.mark.cpu
@pytest.mark.parametrize("call", [call for call in CALLS if "einsum" not in call])
def test_compiled_products(call):
    f = function_of(call, "a, b, m, n, c")
    for x, y in [(VECTORS[0], VECTORS[1]), (VECTORS[3], VECTORS[4])]:
        given = operands(np, x, y, 1, False)
        with np.errstate(all="ignore"):
            want = f(**given)
            got = njit(f)(*given.values())
        np.testing.assert_allclose(got, want, rtol=2e-3)
        assert want.ndim == 0 or got.dtype == want.dtype


def counted(device, kind, work):
    """What is recorded and moved by work on matrices of a type."""
    with nb.device(device):
        a = nb.array(np.ones((6, 8, 16)), dtype=kind)
        b = nb.array(np.ones((6, 8, 16)), dtype=kind)
        nb.synchronize()
        core.reset_stats()
        made = work(a, b)
        nb.synchronize()
        stats = core.stats()
        assert all(x.dtype == a.dtype for x in made)
        return stats["instructions"], stats["launches"], stats["bytes_moved"] / a.dtype.itemsize


# A GPU's library takes them as they are: nothing is converted, and half as many bytes move.
@pytest.mark.parametrize("kind", ["f2", nb.bfloat16])
@pytest.mark.parametrize("work", [
    lambda a, b: [a @ b.transpose(0, 2, 1)],
    lambda a, b: [a[0] @ b[0].T, np.matmul(a[0].T, b[0]), a[0, 0] @ b[0].T],
    lambda a, b: [a @ b[0].T, nb.dot(a[0], b[0].T), nb.tensordot(a[0], b[0], ([1], [1]))],
    lambda a, b: nb.value_and_grad(lambda x: (x @ b[0].T).sum())(a[0]),
])  # fmt: skip
def test_a_gpu_takes_halves(kind, work):
    assert counted("null", kind, work) == counted("null", "f4", work)


def test_the_host_adds_up_in_float32():
    assert not core.multiplies_halves(*[nb.ones((2, 2), dtype="f2", device="cpu")] * 2)
