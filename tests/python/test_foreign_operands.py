"""Ufuncs and operators between Numbus's arrays and operands of others, against NumPy with NumPy's
arrays: ufunc × operand × side × out × pending or not.
"""

import operator
import os

import numpy as np
import pytest
from helpers import ALL, draw

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),
]
ON_CPU = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"
ERRORS = TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, AttributeError
UFUNCS = sorted(
    name
    for name, value in vars(np).items()
    if isinstance(value, np.ufunc) and value.__name__ == name and not value.signature
)
BINARY = [name for name in UFUNCS if (getattr(np, name).nin, getattr(np, name).nout) == (2, 1)]
# Computed by NumPy's own loop, or exact in both.
EXACT = """add subtract multiply negative positive absolute maximum minimum fmax fmin equal
    not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    logical_not bitwise_and bitwise_or bitwise_xor invert left_shift right_shift gcd lcm
    copysign sign floor ceil trunc rint isnan isinf isfinite signbit square conjugate""".split()


class Sub(np.ndarray):
    """A subclass without behaviour of its own, which its results keep."""


class Taking:
    """Answers for all ufuncs, and says with what it was called."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, len(inputs), sorted(kwargs)


class Refusing:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


class Reflecting:
    """Has operators of its own and wants no ufunc."""

    __array_ufunc__ = None

    def __add__(self, other):
        return "left"

    def __radd__(self, other):
        return "right"


def scalars():
    return {f"scalar {t}": np.dtype(t).type(3) for t in ALL}


def arrays():
    grid = draw((3, 4), "float64", -2, 2, 5)
    return {
        "array": grid,
        "array of its type": None,
        "row": draw((4,), "float32", -2, 2, 6),
        "ints": draw((3, 4), "int64", 1, 5, 7),
        "transposed": draw((4, 3), "float64", -2, 2, 8).T,
        "read-only": np.broadcast_to(draw((1, 4), "float64", -2, 2, 9), (3, 4)),
        "swapped": grid.astype(">f8"),
        "0-d": np.array(1.5, "float32"),
        "list": [1.5, 2.0, -0.5, 3.0],
        "int": 2,
        "float": 0.5,
        "bool": True,
        "complex": 1 - 2j,
        "huge": 1 << 70,
        "text": "a",
        "none": None,
        "too long": np.ones(5),
        "subclass": grid.view(Sub),
        "masked": np.ma.array(grid, mask=grid > 1),
        "wide": grid.astype(np.longdouble),
        "wide scalar": np.longdouble(2),
        "objects": np.array([[1, 2, 3, 4]], object),
        "taking": Taking(),
        "refusing": Refusing(),
    }


def outcome(call, *args, **kwargs):
    """The result, computed, or the class of the error, be it one that shows when it is computed."""
    try:
        result = call(*args, **kwargs)
        if not isinstance(result, tuple):
            np.asarray(result)
        return result
    except ERRORS as error:
        return next(t for t in ERRORS if isinstance(error, t))


def agree(xp, got, want, exact, what):
    """got: where an array of Numbus's took part; want: with NumPy's in its place."""
    if isinstance(want, type) or isinstance(got, type):
        assert got is want, f"{what}: {got!r} is not {want!r}"
        return
    if not isinstance(want, (np.ndarray, np.generic)):
        assert got == want and type(got) is type(want), f"{what}: {got!r} is not {want!r}"
        return
    if type(want) not in (np.ndarray, np.generic) and isinstance(want, np.ndarray):
        assert type(got) is type(want), f"{what}: {type(got)} is not {type(want)}"
        if isinstance(want, np.ma.MaskedArray):
            assert np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want)), what
            got, want = got.filled(0), want.filled(0)
    elif isinstance(want, np.ndarray) and want.dtype.name in ALL:
        assert type(got) is xp._core.ndarray, f"{what}: a {type(got)}"
    assert tuple(got.shape) == want.shape, f"{what}: {got.shape} is not {want.shape}"
    assert got.dtype == want.dtype, f"{what}: {got.dtype} is not {want.dtype}"
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind in "fc" and not exact:
        size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
        tolerance = {2: 5e-3, 4: 3e-6}.get(size, 1e-13)
        scale = np.max(np.abs(want[np.isfinite(want)]), initial=1)
        np.testing.assert_allclose(got, want, tolerance, tolerance * scale, err_msg=what)
    else:
        same = np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
        assert same, f"{what}:\n{got}\n{want}"


def ours_and(xp, dtype, pending):
    """The same array for NumPy and for Numbus, of which the latter may still be to be computed."""
    x = draw((3, 4), dtype, -2, 2, 3)
    a = xp.array(x)
    if pending:
        a = xp.where(xp.array(np.ones(x.shape, bool)), a, a)
    return x, a


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(xp, name, side, pending):
    ufunc = getattr(np, name)
    for dtype in ("float64", "int32", "float32"):
        for kind, other in (scalars() | arrays()).items():
            x, a = ours_and(xp, dtype, pending)
            if kind == "array of its type":
                other = draw((3, 4), dtype, 1, 2, 4)
            pair = (lambda y: (y, other)) if side == "left" else (lambda y: (other, y))  # noqa: B023
            if kind == "huge" and name.startswith("logical"):
                continue  # NumPy has no truth for an integer beyond 64 bits
            want, got = outcome(ufunc, *pair(x)), outcome(ufunc, *pair(a))
            agree(xp, got, want, name in EXACT, f"{name}, {dtype}, {kind} on the other side")


@pytest.mark.parametrize("name", [n for n in UFUNCS if getattr(np, n).nin == 1])
def test_unary(xp, name):
    ufunc = getattr(np, name)
    for dtype in ALL:
        for pending in (False, True):
            x, a = ours_and(xp, dtype, pending)
            want, got = outcome(ufunc, x), outcome(ufunc, a)
            pairs = zip(want, got) if isinstance(want, tuple) else [(want, got)]
            for w, g in pairs:
                exact = name in EXACT and dtype[0] != "c"
                agree(xp, g, w, exact, f"{name}, {dtype}, pending: {pending}")


OPERATORS = """add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le eq ne gt ge
    iadd isub imul itruediv ifloordiv ipow iand ilshift divmod matmul imatmul""".split()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(xp, name, side):
    function = divmod if name == "divmod" else getattr(operator, name)
    others = scalars() | arrays()
    if "matmul" in name:
        others |= {
            "matrix": draw((4, 4), "float64", -1, 1, 7),
            "matrix on the left": draw((3, 3), "float64", -1, 1, 7),
        }
    for dtype in ("float64", "int64"):
        for kind, other in others.items():
            if kind == "array of its type":
                other = draw((3, 4), dtype, 1, 2, 4)
            results = []
            for own in ours_and(xp, dtype, True):
                theirs = other.copy() if isinstance(other, np.ndarray) else other
                if kind == "transposed":
                    theirs = other.T.copy().T
                args = (own, theirs) if side == "left" else (theirs, own)
                results.append((outcome(function, *args), args[0]))
            (want, target), (got, changed) = results
            what = f"{name}, {dtype}, {kind} on the other side of {side}"
            exact = name.strip("_") in ("add", "sub", "mul", "lt", "eq", "iadd", "isub", "imul")
            if name[0] == "i" and side == "right" and isinstance(target, np.ndarray):
                agree_in_place(xp, got, want, changed, target, what)
                continue
            if name != "divmod" or type in (type(want), type(got)) or kind == "taking":
                want, got = (want,), (got,)
            for w, g in zip(want, got):
                agree(xp, g, w, exact, what)


def agree_in_place(xp, got, want, changed, target, what):
    """An operator that assigns to an array of NumPy's, which stays an array of NumPy's."""
    if isinstance(want, type) or want is not target:
        agree(xp, got, want, False, what)
        return
    assert got is changed, f"{what}: {type(got)}"
    x, y = (np.asarray(v, object if v.dtype == object else None) for v in (got, want))
    assert x.dtype == y.dtype, what
    np.testing.assert_allclose(x.astype(complex), y.astype(complex), 1e-6, 1e-6, err_msg=what)


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "less", "sin", "matmul", "divmod"])
def test_out(xp, name, pending):
    """The result in an array of NumPy's or ours: of its type, another, another shape, read-only, a
    subclass, a masked array; with and without `where`.
    """
    ufunc = getattr(np, name)
    shape = (3, 3) if name == "matmul" else (3, 4)
    types = "float64", "float32", "int32", "bool", "complex128"
    targets = {t: np.full(shape, 7, t) for t in types}
    targets |= {
        "more": np.full((2, *shape), 7.0),
        "less": np.full(shape[1:], 7.0),
        "strided": np.full((6, 8), 7.0)[: 2 * shape[0] : 2, : 2 * shape[1] : 2],
        "read-only": np.broadcast_to(7.0, shape),
        "subclass": np.full(shape, 7.0).view(Sub),
        "masked": np.ma.array(np.full(shape, 7.0), mask=np.eye(*shape, dtype=bool)),
        "tuple": (np.full(shape, 7.0),),
        "list": [1.0],
        "number": 1.0,
    }
    where = np.arange(shape[0] * shape[1]).reshape(shape) % 2 == 0
    for kind, target in targets.items():
        for extra in ({}, {"where": where}, {"casting": "unsafe"}, {"dtype": "float32"}):
            if (name == "matmul" and "where" in extra) or (name == "less" and "dtype" in extra):
                continue
            if (name, kind) == ("matmul", "masked"):
                continue  # NumPy combines the operands' masks as if they were element by element
            for ours in (False, True):
                if ours and type(target) is not np.ndarray:
                    continue
                if ours and kind == "read-only" and xp.zeros(1).device != "cpu":
                    continue  # asarray makes a copy there, which may be written to
                results = []
                for own in ours_and(xp, "float64", pending):
                    other = draw((4, 3), "float64", -1, 1, 2) if name == "matmul" else own
                    args = (own,) if name == "sin" else (own, other)
                    into = target
                    if isinstance(into, np.ndarray) and kind not in ("read-only", "strided"):
                        into = into.copy()
                    elif kind == "tuple":
                        into = (into[0].copy(),)
                    elif kind == "strided":
                        into = into.base.copy()[: 2 * shape[0] : 2, : 2 * shape[1] : 2]
                    if ours and own is not results and len(results) == 1:
                        into = xp.asarray(into)
                    keyword = into
                    if name == "divmod":
                        keyword = (into, None) if kind != "tuple" else into
                    results.append((outcome(ufunc, *args, out=keyword, **extra), into))
                (want, target_want), (got, target_got) = results
                what = f"{name}, {kind}, {extra}, ours: {ours}"
                if isinstance(want, type) or isinstance(got, type):
                    assert got is want, f"{what}: {got!r} is not {want!r}"
                    continue
                if isinstance(target_want, tuple):
                    (target_want,), (target_got,) = target_want, target_got
                first = got[0] if name == "divmod" else got
                assert first is target_got, f"{what}: {type(first)}"
                x, y = np.asarray(target_got), np.asarray(target_want)
                assert x.dtype == y.dtype, what
                np.testing.assert_allclose(x, y, 1e-6, 1e-6, err_msg=what)


METHODS = {
    "reduce": [{}, {"axis": 1}, {"axis": None}, {"keepdims": True}, {"initial": 3}, {"where": True},
               {"axis": (0, 1)}, {"dtype": "float32"}, {"out": ()}, {"initial": None}],
    "accumulate": [{}, {"axis": 1}, {"dtype": "float32"}, {"out": ()}],
    "outer": [{}, {"dtype": "float64"}],
    "reduceat": [{}, {"axis": 1}],
    "at": [{}],
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BINARY)
def test_methods(xp, name, method):
    ufunc = getattr(np, name)
    for dtype in ("float64", "int64", "bool"):
        for kwargs in METHODS[method]:
            for extra in (None, np.array([1, 2, 1]), [0, 2], 2):
                # NumPy's vector loops read what they have written, as test_ufunc_methods.py has it.
                if name in ("arctan2", "power") and method in ("reduce", "reduceat"):
                    continue
                if method in ("reduce", "accumulate") and extra is not None:
                    continue
                results = []
                for own in ours_and(xp, dtype, True):
                    args = (own,) if extra is None else (own, extra)
                    if method == "at":
                        args = (own, extra if extra is not None else 1, np.ones((), dtype))
                    elif method in ("outer", "reduceat") and extra is None:
                        args = (own, [1, 2])
                    if method == "reduceat" and extra is not None and np.ndim(extra) == 0:
                        args = (own, [extra])
                    given = dict(kwargs)
                    if "out" in given:
                        shape = {"reduce": (4,), "accumulate": (3, 4)}[method]
                        given["out"] = np.zeros(shape)
                    results.append((outcome(getattr(ufunc, method), *args, **given), own))
                (want, x), (got, a) = results
                what = f"{name}.{method}, {dtype}, {kwargs}, {extra}"
                if method == "at":
                    assert (got is want) or (got is None and want is None), f"{what}: {got} {want}"
                    agree(xp, a, x, name in EXACT, what)
                elif "out" in kwargs and not isinstance(want, type):
                    np.testing.assert_allclose(np.asarray(got), want, 1e-6, 1e-9, err_msg=what)
                else:
                    agree(xp, got, want, name in EXACT and name not in ("add", "multiply"), what)


def test_at_of_foreign_targets(xp):
    for ours in ("index", "value", "both"):
        x, i, v = np.zeros(5), np.array([1, 1, 3]), np.array([1.0, 2.0, 3.0])
        index = xp.array(i) if ours != "value" else i
        value = xp.array(v) if ours != "index" else v
        np.add.at(x, index, value)
        assert x.tolist() == [0, 3, 0, 3, 0]


def test_reflecting(xp):
    a = xp.ones(3)
    assert a + Reflecting() == "right" and Reflecting() + a == "left"
    with pytest.raises(TypeError):
        np.add(a, Reflecting())
    for function in (operator.mul, divmod, operator.matmul):
        with pytest.raises(TypeError):
            function(a, Reflecting())
        with pytest.raises(TypeError):
            function(Reflecting(), a)


FOREIGN = {
    "scalar": lambda: np.float64(2.5),
    "0-d": lambda: np.array(2.5),
    "array": lambda: draw((40,), "float64", 1, 2),
    "large": lambda: draw((40_000,), "float64", 1, 2),
    "strided": lambda: draw((80,), "float64", 1, 2)[::2],
    "ints": lambda: draw((40,), "int32", 1, 2),
    "list": lambda: [1.5],
}


@pytest.mark.cpu
@pytest.mark.recorded
@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize(
    "text",
    ["a + f", "f + a", "np.add(a, f)", "np.add(f, a)", "np.hypot(f, a)", "f < a", "a @ f", "f @ a",
     "a.__iadd__(f)", "np.multiply(a, f, out=a)", "xp.maximum(a, f)", "xp.where(f, a, 1)",
     "np.where(a > 0, f, a)", "np.sum(a)", "np.add.reduce(a)", "np.cumsum(a)"],
)  # fmt: skip
def test_nothing_falls_back_or_flushes(xp, core, text, kind):
    """Work that an operand needs, and work that it does not, stays pending."""
    f = FOREIGN[kind]()
    if "@" in text and np.size(f) != 40:
        return
    x = draw((np.size(f) if np.size(f) > 1 else 40,), "float64", 1, 2, 5)
    b = xp.array(x)
    a, unrelated = b * 2, b - 1
    pending = np.size(f) * 8 <= 1 << 17  # larger ones are read where they lie: a flush at most
    before = core.stats()
    result = eval(text, {"a": a, "f": f, "np": np, "xp": xp})
    after = core.stats()
    assert after["fallbacks"] == before["fallbacks"]
    if pending and "f @" not in text and "@ f" not in text:
        assert after["flushes"] == before["flushes"], text
    want = eval(text, {"a": x * 2, "f": f, "np": np, "xp": np})
    np.testing.assert_allclose(np.asarray(result), want, 1e-12)
    np.testing.assert_allclose(np.asarray(unrelated), x - 1, 1e-12)


@pytest.mark.cpu
@pytest.mark.recorded
def test_what_is_read_is_as_it_was(xp, core):
    """The owner of a foreign array may write to it as soon as an operation returns."""
    for n in (5, 600, 10_000, 100_000):
        f, x = np.ones(n), np.full(n, 2.0)
        a = xp.array(x) * 3
        view = f[::-1]
        results = [a + f, f * a, np.subtract(f, a), a + view, xp.asarray(f) + 1]
        f[:] = 100
        wants = [7, 6, -5, 7, 2]
        for result, want in zip(results, wants):
            assert np.asarray(result).tolist() == [want] * n


@pytest.mark.cpu
@pytest.mark.recorded
def test_shared_memory_leaves_other_work_pending(xp, core):
    """Memory that others can see is written at once, without carrying out unrelated work."""
    x = draw((100_000,), "float64", 1, 2)
    f, b = x.copy(), xp.array(x)
    c = xp.array(x)
    np.asarray(c)
    unrelated = b * 2
    before = core.stats()
    f += c
    np.multiply(c, 2, out=f)
    g = xp.asarray(f) + c
    h = xp.array(f[::2])
    after = core.stats()
    assert after["fallbacks"] == before["fallbacks"]
    assert f.tolist() == (x * 2).tolist()
    # Each was a window of its own, and `unrelated` is in none of them.
    assert after["instructions"] - before["instructions"] == after["flushes"] - before["flushes"]
    before = core.stats()
    assert np.asarray(unrelated).tolist() == (x * 2).tolist()
    assert core.stats()["flushes"] == before["flushes"] + 1
    f[:] = 0
    assert np.asarray(g).tolist() == (x * 2 + x).tolist()
    assert np.asarray(h).tolist() == (x * 2)[::2].tolist()
