"""Values that several functions' arguments are drawn from (registry_samples.py): made of the first
array and its axis.
"""

import numpy as np

ABSENT = object()


def extent(a, axis):
    return a.shape[axis] if a.ndim else 1


def one_layer(a, axis):
    return np.take(a, [0], axis) if a.ndim and a.shape[axis] else a


def alike(a, axis):
    """Another array of the same shape, and one with a line less."""
    return [ABSENT, None, a[::-1].copy() if a.ndim else a, a[1:] if a.ndim else a]


def count(a):
    """How many observations cov() sees in `a`."""
    return a.shape[-1] if a.ndim else 1


def fweights(a, axis):
    n = count(a)
    return [ABSENT, None, np.arange(n), np.ones(n + 1, int), np.full(n, -1), np.full(n, 0.5)]


def aweights(a, axis):
    n = count(a)
    return [ABSENT, None, np.linspace(0.5, 1, n), np.zeros(n), np.ones((1, n)), np.arange(n)]


def fractions(most, axes=2):
    def some(a, axis):
        given = [0.3, 0.5, 0, 1, [0.25, 0.5, 0.75], [0.1], 1.5, -0.5, [0.5, 2.0]]
        given = [np.multiply(q, most).tolist() for q in given]
        # Of a short float array with NaN, and a q that is not Python's own number, NumPy's dtype
        # depends on where the NaN is.
        plain = a.dtype.kind != "f" or a.dtype == np.float64 or not np.isnan(a).any()
        if plain:
            given += [np.float64(0.4) * most, [], np.linspace(0, 1, 21) * most]
            if axes == 2:  # NumPy mixes the axes up where NaNs are skipped over several axes
                given.append(np.array([[0.0, 0.2], [1.0, 0.6]]) * most)
            return given
        return [q for q in given if not isinstance(q, list)]

    return some


def own_weights(a, axis):
    """weights() without those along an axis, which NumPy's nan functions cannot use."""
    return [w for w in weights(a, axis) if not isinstance(w, np.ndarray) or w.shape == a.shape]


def weights(a, axis):
    if not a.ndim or not a.shape[axis]:
        return [ABSENT]
    line = np.linspace(0, 1, a.shape[axis])
    whole = np.abs(np.nan_to_num(a.real.astype(float), posinf=1, neginf=1))
    return [ABSENT, ABSENT, None, line, whole, -line, np.zeros(a.shape)]


def ranks(n):
    return [0, -1, n // 2, n, [0, n // 2], (n - 1, 0, n // 2), list(range(n))[:7]]


RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "no rule"]


def finite(a):
    """Whether the elements give limits to a histogram."""
    return a.dtype.kind not in "fc" or np.isfinite(a).all()


def bins(a, axis):
    """Edges most of the time, because those of equal width refuse NaN."""
    given = [[0, 1, 2.5], (-1, 0, 0, 3), [1], [2, 1]]
    given += [np.array(edges) for edges in ([-2.0, 0.5, 4.0], [0, 2, 9], [0.0, 1, np.nan])]
    given += [1, 7, 0, 2.5, np.array([[0, 1], [2, 3]])]
    # NumPy's own rules overflow in float16, and in differences of small integers.
    return given + (RULES if a.dtype.kind != "c" and a.dtype.itemsize > 2 else [5])


def limits(a, axis):
    given = [(0, 5), (-1.5, 2.5), (1, 1), (3, 1), (0, np.inf)]
    return [ABSENT, None, *given] if finite(a) else given


def bin_weights(a, axis):
    w = np.linspace(0, 1, a.size).reshape(a.shape)
    return [ABSENT, ABSENT, None, w, np.arange(a.size, dtype=np.int16).reshape(a.shape), w[:-1]]


def point_bins(a, axis):
    return [ABSENT, 4, [0, 1, 2.5, 3], (3, 2), ([0.0, 1.0], 3), 0, [1], 2.5]


def point_limits(a, axis):
    given = [((0, 5), (-1, 1.5)), ((0, 5), None), ((3, 1), (0, 1)), ((0, 1),)]
    return [ABSENT, None, *given] if finite(a) else given


def trimmable(a, axis):
    b = a.copy()
    for d in range(b.ndim):
        b[(slice(None),) * d + ([0, -1] if b.shape[d] else slice(0),)] = 0
    return [a, b, b.ravel(), [0, 0, 1, 2, 0], np.zeros((3, 2)), [0.0, 0]]


def masks(a, axis):
    return [a != 0, a.copy(), np.ravel(a) == 1, True, [True, False], np.zeros(0, bool)]


def values(a, axis):
    given = [1, 2.5, True, [1, 2], [], np.arange(3, dtype=np.int8), a.copy(), np.float32(-1), 1j]
    return [*given, a[:1].copy()] if a.ndim else given


def insertions(a, axis):
    n = a.shape[axis] if a.ndim else 1
    some = [0, -1, 1, n, n + 1, np.int8(0), [0, n], [1], [], np.array([0, 0, n]), slice(0, n, 2)]
    return some + [np.arange(n) % 2 == 0, [-n, 0], 0.5, [[0]]]


def stacked(a, axis):
    x = a.tolist()
    return [
        (x,),
        (x, x),
        (x, x[::-1], x),
        (x, x[1:]),
        ([1, 2], [3, 4]),
        ([[1]], [[2.5]]),
        ([0.5, 2], [True, False]),
    ]


def vectors(a, axis):
    b = a.ravel()[:6] if a.size > 5 else np.arange(6.0)
    return [
        b[:3],
        b.reshape(2, 3),
        b.reshape(3, 2),
        b[:2],
        [1, 2, 3],
        b,
        np.ones((2, 3, 3), np.int8),
        2,
    ]


def some_axes(a, axis):
    given = [ABSENT, ABSENT, None, *range(-a.ndim, a.ndim), a.ndim]
    return given + [(0, 1), (-1, 0), (1, 1)] if a.ndim > 1 else given


def positions(a, axis):
    n = a.shape[axis] if a.ndim else 1
    given = [0, -1, n, [0, 0], [], [[0], [-1]], np.array([0, n - 1], np.int8), [True, False], 0.5]
    return given + [np.array(0), np.zeros((0, 2), int), [-n, n - 1], np.uint8(0), [n + 3, -n - 2]]


def along(a, axis):
    indices = np.zeros([2 if d == axis % max(a.ndim, 1) else n for d, n in enumerate(a.shape)], int)
    return [indices, indices - 1, indices.astype(np.uint8), indices + 9, np.argsort(a.ravel())]


def sections(a, axis):
    return [1, 2, 3, 0, -1, [1], [1, 2], [], (0, 5, 2), np.array([1]), 2.0, [-1], np.int8(2)]


def choices(a, axis):
    # NumPy refuses numbers of Python's beside integers without sign.
    mixed = [a, 0] if a.dtype.kind in "ifc" else [a, a[:1] if a.ndim else a]
    return [[a, a], mixed, [1, 2.5], [a], [], [np.float32(2), a]]
