"""Python's array API standard 2025.12: each name with the standard's parameters, compared with
array_api_strict in values, dtypes and errors.

The calls are made from the table of signatures beside this file: every positional-only parameter by
its position, every other by its name, with each of the values below.
"""

import inspect
import itertools
import operator
import os
import subprocess
import sys
from pathlib import Path

import numbus as nb
import numpy as np
import pytest
from numbus.core import array_type

pytestmark = pytest.mark.numbus
DTYPES = "bool int8 uint16 int64 float32 float64 complex64 complex128".split()
TABLE = [
    line.strip()
    for line in Path(__file__).with_name("array_api_2025_12.txt").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.fixture(autouse=True)
def _scalars():
    """Numbers are generics once a namespace has been asked for: here in these tests only."""
    before = array_type.follow_standard()
    yield
    array_type.follow_standard(before)


def parsed(line):
    """(name, its parameters, or None for what is no function)."""
    name, found, rest = line.partition("(")
    if not found:
        return name, None
    names = {}
    exec(f"def f({rest}: pass", names)
    return name, inspect.signature(names["f"]).parameters


def found(xp, name):
    """What a name of the table stands for."""
    first, _, rest = name.partition(".")
    home = {"info": lambda: xp.__array_namespace_info__(), "array": lambda: xp.ones((3, 3))}
    if first in home:
        return getattr(home[first](), rest)
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


@pytest.mark.parametrize("line", TABLE)
def test_name_and_parameters(line):
    """The parameters that Python can see take what the standard's take."""
    name, wanted = parsed(line)
    value = found(nb, name)
    if wanted is None:
        return
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of C; the calls below tell
        return
    words = {n: 0 for n, p in wanted.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    count = sum(p.kind == p.POSITIONAL_ONLY for p in wanted.values())
    if any(p.kind == p.VAR_POSITIONAL for p in wanted.values()):
        count = 3
    signature.bind(*[0] * count, **words)
    signature.bind(*[0] * count, **{n: 0 for n in words if wanted[n].default is inspect._empty})
    for n, p in wanted.items():
        ours = signature.parameters.get(n)
        if n not in words or ours is None or ours.default is ours.empty:
            continue
        same = ours.default == p.default or ours.default in (None, float, np._NoValue)
        assert same or (name, n) == ("linspace", "num"), (name, n, ours.default)


SKIPPED = {"empty", "empty_like", "from_dlpack"}  # tests of their own below
FUNCTIONS = [
    line
    for line in TABLE
    if "(" in line
    and not line.startswith(("info.", "array.", "__"))
    and parsed(line)[0] not in SKIPPED
]


def make(xp, dtype, shape=(3, 4), seed=0, low=-4, high=5):
    """The same array in every namespace."""
    r = np.random.default_rng(seed)
    x = r.integers(low, high, shape)
    x = x / 2 if dtype[0] in "fc" else abs(x) if dtype[0] in "u" else x
    x = x + 0.5j * r.integers(low, high, shape) if dtype[0] == "c" else x
    return xp.asarray(np.asarray(x, dtype).tolist(), dtype=getattr(xp, dtype))


def special(xp, dtype):
    values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    pairs = np.array(list(itertools.product(values, values)))
    return [xp.asarray(pairs[:, k].tolist(), dtype=getattr(xp, dtype)) for k in (0, 1)]


def arrays(number):
    """Operands of several shapes, with a broadcast pair."""

    def draw(xp, dtype):
        for shape in ((3, 4), (), (1,), (0, 3), (2, 3, 2)):
            yield tuple([make(xp, dtype, shape, seed) for seed in range(number)])
        if number == 2:
            yield make(xp, dtype, (3, 1)), make(xp, dtype, (4,), 1)
        if dtype[0] == "f":
            yield tuple(special(xp, dtype)[:number])

    return draw


def one(*rest):
    """An array and further arguments."""
    return lambda xp, dtype: ((make(xp, dtype), *rest) for _ in range(1))


def plain(*args):
    """Arguments that depend on no dtype."""
    return lambda xp, dtype: iter([args] if dtype == "float64" else [])


def squares(*rest, right=()):
    """Well conditioned matrices, two of them stacked, too."""

    def draw(xp, dtype):
        if dtype[0] in "fc":
            for shape in ((3, 3), (2, 3, 3)):
                a = make(xp, dtype, shape) + 9 * xp.eye(3, dtype=getattr(xp, dtype))
                yield (a, *[make(xp, dtype, r, 1) for r in right], *rest)

    return draw


def positive(xp, dtype):
    for (a,) in squares()(xp, dtype):
        t = xp.matrix_transpose(a)
        yield ((a + (xp.conj(t) if dtype[0] == "c" else t)) / xp.asarray(2, dtype=a.dtype),)


def matrices(xp, dtype):
    for shape in ((3, 4), (4, 3), (2, 3, 4), (3, 3)):
        yield (make(xp, dtype, shape),)


def separate(xp, dtype):
    yield tuple(make(xp, dtype, (3,), k) for k in range(3))


def indices(xp, dtype):
    yield make(xp, dtype), xp.asarray([2, 0, 0])


def along(xp, dtype):
    yield make(xp, dtype), xp.asarray([[2, 0, 0, 1]])


def sorted_lines(xp, dtype):
    if dtype[0] == "c" or dtype == "bool":
        return
    yield xp.sort(make(xp, dtype, (7,))), make(xp, dtype, (2, 3), 1)


def choices(xp, dtype):
    yield make(xp, "bool"), make(xp, dtype), make(xp, dtype, (4,), 1)


def types(xp, dtype):
    for other in DTYPES:
        yield getattr(xp, dtype), getattr(xp, other)
        yield make(xp, dtype), getattr(xp, other)


def converted(xp, dtype):
    for other in DTYPES:
        if dtype[0] != "c" or other[0] == "c":
            yield make(xp, dtype, low=0), getattr(xp, other)


def products(xp, dtype):
    yield make(xp, dtype), make(xp, dtype, (4, 3), 1)
    yield make(xp, dtype, (4,)), make(xp, dtype, (4,), 1)
    yield make(xp, dtype, (2, 3, 4)), make(xp, dtype, (4, 2), 1)


def pairs(shape):
    return lambda xp, dtype: iter([(make(xp, dtype, shape), make(xp, dtype, shape, 1))])


def one_by_one(xp, dtype):
    if dtype[0] in "fc":
        yield (make(xp, dtype, (4, 6)),)


# What a function is given, where that is not one array, or two that broadcast.
ARGUMENTS = {
    "arange": lambda xp, dtype: iter([(2,), (5,)] if dtype == "int64" else [(1.5,)]),
    "asarray": plain([[1, 2], [3, 4]]),
    "astype": converted,
    "broadcast_arrays": lambda xp, dtype: iter([(make(xp, dtype, (3, 1)), make(xp, dtype, (4,)))]),
    "broadcast_shapes": plain((3, 1), (1, 4), (4,)),
    "broadcast_to": one(),
    "can_cast": types,
    "concat": lambda xp, dtype: iter([([make(xp, dtype, (3, 4), k) for k in range(3)],)]),
    "eye": plain(3, 4),
    "full": plain(),
    "isdtype": plain(),
    "linspace": plain(0.5, 4.0),
    "matmul": products,
    "linalg.matmul": products,
    "meshgrid": separate,
    "moveaxis": one(0, -1),
    "ones": plain(),
    "repeat": one(2),
    "result_type": types,
    "searchsorted": sorted_lines,
    "stack": lambda xp, dtype: iter([([make(xp, dtype, (3, 4), k) for k in range(3)],)]),
    "squeeze": lambda xp, dtype: iter([(make(xp, dtype, (1, 3, 1)),)]),
    "take": indices,
    "take_along_axis": along,
    "tensordot": pairs((3, 3)),
    "linalg.tensordot": pairs((3, 3)),
    "tile": one((2, 1)),
    "unique_all": one(),
    "vecdot": pairs((3, 4)),
    "linalg.vecdot": pairs((3, 4)),
    "where": choices,
    "zeros": plain(),
    "linalg.cholesky": positive,
    "linalg.cross": pairs((3, 3)),
    "linalg.eigh": positive,
    "linalg.eigvalsh": positive,
    "linalg.matrix_power": squares(3),
    "linalg.outer": pairs((3,)),
    "linalg.solve": squares(right=((3, 2),)),
    "fft.fftfreq": plain(7),
    "fft.rfftfreq": plain(8),
    **{f"linalg.{n}": squares() for n in "det eig eigvals inv pinv slogdet".split()},
    **{
        f"linalg.{n}": matrices
        for n in "diagonal matrix_norm matrix_rank matrix_transpose qr svd svdvals trace".split()
    },
    **{
        f"fft.{n}": one_by_one
        for n in "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftshift ifftshift".split()
    },
}  # fmt: skip
_FLOATS = ("float32", "float64")
# The values of what goes by name; a word is a dtype of the namespace.
KEYWORDS = {
    "axis": (0, -1, None, (0, 1), 5),
    "concat.axis": (0, 1, None, 5), "stack.axis": (0, -1, 2, 5), "unstack.axis": (0, -1),
    "expand_dims.axis": (0, 1, -1, (0, 2), 7), "squeeze.axis": (0, -1, (0, 2), 1),
    "diff.axis": (0, -1), "sort.axis": (0, -1), "argsort.axis": (0, -1), "take.axis": (0, 1),
    "take_along_axis.axis": (0,), "argmax.axis": (0, -1, None), "argmin.axis": (0, -1, None),
    "cumulative_sum.axis": (0, -1), "cumulative_prod.axis": (0, -1), "repeat.axis": (0, 1, None),
    "vecdot.axis": (-1, -2), "linalg.vecdot.axis": (-1, -2), "linalg.cross.axis": (0, -1),
    "roll.axis": (None, 0, -1, 3), "linalg.vector_norm.axis": (None, 0, -1, (0, 1)),
    "keepdims": (True, False), "dtype": ("float32", "float64", "complex64", "int64"),
    "fft.fftfreq.dtype": (*_FLOATS, "int64"), "fft.rfftfreq.dtype": _FLOATS,
    "device": (None, "cpu"), "copy": (True, None), "astype.copy": (True, False), "k": (0, 1, -2),
    "offset": (0, 1, -1), "n": (1, 2), "fft.n": (4, 9), "s": ((3, 5),),
    "norm": ("ortho", "forward", "backward"),
    "axes": ((0, 1), (1,)), "tensordot.axes": (1, 0, ((0,), (1,))),
    "linalg.tensordot.axes": (1, 0, ((0, 1), (1, 0))),
    "permute_dims.axes": ((1, 0), (-1, 0)), "correction": (0, 1, 0.5), "descending": (True, False),
    "stable": (True, False), "argsort.stable": (True,), "include_initial": (True, False),
    "indexing": ("xy", "ij"),
    "side": ("left", "right"), "sorter": (None,), "invert": (True, False), "min": (0, -1, None),
    "max": (1, 2, None),
    "shape": ((2, 3), (), 3), "reshape.shape": ((2, 6), (12,), (-1, 3), (5,)),
    "broadcast_to.shape": ((2, 3, 4), (3, 4), (2, 4)),
    "shift": (1, -2), "fill_value": (2, 1.5, True), "num": (5, 1, 0), "endpoint": (True, False),
    "stop": (7, 9), "step": (1, 2), "d": (0.5,), "prepend": (None,), "append": (None,),
    "isdtype.dtype": DTYPES,
    "kind": ("bool", "integral", "numeric", ("real floating", "complex floating"), "no such kind"),
    "upper": (True, False), "ord": (2, 1, np.inf, -np.inf),
    "linalg.matrix_norm.ord": ("fro", "nuc", 2, -2, 1, np.inf),
    "rtol": (None, 0.1), "mode": ("reduced", "complete"), "full_matrices": (True, False),
}  # fmt: skip


def values(xp, name, word):
    for key in (f"{name}.{word}", f"{name.partition('.')[0]}.{word}", word):
        if key in KEYWORDS:
            for value in KEYWORDS[key]:
                is_dtype = word == "dtype" and isinstance(value, str) and value in DTYPES
                yield getattr(xp, value) if is_dtype else value
            return
    raise KeyError(f"no values for {name}({word}=)")


def calls(xp, name, parameters, dtype):
    """The arguments of each call, by position and by name."""
    words = {
        n: list(values(xp, name, n))
        for n, p in parameters.items()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    }
    needed = {n: v[0] for n, v in words.items() if parameters[n].default is inspect._empty}
    count = sum(p.kind == p.POSITIONAL_ONLY for p in parameters.values())
    for args in ARGUMENTS.get(name, arrays(count))(xp, dtype):
        yield args, needed
        for word, options in words.items():
            for value in options:
                yield args, {**needed, word: value}
        if len(words) > 1:
            yield args, {word: options[0] for word, options in words.items()}


def outcome(function, args, words):
    """What the call gives, or raises by the time its elements are read."""
    try:
        result = function(*args, **words)
        for one in result if isinstance(result, (tuple, list)) else (result,):
            as_numpy(one)
        return result
    except Exception as error:
        return error


def as_numpy(x):
    return np.asarray(x) if hasattr(x, "dtype") else x


# NumPy's result, which Numbus has, is not the standard's.
EXCEPT = {
    "floor_divide": "infinities",
    "can_cast": "bool to numbers",
    "linalg.eig": "real where all are",
    "linalg.eigvals": "real where all are",
    "isin": "array_api_strict 2.6.1 does not read invert=",
}
# NumPy's functions take more than the standard says.
WIDER = """bitwise_left_shift bitwise_right_shift tril triu take cumulative_sum cumulative_prod
    linalg.cross argsort""".split()
ONE_ELEMENT = {"argsort"}  # NumPy sorts a number as an array of one
FREE_SIGNS = {"linalg.eig", "linalg.eigh", "linalg.qr", "linalg.svd"}  # compared by their shapes


def compare(name, got, want, what):
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(got) == len(want), what
        assert getattr(want, "_fields", None) == getattr(got, "_fields", None), what
        for g, w in zip(got, want):
            compare(name, g, w, what)
        return
    if name in EXCEPT:
        return
    if not hasattr(want, "dtype") or not hasattr(want, "shape"):
        a, b = getattr(got, "dtype", got), getattr(want, "dtype", want)
        assert str(getattr(a, "name", a)) == str(getattr(b, "_np_dtype", b)) or a == b, (*what, got)
        return
    assert type(got) in (nb._core.ndarray, nb._core.generic) or type(got) is np.bool, (
        *what,
        type(got),
    )
    g, w = np.asarray(got), np.asarray(want)
    assert g.dtype == w.dtype and g.shape == w.shape, (*what, g, w)
    if name not in FREE_SIGNS:
        tolerance = 2e-5 if w.dtype.itemsize // (1 + (w.dtype.kind == "c")) == 4 else 1e-11
        np.testing.assert_allclose(
            g, w, tolerance, tolerance * 10 if "." in name else 0, err_msg=str(what)
        )


@pytest.mark.parametrize("line", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_as_in_array_api_strict(line):
    strict = pytest.importorskip("array_api_strict")
    strict.set_array_api_strict_flags(api_version="2025.12")
    name, parameters = parsed(line)
    compared = 0
    for dtype in DTYPES:
        both = [calls(xp, name, parameters, dtype) for xp in (nb, strict)]
        for (args, words), (theirs, their_words) in zip(*both, strict=True):
            if their_words.get("device"):
                their_words = {**their_words, "device": strict.Device("CPU_DEVICE")}
            want = outcome(found(strict, name), theirs, their_words)
            if isinstance(want, (TypeError, RuntimeError)):
                continue  # stricter than NumPy
            got = outcome(found(nb, name), args, words)
            what = name, [as_numpy(x) for x in args], words
            if isinstance(want, Exception):
                assert name in WIDER or isinstance(got, Exception), (*what, got, want)
                continue
            if name in ONE_ELEMENT and not theirs[0].ndim:
                continue
            assert not isinstance(got, Exception), (*what, got)
            compare(name, got, want, what)
            compared += 1
    assert compared, "nothing was compared"


OPERATORS = """add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift matmul
    eq ne lt le gt ge""".split()


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_operators_as_in_array_api_strict(name):
    strict = pytest.importorskip("array_api_strict")
    strict.set_array_api_strict_flags(api_version="2025.12")
    function = getattr(operator, name)
    for dtype, scalar in itertools.product(DTYPES, (None, True, 2, 1.5, 1j)):
        for shape in ((3, 3), (), (0, 3)):
            results = []
            for xp in (nb, strict):
                a, b = make(xp, dtype, shape), make(xp, dtype, shape, 1, 1, 4)
                operands = (a, b) if scalar is None else (a, scalar)
                results.append(outcome(function, operands, {}))
            got, want = results
            if not isinstance(want, Exception):
                compare(name, got, want, (name, dtype, scalar, shape, got))


def test_namespace_and_versions():
    a = nb.ones(3)
    assert a.__array_namespace__() is nb and nb.__array_api_version__ == "2025.12"
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert a.__array_namespace__(api_version=version) is nb
    text = (
        r"\[__array_namespace__\] unknown version of the standard; got '2019.1'; expected 2021.12"
    )
    with pytest.raises(ValueError, match=text):
        a.__array_namespace__(api_version="2019.1")


def test_namespace_info():
    info = nb.__array_namespace_info__()
    real = np.__array_namespace_info__()
    assert info.capabilities() == real.capabilities()
    assert info.default_dtypes(device="cpu") == real.default_dtypes()
    assert info.dtypes() == {name: np.dtype(t) for name, t in real.dtypes().items()}
    for kind in ("bool", "integral", "numeric", ("real floating", "complex floating")):
        assert info.dtypes(kind=kind).keys() == real.dtypes(kind=kind).keys()
    assert info.devices()[0] == "cpu" and info.default_device() in info.devices()
    for device in info.devices():
        assert nb.ones(3, device=device).device == device
        assert info.default_dtypes(device=device) == info.default_dtypes()
    with pytest.raises(ValueError, match=r"\[dtypes\] unknown device; got 'gpu'; expected cpu"):
        info.dtypes(device="gpu")
    with pytest.raises(ValueError):
        info.dtypes(kind="no such kind")
    for number in (1.5, float, 2j, nb.ones(3), nb.ones(()), nb.sum(nb.ones(3)), nb.float64):
        assert nb.finfo(number).bits == 64
    assert nb.iinfo(int).bits == nb.iinfo(3).bits == nb.iinfo(nb.arange(3)).bits == 64


def test_numbers_are_arrays_without_axes():
    """From when a namespace was asked for: they share the arrays' namespace, and can be changed."""
    a = nb.arange(3.0)
    for x in (nb.sum(a), a[1], a.max(), nb.linalg.det(nb.eye(2)), nb.count_nonzero(a), a[0] < a[1]):
        assert type(x) is nb._core.generic and x.__array_namespace__() is nb and x.shape == ()
        assert not isinstance(x, (float, int, complex))
    x = nb.sum(a)
    kept, other = x, x.copy()
    x[a[0] < a[1]] = 7
    x[a[0] > a[1]] = 8
    assert (float(x), float(kept), float(other)) == (7, 7, 3)
    x[...] = 2 * x
    assert float(x) == 14 and float(x[()]) == 14 and x[None].tolist() == [14]
    y = np.asarray(nb.sum(a))
    y *= 2  # an array of its own, as of a number of NumPy's
    assert float(y) == 6
    array_type.follow_standard(False)
    assert isinstance(nb.sum(a), float)
    with pytest.raises(TypeError, match=r"\[setitem\] numbers cannot be changed; got a number of"):
        x[...] = 1


def test_numbers_of_before():
    """With SciPy's switch they are arrays from the start: SciPy refuses NumPy's beside arrays."""
    program = (
        "import numbus as nb\nx = nb.arange(3.0)\nc = x.mean()\n"
        "print(type(c) is nb._core.generic, isinstance(c, float))\n"
    )
    for switch, wanted in (("1", "True False"), ("", "False True")):
        env = {**os.environ, "SCIPY_ARRAY_API": switch, "NUMBUS_DEVICE": "cpu"}
        env["PYTHONPATH"] = os.pathsep.join([path for path in sys.path if path])
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        assert done.stdout.strip() == wanted, done.stderr


def test_every_name_of_the_namespace_is_there():
    """Tools that look at each name of a module find no error but AttributeError."""
    for name in dir(nb):
        hasattr(nb, name)


def test_empty_and_dlpack():
    for xp in (nb, np):
        assert xp.empty((2, 3), dtype=xp.float32).shape == (2, 3)
        assert xp.empty_like(xp.ones(3), dtype=xp.int8).dtype == xp.int8
    a = nb.arange(3.0)
    assert nb.from_dlpack(a).tolist() == nb.from_dlpack(np.arange(3.0)).tolist() == [0, 1, 2]
    b = nb.from_dlpack(a, copy=True, device="cpu")
    b[0] = 9
    assert a[0] == 0 and type(b) is nb._core.ndarray


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(7,), (40, 3), (3000,), (0,), (1,)])
def test_descending(dtype, shape):
    """Equal elements keep their order; NaN comes first."""
    x = np.random.default_rng(1).integers(0, 5, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[::7], x[1::7], x[2::7] = np.nan, -0.0, 0.0
    n = len(x)
    want = (n - 1 - np.argsort(x[::-1], axis=0, stable=True))[::-1]
    got = nb.argsort(nb.array(x), axis=0, descending=True)
    assert np.array_equal(np.asarray(got), want)
    for stable in (None, True):
        ours = np.asarray(nb.sort(nb.array(x), axis=0, descending=True, stable=stable))
        np.testing.assert_array_equal(ours, np.take_along_axis(x, want, 0))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_dtype_of_frequencies(name):
    function = getattr(nb.fft, name)
    for dtype in ("float32", np.float64, nb.float16):
        got = function(7, 0.5, dtype=dtype)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(np.asarray(got), getattr(np.fft, name)(7, 0.5).astype(dtype))
    with pytest.raises(TypeError, match=rf"\[{name}\] dtype of frequencies; got int64; expected"):
        function(7, dtype=int)
