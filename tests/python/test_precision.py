"""How precisely products and convolutions of float32 are computed."""

import contextlib

import numbus as nb
import numpy as np
import pytest
from numbus import _core, nn
from numbus.compat import torch
from numbus.compat.torch import backends


@contextlib.contextmanager
def precision(word):
    nb.set_float32_matmul_precision(word)
    try:
        yield
    finally:
        nb.set_float32_matmul_precision("highest")


def on_gpu():
    return nb.asarray([1.0]).device.startswith("cuda")


def test_words():
    assert nb.get_float32_matmul_precision() == "highest"
    for word in ("medium", "high", "highest"):
        with precision(word):
            assert nb.get_float32_matmul_precision() == word
    with pytest.raises(ValueError, match=r"\[set_float32_matmul_precision\] unknown precision"):
        nb.set_float32_matmul_precision("low")
    assert nb.get_float32_matmul_precision() == "highest"


def test_torchs_names():
    assert torch.get_float32_matmul_precision() == "highest"
    with pytest.raises(RuntimeError, match="unknown precision"):
        torch.set_float32_matmul_precision("low")
    assert not backends.cudnn.allow_tf32
    try:
        backends.cudnn.allow_tf32 = True
        assert _core.tf32() == (False, True)
        assert torch.get_float32_matmul_precision() == "highest"
        backends.cuda.matmul.allow_tf32 = True
        assert _core.tf32() == (True, True)
        assert torch.get_float32_matmul_precision() == "high"
        backends.cudnn.allow_tf32 = False
        assert _core.tf32() == (True, False)
        torch.set_float32_matmul_precision("highest")
        assert not backends.cuda.matmul.allow_tf32
    finally:
        nb.set_float32_matmul_precision("highest")


def error_of_product(dtype="f4"):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((256, 512)).astype(dtype) for _ in range(2))
    exact = a.astype("f8") @ b.astype("f8").T
    got = np.asarray(nb.asarray(a) @ nb.asarray(b).T)
    assert got.dtype == dtype
    return np.abs(got - exact).max() / np.abs(exact).max()


def error_of_convolution(channels, image=12):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((8, channels, image, image)).astype("f4")
    w = rng.standard_normal((32, channels, 3, 3)).astype("f4")
    results = []
    for dtype in ("f8", "f4"):
        a, b = (torch.tensor(v.astype(dtype)) for v in (x, w))
        if on_gpu():
            a, b = a.cuda(), b.cuda()
        a.requires_grad_(), b.requires_grad_()
        y = nn.functional.conv2d(a, b)
        (y * y).sum().backward()
        results.append([t.detach().cpu().numpy() for t in (y, a.grad, b.grad)])
    return [np.abs(p - q).max() / np.abs(p).max() for p, q in zip(*results, strict=True)]


def test_products_follow_the_setting():
    # float32 has 24 bits, TF32 11; a sum of 512 products is off by some units of the last place.
    assert error_of_product() < 1e-6
    with precision("high"):
        coarse = error_of_product()
        assert error_of_product("f8") < 1e-13
    assert (1e-5 < coarse < 2e-3) if on_gpu() else coarse < 1e-6
    assert error_of_product() < 1e-6


@pytest.mark.parametrize("channels", [1, 32])
def test_convolutions_follow_the_setting(channels):
    assert max(error_of_convolution(channels)) < 1e-5
    with precision("medium"):
        coarse = error_of_convolution(channels)
    assert max(coarse) < (5e-3 if on_gpu() else 1e-5)
    if on_gpu() and channels == 32:
        assert max(coarse) > 2e-5
    assert max(error_of_convolution(channels)) < 1e-5


def test_what_is_pending_keeps_its_precision():
    if not on_gpu():
        pytest.skip("TF32 needs a GPU")
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((128, 128)).astype("f4") for _ in range(2))
    x, y = nb.asarray(a), nb.asarray(b)
    with precision("high"):
        coarse = x @ y
    fine = x @ y
    exact = a.astype("f8") @ b.astype("f8")
    scale = np.abs(exact).max()
    assert np.abs(np.asarray(coarse) - exact).max() / scale > 1e-5
    assert np.abs(np.asarray(fine) - exact).max() / scale < 1e-6


def test_recorded_steps_follow_the_setting():
    if not on_gpu():
        pytest.skip("TF32 needs a GPU")
    rng = np.random.default_rng(3)
    w = torch.tensor(rng.standard_normal((128, 128)).astype("f4")).cuda()
    x = torch.tensor(rng.standard_normal((128, 128)).astype("f4")).cuda()
    step = nb.compile(lambda v: v @ w)
    exact = (x.double() @ w.double()).cpu().numpy()

    def error():
        return np.abs(step(x).cpu().numpy() - exact).max() / np.abs(exact).max()

    assert max(error() for _ in range(6)) < 1e-6
    with precision("high"):
        assert min(error() for _ in range(6)) > 1e-5
    assert max(error() for _ in range(6)) < 1e-6
