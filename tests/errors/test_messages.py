"""Every error: NumPy's exception class, and `[op] what is wrong; got …; expected …`."""

import re

import numpy as np
import pytest

FORM = re.compile(r"^\[[\w.@+\-*/<>=&|^~% ]+\] [^;]+; got .+; expected .+", re.DOTALL)

# what: (statement, exception class, words the message must contain)
CASES = {
    "broadcast": ("a + xp.ones(4)", ValueError, ["(3,)", "(4,)"]),
    "broadcast function": ("xp.add(a, xp.ones((2, 2)))", ValueError, ["(3,)", "(2, 2)"]),
    "broadcast compare": ("a < xp.ones(4)", ValueError, ["(3,)", "(4,)"]),
    "where broadcast": ("xp.where(m, xp.ones(4), a)", ValueError, ["(4,)"]),
    "in place grows": ("a += xp.ones((2, 3))", ValueError, ["(2, 3)", "(3,)"]),
    "assign shape": ("a[:2] = xp.ones(3)", ValueError, ["(3,)", "(2,)"]),
    "assign mask shape": ("a[m] = xp.ones(5)", ValueError, []),
    "out shape": ("xp.add(a, 1, out=xp.ones(2))", ValueError, ["(2,)", "(3,)"]),
    "out cast": ("xp.add(a, 1.5, out=xp.ones(3, 'int64'))", TypeError, ["float64", "int64"]),
    "in place cast": ("i += 1.5", TypeError, ["float64", "int64"]),
    "true divide in place": ("i /= 2", TypeError, ["float64", "int64"]),
    "complex into float": ("a += 1j", TypeError, ["complex128", "float64"]),
    "bool negative": ("-m", TypeError, ["bool"]),
    "bool subtract": ("m - m", TypeError, ["bool"]),
    "float invert": ("~a", TypeError, ["float64"]),
    "float bitwise": ("a & a", TypeError, ["float64"]),
    "float shift": ("a << 1", TypeError, ["float64"]),
    "complex floor": ("xp.floor(a * 1j)", TypeError, ["complex128"]),
    "index": ("a[3]", IndexError, ["3"]),
    "negative index": ("a[-4]", IndexError, ["-4", "3"]),
    "index of axis 1": ("g[0, 5]", IndexError, ["5", "3"]),
    "too many indices": ("a[0, 0]", IndexError, []),
    "two ellipses": ("g[..., ...]", IndexError, []),
    "float index": ("a[1.5]", IndexError, []),
    "string index": ("a['x']", IndexError, []),
    "slice step": ("a[::0]", ValueError, []),
    "mask shape": ("a[xp.ones(5, bool)]", IndexError, ["5", "3"]),
    "integer array index": ("a[[0, 7]].tolist()", IndexError, ["7", "3"]),
    "index assign": ("a[7] = 1", IndexError, ["7", "3"]),
    "read-only broadcast": ("xp.broadcast_to(a, (2, 3))[0] = 1", ValueError, []),
    "read-only in place": ("v = xp.broadcast_to(a, (2, 3)); v += 1", ValueError, []),
    "reshape": ("a.reshape(2, 2)", ValueError, ["3", "(2, 2)"]),
    "reshape unknown": ("a.reshape(-1, 2)", ValueError, ["3"]),
    "reshape two unknown": ("a.reshape(-1, -1)", ValueError, []),
    "transpose axes": ("g.transpose(0, 0)", ValueError, []),
    "transpose count": ("g.transpose(0)", ValueError, []),
    "broadcast_to": ("xp.broadcast_to(a, (2, 2))", ValueError, ["(3,)", "(2, 2)"]),
    "axis": ("xp.sum(a, axis=1)", ValueError, ["1"]),
    "axis is an index error": ("xp.sum(a, axis=-2)", IndexError, ["-2"]),
    "axis repeated": ("xp.sum(g, axis=(0, 0))", ValueError, []),
    "argmin axis": ("xp.argmin(a, axis=3)", ValueError, ["3"]),
    "empty min": ("xp.min(xp.zeros(0))", ValueError, []),
    "empty argmax": ("xp.argmax(xp.zeros(0))", ValueError, []),
    "truth": ("bool(a)", ValueError, ["3"]),
    "float of array": ("float(a)", TypeError, []),
    "len of 0-d": ("len(xp.array(1.0))", TypeError, []),
    "iterate 0-d": ("iter(xp.array(1.0))", TypeError, []),
    "hash": ("hash(a)", TypeError, []),
    "item of many": ("a.item()", ValueError, []),
    "negative shape": ("xp.zeros(-1)", ValueError, ["-1"]),
    "huge": ("xp.zeros((1 << 40, 1 << 40))", (ValueError, MemoryError), []),
    "ragged": ("xp.array([[1, 2], [3]])", ValueError, []),
    "bad dtype": ("xp.zeros(3, 'nonsense')", TypeError, ["nonsense"]),
    "concatenate": ("xp.concatenate([g, xp.ones((2, 4))], axis=0)", ValueError, ["3", "4"]),
    "stack": ("xp.stack([a, xp.ones(4)])", ValueError, []),
    "matmul": ("g @ xp.ones((2, 2))", ValueError, ["3", "2"]),
    "matmul 0-d": ("g @ 3", (ValueError, TypeError), []),
    "wrong argument count": ("xp.add(a)", TypeError, []),
    "unknown keyword": ("xp.add(a, a, nonsense=1)", TypeError, ["nonsense"]),
    "overflowing Python integer": ("xp.ones(2, 'int64') + 2**70", OverflowError, []),
    "squeeze": ("g.squeeze(0)", ValueError, []),
    "flip axis": ("xp.flip(a, 2)", ValueError, ["2"]),
    "astype cast": ("a.astype('nonsense')", TypeError, ["nonsense"]),
    "negative integer power": ("i ** -1", ValueError, []),
    "clip": ("xp.clip(a, xp.ones(2), 3)", ValueError, []),
    "arange": ("xp.arange(0, 5, 0)", (ZeroDivisionError, ValueError), []),
    "linspace": ("xp.linspace(0, 1, -3)", ValueError, ["-3"]),
    "item index": ("a.item(5)", IndexError, ["5"]),
    "take": ("xp.take(a, [9]).tolist()", IndexError, ["9"]),
    "assign string": ("a[0] = 'x'", ValueError, []),
}
# Raised by Python itself or by NumPy on behalf of Numbus: no form of ours.
FREE = {"unknown keyword", "wrong argument count", "hash", "bad dtype", "astype cast", "slice step",
        "huge", "assign string", "string index", "arange"}  # fmt: skip


