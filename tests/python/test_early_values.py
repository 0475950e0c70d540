"""Values of few bytes that the host has before the run that computes them has ended. On the fenced
device they are those of its end, which a GPU's are, too.
"""

import contextlib

import numbus as nb
import numpy as np
import pytest
from numbus import _core, nn, optim
from numbus import tensors as torch
from numbus.data import DataLoader, SequentialSampler, TensorDataset
from numbus.data import loader as loader_module
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


@pytest.mark.parametrize(
    "read",
    [
        float,
        lambda loss: loss.detach().cpu().numpy(),
        lambda loss: loss.tolist(),
        lambda loss: float(f"{loss:.6f}"),
        lambda loss: float(repr(loss.detach())[7:].split(",")[0].rstrip(")")),
    ],
)
def test_ways_to_read(device, read):
    step = Net(device)
    before = _core.stats()["early_reads"]
    got = [read(step()) for _ in range(STEPS)]
    np.testing.assert_allclose(got, plain(lambda loss: loss.item()), rtol=1e-3)
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


def test_work_in_between(device):
    """A value of an earlier run than the last one, as under DistributedDataParallel."""

    def run(step):
        weights, found = torch.ones(300, device=step.x.device), []
        for _ in range(STEPS):
            loss = step()
            _core.flush()
            weights = (weights * 1.01).cumsum(0).sin() + weights.flip(0).cumsum(0)
            weights = weights / weights.abs().max()
            _core.flush()
            found.append(loss.item())
            if len(found) > 5:
                loss = loss.detach()
                loss += 1  # before it is read again
            found.append(loss.detach().item() + 0 * weights[3].item())
        return found

    before = _core.stats()["early_reads"]
    got = run(Net(device))
    with nb.device("cpu"):
        np.testing.assert_allclose(got, run(Net("cpu")), rtol=1e-4)
    assert _core.stats()["early_reads"] - before >= STEPS // 2


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


class Loop:
    """Losses, and the sums of the batches that a loader gave meanwhile."""

    def __init__(self, device, x, y, change=None, **how):
        self.step, self.x, self.y = Net(device), x, y
        self.device, self.change, self.how = device, change, how

    def run(self, epochs=3):
        torch.manual_seed(3)
        loader = DataLoader(TensorDataset(self.x, self.y), 8, **self.how)
        found = []
        for _ in range(epochs):
            for k, (x, y) in enumerate(loader):
                loss = self.step(x.to(self.device), y.to(self.device)).item()
                found.append((loss, x.numpy().sum(), y.numpy().sum(), len(x)))
                if self.change is not None:
                    self.change(k)
        found.append((float(torch.rand(1, device="cpu")), 0, 0, 0))  # the random numbers after it
        return found


def examples(kind, n=100):
    rng = np.random.default_rng(7)
    x, y = rng.standard_normal((n, 12), dtype="f4"), rng.integers(0, 5, n)
    with nb.device("cpu"):
        if kind == "tensors":
            return torch.tensor(x), torch.tensor(y), x, y
        if kind == "numpy's":
            return torch.from_numpy(x), torch.from_numpy(y), x, y
        return torch.from_numpy(x.copy()), torch.from_numpy(y.copy()), x, y


def prepared(monkeypatch):
    """How often a batch was handed out that had been fetched before it was asked for."""
    counts = []
    hand_out = loader_module._Moves.hand_out

    def counted(self, batch):
        counts.append(bool(self._begun))
        hand_out(self, batch)

    monkeypatch.setattr(loader_module._Moves, "hand_out", counted)
    return counts


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", ["tensors", "numpy's", "sole owner"])
def test_batches_are_fetched_while_the_host_waits(device, kind, shuffle, monkeypatch):
    x, y, *kept = examples(kind)
    counts = prepared(monkeypatch)
    got = Loop(device, x, y, shuffle=shuffle).run()
    if kind == "numpy's":
        assert len(kept) == 2 and not any(counts)  # the program may change them
    else:
        # On a GPU the loss of so small a net may be there before anybody waits for it.
        assert sum(counts) > 15 or device != "fenced"
    with nb.device("cpu"):
        np.testing.assert_allclose(got, Loop("cpu", x, y, shuffle=shuffle).run(), rtol=1e-4)


@pytest.mark.parametrize("how", ["in place", "numpy", "another tensor", "element", "view"])
@pytest.mark.parametrize("kind", ["tensors", "numpy's", "sole owner"])
def test_data_that_change_while_the_loop_runs(device, kind, how):
    found = []
    for d in (device, "cpu"):
        x, y, given, _ = examples(kind)

        def change(k, x=x, given=given, view=x[5:30]):
            if how == "in place":
                x.mul_(1.01)
            elif how == "numpy":
                x.numpy()[:] *= 1.01
                given[:] += 1
            elif how == "another tensor":
                x.data = x * 1.01
            elif how == "element":
                x[(9 * k) % 100, 3] = k
            else:
                view[k] += 1

        with nb.device(d):
            found.append(Loop(d, x, y, change).run())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


def test_loops_that_end_early(device):
    def run(d):
        x, y, *_ = examples("tensors")
        step, found = Net(d), []
        loader = DataLoader(TensorDataset(x, y), 8, shuffle=True)
        torch.manual_seed(1)
        for _ in range(4):
            for k, (a, b) in enumerate(loader):
                found.append(step(a.to(d), b.to(d)).item())
                if k == 5:
                    break
        both = zip(loader, loader, strict=True)
        for (a, b), (c, e) in both:
            found.append(step(a.to(d), b.to(d)).item() + step(c.to(d), e.to(d)).item())
        return found

    got = run(device)
    with nb.device("cpu"):
        np.testing.assert_allclose(got, run("cpu"), rtol=1e-4)


class Listed(SequentialSampler):
    """Numbers of a list, by a class that is taken for one of ours."""

    def __iter__(self):
        return iter(self.data_source)


def test_errors_belong_to_their_batch(device, monkeypatch):
    monkeypatch.setattr(loader_module, "_draws_at_once", lambda sampler: True)
    x, y, *_ = examples("tensors")
    step = Net(device)
    order = list(range(96))
    order[9 * 8 + 2] = 100
    loader = DataLoader(TensorDataset(x, y), 8, sampler=Listed(order))
    seen = 0
    with pytest.raises(IndexError):
        for a, b in loader:
            seen += 1
            step(a.to(device), b.to(device)).item()
    assert seen == 9
