"""`out=` of what makes tensors, NumPy's ufuncs of tensors, and weights in another order."""

import warnings

import numbus as nb
import numpy as np
import pytest
from numbus import nn
from numbus import tensors as T

pytestmark = pytest.mark.numbus
MAKES = {
    "zeros": lambda **o: T.zeros(3, **o), "ones": lambda **o: T.ones((3,), **o),
    "full": lambda **o: T.full((3,), 7, **o), "arange": lambda **o: T.arange(1, 7, 2, **o),
    "linspace": lambda **o: T.linspace(0, 8, 3, **o), "eye": lambda **o: T.eye(3, **o),
    "logspace": lambda **o: T.logspace(0, 2, 3, **o), "randperm": lambda **o: T.randperm(3, **o),
    "randint": lambda **o: T.randint(0, 9, (3,), **o),
    "rand": lambda **o: T.rand(3, **o), "randn": lambda **o: T.randn(3, **o),
    "normal": lambda **o: T.normal(0.0, 2.0, (3,), **o),
}  # fmt: skip
FLOATS = {"rand", "randn", "normal"}


@pytest.mark.parametrize("dtype", [T.float32, T.float64, T.int64])
@pytest.mark.parametrize("name", MAKES)
def test_out(name, dtype):
    make = MAKES[name]
    if name in FLOATS and dtype == T.int64:
        with pytest.raises((RuntimeError, TypeError)):
            make(out=T.zeros(3, dtype=dtype))
        return
    T.manual_seed(3)
    expected = make(dtype=dtype)
    for shape in (tuple(expected.shape), (0,), (2,)):
        out = T.zeros(shape, dtype=dtype)
        T.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if name == "arange" else "error")
            assert make(out=out) is out
        assert out.dtype == dtype and out.tolist() == expected.tolist()


def test_out_of_a_view_and_what_does_not_fit():
    whole = T.zeros(4, 3)
    T.ones(3, out=whole[1])
    assert whole.sum(1).tolist() == [0, 3, 0, 0]
    assert T.ones(3, out=whole[2], dtype=T.float32).requires_grad is False
    with pytest.raises(RuntimeError, match="dtype= is not that of out="):
        T.zeros(3, out=whole[1], dtype=T.float64)
    with pytest.raises(TypeError, match="out= is no tensor"):
        T.zeros(3, out=[1.0])


@pytest.mark.parametrize("n", [4, 5000])
def test_ufuncs(n):
    t = T.arange(float(n), device="cpu")  # of a GPU's, as in PyTorch, NumPy gets nothing
    for made, expected in (
        (nb.sqrt(t), np.sqrt(t.cpu().numpy())), (nb.add(t, 1), t.cpu().numpy() + 1),
        (nb.multiply(nb.ones(n, device="cpu"), t), np.ones(n) * t.cpu().numpy()),
        (nb.isnan(t), np.zeros(n, "u1")),
    ):  # fmt: skip
        assert isinstance(made, T.Tensor)
        a = made.cpu().numpy()
        assert a.dtype == expected.dtype
        np.testing.assert_array_equal(a, expected)
    out = np.empty(n, "f4")
    assert nb.sqrt(t, out=out) is out and out[2] == np.float32(np.sqrt(2))
    with pytest.raises(RuntimeError, match="requires a gradient"):
        nb.sqrt(t.requires_grad_())


def test_modules_in_another_order():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Conv1d(4, 2, 1))
    x = T.randn(2, 3, 6, 6)
    before = net[0](x)
    assert net.to(memory_format="channels_last") is net
    assert net[0].weight.is_contiguous(memory_format="channels_last")
    assert net[2].weight.is_contiguous()
    np.testing.assert_allclose(
        net[0](x).detach().cpu(), before.detach().cpu(), rtol=1e-5, atol=1e-6
    )
    with pytest.raises(TypeError):
        net.to(memory="channels_last")


def test_ufuncs_that_are_composed_take_tensors():
    t = T.tensor([1.0, 2.5], device="cpu")
    assert float(nb.matmul(t, t)) == 7.25
    assert [x.tolist() for x in nb.modf(t)] == [[0, 0.5], [1, 2]]
    assert [x.tolist() for x in nb.divmod(t, t)] == [[1, 1], [0, 0]]


def test_masks_of_bytes_of_either_library():
    t = T.arange(8.0).reshape(4, 2)
    for mask in (np.array([1, 0, 1, 1], "u1"), nb.array([1, 0, 1, 1], "u1")):
        with pytest.warns(UserWarning, match="mask"):
            assert t[mask].tolist() == [[0, 1], [4, 5], [6, 7]]
