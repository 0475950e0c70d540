"""ufunc.reduce with `where=`, `initial=` and an `out=` of another type: drawn calls against NumPy,
none of which NumPy carries out for Numbus.
"""

import random
import warnings

import numbus as nb
import numpy as np
import pytest
from numbus.core import fallback

# NumPy folds into a buffer of its own where types differ, which these do not read again.
OWN_BUFFER = ("power", "arctan2", "float_power")
NAMES = sorted({row["name"] for row in nb._core.table()} - set(OWN_BUFFER))
NAMES = [name for name in NAMES if getattr(nb, name).nin == 2]
SHAPES = [(5,), (3, 4), (4, 3), (1, 3), (3, 1), (0, 3), (3, 0), (2, 3, 2)]


def drawn(rng, types, outs):
    shape = rng.choice(SHAPES)
    size = int(np.prod(shape))
    axis = rng.randrange(-len(shape), len(shape))
    values = np.array([rng.choice([0, 1, 2, 3, 4, 0.5, 2.5]) for _ in range(size)])
    keywords = {"axis": axis}
    if rng.random() < 0.7:
        keywords["initial"] = rng.choice([1, 2.5, None])
    if rng.random() < 0.6:
        keywords["where"] = np.array([rng.random() < 0.5 for _ in range(size)], bool).reshape(shape)
    if rng.random() < 0.3:
        keywords["keepdims"] = True
    return values.reshape(shape).astype(rng.choice(types)), rng.choice(outs), keywords


def outcome(ufunc, make, a, out, keywords):
    keywords = {k: make(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()}
    if out is not None:
        shape = np.sum(a, keywords["axis"], keepdims=keywords.get("keepdims", False)).shape
        keywords["out"] = make(np.full(shape, 7, out))
    try:
        return np.asarray(ufunc.reduce(make(a), **keywords))
    except (TypeError, ValueError) as error:
        return type(error) if isinstance(error, ValueError) else TypeError


@pytest.mark.parametrize("name", NAMES)
def test_reduce_follows_numpy(name):
    rng = random.Random(name)
    before = dict(fallback.state.calls)
    for _ in range(50):
        a, out, keywords = drawn(rng, "?bhiqBIefdD", [None, None, "b", "i", "q", "f", "d", "D"])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = outcome(getattr(np, name), np.array, a, out, keywords)
            got = outcome(getattr(nb, name), nb.array, a, out, keywords)
        if isinstance(want, type) or isinstance(got, type):
            assert want is got, (a, out, keywords)
            continue
        assert want.dtype == got.dtype and want.shape == got.shape, (a, out, keywords)
        if out in ("b", "i", "q") and want.size and not _exact(name, a, keywords):
            continue
        np.testing.assert_allclose(got, want, 2e-3, 1e-6, err_msg=f"{a!r} {out} {keywords}")
    assert fallback.state.calls == before


def _exact(name, a, keywords):
    """Whether a fold stays in the range of integers: what is cast from beyond it is undefined."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            folded = getattr(np, name).reduce(a.astype(float), **keywords)
        except TypeError:
            return True
    return bool(np.all(np.abs(folded) < 100))


@pytest.mark.parametrize("first", [2.7, -1.5])
def test_the_first_value_stands_in_out(first):
    got, want = nb.array(0), np.array(0)
    nb.subtract.reduce(nb.array([first, 1.0, 0.4]), out=got)
    np.subtract.reduce(np.array([first, 1.0, 0.4]), out=want)
    assert int(got) == int(want)


def test_masked_folds_start_from_the_initial_value():
    a = nb.array([[7.0, 2.0, 3.0], [5.0, 4.0, 2.0]])
    mask = nb.array([[True, False, True], [False, False, False]])
    got = nb.floor_divide.reduce(a, axis=1, initial=100.0, where=mask)
    assert got.tolist() == [4.0, 100.0]
    with pytest.raises(ValueError, match="initial"):
        nb.floor_divide.reduce(a, axis=1, where=mask)
