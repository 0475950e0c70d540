"""Values of few bytes that the host has before the run that computes them has ended. On the fenced
device they are those of its end, which a GPU's are, too.
"""

import contextlib

import numbus as nb
import numpy as np
import pytest
from numbus import _core, nn, optim
from numbus import tensors as torch
from numbus.nn import functional as F

STEPS = 30
gpu = nb.asarray([1.0]).device
gpu = gpu if gpu.startswith("cuda") else None


@pytest.fixture(params=["fenced", *([gpu] if gpu else [])])
def device(request):
    _core.set_late_checks(True)
    with nb.device(request.param):
        yield request.param
    _core.set_late_checks(False)
    with contextlib.suppress(IndexError):  # what nobody has heard of
        _core.synchronize()


class Net:
    """A classifier of 5 classes; its steps give the loss, or what `also` makes of the scores."""

    def __init__(self, device, also=None):
        rng = np.random.default_rng(0)
        self.model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 5)).to(device)
        with torch.no_grad():
            for p in self.model.parameters():
                p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape), dtype="f4") * 0.3))
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1)
        self.x = torch.from_numpy(rng.standard_normal((8, 12), dtype="f4")).to(device)
        self.y = torch.from_numpy(rng.integers(0, 5, 8)).to(device)
        self.also = also

    def __call__(self, x=None, y=None):
        self.optimizer.zero_grad()
        scores = self.model(self.x if x is None else x)
        loss = F.cross_entropy(scores, self.y if y is None else y)
        loss.backward()
        self.optimizer.step()
        return loss if self.also is None else (loss, self.also(scores))


def plain(read, steps=STEPS, also=None):
    """What `read` gives of the steps of a net on the host."""
    with nb.device("cpu"):
        step = Net("cpu", also)
        return [read(step()) for _ in range(steps)]


@pytest.mark.parametrize("compiled", [False, True])
def test_losses(device, compiled):
    step = Net(device)
    if compiled:
        step = nb.compile(step.__call__)
    before = _core.stats()["early_reads"]
    got = [step().item() for _ in range(STEPS)]
    np.testing.assert_allclose(got, plain(lambda loss: loss.item()), rtol=1e-5)
    assert _core.stats()["early_reads"] - before >= STEPS // 2


def test_values_that_change_before_they_are_read_again(device):
    def read(loss):
        first = loss.item()
        with torch.no_grad():
            loss += 1
        second = loss.item()
        _core.flush()
        loss.detach().mul_(2)
        _core.flush()
        return first, second, loss.item()

    step = Net(device)
    got = [read(step()) for _ in range(STEPS)]
    np.testing.assert_allclose(got, plain(read), rtol=1e-5)


def test_losses_of_steps_before(device):
    def run(step):
        losses, read = [], []
        for _ in range(STEPS):
            losses.append(step())
            read.append(losses[-1].item())
            read += [loss.item() for loss in losses[-3:]]
        return read

    got = run(Net(device))
    with nb.device("cpu"):
        np.testing.assert_allclose(got, run(Net("cpu")), rtol=1e-5)


@pytest.mark.parametrize(
    "also",
    [
        lambda scores: (scores.argmax(1) == 2).sum(),
        lambda scores: (scores > 0).any(),
        lambda scores: scores.detach().sum(0),
        lambda scores: scores.detach().mean().half(),
    ],
)
def test_several_values(device, also):
    def read(made):
        loss, other = made
        first = other[3].item() if other.ndim else other.item()
        return first, loss.item(), (other.sum() if other.ndim else other).item()

    step = Net(device, also)
    got = [read(step()) for _ in range(STEPS)]
    np.testing.assert_allclose(got, plain(read, also=also), rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("wrong", [STEPS - 1, 12, 3])
def test_wrong_indices(device, wrong):
    step = Net(device)
    good = plain(lambda loss: loss.item())
    bad = step.y.clone()
    bad[3] = 5
    for k in range(wrong):
        np.testing.assert_allclose(step().item(), good[k], rtol=1e-5)
    with pytest.raises(IndexError, match="got index 5; expected"):
        step(y=bad).item()


def test_memory_that_is_used_again(device):
    """A value's memory belongs to another array before the host looks."""
    step = Net(device)
    for k in range(STEPS):
        loss = step()
        want = loss.item()
        del loss
        other = torch.full((), float(k))
        assert other.item() == k
        assert want != k
