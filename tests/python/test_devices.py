"""Choosing a device, memory statistics, and what leaves for NumPy."""

import contextlib

import numbus as nb
import numpy as np
import pytest

pytestmark = pytest.mark.numbus


def test_device_is_a_function_and_a_context(xp):
    before = str(xp.device())
    with xp.device("null") as d:
        assert str(d) == "null" and str(xp.device()) == "null"
        assert xp.ones(3).device == "null"
        with xp.device("cpu"):
            assert xp.ones(3).device == "cpu"
        assert str(xp.device()) == "null"
    assert str(xp.device()) == before
    xp.device("cpu")
    assert str(xp.device()) == "cpu"
    xp.device(before)
    with pytest.raises(ValueError, match=r"\[device\] unknown device; got tpu"):
        xp.device("tpu")


def test_devices_do_not_mix(xp):
    with xp.device("cpu"):
        a = xp.ones(3)
    with xp.device("null"):
        b = xp.ones(3)
    with pytest.raises(ValueError, match="null and cpu"):
        a + b


def test_to_device(xp):
    with xp.device("cpu"):
        a = xp.arange(6.0).reshape(2, 3).T
    assert xp.to_device(a, "cpu") is a and a.to_device("cpu") is a
    assert xp.to_device(a, "null").device == "null"
    assert a.device == "cpu" and a.shape == xp.to_device(a, "null").shape


def test_memory(xp, core):
    before = xp.cuda.memory_stats("cpu")["used_bytes"]
    with xp.device("cpu"):
        a = xp.ones(1 << 20) + 1
    core.synchronize()
    stats = xp.cuda.memory_stats("cpu")
    assert set(stats) == {"used_bytes", "pooled_bytes", "peak_bytes", "limit", "spilled_bytes"}
    assert stats["used_bytes"] >= before + a.nbytes and stats["peak_bytes"] >= stats["used_bytes"]
    del a
    xp.cuda.trim("cpu")
    assert xp.cuda.memory_stats("cpu")["used_bytes"] < before + (1 << 20)
    with pytest.raises(ValueError):
        xp.cuda.set_limit(-1, "cpu")


def test_limit(xp, core):
    core.synchronize()
    xp.cuda.trim("cpu")
    used = xp.cuda.memory_stats("cpu")["used_bytes"]
    with xp.device("cpu"):
        xp.cuda.set_limit(used + (64 << 20), "cpu")
        try:
            with pytest.raises(MemoryError):
                float(xp.ones(1 << 25)[0])
            assert xp.ones(5).tolist() == [1] * 5
        finally:
            xp.cuda.set_limit(0, "cpu")


def test_cuda_says_why(xp):
    assert xp.cuda.is_available() == (xp.cuda.reason() == "")


@pytest.mark.parametrize("text", [
    "a == None", "a == 'x'", "a + np.array([1, 2, 3], object)", "xp.add(a, 1, dtype=object)",
    "np.timedelta64(3, 'D') * xp.array([1, 2, 3])", "a + np.matrix([[1, 2, 3]])",
    "a + np.ma.array([1.0, 2, 3], mask=[0, 1, 0])", "xp.maximum(a, np.array([1, 2, 3], object))",
])  # fmt: skip
def test_what_only_numpy_has(xp, core, text):
    """Counted, the same as NumPy's result, and refused under --strict."""
    from numbus.core import fallback as _fallback

    want = eval(text, {"np": np, "xp": np, "a": np.arange(3.0)})
    names = {"np": np, "xp": xp, "a": xp.arange(3.0)}
    before = core.stats()["fallbacks"]
    got = eval(text, names)
    assert core.stats()["fallbacks"] > before
    assert np.asarray(got).dtype == np.asarray(want).dtype and str(got) == str(want)
    _fallback.state.strict = True
    try:
        with pytest.raises(_fallback.FallbackError):
            eval(text, names)
    finally:
        _fallback.state.strict = False


def test_operand_that_wants_the_operator(xp):
    class Own:
        __array_ufunc__ = None

        def __radd__(self, other):
            return type(other).__name__

    assert xp.ones(2) + Own() == "ndarray"


@pytest.mark.parametrize("text", [
    "a = xp.zeros(3, 'i1'); a[0] = 300", "a = xp.zeros(3, 'i1'); a[:] = 300",
    "a = xp.zeros(3, 'i1'); a.fill(300)", "a = xp.zeros(3, int); a[0] = 2**70",
    "a = xp.zeros(3, '?'); a[0] = 2**70", "a = xp.zeros(3); a[0] = 2**70",
    "a = xp.zeros(3); a[0] = '1.5'", "a = xp.zeros(3); a[0] = None", "a = xp.zeros(3); a[0] = 'x'",
    "a = xp.zeros(3, int); a[0] = float('nan')", "a = xp.zeros(3, int); a[:] = float('inf')",
    "a = xp.zeros(3, 'u1'); a[0] = -1", "a = xp.ones(3, 'u8') < 2**64",
    "a = xp.ones(3, 'u1'); a += 300", "a = xp.ones(2) + 10**400", "a = xp.ones(2, 'f2') + 2**70",
    "a = xp.ones((2, 3)); a.shape = 7", "a = xp.ones((2, 3)).T; a.shape = 6",
    "a = xp.ones((2, 3)); a.shape = (3, -1)", "a = xp.ones(4); a.dtype = 'i4'",
    "a = xp.array(1).max(axis=0)", "a = xp.array(1).argmax(axis=-1)", "a = xp.sum(3, axis=1)",
])  # fmt: skip
def test_values_and_errors_are_numpys(xp, text):
    results = []
    for module in (np, xp):
        names = {"xp": module}
        try:
            exec(text, names)
            results.append((str(names["a"]), names["a"].dtype))
        except Exception as error:
            public = (IndexError, OverflowError, ValueError, TypeError, AttributeError)
            results.append(next(kind for kind in public if isinstance(error, kind)))
    assert results[0] == results[1]


def test_arrays_keep_the_order_of_their_axes_on_another_device():
    x = np.arange(24.0).reshape(2, 3, 4)
    for a in (x, x.T, x.transpose(1, 0, 2), x[::-1, ::2], np.asfortranarray(x)):
        for device in ("null", None):
            with nb.device(device) if device else contextlib.nullcontext():
                assert nb.array(a).strides == np.array(a).strides
                assert nb.sin(nb.array(a)).strides == np.sin(a).strides
        np.testing.assert_array_equal(np.asarray(nb.array(a)), a)
