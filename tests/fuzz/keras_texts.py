"""The programs of keras_calls.py: texts of layers, losses, optimizers with random arguments."""

from calls import Draw

ACTIVATIONS = """relu sigmoid tanh softplus elu selu softsign silu swish exponential gelu softmax
    log_softmax leaky_relu relu6 linear hard_sigmoid hard_silu mish hard_tanh celu glu squareplus
    soft_shrink hard_shrink tanh_shrink log_sigmoid sparse_plus hard_swish threshold
    sparse_sigmoid""".split()
EACH = [a for a in ACTIVATIONS if a != "glu"]
REGULARIZERS = ["'l1'", "'l2'", "keras.regularizers.L1L2(0.02, 0.03)", "keras.regularizers.L2(0.1)"]


class Texts(Draw):
    """Random arguments of Keras's names."""

    def some(self, chance, text):
        return text if self.rng.random() < chance else ""

    def activation(self, chance=0.5):
        return self.some(chance, f", activation='{self.pick(*EACH)}'")

    def rest(self, *weights):
        """Options that many layers have."""
        names = [*[f"{w}_regularizer" for w in weights], "activity_regularizer"]
        return self.some(0.15, f", {self.pick(*names)}={self.pick(*REGULARIZERS)}")

    def bias(self):
        return self.some(0.2, ", use_bias=False")

    def x(self, *shape, kind="any"):
        self.operands.append([[int(n) for n in shape], kind])
        return f"a[{len(self.operands) - 1}]"

    def some_of(self, n, *limits):
        """One number for all axes, or one for each."""
        return self.pick(self.int(*limits), tuple(self.sizes(*[limits] * n)))


def dense(d):
    n = d.int(1, 4)
    d.x(d.int(1, 3), *d.sizes(*[(1, 3)] * d.int(0, 2)), n)
    return f"layers.Dense({d.int(1, 4)}{d.activation()}{d.bias()}{d.rest('kernel', 'bias')})"


def convolution(d):
    n = d.pick(1, 1, 2, 2, 3)
    groups = d.pick(1, 1, 2)
    ins, outs = groups * d.int(1, 2), groups * d.int(1, 2)
    d.x(d.int(1, 2), *d.sizes(*[(3, 7)] * n), ins)
    padding = d.pick("valid", "same", "SAME", *["causal"] * (n == 1))
    strides = d.some_of(n, 1, 2)
    apart = d.some_of(n, 1, 2) if strides in (1, (1,) * n) else 1
    kernel = d.some_of(n, 1, 3) if apart == 1 else d.some_of(n, 1, 2)
    how = f"strides={strides}, padding='{padding}', dilation_rate={apart}"
    more = f"{d.activation(0.3)}{d.bias()}"
    kind = d.rng.random()
    if kind < 0.4:
        rest = d.rest("kernel", "bias")
        return f"layers.Conv{n}D({outs}, {kernel}, {how}, groups={groups}{more}{rest})"
    if kind < 0.7 or n == 3:
        padding = d.pick("valid", "same")
        extra = d.some(0.2, ", output_padding=0") if padding == "valid" else ""
        how = f"strides={strides}, padding='{padding}', dilation_rate={apart}{extra}"
        return f"layers.Conv{n}DTranspose({outs}, {kernel}, {how}{more}{d.rest('kernel', 'bias')})"
    padding = "valid" if padding == "causal" else padding.lower()
    strides = d.int(1, 2) if apart == 1 else 1
    deep = d.int(1, 3)
    how = f"strides={strides}, padding='{padding}', dilation_rate={apart}, depth_multiplier={deep}"
    if kind < 0.85:
        return f"layers.DepthwiseConv{n}D({kernel}, {how}{more}{d.rest('depthwise', 'bias')})"
    rest = d.rest("depthwise", "pointwise", "bias")
    return f"layers.SeparableConv{n}D({outs}, {kernel}, {how}{more}{rest})"


def pooling(d):
    n = d.int(1, 3)
    d.x(d.int(1, 2), *d.sizes(*[(3, 6)] * n), d.int(1, 3))
    if d.rng.random() < 0.3:
        keep = d.some(0.4, f"keepdims={d.flag()}")
        return f"layers.Global{d.pick('Max', 'Average')}Pooling{n}D({keep})"
    if d.rng.random() < 0.1:
        return f"layers.Adaptive{d.pick('Max', 'Average')}Pooling{n}D({d.some_of(n, 1, 3)})"
    strides = d.pick("None", d.some_of(n, 1, 3))
    kind = d.pick("Max", "Average")  # Keras on PyTorch counts elements beside the input in means
    padding = d.pick("valid", "same") if kind == "Max" else "valid"
    how = f"{d.some_of(n, 1, 3)}, strides={strides}, padding='{padding}'"
    return f"layers.{kind}Pooling{n}D({how})"


def normalisation(d):
    shape = d.sizes((2, 4), *[(1, 4)] * d.int(0, 2), (1, 4))
    d.x(*shape)
    axis = d.some(0.4, f", axis={d.pick(*range(1, len(shape)), -1)}")
    axes = d.some(0.4, f", axis={d.pick(1, -1, [-1], list(range(1, len(shape))))}")
    epsilon, flags = d.pick(1e-3, 1e-5), f"center={d.flag()}, scale={d.flag()}"
    flags = d.pick("center=True", flags)
    if d.rng.random() < 0.5:
        d.keywords["training"] = d.pick("True", "False", "None")
        momentum = d.pick(0.99, 0.7)
        frozen = d.some(0.15, ", trainable=False")
        return (
            f"layers.BatchNormalization({flags}, momentum={momentum}, epsilon={epsilon}{axis}"
            f"{frozen}{d.rest('gamma', 'beta')})"
        )
    group = d.pick(1, shape[-1], -1)
    return d.pick(
        f"layers.LayerNormalization({flags}, epsilon={epsilon}{axes}{d.rest('gamma', 'beta')})",
        f"layers.LayerNormalization({flags}, epsilon={epsilon}{axes})",
        f"layers.UnitNormalization({axes[2:]})", f"layers.RMSNormalization(epsilon={epsilon})",
        f"layers.GroupNormalization({group}, {flags}, epsilon={epsilon})",
    )  # fmt: skip


