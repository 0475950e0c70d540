"""stencil against the same kernel run element by element in Python."""

import itertools

import numbus as nb
import numpy as np
import pytest
from numbus import njit, stencil
from numbus.kernels import CompileError

RNG = np.random.default_rng(11)
WIDTH = 1


class At:
    """An array as a kernel sees it at one position."""

    def __init__(self, array, position):
        self.array, self.position = array, position

    def __getitem__(self, offset):
        offset = offset if isinstance(offset, tuple) else (offset,)
        at = tuple(p + o for p, o in zip(self.position, offset, strict=True))
        assert all(0 <= i < n for i, n in zip(at, self.array.shape))
        return self.array[at]


def simulate(function, args, bounds, cval=0, out=None, standard=()):
    """What a stencil gives: bounds are (low, high) of each axis."""
    first = args[0]
    spans = [range(max(0, -low), n - max(0, high)) for (low, high), n in zip(bounds, first.shape)]
    result = out
    for position in itertools.product(*spans):
        seen = [
            At(a, position) if isinstance(a, np.ndarray) and k not in standard else a
            for k, a in enumerate(args)
        ]
        value = function(*seen)
        if result is None:
            result = np.full(first.shape, cval, np.asarray(value).dtype)
        result[position] = value
    return np.full(first.shape, cval, first.dtype) if result is None else result


def check(function, args, bounds, **options):
    """The stencil on both devices' code, from Python and from a compiled function."""
    standard = [
        list(function.__code__.co_varnames).index(n) for n in options.get("standard_indexing", ())
    ]
    want = simulate(function, args, bounds, options.get("cval", 0), standard=standard)
    s = stencil(**options)(function)
    np.testing.assert_allclose(s(*args), want, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(s._on_device(args)), want, rtol=1e-14)
    if len(args) == 1:
        np.testing.assert_allclose(njit(lambda a: s(a) * 2)(*args), want * 2, rtol=1e-14)
    return s(*args)


def cross(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])


def uneven(a):
    return a[-2, 1] - a[0, 3]


def line(a):
    return a[-1] + 2 * a[0] + a[1]


def ahead(a):
    return a[2] - a[1]


def cube(a):
    return a[-1, 0, 0] + a[1, 0, 0] + a[0, -1, 0] + a[0, 1, 0] + a[0, 0, -1] + a[0, 0, 1]


def four(a):
    return a[0, 0, 0, 1] - a[0, 0, -1, 0]


def constants(a):
    return a[WIDTH, -WIDTH] + a[-1 + 2, 0]


def branches(a):
    if a[0, 0] > 0.5:
        return a[-1, 0]
    t = 0.0
    for k in range(3):
        t += a[0, 1] * k
    return t


@pytest.mark.parametrize(
    ("function", "shape", "bounds"),
    [
        (cross, (7, 9), [(-1, 1), (-1, 1)]),
        (uneven, (7, 9), [(-2, 0), (0, 3)]),
        (line, (20,), [(-1, 1)]),
        (ahead, (20,), [(0, 2)]),
        (cube, (4, 5, 6), [(-1, 1)] * 3),
        (four, (2, 3, 4, 5), [(0, 0), (0, 0), (-1, 0), (0, 1)]),
        (constants, (5, 6), [(0, 1), (-1, 0)]),
        (branches, (6, 7), [(-1, 0), (0, 1)]),
        (cross, (2, 9), [(-1, 1), (-1, 1)]),
        (cross, (9, 2), [(-1, 1), (-1, 1)]),
        (cross, (0, 3), [(-1, 1), (-1, 1)]),
        (cross, (3, 3), [(-1, 1), (-1, 1)]),
        (ahead, (2,), [(0, 2)]),
    ],
)
@pytest.mark.parametrize("cval", [0, 3.5])
def test_against_a_simulation(function, shape, bounds, cval):
    options = {"cval": cval} if cval else {}
    check(function, [RNG.random(shape)], bounds, **options)


@pytest.mark.parametrize(
    "a", [RNG.random((8, 6)).T, RNG.random((12, 18))[::2, ::3], RNG.random((5, 6))[::-1, ::-1]]
)
def test_layouts(a):
    check(cross, [a], [(-1, 1), (-1, 1)])


def test_types():
    x = RNG.random((5, 5))
    assert stencil(cross)(x.astype("f4")).dtype == np.float32
    assert stencil(line)(np.arange(5)).dtype == np.int64
    assert stencil(line)(np.arange(5, dtype="i4")).dtype == np.int32
    assert stencil(lambda a: a[0] > a[1])(np.array([1, 3, 2])).tolist() == [False, True, False]
    assert isinstance(stencil(cross)(nb.array(x)), nb.ndarray)
    assert type(stencil(cross)(x)) is np.ndarray


