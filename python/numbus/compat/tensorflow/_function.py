"""tf.function, tf.TensorSpec and tf.print."""

import functools
import sys

from ...core.errors import message
from ._compiled import Calls
from ._tensor import DTYPES, Tensor, TensorShape, as_numpy_dtype, convert


class TensorSpec:
    """A shape, whose lengths may be None, and a type."""

    def __init__(self, shape=None, dtype="float32", name=None):
        self.shape = None if shape is None else TensorShape(shape)
        self.dtype = DTYPES[as_numpy_dtype(dtype).name]
        self.name = name

    def fits(self, x):
        """Whether a tensor has this shape and type."""
        if x.dtype != self.dtype:
            return False
        return self.shape is None or (
            len(self.shape) == x.ndim
            and all(n in (None, m) for n, m in zip(self.shape, x.shape, strict=True))
        )

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        name = self.name if self.name is None else repr(self.name)
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={name})"


def function(func=None, input_signature=None, autograph=True, jit_compile=None,
             reduce_retracing=False):  # fmt: skip
    """A function whose work is recorded again, for other tensors of these shapes and types, without
    its Python code, where the device has memory of its own (a GPU) and the code computes alone.

    Elsewhere it runs as Python each time, and so does one that prints, appends, reads elements or
    changes objects: what it does in Python is done at each call. With an `input_signature`
    arguments become tensors and have to fit it: TypeError. The other options say how graphs are
    built.
    """
    for option in (autograph, jit_compile, reduce_retracing):
        if option not in (True, False, None):
            raise TypeError(message("tf.function", "an option is no bool", option, "True or False"))
    if func is None:
        return functools.partial(
            function, input_signature=input_signature, autograph=autograph,
            jit_compile=jit_compile, reduce_retracing=reduce_retracing,
        )  # fmt: skip
    calls = Calls(func, strict=True)

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        if input_signature is not None:
            args = _checked(input_signature, args)
        return calls(*args, **keywords)

    wrapper.python_function = func
    wrapper.compiled = calls.compiled
    wrapper.get_concrete_function = lambda *args, **keywords: wrapper
    return wrapper


def _checked(signature, args):
    method = len(args) == len(signature) + 1  # of an object
    given = args[1:] if method else args
    if len(given) != len(signature):
        raise TypeError(
            message("tf.function", "not an argument for each of input_signature", len(given),
                    len(signature))
        )  # fmt: skip
    made = []
    for x, spec in zip(given, signature, strict=True):
        t = spec.dtype._numpy
        x = x if isinstance(x, Tensor) else convert(x, t)
        if not spec.fits(x):
            raise TypeError(
                f"Binding inputs to tf.function failed due to `Can not cast "
                f"TensorSpec(shape={x.shape}, dtype={x.dtype!r}, name=None) to {spec!r}`."
            )
        made.append(x)
    return (*args[:1], *made) if method else tuple(made)


def _text(x):
    if isinstance(x, Tensor):
        a = x._host()
        return str(a) if x.ndim else f"{a[()]}"
    if isinstance(x, (list, tuple)):
        inner = ", ".join(_text(item) for item in x)
        return f"[{inner}]" if isinstance(x, list) else f"({inner})"
    return str(x)


def print(*inputs, output_stream=sys.stderr, sep=" ", end="\n", summarize=3):
    """Writes texts and tensors to standard error."""
    if summarize not in (3, -1):
        raise NotImplementedError(
            message("tf.print", "summarize= is not yet available", summarize, "3 or -1")
        )
    stream = sys.stdout if output_stream in ("stdout", "sys.stdout") else output_stream
    stream.write(sep.join(_text(x) for x in inputs) + end)
