"""Blocks in which functions of tensors cast their operands: PyTorch's autocast.

Rules: https://docs.pytorch.org/docs/stable/amp.html ("Autocast Op Reference"); those for a CPU are
compared with PyTorch's own in tests/pytorch/autocast_calls.txt. Within a block, products and
convolutions compute in the block's dtype, and what would lose too much in it, such as losses, in
float32; functions that join tensors take the widest of their dtypes. Of operands only tensors of
floats up to 32 bits on the block's device are cast. The casts are recorded as other operations are,
so that gradients have the dtypes of the tensors that they are of.
"""

import functools
import threading

import numpy

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._tensor import Tensor

_LOWER_ANYWHERE = frozenset(
    """matmul mm bmm addmm baddbmm addbmm inner multi_dot chain_matmul linear
    conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d scaled_dot_product_attention prelu einsum
    tensordot""".split()
)
_LOSSES = frozenset(
    """mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss kl_div
    binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
    soft_margin_loss triplet_margin_loss poisson_nll_loss ctc_loss""".split()
)
_CPU = {
    "lower": _LOWER_ANYWHERE,
    "single": _LOSSES
    | frozenset(
        """binary_cross_entropy prod quantile trace cdist inv cholesky qr svd svdvals eigh eigvalsh
        det slogdet pinv solve lstsq matrix_power max_pool3d avg_pool3d
        adaptive_avg_pool3d""".split()
    ),
    "widest": frozenset("cat stack".split()),
}
_CUDA = {
    "lower": _LOWER_ANYWHERE | frozenset("mv addmv addr".split()),
    "single": _LOSSES
    | frozenset(
        """pow rpow rdiv acos asin cosh sinh tan exp expm1 log log10 log2 log1p reciprocal rsqrt
        erfinv cumsum cumprod dist cdist norm vector_norm prod sum softmax log_softmax softmin
        softplus layer_norm group_norm cosine_similarity normalize logsumexp pairwise_distance
        arccos arcsin""".split()
    ),
    "widest": frozenset(
        "cat stack addcdiv addcmul atan2 arctan2 bilinear cross dot scatter_add".split()
    ),
}
_RULES = {"cpu": _CPU, "cuda": _CUDA}
_USUAL = {"cpu": _dtypes.bfloat16, "cuda": _dtypes.float16}
_SINGLE = numpy.dtype("f4")


class _State:
    """What one thread casts: (whether it does, the dtype) by device."""

    def __init__(self):
        self.set = {name: (False, usual) for name, usual in _USUAL.items()}


def _kind(device_type):
    found = str(device_type).partition(":")[0]
    if found not in _RULES:
        raise RuntimeError(message("autocast", "unknown device", device_type, "'cpu' or 'cuda'"))
    return found


_threads = threading.local()


def _state():
    found = getattr(_threads, "state", None)
    if found is None:
        found = _threads.state = _State()
    return found


def is_autocast_enabled(device_type="cuda"):
    """Whether functions of tensors on such a device cast their operands in this thread."""
    return _state().set[_kind(device_type)][0]


def get_autocast_dtype(device_type):
    """The lower dtype of blocks for such a device."""
    return _state().set[_kind(device_type)][1]


def _is_cast(t, device):
    dtype = t._array.dtype
    if kind_of(dtype) != "f" or dtype.itemsize > 4:
        return False
    return ("cuda" if t.is_cuda else "cpu") == device


def _tensors(x):
    """All tensors of arguments."""
    if isinstance(x, Tensor):
        yield x
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from _tensors(y)
    elif isinstance(x, dict):
        yield from _tensors(list(x.values()))


def _converted(x, dtype, device):
    if isinstance(x, Tensor):
        return x.to(dtype) if x._array.dtype != dtype and _is_cast(x, device) else x
    if type(x) in (tuple, list):
        return type(x)([_converted(y, dtype, device) for y in x])
    return {k: _converted(y, dtype, device) for k, y in x.items()} if type(x) is dict else x


def _rule_of(name, args, keywords, device):
    """'lower', 'single', 'widest' or None: what is done with the operands of a call."""
    if name in ("recurrent", "cell"):
        # What steps on a CPU pass on stays in the dtype of the input but for nets of whole layers.
        mode, x = args[0], args[1]
        layers = name == "recurrent" and mode != "GRU"
        steps = name == "cell" and mode.startswith("RNN")
        low = x._array.dtype.itemsize == 2
        return "lower" if device == "cuda" or layers or steps or low else None
    if name == "inner" and args[0].ndim < 2 and device == "cpu":
        return None  # a product of vectors stays in their dtype
    if name == "pad" and device == "cpu":
        mode = keywords.get("mode", args[2] if len(args) > 2 else "constant")
        return "single" if mode in ("reflect", "replicate") else None
    for rule, names in _RULES[device].items():
        if name in names:
            return rule
    return None


def _ask(function, args, keywords):
    """The core's question before each call of a function: its result, or None."""
    name = getattr(function, "__name__", "")
    state = _state().set
    for device, (on, lower) in state.items():
        if not on:
            continue
        rule = _rule_of(name, args, keywords, device)
        if rule is None:
            continue
        given = [t for t in _tensors([args, keywords]) if _is_cast(t, device)]
        if not given:
            continue
        target = lower.numpy if rule == "lower" else _SINGLE
        if rule == "widest":
            kinds = {t._array.dtype for t in given}
            if len(kinds) == 1:
                continue
        before = _core.set_caster(None)
        try:
            args, keywords = (_converted(x, target, device) for x in (args, keywords))
            return function(*args, **keywords)
        finally:
            _core.set_caster(before)
    return None


class autocast:
    """A block, and a decorator, in which functions of tensors cast their operands.

    Parameters
    ----------
    device_type : 'cpu' or 'cuda'
        Of the tensors that are cast.
    dtype : dtype, optional
        The lower one, float16 or bfloat16: float16 on a GPU and bfloat16 on a CPU, unless given.
    enabled : bool, default True
        Whether the block casts; False within another block switches it off.
    cache_enabled : bool, optional
        Read, but nothing is kept: a cast is one kernel or part of one.

    Raises RuntimeError for other devices, and TypeError for other dtypes of enabled blocks.
    """

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device = _kind(device_type)
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._enabled = bool(enabled)
        self._cache_enabled = cache_enabled
        if self._enabled and self.fast_dtype not in (_dtypes.float16, _dtypes.bfloat16):
            raise TypeError(
                message("autocast", "no lower dtype", self.fast_dtype, "float16 or bfloat16")
            )
        self._before = []

    def __enter__(self):
        state = _state().set
        self._before.append(state[self.device])
        state[self.device] = (self._enabled, self.fast_dtype)
        _switch(state)
        return self

    def __exit__(self, *error):
        state = _state().set
        state[self.device] = self._before.pop()
        _switch(state)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **keywords):
            with self:
                return function(*args, **keywords)

        return wrapper


def _switch(state):
    _core.set_caster(_ask if any([on for on, _ in state.values()]) else None)
