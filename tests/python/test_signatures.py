"""Each keyword that NumPy has: read with NumPy's effect, or refused; misspelt ones raise TypeError.

The calls are made from NumPy's own signatures: a call without the keyword from CALLS, the keyword
with each of its VALUES, of which one at least must change what NumPy gives. A function of ours that
is not in CALLS fails a test, unless it is registered: test_registry.py sweeps those.
"""

import functools
import importlib
import inspect
import itertools

import numpy as np
import pytest
from helpers import MODULE, assert_same, assert_same_outcome, outcome
from numbus.functions import registry
from signature_calls import (
    CALLS,
    DATA,
    DTYPES,
    METHODS,
    REDUCE,
    SAME,
    SILENT,
    SPECIAL,
    UFUNC_VALUES,
    UFUNCS,
    VALUES,
)

pytestmark = pytest.mark.numbus


def real_function(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def subject(name):
    found = importlib.import_module(MODULE)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def world(xp):
    return {"xp": xp, "np": np, **{key: xp.array(value) for key, value in DATA.items()}}


def run(name, kind, xp, text):
    """The outcome of a call, and what it left in the arrays."""
    names = world(xp)
    if kind == "method":
        prefix, _, rest = CALLABLE[kind][name].partition("; ")
        call = f"({prefix}).{name}({rest}{', ' if rest and text else ''}{text})"
    else:
        args = CALLABLE[kind][name]
        call = f"xp.{name}({args}{', ' if args and text else ''}{text})"
    return outcome(lambda: eval(call, names)), names, call


# row_stack went with NumPy 2.5.
NEVER = {name for name in ("row_stack",) if not hasattr(np, name)}
CALLABLE = {"function": {n: c for n, c in CALLS.items() if n not in NEVER}, "method": METHODS}


def signature(name, kind):
    real = getattr(np.ndarray, name) if kind == "method" else real_function(name)
    return inspect.signature(real).parameters


def given(name, kind):
    """How many positional arguments the call has."""
    args = CALLABLE[kind][name].replace(";", ",")
    return len(eval(f"(lambda *a: a)({args})", world(np)))


def keywords():
    for kind, names in CALLABLE.items():
        for name in names:
            parameters = list(signature(name, kind).values())
            for parameter in parameters[given(name, kind) :]:
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    continue
                if parameter.kind == parameter.POSITIONAL_ONLY:
                    continue
                yield kind, name, parameter.name


def tolerance(value):
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return 1e-12
    return {2: 4e-3, 4: 2e-6}.get(dtype.itemsize // (1 + (dtype.kind == "c")), 1e-12)


def compare(got, want, what, layout):
    if isinstance(want, np.ndarray) and ("empty" in what and want.size):
        want, got = (
            np.zeros_like(want),
            np.zeros_like(np.asarray(got)),
        )  # what memory happens to hold
    if isinstance(want, (tuple, list)) and not isinstance(got, Exception):
        assert len(got) == len(want), what
        for g, w in zip(got, want):
            compare(g, w, what, layout)
        return
    assert_same_outcome(got, want, tolerance(want), what, layout)


def shown(result):
    """What tells one result from another."""
    if isinstance(result, Exception):
        return type(result)
    if isinstance(result, (tuple, list)):
        return [shown(item) for item in result]
    if isinstance(result, np.ndarray):
        return (
            result.shape,
            str(result.dtype),
            result.strides,
            result.tolist(),
            result.flags.writeable,
        )
    return repr(result)


@pytest.mark.parametrize(("kind", "name", "keyword"), list(keywords()), ids=str)
def test_keyword(xp, kind, name, keyword):
    if keyword == "out":
        return  # see test_out
    values = SPECIAL.get((name, keyword), VALUES.get(keyword))
    assert values, f"no values for {name}({keyword}=)"
    plain, before, _ = run(name, kind, np, "")
    assert not isinstance(plain, Exception), plain
    effects = set()
    for value in values:
        text = f"{keyword}={value}"
        want, want_names, call = run(name, kind, np, text)
        got, got_names, _ = run(name, kind, xp, text)
        if keyword == "device" and value == "'nonsense'" and isinstance(got, ValueError):
            continue
        compare(got, want, call, layout=keyword == "order")
        if keyword == "overwrite_input":  # what the operand holds then, NumPy leaves open
            effects.add(value)
            continue
        for key in DATA:  # what a call writes to, or must not write to
            assert_same(got_names[key], want_names[key], 1e-12, f"{call}: {key}")
        changed = [
            k for k in DATA if not np.array_equal(before[k], want_names[k], equal_nan=k in "nztx")
        ]
        if changed or shown(want) != shown(plain):
            effects.add(value)
    if keyword not in SILENT and (name, keyword) not in SAME:
        assert effects, f"{name}({keyword}=): no value changes what NumPy gives"


@pytest.mark.parametrize("kind", CALLABLE)
def test_misspelt_keywords(xp, kind):
    for name in CALLABLE[kind]:
        for keyword in ("axees", "dtpye", "nonsense", "ouut"):
            want, _, call = run(name, kind, np, f"{keyword}=1")
            got, _, _ = run(name, kind, xp, f"{keyword}=1")
            assert isinstance(want, (TypeError, ValueError)), call
            assert isinstance(got, type(want)), f"{call}: {got!r} where NumPy raises {want!r}"


@pytest.mark.parametrize("kind", CALLABLE)
def test_arguments_by_name(xp, kind):
    """Arguments that NumPy takes by name have that name here."""
    for name, args in CALLABLE[kind].items():
        parameters = [p for p in signature(name, kind).values()]
        if kind == "method":
            parameters = parameters[1:]
            args = args.partition("; ")[2]
        if any([p.kind == p.VAR_POSITIONAL for p in parameters]):
            continue
        count = len(eval(f"(lambda *a: a)({args})", world(np)))
        named = [p.kind == p.POSITIONAL_OR_KEYWORD for p in parameters[:count]]
        if not any(named):
            continue
        # The leading arguments by position, the others by name.
        positions = named.index(True)
        words = [p.name for p in parameters[positions:count]]
        for xp_or_np in (np, xp):
            names = world(xp_or_np)
            values = eval(f"(lambda *a: a)({args})", names)
            call = dict(zip(words, values[positions:]))
            if kind == "method":
                owner = eval(METHODS[name].partition("; ")[0], names)
                function = getattr(owner, name)
            else:
                function = real_function(name) if xp_or_np is np else subject(name)
            result = outcome(lambda f=function, v=values, p=positions, c=call: f(*v[:p], **c))
            if xp_or_np is np:
                want = result
        if isinstance(want, TypeError):
            continue
        compare(result, want, f"{kind} {name} by name: {words}", layout=False)


def outs():
    for kind, names in CALLABLE.items():
        for name in names:
            if "out" in signature(name, kind):
                yield kind, name


def out_targets(shape):
    for dtype in DTYPES:
        yield f"xp.zeros({shape}, {dtype!r})"
    yield f"xp.zeros({shape}, order='F')"
    yield f"(xp.zeros({shape}),)"
    yield f"xp.zeros({(*shape, 2)})"
    yield f"xp.zeros({(2, *shape)})"
    yield f"xp.zeros({shape[1:]})"
    yield "3"
    yield "[0.0]"
    yield "None"


@pytest.mark.parametrize(("kind", "name"), list(outs()), ids=str)
def test_out(xp, kind, name):
    """out= of every dtype, and what is no fit: NumPy's values and errors, and the object itself."""
    plain, _, _ = run(name, kind, np, "")
    shape = np.shape(plain)
    for target in out_targets(shape):
        if "cum" in name and getattr(eval(target, {"xp": np}), "ndim", len(shape)) != len(shape):
            continue  # NumPy crashes
        results = []
        for module in (np, xp):
            names = world(module)
            names["out"] = eval(target, names)
            args = CALLABLE[kind][name]
            if kind == "method":
                prefix, _, rest = args.partition("; ")
                call = f"({prefix}).{name}({rest}{', ' if rest else ''}out=out)"
            else:
                call = f"xp.{name}({args}, out=out)"
            results.append((outcome(lambda c=call, n=names: eval(c, n)), names["out"]))
        (want, want_out), (got, got_out) = results
        what = f"{call} with {target}"
        if isinstance(want, (Exception, tuple)) and target.startswith("("):
            continue  # a tuple of one array is taken everywhere
        if isinstance(want, Exception) and target[0] in "3[":
            assert isinstance(got, Exception), what
            continue
        if "quantile" in name or "percentile" in name or name == "nanmedian":
            # NumPy spreads one number over an array, which is refused.
            if isinstance(got, ValueError) and np.shape(want) != shape:
                continue
        if name in ("fft.hfft", "fft.ifft2", "fft.irfft2"):
            continue  # NumPy does not look at `out`, which ours write to
        if name == "choose" and isinstance(got, ValueError) and "invalid shape" in str(want):
            continue  # a TypeError of NumPy's, alone among its functions
        compare(got, want, what, layout=False)
        if isinstance(want, np.ndarray) and isinstance(want_out, np.ndarray):
            assert (got is got_out) == (want is want_out), what
        if hasattr(want_out, "dtype") and not isinstance(want, Exception):
            assert_same(got_out, want_out, tolerance(want_out), what)


def test_every_function_of_ours_is_called(xp):
    """What Numbus has a function of its own for is in CALLS, or test_registry.py sweeps it."""
    swept = {name.partition(".")[2] for name in registry.ROWS}
    ours = set()
    for module in (xp, xp.linalg, xp.fft):
        prefix = module.__name__.partition(".")[2]
        real = importlib.import_module(module.__name__.replace(MODULE, "numpy"))
        for name in dir(real):
            if name.startswith("_"):
                continue
            value, original = getattr(module, name, None), getattr(real, name)
            if isinstance(original, type) or not callable(original):
                continue
            if hasattr(value, "counted"):
                continue  # NumPy's, with calls of few elements answered without a frame
            if type(value).__name__ == "composed" or (
                inspect.isfunction(value) and not hasattr(value, "__wrapped__")
            ):
                ours.add(f"{prefix}.{name}" if prefix else name)
    files = {"load", "save", "savetxt", "savez", "savez_compressed", "loadtxt", "genfromtxt",
             "fromfile", "fromregex", "fromstring"}  # fmt: skip
    dates = {"isnat", "is_busday", "busday_count", "busday_offset"}  # see test_dates.py
    types = {"can_cast", "isdtype", "promote_types", "result_type"}  # see test_bfloat16.py
    assert ours - set(CALLS) - files - dates - types - swept == set()
    assert len(ours) > 150


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc_keywords(xp, name):
    for keyword, values in UFUNC_VALUES.items():
        for value in values:
            results = []
            for module in (np, xp):
                names = world(module)
                shape = names["x"].shape
                text = f", out=xp.full({shape}, 1)" if keyword == "where" else ""
                if keyword == "where":
                    text = f", out=xp.zeros({shape}, xp.{name}({UFUNCS[name]}).dtype)"
                call = f"xp.{name}({UFUNCS[name]}, {keyword}={value}{text})"
                results.append(outcome(lambda c=call, n=names: eval(c, n)))
            want, got = results
            compare(got, want, call, layout=keyword == "order")


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "logical_or", "subtract"]
)
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_ufunc_methods(xp, name, method):
    combos = [[(key, value)] for key, values in REDUCE.items() for value in values]
    combos += [[("where", "m"), ("initial", "3")], [("axis", "(0, 1)"), ("keepdims", "True")]]
    for chosen, array in itertools.product(combos, ["x", "i", "m"]):
        words = ", ".join([f"{key}={value}" for key, value in chosen])
        call = f"xp.{name}.{method}({array}, {words})"
        want, got = (outcome(functools.partial(eval, call, world(m))) for m in (np, xp))
        compare(got, want, call, layout=False)
    for dtype in DTYPES:
        for shape in ((4,), (3,), ()) if method == "reduce" else ((3, 4), (4, 3)):
            results = []
            for module in (np, xp):
                names = world(module)
                names["out"] = module.zeros(shape, dtype)
                call = f"xp.{name}.{method}(x, axis=0, out=out)"
                results.append((outcome(lambda c=call, n=names: eval(c, n)), names["out"]))
            (want, want_out), (got, got_out) = results
            compare(got, want, f"{call} {shape} {dtype}", layout=False)
            assert_same(got_out, want_out, tolerance(want_out), f"{call} {shape} {dtype}")