def recurrent(d, wrapped=False):
    kind, units = d.pick("LSTM", "GRU", "SimpleRNN"), d.int(1, 3)
    backwards = d.flag() and (not wrapped or d.rng.random() < 0.1)
    how = f"{units}, return_sequences={d.flag()}, go_backwards={backwards}{d.bias()}"
    how += d.some(0.2, f", activation='{d.pick('relu', 'sigmoid', 'linear')}'")
    if kind != "SimpleRNN":
        how += d.some(0.2, f", recurrent_activation='{d.pick('tanh', 'hard_sigmoid')}'")
    if kind == "GRU":
        how += d.some(0.4, f", reset_after={d.flag()}")
    if kind == "LSTM":
        how += d.some(0.3, f", unit_forget_bias={d.flag()}")
    how += d.some(0.2, ", unroll=True") + d.some(0.1, ", stateful=True")
    how += d.some(0.1, ", dropout=0.5") + d.some(0.1, ", recurrent_dropout=0.0")
    more = d.rest("kernel", "recurrent", "bias")
    how += more if kind != "SimpleRNN" or "activity" not in more else ""  # which Keras drops
    if not wrapped:
        if d.rng.random() < 0.2:
            how, d.rule = f"{how}, return_state=True", False
        how += d.some(0.2, ", zero_output_for_mask=True")
    return f"layers.{kind}({how})"


def sequence(d):
    batch, steps = d.int(1, 3), d.int(1, 4)
    d.x(batch, steps, d.int(1, 3))
    if d.rng.random() < 0.4:
        d.keywords["mask"] = f"tensor({d.x(batch, steps, kind=d.pick('bool', 'mask'))})"
        d.hidden += 1
    kind = d.rng.random()
    if kind < 0.55:
        return recurrent(d)
    if kind < 0.85:
        mode = d.pick("'concat'", "'sum'", "'mul'", "'ave'", "None")
        return f"layers.Bidirectional({recurrent(d, True)}, merge_mode={mode})"
    if kind < 0.9:
        cell = d.pick("LSTMCell", "GRUCell", "SimpleRNNCell")
        d.keywords.pop("mask", None)
        return f"layers.RNN(layers.{cell}({d.int(1, 3)}), return_sequences={d.flag()})"
    d.keywords.pop("mask", None)
    inner = d.pick(f"Dense({d.int(1, 3)})", "LayerNormalization()", "Activation('tanh')")
    return f"layers.TimeDistributed(layers.{inner})"


def embedding(d):
    n = d.int(2, 5)
    d.x(*d.sizes((1, 3), (1, 4)), kind=f"index:{n}")
    zero = d.some(0.4, f", mask_zero={d.flag()}")
    made = f"layers.Embedding({n}, {d.int(1, 3)}{zero}{d.rest('embeddings')})"
    return made


def attention(d):
    batch, queries, keys = d.int(1, 2), d.int(1, 4), d.int(1, 4)
    width = d.int(1, 4)
    if d.rng.random() < 0.5:
        d.x(batch, queries, width), d.x(batch, keys, d.int(1, 4))
        if d.flag():
            d.x(batch, keys, d.int(1, 4))
        if d.rng.random() < 0.3:
            d.keywords["attention_mask"] = f"tensor({d.x(batch, queries, keys, kind='mask')})"
            d.hidden += 1
        d.keywords |= d.pick({}, {}, {"use_causal_mask": "True"},
                             {"return_attention_scores": "True"})  # fmt: skip
        more = d.some(0.3, f", value_dim={d.int(1, 3)}") + d.some(0.2, ", output_shape=2")
        more += d.bias() + d.rest("kernel", "bias") + d.some(0.1, ", dropout=0.4")
        d.rule = False
        return f"layers.MultiHeadAttention({d.int(1, 3)}, {d.int(1, 3)}{more})"
    d.joined = True
    d.x(batch, queries, width), d.x(batch, keys, width)
    if d.flag():
        d.x(batch, keys, width)
    count = len(d.operands)
    d.keywords |= d.pick({}, {}, {"use_causal_mask": "True"}, {"return_attention_scores": "True"})
    if d.rng.random() < 0.4:
        masks = [d.x(batch, n, kind="mask") for n in (queries, keys)]
        masks += [d.x(batch, keys, kind="mask")] * (count == 3)
        d.hidden += len(d.operands) - count
        d.keywords["mask"] = f"[{', '.join(f'tensor({m})' for m in masks)}]"
    d.rule = False
    return d.pick(
        f"layers.Attention(use_scale={d.flag()}, score_mode='{d.pick('dot', 'concat')}')",
        f"layers.AdditiveAttention(use_scale={d.flag()})",
    )


def merging(d):
    d.joined = True
    shape, count = d.sizes(*[(1, 4)] * d.int(2, 4)), d.int(2, 3)
    kind = d.pick("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate",
                  "Dot")  # fmt: skip
    axis = d.pick(-1, *range(1, len(shape)))
    if kind == "Subtract" or kind == "Dot":
        count = 2
    for _ in range(count):
        own = list(shape)
        if kind == "Concatenate":
            own[axis] = d.int(1, 3)
        elif kind != "Dot" and d.rng.random() < 0.2:
            own[d.int(1, len(own) - 1)] = 1
        elif kind not in ("Dot", "Subtract") and len(own) > 2 and d.rng.random() < 0.2:
            del own[1]
        d.x(*own)
    if kind == "Concatenate":
        return f"layers.Concatenate({d.pick(f'axis={axis}', f'{axis}')})"
    if kind == "Dot":
        return f"layers.Dot({d.pick(f'axes={axis}', f'axes=({axis}, {axis})')}" + (
            f"{d.some(0.4, ', normalize=True')})"
        )
    return f"layers.{kind}()"


