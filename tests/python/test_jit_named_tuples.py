"""Named tuples inside compiled functions: made, changed, joined, returned as their own class."""

import typing
from collections import namedtuple

import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit
from numbus.kernels import CompileError

Point = namedtuple("Point", "x y")
Options = namedtuple("Options", "step rounds scale", defaults=(2, 3.5))
ORIGIN = Point(0.5, 4)


class Body(typing.NamedTuple):
    mass: float
    position: Point
    count: int = 4


class Twin(Point):
    """Another class of the same fields."""


def test_made_by_place_by_name_and_with_defaults():
    def f(x):
        return Point(x, 2.0), Point(y=x, x=1), Options(x), Options(x, scale=1), Options(1, x, 3)

    made = check(f, 3.0)
    assert type(made[0]) is Point and type(made[2]) is Options

    def g(x):
        b = Body(x, Point(1, x))
        return b, b.position.y, b[1][0], b.count, len(b), Body(position=ORIGIN, mass=x, count=1)

    assert type(check(g, 1.5)[0].position) is Point


def test_replaced_and_taken_apart():
    def f(p, v):
        q = p._replace(y=v)
        a, b = q
        first, *rest = p
        return q, a * b, first, rest, max(q), sum(p), p[1:], p + (1,), q == p, q < p, v in p

    check(f, Point(1.0, 2.0), 3.0)

    def g(p):
        n = len(p._fields)
        return n, tuple(reversed(p)), tuple(p), p.count(1.0), p.index(2.0), Point(*p)

    made = check(g, Point(1.0, 2.0))
    assert type(made[2]) is tuple and type(made[5]) is Point


def test_widened_at_joins():
    def f(n, x):
        p = Point(0, x)
        for i in range(n):
            p = Point(p.x + 0.5 * i, p.y)
        return p

    check(f, 3, 1.0)


def test_through_callees_and_branches():
    @njit
    def swapped(p):
        return Point(p.y, p.x)

    def made(cls, x):
        return cls(x, x + 1)

    def f(x, flag):
        p = swapped(Point(x, 2))
        q = p if flag else Point(2, 7.5)
        return p, q, made(Point, x)

    for flag in (True, False):
        result = njit(f)(1.5, flag)
        assert result == f(1.5, flag) and type(result[1]) is Point


def test_holds_arrays():
    def f(x):
        p = Point(x.copy(), x[1:])
        p.x[0] = 7
        return p, p.x + ORIGIN.x, p.y.sum()

    check(f, np.arange(4.0))


def test_each_class_is_a_type_of_its_own():
    def f(p):
        return isinstance(p, Point), isinstance(p, Options), isinstance(p, tuple)

    assert njit(f)(Point(1, 2)) == (True, False, True)
    assert type(njit(lambda p: p)(Twin(1, 2))) is Twin
    assert type(njit(lambda p: p)(Point(1, 2))) is Point


def test_in_a_kernel():
    @cuda.jit(device=True)
    def moved(b, dt):
        return b._replace(position=Point(b.position.x + dt, b.position.y))

    @cuda.jit
    def f(x, out):
        i = cuda.grid(1)
        if i < x.size:
            b = Body(x[i], Point(0.0, x[i]))
            for _ in range(3):
                b = moved(b, b.mass)
            out[i] = b.position.x + b.position.y * b.count

    x = np.arange(20.0)
    out = np.zeros(20)
    f[1, 32](x, out)
    np.testing.assert_allclose(out, 7 * x)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: Point(x), "Point() is missing 'y'"),
        (lambda x: Point(x, x, 3), "Point() takes 2 values; got 3"),
        (lambda x: Point(x, z=2), "Point() has no field 'z'"),
        (lambda x: Point(x, x=2), "Point() got two values for 'x'"),
        (lambda x: Point(x, 2).q, "has no field 'q'"),
        (lambda x: Point(x, 2)._replace(q=3), "Point has no field 'q'"),
        (lambda x: Point(x, 2)._replace(3), "_replace() takes keywords only"),
    ],
)
def test_mistakes(function, said):
    with pytest.raises(CompileError) as error:
        njit(function)(1.0)
    text = str(error.value)
    assert said in text and "^" in text and len(text.split("\n")) <= 12


def test_starred_targets():
    def f(a, t):
        first, *middle, last = a
        *front, end = t
        return first, middle, last, front, end

    check(f, np.arange(5.0), (1, 2, 3))
    check(f, np.arange(2.0), (1, 2))
    with pytest.raises(ValueError, match="not enough values to unpack"):
        njit(f)(np.arange(1.0), (1, 2))
