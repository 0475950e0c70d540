"""The routine of convolutions against sums over its definition, and its derivatives."""

import itertools

import numbus as nb
import numpy
import pytest
from numbus import _core, tensors
from numbus.core.libraries import offer
from numbus.nn import functional as F

FORWARD, INPUT, WEIGHT = 0, 1, 2
CASES = list(
    itertools.islice(
        itertools.product([(1, 1), (2, 1), (1, 3)], [(0, 0), (1, 2)], [(1, 1), (2, 1)], [1, 2]), 24
    )
)


def shapes(stride, padding, dilation, groups, kernel=(3, 2), space=(9, 8)):
    out = tuple(
        (n + 2 * p - (k - 1) * d - 1) // s + 1
        for n, p, k, d, s in zip(space, padding, kernel, dilation, stride, strict=True)
    )
    return (3, 4, *space), (6, 4 // groups, *kernel), (3, 6, *out)


def expected(kind, a, b, shape, stride, padding, dilation, groups):
    """By the definition, element by element over taps, in float64."""
    given = {FORWARD: (a.shape, b.shape, shape), INPUT: (shape, b.shape, a.shape),
             WEIGHT: (a.shape, shape, b.shape)}[kind]  # fmt: skip
    xs, ws, ys = given
    x = numpy.zeros((xs[0], xs[1], xs[2] + 2 * padding[0], xs[3] + 2 * padding[1]))
    inner = (slice(None), slice(None), slice(padding[0], padding[0] + xs[2]),
             slice(padding[1], padding[1] + xs[3]))  # fmt: skip
    w, y = numpy.zeros(ws), numpy.zeros(ys)
    if kind != INPUT:
        x[inner] = a
    if kind != WEIGHT:
        w[...] = b
    if kind != FORWARD:
        y[...] = a if kind == INPUT else b
    ci, co = xs[1] // groups, ys[1] // groups
    for g, i, j in itertools.product(range(groups), range(ws[2]), range(ws[3])):
        rows = slice(i * dilation[0], i * dilation[0] + (ys[2] - 1) * stride[0] + 1, stride[0])
        cols = slice(j * dilation[1], j * dilation[1] + (ys[3] - 1) * stride[1] + 1, stride[1])
        part = (slice(None), slice(g * ci, (g + 1) * ci), rows, cols)
        outs = (slice(None), slice(g * co, (g + 1) * co))
        tap = (slice(g * co, (g + 1) * co), slice(None), i, j)
        if kind == FORWARD:
            y[outs] += numpy.einsum("ncpq,oc->nopq", x[part], w[tap])
        elif kind == INPUT:
            x[part] += numpy.einsum("nopq,oc->ncpq", y[outs], w[tap])
        else:
            w[tap] += numpy.einsum("ncpq,nopq->oc", x[part], y[outs])
    return {FORWARD: y, INPUT: x[inner], WEIGHT: w}[kind]


@pytest.fixture(autouse=True)
def served(array_device):
    offer("blas")
    offer("cudnn")
    if not _core.convolves(nb.zeros(1), "f4", (1, 1, 1, 1), (1, 1), 1):
        pytest.skip("the device has no library for convolutions")


@pytest.fixture
def array_device():
    return nb.zeros(1).device


def call(kind, a, b, shape, form):
    stride, padding, dilation, groups = form
    return _core.convolve(
        kind, a, b, list(shape), list(stride), list(padding), list(dilation), groups
    )


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
@pytest.mark.parametrize("form", CASES, ids=str)
def test_values(form, kind, dtype):
    rng = numpy.random.default_rng(7)
    xs, ws, ys = shapes(*form)
    first, second, shape = {FORWARD: (xs, ws, ys), INPUT: (ys, ws, xs), WEIGHT: (xs, ys, ws)}[kind]
    a, b = (rng.standard_normal(s).astype(dtype) for s in (first, second))
    got = call(kind, nb.asarray(a), nb.asarray(b), shape, form)
    want = expected(kind, a, b, shape, *form)
    assert got.dtype == dtype and got.shape == shape
    numpy.testing.assert_allclose(
        got.to_numpy(), want, rtol=0, atol=(2e-5 if dtype == "f4" else 1e-12) * abs(want).max()
    )


def try_all_kinds(rng, seed, form, xs, ws, ys):
    """The convolution and its derivatives of random elements, in one of the two dtypes."""
    dtype = str(rng.choice(["f4", "f8"]))
    for kind, (a, b, shape) in enumerate([(xs, ws, ys), (ys, ws, xs), (xs, ys, ws)]):
        a, b = (rng.standard_normal(s).astype(dtype) for s in (a, b))
        got = call(kind, nb.asarray(a), nb.asarray(b), shape, form).to_numpy()
        want = expected(kind, a, b, shape, *form)
        numpy.testing.assert_allclose(
            got, want, rtol=0, err_msg=f"seed {seed}, kind {kind}",
            atol=(2e-5 if dtype == "f4" else 1e-12) * max(abs(want).max(), 1),
        )  # fmt: skip


@pytest.mark.parametrize("first", range(0, 90, 10))
def test_random_shapes(first):
    """Channels, groups and extents of all sizes, margins wider than filters, one image or many."""
    for seed in range(first, first + 10):
        rng = numpy.random.default_rng(seed)
        groups = int(rng.choice([1, 1, 2, 5]))
        each_in, each_out = (int(k) for k in rng.integers(1, [20, 30]))
        stride, dilation = (tuple(rng.integers(1, 4, 2).tolist()) for _ in range(2))
        kernel, padding = rng.integers(1, 5, 2), tuple(rng.integers(0, 6, 2).tolist())
        least = numpy.maximum((kernel - 1) * dilation + 1 - 2 * numpy.array(padding), 1)
        space = (least + rng.integers(0, 40, 2)).tolist()
        form = (stride, padding, dilation, groups)
        _, _, (_, _, *out) = shapes(*form, tuple(kernel.tolist()), tuple(space))
        n = int(rng.choice([1, 1, 2, 5]))
        xs = (n, each_in * groups, *space)
        ws = (each_out * groups, each_in, *kernel.tolist())
        ys = (n, each_out * groups, *out)
        try_all_kinds(rng, seed, form, xs, ws, ys)


def try_small(seed):
    """Images of few elements, where strides, margins or taps may have no effect."""
    rng = numpy.random.default_rng(seed)
    groups = int(rng.choice([1, 1, 1, 2]))
    each_in, each_out = (int(k) for k in rng.choice([1, 2, 5, 8], 2))
    stride, padding = tuple(rng.integers(1, 4, 2).tolist()), tuple(rng.integers(0, 3, 2).tolist())
    dilation, kernel = tuple(rng.integers(1, 3, 2).tolist()), rng.integers(1, 3, 2)
    least = numpy.maximum((kernel - 1) * dilation + 1 - 2 * numpy.array(padding), 1)
    space = (least + rng.integers(0, 4, 2)).tolist()
    form = (stride, padding, dilation, groups)
    _, _, (_, _, *out) = shapes(*form, tuple(kernel.tolist()), tuple(space))
    xs, ws = (2, each_in * groups, *space), (each_out * groups, each_in, *kernel.tolist())
    ys = (2, each_out * groups, *out)
    try_all_kinds(rng, seed, form, xs, ws, ys)


def test_small_shapes():
    for seed in range(200):
        try_small(seed)


@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize("form", [(2**31, 0, 1), (10**6, 0, 1), (1, 10**5, 10**5), (7, 3, 1)])
def test_large_strides_and_dilations(form, channels):
    """Memory is that of the image and of the result, whatever lies between elements that meet."""
    s, p, d = form
    form, space = ((s, s), (p, p), (d, d), channels), (5, 6)
    _, _, (_, _, *out) = shapes(*form, (3, 3), space)
    xs, ws, ys = (2, channels, *space), (channels, 1, 3, 3), (2, channels, *out)
    rng = numpy.random.default_rng(1)
    x, w, y = (rng.standard_normal(shape) for shape in (xs, ws, ys))
    # What a tap meets is found by itself: expected() would make the margins.
    at = numpy.arange(3)
    for kind, (a, b, shape) in enumerate([(x, w, ys), (y, w, xs), (x, y, ws)]):
        want = numpy.zeros(shape)
        for i, j in numpy.ndindex(3, 3):
            for oh, ow in numpy.ndindex(*out):
                ih, iw = oh * s - p + at[i] * d, ow * s - p + at[j] * d
                if not (0 <= ih < space[0] and 0 <= iw < space[1]):
                    continue
                if kind == FORWARD:
                    want[:, :, oh, ow] += x[:, :, ih, iw] * w[:, 0, i, j]
                elif kind == INPUT:
                    want[:, :, ih, iw] += y[:, :, oh, ow] * w[:, 0, i, j]
                else:
                    want[:, 0, i, j] += (x[:, :, ih, iw] * y[:, :, oh, ow]).sum(axis=0)
        got = call(kind, nb.asarray(a), nb.asarray(b), shape, form).to_numpy()
        numpy.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
@pytest.mark.parametrize("channels", [1, 8])
def test_infinite_elements_reach_their_results_only(kind, channels):
    """As by the definition without the products with zeros around the image."""
    form = ((1, 1), (0, 0), (1, 1), channels)
    xs, ws, ys = (2, channels, 9, 8), (channels, 1, 3, 2), (2, channels, 7, 7)
    first, second, shape = {FORWARD: (xs, ws, ys), INPUT: (ys, ws, xs), WEIGHT: (xs, ys, ws)}[kind]
    rng = numpy.random.default_rng(1)
    a, b = (rng.standard_normal(s) for s in (first, second))
    a[0, 0, 2, -1] = numpy.inf
    want = expected(kind, a, b, shape, *form)
    got = call(kind, nb.asarray(a), nb.asarray(b), shape, form).to_numpy()
    numpy.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
def test_derivatives(kind):
    """Each kind is linear in both operands, so that differences are exact but for rounding."""
    rng = numpy.random.default_rng(3)
    form = ((2, 1), (1, 2), (1, 2), 2)
    xs, ws, ys = shapes(*form)
    first, second, shape = {FORWARD: (xs, ws, ys), INPUT: (ys, ws, xs), WEIGHT: (xs, ys, ws)}[kind]
    a, b, weight = (nb.asarray(rng.standard_normal(s)) for s in (first, second, shape))

    def total(a, b):
        return (call(kind, a, b, shape, form) * weight).sum()

    found = nb.grad(total, argnums=(0, 1))(a, b)
    for k, g in enumerate(found):
        step = nb.asarray(rng.standard_normal(g.shape))
        moved = [a, b]
        moved[k] = moved[k] + step
        change = float(total(*moved) - total(a, b))
        assert change == pytest.approx(float((g * step).sum()), rel=1e-9)

    def squares(a, b):
        first, second = nb.grad(total, argnums=(0, 1))(a, b)
        return (first * first).sum() + (second * second).sum()

    second = nb.grad(squares, argnums=(0, 1))(a, b)
    for k, g in enumerate(second):
        step = nb.asarray(rng.standard_normal(g.shape)) * 1e-4
        up, down = [a, b], [a, b]
        up[k], down[k] = up[k] + step, down[k] - step
        change = float(squares(*up) - squares(*down)) / 2
        assert change == pytest.approx(float((g * step).sum()), rel=1e-6)


def test_bits_do_not_depend_on_threads():
    rng = numpy.random.default_rng(5)
    x = nb.asarray(rng.standard_normal((40, 3, 12, 12), dtype="f4"))
    y = nb.asarray(rng.standard_normal((40, 5, 10, 10), dtype="f4"))
    form = ((1, 1), (0, 0), (1, 1), 1)
    results = {call(WEIGHT, x, y, (5, 3, 3, 3), form).to_numpy().tobytes() for _ in range(5)}
    assert len(results) == 1


def test_empty_and_mistaken_operands():
    form = ((1, 1), (0, 0), (1, 1), 1)
    none = call(WEIGHT, nb.zeros((0, 2, 5, 5)), nb.zeros((0, 3, 3, 3)), (3, 2, 3, 3), form)
    assert none.shape == (3, 2, 3, 3) and not none.any()
    with pytest.raises(ValueError, match="four axes"):
        call(FORWARD, nb.zeros((2, 5, 5)), nb.zeros((3, 2, 3, 3)), (1, 3, 3, 3), form)


@pytest.mark.parametrize("seed", range(20))
def test_weights_of_few_inputs_elsewhere_than_on_the_host(seed):
    """There their derivative is a product with the windows of the input."""
    draw = numpy.random.default_rng(seed).integers
    batch, inputs, outputs = draw(1, 6), draw(1, 5), draw(1, 7)
    kernel, stride, dilation = draw(1, 5, 2), draw(1, 4, 2), draw(1, 3, 2)
    padding, extents = draw(0, 4, 2), draw(7, 13, 2)
    x = numpy.random.default_rng(seed).standard_normal((inputs, batch, *extents)).swapaxes(0, 1)
    w = numpy.random.default_rng(seed).standard_normal((outputs, inputs, *kernel))
    found = []
    for device in ("cpu", "fenced"):
        a = tensors.from_numpy(x).to(device)
        b = tensors.from_numpy(w).to(device).requires_grad_()
        form = {"stride": stride, "padding": padding, "dilation": dilation}
        y = F.conv2d(a, b, **{key: tuple(int(n) for n in v) for key, v in form.items()})
        (y * y).sum().backward()
        found.append(b.grad.to("cpu").numpy())
    numpy.testing.assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-10)
