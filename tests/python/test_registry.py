"""Registered functions against NumPy: every row, arguments drawn from its annotations, as array
calls and in compiled functions.
"""

import copy
import itertools
import random
import warnings

import numbus as nb
import numpy as np
import pytest
from helpers import draw, leaks
from jit_check import function_of
from numbus import _core as core
from numbus.functions import names, registry
from registry_samples import ABSENT, SAMPLES
from scipy import special

pytestmark = pytest.mark.numbus
ORACLES = {"np": np, "special": special}
ROWS = sorted({row.names[0] for row in registry.ROWS.values()})
DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(6,), (1,), (3, 4), (2, 3, 4), (0,), (2, 0), (2, 1, 2, 3)]


def axes(a):
    return [ABSENT, *range(-a.ndim, a.ndim), a.ndim]


def many_axes(a):
    given = [ABSENT, None, *range(-a.ndim, a.ndim), a.ndim]
    if a.size:  # NumPy itself cannot do it without elements
        given.append(())
    if a.ndim > 1:
        given += [(0, 1), (-1, 0), (1, -1), (0, -a.ndim)]
    return given + [(2, 0), tuple(range(a.ndim))] if a.ndim > 2 else given


def candidates(row, name, what, parameter, a, axis):
    given = SAMPLES.get((row.names[0], name))
    if given is not None:
        return given(a, axis)
    if what.kind == "Axes":
        return many_axes(a)
    if what.kind == "Choice":
        return [ABSENT, *what.words, "no such word"]
    if what.kind == "Flag":
        return [ABSENT, False, True]
    if what.kind in ("Out", "Any"):
        return [ABSENT]
    if what.kind == "DTypeArg":
        return [ABSENT, np.float32, "float64"]
    raise AssertionError(f"{row.names[0]}: nothing says what {name} is drawn from")


NUMBERS = [3, -0.5, True, np.float32(1.25), np.int8(-2), np.float64("nan")]
ARRAYS = {
    "np.polyder": np.ravel,
    "np.packbits": lambda a: a if a.dtype.kind in "iub" or not a.size else a != 0,
    "np.unpackbits": lambda a: np.abs(np.nan_to_num(a.real, posinf=3, neginf=9)).astype(np.uint8),
    "np.ix_": np.ravel,
    "np.ldexp": lambda a: a if a.dtype.kind != "c" else a.real,
    # Without coefficients NumPy's dtype is that of x, which test_polynomials.py looks at.
    "np.polyval": lambda a: a if len(a) else np.ones(3, a.dtype),
    "np.histogram2d": lambda a: a.reshape(-1),
    "np.bincount": lambda a: np.abs(a.ravel()) if a.dtype.kind in "iu" else a[..., :3, None],
    "np.searchsorted": lambda a: np.sort(a.ravel()) if a.ndim < 3 else a,
}


def operand(rng, real=False):
    dtypes = [t for t in DTYPES if not (real and t.startswith("complex"))]
    a = draw(rng.choice(SHAPES), rng.choice(dtypes), seed=rng.randrange(100))
    if a.dtype.kind == "f" and a.size and rng.random() < 0.3:
        a.flat[rng.randrange(a.size)] = rng.choice([np.nan, np.inf, -np.inf])
    if a.size > 2 and rng.random() < 0.2:
        a.flat[a.size // 2 :] = a.flat[0]
    layout = rng.choice(["C", "F", "strided", "reversed"])
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "strided" and a.ndim:
        return np.repeat(a, 2, -1)[..., ::2]
    return a[::-1] if layout == "reversed" and a.ndim else a


def arguments(row, rng):
    """(arguments by position, by keyword) of one call; absent ones keep their defaults."""
    chosen = {}
    # Special functions of complex numbers are not there, and say so.
    real = row.names[0].startswith("special.")
    a = ARRAYS.get(row.names[0], lambda a: a)(operand(rng, real))
    axis = -1
    for name, (what, p) in row.parameters().items():
        if p.kind == p.VAR_POSITIONAL:
            continue
        if (
            what.kind in ("Array", "Operand")
            and p.default is p.empty
            and (row.names[0], name) not in SAMPLES
        ):
            chosen[name] = a if not chosen else operand(rng, real)
            if what.kind == "Operand" and rng.random() < 0.2:
                chosen[name] = rng.choice(NUMBERS)
            continue
        if what.kind == "Axis":
            values = axes(a) + ([None] if what.none != registry._REFUSED else [])
        else:
            values = candidates(row, name, what, p, a, axis)
        value = values[0] if rng.random() < 0.4 else rng.choice(values)
        if what.kind in ("Axis", "Axes") and isinstance(value, int) and -a.ndim <= value < a.ndim:
            axis = value
        if value is not ABSENT:
            chosen[name] = value
    args = []
    for name, (_, p) in row.parameters().items():
        if p.kind == p.VAR_POSITIONAL:
            args += [operand(rng, real) for _ in range(rng.choice([1, 1, 2, 3]))]
            break
        named = p.kind != p.POSITIONAL_ONLY and len(args) and rng.random() < 0.5
        if name not in chosen or p.kind == p.KEYWORD_ONLY or named:
            break
        args.append(chosen.pop(name))
    return args, chosen


def outcome(function, args, keywords):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **keywords), None
        except Exception as error:
            return None, error


