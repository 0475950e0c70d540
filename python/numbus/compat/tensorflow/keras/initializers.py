"""keras.initializers: what variables begin as. Numbers are those of `tf.random.set_seed`."""

import math
import re

import numbus as nb

from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops

__name__ = "keras.initializers"


class Initializer:
    """A function of a shape and a dtype."""

    def __call__(self, shape, dtype="float32"):
        raise NotImplementedError(message("Initializer", "no __call__", type(self), "a method"))


class Zeros(Initializer):
    """0 everywhere."""

    def __call__(self, shape, dtype="float32"):
        return _ops.zeros(shape, dtype)


class Ones(Initializer):
    """1 everywhere."""

    def __call__(self, shape, dtype="float32"):
        return _ops.ones(shape, dtype)


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value=0.0):
        self.value = value

    def __call__(self, shape, dtype="float32"):
        return _ops.cast(_ops.fill(shape, self.value), dtype)


class RandomNormal(Initializer):
    """Normal numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype="float32"):
        return _ops.random_normal(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(Initializer):
    """Normal numbers within two standard deviations."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype="float32"):
        return _ops.random_truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class Identity(Initializer):
    """A matrix with `gain` on the diagonal, 0 elsewhere."""

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype="float32"):
        if len(shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        return _ops.cast(_ops.tensor(self.gain * nb.eye(*shape, dtype="f4")), dtype)


class RandomUniform(Initializer):
    """Uniform numbers."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype="float32"):
        return _ops.random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


class VarianceScaling(Initializer):
    """Numbers whose variance is `scale` over the inputs, outputs, or their mean."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(message("VarianceScaling", "unknown mode", mode, "'fan_in'"))
        if distribution not in ("truncated_normal", "untruncated_normal", "uniform"):
            raise ValueError(message("VarianceScaling", "unknown", distribution, "'uniform'"))
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape, dtype="float32"):
        if len(shape) < 2:
            ins = outs = math.prod(shape)
        else:
            field = math.prod(shape[:-2])
            ins, outs = field * shape[-2], field * shape[-1]
        fan = {"fan_in": ins, "fan_out": outs, "fan_avg": (ins + outs) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return _ops.random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return _ops.random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        # The standard deviation of the normal distribution between -2 and 2.
        stddev = math.sqrt(variance) / 0.87962566103423978
        return _ops.random_truncated_normal(shape, 0.0, stddev, dtype, self.seed)


class Orthogonal(Initializer):
    """A matrix whose rows, or columns, are orthogonal and of length `gain`."""

    def __init__(self, gain=1.0, seed=None):
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype="float32"):
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        size = max(rows, columns), min(rows, columns)
        drawn = _ops.random_normal(size, 0.0, 1.0, dtype, self.seed)._value()
        q, r = nb.linalg.qr(drawn)
        q = q * nb.sign(nb.diagonal(r))
        made = q if rows >= columns else q.T
        return _ops.tensor(self.gain * made.reshape(shape))


def _scaled(name, scale, mode, distribution):
    def __init__(self, seed=None):
        VarianceScaling.__init__(self, scale, mode, distribution, seed)

    return type(name, (VarianceScaling,), {"__init__": __init__, "__doc__": f"{mode} of {scale}."})


GlorotUniform = _scaled("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaled("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeUniform = _scaled("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaled("HeNormal", 2.0, "fan_in", "truncated_normal")
LecunUniform = _scaled("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaled("LecunNormal", 1.0, "fan_in", "truncated_normal")
_KINDS = {
    kind.__name__: kind
    for kind in (Zeros, Ones, Constant, RandomNormal, TruncatedNormal, RandomUniform, Orthogonal,
                 VarianceScaling, Identity, GlorotUniform, GlorotNormal, HeUniform, HeNormal,
                 LecunUniform, LecunNormal)
}  # fmt: skip
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
random_normal, random_uniform = RandomNormal, RandomUniform
truncated_normal, variance_scaling = TruncatedNormal, VarianceScaling
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
he_uniform, he_normal = HeUniform, HeNormal
lecun_uniform, lecun_normal = LecunUniform, LecunNormal
_NAMES = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): k for name, k in _KINDS.items()}
_NAMES |= _KINDS | {
    "normal": RandomNormal, "uniform": RandomUniform, "zero": Zeros, "one": Ones,
    "IdentityInitializer": Identity, "OrthogonalInitializer": Orthogonal,
}  # fmt: skip


def get(identifier):
    """An initializer from its name, its class or its configuration; functions stay as they are."""
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier):
        return identifier
    if isinstance(identifier, dict) and identifier.get("class_name") in _NAMES:
        return _NAMES[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str) and identifier in _NAMES:
        return _NAMES[identifier]()
    raise ValueError(message("initializer", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.initializers", name)