def shaping(d):
    n = d.int(1, 3)
    shape = d.sizes(*[(2, 4)] * n)
    d.x(d.int(1, 3), *shape, d.int(1, 3))
    whole = [*shape, d.operands[0][0][-1]]
    pairs = d.pick(d.int(0, 1), tuple(d.sizes(*[(0, 1)] * n)), tuple(
        [tuple(d.sizes((0, 1), (0, 1))) for _ in shape]))  # fmt: skip
    if n == 1:
        pairs = d.pick(1, (0, 1), (1, 0))
    dims = list(range(1, n + 2))
    d.rng.shuffle(dims)
    size = 1
    for k in whole:
        size *= k
    choices = [
        f"layers.ZeroPadding{n}D({pairs})", f"layers.Cropping{n}D({pairs})",
        f"layers.UpSampling{n}D({d.some_of(n, 1, 3) if n > 1 else d.int(1, 3)})",
        f"layers.Permute({tuple(dims)})", f"layers.Reshape(({size},))", "layers.Reshape((-1,))",
        f"layers.Reshape((-1, {whole[-1]}))", "layers.Flatten()",
        f"layers.Reshape({tuple(whole[::-1])})", "layers.Identity()", "layers.Rescaling(0.5, 1)",
        "layers.Rescaling(2)", "layers.ActivityRegularization(0.1, 0.2)",
        f"layers.Activation({d.pick(*EACH)!r}{d.rest()})", "layers.Masking(0.0)",
    ]  # fmt: skip
    if n == 2:
        how = d.pick("nearest", "bilinear")
        choices.append(f"layers.UpSampling2D({d.some_of(2, 1, 3)}, interpolation='{how}')")
    made = d.pick(*choices)
    return made


def elementwise(d):
    shape = d.sizes((1, 3), *[(1, 4)] * d.int(1, 3))
    d.x(*shape)
    shared = d.some(0.5, f"shared_axes=[{d.pick(*range(1, len(shape)))}]")
    d.keywords |= d.pick({}, {"training": "False"}) if d.flag() else {}
    drop = d.pick("Dropout", "SpatialDropout1D", "GaussianDropout", "GaussianNoise", "AlphaDropout")
    if drop != "SpatialDropout1D" or len(shape) == 3:
        if d.rng.random() < 0.2:
            d.keywords = {"training": "True"} if drop not in ("GaussianNoise",) else {}
            return f"layers.{drop}({d.pick(0, 0.0)}{d.some(0.2, ', seed=3')})"
    bound, low, slope = d.pick("None", 1.0, 0.5), d.pick(0.0, 0.3, -0.2), d.pick(0.0, 0.1)
    return d.pick(
        f"layers.ReLU(max_value={bound}, negative_slope={slope}, threshold={low})",
        f"layers.LeakyReLU({d.pick('', 0.1, 'negative_slope=0.2')})",
        f"layers.ELU({d.pick('', 0.3, 'alpha=2.0')})",
        f"layers.PReLU({shared})",
        f"layers.Softmax({d.pick('', f'axis={d.int(1, len(shape) - 1)}')})",
        f"layers.Activation({d.pick(*EACH)!r}{d.rest()})",
        f"layers.Dropout(0.4{d.some(0.3, ', seed=1')})",
        f"layers.EinsumDense('{'ab,bc->ac' if len(shape) == 2 else '...x,xy->...y'}', "
        f"output_shape={d.int(1, 3)}"
        f"{d.some(0.5, chr(44) + ' bias_axes=' + repr('c' if len(shape) == 2 else 'y'))})",
    )


LAYERS = [dense, convolution, convolution, convolution, pooling, pooling, normalisation,
          normalisation, sequence, sequence, sequence, embedding, attention, attention, merging,
          merging, shaping, shaping, elementwise, elementwise]  # fmt: skip


def layer(d):
    text = d.pick(*LAYERS)(d)
    rule = d.rule and "Einsum" not in text  # which Keras says otherwise than it does
    return {"text": text, "joined": d.joined, "rule": rule and d.rng.random() < 0.5}


OF_NUMBERS = """MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError LogCosh
    MeanSquaredLogarithmicError CosineSimilarity Poisson KLDivergence Hinge SquaredHinge
    CategoricalHinge Huber""".split()
FUNCTIONS = """mean_squared_error mean_absolute_error mean_absolute_percentage_error log_cosh
    mean_squared_logarithmic_error cosine_similarity poisson kl_divergence hinge squared_hinge
    categorical_hinge huber binary_crossentropy mse mae mape msle""".split()


def labelled(d, shape, k):
    """Labels and predictions of a kind, and the text of a loss of theirs."""
    *outer, n = shape
    logits = d.flag()
    smooth = d.some(0.4, ", label_smoothing=0.2")
    given = f"from_logits={logits}"
    scores = "any" if logits else "part"
    if k == "binary":
        d.x(*shape, kind="bit"), d.x(*shape, kind=scores)
        return f"BinaryCrossentropy({given}{smooth})"
    if k == "focal":
        d.x(*shape, kind="bit"), d.x(*shape, kind=scores)
        balanced = d.some(0.5, ", apply_class_balancing=True")
        return f"BinaryFocalCrossentropy({given}{smooth}, gamma={d.pick(2.0, 0.5)}{balanced})"
    if k == "onehot":
        d.x(*outer, kind=f"onehot:{n}"), d.x(*shape, kind="any" if logits else "positive")
        return d.pick(
            f"CategoricalCrossentropy({given}{smooth})",
            f"CategoricalFocalCrossentropy({given}{smooth})",
        )
    if k == "class":
        ones = [1] * d.flag()
        d.x(*outer, *ones, kind=f"index:{n}")
        d.x(*shape, kind="any" if logits else "positive")
        ignore = d.some(0.2, ", ignore_class=0")
        return f"SparseCategoricalCrossentropy({given}{ignore})"
    name = d.pick(*OF_NUMBERS)
    kind = "shares" if name == "KLDivergence" else "sign" if "inge" in name else (
        "positive" if "Log" in name or name == "Poisson" or "Percent" in name else "any"
    )  # fmt: skip
    d.x(*shape, kind=kind), d.x(*shape, kind="any" if kind == "sign" else kind)
    return f"{name}({d.some(0.5, 'delta=0.4') if name == 'Huber' else ''})"


