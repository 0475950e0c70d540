"""The argument order= wherever NumPy has it: all orders, both cases, all layouts, strides too."""

import numpy as np
import pytest
from helpers import assert_same_outcome, outcome

ORDERS = ["C", "F", "A", "K", "c", "f", "a", "k", None, b"F", "X", "CF", "", 1]
LAYOUTS = {
    "C": lambda xp: xp.array(np.arange(24.0).reshape(2, 3, 4)),
    "F": lambda xp: xp.array(np.arange(24.0).reshape(4, 3, 2)).T,
    "transposed": lambda xp: xp.array(np.arange(24.0).reshape(2, 3, 4)).transpose(1, 0, 2),
    "strided": lambda xp: xp.array(np.arange(96.0).reshape(4, 6, 4))[::2, ::2],
    "negative": lambda xp: xp.array(np.arange(24.0).reshape(2, 3, 4))[::-1, :, ::-1],
    "2-d F": lambda xp: xp.array(np.arange(6.0).reshape(2, 3)).T,
    "1-d": lambda xp: xp.array(np.arange(12.0))[::2],
    "0-d": lambda xp: xp.array(3.0),
    "empty": lambda xp: xp.array(np.zeros((0, 3))),
    "one": lambda xp: xp.array(np.ones((1, 3, 1))),
}
OF_ARRAY = {
    "reshape": lambda xp, a, order: xp.reshape(a, -1, order=order),
    "reshape 2-d": lambda xp, a, order: xp.reshape(a, (a.shape[0] if a.ndim else 1, -1), order),
    "method reshape": lambda xp, a, order: a.reshape(-1, order=order),
    "method reshape 2-d": lambda xp, a, order: a.reshape(2, a.size // 2, order=order),
    "reshape copy": lambda xp, a, order: xp.reshape(a, (-1, 1), order=order, copy=True),
    "reshape no copy": lambda xp, a, order: xp.reshape(a, (-1, 1), order=order, copy=False),
    "method reshape no copy": lambda xp, a, order: a.reshape((-1, 1), order=order, copy=False),
    "ravel": lambda xp, a, order: xp.ravel(a, order=order),
    "method ravel": lambda xp, a, order: a.ravel(order),
    "flatten": lambda xp, a, order: a.flatten(order),
    "method copy": lambda xp, a, order: a.copy(order),
    "copy": lambda xp, a, order: xp.copy(a, order=order),
    "array": lambda xp, a, order: xp.array(a, order=order),
    "array if needed": lambda xp, a, order: xp.array(a, copy=None, order=order),
    "asarray": lambda xp, a, order: xp.asarray(a, order=order),
    "asanyarray": lambda xp, a, order: xp.asanyarray(a, order=order),
    "asarray_chkfinite": lambda xp, a, order: xp.asarray_chkfinite(a, order=order),
    "astype": lambda xp, a, order: a.astype("float32", order=order),
    "astype same": lambda xp, a, order: a.astype("float64", order=order, copy=False),
    "tobytes": lambda xp, a, order: a.tobytes(order),
    "zeros_like": lambda xp, a, order: xp.zeros_like(a, order=order),
    "ones_like": lambda xp, a, order: xp.ones_like(a, order=order),
    "full_like": lambda xp, a, order: xp.full_like(a, 2, order=order),
    "full_like shape": lambda xp, a, order: xp.full_like(a, 2, order=order, shape=(3, 2)),
    "zeros_like shape": lambda xp, a, order: xp.zeros_like(a, order=order, shape=(2, 3, 4)),
    "negative": lambda xp, a, order: xp.negative(a, order=order),
    "add": lambda xp, a, order: xp.add(a, a, order=order),
    "add broadcast": lambda xp, a, order: xp.add(a, xp.ones((5, 1, 1, 1)), order=order),
    "add C": lambda xp, a, order: xp.add(a, a.copy(), order=order),
    "where": lambda xp, a, order: xp.multiply(a, 2.0, out=xp.zeros(a.shape), order=order),
}
SHAPED = {
    "zeros": lambda xp, order: xp.zeros((2, 3), order=order),
    "ones": lambda xp, order: xp.ones((2, 3), "int8", order),
    "full": lambda xp, order: xp.full((2, 3, 4), 7, order=order),
    "full of an array": lambda xp, order: xp.full((2, 3), xp.arange(3), order=order),
    "empty": lambda xp, order: xp.empty((2, 3), order=order) * 0,
    "eye": lambda xp, order: xp.eye(3, 4, order=order),
    "nested": lambda xp, order: xp.array([[1, 2, 3], [4, 5, 6]], order=order),
    "nested floats": lambda xp, order: xp.array([[1.5, 2], [4, 5], [6, 7]], "f4", order=order),
}


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OF_ARRAY)
def test_of_an_array(xp, name, layout, order):
    call = OF_ARRAY[name]
    source, subject = LAYOUTS[layout](np), LAYOUTS[layout](xp)
    want = outcome(lambda: call(np, source, order))
    got = outcome(lambda: call(xp, subject, order))
    assert_same_outcome(got, want, what=f"{name} {layout} {order!r}")
    if not isinstance(want, np.ndarray) or want.size == 0:
        return
    # A view sees what is written to its source, a copy does not.
    shares = np.shares_memory(want, source)
    before = np.asarray(got).copy()
    subject[...] = -1
    assert (np.asarray(got) == before).all() != shares, f"{name} {layout} {order!r}: shares memory"


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@pytest.mark.parametrize("name", SHAPED)
def test_of_a_shape(xp, name, order):
    call = SHAPED[name]
    want, got = outcome(lambda: call(np, order)), outcome(lambda: call(xp, order))
    assert_same_outcome(got, want, what=f"{name} {order!r}")
    if isinstance(want, np.ndarray):
        assert (got.base is None, got.flags.owndata) == (want.base is None, want.flags.owndata)


@pytest.mark.parametrize("order", "CFAK")
def test_numbers_have_no_order(xp, order):
    """A number has the methods, and refuses the orders that NumPy's do."""
    number, real = xp.array([1.5, 2.0]).sum(), np.float64(3.5)
    for method in ("copy", "ravel", "flatten"):
        want = outcome(lambda m=method: getattr(real, m)(order))
        assert_same_outcome(outcome(lambda m=method: getattr(number, m)(order)), want)
    assert isinstance(outcome(lambda: number.copy("X")), ValueError)