def check(got, want, note):
    if isinstance(want, (tuple, list)):
        assert isinstance(got, type(want)) and len(got) == len(want), note
        for x, y in zip(got, want):
            check(x, y, note)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (note, got.dtype, want.dtype)
    assert got.shape == want.shape, (note, got.shape, want.shape)
    if want.dtype.kind in "fc" and want.size:
        tolerance = 64 * np.finfo(want.dtype).eps
        np.testing.assert_allclose(got, want, tolerance, 4 * tolerance, err_msg=str(note))
    else:
        np.testing.assert_array_equal(got, want, str(note))


def by_index(got, want, note, a, axis=-1, **_):
    """Equal elements may come in any order: what the indices choose is compared."""
    if axis is None:
        a, axis = np.ravel(a), 0
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, note
    picked = np.take_along_axis(np.asarray(a), got, axis)
    check(picked, np.take_along_axis(np.asarray(a), want, axis), note)


def partitioned(got, want, note, a, kth, axis=-1, **_):
    """Which elements stand on which side of each rank; their order there is free."""
    got = np.moveaxis(np.asarray(got), -1 if axis is None else axis, -1)
    want = np.moveaxis(want, -1 if axis is None else axis, -1)
    assert got.dtype == want.dtype and got.shape == want.shape, note
    n = want.shape[-1] if want.size else 1
    ranks = {k % n for k in np.ravel(kth).tolist()}
    parts = [slice(k, k + 1) for k in ranks]
    parts += itertools.starmap(slice, itertools.pairwise(sorted(ranks | {0, n})))
    for part in parts:
        check(np.sort(got[..., part]), np.sort(want[..., part]), note)


def partitioned_by_index(got, want, note, a, kth, axis=-1, **_):
    if axis is None:
        a, axis = np.ravel(a), 0
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, note
    values = [np.take_along_axis(np.asarray(a), i, axis) for i in (got, want)]
    partitioned(*values, note, a, kth, axis)


def in_any_order(got, want, note, sorted=False, **_):
    """NumPy may give unique values in any order where nobody asks for one; ours have one."""
    check(got, np.sort(want) if isinstance(want, np.ndarray) and want.ndim == 1 else want, note)


def unique(got, want, note, sorted=True, **_):
    (check if sorted else in_any_order)(got, want, note)


def of_a_list(got, want, note, **_):
    """Of a list NumPy gives a list; compiled functions, to which it is an array, an array."""
    if isinstance(want, list):
        got, want = np.asarray(got), np.asarray(want)
    check(got, want, note)


def several(got, want, note, **_):
    """NumPy gives a list where it copies nothing."""
    check(got, tuple(want), note)


COMPARE = {
    "np.meshgrid": several,
    "np.trim_zeros": of_a_list,
    "np.unique": unique,
    "np.unique_values": in_any_order,
    "np.argsort": by_index,
    "np.partition": partitioned,
    "np.argpartition": partitioned_by_index,
}


def compare(row, got, want, note, args, keywords):
    special = COMPARE.get(row.names[0])
    if special is None:
        return check(got, want, note)
    rest = any([p.kind == p.VAR_POSITIONAL for _, p in row.parameters().values()])
    named = {} if rest else dict(zip(row.parameters(), args))
    return special(got, want, note, **named, **keywords)


def check_arguments(row, args, keywords, want, want_named, note):
    """Arrays hold afterwards what NumPy made of them, unless they may hold anything."""
    got = dict(zip(row.parameters(), args)) | keywords
    real = dict(zip(row.parameters(), want)) | want_named
    for name, x in real.items():
        if isinstance(x, np.ndarray) and not got.get("overwrite_input", False):
            np.testing.assert_array_equal(np.asarray(got[name]), x, str(note))


