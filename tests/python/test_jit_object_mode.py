"""`with objmode(…)`: blocks of compiled functions that Python runs, as Numba has them."""

import gc
import sys
import threading

import numpy as np
import pytest
from jit_check import made
from numbus import njit, prange
from numbus.kernels import CompileError, UnsupportedError, objmode, types
from numbus.kernels.typed import Dict

SCALE = 3
SEEN = []
T = types.float64[:]


def helper(x):
    """A function of Python's that does not compile."""
    return {str(v): v for v in x}


def results(x, n):
    y = 0.0
    with objmode(y="float64", z="float64[:]", t="unicode_type", k="int64", b="boolean"):
        y = float(sum(x.tolist())) * SCALE
        z = x * n
        t = "".join(helper(x))
        k = len(t) + n
        b = n > 1
    return y, z, t, k, b


def tuples(n):
    with objmode(t="Tuple((int64, float64))", u="UniTuple(int64, 2)", c="complex128"):
        t = (n, n / 2)
        u = (n, n)
        c = complex(n, 1)
    return t, u, c


def changes(x):
    with objmode():
        x[0] = 9.0
        SEEN.append(float(x.sum()))
    return x[0]


def in_a_loop(n):
    total = 0
    for i in range(n):
        with objmode(j="int64"):
            j = int(str(i) * 2)
        total += j
    return total


def by_global_types(x):
    with objmode(y=T, z=types.int32):
        y = np.sort(x)[::-1]
        z = 5
    return y, z


def inner_loops(n):
    with objmode(s="unicode_type"):
        s = ""
        for i in range(n):
            if i == 3:
                break
            s += f"{i}-"

        def up(t):
            return t.upper()

        s = up(s) + "x"
    return s + "!"


def as_kinds(n):
    with objmode(x="float64", k="int8", c="complex128"):
        x = n
        k = n
        c = n + 0.5
    return x, k, c


@pytest.mark.parametrize(("f", "args"), [
    (results, (np.arange(3.0), 2)), (tuples, (3,)), (in_a_loop, (12,)), (inner_loops, (5,)),
    (by_global_types, (np.array([3.0, 1.0, 2.0]),)), (as_kinds, (3,)),
])  # fmt: skip
def test_results(f, args):
    got, want = njit(f)(*args), f(*args)
    assert type(got) is type(want)
    for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        np.testing.assert_array_equal(a, b)


def test_what_it_changes_is_seen():
    x = np.ones(3)
    SEEN.clear()
    assert njit(changes)(x) == 9.0 and x[0] == 9.0 and SEEN == [11.0]


def test_closures_and_locals_of_python():
    log = []

    @njit
    def f(n):
        with objmode:
            log.append((n, threading.get_ident()))
        return n

    assert f(2) == 2 and log == [(2, threading.get_ident())]


def test_exceptions_come_through():
    class Own(Exception):
        pass

    own = Own("mine", 3)

    @njit
    def f(n):
        with objmode():
            if n:
                raise own
        return n

    assert f(0) == 0
    with pytest.raises(Own) as caught:
        f(1)
    assert caught.value is own
    held = sys.getrefcount(own)
    for _ in range(20):
        with pytest.raises(Own):
            f(1)
    own.__traceback__ = None
    caught = None
    gc.collect()
    assert sys.getrefcount(own) <= held
    assert f(0) == 0


@pytest.mark.parametrize(("declared", "value", "words"), [
    ("int64", "'a'", "got str; expected int"),
    ("int64", "2.5", "got float; expected int"),
    ("int8", "300", "expected int8"),
    ("float64[:]", "np.arange(3)", "got array"),
    ("float64[::1]", "np.arange(6.0)[::2]", "got array"),
    ("float64[:,:]", "np.arange(6.0)", "got array"),
    ("unicode_type", "b'a'", ""),
    ("Tuple((int64, int64))", "(1, 2, 3)", "expected"),
])  # fmt: skip
def test_a_value_of_another_type(declared, value, words, tmp_path):
    text = f"def f(n):\n    with objmode(y={declared!r}):\n        y = {value}\n    return n\n"
    f = made(text, tmp_path, np=np, objmode=objmode)
    with pytest.raises(TypeError) as caught:
        njit(f)(1)
    assert words in str(caught.value)


def undeclared(n):
    k = 1
    with objmode(y="int64"):
        k = n
        y = k
    return y + k


def unassigned(n):
    with objmode(y="int64"):
        pass
    return n


def returns(n):
    with objmode(y="int64"):
        y = n
        return y


def no_type(n):
    with objmode(y="inty64"):
        y = n
    return y


def positional(n):
    with objmode("y"):
        y = n
    return y


@pytest.mark.parametrize(("f", "words"), [
    (undeclared, "'k' is assigned in objmode"), (unassigned, "'y' is not assigned"),
    (returns, "ends where it ends"), (no_type, "takes a type for 'y'"),
    (positional, "names and their types"),
])  # fmt: skip
def test_mistakes(f, words):
    with pytest.raises(CompileError, match=words):
        njit(f)(1)


def in_a_prange(n):
    for i in prange(n):
        with objmode():
            print(i)
    return n


def calls_python(n):
    with objmode(y="int64"):
        y = n + 1
    return y


def called_in_a_prange(n):
    total = 0
    for i in prange(n):
        total += calls_python(i)
    return total


@pytest.mark.parametrize("f", [in_a_prange, called_in_a_prange])
def test_not_yet(f):
    with pytest.raises(UnsupportedError, match="objmode"):
        njit(parallel=True)(f)(3)


