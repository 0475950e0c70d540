"""Registered functions against NumPy: every row, arguments drawn from its annotations, as array
calls and in compiled functions.
"""

import copy

import numbus as nb
import numpy as np
import pytest
from helpers import leaks
from jit_check import function_of
from numbus import _core as core
from numbus.functions import names, registry
from registry_calls import (
    ORACLES,
    ROWS,
    Choices,
    arguments,
    check_arguments,
    compare,
    outcome,
    refused_early,
    same_error,
    settled,
)
from scipy import special

pytestmark = pytest.mark.numbus


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("seed", range(4))
def test_array_calls(name, seed):
    row = registry.ROWS[name]
    rng = Choices(f"{name} {seed}")
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
        got, mistake = outcome(settled, (row.function, mine, named), {})
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


def arrays_of(x):
    """The arrays among arguments, and in the lists among them."""
    if isinstance(x, np.ndarray):
        yield x
    elif type(x) in (list, tuple):
        for item in x:
            yield from arrays_of(item)


def compiled(row, args, keywords):
    """A compiled function that makes this call: arrays are its arguments, all else is literal."""
    arrays = [*arrays_of([*args, *keywords.values()])]
    names = iter(f"a{n}" for n in range(len(arrays)))

    def shown(x):
        if type(x) in (list, tuple) and [*arrays_of(x)]:
            text = ", ".join(map(shown, x))
            return f"[{text}]" if isinstance(x, list) else f"({text},)"
        if isinstance(x, type) or callable(x):
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
        made = [numbers_of(x, y) for x, y in zip(want, got, strict=True)]
        return type(got)(*made) if hasattr(got, "_fields") else tuple(made)
    if isinstance(want, np.generic) and isinstance(got, (bool, int, float, complex)):
        assert np.asarray(got).dtype.kind == want.dtype.kind.replace("u", "i"), (got, want)
        return np.asarray(got).astype(want.dtype)
    return got


SLOW = {"np.polyfit", "np.poly", "np.roots"}  # of which fewer calls are compiled: factorisations
REAL = "complex values of a real matrix"  # the type would hang on the values
COMPILED_ROWS = [name for name in ROWS if registry.ROWS[name].compiled]


@pytest.mark.cpu
@pytest.mark.parametrize("name", COMPILED_ROWS)
def test_compiled_calls(name):
    row = registry.ROWS[name]
    rng = Choices(f"{name} compiled")
    original = getattr(ORACLES[name.split(".")[0]], row.name)
    ran, least = 0, 3 if name in SLOW else 10
    for _ in range(60):
        if ran == 3 * least:
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
        if REAL in str(mistake):
            continue
        if error is not None:
            assert mistake is not None, (note, error)
            ran += 1
            continue
        assert mistake is None, (note, mistake)
        compare(row, numbers_of(want, got), want, note, args, keywords)
        check_arguments(row, args, keywords, *given, note)
        ran += 1
    assert ran >= least, f"only {ran} calls of {name} compile"


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
