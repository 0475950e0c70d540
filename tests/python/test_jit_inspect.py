"""inspect_llvm, inspect_asm, inspect_types and signatures: by the types of arguments."""

import importlib
import io
import re

import numbus
import numpy as np
import pytest
from numbus import cuda, njit
from numbus.kernels.types import Array, Tuple, boolean, float32, float64, int64


def function():
    @njit
    def f(x, n):
        return x * n

    f(np.ones(3), 2)
    f(np.float32(1), True)
    f(np.ones((2, 3), np.float32)[:, ::2], 1.5)
    f(np.asfortranarray(np.ones((2, 3))), 1.5)
    return f


def test_keys_are_types():
    f = function()
    keys = {
        (Array(float64, 1, "C"), int64),
        (float32, boolean),
        (Array(float32, 2, "A"), float64),
        (Array(float64, 2, "F"), float64),
    }
    assert set(f.inspect_llvm()) == keys
    assert set(f.inspect_asm()) == keys
    assert set(f.signatures) == keys
    for text in f.inspect_llvm().values():
        assert "define" in text
    for text in f.inspect_asm().values():
        assert "ret" in text


def test_one_signature():
    f = function()
    text = f.inspect_llvm((float32, boolean))
    assert text == f.inspect_llvm()[float32, boolean]
    assert text == f.inspect_llvm("float32(float32, boolean)")
    assert f.inspect_asm((float64[::1], int64)) == f.inspect_asm()[float64[::1], int64]
    with pytest.raises(KeyError, match="not compiled for that signature"):
        f.inspect_llvm((float32, float32))


def test_types_are_printed():
    f = function()
    out = io.StringIO()
    f.inspect_types(out)
    assert "(float32, bool)" in out.getvalue()
    assert "(array(float64, 1d, C), int64)" in out.getvalue()
    one = io.StringIO()
    f.inspect_types(one, signature=(float32, boolean))
    assert one.getvalue() in out.getvalue()
    assert "array" not in one.getvalue().split("\n")[0]


def test_python_numbers_share_the_entry_of_numpys():
    f = njit(lambda x: x + 1)
    f(1)
    f(np.int64(1))
    ((key, text),) = f.inspect_llvm().items()
    assert key == (int64,)
    assert text.count("; ModuleID") == 2


def test_before_the_first_call():
    f = njit(lambda x: x)
    assert f.inspect_llvm() == f.inspect_asm() == {}
    assert f.signatures == []
    with pytest.raises(KeyError, match="it has not been called"):
        f.inspect_asm((int64,))


def test_tuples():
    f = njit(lambda t: t[0])
    f((1.5, (2, np.float32(3))))
    assert f.signatures == [(Tuple([float64, Tuple([int64, float32])]),)]


def test_kernels():
    @cuda.jit
    def k(x, a):
        x[cuda.grid(1)] *= a

    k[1, 4](np.ones(4), 2.0)
    key = (Array(float64, 1, "C"), float64)
    assert list(k.inspect_asm()) == list(k.inspect_llvm()) == list(k.overloads) == [key]
    assert ".visible .entry" in k.inspect_asm(key)
    assert "define" in k.inspect_llvm()[key]
    with pytest.raises(KeyError, match="not compiled for that signature"):
        k.inspect_asm((float64,))


def test_types_are_a_module():
    from numbus.types import boolean, float64, int32, void

    assert importlib.import_module("numbus.types") is numbus.types
    assert numbus.types.float64 is float64

    @njit(float64(float64[:, ::1], int32))
    def f(x, k):
        return x[k, 0]

    assert f(np.ones((2, 2)), 1) == 1
    assert void(boolean).args == (boolean,)


def test_comparisons_with_constants_leave_loops_in_vectors():
    @njit
    def rule(a, out):
        for i in range(1, a.size - 1):
            s = a[i - 1] + a[i + 1]
            out[i] = s == 3 or (s == 2 and a[i])

    x = np.random.default_rng(1).integers(0, 4, 1000).astype(np.uint8)
    out, want = np.zeros_like(x), np.zeros_like(x)
    rule(x, out)
    rule.py_func(x, want)
    assert (out == want).all()
    (text,) = rule.inspect_llvm().values()
    assert re.search(r"store <\d+ x i8>", text)
