"""The calls of torch.nn.functional whose results and gradients are recorded, as tables."""

from inputs import Case, Drawn, named


def normal(*shape, **more):
    return Drawn("normal", shape, **more)


def ties(*shape):
    return Drawn("ties", shape)


def large(*shape):
    return Drawn("large", shape)


def classes(high, *shape):
    return Drawn("classes", shape, high=high)


CASES = []


def add(function, inputs, *keywords, dtypes=("float64",)):
    for words in keywords or ({},):
        for dtype in dtypes:
            CASES.append(Case(function, inputs, words, dtype))


BOTH = ("float64", "float32")

# Activations: plain elements, elements at kinks, elements where exponentials overflow.
ACTIVATIONS = {
    "relu": [{}], "relu6": [{}], "leaky_relu": [{}, {"negative_slope": 0.3}],
    "elu": [{}, {"alpha": 0.4}], "celu": [{}, {"alpha": 2.0}], "selu": [{}],
    "gelu": [{}, {"approximate": "tanh"}], "silu": [{}], "mish": [{}], "sigmoid": [{}],
    "logsigmoid": [{}], "tanh": [{}], "softplus": [{}, {"beta": 2.0, "threshold": 1.0}],
    "softsign": [{}], "hardtanh": [{}, {"min_val": -2.0, "max_val": 1.0}], "hardsigmoid": [{}],
    "hardswish": [{}], "tanhshrink": [{}], "softshrink": [{}, {"lambd": 1.0}],
    "hardshrink": [{}, {"lambd": 1.0}],
}  # fmt: skip
for function, words in ACTIVATIONS.items():
    for drawn in (normal(3, 4), ties(7), large(5), normal()):
        add(function, [drawn], *words)
    add(function, [normal(2, 3)], {}, dtypes=("float32",))
add("threshold", [ties(3, 4), 0.0, 5.0])
add("prelu", [ties(2, 3, 2), normal(3)])
add("prelu", [normal(2, 3), normal(1)])
add("glu", [normal(2, 6)], {}, {"dim": 0})
for function in ("softmax", "log_softmax", "softmin"):
    for drawn in (normal(3, 4), ties(3, 4), large(3, 4)):
        add(function, [drawn], {"dim": 1}, {"dim": 0}, {"dim": -1})
    add(function, [normal(2, 3, 4)], {"dim": 1}, {"dim": -3})
    add(function, [normal(5)], {"dim": 0}, dtypes=BOTH)
    add(function, [normal()], {"dim": 0})

# Losses.
REDUCTIONS = [{"reduction": word} for word in ("none", "mean", "sum")]


def reductions(**words):
    return [{**words, **reduction} for reduction in REDUCTIONS]


for function, words in {
    "mse_loss": [{}], "l1_loss": [{}], "smooth_l1_loss": [{}, {"beta": 0.4}, {"beta": 0.0}],
    "huber_loss": [{}, {"delta": 0.6}], "poisson_nll_loss": [{}],
}.items():  # fmt: skip
    for word in words:
        add(function, [normal(3, 4), normal(3, 4)], *reductions(**word))
    add(function, [ties(9), ties(9)], {})
    add(function, [normal(2, 3), normal(2, 3)], {}, dtypes=("float32",))
add("poisson_nll_loss", [Drawn("positive", (4,)), Drawn("positive", (4,))], {"log_input": False})
# By negative targets PyTorch's derivative of the formula for log(t!) is NaN.
add("poisson_nll_loss", [normal(9), Drawn("ties", (9,), gradient=False)], *reductions(full=True))
add("mse_loss", [normal(3, 4), normal(3, 4)], {"weight": Drawn("positive", (3, 4), gradient=False)})
UNIT = Drawn("unit", (3, 4))
add("binary_cross_entropy", [UNIT, UNIT], *reductions())
add("binary_cross_entropy", [UNIT, UNIT], {"weight": Drawn("positive", (4,), gradient=False)})
for drawn in (normal(3, 4), Drawn("large", (3, 4))):
    add("binary_cross_entropy_with_logits", [drawn, UNIT], *reductions())
    add(
        "binary_cross_entropy_with_logits",
        [drawn, UNIT],
        {
            "weight": Drawn("positive", (3, 4), gradient=False),
            "pos_weight": Drawn("positive", (4,), gradient=False),
        },
    )
