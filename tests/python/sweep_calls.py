"""Operands for NumPy and for us alike, calls of both, and comparison of what they leave: what the
sweeps of linear algebra, transforms and random numbers share.
"""

import contextlib
import inspect
import random

import numbus as nb
import numpy as np
import stand_ins
from helpers import draw, leaks
from numbus import _core as core
from registry_calls import outcome, settled

ABSENT = object()
DTYPES = "float32 float64 complex64 complex128".split()
OTHERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16".split()


class Given:
    """An array as it is drawn, and the view of it that a call is given."""

    def __init__(self, base, view="C"):
        self.base, self.view = base, view

    def of(self, xp):
        """An array of `xp` with elements of its own."""
        if self.view == "list":
            return self.base.tolist()
        x = self.base.copy("K") if xp is np or self.view == "NumPy's" else nb.array(self.base)
        return VIEWS[self.view](x)

    def __repr__(self):
        x = self.of(np)
        if isinstance(x, list):
            return repr(x)
        elements = x.tolist() if x.size < 17 else [*x.ravel()[:6].tolist(), ...]
        return f"{self.view} {x.dtype}{x.shape}{elements}"


def _last_two(x, first, second):
    return x[(..., first, second)[: 1 + x.ndim] if x.ndim > 1 else (..., second)]


# How an array with the elements of `base` lies in memory: what is taken of the larger array that
# `spread` makes of it.
VIEWS = {
    "C": lambda x: x,
    "pending": lambda x: x.copy(),
    "NumPy's": lambda x: x,
    "F": lambda x: x.swapaxes(-1, -2) if x.ndim > 1 else x,
    "strided": lambda x: _last_two(x, slice(None, None, 2), slice(None, None, 2)),
    "part": lambda x: _last_two(x, slice(1, None), slice(None, -1)),
    "reversed": lambda x: _last_two(x, slice(None, None, -1), slice(None, None, -1)),
    "stack last": lambda x: (
        np.moveaxis(x, -1, 0) if type(x) is np.ndarray else nb.moveaxis(x, -1, 0)
    ),
    "repeated": lambda x: (np if type(x) is np.ndarray else nb).broadcast_to(x[:1], x.shape),
}


def spread(x, view):
    """An array of which VIEWS[view] has the elements of `x`."""
    if view == "F" and x.ndim > 1:
        return np.ascontiguousarray(x.swapaxes(-1, -2))
    if view == "reversed" and x.ndim:
        return np.ascontiguousarray(VIEWS[view](x))
    if view == "strided":
        return np.repeat(x if x.ndim < 2 else np.repeat(x, 2, -2), 2, -1)
    if view == "part":
        return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 0)] * (x.ndim > 1) + [(0, 1)])
    if view == "stack last":
        return np.ascontiguousarray(np.moveaxis(x, 0, -1))
    return x


def given(rng, x):
    """The array in one of the layouts that it can have."""
    views = ["C"] * 4 + ["pending", "pending", "NumPy's"]
    if x.ndim:
        views += ["F", "F", "strided", "part", "reversed", "stack last"]
        if len(x):
            views.append("repeated")
        if 0 < x.size < 40 and x.dtype.name in ("float64", "complex128", "int64", "bool"):
            views.append("list")
    view = rng.choice(views)
    return Given(spread(x, view), view)


def build(x, xp, known):
    """Arguments for `xp`; an array that is given twice stays one."""
    if isinstance(x, Given):
        if id(x) not in known:
            known[id(x)] = x.of(xp)
        return known[id(x)]
    if isinstance(x, dict):
        return {key: build(item, xp, known) for key, item in x.items()}
    if type(x) in (list, tuple):
        return type(x)([build(item, xp, known) for item in x])
    return x


class Call:
    """A call of a function of NumPy's and of the one of ours; `compare(got, want, self)` raises
    AssertionError where they differ, and `on_gpu` has our code for GPUs answer.
    """

    note = ""
    # Words of an error, ours or NumPy's, of what differs on purpose; whether any error will do.
    decided, several = (), False

    def __init__(self, functions, chosen, compare, rng, on_gpu=False, signature=None):
        self.ours, self.original = functions
        self.compare, self.on_gpu = compare, on_gpu
        self.chosen = {key: x for key, x in chosen.items() if x is not ABSENT}
        signature = signature or inspect.signature(self.original)
        self.args, self.keywords = placed(rng, signature, self.chosen)

    def __repr__(self):
        note = ", as on a GPU" if self.on_gpu else ""
        return f"{self.args} {self.keywords}{note}{self.note}"


