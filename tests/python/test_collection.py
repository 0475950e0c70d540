"""Arrays that refer to each other are found by Python's garbage collector, and nothing else is."""

import gc
import weakref

import numpy as np
import pytest

pytestmark = pytest.mark.numbus


class Sentinel:
    pass


def collected(make):
    """Whether the sentinel that make() leaves in a cycle dies, and only when collected."""
    gc.collect()
    gc.disable()
    try:
        s = Sentinel()
        alive = weakref.ref(s)
        make(s)
        del s
        before = alive() is not None
        gc.collect()
        return before and alive() is None
    finally:
        gc.enable()


def test_cycles_through_base_and_attributes(xp):
    def to_its_own_view(s):
        a = xp.zeros(3)
        a.mine, a.s = a[1:], s

    def through_two_views_of_one_array(s):
        a = xp.zeros(3)
        v, w = a[1:], a[:2][1:]
        a.views, v.s, w.s = [v, w], s, s

    def between_two(s):
        a, b = xp.zeros(3), xp.ones(3)
        a.other, b.other, b.s = b[1:], a.T, s

    def to_itself(s):
        a = xp.zeros(3)
        a.me, a.s = a, s

    for make in (to_its_own_view, through_two_views_of_one_array, between_two, to_itself):
        assert collected(make), make.__name__


def test_views_keep_what_they_are_views_of(xp, core):
    a = xp.array(np.arange(5.0))
    v, w = a[1:], a[1:][1:]
    a.tag = "kept"
    del a
    gc.collect()
    assert v.base is w.base and v.base.tag == "kept"
    v.base.mine = v
    m = v > 2
    del v
    for _ in range(3):
        gc.collect()
    np.testing.assert_array_equal(np.asarray(w), [2, 3, 4])
    np.testing.assert_array_equal(np.asarray(w.base.mine[m]), [3, 4])


def test_collecting_in_the_middle_of_recording(xp):
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        a = xp.array(np.arange(8.0))
        for _ in range(50):
            b = a[1:]
            a.view = b
            c = (b * 2 + a[:-1])[::2]
            c.parent = a.reshape(2, 4).T
            a = xp.array(np.arange(8.0)) + c.sum() * 0
        np.testing.assert_array_equal(np.asarray(a), np.arange(8.0))
    finally:
        gc.set_threshold(*threshold)
