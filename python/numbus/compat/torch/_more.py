"""Names of torch that concern how programs run: threads, precision, memory formats."""

import functools
import os

from ... import tensors
from ...batches import Leaves, mapped
from ...core import precision as _precision
from ...core import trees
from ...core.errors import message
from ...tensors._tensor import wrap


class _Format:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return "torch." + self._name


memory_format = layout = _Format
contiguous_format, preserve_format = _Format("contiguous_format"), _Format("preserve_format")
channels_last, strided = _Format("channels_last"), _Format("strided")
channels_last_3d = _Format("channels_last_3d")
_state = {"deterministic": False}
# Methods that change a tensor in place and are functions of torch, too.
IN_PLACE = frozenset(
    name + "_"
    for name in (
        "abs", "absolute", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh",
        "arctan", "arctanh", "asin", "asinh", "atan",
        "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "deg2rad",
        "detach", "erf", "erfc", "exp", "exp2", "expm1", "fill", "fix", "floor", "frac", "gcd",
        "index_put", "lcm", "ldexp", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg",
        "negative", "rad2deg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sin", "sinc",
        "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero",
    )
)  # fmt: skip
# Functions of torch.nn.functional that are functions of torch, too.
OF_NETS = frozenset((
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "avg_pool1d", "bilinear", "celu",
    "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "hardshrink", "max_pool1d", "max_pool2d",
    "max_pool3d", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu",
    "rms_norm", "rrelu", "selu", "threshold",
))  # fmt: skip
# Those whose parameters have another order or other names there.
ARRANGED = frozenset((
    "alpha_dropout", "alpha_dropout_", "batch_norm", "binary_cross_entropy_with_logits",
    "constant_pad_nd", "cosine_embedding_loss", "ctc_loss", "dropout", "dropout_", "embedding",
    "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine", "feature_alpha_dropout",
    "feature_dropout", "group_norm", "hinge_embedding_loss", "instance_norm", "kl_div",
    "layer_norm", "margin_ranking_loss", "poisson_nll_loss", "triplet_margin_loss",
))  # fmt: skip


def in_place(name):
    """The function of a method that changes its tensor."""
    method = getattr(tensors.Tensor, name)

    def function(input, *args, **keywords):
        return method(input, *args, **keywords)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    return function


_HOMES = {"numbus.data": "torch.utils.data", "numbus.tensors": "torch", "numbus": "torch"}
# PyTorch's files of layers: by our file, and within it by how a class's name begins.
_FILES = {
    "activations": {"": "activation"}, "adaptive_softmax": {"": "adaptive"},
    "containers": {"": "container"}, "dropouts": {"RReLU": "activation", "": "dropout"},
    "embeddings": {"": "sparse"},
    "convolutions": {"Fold": "fold", "Unfold": "fold", "": "conv"},
    "losses": {"PairwiseDistance": "distance", "CosineSimilarity": "distance", "": "loss"},
    "normalisation": {
        "BatchNorm": "batchnorm", "SyncBatchNorm": "batchnorm", "InstanceNorm": "instancenorm",
        "": "normalization",
    },
    "products": {"Flatten": "flatten", "Unflatten": "flatten", "": "linear"},
    "recurrent": {"": "rnn"},
    "resizing": {"Pixel": "pixelshuffle", "Channel": "channelshuffle", "": "upsampling"},
    "lazy": {
        "LazyBatchNorm": "batchnorm", "LazyConv": "conv", "LazyInstanceNorm": "instancenorm",
        "": "linear",
    },
    "transformers": {"MultiheadAttention": "activation", "": "transformer"},
}  # fmt: skip


def typename(obj, /):
    """The name of a tensor's kind, such as 'torch.FloatTensor', or of a type with its module."""
    if tensors.is_tensor(obj):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    name = getattr(named, "__qualname__", None) or named.__name__
    head, _, file = module.rpartition(".")
    if head == "numbus.nn.modules":
        starts = _FILES.get(file, {"": file})
        module = f"{head}.{starts[next(x for x in starts if name.startswith(x))]}"
    whole = name if module in ("", "builtins") else f"{module}.{name}"
    for ours, theirs in _HOMES.items():
        if whole == ours or whole.startswith(ours + "."):
            return theirs + whole[len(ours) :]
    return whole


