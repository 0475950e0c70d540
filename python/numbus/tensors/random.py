"""Random tensors: Philox streams of the process and of generators; not PyTorch's numbers."""

import math

import numpy

import numbus as nb

from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype, beside, moved_to, not_yet, sizes
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor
from .creation import finished


class Generator:
    """A stream of random numbers, repeatable by `manual_seed`."""

    def __init__(self, device="cpu"):
        self.device = device
        self.manual_seed(numpy.random.SeedSequence().entropy & (2**63 - 1))

    def manual_seed(self, seed):
        """Begins the stream of that seed."""
        self._seed = int(seed) & (2**64 - 1)
        self._rng = nb.random.Generator(nb.random.Philox(self._seed))
        return self

    def seed(self):
        """Begins a stream that nobody knows, and returns its seed."""
        self.manual_seed(numpy.random.SeedSequence().entropy & (2**63 - 1))
        return self._seed

    def initial_seed(self):
        """The seed that the stream began with."""
        return self._seed

    def get_state(self):
        """What `set_state` takes."""
        return self._rng.bit_generator.state

    def set_state(self, state):
        """Goes on where another generator was."""
        self._rng.bit_generator.state = state
        return self


default_generator = Generator()


def manual_seed(seed):
    """Begins the process's stream of random numbers anew; the same seed, the same numbers."""
    return default_generator.manual_seed(seed)


def seed():
    """Begins a stream that nobody knows."""
    return default_generator.seed()


def initial_seed():
    """The seed that the process's stream began with."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the process's stream."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Sets the state of the process's stream."""
    default_generator.set_state(new_state)


def rng(generator=None):
    """The array generator that a tensor generator draws from; None: that of the process."""
    return (default_generator if generator is None else generator)._rng


def _floats(t):
    t = _dtypes.default_float() if t is None else t
    if kind_of(t) != "f":
        raise RuntimeError(message("random", "not floating point", t, "a floating-point dtype"))
    return t


def uniform(shape, t, generator=None):
    """Numbers in [0, 1) as an array."""
    draw = t if t.itemsize > 2 else numpy.dtype("f4")
    return as_dtype(nb.asarray(rng(generator).random(shape, dtype=draw)), t)


def normal_array(shape, t, generator=None):
    """Standard normal numbers as an array."""
    draw = t if t.itemsize > 2 else numpy.dtype("f4")
    return as_dtype(nb.asarray(rng(generator).standard_normal(shape, dtype=draw)), t)


def _random(op, draw, doc):
    def make(
        *size, generator=None, out=None, dtype=None, device=None, requires_grad=False,
        pin_memory=False, layout=None,
    ):  # fmt: skip
        not_yet(op, out=out, layout=layout)
        t = _floats(_dtypes.to_numpy(dtype))
        return finished(draw(sizes(op, size), t, generator), device, requires_grad)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None):
        not_yet(op, memory_format=memory_format)
        a = input._array
        t = _floats(_dtypes.to_numpy(dtype) or a.dtype)
        return finished(draw(a.shape, t), beside(a) if device is None else device, requires_grad)

    make.__name__ = make.__qualname__ = op
    make.__doc__ = doc
    like.__name__ = like.__qualname__ = op + "_like"
    like.__doc__ = f"`{op}` of the shape, dtype and device of a tensor."
    return make, like


rand, rand_like = _random("rand", uniform, "Uniform numbers in [0, 1).")
randn, randn_like = _random("randn", normal_array, "Standard normal numbers.")


def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None,
            requires_grad=False):  # fmt: skip
    """Whole numbers from `low` up to `high`, without it; int64."""
    if size is None:
        low, high, size = 0, low, high
    t = _dtypes.to_numpy(dtype) or _dtypes.int64.numpy
    a = nb.asarray(rng(generator).integers(low, high, sizes("randint", (size,)), dtype="i8"))
    return finished(as_dtype(a, t), device, requires_grad)


def randint_like(input, low, high=None, *, dtype=None, device=None):
    """`randint` of the shape, dtype and device of a tensor."""
    low, high = (0, low) if high is None else (low, high)
    t = input._array.dtype if dtype is None else dtype
    where = beside(input._array) if device is None else device
    return randint(low, high, tuple(input.shape), dtype=t, device=where)


