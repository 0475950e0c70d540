"""Cases that a review of the core found wrong, each as small as it gets."""

import hashlib
import weakref

import numbus as nb
import numpy as np
import pytest
from numbus import _core


def test_plan_depends_on_views_of_another_dtype(xp):
    def step(v):
        v[:] = v.view(np.int64) % 1000

    a = nb.ones(2400)
    nb.synchronize()
    step(a[:1600])
    nb.synchronize()
    b = nb.ones(2400)
    nb.synchronize()
    step(b[800:])
    assert (np.asarray(b[:800]) == 1).all()


def test_pending_scalar_beside_a_list_that_reads_it(xp):
    s = nb.arange(5.0).sum()
    assert np.asarray(s + [s, 1.0]).tolist() == [20.0, 11.0]


def test_predicate_that_overlaps_the_output(xp):
    m, w = nb.ones(8, dtype=bool), np.ones(8, bool)
    nb.logical_not(m[1:6], out=m[1:6], where=m[:5])
    np.logical_not(w[1:6], out=w[1:6], where=w[:5].copy())
    assert np.asarray(m).tolist() == w.tolist()


def test_first_of_equal_values_in_numpys_order(xp):
    x = np.broadcast_to(np.random.default_rng(3).integers(0, 3, (33, 17)), (3, 1, 33, 17))
    y = x.transpose(1, 3, 2, 0)
    assert int(nb.argmax(nb.array(x).transpose(1, 3, 2, 0))) == y.argmax()


def test_extreme_of_nothing_selected(xp):
    c = nb.arange(5.0)
    with pytest.raises(ValueError, match="zero-size"):
        c[c > 10].min()


@pytest.mark.skipif(_core.device_info()["default"] != "cpu", reason="about the CPU's memory")
def test_flat_buffer_of_a_strided_array():
    with pytest.raises((ValueError, BufferError), match="contiguous"):
        hashlib.sha1(nb.arange(8.0)[::-1])


@pytest.mark.skipif(_core.device_info()["default"] != "cpu", reason="about the CPU's memory")
def test_failed_flush_leaves_an_error_not_garbage():
    _core.set_memory_limit("cpu", 64 << 20)
    try:
        b = nb.full(1000, 5.0)
        nb.synchronize()
        b[1:] = b[:-1] + 1
        big = nb.ones(50_000_000)
        with pytest.raises(MemoryError, match="out of memory"):
            float(big[0])
        # What does not depend on the failure is computed; what was lost says so.
        assert np.asarray(b[:3]).tolist() == [5.0, 6.0, 6.0]
        with pytest.raises(MemoryError, match="out of memory"):
            float(big[0])
    finally:
        _core.set_memory_limit("cpu", 0)
    assert float((nb.ones(10) * 2).sum()) == 20.0


@pytest.mark.skipif(_core.device_info()["default"] != "cpu", reason="about the CPU's memory")
def test_finalizer_that_records():
    def record():
        z = nb.ones(3)
        for _ in range(60):
            z = z + 1

    source = np.arange(5.0)
    weakref.finalize(source, record)
    y = _core.from_numpy(source, "take") + 1
    del source
    nb.synchronize()
    assert np.asarray(y).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_outputs_take_the_storage_of_inputs_that_die():
    n = 1 << 20
    for mode in ("interp", "compiled"):
        _core.set_mode(mode)
        x = nb.full((n,), 2.0)
        nb.synchronize()
        before = _core.memory_stats(_core.get_device())["used_bytes"]
        for _ in range(3):
            x = x * 2 + 1
            nb.synchronize()
        assert _core.memory_stats(_core.get_device())["used_bytes"] == before
        y, z = x * 2, x.copy()
        del x
        assert float(y[5]) == 46.0 and float(z[5]) == 23.0
        a = nb.arange(1000.0)
        b, c, d = a * 2, a[::-1] + 0, a + 1
        del a
        np.testing.assert_array_equal(np.asarray(b) / 2 + 1, np.asarray(d))
        np.testing.assert_array_equal(np.asarray(c)[::-1] + 1, np.asarray(d))
    _core.set_mode("auto")
