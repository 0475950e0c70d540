"""Arrays that wait in the host's memory while their device has no room, and errors of memory.

The fenced device stands in for a GPU: its memory is its own, the host cannot touch it, and what is
freed under a limit is overwritten.
"""

import gc
import threading

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

N = 1 << 15  # elements of float64: 256 KiB
MiB = 1 << 20


@pytest.fixture
def fenced(xp, core):
    """A function that leaves so much room on the fenced device, on which arrays are made."""

    def limit(room):
        gc.collect()
        core.synchronize()
        words = 4096  # which the device may come to keep for itself
        used = core.memory_stats("fenced")["used_bytes"]
        core.set_memory_limit("fenced", used + room + words)

    with xp.device("fenced"):
        yield limit
        core.set_memory_limit("fenced", 0)
    gc.collect()
    core.synchronize()
    assert core.memory_stats("fenced")["spilled_bytes"] == 0


def made(xp, count, n=N):
    arrays = [np.random.default_rng(k).random(n) for k in range(count)]
    return arrays, [xp.asarray(a) for a in arrays]


def same(theirs, ours):
    for a, b in zip(theirs, ours, strict=True):
        np.testing.assert_array_equal(np.asarray(b), a)


def spills(core):
    return core.stats()["spills"]


def test_arrays_in_turn(xp, core, fenced):
    fenced(4 * N * 8)
    before = core.stats()
    theirs, ours = made(xp, 8)
    for _ in range(3):
        for k in range(8):
            theirs[k] = theirs[k] * 2 + 1
            ours[k] = ours[k] * 2 + 1
    same(theirs, ours)
    after = core.stats()
    assert after["spills"] > before["spills"] + 8
    assert after["spilled_bytes"] - before["spilled_bytes"] == N * 8 * (
        after["spills"] - before["spills"]
    )
    assert after["brought_back"] > before["brought_back"]
    assert core.memory_stats("fenced")["spilled_bytes"] >= 4 * N * 8


def test_one_window_of_all(xp, core, fenced):
    """What would be one kernel of sixteen arrays is carried out array by array."""
    fenced(4 * N * 8)
    theirs, ours = made(xp, 8)
    core.synchronize()
    results = [a * 2 + 1 for a in ours]
    same([a * 2 + 1 for a in theirs], results)
    total = ours[0] + ours[1] + ours[2] + ours[3] + ours[4] + ours[5] + ours[6] + ours[7]
    expected = theirs[0] + theirs[1] + theirs[2] + theirs[3] + theirs[4] + theirs[5] + theirs[6]
    np.testing.assert_array_equal(np.asarray(total), expected + theirs[7])
    same(theirs, ours)


def test_views_and_writes(xp, core, fenced):
    fenced(4 * N * 8)
    theirs, ours = made(xp, 8)
    for a in (theirs, ours):
        evens = [x[::2] for x in a]
        for k in range(8):
            evens[k][:] = evens[k] * 3
            a[k][1:] += a[(k + 3) % 8][:-1]
            evens[(k + 5) % 8] -= a[k][1::2]
        a[3][:] = a[2]
        a[2][a[2] > 1] = 0
    same(theirs, ours)
    assert spills(core) > 0


