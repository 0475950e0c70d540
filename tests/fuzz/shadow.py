"""NumPy with a small error on purpose: what a correct library may compute, for tolerances.

Operations that need not agree bit for bit with NumPy (transcendental functions, float reductions,
complex products) are perturbed by a relative amount far above a rounding error. How far a
program's results then move says how exactly Numbus must reproduce them: not at all → bit for bit; a
truth value or integer that changes → a tie at a threshold, and the statement is not generated.
"""

from __future__ import annotations

import os
import types

import numpy as np
from program import rnd

PERTURB = {2: 2e-3, 4: 4e-6, 8: 1e-12}  # by the size of the real type
_SIGNS = np.random.default_rng(3).choice([-1.0, 1.0], 1 << 16)
_AMOUNT = _SIGNS * np.random.default_rng(4).uniform(0.5, 1.0, 1 << 16)

# Bit for bit as NumPy for real operands (and for integers every operation is).
EXACT_REAL = frozenset(
    """add subtract multiply divide sqrt negative positive absolute fabs minimum maximum fmin fmax
    floor ceil rint trunc sign signbit copysign square reciprocal conjugate equal not_equal less
    less_equal greater greater_equal logical_and logical_or logical_xor logical_not isnan isfinite
    isinf heaviside nextafter spacing fmod""".split()
)
EXACT_COMPLEX = frozenset(
    """add subtract negative positive conjugate equal not_equal logical_and logical_or logical_xor
    logical_not isnan isfinite isinf""".split()
)
EXTREMES = frozenset("minimum maximum fmin fmax".split())
# Sums and products along an axis: in NumPy's order on a CPU, in one of their own on a GPU.
ORDERED_SCANS = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"
EXACT_REDUCTIONS = frozenset("minimum maximum fmin fmax logical_and logical_or".split())


def real_size(dtype) -> int:
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def _amount(x, offset):
    """Signed relative perturbations shaped like x, in the real type of x."""
    n = max(x.size, 1)
    eps = PERTURB.get(real_size(x.dtype), 1e-12)
    amount = np.resize(_AMOUNT[offset % 1024 :], n)[: x.size].reshape(x.shape)
    return (amount * eps).astype(x.real.dtype)


class OrderDependent(Exception):
    """NumPy has no answer: `a[::2] = a[:3]` reads elements that it has written before."""


def ordered_overlap(target, source) -> bool:
    """Whether NumPy assigns front to back (or back to front) although the two sides overlap.

    For one axis whose strides have one sign it makes no copy of the source, which is right only
    where the strides are equal; Numbus reads the values from before the assignment.
    """
    if not isinstance(source, np.ndarray) or target.ndim != 1 or source.ndim < 1:
        return False
    if source.strides[-1] == target.strides[0] or source.strides[-1] * target.strides[0] <= 0:
        return False
    return np.shares_memory(target, source)


class Shadow(np.ndarray):
    """An ndarray whose inexact results are a little off."""

    counter = 0
    nan = np.nan  # of either sign
    whole = False  # what is a whole number but for rounding becomes one
    tainted = False  # the program has computed something inexact
    complex_products = 0  # how often complex numbers were multiplied up

    def __setitem__(self, index, value):
        target = self[index] if not isinstance(index, np.ndarray) else None
        if isinstance(target, np.ndarray) and ordered_overlap(target, value):
            raise OrderDependent(f"{target.strides} from {value.strides}")
        if self.dtype.kind in "iu" and getattr(value, "dtype", self.dtype).kind in "fc":
            # What an integer cannot hold becomes what the machine's instruction makes of it.
            info = np.iinfo(self.dtype)
            if not ((value.real > float(info.min) - 1) & (value.real < float(info.max))).all():
                raise OrderDependent(f"floats beyond {self.dtype}")
        super().__setitem__(index, value)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        raw = [x.view(np.ndarray) if isinstance(x, Shadow) else x for x in inputs]
        if isinstance(kwargs.get("where"), Shadow):
            kwargs["where"] = kwargs["where"].view(np.ndarray)
        if out is not None:
            kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Shadow) else x for x in out)
            if method == "accumulate" and kwargs["out"][0].shape != raw[0].shape:
                # NumPy writes a scan of one element into the first row of many.
                raise OrderDependent(f"a scan of {raw[0].shape} into {kwargs['out'][0].shape}")
        y = getattr(ufunc, method)(*raw, **kwargs)
        if isinstance(y, tuple):
            return tuple(wrap(v) for v in y)
        if ufunc is np.multiply and y is not None:
            Shadow.complex_products += np.iscomplexobj(y)
        if ufunc.__name__ in EXTREMES and out is None:
            y = other_zero(y)
        Shadow.tainted |= y is not None and inexact(ufunc.__name__, method, raw, y)
        if out is not None:
            target = kwargs["out"][0]
            if inexact(ufunc.__name__, method, raw, target):
                where = kwargs.get("where", True) if method == "__call__" else True
                d = perturbation(ufunc.__name__, method, raw, target, kwargs)
                np.add(target, d, out=target, where=where, casting="unsafe")
            return out[0]
        if y is not None and inexact(ufunc.__name__, method, raw, y):
            y = y + perturbation(ufunc.__name__, method, raw, y, kwargs)
            if Shadow.whole and y.dtype.kind == "f":
                near = np.abs(y - np.rint(y)) <= 2 * PERTURB.get(y.dtype.itemsize, 0) * np.abs(y)
                y = np.where(near, np.rint(y), y) if isinstance(y, np.ndarray) else y
        elif Shadow.tainted and ufunc in (np.add, np.subtract) and method == "__call__":
            y = rounded_elsewhere(y, raw)
        return wrap(other_nan(y))


