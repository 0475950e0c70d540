"""Layers of Keras that have no values of TensorFlow's here: against sums written out, and against
each other (a transposed convolution is the adjoint of the convolution).
"""

import colorsys
import itertools
import math

import numpy
import pytest

nb = pytest.importorskip("numbus")
from numbus.compat import tensorflow as tf  # noqa: E402

keras, layers = tf.keras, tf.keras.layers
pytestmark = [pytest.mark.numbus]


def drawn(*shape, seed=0):
    return numpy.random.default_rng(seed + sum(shape)).normal(size=shape).astype("f4")


def near(got, expected, scale=1.0):
    assert tuple(got.shape) == tuple(expected.shape)
    numpy.testing.assert_allclose(numpy.asarray(got), expected, rtol=2e-5, atol=3e-5 * scale)


def parts_of(x, kernel, strides, padding, dilation):
    """(position of a result, elements below the kernel) of each window, by indices."""
    sizes, n = x.shape[1:-1], len(kernel)
    if padding == "same":
        lengths = [math.ceil(a / s) for a, s in zip(sizes, strides)]
        total = [max((m - 1) * s + (k - 1) * d + 1 - a, 0)
                 for m, s, k, d, a in zip(lengths, strides, kernel, dilation, sizes)]  # fmt: skip
        before = [t // 2 for t in total]
    elif padding == "causal":
        lengths, before = [math.ceil(sizes[0] / strides[0])], [(kernel[0] - 1) * dilation[0]]
    else:
        lengths = [(a - (k - 1) * d - 1) // s + 1
                   for a, k, d, s in zip(sizes, kernel, dilation, strides)]  # fmt: skip
        before = [0] * n
    for at in itertools.product(*map(range, lengths)):
        found = numpy.zeros((x.shape[0], *kernel, x.shape[-1]))
        for tap in itertools.product(*map(range, kernel)):
            place = [a * s - b + t * d
                     for a, s, b, t, d in zip(at, strides, before, tap, dilation)]  # fmt: skip
            if all(0 <= p < a for p, a in zip(place, sizes)):
                found[(slice(None), *tap)] = x[(slice(None), *place)]
        yield at, lengths, found


CASES = [
    (n, kernel, strides, padding, dilation)
    for n in (1, 2)
    for kernel, strides, dilation in ((3, 1, 1), (2, 2, 1), (3, 2, 1), (2, 3, 1), (3, 1, 2))
    for padding in ("valid", "same", *(("causal",) if n == 1 else ()))
]


@pytest.mark.parametrize("n, kernel, strides, padding, dilation", CASES)
def test_convolutions(n, kernel, strides, padding, dilation):
    x = drawn(2, *((7, 6)[:n]), 4)
    k, s, d = (kernel,) * n, (strides,) * n, (dilation,) * n
    options = {"strides": strides, "padding": padding, "dilation_rate": dilation}
    makers = [(layers.Conv1D, layers.DepthwiseConv1D, layers.SeparableConv1D),
              (layers.Conv2D, layers.DepthwiseConv2D, layers.SeparableConv2D)][n - 1]  # fmt: skip
    made = [makers[0](6, kernel, groups=2, **options),
            makers[1](kernel, depth_multiplier=3, **options),
            makers[2](5, kernel, depth_multiplier=2, **options)]  # fmt: skip
    got = []
    for layer in made:
        layer.build(x.shape)
        for w in layer.weights:
            w.assign(drawn(*w.shape))
        found = layer(x)
        assert layer.compute_output_shape((None, *x.shape[1:])) == (None, *found.shape[1:])
        got.append(found)
    w, b = [v.numpy() for v in made[0].weights]
    own, own_bias = [v.numpy() for v in made[1].weights]
    deep, point, last = [v.numpy() for v in made[2].weights]
    expected = None
    for at, lengths, part in parts_of(x, k, s, padding, d):
        if expected is None:
            expected = [numpy.zeros((2, *lengths, c)) for c in (6, 12, 5)]
        flat = part.reshape(2, -1, 4)
        halves = [flat[..., 2 * g : 2 * g + 2].reshape(2, -1)
                  @ w.reshape(-1, 2, 6)[..., 3 * g : 3 * g + 3].reshape(-1, 3)
                  for g in (0, 1)]  # fmt: skip
        where = (slice(None), *at)
        expected[0][where] = numpy.concatenate(halves, 1) + b
        each = numpy.einsum("btc,tcm->bcm", flat, own.reshape(-1, 4, 3))
        expected[1][where] = each.reshape(2, -1) + own_bias
        each = numpy.einsum("btc,tcm->bcm", flat, deep.reshape(-1, 4, 2))
        expected[2][where] = each.reshape(2, -1) @ point.reshape(8, 5) + last
    for g, e in zip(got, expected):
        near(g, e, 4)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kernel, strides, more", [(3, 1, None), (2, 2, None), (3, 2, None),
                                                   (2, 3, None), (5, 2, 1), (3, 3, 2)])  # fmt: skip
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_transposed_convolutions_are_adjoint(n, kernel, strides, more, padding):
    makers = (layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose)
    straight = (layers.Conv1D, layers.Conv2D, layers.Conv3D)[n - 1]
    back = makers[n - 1](3, kernel, strides, padding, output_padding=more, use_bias=False)
    y = drawn(2, *((4, 5, 3)[:n]), 2)
    made = back(y)
    known = back.compute_output_shape((None, *y.shape[1:]))
    assert known == (None, *made.shape[1:])
    if more is None:
        length = y.shape[1] * strides if padding == "same" else (
            (y.shape[1] - 1) * strides + max(kernel, strides)
        )  # fmt: skip
        assert made.shape[1] == length
    forth = straight(2, kernel, strides, padding, use_bias=False)
    x = drawn(*made.shape)
    forth.build(x.shape)
    forth.kernel.assign(back.kernel)
    there = forth(x)
    assert there.shape == y.shape
    one = float(numpy.vdot(there.numpy().astype("f8"), y))
    assert math.isclose(one, float(numpy.vdot(made.numpy().astype("f8"), x)), rel_tol=1e-4,
                        abs_tol=1e-3)  # fmt: skip
    if n == 2:
        found = tf.nn.conv2d_transpose(y, back.kernel, made.shape, strides, padding.upper())
        near(found, made.numpy())