def placed(rng, signature, chosen):
    """Arguments by position as long as there are such, and the rest by name."""
    args, rest = [], dict(chosen)
    if rng.random() < 0.01:
        rest["nonsense"] = 1
    for name, p in signature.parameters.items():
        named = p.kind == p.KEYWORD_ONLY or (p.kind != p.POSITIONAL_ONLY and rng.random() < 0.4)
        if name not in rest or named:
            break
        args.append(rest.pop(name))
    return args, rest


def difference(call):
    """None, or what tells the call from NumPy's: (arguments, text)."""
    theirs, mine = {}, {}
    given, real = build((call.args, call.keywords), np, theirs)
    args, named = build((call.args, call.keywords), nb, mine)
    want, error = outcome(call.original, given, real)
    with as_on_gpu() if call.on_gpu else contextlib.nullcontext():
        got, mistake = outcome(settled, (call.ours, args, named), {})
    if any([text in f"{error} {mistake}" for text in call.decided]):
        return None
    try:
        if error is not None:
            assert mistake is not None, f"no error; NumPy: {error!r}"
            if call.several:
                return None
            same_class(mistake, error)
            return None
        if mistake is not None:
            raise AssertionError(f"raises {mistake!r}; NumPy: {want!r}") from mistake
        assert not leaks(got), "gives an array of NumPy's"
        call.compare(got, want, call)
        out = named.get("out")
        if np.ndim(out):
            assert (got is out) == (want is real["out"]), "gives another object"
        for key, x in theirs.items():
            if x is not want and x is not real.get("out") and isinstance(x, np.ndarray):
                identical(mine[key], x, "an operand")
    except AssertionError as found:
        return repr(call), str(found)
    return None


@contextlib.contextmanager
def as_on_gpu():
    """Has the code for GPUs answer, and nothing that answers before it on a host."""
    before = core.answer_few(False)
    try:
        with stand_ins.in_use():
            yield
    finally:
        core.answer_few(before)


def same_class(got, want):
    """An error of the class of Python's that NumPy's error belongs to."""
    assert got is not None, f"no error; NumPy: {want!r}"
    kinds = [kind for kind in type(want).__mro__ if kind.__module__ == "builtins"]
    assert isinstance(got, kinds[0]), f"raises {got!r}; NumPy: {want!r}"
    if isinstance(want, np.linalg.LinAlgError):
        assert isinstance(got, np.linalg.LinAlgError), f"raises {got!r}; NumPy: {want!r}"


def same_kind(got, want, note=""):
    """The same shape and type; of Python's numbers the same class."""
    if type(want) in (int, float, bool, complex, str, bytes, type(None)):
        assert isinstance(got, type(want)), f"{note} gives a {type(got)}; NumPy: {type(want)}"
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{note} gives {got.dtype}; NumPy: {want.dtype}"
    assert got.shape == want.shape, f"{note} gives shape {got.shape}; NumPy: {want.shape}"


def identical(got, want, note=""):
    """The same shapes, types and bits (NaN is NaN), also of what tuples hold."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, type(want)) and len(got) == len(want), f"{note} {got}; NumPy: {want}"
        for x, y in zip(got, want):
            identical(x, y, note)
        return
    same_kind(got, want, note)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want), note)


def near(got, want, tolerance, note="", units=None):
    """The same shapes and types, and values within `tolerance` units of the result's type, of the
    largest element; what is not finite the same. units: of another type.
    """
    if isinstance(want, (tuple, list)):
        assert isinstance(got, type(want)) and len(got) == len(want), f"{note} {got}; NumPy: {want}"
        for x, y in zip(got, want):
            near(x, y, tolerance, note, units)
        return
    same_kind(got, want, note)
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind not in "fc" or not want.size:
        np.testing.assert_array_equal(got, want, note)
        return
    finite = np.isfinite(want)
    text = f"{note} gives {got}; NumPy: {want}"
    assert (np.isfinite(got) == finite).all(), text
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(got[~finite], want[~finite], text)
    if not finite.any():
        return
    wide = np.result_type(want.dtype, np.float64)
    distance = np.abs(got[finite].astype(wide) - want[finite].astype(wide))
    unit = float(np.finfo(units or want.dtype).eps)
    largest = float(np.abs(want[finite].astype(wide)).max())
    assert distance.max() <= tolerance * unit * largest, f"{text}; {distance.max()} of {largest}"


class Drawer(random.Random):
    """Random choices, and numbers of NumPy's that follow from them."""

    def mostly(self, first, *others, share=0.6):
        """`first` in that share of the cases."""
        return first if self.random() < share else self.choice(others)

    def numbers(self, shape, dtype, low=-3.0, high=3.0):
        return np.asarray(draw(shape, dtype, low, high, seed=self.randrange(1000)))


def stands_in(rng):
    """Whether a call is to be answered by the code for GPUs: on a CPU's memory it can be."""
    return rng.random() < 0.5 and core.get_device() == "cpu"
