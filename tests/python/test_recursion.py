"""Functions that call themselves: with an end CPython's result, without one a RecursionError, on
the stack of every kind of thread, and where a call at the end of a function is a loop."""

import threading
from types import FunctionType

import numpy as np
import pytest
from numbus import cuda, njit, prange

pytestmark = [pytest.mark.numbus]


@njit
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@njit
def down(n):
    return 0 if n == -1 else down(n + 1) + 1


@njit
def tail(n):
    if n == 0:
        return 7
    return tail(n - 1)


@njit
def add_up(n, s):
    if n == 0:
        return s
    return add_up(n - 1, s + n)


@njit
def floats(x):
    if x == 0.5:
        return 0.0
    return floats(x + 1.0) + 1.5


@njit
def even(n):
    return True if n == 0 else odd(n - 1)


@njit
def odd(n):
    return False if n == 0 else even(n - 1)


@njit
def even_count(n):
    return 1 if n == -1 else odd_count(n + 1) + 1


@njit
def odd_count(n):
    return 1 if n == -1 else even_count(n + 1) + 1


@njit
def bits(n, depth):
    if depth == 0:
        return n
    s = 0
    for i in range(2):
        s += bits(2 * n + i, depth - 1)
    return s


@njit
def write(a, n):
    if n == 0:
        return a.sum()
    a[n % a.size] += n
    return write(a, n - 1)


@njit
def checked(n):
    if n == 3:
        raise ValueError("three")
    if n == 0:
        return 1
    return checked(n - 1)