def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False):
    """The numbers below n in random order; int64."""
    t = _dtypes.to_numpy(dtype) or _dtypes.int64.numpy
    a = nb.asarray(rng(generator).permutation(n))
    return finished(as_dtype(a, t), device, requires_grad)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None,
           requires_grad=False):  # fmt: skip
    """Normal numbers of the means and standard deviations, numbers or tensors."""
    arrays = [x._array for x in (mean, std) if isinstance(x, Tensor)]
    shape = nb.broadcast_shapes(*[a.shape for a in arrays]) if arrays else sizes("normal", (size,))
    t = _dtypes.to_numpy(dtype) or (arrays[0].dtype if arrays else _dtypes.default_float())
    a = normal_array(shape, t, generator)
    m, s = (x._array if isinstance(x, Tensor) else x for x in (mean, std))
    where = beside(arrays[0]) if arrays and device is None else device
    return finished((a if where is None else a.to_device(where)) * s + m, where, requires_grad)


@tensor_function
def bernoulli(input, *, generator=None):
    """1 with the probability that each element says, else 0."""
    drawn = moved_to(uniform(input.shape, input.dtype, generator), input)
    return as_dtype(drawn < input, input.dtype)


Tensor.bernoulli = bernoulli


@method()
@tensor_function
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Indices drawn with the weights of each row."""
    weights = nb.asarray(input)
    rows = weights.reshape(-1, weights.shape[-1])
    if not replacement and num_samples > rows.shape[1]:
        raise RuntimeError(
            message("multinomial", "more samples than there are", num_samples, rows.shape[1])
        )
    if replacement:
        sums = nb.cumsum(rows.astype("f8"), axis=1)
        at = uniform((rows.shape[0], num_samples), numpy.dtype("f8"), generator)
        at = moved_to(at, input) * sums[:, -1:]
        found = nb.sum(at[:, :, None] >= sums[:, None, :], axis=2)
        found = nb.minimum(found, rows.shape[1] - 1)
    else:
        # The largest of log u / w are a sample without replacement (Efraimidis and Spirakis, 2006).
        u = moved_to(uniform(rows.shape, numpy.dtype("f8"), generator), input)
        keys = nb.where(
            rows > 0, nb.log(u + 1e-300) / nb.maximum(rows.astype("f8"), 1e-300), -math.inf
        )
        found = nb.argsort(-keys, axis=1)[:, :num_samples]
    return as_dtype(found, numpy.dtype("i8")).reshape((*weights.shape[:-1], num_samples))


def _put(draw):
    def change(a, *args, generator=None, **keywords):
        made = draw(a, *args, generator=generator, **keywords)
        a[...] = moved_to(made, a)

    return change


def _uniform(a, from_=0.0, to=1.0, *, generator=None, **limits):
    low = limits.pop("from", from_)
    if limits:
        raise TypeError(message("uniform_", "unknown keyword", sorted(limits), "from, to"))
    return uniform(a.shape, a.dtype, generator) * (to - low) + low


def _normal(a, mean=0.0, std=1.0, *, generator=None):
    return normal_array(a.shape, a.dtype, generator) * std + mean


def _whole(a, low=0, high=None, *, generator=None):
    low, high = (0, low) if high is None else (low, high)
    if high == 0:
        high = 2**24 if kind_of(a.dtype) == "f" else numpy.iinfo(a.dtype).max
    return as_dtype(nb.asarray(rng(generator).integers(low, high, a.shape)), a.dtype)


def _exponential(a, lambd=1.0, *, generator=None):
    return as_dtype(nb.asarray(rng(generator).exponential(1 / lambd, a.shape)), a.dtype)


def _bernoulli(a, p=0.5, *, generator=None):
    drawn = uniform(a.shape, numpy.dtype("f4"), generator)
    limit = p if not hasattr(p, "shape") else moved_to(p, drawn)
    return as_dtype(drawn < limit, a.dtype)


Tensor.uniform_ = in_place(_put(_uniform))
Tensor.normal_ = in_place(_put(_normal))
Tensor.random_ = in_place(_put(_whole))
Tensor.exponential_ = in_place(_put(_exponential))
Tensor.bernoulli_ = in_place(_put(_bernoulli))
