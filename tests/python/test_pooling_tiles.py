"""Windows of pooling that lie side by side have a derivative in one piece: the same as that of
overlapping ones, which is made of slices; elementwise work on it is done over its points.
"""

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.nn.functional import pooling  # noqa: E402

pytestmark = pytest.mark.cpu
SHAPES = [
    ((2, 3, 4, 6), 2, 0, False), ((2, 3, 5, 7), 2, 0, False), ((2, 3, 5, 7), 3, 1, False),
    ((1, 2, 6, 6), (3, 2), 0, True), ((2, 2, 5, 5), 2, 1, True), ((1, 1, 2, 2), 2, 0, False),
]  # fmt: skip


def by_slices(x, w):
    return pooling.first_largest([w.tap(x, tap) for tap in w.taps()])[0]


def gradients(x, kernel, padding, ceil_mode, device):
    a = tensors.from_numpy(x.copy()).to(device).requires_grad_()
    y = F.max_pool2d(F.relu(a) * 2, kernel, padding=padding, ceil_mode=ceil_mode)
    weight = np.arange(1.0, 1.0 + y.numel()).reshape(tuple(y.shape)).astype(x.dtype)
    (y * tensors.from_numpy(weight).to(device)).sum().backward()
    return [t.detach().to("cpu").numpy() for t in (y, a.grad)]


@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("case", SHAPES)
def test_windows_side_by_side(case, dtype, device, monkeypatch):
    shape, kernel, padding, ceil_mode = case
    x = np.random.default_rng(0).integers(-2, 4, shape).astype(dtype)  # elements tie
    x.flat[0] = np.nan
    found = gradients(x, kernel, padding, ceil_mode, device)
    called = []
    monkeypatch.setattr(
        pooling, "_largest_of_tiles", lambda x, w: called.append(1) or by_slices(x, w)
    )
    expected = gradients(x, kernel, padding, ceil_mode, "cpu")
    assert called
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_second_derivatives():
    x = nb.array(np.random.default_rng(1).permutation(16).reshape(1, 1, 4, 4) / 4)

    def f(x):
        return (F.max_pool2d(x, 2) ** 3).sum()

    def by_hand(x):
        windows = pooling._Windows("max_pool2d", (4, 4), 2, None, 0, 1, False)
        return (by_slices(x, windows) ** 3).sum()

    for order in (nb.grad, lambda f: nb.grad(lambda x: (nb.grad(f)(x) ** 2).sum())):
        np.testing.assert_array_equal(order(f)(x).to_numpy(), order(by_hand)(x).to_numpy())


def test_one_kernel_makes_the_derivative_of_both():
    """The derivative of what was pooled fuses with it over the windows' points."""
    a = tensors.from_numpy(np.random.default_rng(2).standard_normal((2, 2, 6, 6))).to("fenced")
    a.requires_grad_()
    y = F.max_pool2d(F.relu(a), 2).sum()
    y.item()
    text = nb.explain(lambda: y.backward())
    assert text.count("kernel") <= 3, text
