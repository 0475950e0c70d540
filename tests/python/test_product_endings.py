"""Products with bias and activation in one call of a library, on devices apart from the host."""

import itertools

import numbus as nb
import numpy as np
import pytest
from numbus.nn import functional
from numbus.tensors import from_numpy

DEVICES = ["fenced"]
if nb.cuda.is_available():
    DEVICES.append("cuda")


@pytest.fixture(autouse=True)
def host():
    """What names no device lies on the host."""
    with nb.device("cpu"):
        yield


OTHERS = ["product", "sum", "both", "transposed bias", "row bias", "strided", "out", "double",
          "twice", "other activation", "unaligned"]  # fmt: skip


def _same(device, got, want):
    if device == "fenced":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-4)


def _arrays(device, *arrays):
    return [from_numpy(a).to(device) for a in arrays]


def _numbers(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s, dtype="f4") for s in shapes]


def _operations(tensor):
    text = str(nb.explain(tensor._array))
    lines = text.splitlines()
    return [line.split("operation", 1)[1].strip() for line in lines if "operation " in line]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activated", [False, True])
@pytest.mark.parametrize("shape", [(1, 3), (4, 7), (64, 784), (5, 3, 16), (2, 2, 3, 8), (33, 129)])
@pytest.mark.parametrize("columns", [1, 2, 10, 65, 512])
def test_layers(device, activated, shape, columns):
    x, w, b = _numbers(1, shape, (columns, shape[-1]), columns)
    want = functional.linear(*[from_numpy(a) for a in (x, w, b)])
    got = functional.linear(*_arrays(device, x, w, b))
    if activated:
        want, got = functional.relu(want), functional.relu(got)
    want.numpy()  # so that nothing else is pending
    asked = _operations(got)
    if columns > 1:
        assert asked == ["matmul, add, relu" if activated else "matmul, add"]
    else:
        assert "matmul, add" not in asked
    _same(device, got.cpu().numpy(), want.numpy())


@pytest.mark.parametrize("device", DEVICES)
def test_negative_zero_and_nan(device):
    x = np.array([[np.nan, 1], [-1, 0], [np.inf, -np.inf], [-0.0, 0]], "f4")
    w, b = np.eye(2, dtype="f4"), np.array([-0.0, 0.0], "f4")
    got = functional.relu(functional.linear(*_arrays(device, x[:2], w, b))).cpu().numpy()
    with np.errstate(invalid="ignore"):
        sums = x[:2] @ w + b
    np.testing.assert_array_equal(got, np.where(sums <= 0, np.float32(0), sums))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kept", OTHERS)
def test_what_is_no_ending(device, kept):
    x, w, b = _numbers(2, (8, 16), (16, 12), 12)
    t = "f8" if kept == "double" else "f4"
    X, W, B = [nb.array(a.astype(t)).to_device(device) for a in (x, w, b)]
    x, w, b = x.astype(t), w.astype(t), b.astype(t)
    product = X @ W
    if kept == "product":
        total = product + B
        nb.synchronize()
        _same(device, np.asarray(total.to_device("cpu")), x @ w + b)
        _same(device, np.asarray(product.to_device("cpu")), x @ w)
    elif kept in ("sum", "both"):
        total = product + B
        result = nb._core.relu(total)
        if kept == "sum":
            del product
        _same(device, np.asarray(result.to_device("cpu")), np.maximum(x @ w + b, 0))
        _same(device, np.asarray(total.to_device("cpu")), x @ w + b)
    elif kept == "transposed bias":
        column = nb.array(x[:, :1]).to_device(device)
        _same(device, np.asarray((product + column).to_device("cpu")), x @ w + x[:, :1])
    elif kept == "row bias":
        whole = nb.array(np.tile(b, (8, 1))).to_device(device)
        _same(device, np.asarray((product + whole).to_device("cpu")), x @ w + b)
    elif kept == "strided":
        spread = nb.array(np.repeat(b, 2)).to_device(device)[::2]
        _same(device, np.asarray((product + spread).to_device("cpu")), x @ w + b)
    elif kept == "out":
        X[:, :12] = product + B
        want = x.copy()
        want[:, :12] = x @ w + b
        _same(device, np.asarray(X.to_device("cpu")), want)
    elif kept == "double":
        got = np.asarray((product + B).to_device("cpu"))
        np.testing.assert_allclose(got, x @ w + b, rtol=1e-12)
    elif kept == "twice":
        _same(device, np.asarray((product + product).to_device("cpu")), 2 * (x @ w))
    elif kept == "other activation":
        got = np.asarray(nb.tanh(product + B).to_device("cpu"))
        np.testing.assert_allclose(got, np.tanh(x @ w + b), rtol=1e-4, atol=1e-5)
    else:
        long = nb.array(np.concatenate([b[:1], b])).to_device(device)[1:]
        _same(device, np.asarray((product + long).to_device("cpu")), x @ w + b)