add(
    "kl_div",
    [normal(3, 4), Drawn("probabilities", (3, 4))],
    *reductions(),
    {"reduction": "batchmean"},
)
add("kl_div", [normal(3, 4), normal(3, 4)], *reductions(log_target=True))
add("kl_div", [normal(6), ties(6)], {"log_target": True})
SPACES = ((), (2,), (2, 3))
for function in ("nll_loss", "cross_entropy"):
    for space in SPACES:
        pair = [normal(4, 3, *space), classes(3, 4, *space)]
        weight = Drawn("positive", (3,), gradient=False)
        add(function, pair, *reductions(), *reductions(weight=weight))
        add(function, pair, *reductions(ignore_index=1, weight=weight), {"ignore_index": 2})
    add(function, [normal(3), classes(3)], *REDUCTIONS)
    add(function, [normal(2, 3), classes(3, 2)], {}, dtypes=("float32",))
for space in SPACES:
    pair = [normal(4, 3, *space), classes(3, 4, *space)]
    words = [*reductions(label_smoothing=0.2), *reductions(label_smoothing=0.2, weight=weight)]
    add(
        "cross_entropy", pair, *words, {"label_smoothing": 0.1, "ignore_index": 1, "weight": weight}
    )
    add("cross_entropy", pair, {"label_smoothing": 0.1, "ignore_index": 1})
    pair = [normal(4, 3, *space), Drawn("probabilities", (4, 3, *space))]
    add("cross_entropy", pair, *reductions(), *reductions(weight=weight, label_smoothing=0.3))
add("cross_entropy", [large(4, 3), classes(3, 4)])
add("cross_entropy", [normal(3), Drawn("probabilities", (3,))])
add("soft_margin_loss", [normal(5), Drawn("signs", (5,))], *REDUCTIONS)
add("hinge_embedding_loss", [normal(5), Drawn("signs", (5,))], *reductions(margin=0.7))
add("margin_ranking_loss", [normal(5), normal(5), Drawn("signs", (5,))], *reductions(margin=0.2))
add(
    "cosine_embedding_loss",
    [normal(4, 3), normal(4, 3), Drawn("signs", (4,))],
    *reductions(margin=0.1),
)
add("cosine_similarity", [normal(4, 3), normal(4, 3)], {}, {"dim": 0})
add("pairwise_distance", [normal(4, 3), normal(4, 3)], {}, {"p": 1.0}, {"keepdim": True})
add("triplet_margin_loss", [normal(4, 3)] * 3, *REDUCTIONS, {"swap": True, "margin": 0.5})
add(
    "gaussian_nll_loss",
    [normal(4, 3), normal(4, 3), Drawn("positive", (4, 3))],
    *reductions(),
    {"full": True},
)

# Products with weights.
for x in ((3,), (2, 3), (2, 2, 3)):
    add("linear", [normal(*x), normal(4, 3)], {}, {"bias": normal(4)}, dtypes=BOTH)
add("linear", [normal(2, 3), normal(3)])
add("bilinear", [normal(2, 3), normal(2, 4), normal(2, 3, 4)], {}, {"bias": normal(2)})

