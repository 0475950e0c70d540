"""Modules whose results, gradients, buffers, names and texts are recorded, as a table."""

from inputs import Drawn, named, seeded


class ModuleCase:
    """A module by the expression that makes it, of `nn`, and what it is called with.

    calls: several are made one after the other, the last one compared; mode: train or eval.
    """

    def __init__(self, text, inputs, keywords=None, calls=1, train=True):
        self.text, self.inputs, self.keywords = text, inputs, dict(keywords or {})
        self.calls, self.train = calls, train
        self.function, self.dtype, self.name = text.split("(")[0], "float64", None

    def arrays(self):
        """(arguments, keywords) with NumPy arrays, tuples of them inside, in place of Drawn."""
        random = seeded(self.name)

        def make(x):
            if isinstance(x, tuple):
                return tuple(make(y) for y in x)
            return x.make(random, self.dtype) if isinstance(x, Drawn) else x

        return [make(x) for x in self.inputs], {k: make(x) for k, x in self.keywords.items()}

    def state(self, shapes):
        """Numbers for parameters and buffers, {name: array}, from (name, shape, whether floats)."""
        found = {}
        for name, shape, floats in shapes:
            random = seeded(f"{self.name} {name}")
            if floats:
                a = random.normal(size=shape) * 0.5
                found[name] = abs(a) + 0.5 if name.endswith("running_var") else a
        return found

    def cotangent(self, k, shape):
        return seeded(f"{self.name} cotangent {k}").normal(size=shape)


def normal(*shape):
    return Drawn("normal", shape)


def classes(high, *shape):
    return Drawn("classes", shape, high=high)


def bools(*shape):
    return Drawn("bools", shape)


CASES = []


def add(text, *inputs, calls=1, **keywords):
    for train in (True, False):
        CASES.append(ModuleCase(text, inputs, keywords, calls, train))


def once(text, *inputs, **keywords):
    CASES.append(ModuleCase(text, inputs, keywords))


# Activations.
for text in """ReLU() ReLU6() LeakyReLU(0.2) ELU(0.5) CELU(0.5) SELU() GELU() GELU('tanh') SiLU()
    Mish() Sigmoid() LogSigmoid() Tanh() Softplus(2,3.0) Softsign() Tanhshrink() Softshrink()
    Hardshrink(0.3) Hardtanh(-0.5,0.7) Hardsigmoid() Hardswish() Threshold(0.1,2.0) Softmax(1)
    LogSoftmax(-1) Softmin(0) GLU(0) PReLU() Identity(54) Flatten() Flatten(0,1)""".split():
    once(text, normal(2, 3, 4))
once("PReLU(3)", normal(2, 3))
once("Softmax2d()", normal(2, 3, 2, 2))
once("Unflatten(1, (2, 3))", normal(2, 6))

# Products and convolutions.
once("Linear(3, 4)", normal(2, 3))
once("Linear(3, 4, bias=False)", normal(2, 2, 3))
once("Bilinear(3, 4, 2)", normal(2, 3), normal(2, 4))
once("Conv1d(2, 3, 3)", normal(2, 2, 6))
for mode in ("reflect", "replicate", "circular"):
    once(f"Conv1d(2, 3, 3, padding=2, padding_mode='{mode}')", normal(2, 2, 6))
    once(f"Conv2d(2, 2, (2, 3), padding=(0, 1), padding_mode='{mode}')", normal(1, 2, 4, 5))
once("Conv1d(2, 4, 4, padding='same', padding_mode='circular', groups=2)", normal(2, 2, 6))
once("Conv2d(2, 3, 3, stride=2, padding=1, dilation=1, bias=False)", normal(2, 2, 5, 5))
once("Conv2d(4, 4, (3, 1), groups=2, dilation=2)", normal(4, 5, 5))
once("Conv3d(1, 2, 2)", normal(1, 1, 3, 3, 3))
once("ConvTranspose1d(2, 3, 3, stride=2)", normal(2, 2, 4))
once(
    "ConvTranspose2d(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2)", normal(1, 2, 3, 3)
)
once("ConvTranspose2d(2, 2, 3, stride=2)", normal(1, 2, 3, 3), output_size=(8, 7))
once("Unfold(2, padding=1)", normal(1, 2, 3, 3))
once("Fold((3, 3), 2)", normal(1, 8, 4))