def refused_early(mistake):
    """An axis out of bounds or an unknown word is refused even where NumPy does not look at it."""
    return isinstance(mistake, np.exceptions.AxisError) or "not known; got" in str(mistake)


def same_error(got, want, note):
    assert got is not None, (note, "no error", want)
    alike = isinstance(got, type(want).__mro__[0]) or type(got).__mro__[1] in type(want).__mro__
    assert alike or isinstance(got, (TypeError, ValueError)), (note, got, want)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("seed", range(4))
def test_array_calls(name, seed):
    row = registry.ROWS[name]
    rng = random.Random(f"{name} {seed}")
    original = getattr(ORACLES[name.split(".")[0]], row.name)
    for _ in range(40):
        args, keywords = arguments(row, rng)
        note = (name, args, keywords)
        given = copy.deepcopy((args, keywords))
        want, error = outcome(original, *given)
        # Otherwise NumPy itself would answer calls of so few elements.
        before = core.answer_few(rng.random() < 0.3)
        mine = [nb.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
        named = {k: nb.asarray(x) if isinstance(x, np.ndarray) else x for k, x in keywords.items()}
        got, mistake = outcome(row.function, mine, named)
        core.answer_few(before)
        if error is None and refused_early(mistake):
            continue
        if error is not None:
            same_error(mistake, error, note)
        else:
            assert mistake is None, (note, mistake)
            assert not leaks(got), note
            compare(row, got, want, note, args, keywords)
            check_arguments(row, mine, named, *given, note)


def compiled(row, args, keywords):
    """A compiled function that makes this call: arrays are its arguments, all else is literal."""
    arrays = [x for x in itertools.chain(args, keywords.values()) if isinstance(x, np.ndarray)]
    names = iter(f"a{n}" for n in range(len(arrays)))

    def shown(x):
        if isinstance(x, type):
            return f"np.{x.__name__}"
        return next(names) if isinstance(x, np.ndarray) else repr(x)

    text = [shown(x) for x in args] + [f"{k}={shown(x)}" for k, x in keywords.items()]
    names = ", ".join(f"a{n}" for n in range(len(arrays)))
    source = f"{row.names[0].split('.')[0]}.{row.name}({', '.join(text)})"
    function = function_of(source, names, special=special, inf=np.inf, nan=np.nan)
    return nb.njit(function), arrays, source


def numbers_of(want, got):
    """Python's own numbers, which compiled functions return, in NumPy's type of the same kind."""
    if isinstance(want, tuple):
        return tuple(numbers_of(x, y) for x, y in zip(want, got, strict=True))
    if isinstance(want, np.generic) and isinstance(got, (bool, int, float, complex)):
        assert np.asarray(got).dtype.kind == want.dtype.kind.replace("u", "i"), (got, want)
        return np.asarray(got).astype(want.dtype)
    return got


COMPILED_ROWS = [name for name in ROWS if registry.ROWS[name].compiled]


@pytest.mark.cpu
@pytest.mark.parametrize("name", COMPILED_ROWS)
def test_compiled_calls(name):
    row = registry.ROWS[name]
    rng = random.Random(f"{name} compiled")
    original = getattr(ORACLES[name.split(".")[0]], row.name)
    ran = 0
    for _ in range(60):
        if ran == 30:
            break
        args, keywords = arguments(row, rng)
        given = copy.deepcopy((args, keywords))
        want, error = outcome(original, *given)
        function, arrays, source = compiled(row, args, keywords)
        got, mistake = outcome(function, arrays, {})
        note = (source, arrays)
        if error is None and refused_early(mistake):
            continue
        if isinstance(mistake, NotImplementedError) or "not yet" in str(mistake):
            continue
        if error is not None:
            assert mistake is not None, (note, error)
            ran += 1
            continue
        assert mistake is None, (note, mistake)
        compare(row, numbers_of(want, got), want, note, args, keywords)
        check_arguments(row, args, keywords, *given, note)
        ran += 1
    assert ran >= 10, f"only {ran} calls of {name} compile"


def test_bodies_reach_every_registered_function():
    for known, row in registry.ROWS.items():
        if known.startswith("np."):
            assert getattr(names, known[3:]) is row.function, known


def test_registry_refuses_what_it_cannot_read():
    with pytest.raises(TypeError, match="no annotation"):
        registry.function("np.sort")(lambda a: a)
    with pytest.raises(TypeError, match=r"\*more cannot be registered"):

        @registry.function("np.vstack")
        def _vstack(*more: registry.Axis):
            return more

    with pytest.raises(TypeError, match="twice"):
        registry.function("np.diff")(nb.diff.__wrapped__)