# Convolutions.
STRIDED = [
    {}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"padding": "same"}, {"padding": "valid"},
    {"stride": 2, "padding": 2, "dilation": 2}, {"padding": "same", "dilation": 2},
]  # fmt: skip
add("conv1d", [normal(2, 2, 7), normal(3, 2, 3)], *STRIDED, {"bias": normal(3)}, {"stride": 3})
add("conv1d", [normal(2, 7), normal(3, 2, 2)], {}, {"padding": "same"})
add("conv1d", [normal(2, 4, 5), normal(6, 2, 3)], {"groups": 2, "bias": normal(6)})
add("conv1d", [normal(1, 4, 5), normal(4, 1, 3)], {"groups": 4, "padding": 1})
add("conv2d", [normal(2, 2, 6, 5), normal(2, 2, 3, 2)], *STRIDED[:4], {"bias": normal(2)})
add("conv2d", [normal(1, 2, 6, 5), normal(2, 2, 3, 2)], *STRIDED[4:])
add("conv2d", [normal(1, 2, 5, 6), normal(2, 2, 2, 3)], {"stride": (2, 1), "padding": (0, 2)})
add("conv2d", [normal(2, 5, 4), normal(3, 2, 1, 1)], {})
add("conv2d", [normal(2, 4, 4, 4), normal(4, 2, 2, 2)], {"groups": 2}, {"groups": 2, "stride": 2})
add("conv2d", [normal(1, 3, 4, 4), normal(6, 1, 3, 3)], {"groups": 3, "padding": 1})
add("conv2d", [normal(2, 2, 4, 4), normal(2, 2, 3, 3)], {"bias": normal(2)}, dtypes=("float32",))
add("conv3d", [normal(1, 2, 3, 4, 3), normal(2, 2, 2, 2, 2)], {}, {"padding": 1, "stride": 2})
TRANSPOSED = [
    {}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"stride": 2, "output_padding": 1},
    {"stride": 3, "padding": 2, "output_padding": 2, "dilation": 2},
]  # fmt: skip
add("conv_transpose1d", [normal(2, 3, 4), normal(3, 2, 3)], *TRANSPOSED, {"bias": normal(2)})
add("conv_transpose1d", [normal(2, 4, 4), normal(4, 2, 2)], {"groups": 2, "stride": 2})
add("conv_transpose2d", [normal(1, 2, 3, 4), normal(2, 2, 3, 2)], *TRANSPOSED[:5])
add(
    "conv_transpose2d",
    [normal(1, 2, 3, 4), normal(2, 2, 3, 2)],
    {"bias": normal(2), "stride": (2, 1)},
)
add("conv_transpose2d", [normal(2, 3, 3), normal(2, 3, 2, 2)], {"groups": 2, "padding": (1, 0)})
add("conv_transpose3d", [normal(1, 2, 2, 2, 2), normal(2, 1, 2, 2, 2)], {"stride": 2})
add("unfold", [normal(1, 2, 4, 5), (2, 3)], {}, {"padding": 1, "stride": 2}, {"dilation": (2, 1)})
add("fold", [normal(1, 12, 9), (4, 5), (2, 3)], {})
add("fold", [normal(12, 9), (4, 5), (2, 3)], {"padding": 1, "stride": 2})

# Margins.
for alone in ((), (4,)):
    weight = Drawn("positive", (3,), gradient=False)
    pair = [normal(*alone, 3), classes(3, *alone)]
    for words in ({}, {"p": 2}, {"margin": 0.5}, {"weight": weight}, {"p": 2, "weight": weight}):
        add("multi_margin_loss", pair, *reductions(**words))
    sets = Drawn("classes", (*alone, 3), high=3)
    add("multilabel_margin_loss", [normal(*alone, 3), sets], *REDUCTIONS)
    add("multilabel_margin_loss", [ties(*alone, 3), sets], *REDUCTIONS)
    ones = Drawn("classes", (*alone, 3), high=2)
    add("multilabel_soft_margin_loss", [normal(*alone, 3), ones], *reductions(),
        *reductions(weight=weight))  # fmt: skip
three = [normal(4, 3), normal(4, 3), normal(4, 3)]
add("triplet_margin_with_distance_loss", three, *reductions(), {"swap": True}, {"margin": 0.3})

# Pooling.
for drawn in (normal(2, 2, 7), ties(2, 2, 7), normal(2, 8)):
    add("max_pool1d", [drawn, 2], {}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})
    add("max_pool1d", [drawn, 3], {"dilation": 2, "stride": 2, "padding": 1}, {"stride": 3})
    add("avg_pool1d", [drawn, 2], {}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})
    add("avg_pool1d", [drawn, 3], {"stride": 2, "padding": 1, "count_include_pad": False})
    add("avg_pool1d", [drawn, 3], {"stride": 2, "padding": 1, "ceil_mode": True})