def test_gradients_of_windows():
    x = tf.constant(drawn(2, 6, 6, 3))
    for layer in (layers.Conv2DTranspose(4, 3, 2, "same"), layers.DepthwiseConv2D(3),
                  layers.SeparableConv2D(4, 3, padding="same")):  # fmt: skip
        layer.build(x.shape)
        c = drawn(*layer(x).shape)
        w = layer.weights[0]
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(x) * c)
        slope = tape.gradient(y, w).numpy()
        step = drawn(*w.shape, seed=3)
        before = w.numpy()
        sides = []
        for sign in (1, -1):
            w.assign(before + sign * 0.5 * step)  # each is linear in its first kernel
            sides.append(float(tf.reduce_sum(layer(x) * c)))
        assert math.isclose(sides[0] - sides[1], float(numpy.vdot(slope, step)), rel_tol=1e-3)


def test_pooling_and_sizes():
    x = drawn(2, 7, 6, 3)
    for padding in ("valid", "same"):
        for kind, name in ((numpy.max, "Max"), (numpy.mean, "Average")):
            line = getattr(layers, f"{name}Pooling1D")(3, 2, padding)(x[:, :, 0])
            wide = getattr(layers, f"{name}Pooling2D")(3, 2, padding)(x)
            for got, a, n in ((line, x[:, :, 0], 1), (wide, x, 2)):
                ones = numpy.where(numpy.isfinite(a), 1.0, 1.0)
                masks = list(parts_of(ones, (3,) * n, (2,) * n, padding, (1,) * n))
                parts = list(parts_of(a, (3,) * n, (2,) * n, padding, (1,) * n))
                for (at, _, part), (_, _, mask) in zip(parts, masks):
                    where = (slice(None), *at)
                    for c, b in itertools.product(range(3), range(2)):
                        kept = part[b, ..., c][mask[b, ..., c] > 0]
                        assert math.isclose(got.numpy()[where][b, c], kind(kept), abs_tol=1e-5)
    near(layers.GlobalMaxPooling2D()(x), x.max((1, 2)))
    near(layers.GlobalMaxPooling1D(keepdims=True)(x[:, 0]), x[:, 0].max(1, keepdims=True))
    near(layers.UpSampling2D((2, 3))(x), x.repeat(2, 1).repeat(3, 2))
    near(layers.UpSampling1D(2)(x[:, 0]), x[:, 0].repeat(2, 1))
    near(layers.UpSampling2D(2, interpolation="bilinear")(x),
         tf.image.resize(x, (14, 12)).numpy())  # fmt: skip
    near(layers.ZeroPadding2D(((1, 2), (0, 3)))(x),
         numpy.pad(x, ((0, 0), (1, 2), (0, 3), (0, 0))))  # fmt: skip
    near(layers.ZeroPadding1D((1, 2))(x[:, 0]), numpy.pad(x[:, 0], ((0, 0), (1, 2), (0, 0))))
    near(layers.Cropping2D(((1, 2), (0, 3)))(x), x[:, 1:5, :3])
    near(layers.Permute((3, 1, 2))(x), x.transpose(0, 3, 1, 2))
    near(layers.RepeatVector(3)(x[:, 0, 0]), x[:, 0, 0][:, None].repeat(3, 1))


