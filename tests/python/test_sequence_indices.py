"""Sequences that are no lists as indices, also of what is differentiated, and masks of bytes."""

import array

import numbus as nb
import numpy as np
import pytest
from numbus import tensors as T

pytestmark = pytest.mark.numbus
INDICES = {
    "range": range(0, 4, 2), "backwards": range(3, -1, -1), "nothing": range(0),
    "with a slice": (range(2), slice(None)), "two": (range(3), range(3)),
    "second": (slice(None), range(0, 3, 2)), "with a list": (range(2), [0, 1]),
    "with a number": (range(2), 1), "array.array": array.array("l", [1, 2]),
    "tuple": ((0, 1),), "tuples": ((0, 1), (1, 2)), "with an array": (np.array([0, 1]), range(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", INDICES)
def test_arrays_and_tensors(name):
    index, a = INDICES[name], np.arange(12.0).reshape(4, 3)
    expected, slope = a[index], np.zeros((4, 3))
    slope[index] = expected * 2
    np.testing.assert_array_equal(nb.asarray(a)[index], expected)
    np.testing.assert_array_equal(nb.grad(lambda x: (x[index] ** 2).sum())(nb.asarray(a)), slope)
    t = T.tensor(a).requires_grad_()
    y = t[index]
    np.testing.assert_array_equal(y.detach().cpu().numpy(), expected)
    (y**2).sum().backward()
    np.testing.assert_array_equal(t.grad.cpu().numpy(), slope)
    changed, written = a.copy(), T.tensor(a)
    changed[index] = written[index] = -1
    np.testing.assert_array_equal(written.cpu().numpy(), changed)

    def filled(v):
        x = nb.zeros((4, 3))
        x[index] = v
        return (x * nb.asarray(a)).sum()

    np.testing.assert_array_equal(nb.grad(filled)(nb.asarray(2.0)), expected.sum())


@pytest.mark.parametrize("of", [lambda m: T.tensor(m), lambda m: m])
def test_bytes_are_masks(of):
    """PyTorch takes tensors of uint8 for masks, and warns."""
    t = T.arange(12.0).reshape(4, 3).requires_grad_()
    mask = of(np.array([1, 0, 1, 0], np.uint8))
    with pytest.warns(UserWarning, match="uint8 are a mask"):
        y = t[mask]
    assert y.tolist() == [[0, 1, 2], [6, 7, 8]]
    y.sum().backward()
    assert t.grad.sum(1).tolist() == [3, 0, 3, 0]
    z = T.zeros(4)
    with pytest.warns(UserWarning):
        z[mask] = T.tensor([1.0, 2.0])
    assert z.tolist() == [1, 0, 2, 0]
