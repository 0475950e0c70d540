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


def in_blocks(monkeypatch, block):
    """Has attention take blocks of so many scores, or of the scores of one query."""
    monkeypatch.setitem(attention.LIMITS, "scores", 0)
    monkeypatch.setitem(attention.LIMITS, "block", block)


BLOCKS = [1, 20, 130, 10000]


@pytest.fixture(params=BLOCKS)
def blocks(monkeypatch, request):
    in_blocks(monkeypatch, request.param)


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
    for block in BLOCKS:
        in_blocks(monkeypatch, block)
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
    for block in BLOCKS:
        in_blocks(monkeypatch, block)
        for a, b in zip(found(), expected, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def dropped(words, shapes, dtype, seed=3):
    """Attention with dropout, its derivatives and the random numbers after it."""
    random = np.random.default_rng(seed)
    given = [T.tensor(random.normal(size=s), dtype=dtype).requires_grad_() for s in shapes]
    words = {k: T.tensor(v) if isinstance(v, np.ndarray) else v for k, v in words.items()}
    if "attn_mask" in words and words["attn_mask"].is_floating_point():
        given.append(words["attn_mask"].requires_grad_())
    T.manual_seed(seed)
    T.rand(5)  # so that the stream does not begin with a whole block of numbers
    y = F.scaled_dot_product_attention(*given[:3], dropout_p=0.4, **words)
    (y * T.tensor(random.normal(size=tuple(y.shape)))).sum().backward()
    after = T.rand(11)
    return [t.cpu().numpy() for t in (y.detach(), *[x.grad for x in given], after)]


DROPPED = {
    "plain": {},
    "causal": {"is_causal": True},
    "heads": {"enable_gqa": True, "is_causal": True},
    "truths": {"attn_mask": np.random.default_rng(1).uniform(size=(7, 9)) < 0.7},
    "padding": {"attn_mask": np.random.default_rng(1).uniform(size=(2, 1, 1, 9)) < 0.7},
    "floats": {"attn_mask": np.random.default_rng(2).normal(size=(2, 1, 7, 9))},
    "floats of heads": {"attn_mask": np.random.default_rng(2).normal(size=(4, 1, 9))},
}


@pytest.mark.parametrize("dtype", [T.float32, T.float64, T.bfloat16], ids=str)
@pytest.mark.parametrize("name", DROPPED)
def test_dropout(monkeypatch, name, dtype):
    """Elements that dropout takes out are those of the form without blocks."""
    heads = 2 if name == "heads" else 4
    shapes = [(2, 4, 7, 8), (2, heads, 9, 8), (2, heads, 9, 5)]
    expected = dropped(DROPPED[name], shapes, dtype)
    assert np.isfinite(expected[0].astype(float)).all()
    bound = {T.float32: 2e-6, T.float64: 1e-13, T.bfloat16: 0.02}[dtype]
    for block in BLOCKS:
        in_blocks(monkeypatch, block)
        found = dropped(DROPPED[name], shapes, dtype)
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(
                a.astype(float), b.astype(float), rtol=10 * bound, atol=10 * bound
            )
        np.testing.assert_array_equal(found[-1], expected[-1])


def test_second_derivatives(monkeypatch):
    def found():
        random = np.random.default_rng(1)
        given = [T.tensor(random.normal(size=(2, 5, 3))).requires_grad_() for _ in range(3)]
        T.manual_seed(0)
        y = F.scaled_dot_product_attention(*given, dropout_p=0.3, is_causal=True)
        firsts = T.autograd.grad(y.sin().sum(), given, create_graph=True)
        return T.autograd.grad(sum((g**2).sum() for g in firsts), given)

    expected = [t.cpu().numpy() for t in found()]
    for block in (1, 10, 1000):
        in_blocks(monkeypatch, block)
        for a, b in zip(found(), expected, strict=True):
            np.testing.assert_allclose(a.cpu().numpy(), b, rtol=1e-11, atol=1e-12)


def test_probabilities():
    q = T.ones(1, 4, 2).requires_grad_()
    y = F.scaled_dot_product_attention(q, q, q, dropout_p=1.0)
    assert y.tolist() == [[[0, 0]] * 4]
    for p in (-0.1, 1.5):
        with pytest.raises((ValueError, RuntimeError)):
            F.scaled_dot_product_attention(q, q, q, dropout_p=p)


MEMORY = """
import resource
from numbus import tensors as T
from numbus.nn import functional as F

n = 12288
q, k, v = (T.randn(1, n, 16).requires_grad_() for _ in range(3))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
F.scaled_dot_product_attention(q, k, v, dropout_p=DROPOUT).sum().backward()
q.grad.numpy(), k.grad.numpy(), v.grad.numpy()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory")
@pytest.mark.parametrize("dropout", ["0.0", "0.1"])
def test_memory(tmp_path, dropout):
    """The scores alone would be 576 MiB, and twice that for the derivative."""
    program = MEMORY.replace("DROPOUT", dropout)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=dict(os.environ, NUMBUS_DEVICE="cpu"), timeout=110,
    )  # fmt: skip
    assert float(done.stdout) < 400


def test_masks_of_other_extents(monkeypatch):
    q, k = T.ones(1, 4, 2), T.ones(1, 8, 2)
    in_blocks(monkeypatch, 8)
    for shape in ((4, 16), (4, 4), (3, 8)):
        with pytest.raises((ValueError, RuntimeError)):
            F.scaled_dot_product_attention(q, k, k, attn_mask=T.zeros(shape))
    y = F.scaled_dot_product_attention(q, k, k, attn_mask=T.tensor(True))
    assert y.tolist() == [[[1, 1]] * 4]
