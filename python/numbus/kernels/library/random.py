"""Random numbers, with the bits of numpy.random.RandomState.

Each thread has a state of its own, which is not NumPy's; np.random.seed inside a compiled function
sets it. Portions of a parallel loop draw from streams that follow from the state and the portion's
index.
"""

import math

import numpy as np

from .._library import known, random_bits, random_kept, random_seed, random_unit


@known("np.random.seed")
def seed(seed):
    """Begins anew, as numpy.random.RandomState(seed)."""
    if seed < 0 or seed > 4294967295:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    random_seed(seed)


def fill(size, one, a, b):
    """An array of numbers that one(a, b) gives."""
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one(a, b)
    return out


def fill_integers(size, one, a, b):
    """The same for integers."""
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one(a, b)
    return out


def below(most):
    """An integer of [0, most], of uint64: bits under a mask until one fits."""
    if most == np.uint64(0):
        return np.uint64(0)
    mask = most
    mask |= mask >> np.uint64(1)
    mask |= mask >> np.uint64(2)
    mask |= mask >> np.uint64(4)
    mask |= mask >> np.uint64(8)
    mask |= mask >> np.uint64(16)
    mask |= mask >> np.uint64(32)
    while True:
        v = np.uint64(random_bits())
        if most > np.uint64(0xFFFFFFFF):
            v = v << np.uint64(32) | np.uint64(random_bits())
        v &= mask
        if v <= most:
            return v


# --- one number each


def one_uniform(low, high):
    return low + (high - low) * random_unit()


def gauss():
    """A standard normal number: of each pair, one is kept for the next call."""
    kept = random_kept()
    if kept[0] != 0.0:
        kept[0] = 0.0
        return kept[1]
    while True:
        x = 2.0 * random_unit() - 1.0
        y = 2.0 * random_unit() - 1.0
        r = x * x + y * y
        if r < 1.0 and r != 0.0:
            break
    f = math.sqrt(-2.0 * math.log(r) / r)
    kept[0] = 1.0
    kept[1] = f * x
    return f * y


def one_normal(loc, scale):
    return loc + scale * gauss()


def one_exponential(scale, _):
    return -math.log1p(-random_unit()) * scale


# --- as NumPy has them


@known("np.random.random", "np.random.random_sample", "np.random.ranf", "np.random.sample")
def random(size=None):
    """Of [0, 1)."""
    if size is None:
        return random_unit()
    return fill(size, one_uniform, 0.0, 1.0)


@known("np.random.rand")
def rand(*shape):
    """Of [0, 1), in that shape."""
    if len(shape) == 0:
        return random_unit()
    return fill(shape, one_uniform, 0.0, 1.0)


@known("np.random.randn")
def randn(*shape):
    """Standard normal numbers in that shape."""
    if len(shape) == 0:
        return gauss()
    return fill(shape, one_normal, 0.0, 1.0)


@known("np.random.uniform")
def uniform(low=0.0, high=1.0, size=None):
    """Of [low, high)."""
    if not math.isfinite(float(high) - float(low)):
        raise OverflowError("Range exceeds valid bounds")
    if size is None:
        return one_uniform(float(low), float(high))
    return fill(size, one_uniform, float(low), float(high))


@known("np.random.standard_normal")
def standard_normal(size=None):
    """Normal numbers of mean 0 and deviation 1."""
    if size is None:
        return gauss()
    return fill(size, one_normal, 0.0, 1.0)


@known("np.random.normal")
def normal(loc=0.0, scale=1.0, size=None):
    """Normal numbers of that mean and deviation."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_normal(float(loc), float(scale))
    return fill(size, one_normal, float(loc), float(scale))


@known("np.random.standard_exponential")
def standard_exponential(size=None):
    """Exponential numbers of mean 1."""
    if size is None:
        return one_exponential(1.0, 0.0)
    return fill(size, one_exponential, 1.0, 0.0)


@known("np.random.exponential")
def exponential(scale=1.0, size=None):
    """Exponential numbers of that mean."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_exponential(float(scale), 0.0)
    return fill(size, one_exponential, float(scale), 0.0)


@known("np.random.randint")
def randint(low, high=None, size=None):
    """Integers of [low, high), or of [0, low)."""
    if high is None:
        return randint(0, low, size)
    first = int(low)
    last = int(high) - 1
    if last < first:
        raise ValueError("low >= high")
    most = np.uint64(last) - np.uint64(first)
    if size is None:
        return first + np.int64(below(most))
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = first + np.int64(below(most))
    return out


@known("np.random.shuffle")
def shuffle(x):
    """Puts the items along the first axis in another order."""
    for i in range(x.shape[0] - 1, 0, -1):
        j = np.int64(below(np.uint64(i)))
        if x.ndim == 1:
            x[i], x[j] = x[j], x[i]
        else:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


@known("np.random.permutation")
def permutation(x):
    """A shuffled copy; of an integer, the numbers up to it."""
    if isinstance(x, np.ndarray):
        out = x.copy()
        shuffle(out)
        return out
    numbers = np.arange(x)
    shuffle(numbers)
    return numbers


@known("np.random.choice")
def choice(a, size=None, replace=True, p=None):
    """Items of an array, or integers up to a number; p: how likely each is, with replacement."""
    if isinstance(a, np.ndarray):
        if size is None:
            return a[choice(a.shape[0], None, replace, p)]
        return a[choice(a.shape[0], size, replace, p)]
    if p is None:
        if size is None:
            return randint(0, a)
        if replace:
            return randint(0, a, size)
        count = np.empty(size, np.bool_).size
        if count > a:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        return permutation(a)[:count].reshape(size)
    if not replace:
        return choice_apart(a, size, p)
    steps = np.cumsum(p)
    steps /= steps[-1]
    return np.searchsorted(steps, random(size), "right")


def choice_apart(a, size, p):
    """Different integers up to `a`; those that come twice are drawn again."""
    out = np.empty(size, np.int64)
    found = out.reshape(-1)
    weights = np.array(p)
    if np.count_nonzero(weights > 0) < found.size:
        raise ValueError("Fewer non-zero entries in p than size")
    taken = np.zeros(a, np.bool_)
    n = 0
    while n < found.size:
        x = random(found.size - n)
        weights[taken] = 0.0
        steps = np.cumsum(weights)
        steps /= steps[-1]
        for k in np.searchsorted(steps, x, "right"):
            if not taken[k]:
                taken[k] = True
                found[n] = k
                n += 1
    return out
