"""What NumPy once did for operands that Numbus holds: values, types and errors as NumPy's, and
nothing counted.
"""

import itertools
import warnings

import numbus as nb
import numpy as np
import pytest
from numbus.core import fallback, routines

SIGNATURES = {
    "add": ["dd->d", "ff->f", ("i", "i", "i"), ("d", None, None), "d"],
    "less": ["dd->?", "ii->?"],
    "sqrt": ["f->f", "d->d"],
    "divide": ["ff->f", "bb->d"],
    "power": ["ii->i", "dd->d"],
    "bitwise_and": ["ii->i", "dd->d"],
    "matmul": ["ii->i", "ff->f"],
    "clip": ["dddd", "ddd->d", "iii->i"],
    "divmod": ["dd->dd", "ii->ii"],
}


def compare(call, note):
    def outcome(xp):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return call(xp)
            except (TypeError, ValueError) as error:
                return TypeError if isinstance(error, TypeError) else type(error)

    before = dict(fallback.state.calls)
    want, got = outcome(np), outcome(nb)
    assert fallback.state.calls == before, note
    if isinstance(want, type) or isinstance(got, type):
        assert want is got, note
        return
    assert np.asarray(want).dtype == np.asarray(got).dtype, note
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want), err_msg=str(note))


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.parametrize("key", ["signature", "sig"])
def test_signatures(name, key):
    for signature, t, how in itertools.product(SIGNATURES[name], "ifdB", ({}, "unsafe")):
        how = how and {"casting": how}

        def call(xp, signature=signature, t=t, how=how):
            a = xp.array(np.array([1, 2, 5, 9]).astype(t))
            b = xp.array(np.array([2, 3, 1, 2]).astype(t))
            args = (a,) if name == "sqrt" else (a, b, 4) if name == "clip" else (a, b)
            result = getattr(xp, name)(*args, **{key: signature}, **how)
            return xp.stack(result) if name == "divmod" else result

        compare(call, (signature, t, how))


@pytest.mark.parametrize("t", "? i8 u1 i1 e f D".split())
def test_round(t):
    outs = (None, "d", "f", "i8", "D")
    for a, digits, out in itertools.product(([1, 0], [3, 15, 25, 125], 15), (0, 1, -1, -2), outs):

        def call(xp, a=a, digits=digits, out=out):
            x = xp.array(np.array(a).astype(t))
            named = {} if out is None else {"out": xp.zeros(x.shape, out)}
            return xp.round(x, digits, **named)

        compare(call, (a, digits, out))


@pytest.mark.parametrize("arguments", [
    (3 + 3j,), (0, 3 + 3j, 1 + 1j), (0, 4, 1 + 0j), (1 + 1j, 5 + 5j, 1 + 1j), (0, 5j, 1j),
    (0, 3 + 40j, 1 + 1j), (0, 9 + 40j, 1 + 2.5j), (5 - 2j,), (1j, 4 + 7j, 0.5), (0, 5, 1.5),
])  # fmt: skip
@pytest.mark.parametrize("t", ["D", "F", None])
def test_arange_of_complex_numbers(arguments, t):
    compare(lambda xp: xp.arange(*arguments, dtype=t), arguments)


@pytest.mark.parametrize("name", ["r_", "c_"])
@pytest.mark.parametrize("text", "0 0,2 -1,2,0 1,3 0,3,-2 1,2 0,2,-1 -1 x 1,2,3,4".split())
def test_directives(name, text):
    lists = ([1, 2, 3], [4, 5, 6]), ([[1, 2, 3]], [[4, 5, 6]]), (slice(0, 3), [3, 4, 5])
    for items in (*lists, (1, 2), (slice(0, 3), 1)):

        def call(xp, items=items):
            parts = [xp.array(x) if isinstance(x, list) else x for x in items]
            return getattr(xp, name)[(text, *parts)]

        compare(call, items)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose_method(mode):
    choices = [[1, 2, 3, 4], [10, 20, 30, 40], 7]
    which = [0, 1, 2, 0 if mode == "raise" else 5]
    compare(lambda xp: xp.array(which).choose(choices, mode=mode), mode)


@pytest.mark.parametrize("name", ["put", "putmask", "place"])
@pytest.mark.parametrize("t", ["f8", ">f8"])
def test_what_writes_into_arrays_of_numpys(name, t):
    want, got = np.arange(5).astype(t), np.arange(5).astype(t)
    mask = np.array([True, False, True, False, False])
    getattr(np, name)(want, mask, [1.5, 9])
    getattr(nb, name)(got, mask, [1.5, 9])
    np.testing.assert_array_equal(got, want)
    with pytest.raises(TypeError, match="no array to write to"):
        getattr(nb, name)([1, 2], [True, False], [3, 4])


@pytest.mark.parametrize("right", [False, True])
def test_complex_values_are_searched_by_sorting(right):
    rng = np.random.default_rng(5)
    line = np.sort(rng.integers(0, 3, 30) + 1j * rng.integers(0, 3, 30))
    values = rng.integers(-1, 4, (4, 9)) + 1j * rng.integers(-1, 4, (4, 9))
    got = routines._search_by_order(nb.array(line), nb.array(values), right)
    want = np.searchsorted(line, values, "right" if right else "left")
    np.testing.assert_array_equal(np.asarray(got), want)