for drawn in (normal(1, 2, 6, 5), ties(1, 2, 6, 5), ties(2, 5, 6)):
    add("max_pool2d", [drawn, 2], {}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})
    add("max_pool2d", [drawn, 3], {"stride": 2, "padding": 1}, {"stride": 1, "dilation": (2, 1)})
    add("max_pool2d", [drawn, (2, 3)], {"return_indices": True}, {"padding": (0, 1)})
    add("max_pool2d", [drawn, 3], {"return_indices": True, "padding": 1, "ceil_mode": True})
    add("avg_pool2d", [drawn, 2], {}, {"stride": 1}, {"padding": 1}, {"ceil_mode": True})
    add("avg_pool2d", [drawn, 3], {"stride": 2, "padding": 1, "ceil_mode": True})
    add("avg_pool2d", [drawn, 3], {"stride": 2, "padding": 1, "count_include_pad": False})
    add("avg_pool2d", [drawn, 3], {"stride": 2, "padding": 1, "divisor_override": 5})
    add("adaptive_avg_pool2d", [drawn, 1], {})
    for size in (2, (3, 5), (None, 2), (4, 3)):
        add("adaptive_avg_pool2d", [drawn, size], {})
    add("adaptive_max_pool2d", [drawn, (4, 3)], {}, {"return_indices": True})
add("max_pool2d", [ties(1, 1, 9, 8), (7, 6)], {"stride": 1})
add("max_pool2d", [normal(1, 1, 9, 8), (7, 6)], {"stride": 2, "padding": 3})
add("max_pool3d", [ties(1, 1, 4, 4, 4), 2], {})
add("avg_pool3d", [normal(1, 1, 4, 4, 4), 2], {}, {"stride": 1})
for size in (1, 3, 4):
    add("adaptive_avg_pool1d", [normal(2, 2, 6), size], {})
    add("adaptive_max_pool1d", [ties(2, 2, 6), size], {})
add("adaptive_avg_pool3d", [normal(1, 1, 4, 3, 2), (2, 1, 2)], {})
add("lp_pool1d", [Drawn("positive", (1, 2, 6)), 2.0, 2], {})
add("lp_pool2d", [Drawn("positive", (1, 1, 4, 4)), 2.0, 2], {})
add("lp_pool3d", [Drawn("positive", (1, 1, 4, 4, 2)), 3.0, 2], {}, {"stride": 1})
for drawn in (normal(1, 2, 5, 4, 6), ties(2, 5, 4, 6)):
    add("adaptive_max_pool3d", [drawn, (3, 2, 4)], {}, {"return_indices": True})
for drawn, size, samples in (
    (normal(2, 3, 7, 6), (3, 4), (2, 3, 2)), (ties(3, 7, 6), (6, 1), (1, 3, 2)),
    (normal(2, 1, 5, 4, 6), (2, 2, 4), (2, 1, 3)), (ties(2, 5, 4, 6), (3, 1, 2), (1, 2, 3)),
):  # fmt: skip
    words = {"_random_samples": Drawn("unit", samples, gradient=False), "return_indices": True}
    function = f"fractional_max_pool{samples[-1]}d"
    ratio = {**words, "output_ratio": (0.5, 0.7, 0.4)[: samples[-1]]}
    add(function, [drawn, 2], {**words, "output_size": size}, ratio, dtypes=BOTH)

# Normalisation. What running statistics become is compared among the modules.
STATISTICS = [Drawn("normal", (3,), gradient=False), Drawn("positive", (3,), gradient=False)]
for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 3)):
    for words in ({}, {"weight": normal(3), "bias": normal(3)}, {"eps": 0.1}):
        add("batch_norm", [normal(*shape), *STATISTICS], words, {**words, "training": True})
    add("batch_norm", [normal(*shape), None, None], {"training": True})
    affine = {"weight": normal(shape[-1]), "bias": normal(shape[-1])}
    add("layer_norm", [normal(*shape), (shape[-1],)], {}, affine, {"eps": 0.1})
    add("rms_norm", [normal(*shape), (shape[-1],)], {}, {"weight": normal(shape[-1]), "eps": 1e-3})
    groups = {"weight": normal(3), "bias": normal(3)}
    add("group_norm", [normal(*shape), 3 if len(shape) > 2 else 1], {}, groups)
    add("normalize", [normal(*shape)], {}, {"dim": 0}, {"p": 1.0}, {"p": 3.0, "dim": -1})
