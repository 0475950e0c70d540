"""Random tensors: Philox streams of the process and of generators; not PyTorch's numbers."""

import json
import math
import operator
import os

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype, beside, moved_to, not_yet, sizes
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor
from .creation import filling, finished, named, tensor


class Generator:
    """A stream of random numbers, repeatable by `manual_seed`.

    Tensors of a device whose memory the host cannot read, such as a GPU, have numbers of a stream
    of that device, which begins with the seed, too: Philox's, whose state is an array there.
    Numbers for the host and for a device differ, as PyTorch's do.
    """

    def __init__(self, device="cpu"):
        self.device = device
        self.draws = 0  # how often numbers were drawn
        self._streams = {}
        self._process = os.getpid()
        self.manual_seed(_unknown_seed())

    def manual_seed(self, seed):
        """Begins the streams of that seed."""
        _core.spoil_capture()
        self._seed = int(seed) & (2**64 - 1)
        self._rng = nb.random.Generator(nb.random.Philox(self._seed))
        return self.seed_devices(self._seed)

    def seed_devices(self, seed):
        """Begins the streams of all devices but the host's."""
        _core.spoil_capture()
        self._of_devices = int(seed) & (2**64 - 1)
        self._go_on({})
        return self

    def seed(self):
        """Begins streams that nobody knows, and returns their seed."""
        self.manual_seed(_unknown_seed())
        return self._seed

    def initial_seed(self):
        """The seed that the streams began with."""
        _core.spoil_capture()
        return self._seed

    def get_state(self):
        """What `set_state` takes: a tensor of bytes, which can be saved."""
        return _bytes_of(self.known())

    def known(self):
        """The same by names, as numbers of the host's."""
        state = self.present()
        devices = state["devices"]
        state["devices"] = {k: w if isinstance(w, list) else w.tolist() for k, w in devices.items()}
        return state

    def clone_state(self):
        """Another generator, whose streams go on where this one's are."""
        made = Generator(self.device)
        made.set_state(self.known())
        return made

    def present(self):
        """The same without waiting for devices, whose words are copied there."""
        _core.spoil_capture()
        begun = {name: _core.copy_of(parts[0]) for name, parts in self._own().items()}
        return {
            **self._rng.bit_generator.state,
            "seed": self._seed,
            "seed_of_devices": self._of_devices,
            "devices": {**self._later, **begun},
        }

    def set_state(self, state):
        """Goes on where another generator was; a device that is not there yet does when it is."""
        _core.spoil_capture()
        given = dict(state if isinstance(state, dict) else _known_of(state))
        seed = given.pop("seed", self._seed)
        of_devices = given.pop("seed_of_devices", seed)
        devices = given.pop("devices", {})
        self._rng.bit_generator.state = given
        self._seed, self._of_devices = seed, of_devices
        self._go_on(devices)
        return self

    def state_of_devices(self):
        """The part of `get_state` that concerns all devices but the host."""
        state = self.known()
        return _bytes_of({k: state[k] for k in ("seed_of_devices", "devices")})

    def set_state_of_devices(self, state):
        """Has their streams go on where they were."""
        _core.spoil_capture()
        state = state if isinstance(state, dict) else _known_of(state)
        self._of_devices = state["seed_of_devices"]
        self._go_on(state["devices"])

    def __getstate__(self):
        return {"device": self.device, "state": self.known()}

    def __setstate__(self, known):
        self.__init__(known["device"])
        self.set_state(known["state"])

    def stream(self, device):
        """The states on a device that uniform and normal numbers are drawn from: words of uint64,
        which a draw counts up in place.
        """
        known = self._own()
        if device not in known:
            words = self._later.pop(device, self._words())
            words = numpy.array(words, numpy.uint64) if isinstance(words, list) else words
            state = nb.asarray(words).to_device(device)
            known[device] = state, state[:6], state[6:]
        return known[device][1:]

    def _own(self):
        # A forked process may not touch the device of its parent.
        if self._process != os.getpid():
            self._streams, self._process = {}, os.getpid()
        return self._streams

    def _words(self):
        """Philox's key of two words and counter of four, then the key and counter of the normal
        numbers.
        """
        mixed = numpy.random.SeedSequence(self._of_devices, spawn_key=(1,))
        first, second, third = mixed.generate_state(3, numpy.uint64).tolist()
        return [first, second, 0, 0, 0, 0, third, 0]

    def _go_on(self, devices):
        """Has the streams of devices go on from words; those without begin."""
        self._later = dict(devices)
        for name, parts in self._own().items():
            words = self._later.pop(name, None)
            words = self._words() if words is None else words
            parts[0][...] = numpy.array(words, numpy.uint64) if isinstance(words, list) else words


