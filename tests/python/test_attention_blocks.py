"""Attention without storing all scores: PyTorch's recorded results with blocks of few keys, of
modules too, and the memory that it takes.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import test_nn_functional as recorded

nb = pytest.importorskip("numbus")
from numbus import nn  # noqa: E402
from numbus import tensors as T  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.nn.functional import attention  # noqa: E402

pytestmark = pytest.mark.numbus
NAMES = [name for name in recorded.CASES if name.startswith("scaled_dot_product_attention")]


@pytest.fixture(params=[1, 2, 3])
def blocks(monkeypatch, request):
    monkeypatch.setitem(attention.LIMITS, "scores", 0)
    monkeypatch.setitem(attention.LIMITS, "keys", request.param)


@pytest.mark.parametrize("name", NAMES)
def test_results(blocks, name):
    recorded.test_of_arrays(name)
    recorded.test_of_tensors(name)


def attended(heads, rows, columns, masks):
    random = np.random.RandomState(0)
    net = nn.MultiheadAttention(8, heads, batch_first=True).double()
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor(random.normal(size=tuple(p.shape))))
    q = T.tensor(random.normal(size=(2, rows, 8)), requires_grad=True)
    k = T.tensor(random.normal(size=(2, columns, 8)), requires_grad=True)
    words = {}
    if masks:
        words["attn_mask"] = T.tensor(random.uniform(size=(rows, columns)) < 0.3)
        words["key_padding_mask"] = T.tensor(random.uniform(size=(2, columns)) < 0.3)
    y, _ = net(q, k, k, need_weights=False, **words)
    (y * T.tensor(random.normal(size=tuple(y.shape)))).sum().backward()
    return [t.cpu().numpy() for t in (y.detach(), q.grad, k.grad, net.in_proj_weight.grad)]


@pytest.mark.parametrize("masks", [False, True])
def test_modules(monkeypatch, masks):
    expected = attended(2, 7, 9, masks)
    monkeypatch.setitem(attention.LIMITS, "scores", 0)
    monkeypatch.setitem(attention.LIMITS, "keys", 4)
    for a, b in zip(attended(2, 7, 9, masks), expected):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


SHAPES = [(7, 8), (1, 8), (7, 1), (3, 7, 8), (3, 1, 1), (2, 1, 7, 8), (2, 3, 7, 8), (8,), (1,), ()]


@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_by_masks(monkeypatch, shape):
    def found():
        random = np.random.default_rng(1)
        shapes = ((2, 3, 7, 4), (2, 3, 8, 4), (2, 3, 8, 5), shape)
        given = [T.tensor(random.normal(size=s)).requires_grad_() for s in shapes]
        y = F.scaled_dot_product_attention(*given)
        (y * T.tensor(random.normal(size=tuple(y.shape)))).sum().backward()
        return [t.cpu().numpy() for t in (y.detach(), *[x.grad for x in given])]

    expected = found()
    monkeypatch.setitem(attention.LIMITS, "scores", 0)
    monkeypatch.setitem(attention.LIMITS, "keys", 3)
    for a, b in zip(found(), expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


MEMORY = """
import resource
from numbus import tensors as T
from numbus.nn import functional as F

n = 12288
q, k, v = (T.randn(1, n, 16).requires_grad_() for _ in range(3))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
F.scaled_dot_product_attention(q, k, v).sum().backward()
q.grad.numpy(), k.grad.numpy(), v.grad.numpy()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory")
def test_memory(tmp_path):
    """The scores alone would be 576 MiB, and twice that for the derivative."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=dict(os.environ, NUMBUS_DEVICE="cpu"), timeout=110,
    )  # fmt: skip
    assert float(done.stdout) < 400


def test_masks_of_other_extents(monkeypatch):
    q, k = T.ones(1, 4, 2), T.ones(1, 8, 2)
    monkeypatch.setitem(attention.LIMITS, "scores", 0)
    monkeypatch.setitem(attention.LIMITS, "keys", 4)
    for shape in ((4, 16), (4, 4), (3, 8)):
        with pytest.raises((ValueError, RuntimeError)):
            F.scaled_dot_product_attention(q, k, k, attn_mask=T.zeros(shape))
    y = F.scaled_dot_product_attention(q, k, k, attn_mask=T.tensor(True))
    assert y.tolist() == [[[1, 1]] * 4]
