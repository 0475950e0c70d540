"""Random numbers, with the bits of numpy.random.RandomState.

Each thread has a state of its own, which is not NumPy's; np.random.seed inside a compiled function
sets it. Portions of a parallel loop draw from streams that follow from the state and the portion's
index.
"""

import math

import numpy as np

from .._library import known, random_seed, random_unit
from .sources import draw, gauss, under_mask
from .sources import exponential as of_mean_one


@known("np.random.seed")
def seed(seed):
    """Begins anew, as numpy.random.RandomState(seed)."""
    if seed < 0 or seed > 4294967295:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    random_seed(seed)


# --- one number each


def one_uniform(_g, low, high):
    return low + (high - low) * random_unit()


def one_normal(_g, loc, scale):
    return loc + scale * gauss()


def one_exponential(g, scale, _):
    return of_mean_one(g) * scale


# --- as NumPy has them


@known("np.random.random", "np.random.random_sample", "np.random.ranf", "np.random.sample")
def random(size=None):
    """Of [0, 1)."""
    return draw(None, size, one_uniform, 0.0, 1.0)


@known("np.random.rand")
def rand(*shape):
    """Of [0, 1), in that shape."""
    if len(shape) == 0:
        return random_unit()
    return draw(None, shape, one_uniform, 0.0, 1.0)


@known("np.random.randn")
def randn(*shape):
    """Standard normal numbers in that shape."""
    if len(shape) == 0:
        return gauss()
    return draw(None, shape, one_normal, 0.0, 1.0)


@known("np.random.uniform")
def uniform(low=0.0, high=1.0, size=None):
    """Of [low, high)."""
    if not math.isfinite(float(high) - float(low)):
        raise OverflowError("Range exceeds valid bounds")
    return draw(None, size, one_uniform, float(low), float(high))


@known("np.random.standard_normal")
def standard_normal(size=None):
    """Normal numbers of mean 0 and deviation 1."""
    return draw(None, size, one_normal, 0.0, 1.0)


@known("np.random.normal")
def normal(loc=0.0, scale=1.0, size=None):
    """Normal numbers of that mean and deviation."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(None, size, one_normal, float(loc), float(scale))


@known("np.random.standard_exponential")
def standard_exponential(size=None):
    """Exponential numbers of mean 1."""
    return draw(None, size, one_exponential, 1.0, 0.0)


@known("np.random.exponential")
def exponential(scale=1.0, size=None):
    """Exponential numbers of that mean."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(None, size, one_exponential, float(scale), 0.0)


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
        return first + np.int64(under_mask(None, most))
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = first + np.int64(under_mask(None, most))
    return out


@known("np.random.shuffle")
def shuffle(x):
    """Puts the items along the first axis in another order."""
    for i in range(x.shape[0] - 1, 0, -1):
        j = np.int64(under_mask(None, np.uint64(i)))
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
