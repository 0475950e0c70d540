"""Names that hold None or a value in compiled functions, against CPython."""

import numpy as np
import pytest
from numbus import njit, prange
from numbus.kernels import UnsupportedError


def outcome(f, *args):
    try:
        return f(*args)
    except (TypeError, AttributeError, IndexError) as error:
        return type(error), str(error).split("\n")[0]


def set_in_loop(n):
    x = None
    for i in range(n):
        if i == 3:
            x = i
    return x


def replaced_in_loop(n):
    x = None
    for i in range(n):
        if x is None:
            x = 1.5
        else:
            x = x + i
    if x is None:
        return -1.0
    return x


def read_before_set(n):
    x = None
    y = 0
    for i in range(n):
        if i > 0:
            y = x + 1
        x = i
    return y


def first(n, v):
    for i in range(n):
        if i * i == v:
            return i


def given_by_function(n):
    r = first(9, n)
    if r is None:
        return -1
    return r + 10


def given_and_used(n):
    return first(9, n) + 1


def from_dict(n):
    d = {1: 2.5, 3: 4.5}
    e = {"a": "x"}
    return d.get(n), d.get(n, None), e.get("b" if n > 2 else "a"), d.pop(n, None), len(d)


def counted(n):
    d = {}
    for i in range(n):
        k = i % 3
        c = d.get(k)
        d[k] = 1 if c is None else c + 1
    s = 0
    for k, v in d.items():
        s += k * 100 + v
    return s


def found_list(n):
    d = {1: [1, 2]}
    r = d.get(n)
    if r is None:
        return 0
    r.append(3)
    return len(d[1])


def strings(n):
    x = "a" if n > 2 else None
    if x:
        return x + "b"
    return x


def arrays(n):
    a = None
    if n > 1:
        a = np.arange(n)
    if n > 5:
        return int(a.sum())
    return len(a)


def no_attribute(n):
    a = np.arange(n) if n > 2 else None
    return a.size, int(a.sum())


def lists(n):
    a = None
    if n > 1:
        a = [1, 2]
    if a is not None and len(a) > 1:
        a.append(n)
    return a


def no_item_assignment(n):
    x = [1] if n > 2 else None
    x[0] = 5
    return x


def no_method(n):
    x = [1] if n > 2 else None
    x.append(3)
    return x


def unpacked(n):
    t = None
    if n > 1:
        t = (n, 2.5)
    x, y = t
    return x + y, t[0]


def no_subscript(n):
    t = None
    if n > 1:
        t = (n, 2.5)
    return t[0]


def within_tuples(n):
    if n > 3:
        return (n, None)
    if n > 2:
        return (None, 2.5)
    return None


def compared(n):
    x = n if n > 2 else None
    y = n if n > 3 else None
    z = x or 7, x and 5, not x, bool(x), x == 3, x != 3, x == None  # noqa: E711
    w = x is not None and x > 3, x is None or x < 5, 0 if not x else x + 1
    return z, w, x == y, x != y, 3 if x in (1, None) else 4, isinstance(x, int)


def ordered(n):
    x = n if n > 2 else None
    return x < 5


def ordered_before_set(n):
    x = None
    for i in range(n):
        if i == 2:
            x = 0 < x < 5
        elif i == 1:
            x = n > 3
    return x


def negative(n):
    x = n if n > 2 else None
    return -x


def added_to(n):
    x = None
    if n > 3:
        x = 1
    x += 1
    return x


def added_right(n):
    x = n if n > 2 else None
    return 2.5 * x


def as_index(n):
    x = n % 4 if n > 2 else None
    return [1, 2, 3, 4][x]


def counted_down(n):
    x = n if n > 2 else None
    k = 0
    while x is not None:
        x = x - 1 if x > 0 else None
        k += 1
    return x, k


def looped_over(n):
    x = [n, 2] if n > 2 else None
    s = 0
    for i in x:
        s += i
    return s


def maximum(n):
    x = n if n > 2 else None
    return max(x, 3)