def test_several_arrays_and_numbers():
    def mix(a, b, s):
        return a[-1, 0] * s + b[0, 1]

    x, y = RNG.random((5, 6)), RNG.random((6, 8))
    check(mix, [x, y, 2.5], [(-1, 0), (0, 1)])
    with pytest.raises(ValueError, match="array b is smaller than a"):
        stencil(mix)(x, y[:2], 1.0)


def test_standard_indexing():
    def weighted(a, w):
        return w[0] * a[-1] + w[1] * a[0] + w[2] * a[1]

    check(weighted, [RNG.random(9), np.array([1.0, -2.0, 1.0])], [(-1, 1)],
          standard_indexing=("w",))  # fmt: skip
    with pytest.raises(ValueError, match="names no parameter"):
        stencil(weighted, standard_indexing=("v",))


def test_neighborhood():
    def moving(a):
        t = 0.0
        for i in range(-3, 2):
            t += a[i]
        return t

    check(moving, [RNG.random(12)], [(-3, 1)], neighborhood=((-3, 1),))

    def window(a, n):
        t = 0.0
        for i in range(-n, n + 1):
            for j in range(-n, n + 1):
                t += a[i, j]
        return t

    check(window, [RNG.random((8, 9)), 2], [(-2, 2), (-2, 2)], neighborhood=((-2, 2), (-2, 2)))
    with pytest.raises(CompileError, match="has to be a constant"):
        stencil(moving)(np.zeros(9))
    with pytest.raises(ValueError, match="outside of the neighborhood; got -1 to 1 on axis 0"):
        stencil(line, neighborhood=((-1, 0),))(np.zeros(9))


def test_out():
    x = RNG.random((6, 6))
    out = np.full((6, 6), 9.0)
    assert stencil(cross)(x, out=out) is not None
    want = simulate(cross, [x], [(-1, 1)] * 2, out=np.full((6, 6), 9.0))
    np.testing.assert_allclose(out, want)
    out = np.full((6, 6), 9.0)
    stencil(cross, cval=0.0)(x, out=out)
    np.testing.assert_allclose(out, simulate(cross, [x], [(-1, 1)] * 2))
    a = x.copy()
    stencil(cross, cval=0.0)(a, out=a)
    np.testing.assert_allclose(a, simulate(cross, [x], [(-1, 1)] * 2))
    with pytest.raises(ValueError, match="out has the wrong shape"):
        stencil(cross)(x, out=np.zeros((5, 5)))


def test_in_compiled_functions():
    s = stencil(cross)

    @njit(parallel=True)
    def twice(a):
        b = np.zeros_like(a)
        s(s(a), out=b)
        return b

    x = RNG.random((7, 8))
    once = simulate(cross, [x], [(-1, 1)] * 2)
    np.testing.assert_allclose(twice(x), simulate(cross, [once], [(-1, 1)] * 2))


def test_closures_and_functions():
    weight = 3.0

    @njit
    def scaled(v):
        return v * weight

    check(lambda a: a[-1] + a[1], [RNG.random(9)], [(-1, 1)])
    s = stencil(lambda a: scaled(a[-1]))
    x = RNG.random(9)
    np.testing.assert_allclose(s(x)[1:], x[:-1] * 3)


def test_messages():
    x = np.zeros((4, 4))
    with pytest.raises(TypeError, match=r"cval does not fit.*got 1.5; expected.*int64"):
        stencil(line, cval=1.5)(np.arange(5))
    with pytest.raises(TypeError, match="cval does not fit"):
        stencil(line, cval=300)(np.arange(5, dtype="u1"))
    with pytest.raises(NotImplementedError, match="no such mode; got 'wrap'"):
        stencil("wrap")(line)
    with pytest.raises(TypeError, match="no such option; got mode"):
        stencil(mode="constant")
    with pytest.raises(TypeError, match="got 1 dimensions; expected 2"):
        stencil(cross)(np.zeros(4))
    with pytest.raises(TypeError, match="wrong number of arguments; got 2; expected 1: a"):
        stencil(cross)(x, x)
    with pytest.raises(CompileError, match="cannot assign"):

        @stencil
        def writes(a):
            a[0, 0] = 1
            return a[0, 0]

        writes(x)
    with pytest.raises(CompileError, match="same dimensions; got 1 indices here and 2 before"):
        stencil(lambda a, b: a[0, 1] + b[1])(x, x)
    with pytest.raises(CompileError, match="not indexed relatively"):
        stencil(lambda a: 1.0)(x)
    with pytest.raises(CompileError, match="constant integer"):
        stencil(lambda a: a[0.5, 1])(x)
    with pytest.raises(CompileError, match="slices"):
        stencil(lambda a: a[0:1, 1])(x)
