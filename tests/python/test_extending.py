"""numba.extending: overload, overload_method, overload_attribute."""

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, types
from numbus.kernels.classes import jitclass
from numbus.kernels.extending import (
    intrinsic,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
)


def kind_of(x, y=1):
    raise NotImplementedError("only for compiled functions")


@overload(kind_of)
def _kind_of(x, y=1):
    if isinstance(x, types.Integer):
        return lambda x, y=1: x + y
    if isinstance(x, types.Array) and x.dtype == types.float64 and x.ndim == 2:

        def matrix(x, y=1):
            return x[0, 0] * y

        return matrix
    if isinstance(x, types.UnicodeType):
        return lambda x, y=1: len(x) + y
    return None


def test_overload_chooses_by_types():
    @njit
    def f(x):
        return kind_of(x), kind_of(x, 3), kind_of(x, y=5)

    assert f(2) == (3, 5, 7)
    assert f(np.full((2, 2), 2.5)) == (2.5, 7.5, 12.5)
    assert f("abcd") == (5, 7, 9)
    with pytest.raises(CompileError, match=r"kind_of\(\) is not known for these types"):
        f(2.5)
    with pytest.raises(CompileError):
        f(np.zeros(3))
    with pytest.raises(NotImplementedError):
        kind_of(3)


def test_a_later_overload_knows_more():
    def g(x):
        raise NotImplementedError

    overload(g)(lambda x: (lambda x: 1) if isinstance(x, types.Integer) else None)
    overload(g)(lambda x: (lambda x: 2) if isinstance(x, types.Float) else None)

    @njit
    def f(x):
        return g(x)

    assert (f(1), f(1.0)) == (1, 2)


def test_a_function_that_compiled_functions_know():
    @jitclass([("n", types.int64)])
    class Box:
        def __init__(self, n):
            self.n = n

    kind = Box.class_type.instance_type

    @overload(len)
    def _len(x):
        if x == kind:
            return lambda x: x.n
        return None

    @njit
    def f(n):
        return len(Box(n)), len([1, 2, 3]), len("ab")

    assert f(7) == (7, 3, 2)


def test_methods_and_attributes():
    @overload_method(types.Array, "twice_and")
    def _twice_and(a, k=0):
        if a.ndim == 1:
            return lambda a, k=0: a.sum() * 2 + k
        return None

    @overload_attribute(types.Array, "middle")
    def _middle(a):
        return lambda a: a[a.size // 2]

    @overload_method(types.ListType, "second")
    def _second(items):
        return lambda items: items[1]

    @overload_method(types.UnicodeType, "shout")
    def _shout(s):
        return lambda s: s.upper() + "!"

    @njit
    def f(a, s):
        items = [4, 5, 6]
        items.append(7)
        return a.twice_and(), a.twice_and(k=1), a.middle, items.second(), s.shout()

    assert f(np.arange(5.0), "hi") == (20.0, 21.0, 2.0, 5, "HI!")
    with pytest.raises(CompileError, match="twice_and"):
        njit(lambda a: a.twice_and())(np.zeros((2, 2)))
    with pytest.raises(CompileError, match="middle"):
        njit(lambda x: x.middle)(3)


def test_of_one_jitclass():
    @jitclass([("x", types.float64)])
    class Point:
        def __init__(self, x):
            self.x = x

    @overload_method(Point.class_type.instance_type, "doubled")
    def _doubled(p):
        return lambda p: p.x * 2

    assert njit(lambda p: p.doubled())(Point(2.5)) == 5.0


def test_register_jitable_and_intrinsic():
    @register_jitable
    def helper(x):
        return x + 1

    @register_jitable(inline="always")
    def other(x):
        return helper(x) * 2

    assert njit(lambda x: other(x))(3) == 8 == other(3)
    with pytest.raises(NotImplementedError, match="got raw; expected overload"):

        @intrinsic
        def raw(context, x):
            return None

    with pytest.raises(NotImplementedError, match="got options"):
        intrinsic(prefer_literal=True)


def test_mistakes():
    def h(x):
        raise NotImplementedError

    overload(h)(lambda x: lambda y: y)
    with pytest.raises(CompileError, match="parameters"):
        njit(lambda x: h(x))(1)
    with pytest.raises(CompileError):
        njit(lambda x: h(x, x))(1)
    with pytest.raises(TypeError):
        overload(3)
    with pytest.raises(TypeError, match="compiled already"):
        overload(njit(h))
    with pytest.raises(TypeError, match="no such option"):
        overload(h, other=1)
    with pytest.raises(NotImplementedError):
        overload(h, jit_options={"cache": True, "parallel": True})
    with pytest.raises(TypeError, match="not a type"):
        overload_method(3, "x")


def test_kinds_of_types():
    assert isinstance(types.int8, types.Integer) and not isinstance(types.float32, types.Integer)
    assert isinstance(types.boolean, types.Boolean) and isinstance(types.float64[:], types.Array)
    assert isinstance(types.Tuple((types.int8, types.int8)), types.UniTuple)
    assert isinstance(types.ListType(types.int8), types.ListType)
    assert types.Array(types.float64, 2, "C").dtype == types.float64
    with pytest.raises(TypeError, match="class of types"):
        types.Integer(3)