_STATE_BYTES = 4096


def _bytes_of(state):
    """A state as a tensor of bytes, of one length for as many devices as there are."""
    text = json.dumps(state, default=lambda x: x.tolist()).encode()
    size = -(-len(text) // _STATE_BYTES) * _STATE_BYTES
    return tensor(numpy.frombuffer(text.ljust(size), numpy.uint8).copy(), device="cpu")


def _known_of(state):
    """The state that a tensor of bytes tells."""
    if not isinstance(state, Tensor) or str(state.dtype).rpartition(".")[2] != "uint8":
        got = state.dtype if isinstance(state, Tensor) else type(state).__name__
        raise TypeError(message("set_state", "not a state", got, "a tensor of uint8"))
    try:
        known = json.loads(state.detach().cpu().numpy().tobytes())
    except ValueError:
        known = None
    if not isinstance(known, dict) or "seed_of_devices" not in known:
        raise RuntimeError(
            message("set_state", "not a state", f"{state.numel()} bytes", "what get_state gave")
        )
    return known


def _unknown_seed():
    return numpy.random.SeedSequence().entropy & (2**63 - 1)


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
    of = default_generator if generator is None else generator
    of.draws += 1
    return of._rng


def _floats(t):
    t = _dtypes.default_float() if t is None else t
    if kind_of(t) != "f":
        raise RuntimeError(message("random", "not floating point", t, "a floating-point dtype"))
    return t


def _drawn(routine, host, shape, t, generator, where):
    of = default_generator if generator is None else generator
    of.draws += 1
    draw = t if t.itemsize > 2 else numpy.dtype("f4")
    device = _core.draws_from(where)
    n = math.prod(shape)
    if device is not None:
        made = _core.draw_on(routine, of.stream(device)[routine == "normal"], n, draw)
    elif routine == "normal" and n >= _SEVERAL:
        # A stream of its own for each call: its key is the next word of the generator's.
        key = of._rng.bit_generator.random_raw()
        made = _core.draw(routine, [key, 0], n, draw, where)
    else:
        return as_dtype(nb.asarray(getattr(of._rng, host)(shape, dtype=draw)), t)
    return as_dtype(made.reshape(shape), t)


_SEVERAL = 256  # normal numbers that are drawn sooner by Box and Muller's pairs, on threads
_MANY = 4096  # whole numbers that are made of uniform ones sooner than drawn one by one


def _whole_numbers(low, high, shape, generator, where):
    """Numbers of int64 from `low` up to `high`, without it."""
    low, high = operator.index(low), operator.index(high)
    _in_order("randint", high > low, "high is not above low", (low, high), "low < high")
    if math.prod(shape) >= _MANY and 0 < high - low <= 2**32:
        drawn = uniform(shape, numpy.dtype("f8"), generator, where)
        return (drawn * float(high - low)).astype("i8") + low
    return nb.asarray(rng(generator).integers(low, high, shape, dtype="i8"))


def _in_order(op, right, wrong, got, expected):
    if not right:
        raise RuntimeError(message(op, wrong, got, expected))


def _spread(op, std):
    """Refuses a standard deviation that is a negative number; tensors are not read."""
    if not isinstance(std, Tensor):
        _in_order(op, std >= 0, "standard deviation is negative", std, "std >= 0")


def uniform(shape, t, generator=None, where=None):
    """Numbers in [0, 1) as an array, for the device of that name."""
    return _drawn("philox", "random", shape, t, generator, where)


class _HostParts:
    """Parts of what a generator draws on the host, each as often as is wanted once all before it
    have been drawn.
    """

    def __init__(self, of):
        _core.spoil_capture()
        self._of = of
        self._known = {0: of.bit_generator.state}
        self._own = nb.random.Generator(nb.random.Philox(0))

    def part(self, begin, end):
        self._own.bit_generator.state = self._known[begin]
        found = self._own.random((end - begin,), dtype=numpy.dtype("f4"))
        self._known.setdefault(end, self._own.bit_generator.state)
        return nb.asarray(found)

    def finish(self):
        self._of.bit_generator.state = self._known[max(self._known)]


class _DeviceParts:
    """The same of a stream whose state lies on a device."""

    def __init__(self, state, n):
        self._state, self._n = state, n
        self._begin = _core.copy_of(state)

    def part(self, begin, end):
        skipped = begin // _OF_A_BLOCK
        state = _core.copy_of(self._begin)
        state[2:3] += numpy.uint64(skipped)
        first = skipped * _OF_A_BLOCK
        return _core.draw_on("philox", state, end - first, numpy.dtype("f4"))[begin - first :]

    def finish(self):
        self._state[2:3] += numpy.uint64(-(-self._n // _OF_A_BLOCK))


_OF_A_BLOCK = 8  # numbers of float32 of one counter of Philox


def uniform_parts(n, where=None):
    """What `uniform((n,), float32, where=where)` would draw, in parts, so that not all is stored:
    `part(begin, end)`, in order, and any of them again; `finish()` leaves the generator where it
    would be.
    """
    default_generator.draws += 1
    device = _core.draws_from(where)
    if device is None:
        return _HostParts(default_generator._rng)
    return _DeviceParts(default_generator.stream(device)[0], n)


def normal_array(shape, t, generator=None, where=None):
    """Standard normal numbers as an array, for the device of that name."""
    return _drawn("normal", "standard_normal", shape, t, generator, where)


def _random(op, draw, doc):
    def make(
        *lengths, size=None, generator=None, dtype=None, device=None, requires_grad=False,
        pin_memory=False, layout=None,
    ):  # fmt: skip
        not_yet(op, layout=layout)
        t = _floats(_dtypes.to_numpy(dtype))
        where = named(device)
        return finished(draw(sizes(op, lengths, size), t, generator, where), where, requires_grad)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None):
        not_yet(op, memory_format=memory_format)
        a = input._array
        t = _floats(_dtypes.to_numpy(dtype) or a.dtype)
        where = beside(a) if device is None else named(device)
        return finished(draw(a.shape, t, None, where), where, requires_grad)

    make.__name__ = make.__qualname__ = op
    make.__doc__ = doc
    like.__name__ = like.__qualname__ = op + "_like"
    like.__doc__ = f"`{op}` of the shape, dtype and device of a tensor."
    return filling(make), like


rand, rand_like = _random("rand", uniform, "Uniform numbers in [0, 1).")
randn, randn_like = _random("randn", normal_array, "Standard normal numbers.")


@filling
def randint(low=0, high=None, size=None, *, generator=None, dtype=None, device=None,
            requires_grad=False):  # fmt: skip
    """Whole numbers from `low` up to `high`, without it; int64."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    t = _dtypes.to_numpy(dtype) or _dtypes.int64.numpy
    where = named(device)
    a = _whole_numbers(low, high, sizes("randint", (size,)), generator, where)
    return finished(as_dtype(a, t), where, requires_grad)


def randint_like(input, low, high=None, *, dtype=None, device=None):
    """`randint` of the shape, dtype and device of a tensor."""
    low, high = (0, low) if high is None else (low, high)
    t = input._array.dtype if dtype is None else dtype
    where = beside(input._array) if device is None else device
    return randint(low, high, tuple(input.shape), dtype=t, device=where)


@filling
def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False):
    """The numbers below n in random order; int64."""
    _in_order("randperm", n >= 0, "n is negative", n, "n >= 0")
    t = _dtypes.to_numpy(dtype) or _dtypes.int64.numpy
    a = nb.asarray(rng(generator).permutation(n))
    return finished(as_dtype(a, t), device, requires_grad)


@filling
def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None,
           requires_grad=False):  # fmt: skip
    """Normal numbers of the means and standard deviations, numbers or tensors."""
    _spread("normal", std)
    arrays = [x._array for x in (mean, std) if isinstance(x, Tensor)]
    shape = nb.broadcast_shapes(*[a.shape for a in arrays]) if arrays else sizes("normal", (size,))
    t = _dtypes.to_numpy(dtype) or (arrays[0].dtype if arrays else _dtypes.default_float())
    where = beside(arrays[0]) if arrays and device is None else named(device)
    a = normal_array(shape, t, generator, where)
    m, s = (x._array if isinstance(x, Tensor) else x for x in (mean, std))
    return finished((a if where is None else a.to_device(where)) * s + m, where, requires_grad)


@tensor_function
def bernoulli(input, p=None, *, generator=None):
    """1 with the probability that each element says, else 0.

    p: the probability of all elements instead. RuntimeError where it is not in [0, 1].
    """
    if p is not None:
        return _bernoulli(input, p, generator=generator)
    drawn = moved_to(uniform(input.shape, input.dtype, generator, beside(input)), input)
    return as_dtype(drawn < input, input.dtype)


Tensor.bernoulli = bernoulli


_FEW = 2**16  # comparisons that take less time than a search


def _by_host(draw, like, *given):
    """Numbers that the host draws for float64 parameters, as a tensor like `like`."""
    values = numpy.broadcast_arrays(*[x.detach().cpu().numpy().astype("f8") for x in given])
    drawn = numpy.asarray(draw(*values)).reshape(values[0].shape)
    return tensor(drawn).to(like.dtype).to(like.device)


def poisson(input, generator=None):
    """Numbers of Poisson distributions of the rates, drawn by the host; of the rates' dtype.

    RuntimeError for negative rates.
    """

    def draw(rates):
        _in_order("poisson", not (rates < 0).any(), "negative rates", rates.min(initial=0), ">= 0")
        return rng(generator).poisson(rates)

    return _by_host(draw, input, input)


def binomial(count, prob, generator=None):
    """How many of `count` trials succeed that each do with probability `prob`, drawn by the host;
    of the dtype of `count`.
    """
    return _by_host(lambda n, p: rng(generator).binomial(n.astype("i8"), p), count, count, prob)


@method()
@tensor_function
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Indices drawn with the weights of each row.

    The host reads whether the weights are right: RuntimeError for negative, infinite and NaN ones,
    and for rows whose sum is 0.
    """
    weights = nb.asarray(input)
    rows = weights.reshape(-1, weights.shape[-1])
    if rows.size:
        least = nb.min(rows, axis=1)
        right = (least >= 0) & nb.isfinite(nb.max(rows, axis=1)) & (nb.sum(rows, axis=1) > 0)
        if not bool(nb.all(right)):
            raise RuntimeError(
                message("multinomial", "weights of a row are no distribution",
                        "negative, infinite or NaN ones, or a sum of 0", "weights >= 0, some > 0")
            )  # fmt: skip
    whole = kind_of(weights.dtype) != "f" or weights.ndim > 2
    _in_order("multinomial", not whole, "weights", (weights.dtype, weights.shape),
              "a line or matrix of floats")  # fmt: skip
    _in_order("multinomial", num_samples > 0, "number of samples", num_samples, "1 or more")
    if not replacement and num_samples > rows.shape[1]:
        raise RuntimeError(
            message("multinomial", "more samples than there are", num_samples, rows.shape[1])
        )
    if replacement:
        sums = nb.cumsum(rows.astype("f8"), axis=1)
        at = uniform((rows.shape[0], num_samples), numpy.dtype("f8"), generator, beside(input))
        at = moved_to(at, input) * sums[:, -1:]
        if len(rows) == 1 and rows.size * num_samples > _FEW:
            found = nb.searchsorted(sums[0], at[0], side="right")[None]
        else:
            found = nb.sum(at[:, :, None] >= sums[:, None, :], axis=2)
        found = nb.minimum(found, rows.shape[1] - 1)
    else:
        # The largest of log u / w are a sample without replacement (Efraimidis and Spirakis, 2006).
        u = uniform(rows.shape, numpy.dtype("f8"), generator, beside(input))
        u = moved_to(u, input)
        keys = nb.where(
            rows > 0, nb.log(u + 1e-300) / nb.maximum(rows.astype("f8"), 1e-300), -math.inf
        )
        found = nb.argsort(-keys, axis=1)[:, :num_samples]
    return as_dtype(found, numpy.dtype("i8")).reshape((*weights.shape[:-1], num_samples))


def _put(draw):
    def change(a, *args, generator=None, **keywords):
        made = draw(a, *args, generator=generator, **keywords)
        a[...] = moved_to(nb.asarray(made), a)

    return change


def _uniform(a, from_=0.0, to=1.0, *, generator=None, **limits):
    low = limits.pop("from", from_)
    if limits:
        raise TypeError(message("uniform_", "unknown keyword", sorted(limits), "from, to"))
    _in_order("uniform_", low <= to, "from is above to", (low, to), "from <= to")
    made = uniform(a.shape, a.dtype, generator, beside(a))
    return made if low == 0 and to == 1 else made * (to - low) + low


def _normal(a, mean=0.0, std=1.0, *, generator=None):
    _spread("normal_", std)
    made = normal_array(a.shape, a.dtype, generator, beside(a))
    return made if mean == 0 and std == 1 else made * std + mean


def _whole(a, from_=None, to=None, *, generator=None, **limits):
    low = limits.pop("from", from_)
    if limits:
        raise TypeError(message("random_", "unknown keyword", sorted(limits), "from, to"))
    low, high = (0, low or 0) if to is None else (low or 0, to)
    if high == 0:
        high = 2**24 if kind_of(a.dtype) == "f" else numpy.iinfo(a.dtype).max
    return as_dtype(_whole_numbers(low, high, a.shape, generator, beside(a)), a.dtype)


def _exponential(a, lambd=1.0, *, generator=None):
    _in_order("exponential_", lambd > 0, "lambd", lambd, "a positive number")
    return as_dtype(nb.asarray(rng(generator).exponential(1 / lambd, a.shape)), a.dtype)


def _bernoulli(a, p=0.5, *, generator=None):
    if not hasattr(p, "shape"):
        _in_order("bernoulli", 0 <= p <= 1, "p is no probability", p, "0 to 1")
    drawn = uniform(a.shape, numpy.dtype("f4"), generator, beside(a))
    limit = p if not hasattr(p, "shape") else moved_to(p, drawn)
    return as_dtype(drawn < limit, a.dtype)


Tensor.uniform_ = in_place(_put(_uniform))
Tensor.normal_ = in_place(_put(_normal))
Tensor.random_ = in_place(_put(_whole))
Tensor.exponential_ = in_place(_put(_exponential))
Tensor.bernoulli_ = in_place(_put(_bernoulli))