def soft(s):
    e = numpy.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_many_heads(causal, masked):
    q, v, k = drawn(2, 5, 6), drawn(2, 7, 8), drawn(2, 7, 4)
    layer = layers.MultiHeadAttention(3, 4, value_dim=2, output_shape=5)
    mask = numpy.random.default_rng(1).random((2, 5, 7)) < 0.7 if masked else None
    options = {"attention_mask": mask, "use_causal_mask": causal}
    got, weights = layer(q, v, k, return_attention_scores=True, **options)
    near(layer(q, v, k, **options), got.numpy())
    assert layer.count_params() == (6 + 1 + 4 + 1) * 12 + (8 + 1) * 6 + 6 * 5 + 5
    wq, bq, wk, bk, wv, bv, wo, bo = [w.numpy().astype("f8") for w in layer.weights]
    project = lambda x, w, b: numpy.einsum("bti,ihd->bhtd", x, w) + b[:, None]  # noqa: E731
    s = project(q, wq, bq) @ project(k, wk, bk).swapaxes(-1, -2) / 2
    seen = numpy.ones((2, 5, 7), bool) if mask is None else mask
    if causal:
        seen = seen & (numpy.arange(5)[:, None] >= numpy.arange(7))
    p = soft(numpy.where(seen[:, None], s, -1e9))
    near(weights, p)
    near(got, numpy.einsum("bhtd,hdo->bto", p @ project(v, wv, bv), wo) + bo)


def test_attention():
    q, v, k = drawn(2, 5, 4), drawn(2, 7, 4), drawn(2, 7, 4, seed=9)
    near(layers.Attention()([q, v, k]), soft(q @ k.swapaxes(1, 2)) @ v)
    layer = layers.Attention(use_scale=True, score_mode="concat")
    layer([q, v])
    layer.scale.assign(0.5), layer.concat_score_weight.assign(2.0)
    p = soft(2 * numpy.tanh((q[:, :, None] + v[:, None]) * 0.5).sum(-1))
    near(layer([q, v]), p @ v)
    layer = layers.AdditiveAttention()
    seen = numpy.random.default_rng(1).random((2, 7)) < 0.6
    first = numpy.random.default_rng(2).random((2, 5)) < 0.6
    got = layer([q, v], mask=[tf.constant(first), tf.constant(seen)])
    p = (numpy.tanh(q[:, :, None] + v[:, None]) * layer.scale.numpy()).sum(-1)
    near(got, soft(p - 1e9 * ~seen[:, None]) @ v * first[..., None])
    ids = tf.constant([[1, 2, 0], [3, 0, 0]])
    x = layers.Embedding(5, 4, mask_zero=True)(ids)
    assert layers.Attention()([x, x])._keras_mask.numpy().tolist() == (ids.numpy() != 0).tolist()


def area(y, p, w, curve):
    """By pairs: the probability that a true one lies above a false one, ties half."""
    above = (p[y == 1][:, None] > p[y == 0]) + 0.5 * (p[y == 1][:, None] == p[y == 0])
    weights = w[y == 1][:, None] * w[y == 0]
    return (above * weights).sum() / weights.sum()