def loss(d):
    shape = d.pick([d.int(1, 4), d.int(1, 4)], d.sizes((1, 3), (1, 3), (1, 3)))
    if d.rng.random() < 0.25:
        name = d.pick(*FUNCTIONS)
        kind = "positive" if "log" in name or name in ("poisson", "msle", "mape") else "any"
        kind = "shares" if name == "kl_divergence" else "part" if "binary" in name else kind
        kind = "sign" if "hinge" in name else kind
        d.x(*shape, kind=kind), d.x(*shape, kind="any" if kind == "sign" else kind)
        return {"text": f"losses.{name}"}
    text = labelled(d, shape, d.pick("binary", "onehot", "class", "number", "number", "focal"))
    if d.rng.random() < 0.1:  # one axis more or less
        k = d.int(0, 1)
        d.operands[k][0] = d.operands[k][0][:-1] if d.flag() else [*d.operands[k][0], 1]
    how = d.pick("sum", "mean", "none", None, "sum_over_batch_size", "mean_with_sample_weight")
    reduction = d.some(0.6, f"reduction={how!r}")
    if reduction:
        comma = "" if text.endswith("()") else ", "
        text = f"{text[:-1]}{comma}{reduction})"
    if d.rng.random() < 0.5:
        d.x(*d.pick(shape[:1], shape[:-1], [*shape[:-1], 1], shape, []), kind="positive")
    return {"text": f"losses.{text}"}


def metric(d):
    *outer, n = shape = d.pick([d.int(1, 4), d.int(1, 4)], d.sizes((1, 3), (1, 3), (2, 3)))
    name = d.pick(
        "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy", "Accuracy", "Mean",
        "Sum", "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "AUC", "Precision",
        "Recall", "TopKCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "BinaryCrossentropy",
        "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "KLDivergence", "Poisson",
        "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "CosineSimilarity",
        "LogCoshError",
        "Hinge", "SquaredHinge", "CategoricalHinge", "F1Score", "FBetaScore", "R2Score", "MeanIoU",
        "OneHotMeanIoU", "BinaryIoU", "TruePositives", "FalseNegatives", "TrueNegatives",
        "FalsePositives", "SensitivityAtSpecificity", "PrecisionAtRecall", "RecallAtPrecision",
        "SpecificityAtSensitivity", "MeanMetricWrapper", "PearsonCorrelation",
        "ConcordanceCorrelation",
    )  # fmt: skip
    y, p, how = (shape, "any"), (shape, "any"), ""
    if name in ("BinaryAccuracy", "AUC", "Precision", "Recall", "TruePositives", "FalseNegatives",
                "TrueNegatives", "FalsePositives", "BinaryCrossentropy", "BinaryIoU"):  # fmt: skip
        y, p = (shape, "bit"), (shape, "part")
        if name == "BinaryAccuracy":
            how = d.some(0.4, "threshold=0.3")
        if name in ("Precision", "Recall", "TruePositives", "FalsePositives"):
            how = d.some(0.5, f"thresholds={d.pick(0.3, [0.2, 0.7])}")
            if name in ("Precision", "Recall"):
                how = how or d.some(0.3, d.pick("top_k=1", "class_id=0"))
        if name == "AUC":
            how = d.some(0.7, d.pick("num_thresholds=5", "curve='PR'", "multi_label=True",
                                     "summation_method='minoring'", "from_logits=True",
                                     "thresholds=[0.1, 0.6]", "curve='PR', num_thresholds=7",
                                     "summation_method='majoring'"))  # fmt: skip
    elif "Sparse" in name:
        y, p = (d.pick(outer, [*outer, 1]), f"index:{n}"), (shape, "positive")
        how = "k=1" if "TopK" in name else ""
    elif "Categorical" in name or name in ("F1Score", "FBetaScore", "OneHotMeanIoU"):
        y, p = (outer, f"onehot:{n}"), (shape, "positive")
        how = f"k={d.int(1, 2)}" if "TopK" in name else ""
        if name == "F1Score" or name == "FBetaScore":
            shape = shape[-2:]
            y, p = ([shape[0]], f"onehot:{n}"), (shape, "part")
            how = d.some(0.7, f"average={d.pick('micro', 'macro', 'weighted', None)!r}")
            how += d.some(0.3, f"{', ' if how else ''}threshold=0.5")
        if name == "OneHotMeanIoU":
            how = f"num_classes={n}"
    elif name == "MeanIoU":
        y, p, how = (outer, "index:3"), (outer, "index:3"), "num_classes=3"
    elif name == "Accuracy":
        y, p = (shape, "index:2"), (shape, "index:2")
    elif "inge" in name:
        y = (shape, "sign")
    elif "Log" in name or "Percent" in name or name == "Poisson":
        y, p = (shape, "positive"), (shape, "positive")
    elif name == "KLDivergence":
        y, p = (shape, "shares"), (shape, "shares")
    elif " At" in name or "AtS" in name or "AtP" in name or "AtR" in name:
        y, p, how = (shape, "bit"), (shape, "part"), "0.5, num_thresholds=20"
    elif name == "MeanMetricWrapper":
        how = "losses.mean_squared_error"
    elif name == "R2Score":
        shape = shape[-2:]
        y, p = (shape, "any"), (shape, "any")
    weights = None
    if d.rng.random() < 0.4:
        weights = d.pick(shape[:1], shape[:-1], shape, [*shape[:-1], 1], []), "positive"
    if name in ("Mean", "Sum"):
        y = None
    each = 0
    for k in range(2):
        for one in (y, p, weights):
            if one:
                d.x(*one[0], kind=one[1])
                each += k == 0
    return {"text": f"metrics.{name}({how})", "each": each}


