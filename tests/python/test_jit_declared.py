"""Functions that call themselves and are compiled by their decorator, functions of `python -c`, and
what a compiled function says of itself.
"""

import subprocess
import sys
import textwrap

import pytest
from numbus import njit
from numbus.kernels import CompileError, types
from numbus.kernels._resolve import program


def fib():  # what the name stands for before the decorator below returns
    raise AssertionError


@njit("int64(int64)")
def fib(n):  # noqa: F811
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit(["float64(float64, int64)", "int64(int64, int64)"])
def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def test_a_function_with_a_signature_calls_itself():
    assert [fib(n) for n in range(12)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert power(1.5, 3) == 3.375 and power(3, 4) == 81 and type(power(3, 2)) is int

    @njit("int64(int64)")
    def inner(n):
        return 1 if n < 1 else n * inner(n - 1)

    @njit
    def caller(n):
        return inner(n) + fib(n)

    assert inner(5) == 120 and caller(6) == 728
    assert program.declared() is None
    with pytest.raises(CompileError, match="not defined"):

        @njit("int64(int64)")
        def other(n):
            return not_there(n)  # noqa: F821

    assert program.declared() is None


def run(text, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_functions_of_the_command_line():
    done = run("""
        from numbus import njit, vectorize
        @njit
        def f(x):
            def g(y):
                return y + 1
            if x > 2:
                return g(x) * 2
            return 0

        v = vectorize(lambda x: -x)
        print(f(3), f(1), njit(lambda x: x + 1)(2), v(2.0))
        names = {}
        exec('''from numbus import njit
        @njit
        def f(x):
            return x + 5
        '''.replace("\\n        ", "\\n"), names)
        try:
            names["f"](1)
        except Exception as error:
            print(type(error).__name__, "is not available" in str(error))
        """)
    assert done.stderr == "" and done.stdout.split() == [
        "8",
        "0",
        "3",
        "-2.0",
        "CompileError",
        "True",
    ]


def test_inspection():
    @njit
    def f(x):
        return x + 1

    assert f.overloads == {} and f.nopython_signatures == []
    assert f.compile("float64(float64)") is f
    f(2)
    assert set(f.overloads) == {(types.float64,), (types.int64,)} == set(f.signatures)
    assert {repr(s) for s in f.nopython_signatures} == {"float64(float64)", "int64(int64)"}
    f.disable_compile()
    assert f(2) == 3
    with pytest.raises(TypeError, match="no matching signature"):
        f(1j)
    f.disable_compile(False)
    assert f(1j) == 1 + 1j


def test_a_dict_is_equal_to_itself():
    @njit
    def f(x, y):
        a, b = {1: x, 2: y}, {1: x, 2: y}
        c = a
        return a == a, a == c, a != a, a == b, a != b

    nan = float("nan")
    assert f(nan, 1.0) == (True, True, False, False, True)
    assert f(2.0, 1.0) == (True, True, False, True, False)
