"""Every function of arrays against NumPy: calls drawn from their parameters, over types, layouts,
orders, keywords and arrays with no, one and several elements. What is drawn for linear algebra,
transforms and random numbers stands in sweep_linalg.py, sweep_fft.py and sweep_random.py.

    python tests/python/sweep.py --seconds 600           # NUMBUS_DEVICE picks the device
    python tests/python/sweep.py np.take np.sum --calls 2000
    python tests/python/sweep.py --seed "np.take 1234"   # one call, with its arguments

Prints the calls whose value, type, shape or class of error differs from NumPy's. A seed that failed
goes into sweep_seeds.txt, whose calls test_sweep.py makes.
"""

import argparse
import copy
import sys
import time
import traceback
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import numbus as nb
import numpy as np
import other_functions
import registry_samples
import sweep_calls
import sweep_fft
import sweep_linalg
import sweep_random
from helpers import leaks
from numbus import _core as core
from numbus.functions import registry
from registry_calls import (
    ORACLES,
    Choices,
    Out,
    arguments,
    check,
    compare,
    outcome,
    settled,
)
from sweep_calls import same_class

registry_samples.SAMPLES.update(other_functions.SAMPLES)
ROWS = other_functions.ROWS | {row.names[0]: row for row in registry.ROWS.values()}
SUBJECTS = {name: of for of in (sweep_fft, sweep_linalg, sweep_random) for name in of.NAMES}
NAMES = sorted([*ROWS, *SUBJECTS])
SEEDS = Path(__file__).with_name("sweep_seeds.txt")
# Whose calls may have several mistakes: which of them the error is about differs.
SEVERAL = set(
    """abs absolute choose clip compress cov divmod fix gradient histogram2d histogramdd insert
    interp matmul matvec nanargmax nanargmin nanmean nanpercentile nanquantile nanstd nanvar
    outer packbits percentile place put put_along_axis putmask quantile ravel_multi_index std
    swapaxes take unravel_index var vecdot vecmat""".split()
)
STEPWISE = set("max min amax amin nanmax nanmin mean nanmean var nanvar std nanstd".split())
CASTING = set("array asarray asanyarray ascontiguousarray asfortranarray astype copyto".split())
# What differs on purpose, by function: words of our error, or of NumPy's where only it has one.
_SPREADS = "wrong shape of out"  # NumPy spreads results over a larger `out`, which is refused here
_QUANTILES = (
    "according to the rule 'safe'",
    "expected a cast that 'same_kind' allows",  # NumPy cuts what methods such as 'lower' give
    "method not known",  # it does not look at that of quantiles of nothing
    "cannot convert float NaN to integer",
    "If a is inexact, then out must be inexact",
    _SPREADS,
)
DECIDED = {
    **dict.fromkeys("around round matmul".split(), (_SPREADS,)),
    "median": (_SPREADS, "Cannot cast scalar"),  # into an `out` of bool, only where it is NaN
    **dict.fromkeys("percentile quantile nanpercentile nanquantile".split(), _QUANTILES),
    # Mistakes that NumPy's code happens to meet, in its own words.
    **dict.fromkeys("split hsplit vsplit dsplit".split(), ("integer modulo by zero",)),
    "tensordot": ("tuple index out of range",),
    # Where it writes by way of `flat`, NumPy makes a read-only copy of elements with gaps.
    "put_along_axis": ("assignment destination is read-only",),
    "roll": ("not enough values to unpack",),
    "nanmedian": ("If a is inexact, then out must be inexact", _SPREADS),
    "ptp": ("ufunc 'subtract'",),
    # Quotients of complex numbers may be no bins in NumPy; here they are the nearest one.
    "histogram": ("is out of bounds for axis 0", "'list' argument must have no negative"),
    # NumPy refuses a Python int beside unsigned integers, because of its own conversion.
    "select": ("Cannot cast array data",),
    # It gives a diagonal to axes of no and of three elements.
    "einsum": ("[einsum] extents of",),
    "interp": ("complex coordinates",),  # of which NumPy drops a part where there is a period
    # Exponents are looked at only where they are at rest.
    **dict.fromkeys(["power", "pow"], ("negative integer powers",)),
    # Compiled functions, where the type of a result cannot hang on values.
    **dict.fromkeys("eig eigvals poly roots".split(), ("complex values of a real matrix",)),
    "diff": ("[diff] axis",),  # of a number, where there is nothing to do
}