def schedule(d):
    return d.pick(
        f"schedules.ExponentialDecay(0.1, 2, 0.7, staircase={d.flag()})",
        f"schedules.InverseTimeDecay(0.1, 2, 0.7, staircase={d.flag()})",
        f"schedules.PolynomialDecay(0.1, 3, 0.01, power={d.pick(1.0, 2.0)}, cycle={d.flag()})",
        "schedules.PiecewiseConstantDecay([1, 3], [0.1, 0.05, 0.01])",
        f"schedules.CosineDecay(0.1, 3, alpha={d.pick(0.0, 0.1)})",
        "schedules.CosineDecay(0.0, 3, warmup_target=0.1, warmup_steps=2)",
        f"schedules.CosineDecayRestarts(0.1, 2, t_mul={d.pick(1.0, 2.0)}, m_mul=0.8)",
    )


def optimizer(d):
    name = d.pick("SGD", "RMSprop", "Adam", "AdamW", "Adagrad", "Adamax", "Nadam", "Adadelta",
                  "Ftrl", "Lion", "Adafactor", "Lamb")  # fmt: skip
    rate = d.pick(0.05, 0.01, 0.5, schedule(d), schedule(d))
    how = [f"learning_rate={rate}"]
    if name in ("SGD", "RMSprop") and d.flag():
        how.append("momentum=0.8")
    if name == "SGD" and d.flag():
        how.append("nesterov=True")
    if name == "RMSprop":
        how.append(f"centered={d.flag()}, rho={d.pick(0.9, 0.5)}")
    if name in ("Adam", "AdamW"):
        how.append(f"amsgrad={d.flag()}")
    if name in ("Adam", "AdamW", "Adamax", "Nadam", "Lion") and d.flag():
        how.append("beta_1=0.8, beta_2=0.95")
    if name == "Ftrl":
        how.append(d.pick("l1_regularization_strength=0.01", "l2_regularization_strength=0.1",
                          "learning_rate_power=-0.4", "beta=0.1",
                          "l2_shrinkage_regularization_strength=0.1"))  # fmt: skip
    more = d.rng.random()
    if more < 0.3:
        how.append(d.pick("clipnorm=0.5", "clipvalue=0.4", "global_clipnorm=0.7"))
    if d.rng.random() < 0.2:
        how.append(f"weight_decay={d.pick(0.1, 0.01)}")
    if d.rng.random() < 0.15:
        how.append(d.pick("use_ema=True, ema_momentum=0.5", "gradient_accumulation_steps=2",
                          "loss_scale_factor=4.0", "use_ema=True, ema_overwrite_frequency=2",
                          "name='own'"))  # fmt: skip
    return f"optimizers.{name}({', '.join(how)})"


def steps(d):
    shapes = [d.sizes(*[(1, 3)] * d.int(0, 3)) for _ in range(d.int(1, 3))]
    return {"text": optimizer(d), "shapes": shapes, "steps": d.int(2, 5),
            "some": len(shapes) > 1 and d.rng.random() < 0.1}  # fmt: skip


def value(d):
    shape = d.sizes(*[(1, 4)] * d.int(1, 3))
    x = d.x(*shape)
    if d.rng.random() < 0.3:
        return {"text": f"[float({schedule(d)}(k)) for k in range(6)]"}
    flag, axis = d.flag(), d.int(-len(shape), len(shape) - 1)
    name = d.pick(*ACTIVATIONS)
    how = {"softmax": f", axis={axis}", "log_softmax": f", axis={axis}",
           "leaky_relu": ", negative_slope=0.3", "elu": ", alpha=0.4", "celu": ", alpha=0.4",
           "gelu": f", approximate={flag}", "relu": ", max_value=0.7, threshold=0.1",
           "threshold": ", threshold=0.2, default_value=9.0"}.get(name, "")  # fmt: skip
    n = d.int(2, 4)
    return {"text": d.pick(
        f"keras.activations.{name}({x}{d.some(0.5, how)})",
        f"keras.activations.get('{name}')({x})",
        f"keras.regularizers.{d.pick('L1(0.1)', 'L2(0.2)', 'L1L2(0.1, 0.2)')}({x})",
        f"keras.regularizers.OrthogonalRegularizer(0.1, mode='columns')({d.x(2, 3)})",
        f"keras.constraints.{d.pick('MaxNorm(0.7)', 'NonNeg()', 'UnitNorm()')}({x})",
        f"keras.constraints.MinMaxNorm(0.3, 0.9, rate=0.5)({x})",
        f"keras.constraints.MaxNorm(0.7, axis={axis})({x})",
        f"keras.utils.to_categorical({d.x(3, kind=f'index:{n}')}, {n})",
        f"keras.utils.normalize({x}, axis={axis})",
    )}  # fmt: skip


