"""ndarray.resize in place, and the older protocols of NumPy's arrays."""

import gc
import types

import numbus as nb
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
SHAPES = [(2, 3), (4, 3), (3, 2), (2,), (0,), (1, 1), (), (5, 5)]
LAYOUTS = {
    "C": lambda a: a.copy(),
    "F": lambda a: a.copy("F"),
    "pending": lambda a: a + 1,
    "line": lambda a: a.reshape(-1).copy(),
    "empty": lambda a: a[:0].copy(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_resize(layout, shape):
    for dtype in ("f8", "i1", "?", "c8"):
        want = LAYOUTS[layout](np.arange(6).astype(dtype).reshape(2, 3))
        got = LAYOUTS[layout](nb.array(np.arange(6).astype(dtype).reshape(2, 3)))
        want.resize(shape, refcheck=False)
        assert got.resize(shape, refcheck=False) is None
        assert got.shape == want.shape and got.dtype == want.dtype
        assert got.flags.owndata and got.base is None
        np.testing.assert_array_equal(np.asarray(got), want)
        got[...] = 1
        np.testing.assert_array_equal(np.asarray(got + 1), np.full(want.shape, 2, (got + 1).dtype))


def test_resize_by_arguments_and_views():
    a = nb.arange(6)
    view = a[1:4]
    a.resize(2, 4)
    assert a.tolist() == [[0, 1, 2, 3], [4, 5, 0, 0]]
    a[...] = 9
    assert view.tolist() == [1, 2, 3]
    a.resize()
    assert a.shape == (2, 4)
    for bad in (a[0], a[:, ::2]):
        with pytest.raises(ValueError, match="resize"):
            bad.resize(3)
    with pytest.raises(ValueError, match="negative"):
        a.resize(-1)
    a.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        a.resize(3)


def test_array_interface():
    a = nb.arange(6.0).reshape(2, 3)[:, ::2] + 0
    real = np.asarray(a)
    assert a.__array_interface__ == real.__array_interface__
    other = types.SimpleNamespace(__array_interface__=(a * 2).__array_interface__)
    gc.collect()
    np.testing.assert_array_equal(np.array(other), real * 2)
    assert type(a.__array_struct__) is type(real.__array_struct__)
    struct = types.SimpleNamespace(__array_struct__=(a * 3).__array_struct__)
    gc.collect()
    np.testing.assert_array_equal(np.array(struct), real * 3)


def test_array_wrap():
    a, real = nb.arange(3.0), np.arange(4)
    wrapped = a.__array_wrap__(real)
    assert type(wrapped) is type(a) and wrapped.tolist() == [0, 1, 2, 3]
    assert a.__array_wrap__(np.array(2.5), None, True) == 2.5
    with pytest.raises(TypeError, match="no array"):
        a.__array_wrap__(3)
    assert type(a).__array_finalize__ is None
    assert str(type(a)[int, float]) == str(np.ndarray[int, float])