def keeps(x):
    with objmode():
        SEEN.append(x)
    return x.size


def changes_a_list(x):
    with objmode():
        x.append(1)
    return len(x)


def test_what_would_be_lost_says_so():
    with pytest.raises(NotImplementedError, match="keeps"):
        njit(keeps)(np.ones(3))
    SEEN.clear()
    with pytest.raises(NotImplementedError, match="a list"):
        njit(changes_a_list)([1, 2])


def test_dicts_are_shared():
    @njit
    def f(d):
        with objmode():
            d[2] = 5.0
        return d[2] + len(d)

    d = Dict.empty(types.int64, types.float64)
    d[1] = 1.0
    assert f(d) == 7.0 and dict(d) == {1: 1.0, 2: 5.0}


def test_arrays_it_makes_stay():
    @njit
    def f(n):
        with objmode(y="float64[:]"):
            y = np.arange(float(n))
        rows = [y, y + 1]
        return rows, y[1:]

    rows, y = f(5)
    gc.collect()
    assert rows[0].tolist() == [0, 1, 2, 3, 4] and y.tolist() == [1, 2, 3, 4]


def test_compiled_functions_inside():
    inner = njit(lambda x: x + 1)

    @njit(nogil=True)
    def f(n):
        with objmode(k="int64"):
            k = inner(n) * 2
        return k

    assert f(3) == 8


def test_called_by_compiled_functions():
    outer = njit(lambda n: calls_python(n) * 2)
    assert outer(3) == 8


# --- in try statements ---


class Mine(KeyError):
    pass


class Closed(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


KINDS = (None, ValueError, Mine, ZeroDivisionError, Closed, KeyboardInterrupt, IndexError)


def fails(k):
    """Raises the exception of that number."""
    kind = KINDS[k]
    if kind is Closed:
        raise Closed("a", 3)
    if kind is not None:
        raise kind(f"of kind {k}")


def asked(k):
    with objmode(n="int64"):
        fails(k)
        n = k + 10
    return n


def handled(k, called):
    n = 0
    try:
        try:
            if called:
                n = asked(k)
            else:
                with objmode(n="int64"):
                    fails(k)
                    n = k + 10
            n += 1
        except KeyError:
            n = 100
        except (ValueError, ArithmeticError) as e:
            n = 200 + len(str(e))
        else:
            n += 1000
        finally:
            n += 10000
    except Closed:
        return -n
    return n


def raised_again(k):
    try:
        with objmode():
            fails(k)
    except LookupError:
        raise
    except Closed as e:
        raise e
    return k


def in_a_handler(k):
    n = 0
    try:
        if k == 1:
            raise ValueError("ours")
        n = 10 // (k - 2)
    except (ValueError, ZeroDivisionError):
        try:
            with objmode(n="int64"):
                fails(k + 1)
                n = 7
        except Exception:
            n = 8
    return n


def in_a_loop(n):
    seen = 0
    for k in range(n):
        try:
            with objmode(v="float64[:]"):
                fails(k % 4)
                v = np.ones(3) * k
            seen += int(v.sum())
        except ValueError:
            continue
        except Exception:
            if k > 20:
                break
            seen += 1000
        finally:
            seen += 1
    return seen


def outcome(f, *args):
    try:
        return f(*args)
    except BaseException as error:
        return type(error), str(error), getattr(error, "b", None)


@pytest.mark.parametrize("k", range(len(KINDS)))
@pytest.mark.parametrize("called", [False, True])
def test_errors_are_caught(k, called):
    assert outcome(njit(handled), k, called) == outcome(handled, k, called)


@pytest.mark.parametrize("k", range(len(KINDS)))
def test_errors_are_raised_again(k):
    assert outcome(njit(raised_again), k) == outcome(raised_again, k)


@pytest.mark.parametrize("k", range(4))
def test_python_in_a_handler(k):
    assert outcome(njit(in_a_handler), k) == outcome(in_a_handler, k)


@pytest.mark.parametrize("n", [3, 8, 40])
def test_python_in_a_try_in_a_loop(n):
    assert njit(in_a_loop)(n) == in_a_loop(n)


HELD = []


def held():
    error = ValueError("x")
    HELD.append(error)
    raise error


@njit
def lets_go():
    try:
        with objmode():
            held()
    except ValueError:
        return 1
    return 0


def test_what_was_caught_is_let_go():
    HELD.clear()
    assert [lets_go() for _ in range(3)] == [1, 1, 1]
    for k in range(3):
        HELD[k].__traceback__ = None
    gc.collect()
    assert [sys.getrefcount(HELD[k]) for k in range(3)] == [2, 2, 2]


def test_what_is_not_yet_is_not_caught():
    @njit
    def f(x):
        l = [1.0]
        try:
            with objmode():
                l.append(2.0)
        except Exception:
            return 0.0
        return l[0]

    with pytest.raises(NotImplementedError, match="a list of the function's that Python changes"):
        f(1.0)


def test_equal_code_of_two_modules_sees_its_own_globals(tmp_path):
    """Code objects are equal where their text is, whatever globals they read."""
    text = "def f(x):\n    with objmode(y='int64'):\n        y = K + x\n    return y\n"
    for k in (1, 7):
        folder = tmp_path / str(k)
        folder.mkdir()
        assert njit(made(text, folder, objmode=objmode, K=k))(2) == k + 2
