"""jitclass: objects that Python and compiled functions share, as Numba's documentation has them."""

import gc
import weakref

import numpy as np
import pytest
from numbus import njit, prange
from numbus.kernels import CompileError, types
from numbus.kernels.classes import deferred_type, jitclass
from numbus.kernels.typed import Dict, List

int32, int64, float32, float64 = types.int32, types.int64, types.float32, types.float64


class PlainBag:
    def __init__(self, value, scale=2.0):
        self.value = value
        self.scale = scale
        self.array = np.zeros(value, dtype=np.float32)

    @property
    def size(self):
        return self.array.size

    @property
    def first(self):
        return self.array[0]

    @first.setter
    def first(self, x):
        self.array[0] = x * self.scale

    def increment(self, by):
        for i in range(self.size):
            self.array[i] += by
        return self.array

    def twice(self, other):
        return self.add(other, other) + self.value

    @staticmethod
    def add(x, y):
        return x + y


BAG = [("value", int32), ("scale", float64), ("array", float32[:])]
Bag = jitclass(BAG)(PlainBag)


def work(cls):
    b = cls(21)
    b.increment(3)
    b.first = 4
    b.value += 2
    b.array[2] = 9
    b.array += 1
    c = cls(3, scale=0.5)
    c.first = b.first
    return b.value, b.size, b.array.sum(), b.twice(4), cls.add(1, 2), c.first, c.scale


def test_python_and_compiled_functions_agree():
    assert work(Bag) == work(PlainBag)

    @njit
    def inside():
        b = Bag(21)
        b.increment(3)
        b.first = 4
        b.value += 2
        b.array[2] = 9
        b.array += 1
        c = Bag(3, scale=0.5)
        c.first = b.first
        return b.value, b.size, b.array.sum(), b.twice(4), Bag.add(1, 2), c.first, c.scale

    assert inside() == work(PlainBag)


def test_objects_are_shared():
    @njit
    def change(b, x):
        b.value = x
        b.array = np.full(2, x, np.float32)
        return b

    b = Bag(3)
    assert change(b, 7) is b
    assert b.value == 7 and b.array.tolist() == [7, 7]
    b.value = 9.9  # cast, as Numba does
    assert b.value == 9 and type(b.value) is int
    held = b.array
    b.array = np.arange(5, dtype=np.float32)
    assert held.tolist() == [7, 7] and b.size == 5


def test_arrays_of_arguments_stay_alive():
    @njit
    def keep(b, a):
        b.array = a

    b = Bag(1)

    class Own(np.ndarray):
        pass

    a = np.arange(1000, dtype=np.float32)
    keep(b, a)
    a[3] = 50
    assert b.array[3] == 50  # the same memory
    del a
    gc.collect()
    np.full(1000, 3, np.float32)
    assert b.array[:5].tolist() == [0, 1, 2, 50, 4]


def test_objects_are_released():
    b = Bag(3)
    gone = weakref.ref(b)
    del b
    gc.collect()
    assert gone() is None


def test_many_objects():
    @njit
    def total(n):
        t = 0.0
        for i in range(n):
            b = Bag(i % 7 + 1)
            b.increment(i)
            t += b.array[0]
        return t

    assert total(3000) == sum(range(3000))


node = deferred_type()


@jitclass([("data", int64), ("next", types.optional(node))])
class Node:
    def __init__(self, data, after):
        self.data = data
        self.next = after

    def total(self):
        s = self.data
        n = self.next
        while n is not None:
            s += n.data
            n = n.next
        return s


node.define(Node.class_type.instance_type)


def test_rows_of_objects():
    @njit
    def row(n):
        head = Node(0, None)
        for i in range(1, n):
            head = Node(i, head)
        return head

    r = row(5)
    assert r.data == 4 and r.next.next.data == 2 and r.next.next.next.next.next is None
    assert row(300_000).total() == 300_000 * 299_999 // 2  # releases them without recursion
    assert Node(3, Node(4, None)).total() == 7


@jitclass
class Annotated:
    x: int
    y: float
    name: str
    items: list[float]
    counts: dict[str, int]
    bag: Bag
    pair: tuple[int, float]
    maybe: float | None

    def __init__(self, name="abc"):
        self.x = 2.9
        self.y = 3
        self.name = name
        self.items = [1.0, 2.0]
        self.counts = Dict.empty(types.unicode_type, int64)
        self.counts[name] = 4
        self.items.append(3.5)
        self.pair = (1, 2.5)
        self.maybe = None

    def longest(self):
        n = len(self.name)
        for k in self.counts:
            n = max(n, len(k))
        return n

    def pick(self):
        m = self.maybe
        if m is None:
            return -1.0
        return m


def test_fields_of_all_types():
    a = Annotated()
    assert (a.x, a.y, a.name, a.items, dict(a.counts), a.pair) == (
        2, 3.0, "abc", [1.0, 2.0, 3.5], {"abc": 4}, (1, 2.5)
    )  # fmt: skip
    assert a.maybe is None and a.pick() == -1.0
    a.maybe = 2.5
    assert a.maybe == 2.5 == a.pick()
    a.counts["longer"] = 1
    assert a.longest() == 6
    with pytest.raises(AttributeError, match="'bag' has not been given a value"):
        _ = a.bag
    b = Bag(4)
    a.bag = b
    b.value = 77
    assert a.bag.value == 77
    a.items = List([5.0])
    a.name = "δ"
    assert a.items == [5.0] and a.name == "δ"