def _coarse(name):
    """A float16 statistic: NumPy computes it in float32, whose perturbations rarely survive the
    rounding to the result."""

    def method(self, *args, **kwargs):
        y = getattr(np.ndarray, name)(self, *args, **kwargs)
        if y.dtype == np.float16 and kwargs.get("out") is None:
            Shadow.counter += 1
            y = (y + y * _amount(np.asarray(y), Shadow.counter * 37)).astype(np.float16)
        return wrap(y)

    return method


for _name in ("mean", "std", "var"):
    setattr(Shadow, _name, _coarse(_name))


def wrap(y):
    return y.view(Shadow) if type(y) is np.ndarray else y


def inexact(name, method, inputs, y) -> bool:
    if y.dtype.kind not in "fc":
        return False
    if method == "reduce":
        return name not in EXACT_REDUCTIONS
    if method == "accumulate" and name in ("add", "multiply") and not ORDERED_SCANS:
        return True
    exact = EXACT_REAL
    if y.dtype.kind == "c" or any(getattr(x, "dtype", y.dtype).kind == "c" for x in inputs):
        exact = EXACT_COMPLEX
    return name not in exact


def perturbation(name, method, inputs, y, kwargs):
    """An absolute change of y, in y's own type."""
    Shadow.counter += 1
    scale = magnitude(y) if np.iscomplexobj(y) else y
    if name in ("add", "matmul") and method != "__call__":
        total = {k: v for k, v in kwargs.items() if k in ("axis", "keepdims", "where")}
        scale = getattr(np.add, method)(magnitude(inputs[0]), **total)
    amount = _amount(np.asarray(y), Shadow.counter * 37)
    if np.iscomplexobj(y):  # either part may be off by what the other weighs
        amount = amount + 1j * _amount(np.asarray(y), Shadow.counter * 37 + 511)
    d = scale * amount * coarser(y.dtype, method, inputs, kwargs)
    return d.astype(y.dtype) if isinstance(d, np.ndarray) else y.dtype.type(d)


def magnitude(x):
    """|x|, of a complex number with a NaN that of its other part."""
    if not np.iscomplexobj(x):
        return np.abs(x)
    return np.nan_to_num(np.abs(np.real(x))) + np.nan_to_num(np.abs(np.imag(x)))


def other_zero(y):
    """Which of two zeros is the larger one is nobody's promise: `copysign` must not ask."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "f":
        zero = y == 0
        if zero.any():
            return np.where(zero, np.copysign(y, y.dtype.type(Shadow.nan)), y)
    return y


def other_nan(y):
    """The sign of a NaN that an operation makes is nobody's promise: `signbit` must not ask."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "f":
        nan = np.isnan(y)
        if nan.any():
            return np.where(nan, y.dtype.type(Shadow.nan), y)
    return y


def rounded_elsewhere(y, inputs):
    """A sum or difference that cancels, of terms that may be inexact: their last digits matter."""
    if y.dtype.kind not in "fc":
        return y
    terms = np.maximum(magnitude(inputs[0]), magnitude(inputs[1])).astype(y.real.dtype)
    cancels = (magnitude(y) < 0.25 * terms) & (y != 0)
    if not np.any(cancels):
        return y
    Shadow.counter += 1
    sign = np.sign(_amount(np.asarray(y), Shadow.counter * 37))
    d = np.where(cancels, terms * sign * np.finfo(y.dtype).eps, 0)
    return (y + d).astype(y.dtype)


