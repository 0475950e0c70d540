"""Arguments that were once taken and not read: device=, like=, where=, in all their forms."""

import functools
import inspect
import itertools

import numpy as np
import pytest
from helpers import ALL, assert_same, assert_same_outcome, draw, outcome

pytestmark = pytest.mark.numbus

MADE = {
    "array API": {
        "arange": "7",
        "empty": "(2, 3)",
        "eye": "3",
        "full": "(2, 3), 7",
        "linspace": "0, 1, 5",
        "ones": "(2, 3)",
        "zeros": "(2, 3)",
        "fft.fftfreq": "6",
        "fft.rfftfreq": "6",
    },
    "of an array": {
        "asarray": "a",
        "astype": "a, 'float32'",
        "empty_like": "a",
        "full_like": "a, 7",
        "ones_like": "a",
        "zeros_like": "a",
        "from_dlpack": "a",
    },
}
CALLS = MADE["array API"] | MADE["of an array"]


def function_of(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def test_all_of_them_are_here():
    """Every function of NumPy's that has the argument."""
    found = set()
    for prefix, module in (("", np), ("fft.", np.fft), ("linalg.", np.linalg)):
        for name in dir(module):
            if name.startswith("_") or not callable(value := getattr(module, name)):
                continue
            if outcome(lambda v=value: "device" in inspect.signature(v).parameters) is True:
                found.add(prefix + name)
    assert found - set(CALLS) == {"asanyarray"}  # as asarray


@pytest.mark.parametrize("name", CALLS)
def test_device(xp, core, name):
    """The result is on the device that is named, wherever new arrays are made otherwise."""
    here = core.get_device()
    a = xp.ones((2, 3))
    function = function_of(xp, name)

    def call(words):
        return eval(f"f({CALLS[name]}, {words})", {"f": function, "a": a, "xp": xp})

    for device in ("null", here, xp.device(here), "cpu"):
        result = call(f"device={str(device)!r}")
        assert result.device == str(device), device
        assert core.get_device() == here
    assert call("device=None").device == here
    for wrong in ("nonsense", "gpu", 3):
        with pytest.raises((ValueError, RuntimeError)):
            call(f"device={wrong!r}")
        assert core.get_device() == here


def test_device_of_values(xp, core):
    """Values keep what they are on the way to another device."""
    for device in ("cpu", core.get_device()):
        assert xp.asarray([1, 2, 3], device=device).tolist() == [1, 2, 3]
        assert xp.asarray(np.arange(3), device=device).tolist() == [0, 1, 2]
        assert xp.full((2,), xp.array([5.0, 6.0]), device=device).tolist() == [5, 6]
        assert xp.linspace(xp.zeros(2), 1, 3, device=device).shape == (3, 2)
    a = xp.ones(3)
    assert xp.asarray(a, device=core.get_device()) is a
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(a, device="null", copy=False)


LIKE = {
    "array": "[1, 2]",
    "asarray": "[1, 2]",
    "asanyarray": "[1, 2]",
    "ascontiguousarray": "[1, 2]",
    "asfortranarray": "[1, 2]",
    "require": "[1, 2]",
    "empty": "0",
    "full": "2, 3",
    "zeros": "2",
    "ones": "2",
    "frombuffer": "b'abcdefgh'",
    "fromiter": "[1, 2], int",
    "identity": "2",
    "eye": "2",
    "tri": "2",
    "arange": "3",
    "fromfunction": "lambda i: i, (3,)",
}


class Other:
    """An array type that answers for itself."""

    def __array_function__(self, function, types, args, kwargs):
        return "other", function.__name__


@pytest.mark.parametrize("name", LIKE)
def test_like(xp, name):
    def call(like):
        return eval(f"xp.{name}({LIKE[name]}, like=like)", {"xp": xp, "like": like})

    want = eval(f"np.{name}({LIKE[name]})", {"np": np})
    for like in (xp.ones(2), np.ones(2), None, xp.ones(2).sum()):
        result = call(like)
        assert type(result) is type(xp.ones(1))
        assert_same(result, want, what=name)
    assert call(Other()) == ("other", name)
    for wrong in (3, "text", [1, 2]):
        with pytest.raises(TypeError):
            call(wrong)


MASKS = {
    "True": lambda xp: True,
    "False": lambda xp: False,
    "bool": lambda xp: xp.array([[True, False, True]] * 2),
    "row": lambda xp: xp.array([True, False, True]),
    "column": lambda xp: xp.array([[True], [False]]),
    "0-d": lambda xp: xp.array(True),
    "comparison": lambda xp: xp.arange(6).reshape(2, 3) > 2,
    "list": lambda xp: [[True, False, True], [False, True, False]],
    "int": lambda xp: xp.array([[256, 1, 0], [0, 2, 512]]),
    "int8": lambda xp: xp.array([[1, 0, 1], [0, 1, 0]], "int8"),
    "float": lambda xp: xp.array([[0.5, 0, 1], [0, 1, 0]]),
    "1": lambda xp: 1,
    "wrong shape": lambda xp: xp.array([True, False]),
    "NumPy's": lambda xp: np.array([[True, False, True]] * 2),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_copyto_where(xp, mode, mask, order):
    for to, source in itertools.product(["bool", "int8", "complex64"], ["bool", "float64"]):
        for casting in ("same_kind", "unsafe"):
            results = []
            for module in (np, xp):
                target = module.array(draw((2, 3), to, 0, 3), order=order)
                values = module.array(draw((2, 3), source, 0, 3, seed=1))
                where = MASKS[mask](module)
                copy = functools.partial(module.copyto, target, values, casting)
                result = outcome(functools.partial(copy, where=where))
                results.append((result, target))
            (want, want_target), (got, got_target) = results
            what = f"{source} to {to}, {casting}, {mask}"
            assert_same_outcome(got, want, what=what)
            assert_same(got_target, want_target, what=what)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "var", "std"])