def steps(rng, xp, arrays):
    """One operation on eight arrays of a line, the same for NumPy's and ours."""
    i, j, k = (int(n) for n in rng.integers(0, 8, 3))
    a, b = arrays[i], arrays[j]
    which = int(rng.integers(0, 15))
    if which == 0:
        arrays[k] = a * 0.5 + b
    elif which == 1:
        a *= 0.75
    elif which == 2:
        a[100:] = a[:-100] - b[50:-50]
    elif which == 3:
        a[::3] = b[::-1][::3] * 0.5
    elif which == 4:
        arrays[k] = xp.where(a > b, a, b * 0.25)
    elif which == 5:
        a[a > 0.5] = b[7]
    elif which == 6:
        arrays[k] = xp.sort(a)
    elif which == 7:
        arrays[k] = xp.maximum.accumulate(b)
    elif which == 8:
        arrays[k] = a.reshape(128, -1).T.copy().reshape(-1)
    elif which == 9:
        arrays[k] = a[(xp.arange(a.size) * 7) % a.size]
    elif which == 10:
        b -= a.reshape(128, -1).max(axis=1).repeat(a.size // 128) * 0.125
    elif which == 11:
        a[:] = b
    elif which == 12:
        arrays[k] = xp.concatenate([a[: a.size // 2], b[a.size // 2 :]])
    elif which == 13:
        arrays[k] = (a.reshape(8, -1) + b.reshape(8, -1)[:, :1] * 0.5).reshape(-1)
    else:
        return float(a[int(rng.integers(0, a.size))] + b.max())
    return None


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(xp, core, fenced, seed):
    fenced((5 + seed % 4) * N * 8)
    theirs, ours = made(xp, 8)
    before = spills(core)
    one, two = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(60):
        expected = steps(one, np, theirs)
        assert steps(two, xp, ours) == expected
    same(theirs, ours)
    assert spills(core) > before


def test_exported_arrays_stay(xp, core, fenced):
    fenced(4 * N * 8)
    known = xp.arange(float(N)) + 1
    address = known._pointer
    theirs, ours = made(xp, 6)
    for k in range(6):
        ours[k] += known
        known *= 1.0
    assert known._pointer == address
    same([a + (np.arange(float(N)) + 1) for a in theirs], ours)
    # One that is lent stays for as long as that lasts.
    core.synchronize()
    lent = xp.arange(float(N))
    held = core.dlpack(lent)
    before = lent._pointer
    for _ in range(3):
        ours = [a * 2 for a in ours]
        core.synchronize()
    assert lent._pointer == before
    del held


def test_only_what_fits_is_promised(xp, core, fenced):
    """More than all memory is an error, and nothing is moved for it."""
    fenced(4 * N * 8)
    _, ours = made(xp, 3)
    core.synchronize()
    before = spills(core)
    with pytest.raises(MemoryError, match="out of memory"):
        float(xp.ones(N * 8)[0])
    assert spills(core) == before
    # Arrays that may not go do not.
    kept = [a._pointer for a in ours]
    with pytest.raises(MemoryError, match="out of memory"):
        float((xp.ones(2 * N) + ours[0].sum())[0])
    assert spills(core) == before
    assert kept == [a._pointer for a in ours]


def test_threads(xp, core, fenced):
    """Each thread brings its own arrays back, whatever the others send away."""
    fenced(5 * N * 8)
    failed = []

    def work(seed):
        try:
            with xp.device("fenced"):
                a = xp.asarray(np.full(N, float(seed)))
                b = xp.asarray(np.full(N, 1.0))
                for _ in range(40):
                    a = a + b
                    assert float(a[5]) == float(a.max())
                np.testing.assert_array_equal(np.asarray(a), np.full(N, seed + 40.0))
        except Exception as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed


def test_copies_between_devices(xp, core, fenced):
    fenced(4 * N * 8)
    theirs, ours = made(xp, 8)
    near = [xp.to_device(a, "cpu") for a in ours]
    same(theirs, near)
    again = [xp.to_device(a, "fenced") for a in near]
    same(theirs, again)
    same(theirs, ours)


def test_placement_by_cost(xp, core, by_cost):
    by_cost(1024)
    try:
        room = core.memory_stats("fenced")["used_bytes"] + 5 * N * 8
        core.set_memory_limit("fenced", room)
        theirs, ours = made(xp, 8)
        for k in range(24):
            theirs[k % 8] = theirs[k % 8] * 2 + theirs[(k + 3) % 8]
            ours[k % 8] = ours[k % 8] * 2 + ours[(k + 3) % 8]
            if k % 5 == 0:
                assert float(ours[k % 8][3]) == theirs[k % 8][3]
        same(theirs, ours)
    finally:
        core.set_memory_limit("fenced", 0)


def test_the_error_names_the_largest_arrays(xp, core, fenced):
    fenced(64 * MiB)
    large = xp.zeros((1024, 1024)) + 1  # the line that is named
    core.synchronize()
    assert large._pointer
    few = [xp.full(1 << 15, 2.0) for _ in range(3)]
    for a in few:
        core.synchronize()
        assert a._pointer
    with pytest.raises(MemoryError) as caught:
        float(xp.ones(1 << 24)[0])
    lines = str(caught.value).split("\n")
    assert lines[0].startswith(
        "[allocate] out of memory; got a request of 134217728 bytes; expected"
    )
    assert lines[1].startswith("The largest arrays on fenced, where ")
    here = test_the_error_names_the_largest_arrays.__code__.co_firstlineno
    assert lines[2] == f"  8.39 MB, float64 (1024, 1024), made at {__file__}, line {here + 2}"
    assert lines[3] == f"  3 of 262 kB each, float64 (32768,), made at {__file__}, line {here + 5}"


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_the_error_on_other_devices(xp, core, device):
    with xp.device(device):
        core.synchronize()
        core.trim(device)
        core.set_memory_limit(device, core.memory_stats(device)["used_bytes"] + 32 * MiB)
        try:
            large = xp.zeros(1 << 20, "f4") + 1
            core.synchronize()
            with pytest.raises(MemoryError) as caught:
                float(xp.ones(1 << 25)[0])
            assert f"The largest arrays on {device}, where" in str(caught.value)
            assert "4.19 MB, float32 (1048576,), made at " in str(caught.value)
            del large
        finally:
            core.set_memory_limit(device, 0)