def coarser(dtype, method, inputs, kwargs) -> float:
    """How much less exact the loop is than the output: float32 operands with a float64 out=."""
    narrow = {1: np.float16, 2: np.float32} if method == "__call__" else {}
    kinds = [
        x.dtype if x.dtype.kind in "fc" else narrow.get(x.dtype.itemsize, np.float64)
        for x in inputs
        if hasattr(x, "dtype")
    ]
    if "out" not in kwargs or not kinds or "dtype" in kwargs:
        return 1.0
    loop = PERTURB.get(real_size(np.result_type(*kinds)), 1e-12)
    return max(1.0, loop / PERTURB.get(real_size(dtype), 1e-12))


def _perturbed(function):
    """A NumPy function outside the ufunc protocol, its result wrapped and perturbed."""

    def call(*args, **kwargs):
        y = function(*[np.asarray(a) if isinstance(a, Shadow) else a for a in args], **kwargs)
        if y.dtype.kind in "fc":
            Shadow.counter += 1
            # NumPy adds up long rows one after the other: its own error grows with them.
            length = max([np.size(a) for a in args if isinstance(a, np.ndarray)], default=1)
            amount = _amount(np.asarray(y), Shadow.counter * 37) * max(1.0, length / 2**14)
            y = y + (y * amount).astype(y.dtype)
        return wrap(y)

    return call


def _wrapped(function):
    def call(*args, **kwargs):
        return wrap(function(*args, **kwargs))

    return call


def _parted(a, kth, axis=-1):
    """np.partition, both sides of the rank in order, or in reverse: nobody promises one."""
    y = np.sort(np.asarray(a), axis)
    if not Shadow.whole:
        line = np.moveaxis(y, -1 if axis is None else axis, -1)
        k = kth % line.shape[-1]
        for side in (line[..., :k], line[..., k + 1 :]):
            side[...] = side[..., ::-1].copy()
    return wrap(y)


def _scalar_ufunc(function, name):
    """A ufunc on scalars only reaches no __array_ufunc__: perturb here."""

    def call(*args, **kwargs):
        y = function(*args, **kwargs)
        if any(isinstance(x, Shadow) for x in args):
            return y  # has been there
        if isinstance(y, np.generic) and inexact(name, "__call__", args, y):
            Shadow.counter += 1
            y = y + y.dtype.type(y * _amount(np.asarray(y), Shadow.counter * 37)[()])
        return wrap(y)

    return call


def _build() -> types.SimpleNamespace:
    module = types.SimpleNamespace(**{k: v for k, v in vars(np).items() if not k.startswith("__")})
    for name, value in vars(np).items():
        if isinstance(value, np.ufunc):
            setattr(module, name, _scalar_ufunc(value, value.__name__))
    for (
        name
    ) in """array asarray zeros ones full empty arange eye zeros_like ones_like full_like where
        concatenate stack take copy roll flip repeat tile pad diagonal broadcast_to reshape
        ravel""".split():
        setattr(module, name, _wrapped(getattr(np, name)))
    module.asarray = lambda x, *a, **k: wrap(np.asanyarray(x, *a, **k))
    module.partition = _parted
    for name in "linspace dot vdot inner outer tensordot einsum".split():
        setattr(module, name, _perturbed(getattr(np, name)))
    module.rnd = lambda *args: wrap(rnd(*args))
    module.linalg = types.SimpleNamespace(norm=_perturbed(np.linalg.norm))
    return module


shadow_numpy = _build()


def spread(y, z) -> float:
    """Largest |y - z|, NaNs at the same places apart; inf when NaNs or discrete values differ."""
    y, z = np.asarray(y), np.asarray(z)
    if y.dtype != z.dtype or y.shape != z.shape:
        return np.inf
    if y.dtype.kind not in "fc":
        return 0.0 if y.tobytes() == z.tobytes() else np.inf
    if y.size == 0:
        return 0.0
    if y.dtype.kind == "c":  # part by part: a NaN in one says nothing of the other
        return max(spread(y.real, z.real), spread(y.imag, z.imag))
    d = np.abs(y.astype(np.float64) - z.astype(np.float64))
    nan = np.isnan(d)
    if nan.any():
        same = (y == z) | (np.isnan(y) & np.isnan(z))
        if not same[nan].all():
            return np.inf
        d = np.where(nan, 0.0, d)
    return float(d.max())