def spread(d):
    shape = d.pick([40, 50], [3, 3, 20, 30], [2000], [30, 70])
    how, kind = d.pick("fan_in", "fan_out", "fan_avg"), d.pick(
        "uniform", "truncated_normal", "untruncated_normal")  # fmt: skip
    text = d.pick(
        "GlorotUniform()", "GlorotNormal()", "HeUniform()", "HeNormal()", "LecunUniform()",
        "LecunNormal()", "RandomNormal(stddev=0.3)", "RandomUniform(-0.2, 0.2)",
        f"VarianceScaling(2.0, '{how}', '{kind}')", f"VarianceScaling(0.5, '{how}', '{kind}')",
        "TruncatedNormal(stddev=0.2)", "Zeros()", "Ones()", "Constant(0.3)", "Identity(2.0)",
        "Orthogonal(1.5)", "get('he_normal')", "get('TruncatedNormal')", "get('HeUniform')",
        "get('glorot_uniform')", "get({'class_name': 'RandomNormal', 'config': {'stddev': 0.2}})",
    )  # fmt: skip
    exact = text[:4] in ("Zero", "Ones", "Cons", "Iden")
    if text[:4] == "Iden":
        shape = [3, 4]
    return {"text": f"keras.initializers.{text}", "shape": shape, "exact": exact}


def fit(d):
    if d.rng.random() < 0.4:
        return d.pick(masked_fit, ends_fit, classes_fit)(d)
    n, batch = d.pick(6, 7, 9), d.int(2, 4)
    classes = d.int(2, 3)
    pictures = d.rng.random() < 0.3
    d.x(n, *([5, 5, 2] if pictures else [4]))
    parts = ["layers.Input((5, 5, 2))" if pictures else "layers.Input((4,))"]
    if pictures:
        # A bias before a normalisation has gradients that are rounding errors.
        how = f"{d.activation(0.4)}{d.rest('kernel')}, use_bias=False"
        parts.append(f"layers.Conv2D(3, 2, padding='same'{how})")
        parts.append(d.pick("layers.BatchNormalization()", "layers.MaxPooling2D()"))
        parts.append(d.pick("layers.Flatten()", "layers.GlobalAveragePooling2D()"))
    regular = d.rest("kernel", "bias")
    limit = d.pick("'max_norm'", "'non_neg'", "keras.constraints.MaxNorm(0.4)", "'unit_norm'")
    limit = d.some(0.2, f", kernel_constraint={limit}")
    parts.append(f"layers.Dense(3{d.activation()}{regular}{limit})")
    if d.rng.random() < 0.4:
        more = d.pick("layers.BatchNormalization()", "layers.LayerNormalization()",
                      "layers.Dropout(0.0)", "layers.PReLU()")  # fmt: skip
        if "Batch" in more and pictures:
            more = "layers.Dropout(0.0)"
        elif "Batch" in more:
            parts[-1] = parts[-1][:-1] + ", use_bias=False)"
        parts.append(more)
    kind = d.pick("class", "onehot", "binary", "number")
    weights = [[n], "positive"]
    if kind == "class":
        d.x(n, kind=f"index:{classes}")
        last = f"layers.Dense({classes}, activation='softmax')"
        of = "'sparse_categorical_crossentropy'"
        seen = ["accuracy", "sparse_categorical_accuracy", "acc"]
        if d.flag():
            last = f"layers.Dense({classes})"
            of = "losses.SparseCategoricalCrossentropy(from_logits=True)"
    elif kind == "onehot":
        d.x(n, kind=f"onehot:{classes}")
        last = f"layers.Dense({classes}, activation='softmax')"
        of, seen = "'categorical_crossentropy'", ["accuracy", "categorical_accuracy", "mse", "AUC"]
        if d.flag():
            of = "losses.CategoricalCrossentropy(label_smoothing=0.1)"
    elif kind == "binary":
        d.x(*d.pick([n], [n, 1]), kind="bit")
        last = "layers.Dense(1, activation='sigmoid')"
        of = "'binary_crossentropy'"
        seen = ["accuracy", "binary_accuracy", "AUC", "Precision", "Recall"]
    else:
        d.x(*d.pick([n, 2], [n, 2]))
        last, of = "layers.Dense(2)", d.pick(
            "'mse'", "'mae'", "losses.Huber(0.5)", "'huber'", "'mse'", "'log_cosh'",
            "losses.MeanSquaredError(reduction='sum')", "'cosine_similarity'",
            "'mean_absolute_percentage_error'",
        )  # fmt: skip
        seen = ["mae", "mse", "mean_squared_error", "root_mean_squared_error",
                "mean_absolute_error", "accuracy"]  # fmt: skip
    if kind != "number" and "logits" not in of and d.rng.random() < 0.15:
        of = d.pick("'crossentropy'", "'ce'")
    parts.append(last)
    metrics = d.rng.sample(seen, d.int(0, 2))
    others = [name for name in seen if name not in metrics][:1]
    asked = d.some(0.7, f", metrics={metrics}") + d.some(0.2, f", weighted_metrics={others}")
    how = f"batch_size={batch}, shuffle=False, verbose=0, epochs={d.int(1, 3)}"
    as_dict = d.some(0.3, ", return_dict=True")
    evaluated = f"model.evaluate(a[0], a[1], verbose=0, batch_size={batch}{as_dict})"
    kind_of = d.rng.random()
    if kind_of < 0.25:
        how += ", validation_split=0.3"
    elif kind_of < 0.4:
        how += ", validation_data=(a[0], a[1])"
    elif kind_of < 0.5:
        how += f", validation_data=(a[0], a[1]), validation_freq={d.pick(2, [1])}"
    if d.rng.random() < 0.25 and kind != "number":
        how += f", class_weight={{0: 0.5, 1: {d.pick(2.0, 3)}}}"
    elif d.rng.random() < 0.25:
        d.operands.append(weights)
        how += ", sample_weight=a[2]"
        evaluated = evaluated.replace("verbose=0", "verbose=0, sample_weight=a[2]")
    if d.rng.random() < 0.3:
        monitor = d.pick("loss", *metrics) if kind != "number" else "loss"
        monitor = d.pick(monitor, f"val_{monitor}") if "validation_" in how else monitor
        how += ", callbacks=[" + d.pick(
            f"callbacks.EarlyStopping(monitor='{monitor}', patience={d.int(0, 1)}, min_delta=0.05,"
            f" restore_best_weights={d.flag()}{d.some(0.2, ', baseline=0.5')})",
            f"callbacks.ReduceLROnPlateau(monitor='{monitor}', patience=1, factor=0.5)",
            "callbacks.LearningRateScheduler(lambda e, r: r * 0.7)",
            "callbacks.LearningRateScheduler(lambda e: 0.1 / (e + 1))",
            "callbacks.LambdaCallback(on_epoch_end=lambda e, logs: None)",
            "callbacks.TerminateOnNaN()",
        ) + "]"  # fmt: skip
    elif d.rng.random() < 0.1:
        how += ", initial_epoch=1"
    elif d.rng.random() < 0.1:
        how += ", steps_per_epoch=2"
    again = d.some(0.15, "model.compile('sgd', " + of + ")")
    calls = [f"model.fit(a[0], a[1], {how})", evaluated]
    if again:
        more = f"model.fit(a[0], a[1], batch_size={batch}, shuffle=False, verbose=0)"
        calls += [again, more]
    calls.append("model.predict(a[0], verbose=0)")
    calls += d.pick([], ["model.train_on_batch(a[0], a[1])"], ["model.test_on_batch(a[0], a[1])"],
                    ["model.predict_on_batch(a[0])"],
                    ["model.train_on_batch(a[0], a[1], return_dict=True)"])  # fmt: skip
    if "BatchNorm" in " ".join(parts):  # of two examples it leaves gradients of rounding errors
        d.operands = [[[9, *shape[1:]], kind] for shape, kind in d.operands]
        calls = [c.replace(f"batch_size={batch}", "batch_size=3") for c in calls]
    chosen = optimizer(d)
    if "BatchNorm" in " ".join(parts):
        chosen = chosen.replace("learning_rate=0.5", "learning_rate=0.01")
    if "initial_epoch" in how:  # of no step at all Keras has averages of zeros
        chosen = chosen.replace("use_ema=True", "use_ema=False")
    compiled = f"model.compile({chosen}, {of}{asked})"
    listed = ", ".join(parts)
    if d.flag():
        text = f"model = keras.Sequential([{listed}])\n{compiled}"
    else:
        lines = [f"x = first = {parts[0]}", *[f"x = {p}(x)" for p in parts[1:]]]
        text = "\n".join([*lines, "model = keras.Model(first, x)", compiled])
    return {"text": text, "calls": calls}