@pytest.mark.parametrize("mask", MASKS)
def test_where_of_reductions(xp, mode, name, mask):
    for dtype in ("bool", "int8", "float32", "float64"):
        x = draw((2, 3), dtype, 1, 4)
        want = outcome(lambda x=x: getattr(np, name)(x, axis=1, where=MASKS[mask](np)))
        got = outcome(lambda x=x: getattr(xp, name)(xp.array(x), axis=1, where=MASKS[mask](xp)))
        assert_same_outcome(got, want, 1e-6, f"{name} {dtype} {mask}")


@pytest.mark.parametrize("dtype", ALL)
def test_sinc(xp, mode, dtype):
    x = np.array([0, -0.0, 1, -1, 0.5, 2, 3, 1e-4, 1e-7, 60], np.float64)
    x = x.astype(dtype) if np.dtype(dtype).kind != "u" else np.abs(x).astype(dtype)
    want, got = np.sinc(x), xp.sinc(xp.array(x))
    unit = {"float16": 2e-3, "float32": 1e-6, "complex64": 1e-6}.get(dtype, 1e-14)
    assert_same(got, want, unit, dtype)
    assert np.asarray(got)[0] == 1
    assert_same(xp.sinc(xp.array(x)[::2]), np.sinc(x[::2]), unit, dtype)
    assert float(abs(xp.sinc(xp.array(x)[0]))) == 1


SUBCLASSES = {
    "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "masked": lambda: np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [0, 0]]),
    "recarray": lambda: np.arange(4.0).reshape(2, 2).view(np.recarray),
    "plain": lambda: np.arange(4.0).reshape(2, 2),
}
SUBOK = {
    "array": "xp.array(x, subok={})",
    "copy": "xp.copy(x, subok={})",
    "broadcast_to": "xp.broadcast_to(x, (2, 2), subok={})",
    "broadcast_arrays": "xp.broadcast_arrays(x, x[0], subok={})[0]",
    "as_strided": "xp.lib.stride_tricks.as_strided(x, (2,), (16,), subok={})",
    "sliding_window_view": "xp.lib.stride_tricks.sliding_window_view(x, (2, 2), subok={})",
    "asarray": "xp.asarray(x)",
    "asanyarray": "xp.asanyarray(x)",
    "ascontiguousarray": "xp.ascontiguousarray(x)",
    "require": "xp.require(x)",
    "require E": "xp.require(x, None, 'E')",
    "empty_like": "xp.empty_like(x, subok={}) * 0",
    "zeros_like": "xp.zeros_like(x, subok={})",
    "full_like": "xp.full_like(x, 3, subok={})",
}


@pytest.mark.cpu
@pytest.mark.parametrize("kind", SUBCLASSES)
@pytest.mark.parametrize("name", SUBOK)
def test_subok(xp, name, kind):
    """Subclasses of NumPy's arrays stay what they are where NumPy keeps them, and only there."""
    for subok in (True, False):
        call = SUBOK[name].format(subok)
        want, got = (eval(call, {"xp": m, "x": SUBCLASSES[kind]()}) for m in (np, xp))
        ours = type(xp.ones(1))
        expected = ours if type(want) is np.ndarray else type(want)
        assert type(got) is expected, f"{call}: {type(got)}"
        assert_same(got, np.asarray(want), what=call)
