"""Runs a function compiled and in CPython and compares what comes back and what it writes."""

import copy
import linecache
import warnings

import numpy as np
from numbus import njit

KINDS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMBERS = INTS + FLOATS


def equal(ours, theirs, rtol, where="result"):
    """Raises unless both are the same: structure, kinds, dtypes of arrays, values."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) or (
            hasattr(theirs, "_fields") and type(ours).__name__ == type(theirs).__name__
        ), f"{where}: {type(ours)} for {type(theirs)}"
        assert len(ours) == len(theirs), f"{where}: {ours} for {theirs}"
        for k, (o, t) in enumerate(zip(ours, theirs)):
            equal(o, t, rtol, f"{where}[{k}]")
        return
    if isinstance(theirs, str):
        assert type(ours) is str and ours == theirs, f"{where}: {ours!r} for {theirs!r}"
        return
    if theirs is None:
        assert ours is None, f"{where}: {ours!r} for None"
        return
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), f"{where}: {type(ours)} for an array"
        assert ours.dtype == theirs.dtype, f"{where}: {ours.dtype} for {theirs.dtype}"
        assert ours.shape == theirs.shape, f"{where}: {ours.shape} for {theirs.shape}"
    else:
        kind = KINDS[np.asarray(theirs).dtype.kind]
        assert type(ours) is kind, f"{where}: {ours!r} for {theirs!r}"
        if isinstance(theirs, np.generic):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours = theirs.dtype.type(ours)
    o, t = np.asarray(ours), np.asarray(theirs)
    if t.dtype.kind in "fc":
        if rtol is None:
            rtol = {2: 1e-2, 4: 2e-6, 8: 1e-12}[t.real.dtype.itemsize]
        wide = "complex128" if t.dtype.kind == "c" else "float64"
        np.testing.assert_allclose(
            o.astype(wide), t.astype(wide), rtol=rtol, atol=rtol * 1e-3, err_msg=where
        )
    else:
        np.testing.assert_array_equal(o, t, err_msg=where)


def check(function, *args, rtol=None, **options):
    """Compares a compiled call with CPython's; gives the compiled result."""
    mine, theirs = _copy(args), _copy(args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function(*theirs)
        except Exception as error:
            expected = error
    compiled = njit(**options)(function)
    if isinstance(expected, Exception):
        try:
            result = compiled(*mine)
        except type(expected) as error:
            if str(expected) and type(expected) is ValueError:
                assert str(error) == str(expected)
            return error
        raise AssertionError(f"no {type(expected).__name__}; got {result!r}")
    result = compiled(*mine)
    equal(result, expected, rtol)
    for k, (m, t) in enumerate(zip(mine, theirs)):
        if isinstance(m, np.ndarray):
            equal(m, t, rtol, f"argument {k}")
    return result


def _copy(args):
    """Arrays with the same strides, so that layouts are what the test asks for."""
    made = []
    for a in args:
        if isinstance(a, np.ndarray):
            base = a
            while isinstance(base.base, np.ndarray):
                base = base.base
            if base is a:
                made.append(np.array(a, order="K", copy=True))
            else:
                fresh = base.copy(order="K")
                offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
                made.append(np.ndarray(a.shape, a.dtype, fresh, offset, a.strides))
        elif isinstance(a, tuple) and type(a) is tuple:
            made.append(_copy(a))
        else:
            made.append(copy.copy(a))
    return tuple(made)


def layouts(shape, dtype="float64", seed=0):
    """The same kind of array in C order, Fortran order, strided, reversed and transposed."""
    rng = np.random.default_rng(seed)

    def fresh(s):
        if np.dtype(dtype).kind in "iu":
            return rng.integers(0, 100, s).astype(dtype)
        if np.dtype(dtype).kind == "c":
            return (rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype)
        if np.dtype(dtype).kind == "b":
            return rng.random(s) < 0.5
        return rng.standard_normal(s).astype(dtype)

    wide = tuple(2 * n + 1 for n in shape)
    yield fresh(shape)
    yield np.asfortranarray(fresh(shape))
    yield fresh(wide)[tuple(slice(1, 2 * n + 1, 2) for n in shape)]
    yield fresh(shape)[tuple(slice(None, None, -1) for n in shape)]
    if len(shape) > 1:
        yield fresh(shape[::-1]).T


def function_of(expression, arguments="a", **known):
    """A function that returns an expression of its arguments, `np` and `known`, with source for
    njit.
    """
    source = f"def f({arguments}):\n    return {expression}\n"
    file = f"<{arguments}: {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"np": np, **known}
    exec(compile(source, file, "exec"), space)
    return space["f"]


def made(text, folder, **names):
    """The function f of a module of this text, which lies in a file of the folder."""
    path = folder / "made.py"
    path.write_text(text)
    exec(compile(text, str(path), "exec"), names)
    return names["f"]