# Pooling and borders.
once("MaxPool1d(2)", normal(1, 2, 6))
once("MaxPool2d(2)", normal(1, 2, 6, 6))
once("MaxPool2d((3, 2), stride=(2, 1), padding=1, dilation=1, ceil_mode=True)", normal(1, 2, 6, 5))
once("MaxPool2d(2, return_indices=True)", normal(1, 2, 4, 4))
once("MaxPool3d(2)", normal(1, 1, 4, 4, 4))
once("AvgPool1d(2)", normal(1, 2, 6))
once("AvgPool2d(3, stride=2, padding=1, count_include_pad=False)", normal(1, 2, 6, 6))
once("AdaptiveAvgPool1d(3)", normal(1, 2, 7))
once("AdaptiveAvgPool2d((2, None))", normal(1, 2, 7, 5))
once("AdaptiveMaxPool2d(2)", normal(1, 2, 7, 5))
once("ZeroPad2d(1)", normal(1, 2, 3))
once("ConstantPad1d((1, 2), 3.5)", normal(1, 2, 3))
once("ReflectionPad2d((1, 0, 2, 1))", normal(1, 1, 3, 3))
once("ReplicationPad1d(2)", normal(1, 2, 3))
once("CircularPad2d(1)", normal(1, 1, 3, 3))

once("LPPool2d(2, 2)", Drawn("positive", (1, 1, 4, 4)))
once("LPPool3d(2, 2)", Drawn("positive", (1, 1, 4, 4, 2)))
once("AdaptiveMaxPool3d((2, None, 1))", normal(1, 2, 4, 3, 2))
once("CircularPad3d((1, 0, 1, 1, 0, 1))", normal(1, 1, 2, 3, 2))
once("ReflectionPad3d(1)", normal(1, 1, 2, 3, 2))
once("Upsample(scale_factor=2)", normal(1, 2, 3, 3))
once("Upsample(size=(4, 5), mode='bilinear')", normal(1, 2, 3, 3))
once("UpsamplingBilinear2d(scale_factor=2)", normal(1, 2, 3, 3))
once("PixelShuffle(2)", normal(1, 4, 2, 2))
once("PixelUnshuffle(2)", normal(1, 1, 4, 4))
once("ChannelShuffle(2)", normal(1, 4, 2))

# Normalisation, in training and evaluation, with running statistics.
add("BatchNorm1d(3)", normal(4, 3), calls=3)
add("BatchNorm1d(3)", normal(4, 3, 2))
add("BatchNorm2d(3, eps=1e-3, momentum=0.3)", normal(2, 3, 2, 2), calls=2)
add("BatchNorm2d(3, momentum=None)", normal(2, 3, 2, 2), calls=3)
add("BatchNorm2d(3, affine=False)", normal(2, 3, 2, 2))
add("BatchNorm2d(3, track_running_stats=False)", normal(2, 3, 2, 2))
add("BatchNorm3d(2)", normal(2, 2, 2, 2, 2))
add("InstanceNorm1d(3)", normal(2, 3, 4))
add("InstanceNorm2d(3, affine=True, track_running_stats=True)", normal(2, 3, 2, 2))
once("LayerNorm(4)", normal(2, 3, 4))
once("LayerNorm((3, 4), eps=1e-3, bias=False)", normal(2, 3, 4))
once("LayerNorm(4, elementwise_affine=False)", normal(2, 4))
once("RMSNorm(4)", normal(2, 4))
once("GroupNorm(2, 4)", normal(2, 4, 3))
once("GroupNorm(1, 3, affine=False)", normal(2, 3))
once("LocalResponseNorm(3)", normal(1, 5, 2))