@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def outcome(f, *args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        return f(*args)
    except (RecursionError, ValueError) as error:
        return str(error)


def in_thread(f, *args):
    """In a thread of Python's, whose stack is another one."""
    found = []
    thread = threading.Thread(target=lambda: found.append(outcome(f, *args)))
    thread.start()
    thread.join()
    return found[0]


PROGRAMS = [name for name, v in list(globals().items()) if hasattr(v, "py_func")]
CALLS = [
    (fib, 15),
    (down, -300),
    (tail, 300),
    (add_up, 300, 0),
    (floats, -199.5),
    (even, 100),
    (even, 101),
    (even_count, -100),
    (bits, 1, 7),
    (write, np.zeros(5), 300),
    (checked, 2),
    (checked, 100),
    (ackermann, 2, 5),
]
ENDLESS = [
    (down, 1),
    (tail, -1),
    (add_up, -5, 0),
    (floats, 0.25),
    (even, -1),
    (odd, -1),
    (even_count, 1),
    (bits, 1, -1),
    (write, np.zeros(5), -1),
    (ackermann, 1, -1),
]


def in_cpython(f):
    plain = {name: getattr(v, "py_func", v) for name, v in globals().items()}
    made = {name: FunctionType(g.__code__, plain) for name, g in plain.items() if name in PROGRAMS}
    plain.update(made)
    return made[f.__name__]


def named(calls):
    return [pytest.param(f, args, id=f"{f.__name__}-{n}") for n, (f, *args) in enumerate(calls)]


@pytest.mark.parametrize("run", [outcome, in_thread])
@pytest.mark.parametrize("f, args", named(CALLS))
def test_with_an_end(f, args, run):
    assert run(f, *args) == outcome(in_cpython(f), *args)


@pytest.mark.parametrize("run", [outcome, in_thread])
@pytest.mark.parametrize("f, args", named(ENDLESS))
def test_without_end(f, args, run):
    assert run(f, *args) == "maximum recursion depth exceeded"
    assert down(-1001) == 1000  # the process goes on, and so does the function


def test_calls_at_the_end_need_no_stack():
    """CPython's limit is lower; a stack of 8 MB has room for fewer frames."""
    assert tail(10**6) == 7
    assert add_up(10**6, 0) == 10**6 * (10**6 + 1) // 2
    assert outcome(tail, 2**20 + 1) == "maximum recursion depth exceeded"


def test_loops_of_the_program_do_not_count_as_recursion():
    @njit
    def f(n, flag):
        if flag:
            return n
        s = 0
        for i in range(n):
            s += f(i, True)
        return s

    n = 3 * 2**20
    assert f(n, False) == n * (n - 1) // 2


def test_without_end_in_prange():
    @njit(parallel=True)
    def all_(f_out, start):
        for i in prange(f_out.size):
            f_out[i] = down(start) + tail(-start)

    out = np.zeros(1000, np.int64)
    for start in (1, -10, 1):
        if start == 1:
            with pytest.raises(RecursionError):
                all_(out, start)
        else:
            all_(out, start)
            assert (out == 16).all()


@cuda.jit(device=True)
def steps(n):
    return 0 if n == 0 else steps(n - 1) + 1


@cuda.jit(device=True)
def steps_at_the_end(n):
    return 5 if n == 0 else steps_at_the_end(n - 1)


@pytest.mark.parametrize("kind", ["alone", "barrier", "grid"])
@pytest.mark.parametrize("f", [steps, steps_at_the_end], ids=["deep", "at the end"])
def test_in_kernels(f, kind):
    """Threads that wait for each other run as fibers, whose stacks are small."""
    barrier, grid = kind == "barrier", kind == "grid"

    @cuda.jit
    def kernel(x, start, bad):
        i = cuda.grid(1)
        n = f(-1 if i == bad else start)
        if barrier:
            cuda.syncthreads()
        if grid:
            cuda.cg.this_grid().sync()
        x[i] = n

    for _ in range(2):
        x = np.zeros(128, np.int64)
        kernel[4, 32](x, 1000, -1)
        assert (x == (1000 if f is steps else 5)).all()
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            kernel[4, 32](x, 3, 77)
            cuda.synchronize()


@cuda.jit(device=True)
def filled(n):
    a = cuda.local.array(40, np.float64)
    for i in range(40):
        a[i] = n + i
    if n <= 0:
        return a[1]
    rest = filled(n - 1)
    return rest + a[n % 40]


OF_NUMBERS = [call for call in CALLS if call[0] is not write]
ENDLESS_OF_NUMBERS = [call for call in ENDLESS if call[0] is not write]


def launched(f, args, other=None):
    """f(*args) in every other thread, and in those between them f(other, …)."""

    @cuda.jit
    def one(x, a, b):
        i = cuda.grid(1)
        x[i] = f(a) if i % 2 == 0 else f(b)

    @cuda.jit
    def two(x, a, b, c):
        i = cuda.grid(1)
        x[i] = f(a, c) if i % 2 == 0 else f(b, c)

    x = np.zeros(128)
    kernel = one if len(args) == 1 else two
    kernel[4, 32](x, args[0], args[0] if other is None else other, *args[1:])
    cuda.synchronize()
    return x


@pytest.mark.parametrize("f, args", named(OF_NUMBERS))
def test_in_kernels_with_an_end(f, args):
    plain = in_cpython(f)
    if isinstance(outcome(plain, *args), str):
        with pytest.raises(ValueError, match="three"):
            launched(f, args)
        return
    other = -99.5 if f is floats else args[0] // 2 + args[0] % 2
    x = launched(f, args, other)
    assert (x[::2] == plain(*args)).all()
    assert (x[1::2] == plain(other, *args[1:])).all()


@pytest.mark.parametrize("f, args", named(ENDLESS_OF_NUMBERS))
def test_in_kernels_without_end(f, args):
    for _ in range(2):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            launched(f, args)
        assert (launched(down, (-9,), -12)[:2] == [8, 11]).all()


def test_in_kernels_with_arrays_of_their_own():
    plain = [1.0]
    for n in range(1, 51):
        plain.append(plain[-1] + n + n % 40)
    x = launched(filled, (50,), 7)
    assert (x[:2] == [plain[50], plain[7]]).all()
    with pytest.raises(RecursionError):
        launched(filled, (10**6,), 7)
    assert launched(filled, (7,))[5] == plain[7]


@cuda.jit(device=True)
def summed(n):
    if n <= 0:
        return 1
    s = summed(n - 1)
    for k in range(n):
        s = s * 3 + k
    return s


def test_kernels_for_a_gpu_look_at_the_stack():
    def kernel(x, n):
        x[cuda.grid(1)] = steps(n)

    def other(x, n):
        x[cuda.grid(1)] = n

    def loops(x, n):
        x[cuda.grid(1)] = summed(n)

    signature = "void(int64[::1], int64)"
    ptx = cuda.compile_ptx(loops, signature)[0]
    # Before the call, in the loop's copy for long runs, and nowhere else.
    assert ptx.count("exit;") == ptx.count("ld.volatile.global.u32") == 2
    assert cuda.compile_ptx(kernel, signature)[0].count("stacksave") == 2
    assert "stacksave" not in cuda.compile_ptx(other, signature)[0]