def test_rates_and_areas():
    rng = numpy.random.default_rng(4)
    y = rng.integers(0, 2, 400)
    p = (numpy.floor(numpy.clip(rng.random(400) * 0.7 + y * 0.3, 0, 1) * 99) + 0.5) / 100
    w = rng.random(400).astype("f4")
    metric = keras.metrics.AUC(thresholds=[k / 100 for k in range(1, 100)])
    for part in (slice(0, 150), slice(150, None)):
        metric.update_state(y[part], p[part], sample_weight=w[part])
    assert math.isclose(float(metric.result()), area(y, p, w, "ROC"), abs_tol=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0
    precision, recall = keras.metrics.Precision([0.3, 0.6]), keras.metrics.Recall(0.6)
    precision.update_state(y, p), recall.update_state(y, p, w)
    expected = [y[p > t].mean() for t in (0.3, 0.6)]
    near(precision.result(), numpy.array(expected))
    assert math.isclose(float(recall.result()), w[(p > 0.6) & (y == 1)].sum() / w[y == 1].sum(),
                        rel_tol=1e-5)  # fmt: skip
    metric = keras.metrics.AUC(curve="PR", summation_method="majoring")
    metric.update_state([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert math.isclose(float(metric.result()), 1.0, rel_tol=1e-6)
    logits = keras.metrics.AUC(from_logits=True)
    logits.update_state(y, numpy.log(p / (1 - p)))
    assert math.isclose(float(logits.result()), area(y, p, w * 0 + 1, "ROC"), abs_tol=4e-3)


def test_distinct_elements():
    found = tf.unique_with_counts([5, 1, 5, 3, 1, 5], out_idx="int64")
    assert [t.numpy().tolist() for t in found] == [[5, 1, 3], [0, 1, 0, 2, 1, 0], [3, 2, 1]]
    y, idx = tf.unique(tf.constant([], "float32"))
    assert y.shape == idx.shape == (0,) and idx.dtype == tf.int32
    with pytest.raises(ValueError, match="not one axis"):
        tf.unique([[1, 2]])
    low = tf.constant([-128, 3, 127], "int8")
    assert tf.argsort(low, direction="DESCENDING").numpy().tolist() == [2, 1, 0]


def test_pictures():
    image = tf.constant((numpy.arange(5 * 4 * 3) * 37 % 256).reshape(5, 4, 3).astype("u1"))
    floats = tf.image.convert_image_dtype(image, "float32")
    a = floats.numpy()
    near(floats, image.numpy() / numpy.float32(255))
    near(tf.image.rgb_to_hsv(floats),
         numpy.array([[colorsys.rgb_to_hsv(*p) for p in row] for row in a]))  # fmt: skip
    near(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(floats)), a)
    assert (tf.image.convert_image_dtype(floats, "uint8").numpy() == image.numpy()).all()
    assert (tf.image.adjust_hue(image, 0.0).numpy() == image.numpy()).all()
    bright = tf.image.adjust_brightness(image, 0.5).numpy()
    assert bright.dtype == "u1" and (bright >= image.numpy()).all() and bright.max() == 255
    mean = a.mean((0, 1))
    near(tf.image.adjust_contrast(floats, 2.0), (a - mean) * 2 + mean)
    near(tf.image.rgb_to_grayscale(floats), a @ numpy.array([[0.2989], [0.587], [0.114]]))
    near(tf.image.per_image_standardization(floats), (a - a.mean()) / a.std())
    near(tf.image.resize(floats, (5, 4)), a)
    near(tf.image.resize(floats[:4], (2, 2)), a[:4].reshape(2, 2, 2, 2, 3).mean((1, 3)))
    tall = tf.image.resize(image, (10, 8), method="nearest").numpy()
    assert (tall == image.numpy().repeat(2, 0).repeat(2, 1)).all()
    low = tf.image.resize(image, (3, 2), method="nearest").numpy()
    assert (low == image.numpy()[[0, 2, 4]][:, [1, 3]]).all()
    assert (tf.image.flip_left_right(image).numpy() == image.numpy()[:, ::-1]).all()
    assert (tf.image.flip_up_down(image).numpy() == image.numpy()[::-1]).all()
    assert (tf.image.rot90(image).numpy() == numpy.rot90(image.numpy())).all()
    assert (tf.image.central_crop(image, 0.5).numpy() == image.numpy()[1:4, 1:3]).all()
    other = tf.image.resize_with_crop_or_pad(image, 2, 7).numpy()
    assert (other == numpy.pad(image.numpy()[1:3], ((0, 0), (1, 2), (0, 0)))).all()
    error = ((a - a * 0.5) ** 2).mean()
    assert math.isclose(float(tf.image.psnr(floats, floats * 0.5, 1.0)), -10 * math.log10(error),
                        rel_tol=1e-5)  # fmt: skip
    total = abs(a[1:] - a[:-1]).sum() + abs(a[:, 1:] - a[:, :-1]).sum()
    assert math.isclose(float(tf.image.total_variation(floats)), total, rel_tol=1e-5)
    batch = tf.stack([floats] * 64)
    turned = tf.image.random_flip_left_right(batch).numpy()
    same = [(t == a).all() for t in turned]
    assert 10 < sum(same) < 54
    assert all(s or (t == a[:, ::-1]).all() for s, t in zip(same, turned))
    part = tf.image.random_crop(image, (2, 3, 3)).numpy()
    places = itertools.product(range(4), range(2))
    assert any((part == image.numpy()[i : i + 2, j : j + 3]).all() for i, j in places)
    for change in (lambda x: tf.image.resize(x, (3, 3), method="bicubic"),
                   lambda x: tf.image.resize(x, (3, 3), antialias=True)):  # fmt: skip
        with pytest.raises(NotImplementedError, match="not yet available"):
            change(image)
    with pytest.raises(ValueError, match="not inside"):
        tf.image.crop_to_bounding_box(image, 3, 0, 3, 3)