def difference(name, seed):
    """None, or what tells the call of this seed from NumPy's: (arguments, text)."""
    if name in SUBJECTS:
        rng = sweep_calls.Drawer(f"{name} {seed}")
        before = core.answer_few(rng.random() < 0.3)
        try:
            return sweep_calls.difference(SUBJECTS[name].call(name, rng))
        finally:
            core.answer_few(before)
    row, rng = ROWS[name], Choices(f"{name} {seed}")
    rng.wide = True
    args, keywords = arguments(row, rng)
    few = rng.random() < 0.3
    precision = with_out(row, args, keywords)
    if precision is None:
        return None
    shown = described((args, keywords))
    if row.name in CASTING and infinite(args):
        return None  # NumPy's loops do not agree what becomes of them
    axis = args[1] if len(args) > 1 else keywords.get("axis")
    if row.name in ("std", "var") and (
        np.size(args[0]) == 1 or (isinstance(axis, tuple) and not axis)
    ):
        keywords.pop("ddof", None)
        keywords.pop(
            "correction", None
        )  # over zero NumPy divides what a mean of another type leaves
    given = twins((args, keywords), {})
    mine, named = twins((args, keywords), {}, nb.asarray)
    want, error = outcome(original(row), *given)
    before = core.answer_few(few)
    got, mistake = outcome(settled, (row.function, mine, named), {})
    core.answer_few(before)
    if any([text in f"{error} {mistake}" for text in DECIDED.get(row.name, ())]):
        return None
    try:
        if error is not None:
            stored = (*mine, named.get("out")), (*given[0], given[1].get("out"))
            if mistake is None and not same_layout(*stored):
                return None  # what is no view, or has no order, there
            if mistake is None or row.name not in SEVERAL:
                same_class(mistake, error)
            return None
        if isinstance(mistake, np.exceptions.AxisError) and mistake.ndim:
            return None  # refused even where NumPy does not look at it
        if mistake is not None:
            raise AssertionError(f"raises {mistake!r}") from mistake
        assert not leaks(got), "gives an array of NumPy's"
        if getattr(keywords.get("out"), "ndim", 0):
            assert (got is named["out"]) == (want is given[1]["out"]), "gives another object"
        here = forgiven(got, want)
        if isinstance(precision, np.dtype):
            check(here, want, "", precision)
        else:
            compare(row, here, want, "", args, keywords)
        for here, real in operands((mine, named), given):
            if real is not want and not keywords.get("overwrite_input"):
                check(here, real, "an operand", precision if precision is not True else None)
        if isinstance(want, np.ndarray) and want.size > 1 and "order" in keywords:
            plain = not any([isinstance(x, np.ndarray) and x is want for x in given[0]])
            if plain and "out" not in keywords and same_layout(mine, given[0]):
                same_order(got, want)
    except AssertionError as found:
        return shown, str(found)
    return None


def forgiven(got, want):
    """`got` with NumPy's infinite complex numbers for its own, whose parts are NaN or not by the
    order of steps.
    """
    if not isinstance(want, (np.ndarray, np.generic)) or want.dtype.kind != "c":
        return got
    there = np.asarray(got)
    if there.shape != want.shape or there.dtype != want.dtype:
        return got
    return np.where(np.isfinite(there) | np.isfinite(want), there, want).astype(want.dtype)


def operands(mine, given):
    """Pairs of our arrays and NumPy's among the arguments."""
    (args, keywords), (real_args, real_keywords) = mine, given
    pairs = [*zip(args, real_args), *((keywords[key], x) for key, x in real_keywords.items())]
    return [pair for pair in pairs if isinstance(pair[1], np.ndarray)]


def original(row):
    if row.kind == "method":
        return other_functions.method(row.name)
    return getattr(ORACLES[row.names[0].split(".")[0]], row.name)


def described(x):
    """Arguments in few words: of long arrays type, shape, strides and some elements."""
    if isinstance(x, dict):
        return "{" + ", ".join([f"{key}={described(item)}" for key, item in x.items()]) + "}"
    if type(x) in (list, tuple):
        return f"{type(x).__name__}({', '.join(map(described, x))})"
    if not isinstance(x, np.ndarray):
        return repr(x)
    elements = x.tolist() if x.size < 7 else [*x.ravel()[:6].tolist(), ...]
    return f"{x.dtype}{x.shape}{x.strides if x.ndim else ''}{elements}"


def twins(x, known, made=lambda a: a):
    """Arrays like those in an argument, in their layout; one array stays one."""
    if isinstance(x, dict):
        return {key: twins(item, known, made) for key, item in x.items()}
    if type(x) in (list, tuple):
        return type(x)([twins(item, known, made) for item in x])
    if not isinstance(x, np.ndarray):
        return x
    if id(x) not in known:
        flips = (..., *[slice(None, None, -1 if step < 0 else 1) for step in x.strides])
        forwards = x[flips]
        dense = forwards.flags.forc
        twin = forwards.copy("K") if dense else np.repeat(forwards, 2, -1)[..., ::2]
        known[id(x)] = made(twin[flips])
    return known[id(x)]


