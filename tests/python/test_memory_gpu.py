"""Memory of a GPU: idle memory goes back, arrays wait in the host's memory, errors name arrays."""

import gc
import time

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.gpu]

MB = 1 << 20


def label(core):
    return core.get_device()


def room(core):
    gc.collect()
    core.synchronize()
    core.trim(label(core))
    return core.memory_stats(label(core))["used_bytes"]


def test_idle_memory_goes_back(xp, core):
    """After a second at most a tenth of what was used is kept, and all goes at once when asked."""
    before = room(core)
    x = xp.ones(4096 * MB // 4, "f4") * 2
    core.synchronize()
    del x
    time.sleep(1.5)
    assert core.memory_stats(label(core))["pooled_bytes"] <= (before + 4200 * MB) // 10
    x = xp.ones(200 * MB // 4, "f4") * 2
    core.synchronize()
    del x
    room(core)
    assert core.memory_stats(label(core))["pooled_bytes"] < 64 * MB


def test_pytorch_gets_the_card(xp, core):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    room(core)
    free = torch.cuda.mem_get_info()[0]
    x = xp.ones(free // 2 // 4, "f4") * 2
    core.synchronize()
    assert torch.cuda.mem_get_info()[0] < free * 0.55
    del x
    time.sleep(1.5)
    t = torch.empty(int(free * 0.9), dtype=torch.uint8, device=label(core))
    t[-1] = 1
    torch.cuda.synchronize()
    del t
    torch.cuda.empty_cache()


def test_loops_that_synchronise_keep_their_memory(xp, core):
    room(core)
    time.sleep(5)  # what other tests needed is forgotten
    for _ in range(4):
        x = xp.ones(1024 * MB // 4, "f4") * 2
        core.synchronize()
        del x
        core.synchronize()
        assert core.memory_stats(label(core))["pooled_bytes"] >= 1024 * MB
        x = xp.ones(1024 * MB // 4, "f4") * 2
        core.synchronize()
        del x
    core.synchronize()
    core.synchronize()
    assert core.memory_stats(label(core))["pooled_bytes"] <= 512 * MB


@pytest.mark.parametrize("n", [1 << 18, 1 << 24])
def test_arrays_in_turn(xp, core, n):
    before, spilled = room(core), core.stats()["spills"]
    core.set_memory_limit(label(core), before + 4 * n * 8 + 32 * MB)
    try:
        theirs = [np.random.default_rng(k).random(n) for k in range(16)]
        ours = [xp.asarray(a) for a in theirs]
        known = ours[3]._pointer
        for k in range(32):
            theirs[k % 16] = theirs[k % 16] * 2 + theirs[(k + 5) % 16]
            ours[k % 16] = ours[k % 16] * 2 + ours[(k + 5) % 16]
            ours[k % 16][1:] -= ours[(k + 9) % 16][:-1]
            theirs[k % 16][1:] -= theirs[(k + 9) % 16][:-1]
            if k == 2:
                assert ours[3]._pointer == known
        for a, b in zip(theirs, ours, strict=True):
            np.testing.assert_array_equal(np.asarray(b), a)
        assert n < 1 << 20 or core.stats()["spills"] > spilled
        with pytest.raises(MemoryError, match="The largest arrays on cuda"):
            float(xp.ones(n * 64)[0])
    finally:
        core.set_memory_limit(label(core), 0)