def world(xp):
    return {
        "xp": xp,
        "a": xp.array([1.0, 2.0, 3.0]),
        "i": xp.array([1, 2, 3]),
        "m": xp.array([True, False, True]),
        "g": xp.array(np.arange(6.0).reshape(2, 3)),
    }


@pytest.mark.parametrize("name", CASES)
def test_class_is_numpys(name):
    text, expected, _ = CASES[name]
    with pytest.raises(expected):
        exec(text, world(np))


@pytest.mark.numbus
@pytest.mark.parametrize("name", CASES)
def test_message(xp, name):
    text, expected, words = CASES[name]
    ns = world(xp)
    with pytest.raises(expected) as caught:
        exec(text, ns)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    if name not in FREE:
        assert FORM.match(message), f"form: {message}"
    assert len(message) < 400
    for key, value in world(np).items():
        if key != "xp" and key in ns:
            assert np.array_equal(np.asarray(ns[key]), value), f"{key} was changed"


@pytest.mark.numbus
def test_devices_do_not_mix(xp):
    """The message names both devices."""
    if not xp.cuda.is_available():
        pytest.skip("needs a GPU beside the CPU")
    with xp.device("cpu"):
        a = xp.ones(3)
    with xp.device("cuda"):
        b = xp.ones(3)
    with pytest.raises((ValueError, TypeError)) as caught:
        a + b
    assert "cpu" in str(caught.value) and "cuda" in str(caught.value)


@pytest.mark.numbus
def test_memory_of_a_gpu_that_is_not_there(xp):
    if xp.cuda.is_available():
        pytest.skip("there is a GPU")

    class Foreign:
        def __init__(self, **more):
            given = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}
            self.__cuda_array_interface__ = {**given, "stream": 1, **more}

    with pytest.raises(RuntimeError, match=r"\[asarray\] memory of a GPU that Numbus cannot use"):
        xp.asarray(Foreign())
    with pytest.raises(TypeError, match=r"\[asarray\] masked arrays cannot be shared"):
        xp.asarray(Foreign(mask=Foreign()))


@pytest.mark.numbus
def test_missing_gpu(xp):
    if xp.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises((RuntimeError, ValueError)) as caught, xp.device("cuda"):
        xp.ones(3).sum().item()
    assert "cuda" in str(caught.value).lower()
    assert float(xp.ones(3).sum()) == 3


@pytest.mark.numbus
def test_allocation_failure_leaves_other_arrays_alone(xp):
    a = xp.arange(4.0)
    with pytest.raises((MemoryError, ValueError)):
        # The sum has to be held: a GPU adds up what nobody holds without memory, in 3 s.
        held = xp.zeros(1 << 45) + 1
        float(held.sum())
    assert (a + 1).tolist() == [1, 2, 3, 4]