def inner(n):
    def g(k):
        if k > 2:
            return k

    f = lambda k: k if k > 2 else None  # noqa: E731
    r = g(n)
    return r if r is not None else -1, f(n)


def named_in_test(n):
    if (x := (n if n > 2 else None)) is not None:
        return x * 2
    return 0


def recursive(n):
    if n < 0:
        return None
    if n == 0:
        return 1
    r = recursive(n - 2)
    return None if r is None else r * n


def complex_numbers(n):
    return n * 1j if n > 2 else None


def evaluated_first(n):
    a = np.arange(3)
    x = None
    if n > 9:
        x = 1
    return x + a[n]


def small_and_large(n):
    best = None
    for v in (3, 1, 2):
        if v > n and (best is None or v < best):
            best = v
    return best


def in_portions(n):
    out = np.zeros(8)
    for i in prange(8):
        x = None
        if i > n:
            x = i * 0.5
        out[i] = -1.0 if x is None else x
    return float(out.sum())


FUNCTIONS = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__]
FUNCTIONS = [f for f in FUNCTIONS if f not in (outcome, first)]


def same_message(f, got, want):
    """The words may differ from CPython's, which name more types."""
    return isinstance(want, tuple) and want[:1] == got[:1] and isinstance(want[0], type)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_cpython(f):
    g = njit(parallel=f is in_portions)(f)
    for n in range(8):
        want, got = outcome(f, n), outcome(g, n)
        if not same_message(f, got, want):
            assert repr(got) == repr(want), n


def test_each_kind_of_argument_is_compiled_for():
    @njit
    def f(a, axis=None):
        if axis is None:
            axis = 1
        return a.shape[axis], axis is None

    a = np.ones((2, 3))
    assert f(a) == f(a, None) == f(a, 1) == (3, False)
    assert f(a, 0) == (2, False)
    g = njit(lambda x: (x is None, 0 if x is None else x + 1))
    assert (g(None), g(3), g(2.5)) == ((True, 0), (False, 4), (False, 3.5))


def test_memory_of_what_is_not_there():
    @njit
    def f(n):
        kept = None
        for i in range(n):
            if i % 3 == 0:
                kept = np.full(4, i)
            elif i % 3 == 1:
                kept = None
        return kept

    for n in range(9):
        want = f.py_func(n)
        np.testing.assert_array_equal(f(n), want) if want is not None else None
        assert (f(n) is None) == (want is None)


NOT_YET = [
    (lambda n: np.arange(3)[n if n > 1 else None], "None as an index"),
    (lambda n: {1: n}[n if n > 1 else None], "None as an index"),
    (lambda n: np.sum(np.ones((2, 2)), axis=0 if n > 1 else None), "an argument of np.sum"),
    (lambda n: [1].index(n if n > 1 else None), "an argument of index"),
    (lambda n: (n if n > 1 else None) is (n if n > 2 else None), "'is' between"),
]


@pytest.mark.parametrize("f, words", NOT_YET, ids=[w for _, w in NOT_YET])
def test_not_yet(f, words):
    with pytest.raises(UnsupportedError, match=words):
        njit(f)(3)


def test_messages():
    words = r"unsupported operand type\(s\) for \+: 'NoneType' and 'int'"
    with pytest.raises(TypeError, match=words):
        njit(given_and_used)(5)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'append'"):
        njit(no_method)(1)


def chosen_pair(a):
    b = a if a > 0 else 2.0  # its type is known once both sides are
    o = None
    if a > 0.5:
        o = (b, a)
    x, y = o
    return x, y


def chosen_first(a):
    b = a if a > 0 else 2.0
    o = None
    if a > 0.5:
        o = [b, a, 3.0]
    x, *rest = o
    return x, rest


@pytest.mark.parametrize("function", [chosen_pair, chosen_first])
def test_what_may_be_none_is_taken_apart(function):
    compiled = njit(function)
    assert compiled(1.0) == function(1.0)
    for f in (compiled, function):
        with pytest.raises(TypeError, match="cannot unpack non-iterable NoneType object"):
            f(0.25)