def masked_fit(d):
    """Nets of sequences, some of whose steps are masked."""
    n, steps = 6, d.int(2, 4)
    if d.flag():
        d.x(n, steps, kind="index:5")
        parts = ["layers.Input((None,))", "layers.Embedding(5, 3, mask_zero=True)"]
    else:
        d.x(n, steps, 3, kind="steps")
        parts = [f"layers.Input(({steps}, 3))", "layers.Masking()"]
    all_steps = d.flag()
    kind = d.pick("LSTM", "GRU", "SimpleRNN")
    for k in range(d.int(1, 2)):
        inner = f"layers.{kind}(3, return_sequences=True)"
        more = d.pick(f"{inner}", f"layers.Bidirectional({inner})", "layers.Dense(3)",
                      "layers.LayerNormalization()", "layers.Dropout(0.0)",
                      "layers.TimeDistributed(layers.Dense(2))", "layers.SpatialDropout1D(0.0)",
                      "layers.BatchNormalization()", "layers.Activation('tanh')")  # fmt: skip
        if "Batch" in more and k == 0:
            continue
        parts.append(more)
    if not all_steps:
        parts.append(d.pick(f"layers.{kind}(3)", "layers.GlobalAveragePooling1D()",
                            f"layers.Bidirectional(layers.{kind}(2))"))  # fmt: skip
    shape = [n, steps] if all_steps else [n]
    of = d.pick("'mse'", "'sparse_categorical_crossentropy'", "'binary_crossentropy'")
    if "mse" in of:
        d.x(*shape, 2), parts.append("layers.Dense(2)")
        seen = ["mae", "mse", "cosine_similarity", "root_mean_squared_error"]
    elif "sparse" in of:
        d.x(*shape, kind="index:3"), parts.append("layers.Dense(3, activation='softmax')")
        seen = ["accuracy", "sparse_categorical_accuracy"]
    else:
        d.x(*shape, 1, kind="bit"), parts.append("layers.Dense(1, activation='sigmoid')")
        seen = ["accuracy", "Precision", "Recall", "AUC"]
    how = "batch_size=3, shuffle=False, verbose=0, epochs=2"
    if d.rng.random() < 0.3:
        d.x(*d.pick(shape, [*shape, 1][: 1 + len(shape)]), kind="positive")
        how += ", sample_weight=a[2]"
    asked = f"metrics={d.rng.sample(seen, d.int(0, 2))}"
    text = f"model = keras.Sequential([{', '.join(parts)}])\nmodel.compile('sgd', {of}, {asked})"
    calls = [f"model.fit(a[0], a[1], {how})", "model.evaluate(a[0], a[1], verbose=0, batch_size=4)",
             "model.predict(a[0], verbose=0)"]  # fmt: skip
    return {"text": text, "calls": calls}