# Dropout does nothing in evaluation.
CASES += [ModuleCase(f"{n}(0.4)", [normal(2, 3, 4)], train=False) for n in ("Dropout", "Dropout1d")]
once("Dropout(0.0)", normal(2, 3))
once("AlphaDropout(0.0)", normal(2, 3))

# Embedding.
once("Embedding(5, 3)", classes(5, 2, 4))
once("Embedding(5, 3, padding_idx=1)", classes(5, 2, 4))
once("Embedding(5, 3, max_norm=0.6)", classes(5, 4))

# Recurrent nets.
for kind in ("RNN", "LSTM", "GRU"):
    once(f"{kind}(3, 4)", normal(5, 2, 3))
    once(f"{kind}(3, 4, num_layers=2, bidirectional=True)", normal(4, 2, 3))
    once(f"{kind}(3, 2, batch_first=True, bias=False)", normal(2, 4, 3))
    once(f"{kind}(3, 2, num_layers=2)", normal(4, 3))
    once(f"{kind}Cell(3, 4)", normal(2, 3))
for kind in ("RNN", "GRU"):
    once(f"{kind}(3, 4, num_layers=2)", normal(3, 2, 3), normal(2, 2, 4))
    once(f"{kind}Cell(3, 4, bias=False)", normal(2, 3), normal(2, 4))
once("LSTM(3, 4, num_layers=2)", normal(3, 2, 3), (normal(2, 2, 4), normal(2, 2, 4)))
once("LSTM(3, 4, proj_size=2, bidirectional=True)", normal(3, 2, 3))
once("LSTMCell(3, 4)", normal(2, 3), (normal(2, 4), normal(2, 4)))
once("RNN(3, 2, nonlinearity='relu')", normal(3, 2, 3))
once("RNNCell(3, 2, nonlinearity='relu')", normal(2, 3))

# Attention.
QKV = (normal(3, 2, 4), normal(5, 2, 4), normal(5, 2, 4))
once("MultiheadAttention(4, 2)", *QKV)
once("MultiheadAttention(4, 2)", *QKV, need_weights=False)
once("MultiheadAttention(4, 2)", *QKV, average_attn_weights=False)
once("MultiheadAttention(4, 2, bias=False)", *QKV, attn_mask=normal(3, 5))
once("MultiheadAttention(4, 2)", *QKV, attn_mask=bools(4, 3, 5))
once("MultiheadAttention(4, 1)", *QKV, key_padding_mask=normal(2, 5), attn_mask=normal(3, 5))
once("MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)", *QKV)
once("MultiheadAttention(4, 2, add_zero_attn=True)", *QKV, attn_mask=normal(3, 5))
once(
    "MultiheadAttention(4, 2, batch_first=True)", normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 4)
)
once("MultiheadAttention(4, 2)", normal(3, 4), normal(5, 4), normal(5, 4))
once("MultiheadAttention(4, 2, kdim=3, vdim=2)", normal(3, 2, 4), normal(5, 2, 3), normal(5, 2, 2))
for more in ("", ", batch_first=True", ", norm_first=True", ", activation='gelu'", ", bias=False"):
    once(f"TransformerEncoderLayer(4, 2, 6, 0.0{more})", normal(3, 2, 4))
add("TransformerEncoderLayer(4, 2, 6, 0.0)", normal(3, 2, 4), src_mask=normal(3, 3))
once("TransformerEncoder(TransformerEncoderLayer(4, 2, 6, 0.0), 2)", normal(3, 2, 4))
once("TransformerDecoderLayer(4, 2, 6, 0.0)", normal(3, 2, 4), normal(5, 2, 4))
once("TransformerDecoderLayer(4, 2, 6, 0.0, norm_first=True)", normal(3, 2, 4), normal(5, 2, 4))
once("Transformer(4, 2, 1, 1, 6, 0.0)", normal(3, 2, 4), normal(5, 2, 4))