@pytest.mark.parametrize("device", DEVICES)
def test_what_changes_in_between(device):
    x, w, b = _numbers(3, (8, 16), (16, 12), 12)
    X, W, B = [nb.array(a).to_device(device) for a in (x, w, b)]
    product = X @ W
    X[...] = 0
    total = product + B
    B[...] = 7
    result = nb._core.relu(total)
    W[...] = 1
    del product, total
    _same(device, np.asarray(result.to_device("cpu")), np.maximum(x @ w + b, 0))
    assert (np.asarray(B.to_device("cpu")) == 7).all()
    assert (np.asarray(X.to_device("cpu")) == 0).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(12))
def test_random_nets(device, seed):
    """Forward and backward passes of layers, whose order and use are random, as on the host."""
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 40, 4)
    rows = int(rng.integers(1, 30))
    x = rng.standard_normal((rows, widths[0]), dtype="f4")
    layers = [(rng.standard_normal((n, m), dtype="f4"), rng.standard_normal(n, dtype="f4"))
              for m, n in itertools.pairwise(widths)]  # fmt: skip
    choices = rng.integers(0, 5, len(layers))

    def run(where):
        leaves = [[from_numpy(a).to(where).requires_grad_() for a in pair] for pair in layers]
        y, kept = from_numpy(x).to(where), []
        for (w, b), choice in zip(leaves, choices, strict=True):
            y = functional.linear(y, w, b)
            if choice == 1:
                kept.append(y)
            if choice != 2:
                y = functional.relu(y)
            if choice == 3:
                y = y + y.mean()
            if choice == 4:
                kept.append(y)
        total = y.sum() + sum((k * k).mean() for k in kept)
        total.backward()
        return [total.detach()] + [t.grad for pair in leaves for t in pair]

    for got, want in zip(run(device), run("cpu"), strict=True):
        np.testing.assert_allclose(got.cpu().numpy(), want.numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(not nb.cuda.is_available(), reason="16-bit products are a GPU's")
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("extents", [(64, 128, 256), (40, 16, 8), (8, 4096, 64)])
def test_sixteen_bits_are_rounded_once(kind, extents):
    rows, inner, columns = extents
    rng = np.random.default_rng(4)
    t = getattr(nb.tensors, kind)
    x, w, b = [from_numpy(rng.standard_normal(s, dtype="f4")).to("cuda").to(t)
               for s in ((rows, inner), (columns, inner), (columns,))]  # fmt: skip
    got = functional.relu(functional.linear(x, w, b)).float().cpu().numpy()
    wide = [t.float().cpu().numpy().astype("f8") for t in (x, w, b)]
    exact = np.maximum(wide[0] @ wide[1].T + wide[2], 0)
    step = 2.0 ** (-11 if kind == "float16" else -8)
    size = np.abs(wide[0]) @ np.abs(wide[1].T) + np.abs(wide[2])
    assert (np.abs(got - exact) <= step * exact + 1e-6 * size + 1e-7).all()
