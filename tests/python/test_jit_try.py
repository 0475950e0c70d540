"""try, except, else, finally and raise in compiled functions, against CPython."""

import numpy as np
import pytest
from numbus import cuda, njit, prange
from numbus.kernels import CompileError, UnsupportedError

X = np.array([3.0, 1.0, 4.0, 1.5])


class OwnError(ValueError):
    pass


class OtherError(OwnError):
    pass


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error), error.args if isinstance(error, KeyError) else None


def division(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        return -1


def classes(n):
    log = 0
    for i in range(8):
        try:
            if i == 0:
                log += 10 // n
            elif i == 1:
                log += [1, 2, 3][n]
            elif i == 2:
                raise ValueError("two")
            elif i == 3:
                log += {1: 2, 3: 5}[n]
            elif i == 4:
                raise OtherError("four")
            elif i == 5:
                raise RuntimeError("five")
            elif i == 6:
                log += int(X[n])
        except ZeroDivisionError:
            log = log * 3 + 1
        except (IndexError, KeyError):
            log = log * 3 + 2
        except OwnError:
            log = log * 3 + 3
        except ValueError as error:  # noqa: F841
            log = log * 3 + 4
        except Exception:
            log = log * 3 + 5
        else:
            log = log * 3
    return log


def bases(n):
    log = 0
    for i in range(5):
        try:
            try:
                if i == 0:
                    log += 10 // n
                elif i == 1:
                    log += [1, 2, 3][n]
                elif i == 2:
                    raise OverflowError
                elif i == 3:
                    assert n > 3
                else:
                    raise NotImplementedError("four")
            except LookupError:
                log = log * 5 + 1
            except ArithmeticError:
                log = log * 5 + 2
        except RuntimeError:
            log = log * 5 + 3
        except:  # noqa: E722
            log = log * 5 + 4
    return log


def not_caught(n):
    x = 0
    try:
        x = [1, 2, 3][n]
    except ZeroDivisionError:
        x = 7
    return x


def orders(n):
    log = [0]
    for i in range(6):
        try:
            log.append(1)
            if i == n:
                log.append(10 // (i - n))
            log.append(2)
        except ZeroDivisionError:
            log.append(3)
        else:
            log.append(4)
        finally:
            log.append(5)
    return log


def finally_returns(n):
    log = [0]

    def inner(k):
        for i in range(5):
            try:
                log.append(i)
                if i == k:
                    return i * 10
                if i == k + 1:
                    continue
                if i == k + 2:
                    break
                log.append(100)
            finally:
                log.append(50)
        return -1

    return inner(n), inner(n - 3), log


def returns_by_finally(n):
    for i in range(4):
        try:
            if i == n:
                return i
            if i == n - 1:
                raise ValueError("own")
        finally:
            if n > 5:
                break  # noqa: B012
            if n == 3:
                continue  # noqa: B012
            if n == 2:
                return -5  # noqa: B012
    return 99


def nested_finally(n):
    log = []
    for i in range(3):
        try:
            try:
                log.append(1)
                if n == 0:
                    continue
                if n == 1:
                    break
                if n == 2:
                    log.append(1 // (n - 2))
            finally:
                log.append(2)
        except ZeroDivisionError:
            log.append(3)
        finally:
            log.append(4)
        log.append(i * 10)
    return log


def returned_list(n):
    try:
        a = [n, 2]
        if n > 3:
            return a
        a.append(10 // n)
        return a
    except ZeroDivisionError:
        return [0]
    finally:
        n = 100


def returned_array(n):
    try:
        return float((np.arange(n + 1.0) * X[n]).sum())
    except IndexError:
        return -1.0
    finally:
        n = 0


def in_handlers(n):
    try:
        try:
            return 10 // n
        except ZeroDivisionError:
            return [1, 2][n + 5]
    except IndexError:
        return -7


def raised_again(n):
    log = 0
    try:
        try:
            log += 10 // (n - 2)
        except ZeroDivisionError:
            log = 5
            raise
        log += 1
    except ArithmeticError as e:
        log += 20
        if n == 2:
            try:
                log += [1][n]
            except IndexError:
                log += 300
            raise e
    return log


def key_again(n):
    d = {"one": 1, "two": 2}
    k = "three" * n
    if n % 3 < 2:
        k = "one" if n % 3 == 0 else "two"
    try:
        return d[k]
    except KeyError:
        if n > 4:
            raise
    return -1


def keys_in_loop(n):
    d = {(1, "a"): 1}
    misses = 0
    for i in range(200):
        try:
            misses += d[(i % n + 1 if n else 1, "a" * (i % 3))]
        except KeyError:
            misses += 1
    return misses


def helper(k):
    if k == 3:
        raise OwnError(f"k is {k}")
    a = np.zeros(3)
    return a[k] + 1 // (k - 1)


def deeper(k):
    return helper(k) + 1.0


def called(n):
    s = 0.0
    for i in range(n):
        try:
            s += deeper(i)
        except OwnError:
            s += 100.0
        except ZeroDivisionError:
            s += 10.0
        except IndexError:
            s -= 1.0
    return s


def catches_inside(k):
    try:
        return deeper(k)
    except (OwnError, ZeroDivisionError):
        return -2.0


def called_catcher(n):
    try:
        return catches_inside(n)
    except IndexError:
        return -3.0


def recursive(n):
    try:
        if n == 0:
            raise ValueError("end")
        return recursive(n - 1) + 1
    except ValueError:
        if n < 2:
            raise
        return n * 100


def local_function(n):
    def check(k):
        if k < 3:
            raise ValueError("small")
        return k

    try:
        return check(n)
    except ValueError:
        return -1


def in_comprehension(n):
    try:
        return [10 // (i - n) for i in range(5)]
    except ZeroDivisionError:
        return [n]


def partly_assigned(n):
    a = b = 0
    try:
        a = 1
        b = 10 // n
        a = 2
    except ZeroDivisionError:
        b = a + 5
    return a, b


def none_or_value(n):
    x = None
    try:
        x = n
        x = 10 // n
    except ZeroDivisionError:
        pass
    if x is None:
        return -1
    return x + 1


def checks_after(n):
    """What a check inside has shown is not known after the statement."""
    a = np.arange(4)
    s = 0
    i = n - 3
    try:
        s += a[i]
        s += a[i + 1]
    except IndexError:
        s = 100
    try:
        s += a[i + 1]
    except IndexError:
        s += 1000
    return int(s) + int(a[i])


def checks_in_loop(n):
    a = np.arange(4)
    s = 0
    for i in range(n):
        try:
            s += a[i]
        except IndexError:
            s += 100
    return int(s)


def while_loop(n):
    k = 0
    while True:
        try:
            k += 1
            if k > n:
                break
            if k % 2:
                continue
            k += 10 // (k - 4)
        except ZeroDivisionError:
            k += 2
        finally:
            k += 1
    return k


def loop_else(n):
    for i in range(4):
        try:
            if i == n:
                break
        finally:
            n += 0
    else:
        return -1
    return n


def over_tuple(n):
    s = 0.0
    for v in (1, 2.5, n):
        try:
            s += 1 // v
            if v == 3:
                break
        except ZeroDivisionError:
            s = 50.0
    return s


def assertion(n):
    try:
        assert n > 3, "small"
    except AssertionError:
        return 1
    return 2


def strings(n):
    s = "abc"
    try:
        s = s + "xyz"[n]
        return s + str(int("12x"[: n + 1]))
    except ValueError:
        return "no number"
    except IndexError:
        return s


def else_raises(n):
    try:
        try:
            n += 1
        except ValueError:
            n = 100
        else:
            n = 10 // (n - 3)
    except ZeroDivisionError:
        return -4
    return n


def only_finally(n):
    log = []
    try:
        try:
            log.append(10 // n)
        finally:
            log.append(7)
    except ZeroDivisionError:
        log.append(8)
    return log


def finally_raises(n):
    try:
        try:
            return 10 // n
        finally:
            if n < 2:
                raise IndexError("other")
    except IndexError:
        return -1


def sum_in_portions(n):
    try:
        s = 0
        for i in prange(100):
            s += 10 // (i - n)
        return s
    except ZeroDivisionError:
        return -1


FUNCTIONS = [
    f
    for f in list(globals().values())
    if getattr(f, "__module__", "") == __name__ and not isinstance(f, type)
]
FUNCTIONS = [f for f in FUNCTIONS if f not in (outcome, helper, deeper)]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_cpython(f):
    g = njit(parallel=f is sum_in_portions)(f)
    for n in range(8):
        if f in (loop_else,) and n > 3:
            continue
        assert outcome(g, n) == outcome(f, n), n


def test_messages_of_what_is_raised_again():
    for n in (5, 6, 8):
        with pytest.raises(KeyError) as e:
            njit(key_again)(3 * n - 1)
        assert e.value.args == ("three" * (3 * n - 1),)
    with pytest.raises(ValueError, match=r"^end"):
        njit(recursive)(0)

    @njit
    def f(k):
        try:
            return deeper(k)
        finally:
            k = 0

    with pytest.raises(OwnError, match="k is 3"):
        f(3)


def test_many_errors_leave_nothing_behind():
    @njit
    def f(n):
        d = {"a": np.ones(1000)}
        found = 0
        for i in range(n):
            try:
                row = np.full(1000, i)
                found += d["b" * (i % 9)].size + int(row[i % 2000])
            except (KeyError, IndexError):
                found += 1
        return found

    assert f(3000) == f.py_func(3000)


def printed(n):
    try:
        return n
    except ValueError as e:
        return abs(e)


def asked(n):
    try:
        return n
    except ValueError as e:
        return e.__cause__


def after(n):
    try:
        n += 1
    except ValueError:
        n += 2
    return str(e)  # noqa: F821


def given_elsewhere(n):
    e = 3
    try:
        n += 1
    except ValueError as e:
        raise e
    return n + e


def in_a_portion(n):
    s = 0
    for i in prange(n):
        try:
            s += 10 // i
        except ZeroDivisionError:
            s += 1
    return s


def called_in_a_portion(n):
    s = 0.0
    for i in prange(n):
        s += catches_inside(i)
    return s


def in_every_way(x, n):
    out = np.zeros((n, 3))
    for i in prange(n):
        try:
            try:
                if i % 3 == 0:
                    raise ValueError(i)
                out[i, 0] = x[i % 7]
            except IndexError:
                out[i, 0] = -1.0
            else:
                out[i, 1] += 1.0
            finally:
                out[i, 1] += 10.0
        except ValueError:
            out[i, 2] = 3.0
        for k in range(4):
            try:
                if k == 2:
                    continue
                if k == 3 and i % 5 == 0:
                    break
                out[i, 2] += 100 // (i % 4 - k)
            except ArithmeticError:
                out[i, 2] += 1000.0
    return out


def caught_around(n, bad):
    total = 0
    try:
        for i in prange(n):
            try:
                total += 100 // (i % 4)
            except ZeroDivisionError:
                total += 5
            if i == bad:
                raise KeyError(bad)
    except KeyError as e:
        return str(e)
    return str(total)


def within_parallel_loops(n):
    s = 0
    for i in prange(n):
        for k in prange(i):
            try:
                s += 10 // (k % 3)
            except ZeroDivisionError:
                s += int(catches_inside(k % 3) * 0) + 1
    return s


def lists_in_a_portion(n):
    out = np.zeros(n)
    for i in prange(n):
        rows = [np.ones(k + 1) for k in range(i % 5)]
        try:
            rows.pop(3)
            rows[2][5] = 1.0
        except IndexError:
            rows.append(np.ones(2))
        out[i] = len(rows)
    return out


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_in_parallel_loops(parallel, n):
    for f, args in [
        (in_a_portion, (n,)),
        (called_in_a_portion, (min(n, 4),)),
        (in_every_way, (np.arange(5.0), n)),
        (caught_around, (n, -1)),
        (caught_around, (n, 700)),
        (within_parallel_loops, (min(n, 40),)),
        (lists_in_a_portion, (n,)),
    ]:
        got = njit(parallel=parallel)(f)(*args)
        np.testing.assert_array_equal(got, f(*args))


def test_what_a_portion_does_not_catch():
    def f(n, bad):
        s = 0
        for i in prange(n):
            try:
                if i == bad:
                    raise ValueError("no", i)
                s += 10 // (i % 2)
            except ZeroDivisionError:
                s += 1
        return s

    g = njit(parallel=True)(f)
    assert g(100, -1) == f(100, -1)
    with pytest.raises(ValueError) as e:
        g(100, 61)
    assert e.value.args == ("no", 61)


def asks_in_a_portion(n):
    s = 0
    for i in prange(n):
        try:
            s += 10 // i
        except ZeroDivisionError as e:
            s += len(str(e))
    return s


def asks(n):
    try:
        return 10 // n
    except ZeroDivisionError as e:
        return len(str(e))


def asks_in_a_call(n):
    s = 0
    for i in prange(n):
        s += asks(i)
    return s


def yielded(n):
    try:
        yield n
    except ValueError:
        yield 2


def over_yielded(n):
    s = 0
    for i in yielded(n):
        s += i
    return s


def bare_in_finally(n):
    try:
        n += 1
    finally:
        raise
    return n


NOT_YET = [
    (printed, "this of a caught exception"),
    (asked, "this of a caught exception"),
    (given_elsewhere, "an exception here and something else"),
    (asks_in_a_portion, "what a caught exception says in a parallel loop"),
    (asks_in_a_call, "a function that asks Python in a parallel loop"),
    (over_yielded, "yield in a try"),
    (bare_in_finally, "a bare raise in a finally"),
]


@pytest.mark.parametrize("f, words", NOT_YET, ids=lambda f: getattr(f, "__name__", ""))
def test_not_yet(f, words):
    with pytest.raises(UnsupportedError, match=words):
        njit(parallel=True)(f)(5)


def test_mistakes():
    def only_classes(n):
        try:
            return n
        except n:
            return 2

    with pytest.raises(CompileError, match="except takes a class of exceptions"):
        njit(only_classes)(3)


def test_not_in_kernels():
    @cuda.jit
    def kernel(x):
        try:
            x[0] = 1
        except IndexError:
            x[0] = 2

    with pytest.raises(UnsupportedError, match="try in a kernel"):
        kernel[1, 1](np.zeros(3))