# Containers.
once("Sequential(Linear(3, 4), ReLU(), Linear(4, 2))", normal(2, 3))
once("Sequential(Conv2d(1, 2, 3), BatchNorm2d(2), ReLU(), MaxPool2d(2), Flatten(), Linear(8, 3))",
     normal(2, 1, 6, 6))  # fmt: skip
once("Sequential(OrderedDict([('a', Linear(3, 4)), ('b', Sequential(Tanh(), Dropout(0.0)))]))",
     normal(2, 3))  # fmt: skip

# Losses.
PAIR = (normal(3, 4), normal(3, 4))
UNIT = Drawn("unit", (3, 4))
for text in """L1Loss() MSELoss(reduction='sum') SmoothL1Loss(beta=0.5) HuberLoss(delta=0.5)
    KLDivLoss(reduction='batchmean',log_target=True) PoissonNLLLoss()
    BCEWithLogitsLoss(reduction='none') MSELoss(reduction='none')""".split():
    once(text, *PAIR)
once("BCELoss()", UNIT, UNIT)
once("NLLLoss(ignore_index=1)", normal(3, 4), classes(4, 3))
once("CrossEntropyLoss(label_smoothing=0.1)", normal(3, 4), classes(4, 3))
once("CrossEntropyLoss(reduction='sum')", normal(3, 4, 2), classes(4, 3, 2))
once("GaussianNLLLoss()", normal(3, 4), normal(3, 4), Drawn("positive", (3, 4)))
once("SoftMarginLoss()", normal(4), Drawn("signs", (4,)))
once("MarginRankingLoss(0.2)", normal(4), normal(4), Drawn("signs", (4,)))
once("HingeEmbeddingLoss()", normal(4), Drawn("signs", (4,)))
once("CosineEmbeddingLoss()", normal(4, 3), normal(4, 3), Drawn("signs", (4,)))
once("TripletMarginLoss()", normal(4, 3), normal(4, 3), normal(4, 3))
once("TripletMarginWithDistanceLoss(swap=True)", normal(4, 3), normal(4, 3), normal(4, 3))
once("MultiMarginLoss(p=2, margin=0.5)", normal(4, 3), classes(3, 4))
once("MultiLabelMarginLoss()", normal(4, 3), classes(3, 4, 3))
once("MultiLabelSoftMarginLoss()", normal(4, 3), classes(2, 4, 3))
for head in ("", ", head_bias=True"):
    once(
        f"AdaptiveLogSoftmaxWithLoss(8, 20, [5, 9, 14], div_value=2.0{head})",
        normal(30, 8),
        classes(20, 30),
    )
add("RReLU(0.2, 0.2)", normal(3, 4))
once("CosineSimilarity()", normal(4, 3), normal(4, 3))
once("PairwiseDistance()", normal(4, 3), normal(4, 3))

CASES = named(CASES)
# Only shown, and only their names and shapes compared.
SHOWN = """FractionalMaxPool2d(2, output_size=(3, 4))
FractionalMaxPool3d(2, output_ratio=0.5)
FeatureAlphaDropout(0.2)
RReLU(0.1, 0.2, True)
NLLLoss2d()
ModuleList([Linear(2, 2), Linear(2, 2), ReLU()])
ModuleList([Linear(2, 3)])
ModuleDict({'a': Linear(2, 2), 'b': Sequential(ReLU(), Tanh())})
ModuleList()
Sequential()
ReLU(inplace=True)
ReLU6(inplace=True)
LeakyReLU(0.1, True)
Dropout(0.2, True)
Conv2d(3, 6, 5, padding='same', padding_mode='reflect')
LSTM(3, 4, 2, batch_first=True, dropout=0.5)
GRU(3, 4, bias=False)
Embedding(4, 2, padding_idx=0, max_norm=1.0, norm_type=1.0)
TransformerEncoderLayer(8, 2)
MultiheadAttention(8, 2, kdim=4)
Transformer(8, 2, 2, 1)""".split("\n")
