"""Batches that workers have ready are copied to the program's device before it asks for them."""

import time

import numbus as nb
import numpy as np
import pytest
from numbus import _core
from numbus.data import DataLoader, Dataset
from numbus.tensors import from_numpy, tensor

DEVICES = ["fenced"]
if nb.cuda.is_available():
    DEVICES.append("cuda")
KINDS = ["thread", "fork"]


@pytest.fixture(autouse=True)
def host():
    """What names no device lies on the host."""
    with nb.device("cpu"):
        yield


class Pictures(Dataset):
    def __init__(self, n=40, fails=None):
        self.n, self.fails = n, fails

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        if k == self.fails:
            raise ValueError("no such picture")
        return np.full((3, 64, 64), k, "f4"), k


def _loader(kind, dataset=None, **more):
    return DataLoader(dataset or Pictures(), 4, num_workers=2, multiprocessing_context=kind, **more)


def _wait(loader_iterator):
    """Until the next batch has come, so that its copy can begin."""
    if loader_iterator._early is not None:
        return
    for _ in range(2000):
        if loader_iterator._pending and loader_iterator._pending[0].is_ready():
            return
        time.sleep(0.002)
    pytest.fail("no batch has come")


def _begun(iterator):
    return [a.begun for a in iterator._moves._begun]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_batches(kind, device):
    iterator = iter(_loader(kind))
    copies = 0
    for n in range(10):
        x, k = next(iterator)
        copies += sum(_begun(iterator))
        X, K = x.to(device), k.to(device)
        assert X.device.type == device
        want = np.arange(4 * n, 4 * n + 4)
        np.testing.assert_array_equal(K.cpu().numpy(), want)
        np.testing.assert_array_equal(X.cpu().numpy()[:, 1, 5, 7], want)
        np.testing.assert_array_equal(x.numpy()[:, 0, 0, 0], want)
        if n < 9:
            _wait(iterator)
    assert copies > 0  # how many depends on the workers, of threads also on what is pending
    with pytest.raises(StopIteration):
        next(iterator)


class Computed(Pictures):
    def __getitem__(self, k):
        return tensor([[1.0, 2.0]]).expand(40, 2) * k + 1, tensor(k) + 1


@pytest.mark.parametrize("device", DEVICES)
def test_batches_that_threads_compute(device):
    """What is recorded in a worker is carried out there, and copied like what lies there."""
    iterator = iter(_loader("thread", Computed()))
    for n in range(10):
        x, k = next(iterator)
        if n > 0:
            assert _begun(iterator) == ([True, True] if n < 9 else [])
        want = np.arange(4 * n, 4 * n + 4)
        np.testing.assert_array_equal(k.to(device).cpu().numpy(), want + 1)
        lines = np.stack([want + 1, 2 * want + 1], axis=1)
        np.testing.assert_array_equal(x.to(device).cpu().numpy()[:, 7], lines)
        for _ in range(2000):
            if all(worker._found.qsize() for worker in iterator._pending):
                break
            time.sleep(0.002)
        time.sleep(0.02)  # each worker has several batches to come


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["in place", "NumPy", "view", "none", "kept"])
def test_what_the_program_changes_first(kind, device, change):
    iterator = iter(_loader(kind))
    kept = []
    for n in range(10):
        x, k = next(iterator)
        if n > 2 and change == "in place":
            x.mul_(2)
        if n > 2 and change == "NumPy":
            x.numpy()[...] *= 2
        if n > 2 and change == "view":
            x[:, 0] = 2 * x[:, 0]
        if change == "kept":
            kept.append(x)
        factor = 2 if n > 2 and change in ("in place", "NumPy", "view") else 1
        got = x.to(device).cpu().numpy()
        np.testing.assert_array_equal(got[:, 0, 3, 3], factor * np.arange(4 * n, 4 * n + 4))
        k.to(device)
        if n < 9:
            _wait(iterator)
    for n, x in enumerate(kept):
        np.testing.assert_array_equal(x.numpy()[:, 2, 3, 3], np.arange(4 * n, 4 * n + 4))


@pytest.mark.parametrize("kind", KINDS)
def test_errors_come_with_their_batch(kind):
    iterator = iter(_loader(kind, Pictures(fails=13)))
    for _ in range(3):
        x, k = next(iterator)
        x.to("fenced"), k.to("fenced")
        _wait(iterator)
    with pytest.raises(ValueError, match="no such picture"):
        next(iterator)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_that_stay(kind):
    iterator = iter(_loader(kind))
    for n in range(10):
        x, _ = next(iterator)
        assert not any(_begun(iterator))
        if n == 4:
            x.to("fenced")
        if n == 5:
            assert iterator._moves.target is None  # only one of the batch's tensors was moved


@pytest.mark.parametrize("kind", KINDS)
def test_epochs(kind):
    loader = _loader(kind, persistent_workers=True)
    for stops in (3, 10, 10):
        iterator = iter(loader)
        for n in range(stops):
            x, k = next(iterator)
            np.testing.assert_array_equal(k.to("fenced").cpu().numpy(), np.arange(4 * n, 4 * n + 4))
            assert float(x.to("fenced")[2, 0, 0, 0].cpu()) == 4 * n + 2
            if n < 9:
                _wait(iterator)
    loader._kept._stop()


def test_copies_that_nobody_takes():
    a = nb.arange(1000.0)
    ahead = _core.Ahead(a, "fenced")
    assert ahead.begun and ahead.moved_to is None
    del ahead
    watched = _core.Ahead(a)
    assert not watched.begun
    moved = a.to_device("fenced")
    assert watched.moved_to == "fenced"
    np.testing.assert_array_equal(np.asarray(moved.to_device("cpu")), np.arange(1000.0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: nb.arange(10.0)[::2],
        lambda: nb.arange(12.0).reshape(3, 4).T,
        lambda: nb.arange(10.0)[2:],
        lambda: nb.asarray(np.arange(10.0)),
        lambda: nb.zeros(0),
    ],
)
def test_arrays_that_are_not_copied_ahead(make):
    a = make()
    ahead = _core.Ahead(a, "fenced")
    assert not ahead.begun
    np.testing.assert_array_equal(np.asarray(a.to_device("fenced").to_device("cpu")), np.asarray(a))


def test_each_copy_is_given_once():
    t = from_numpy(np.arange(5.0)) * 1
    t.sum().item()
    ahead = _core.Ahead(t._array, "fenced")
    first, second = t.to("fenced"), t.to("fenced")
    first.add_(1)
    assert first.cpu().tolist() == [1, 2, 3, 4, 5] and second.cpu().tolist() == [0, 1, 2, 3, 4]
    assert not ahead.begun
    assert tensor(3.0).item() == 3
