"""Scripts that import torch, run as they are (python -m numbus)."""

import math
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.numbus]

NET = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(4 * 5 * 5, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return F.log_softmax(self.out(self.drop(torch.flatten(x, 1))), dim=1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
shapes = torch.randn(3, 1, 12, 12)
labels = torch.arange(60) % 3
data = shapes[labels] + 0.3 * torch.randn(60, 1, 12, 12)
loader = DataLoader(TensorDataset(data, labels), batch_size=20, shuffle=True)
model = torch.compile(Net().to(device))
optimizer = optim.Adam(model.parameters(), lr=0.01)
scheduler = StepLR(optimizer, step_size=5, gamma=0.5)
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    scheduler.step()
model.eval()
with torch.no_grad():
    right = (model(data.to(device)).argmax(1).cpu() == labels).float().mean().item()
print("right", right, scheduler.get_last_lr())
"""

TENSORS = """
import torch
from torch.autograd import Function
from torch.func import grad, vmap
from torch.utils.checkpoint import checkpoint

x = torch.ones(2, 2, requires_grad=True)
y = x + 2
print(y)
print((y * y * 3).mean())
print(type(x), x.dtype, torch.zeros(2, 3).shape, torch.tensor([1, 2]).type())
print(grad(lambda t: (t**3).sum())(torch.tensor([2.0])))
print(vmap(grad(lambda t: (t * t).sum()))(torch.arange(6.0).reshape(3, 2)))
w = torch.tensor([1.0, 2.0], requires_grad=True)
checkpoint(lambda t: (t * t * t).sum(), w, use_reentrant=False).backward()
print(w.grad)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
v = torch.tensor([1.0], requires_grad=True)
sgd = torch.optim.SGD([v], lr=0.5)
with torch.autocast("cuda", dtype=torch.float16):
    loss = (v * 3).sum()
scaler.scale(loss).backward()
scaler.step(sgd)
scaler.update()
print(v, scaler.get_scale())
try:
    torch.something_that_is_not_there
except AttributeError as error:
    print(error)
"""

EXPECTED = """\
tensor([[3., 3.],
        [3., 3.]], grad_fn=<AddBackward0>)
tensor(27., grad_fn=<MeanBackward0>)
<class 'torch.Tensor'> torch.float32 torch.Size([2, 3]) torch.LongTensor
tensor([12.])
tensor([[ 0.,  2.],
        [ 4.,  6.],
        [ 8., 10.]])
tensor([ 3., 12.])
tensor([-0.5000], requires_grad=True) 4.0
"""


def run(text, folder):
    script = pathlib.Path(folder) / "script.py"
    script.write_text(text, "utf-8")
    environment = dict(os.environ, NUMBUS_DEVICE="cpu")
    done = subprocess.run(
        [sys.executable, "-m", "numbus", "script.py"], cwd=folder, capture_output=True, text=True,
        env=environment, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_net_learns(tmp_path):
    words = run(NET, tmp_path).split()
    assert words[0] == "right" and float(words[1]) > 0.95 and words[2] == "[0.0025]"


def test_tensors_print_as_pytorchs(tmp_path):
    lines = run(TENSORS, tmp_path)
    assert lines.startswith(EXPECTED), lines
    last = lines.splitlines()[-1]
    assert "torch.something_that_is_not_there" in last and "script.py:27" in last, last


@pytest.mark.parametrize("device", ["cpu", "fenced"])
def test_checkpoint_draws_the_same_numbers_again(device):
    import numbus.compat.torch as torch
    from numbus.compat.torch.utils.checkpoint import checkpoint

    def run(keep):
        torch.manual_seed(5)
        x = torch.ones(400, device=device, requires_grad=True)
        part = lambda t: torch.nn.functional.dropout(t, 0.5)  # noqa: E731
        y = checkpoint(part, x, use_reentrant=False) if keep else part(x)
        after = torch.rand(3, device=device)
        (y * torch.arange(400.0, device=device)).sum().backward()
        return [t.cpu().tolist() for t in (y.detach(), x.grad, after, torch.rand(3, device=device))]

    assert run(True) == run(False)


def test_seeds_of_gpus_are_theirs_alone():
    import copy

    import numbus.compat.torch as torch

    torch.manual_seed(1)
    a, b = torch.rand(4, device="cpu"), torch.rand(4, device="fenced").cpu()
    torch.manual_seed(1)
    torch.cuda.manual_seed(2)
    assert torch.rand(4, device="cpu").tolist() == a.tolist()
    other = torch.rand(4, device="fenced").cpu()
    assert other.tolist() != b.tolist()
    torch.cuda.manual_seed(1)
    assert torch.rand(4, device="fenced").cpu().tolist() == b.tolist()
    g = torch.Generator().manual_seed(3)
    torch.rand(5, generator=g, device="fenced")
    h = copy.deepcopy(g)
    state = h.get_state()
    drawn = [torch.rand(5, generator=x, device="fenced").cpu().tolist() for x in (g, h)]
    assert drawn[0] == drawn[1]
    h.set_state(state)
    assert torch.rand(5, generator=h, device="fenced").cpu().tolist() == drawn[0]
    # A state of a device that is not here waits until it is.
    h.set_state({**h.known(), "devices": {"cuda:7": [1, 2, 3, 4, 5, 6, 7, 8]}})
    assert torch.rand(5, generator=h, device="cpu").shape == (5,)


def test_memory_formats():
    import numbus.compat.torch as torch

    x = torch.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    y = x.to(memory_format=torch.channels_last)
    assert y.stride() == (24, 1, 8, 2)
    assert y.tolist() == x.tolist()
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert not y.is_contiguous()
    assert y.contiguous(memory_format=torch.channels_last) is y
    assert y.contiguous().stride() == x.stride()
    (y * y).sum().backward()
    assert x.grad.tolist() == (x * 2).tolist()
    assert x[..., None].clone(memory_format=torch.channels_last_3d).stride() == (24, 1, 8, 2, 2)
    with pytest.raises(RuntimeError, match="another number of dimensions"):
        x[0].contiguous(memory_format=torch.channels_last)


def test_unpooling_of_windows_that_overlap():
    import numbus.compat.torch as torch
    from numbus.nn import functional as F

    x = torch.tensor([[[0.0, 3.0, 1.0, 2.0]]])
    y, k = F.max_pool1d(x, 2, 1, return_indices=True)
    y.requires_grad_()
    z = F.max_unpool1d(y, k, 2, 1)
    (z * torch.tensor([1.0, 5.0, 2.0, 7.0])).sum().backward()
    assert z.tolist() == [[[0, 3, 0, 2]]]
    assert y.grad.tolist() == [[[5, 5, 7]]]


def test_special_functions_of_numbers():
    import numbus.compat.torch as torch

    for f, slope in (
        (torch.special.entr, -math.log(2.0) - 1),
        (torch.special.ndtr, math.exp(-2) / math.sqrt(2 * math.pi)),
        (lambda x: torch.special.xlog1py(x, x), math.log(3.0) + 2 / 3),
    ):
        x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        f(x).backward()
        assert float(x.grad) == pytest.approx(slope)