def set_float32_matmul_precision(precision):
    """`numbus.set_float32_matmul_precision`: 'high' and 'medium' allow TF32 on a GPU."""
    try:
        _precision.set_float32_matmul_precision(precision)
    except ValueError as error:
        raise RuntimeError(*error.args) from None


get_float32_matmul_precision = _precision.get_float32_matmul_precision


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Results are the same in each run but for additions at repeated indices on a GPU."""
    _state["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled():
    """What was set."""
    return _state["deterministic"]


def get_num_threads():
    """How many processors work."""
    return _state.get("threads", os.cpu_count())


def set_num_threads(number):
    """Notes the number; the work of arrays takes all processors."""
    _state["threads"] = int(number)


def set_flush_denormal(mode):
    """False: numbers below the smallest normal one are always kept."""
    return False


def set_default_tensor_type(t):
    """Sets the dtype and device of new tensors: 'torch.cuda.FloatTensor', or a class like it."""
    if isinstance(t, str):
        known = tensors.zeros(0).type(t.replace(".cuda.", "."))
        tensors.set_default_dtype(known.dtype)
        tensors.set_default_device("cuda" if ".cuda." in t else "cpu")
    elif hasattr(t, "of_dtype"):
        tensors.set_default_dtype(t.of_dtype)
        tensors.set_default_device("cpu")
    else:
        raise TypeError(
            message("set_default_tensor_type", "no kind of tensors", t, "'torch.FloatTensor'")
        )


def resolve_conj(input):
    """The tensor: conjugates are computed at once."""
    return input


def is_conj(input):
    """False: conjugates are computed at once."""
    return False


class _Leaves(Leaves):
    def split(self, result):
        leaves, shape = trees.flatten(result)
        for leaf in leaves:
            if not tensors.is_tensor(leaf):
                raise ValueError(
                    message("vmap", "the function returns what is no tensor",
                            type(leaf).__name__, "tensors, or trees of these: the tensor itself"
                            " where item(), tolist() or numpy() read it, else torch.as_tensor(…)")
                )  # fmt: skip
        return leaves, lambda made: trees.unflatten(shape, made)

    def raw(self, leaf):
        if not tensors.is_tensor(leaf) or leaf.requires_grad:
            return None  # the tape sees one call after the other
        return leaf._array

    def like(self, _leaf, array):
        return wrap(array)

    def part(self, leaf, axis, k):
        return leaf.select(axis, k)

    def stacked(self, column, axis):
        return tensors.stack(column, dim=axis)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function of tensors with one dimension more: `numbus.vmap`.

    `in_dims` is a number, None, or a tuple of these for the arguments, `out_dims` a number or a
    tuple for the results. Where gradients by what it is given or reads are taken outside, it is
    called for each index in turn. `chunk_size` is of no use: what is not needed is not kept.
    """

    if randomness == "same":
        raise NotImplementedError(
            message("vmap", "equal random numbers in all calls are not yet available", randomness,
                    "'error' or 'different'")
        )  # fmt: skip

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                message("vmap", "not a dimension for each argument", len(dims), len(args))
            )
        flat = [trees.flatten(x) for x in args]
        leaves = [leaf for part, _ in flat for leaf in part]
        axes = [
            d if tensors.is_tensor(leaf) else None
            for (part, _), d in zip(flat, dims, strict=True)
            for leaf in part
        ]

        def call(part):
            rest = iter(part)
            given = [trees.unflatten(shape, [next(rest) for _ in own]) for own, shape in flat]
            return func(*given, **keywords)

        def outs(made, _build):
            return list(out_dims) if isinstance(out_dims, (tuple, list)) else [out_dims] * len(made)

        return mapped(call, leaves, axes, outs, _Leaves())

    return wrapper
