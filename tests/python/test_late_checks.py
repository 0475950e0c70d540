"""Indices that are found to be wrong while the host is ahead of the device: what depends on them is
lost when it is read, and nothing else. On the fenced device reports arrive when somebody waits.
"""

import contextlib

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.recorded, pytest.mark.cpu]


@pytest.fixture
def xp():
    import numbus as nb
    from numbus import _core

    _core.set_late_checks(True)
    with nb.device("fenced"):
        yield nb
    _core.set_late_checks(False)
    with contextlib.suppress(IndexError):  # what nobody has heard of
        _core.synchronize()


def wrong(xp, core, index=12):
    """An array that depends on an index beyond ten elements, already carried out, and those."""
    x, i = xp.arange(10.0), xp.array([1, index])
    core.flush()
    y = x[i] * 2
    core.flush()
    return x, y


def lost(a, index=12):
    with pytest.raises(IndexError, match=f"got index {index}; expected -10 to 9"):
        np.asarray(a)


def test_flushes_go_on(xp, core):
    x, y = wrong(xp, core)
    z = x + 1
    core.flush()
    np.testing.assert_array_equal(np.asarray(z), np.arange(10.0) + 1)
    lost(y)
    lost(y)


def test_what_later_flushes_make_of_it_is_lost_too(xp, core):
    x, y = wrong(xp, core)
    w, total, kept = y + 1, None, x[:2] - 1
    core.flush()
    total = xp.sum(w)
    core.flush()
    lost(total)
    lost(w)
    np.testing.assert_array_equal(np.asarray(kept), [-1, 0])


def test_each_loss_has_its_own_index(xp, core):
    _, y = wrong(xp, core)
    _, z = wrong(xp, core, -11)
    both = y + z
    core.flush()
    lost(z, -11)
    lost(y)
    with pytest.raises(IndexError, match=r"got index (12|-11)"):
        np.asarray(both)


def test_work_in_place(xp, core):
    _, y = wrong(xp, core)
    a, b = xp.ones(2), xp.ones(2)
    core.flush()
    a += y
    b += 1
    core.flush()
    a *= 2
    core.flush()
    lost(a)
    np.testing.assert_array_equal(np.asarray(b), [2, 2])


def test_what_is_overwritten_as_a_whole_is_right_again(xp, core):
    _, y = wrong(xp, core)
    y[:] = 3
    core.flush()
    np.testing.assert_array_equal(np.asarray(y), [3, 3])
    _, y = wrong(xp, core)
    lost(y)
    y[:] = 4
    np.testing.assert_array_equal(np.asarray(y), [4, 4])


def test_a_part_that_is_overwritten_is_not_enough(xp, core):
    _, y = wrong(xp, core)
    y[:1] = 3
    core.flush()
    lost(y)


def test_synchronising_tells_once(xp, core):
    wrong(xp, core)
    with pytest.raises(IndexError, match="got index 12"):
        core.synchronize()
    core.synchronize()


def test_what_was_heard_of_is_not_told_again(xp, core):
    _, y = wrong(xp, core)
    lost(y)
    core.synchronize()


def test_the_line_is_that_of_the_index(xp, core):
    _, y = wrong(xp, core)
    z = y + 1
    core.flush()
    line = wrong.__code__.co_firstlineno + 4
    with pytest.raises(IndexError, match=rf"recorded at .*test_late_checks.py, line {line}\b"):
        np.asarray(z)


def test_scatters_are_stopped_at_once(xp, core):
    a, i = xp.zeros(10), xp.array([1, 12])
    core.synchronize()
    a[i] = 5.0
    with pytest.raises(IndexError, match="got index 12"):
        core.flush()
    np.testing.assert_array_equal(np.asarray(a), np.zeros(10))


def test_more_open_checks_than_bits(xp, core):
    x, i = xp.arange(10.0), xp.array([1, 2])
    core.synchronize()
    total = xp.zeros(2)
    for _ in range(200):
        total += x[i]
        core.flush()
    np.testing.assert_array_equal(np.asarray(total), [200, 400])
    bad = xp.array([1, 12])
    core.synchronize()
    total += x[bad]
    with pytest.raises(IndexError, match="got index 12; expected -10 to 9"):
        for _ in range(200):
            core.flush()
            total += x[i]
        np.asarray(total)
    lost(total)


def test_another_device(xp, core):
    _, y = wrong(xp, core)
    with pytest.raises(IndexError, match="got index 12"):
        y.to_device("cpu")


def test_runs_of_several_devices_have_plans_in_common(xp, core):
    """What waits to be launched together on one device is not launched on another."""
    with np.errstate(all="ignore"):
        for device in ("fenced", "null", "cpu", "fenced") * 3:
            with xp.device(device):
                a = xp.arange(3000.0).reshape(30, 100)
                for _ in range(5):
                    b = xp.matmul(a, a.T)
                    c = (b - b.mean()).sum(axis=0)
                    core.flush()
                if device != "null":
                    x = np.arange(3000.0).reshape(30, 100)
                    y = x @ x.T
                    np.testing.assert_allclose(np.asarray(c), (y - y.mean()).sum(axis=0), atol=1e-3)
