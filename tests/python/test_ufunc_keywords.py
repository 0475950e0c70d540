"""Keywords of ufunc.reduce, clip and divmod, against NumPy, without a fallback."""

import itertools
import warnings

import numbus as nb
import numpy as np
import pytest
from helpers import draw

pytestmark = pytest.mark.numbus
DTYPES = "? b B i Q e f d D".split()
DATA = {t: draw((3, 4), t, seed=1) for t in DTYPES}
MASK = draw((3, 4), "?", seed=5)
# NumPy's own reductions of these along the last axis are wrong: their loops read ahead.
UFUNCS = """add multiply maximum minimum logical_and logical_or logical_xor subtract divide
    bitwise_and bitwise_or bitwise_xor fmax fmin hypot gcd lcm floor_divide remainder
    logaddexp""".split()
REDUCED = {
    "plain": {},
    "keepdims": {"keepdims": True},
    "dtype": {"dtype": "f"},
    "dtype bool": {"dtype": "?"},
    "dtype int": {"dtype": "i"},
    "initial": {"initial": 2},
    "no initial": {"initial": None},
    "where": {"where": MASK},
    "where and initial": {"where": MASK, "initial": 3},
    "broadcast where": {"where": MASK[0]},
    "out": {"out": "d"},
    "out int": {"out": "b"},
}


def outcome(call, xp):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(xp), None
        except Exception as error:
            return None, error


def same(call, note, fallback=False):
    want, error = outcome(call, np)
    before = nb.stats()["fallbacks"]
    got, mistake = outcome(call, nb)
    if error is not None:
        assert mistake is not None, (note, error)
        return
    assert mistake is None, (note, mistake)
    assert fallback or nb.stats()["fallbacks"] == before, note
    several = isinstance(want, tuple)
    for x, y in zip(got, want, strict=True) if several else [(got, want)]:
        assert type(x) is not np.ndarray, note
        x = np.asarray(x)
        assert x.dtype == y.dtype and x.shape == y.shape, (note, x, y)
        tolerance = 4e-3 if y.dtype.char == "e" else 1e-5
        np.testing.assert_allclose(x, y, tolerance, tolerance, err_msg=str(note))


@pytest.mark.parametrize("keywords", REDUCED)
@pytest.mark.parametrize("name", UFUNCS)
def test_reduce(name, keywords):
    for t, axis in itertools.product(DTYPES, (0, -1, None)):

        def call(xp, t=t, axis=axis):
            named = dict(REDUCED[keywords])
            if "where" in named:
                named["where"] = xp.array(named["where"])
            if "out" in named:
                named["out"] = xp.ones(np.sum(DATA[t], axis).shape, named["out"])
            return getattr(xp, name).reduce(xp.array(DATA[t]), axis=axis, **named)

        if (name, axis, keywords) == ("hypot", None, "out int"):
            continue  # NumPy casts what its buffer holds after each row
        same(call, (name, t, axis, keywords))


@pytest.mark.parametrize("name", ["add", "maximum", "subtract", "bitwise_and", "logaddexp", "fmin"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), ()])
def test_reduce_of_few(name, shape):
    t = "i" if name == "bitwise_and" else "d"
    for axis, named in itertools.product(
        (0, -1, None, ()), ({}, {"initial": 5}, {"initial": None})
    ):
        same(
            lambda xp, axis=axis, named=named: getattr(xp, name).reduce(
                xp.ones(shape, t), axis=axis, **named
            ),
            (name, shape, axis, named),
        )


CLIPPED = {
    "dtype": {"dtype": "d"},
    "narrow dtype": {"dtype": "e"},
    "where": {"where": MASK, "out": "d"},
    "casting": {"casting": "unsafe", "dtype": "i"},
    "casting of out": {"casting": "unsafe", "out": "i"},
    "order": {"order": "F"},
    "out": {"out": "f"},
    "plain": {},
}


@pytest.mark.parametrize("keywords", CLIPPED)
def test_clip(keywords):
    for t, u, v in itertools.product("bBiefd", repeat=3):
        for low, high in ((DATA[u][0], DATA[v][1]), (DATA[u], None), (None, DATA[v][2]), (-1, 2.5)):

            def call(xp, t=t, low=low, high=high):
                named = dict(CLIPPED[keywords])
                for key in ("where",):
                    if key in named:
                        named[key] = xp.array(named[key])
                if "out" in named:
                    named["out"] = xp.full((3, 4), 7, named["out"])
                ends = [xp.array(x) if isinstance(x, np.ndarray) else x for x in (low, high)]
                return xp.clip(xp.array(DATA[t]), *ends, **named)

            same(call, (t, u, v, low, high, keywords))


DIVIDED = {
    "two": {"out": ("d", "d")},
    "first": {"out": ("d", None)},
    "operands": {"out": ("a", "b")},
    "operands swapped": {"out": ("b", "a")},
    "where": {"out": ("d", "d"), "where": MASK},
    "casting": {"out": ("i", "i"), "casting": "unsafe"},
    "dtype": {"dtype": "f"},
}


@pytest.mark.parametrize("keywords", DIVIDED)
def test_divmod(keywords):
    for t, u in itertools.product("?bBiQefd", repeat=2):

        def call(xp, t=t, u=u):
            named, ends = dict(DIVIDED[keywords]), {"a": xp.array(DATA[t]), "b": xp.array(DATA[u])}
            if "where" in named:
                named["where"] = xp.array(named["where"])
            if "out" in named:
                named["out"] = tuple(
                    [
                        x and ends.get(x, xp.full((3, 4), 7, x if x not in ends else "d"))
                        for x in named["out"]
                    ]
                )
            return xp.divmod(ends["a"], ends["b"], **named)

        same(call, (t, u, keywords))


def test_extremes_of_complex_numbers():
    """By real parts, then by imaginary ones; the first NaN before all."""
    values = np.array([0, 1, 1j, 1 + 1j, np.inf, complex(1, -np.inf), complex(0, np.nan)])
    for seed, name in itertools.product(range(40), ("argmax", "argmin")):
        a = np.random.default_rng(seed).choice(values[: 5 + seed % 3], (3, 5))
        for axis in (None, 0, 1):
            same(
                lambda xp, a=a, name=name, axis=axis: getattr(xp, name)(xp.array(a), axis=axis),
                (seed, name, axis),
            )


def test_spread_in_the_type_of_its_sum():
    for t, where in itertools.product("efdFD", (None, MASK)):

        def call(xp, t=t, where=where):
            a = xp.array(DATA.get(t, DATA["D"].astype(t)))
            named = {} if where is None else {"where": xp.array(where)}
            return xp.std(a, axis=0, mean=xp.mean(a, axis=0, keepdims=True), **named)

        same(call, (t, where))
    for name in ("std", "var"):
        for t in "dD":
            same(lambda xp, n=name, t=t: getattr(xp, n)(xp.array(DATA[t]), axis=0, dtype="D"), name)
