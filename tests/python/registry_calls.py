"""Calls of registered functions, drawn from the annotations of their parameters, and comparison of
what they give with NumPy's: what test_registry.py and the sweep (sweep.py) share.
"""

import itertools
import random
import warnings

import numbus as nb
import numpy as np
from helpers import draw
from numbus.functions import registry
from registry_samples import COMMON, SAMPLES
from registry_values import ABSENT
from scipy import special

ORACLES = {"np": np, "special": special}
ROWS = sorted({row.names[0] for row in registry.ROWS.values()})
DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(6,), (1,), (3, 4), (2, 3, 4), (0,), (2, 0), (2, 1, 2, 3)]


class Choices(random.Random):
    """Random choices; `wide` ones take `out=`, more types, and arrays without axes, too."""

    wide = False

    def shapes(self):
        return SHAPES + [(), (), (1, 1), (0, 3)] if self.wide else SHAPES

    def dtypes(self):
        return [*DTYPES, "int16", "uint16", "uint32"] if self.wide else DTYPES


class Out:
    """Stands for an array to store results in until their shape and type are known."""

    def __init__(self, dtype, layout, shape):
        self.dtype, self.layout, self.shape = dtype, layout, shape

    def __repr__(self):
        return f"Out({self.dtype}, {self.layout}, {self.shape})"

    def array(self, like):
        shape = {"same": like.shape, "longer": (2, *like.shape), "shorter": like.shape[1:]}
        made = np.full(shape[self.shape], 7, self.dtype or like.dtype)
        return laid_out(made, self.layout)


OUT_SHAPES = ["same"] * 8 + ["longer", "shorter"]


def out_arrays(rng, shapes):
    dtype = rng.choice([None] * 6 + rng.dtypes())
    layout = rng.choice(["C", "C", "F", "strided", "reversed"])
    return Out(dtype, layout, rng.choice(shapes))


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
    given = SAMPLES.get((row.names[0], name), COMMON.get(name))
    if given is not None:
        try:
            return given(a, axis)
        except (IndexError, TypeError, ValueError):  # of an array without axes
            return given(a.reshape(1), 0)
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
    "np.polyval": lambda a: a if a.size else np.ones(3, a.dtype),
    "np.histogram2d": lambda a: a.reshape(-1),
    "np.bincount": lambda a: (
        np.abs(a.ravel()) if a.dtype.kind in "iu" else np.atleast_1d(a)[..., :3, None]
    ),
    "np.searchsorted": lambda a: np.sort(a.ravel()) if a.ndim < 3 else a,
}


def operand(rng, real=False):
    dtypes = [t for t in rng.dtypes() if not (real and t.startswith("complex"))]
    a = np.asarray(draw(rng.choice(rng.shapes()), rng.choice(dtypes), seed=rng.randrange(100)))
    if a.dtype.kind == "f" and a.size and rng.random() < 0.3:
        a.flat[rng.randrange(a.size)] = rng.choice([np.nan, np.inf, -np.inf])
    if a.size > 2 and rng.random() < 0.2:
        a.flat[a.size // 2 :] = a.flat[0]
    return laid_out(a, rng.choice(["C", "F", "strided", "reversed"]))


def laid_out(a, layout):
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
        if what.kind == "Out" and rng.wide:
            if rng.random() < 0.3:
                # Where the axes of `out` differ in number, NumPy's cumulative functions crash.
                chosen[name] = out_arrays(rng, ["same"] if "cum" in row.name else OUT_SHAPES)
                if row.name == "choose":  # NumPy takes the memory of any for that of a dense one
                    chosen[name].layout = "C"
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


def settled(function, args, keywords):
    """The results of a call, computed: errors that need data are raised then."""
    result = function(*args, **keywords)
    settle((args, keywords, result))
    return result


def settle(x):
    if isinstance(x, (tuple, list)):
        for item in x:
            settle(item)
    elif isinstance(x, dict):
        settle(tuple(x.values()))
    elif isinstance(x, nb.ndarray):
        np.asarray(x)


def check(got, want, note, precision=None):
    """The same type, shape and values, of floats as precise as `precision` (None: their type)."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, type(want)) and len(got) == len(want), note
        for x, y in zip(got, want):
            check(x, y, note, precision)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (note, got.dtype, want.dtype)
    assert got.shape == want.shape, (note, got.shape, want.shape)
    if want.dtype.kind in "fc" and want.size:
        tolerance = 64 * np.finfo(precision or want.dtype).eps
        np.testing.assert_allclose(got, want, tolerance, 4 * tolerance, err_msg=str(note))
    else:
        np.testing.assert_array_equal(got, want, str(note))


def by_index(got, want, note, a, axis=-1, **_):
    """Equal elements may come in any order: what the indices choose is compared."""
    if axis is None or not np.ndim(a):
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
    if axis is None or not np.ndim(a):
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


def fitted(got, want, note, x, y, deg, rcond=None, full=False, w=None, cov=False, **_):
    """As far as the condition of the powers of `x` lets the coefficients be known: libraries of
    linear algebra differ in last bits, which it multiplies (its square in covariances).
    """
    powers = np.vander(np.asarray(x) + 0.0, int(deg) + 1)
    if w is not None:
        powers = powers * np.asarray(w)[:, None]
    condition = np.linalg.cond(powers / np.sqrt((powers * powers).sum(0)))
    tolerance = 64 * condition * np.finfo(float).eps
    if not isinstance(want, tuple):
        got, want = (got,), (want,)
    assert len(got) == len(want), note
    for k, (mine, theirs) in enumerate(zip(got, want)):
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, note
        grown = tolerance * (condition if k == 1 else 1)
        largest = np.abs(theirs).max(initial=0)
        np.testing.assert_allclose(mine, theirs, grown, grown * (largest + 1), err_msg=str(note))


def as_short(got, want, note, **_):
    """NumPy computes in the type of the limits, whatever that of the result is."""
    check(got, want, note, np.dtype("f4"))


COMPARE = {
    "np.linspace": as_short,
    "np.meshgrid": several,
    "np.trim_zeros": of_a_list,
    "np.unique": unique,
    "np.unique_values": in_any_order,
    "np.argsort": by_index,
    "method.argsort": by_index,
    "np.partition": partitioned,
    "np.polyfit": fitted,
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