def infinite(x):
    """Whether there are numbers that no integer holds."""
    if isinstance(x, (tuple, list)):
        return any(map(infinite, x))
    held = isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc"
    return held and not np.isfinite(x).all()


def with_out(row, args, keywords):
    """Puts an array into the place of `out`. Gives the type that its floats are computed in, or
    True; None where the call cannot have such an array.
    """
    outs = [x for x in (*args, *keywords.values()) if isinstance(x, Out)]
    ufunc = isinstance(row.function, core.ufunc) or row.name == "clip"
    if ufunc and "where" in keywords and not outs:
        outs = [keywords.setdefault("out", Out(None, "C", "same"))]  # the rest would be undefined
    if not outs:
        return True
    plain = {key: x for key, x in keywords.items() if not isinstance(x, Out)}
    if ufunc:
        plain.pop("where", None)
    before = [x for x in args if not isinstance(x, Out)]
    want, error = outcome(original(row), *copy.deepcopy((before, plain)))
    if error is not None or isinstance(want, (tuple, list)):
        return None
    want, out = np.asarray(want), outs[0]
    lossy = out.dtype and want.dtype.kind in "ifc" and unlike(want, out.dtype)
    # NumPy casts to the type of `out` at each step, or computes in it.
    if lossy or "initial" in keywords or (row.name in STEPWISE and (out.dtype or "f")[0] in "iub"):
        out.dtype = None
    array = out.array(want)
    for position, x in enumerate(args):
        if isinstance(x, Out):
            args[position] = array
    keywords.update({key: array for key, x in keywords.items() if isinstance(x, Out)})
    precise = all([t.kind in "fc" for t in (want.dtype, array.dtype)])
    return min(want.dtype, array.dtype, key=lambda t: np.finfo(t).bits) if precise else True


def unlike(floats, dtype):
    """Whether what becomes of these in an `out` of `dtype` is left open: integers of floats that
    are next to one or beyond them, negative ones without sign, imaginary parts of infinities.
    """
    if floats.dtype.kind == "i":
        return dtype[0] == "u" and (floats < 0).any()
    if dtype[0] == "c":
        return floats.dtype.kind == "f"
    if dtype[0] not in "iu":
        return False
    x = floats.real
    close = np.isfinite(x).all() and (np.abs(x - np.rint(x)) < 1e-3).any()
    return bool(close) or not (np.abs(x) < 100).all() or (dtype[0] == "u" and (x < 0).any())


def same_layout(mine, given):
    """Whether arrays lie on our device as NumPy's do: copies of strided ones do not."""
    pairs = [(x, y) for x, y in zip(mine, given) if isinstance(y, np.ndarray)]
    return all([x.strides == y.strides for x, y in pairs])


def same_order(got, want):
    for order in ("c_contiguous", "f_contiguous"):
        flags = getattr(got.flags, order), getattr(want.flags, order)
        assert flags[0] == flags[1], f"strides {got.strides}; NumPy: {want.strides}"


def kept():
    """[(name, seed)] of the calls that once differed."""
    lines = SEEDS.read_text().splitlines() if SEEDS.exists() else []
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--calls", type=int, default=100, help="of each function in a round")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    parser.add_argument("--seconds", type=float, default=0, help="rounds until then")
    parser.add_argument("--seed", help='one call: "np.take 17"')
    parser.add_argument("--most", type=int, default=3, help="differences of a function to print")
    options = parser.parse_args()
    if options.seed:
        name, seed = options.seed.split()
        print(difference(name, seed))
        return
    end, first, calls, failed = time.time() + options.seconds, options.first, 0, {}
    core.set_at_once(0)
    while True:
        for name in options.names or NAMES:
            core.set_at_once((0, 1024)[first // options.calls % 2])
            for seed in range(first, first + options.calls):
                calls += 1
                try:
                    found = difference(name, seed)
                except Exception:
                    found = "the sweep itself", traceback.format_exc(limit=-4)
                if found is None:
                    continue
                failed.setdefault(name, []).append(seed)
                if len(failed[name]) <= options.most:
                    print(
                        f"{name} {seed}: {found[0]}\n    {' '.join(found[1].split())[:400]}",
                        flush=True,
                    )
        first += options.calls
        if time.time() > end:
            break
    print(f"{calls} calls, {sum(map(len, failed.values()))} differ; next seed {first}")
    for name, seeds in failed.items():
        print(f"{name}: {len(seeds)}: {seeds[:8]}")


if __name__ == "__main__":
    main()