class PlainVector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return self.x + other.x + self.y + other.y

    def __radd__(self, other):
        return self.x + other

    def __mul__(self, k):
        return self.x * k

    def __imul__(self, k):
        self.x = self.x * k
        return self

    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        return self.x < other.x

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __setitem__(self, i, v):
        if i == 0:
            self.x = v
        else:
            self.y = v

    def __len__(self):
        return 2

    def __contains__(self, v):
        return self.x == v or self.y == v

    def __abs__(self):
        return (self.x * self.x + self.y * self.y) ** 0.5

    def __bool__(self):
        return self.x != 0

    def __float__(self):
        return self.x + 0.5


Vector = jitclass([("x", float64), ("y", float64)])(PlainVector)


def operate(a, b):
    r = [a + b, 3.0 + a, a * 2.5, a[0], a[1], float(len(a)), abs(a), float(a)]
    s = [a == b, a != b, a < b, a > b, 3.0 in a, 3.0 not in a, bool(a), a is b, a is a, not a]
    a[1] = 12.5
    a *= 3.0
    a[0] += 1.0
    t = 1.0 if a else 2.0
    return r, s, a.x, a.y, t


def test_operators():
    for x, y in ((3.0, 4.0), (0.0, 3.0), (5.0, 1.0)):
        want = operate(PlainVector(x, y), PlainVector(3.0, 2.0))
        assert njit(operate)(Vector(x, y), Vector(3.0, 2.0)) == want
        assert operate(Vector(x, y), Vector(3.0, 2.0)) == want


def test_objects_in_lists_and_dicts():
    @njit
    def best(n):
        found = [Vector(float(i % 5), float(i)) for i in range(n)]
        by = {}
        for v in found:
            by[int(v.y)] = v
        found[0].x = 100.0
        return found, by[0].x, by[n - 1].y

    found, x, y = best(6)
    assert [v.y for v in found] == [0, 1, 2, 3, 4, 5] and (x, y) == (100.0, 5.0)

    @njit
    def total(vectors):
        t = 0.0
        for v in vectors:
            t += v.x
            v.y = 0.0
        return t

    assert total(found) == 100 + 1 + 2 + 3 + 4 + 0 and found[3].y == 0


def test_parallel_loops_read_objects():
    @njit(parallel=True)
    def scaled(v, n):
        out = np.zeros(n)
        for i in prange(n):
            out[i] = v.x * i
        return out

    assert scaled(Vector(2.0, 0.0), 5).tolist() == [0, 2, 4, 6, 8]

    @njit(parallel=True)
    def changed(v, n):
        for i in prange(n):
            v.x = i

    with pytest.raises(CompileError, match="parallel loop"):
        changed(Vector(2.0, 0.0), 5)


def test_mistakes_in_compiled_functions():
    def field(v):
        return v.z

    def method(v):
        return v.nothing()

    def wrong_type(b):
        b.array = np.zeros(3)

    def wrong_axes(b):
        b.array = np.zeros((3, 2), np.float32)

    def text(b):
        b.value = "a"

    def new(b):
        b.other = 1

    v, b = Vector(1.0, 2.0), Bag(2)
    for f, a, says in (
        (field, v, "no attribute 'z'"),
        (method, v, "no method 'nothing'"),
        (wrong_type, b, "field 'array'"),
        (wrong_axes, b, "field 'array'"),
        (text, b, "field 'value'"),
        (new, b, "no field 'other'"),
    ):
        with pytest.raises(CompileError, match=says):
            njit(f)(a)
    with pytest.raises(TypeError):
        Vector(1.0)
    with pytest.raises(TypeError):
        Vector(1.0, 2.0, z=3)
    with pytest.raises(AttributeError, match="no field of that name"):
        v.z = 3
    with pytest.raises(AttributeError):
        _ = v.z
    with pytest.raises(CompileError, match="field 'array'"):
        b.array = np.zeros(3)


def test_an_error_in_init():
    @jitclass([("x", int64)])
    class Positive:
        def __init__(self, x):
            if x < 0:
                raise ValueError("negative")
            self.x = x

    assert Positive(3).x == 3
    with pytest.raises(ValueError, match="negative"):
        Positive(-3)


def test_wrong_specifications():
    class Empty:
        pass

    class Child(Empty):
        pass

    class Constant:
        factor = 3

    class Clash:
        def x(self):
            return 1

    assert isinstance(jitclass([])(Empty)(), jitclass([])(Empty).__bases__[0])
    for spec, cls, says in (
        (3, Empty, "not a specification"),
        ([("x",)], Empty, "not a specification"),
        ([(1, int64)], Empty, "not the name of a field"),
        ([("a b", int64)], Empty, "not the name of a field"),
        ([("x", int)], Empty, "no type of compiled functions"),
        ([("x", int64), ("x", float64)], Empty, "a field twice"),
        ([], Child, "a class with bases"),
        ([], Constant, "a member that is no method"),
        ([("x", int64)], PlainBag.size, "not a class"),
    ):
        with pytest.raises(TypeError, match=says):
            jitclass(spec)(cls)
    with pytest.raises(NameError, match="two meanings"):
        jitclass([("x", int64)])(Clash)
    with pytest.raises(NotImplementedError, match="too many words"):
        jitclass([(f"x{i}", int64) for i in range(40)])(Empty)
    unknown = jitclass([("x", deferred_type())])(Empty)
    with pytest.raises(TypeError, match="has not been told"):
        unknown()


def test_type_of_objects():
    @njit("int64(int64)")
    def f(x):
        return Bag(x).size

    assert f(5) == 5
    b = Bag.class_type.instance_type
    assert Bag(3)._numba_type_ == b

    @njit(types.Signature(int64, (b,)))
    def g(bag):
        return bag.value

    assert g(Bag(4)) == 4 and g.signatures == [(b,)]