def ends_fit(d):
    """Nets of several inputs and outputs, with losses, metrics and weights for each."""
    n = 6
    d.x(n, 3), d.x(n, 2), d.x(n, kind="index:3"), d.x(n, 2)
    join = d.pick("Concatenate()([x, layers.Dense(3)(q)])", "Add()([x, layers.Dense(3)(q)])",
                  "Multiply()([x, layers.Dense(3)(q)])", "Maximum()([x, layers.Dense(3)(q)])",
                  "Average()([x, layers.Dense(3)(q)])", "Dot(1)([x, layers.Dense(3)(q)])",
                  "Subtract()([x, layers.Dense(3)(q)])")  # fmt: skip
    names = d.flag()
    lines = [
        "p = layers.Input((3,), name='p')", "q = layers.Input((2,), name='q')",
        f"x = layers.Dense(3{d.activation()})(p)", f"x = layers.{join}",
        "one = layers.Dense(3, activation='softmax', name='one')(x)",
        f"two = layers.Dense(2{d.rest('kernel')}, name='two')(x)",
        "model = keras.Model([p, q], [one, two])",
    ]  # fmt: skip
    losses = d.pick("['sparse_categorical_crossentropy', 'mse']",
                    "{'one': 'sparse_categorical_crossentropy', 'two': 'mae'}")  # fmt: skip
    more = d.some(0.5, ", loss_weights=" + d.pick("[0.5, 2.0]", "{'one': 0.3, 'two': 1.0}"))
    more += d.some(0.6, ", metrics=" + d.pick("[['accuracy'], ['mse', 'mae']]",
                                              "{'one': ['accuracy'], 'two': ['mae']}",
                                              "{'two': 'mse'}"))  # fmt: skip
    more += d.some(0.3, ", weighted_metrics={'one': ['accuracy'], 'two': ['mae']}")
    lines.append(f"model.compile({optimizer(d)}, {losses}{more})")
    given = d.pick("[a[0], a[1]]", "{'p': a[0], 'q': a[1]}")
    wanted = d.pick("[a[2], a[3]]", "{'one': a[2], 'two': a[3]}") if names else "[a[2], a[3]]"
    how = "batch_size=4, shuffle=False, verbose=0, epochs=2"
    how += d.pick("", ", validation_split=0.3", f", validation_data=({given}, {wanted})")
    if d.rng.random() < 0.3:
        d.x(n, kind="positive"), d.x(n, kind="positive")
        how += ", sample_weight=[a[4], a[5]]"
    calls = [f"model.fit({given}, {wanted}, {how})",
             f"model.evaluate({given}, {wanted}, verbose=0, batch_size=4, return_dict=True)",
             f"model.predict({given}, verbose=0)"]  # fmt: skip
    return {"text": "\n".join(lines), "calls": calls}


def classes_fit(d):
    """Models and layers that are classes, shared and frozen layers, added losses."""
    n = 6
    d.x(n, 3), d.x(n, 2)
    frozen = d.pick("", "model.one.trainable = False\n", "model.two.trainable = False\n",
                    "model.trainable = False\nmodel.two.trainable = True\n")  # fmt: skip
    norm = d.pick("layers.BatchNormalization(trainable=False)", "layers.LayerNormalization()",
                  "layers.Dropout(0.0)", "layers.UnitNormalization()")  # fmt: skip
    added = d.some(0.4, "        self.add_loss(0.1 * keras_mean(y))\n")
    again = d.pick("self.one(self.one(x))", "self.one(x)", "self.one(x) + x")
    scale = d.pick(
        "self.scale = self.add_weight(shape=(3,), initializer='ones', name='scale')",
        "self.scale = self.add_weight((3,), 'zeros', name='scale', regularizer='l2')",
        "self.scale = self.add_weight(name='scale', shape=(3,), trainable=False)",
    )
    takes = d.flag()
    how = ", training=training" if takes else ""
    first = d.pick("self.bn(x)", "self.bn(x, training=False)", f"self.bn(x{how})",
                   "self.inner(x)", f"self.inner(x{how})", "x")  # fmt: skip
    outer = "" if frozen else d.pick("", "model = keras.Sequential([layers.Input((3,)), model])\n")
    # Keras takes what a call within said for those after it, also of another layer.
    text = f"""
class Scale(layers.Layer):
    def build(self, input_shape):
        {scale}
    def call(self, x, training=None):
        return x * self.scale if training else x * self.scale * 1.5

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.one = layers.Dense(3{d.activation()}{d.rest("kernel")})
        self.scaled, self.norm = Scale(), {norm}
        self.two = layers.Dense(2{d.bias()})
        self.bn = layers.BatchNormalization()
        self.inner = keras.Sequential([layers.Dense(3, 'tanh'), layers.BatchNormalization()])
    def call(self, x{d.pick(", training=None", ", training=False") if takes else ""}):
        x = {first}
        y = {again}
        y = self.norm(self.scaled(y{d.pick(how, "")}){d.pick(how, "")})
{added}        return self.two(y)

model = Net()
{outer}model(tensor(a[0]))
{frozen}model.compile({optimizer(d)}, {d.pick("'mse'", "'mae'")}{d.some(0.5, ", metrics=['mae']")})
"""
    calls = ["model.fit(a[0], a[1], batch_size=4, shuffle=False, verbose=0, epochs=2)",
             "model.evaluate(a[0], a[1], verbose=0)", "model.predict(a[0], verbose=0)",
             "[len(model.trainable_weights), len(model.non_trainable_weights),"
             " model.count_params(), len(model.losses)]"]  # fmt: skip
    return {"text": text, "calls": calls}


KINDS = {"layer": layer, "loss": loss, "metric": metric, "steps": steps, "value": value,
         "spread": spread, "fit": fit}  # fmt: skip


def grow(rng, only=None):
    """A program as texts and operands."""
    d = Texts(rng)
    d.keywords, d.joined, d.rule, d.hidden = {}, False, True, 0
    kind = only or rng.choice(["layer"] * 8 + ["loss"] * 3 + ["metric"] * 3 + ["steps"] * 2
                              + ["value", "spread"] + ["fit"] * 3)  # fmt: skip
    plan = KINDS[kind](d)
    return {"kind": kind, **plan, "operands": d.operands, "keywords": d.keywords,
            "hidden": d.hidden}  # fmt: skip