add("batch_norm", [normal(4, 3), None, None], {"training": True}, dtypes=("float32",))
add("layer_norm", [normal(2, 3, 4), (3, 4)], {}, {"weight": normal(3, 4), "bias": normal(3, 4)})
add("layer_norm", [normal(2, 5), (5,)], {}, dtypes=("float32",))
add("group_norm", [normal(2, 4, 3), 2], {"weight": normal(4), "bias": normal(4)}, {"eps": 0.1})
add("instance_norm", [normal(2, 3, 4)], {}, {"weight": normal(3), "bias": normal(3)})
add("instance_norm", [normal(2, 3, 2, 2), *STATISTICS], {"use_input_stats": False})
add("local_response_norm", [normal(2, 5, 3), 3], {}, {"alpha": 0.5, "beta": 0.6, "k": 2.0})

# Embedding, one_hot, pad.
add("embedding", [classes(5, 2, 3), normal(5, 4)], {}, {"padding_idx": 2}, {"padding_idx": -1})
add("embedding", [classes(5, 6), normal(5, 2)], {}, dtypes=("float32",))
add("embedding", [classes(5), normal(5, 2)], {})
add("one_hot", [classes(4, 2, 3)], {}, {"num_classes": 6})
for mode in ("reflect", "replicate", "circular"):
    add("pad", [normal(2, 2, 5), (2, 3)], {"mode": mode})
    add("pad", [normal(1, 2, 4, 5), (2, 1, 0, 3)], {"mode": mode})
for width in ((1, 2), (0, 1, 2, 0), (1, 1, 0, 2, 3, 0), (-1, 2), (-1, -1, 1, -2)):
    add("pad", [normal(2, 4, 5), width], {}, {"value": 1.5})

# Other extents.
RESIZED = {3: normal(1, 2, 5), 4: normal(1, 2, 3, 4), 5: normal(1, 1, 2, 3, 2)}
for ndim, drawn in RESIZED.items():
    line = ["linear", "bilinear", "trilinear"][ndim - 3]
    for mode in ("nearest", "nearest-exact", "area", line):
        add("interpolate", [drawn], {"size": 4, "mode": mode}, {"scale_factor": 2, "mode": mode})
        add("interpolate", [drawn], {"scale_factor": 1.7, "mode": mode})
    for words in ({"size": 1}, {"size": 7}, {"scale_factor": 0.6}, {"scale_factor": 2.5}):
        add("interpolate", [drawn], {**words, "mode": line, "align_corners": True})
        add(
            "interpolate",
            [drawn],
            {**words, "mode": line, "recompute_scale_factor": "size" not in words},
        )
add("interpolate", [normal(1, 2, 5, 4), (3, 9)], {"mode": "nearest"}, {"mode": "bilinear"})
for size in ((3, 9), (2, 2), (1, 1), (8, 3)):
    for words in ({"mode": "bicubic"}, {"mode": "bicubic", "align_corners": True}):
        add("interpolate", [normal(1, 2, 5, 4), size], words, {**words, "antialias": True})
    add("interpolate", [normal(1, 2, 5, 4), size], {"mode": "bilinear", "antialias": True})
add("interpolate", [normal(2, 1, 6, 5)], {"scale_factor": (0.6, 1.7), "mode": "bicubic"})
add("pixel_shuffle", [normal(2, 8, 2, 3), 2])
add("pixel_unshuffle", [normal(2, 4, 6), 2])
add("channel_shuffle", [normal(1, 6, 2, 2), 3])
for function in ("relu_", "leaky_relu_", "elu_", "celu_", "selu_", "hardtanh_"):
    add(function, [Drawn("normal", (3, 4), gradient=False)], {})

# Attention.
QKV = [normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 3)]
add("scaled_dot_product_attention", QKV, {}, {"is_causal": True}, {"scale": 0.3})
add(
    "scaled_dot_product_attention",
    QKV,
    {"attn_mask": Drawn("bools", (3, 5))},
    {"attn_mask": Drawn("bools", (2, 3, 5))},
    {"attn_mask": normal(3, 5)},
)
add("scaled_dot_product_attention", [normal(2, 2, 3, 4)] * 3, {"is_causal": True}, dtypes=BOTH)
add(
    "scaled_dot_product_attention",
    [normal(1, 4, 3, 4), normal(1, 2, 3, 4), normal(1, 2, 3, 4)],
    {"enable_gqa": True},
)
add("scaled_dot_product_attention", [large(3, 4), large(3, 4), normal(3, 2)], {})

CASES = named(CASES)
