"""Compiled steps of models of all kinds: the bits of plain ones, and later no code of theirs."""

import gc

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import nn, optim, tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.tensors import autograd  # noqa: E402
from numbus.tensors.autocasting import autocast  # noqa: E402

pytestmark = [pytest.mark.cpu, pytest.mark.filterwarnings("ignore")]
CALLS = 9


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Applied(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)


class Twice(nn.Module):
    """A layer of several arguments, which are all the input."""

    def __init__(self, layer, times):
        super().__init__()
        self.layer, self.times = layer, times

    def forward(self, x):
        out = self.layer(*[x] * self.times)
        return out[0] if isinstance(out, tuple) else out


def between(f):
    return lambda: nn.Sequential(nn.Linear(16, 8), Applied(f), nn.Linear(8, 16))


MODELS = {
    **{f.__name__: between(f) for f in (F.gelu, F.silu, F.mish, F.celu, F.selu, F.hardswish)},
    "a function of the user's": between(Cube.apply),
    "encoder": lambda: nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True),
    "decoder": lambda: Twice(nn.TransformerDecoderLayer(16, 4, 32, 0.0, batch_first=True), 2),
    "attention": lambda: Twice(nn.MultiheadAttention(16, 4, batch_first=True), 3),
    "lstm": lambda: Twice(nn.LSTM(16, 16, batch_first=True), 1),
    "gru": lambda: Twice(nn.GRU(16, 16, batch_first=True), 1),
    "norms": lambda: nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.RMSNorm(16)),
    "convolution": lambda: nn.Sequential(nn.Conv1d(5, 5, 3, padding=1), nn.BatchNorm1d(5)),
}


def losses(name, compiles, casts):
    gc.collect()  # what other tests left on the tape keeps steps from being answered
    tensors.manual_seed(0)
    model = MODELS[name]().to("fenced")
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    rng = np.random.default_rng(0)

    def step(x):
        optimizer.zero_grad()
        with autocast("cpu", dtype=tensors.bfloat16, enabled=casts):
            out = model(x)
        loss = (out.float() * x).mean() + (out.float() ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    run = nb.compile(step) if compiles else step
    found = []
    for _ in range(CALLS):
        x = tensors.from_numpy(rng.standard_normal((3, 5, 16)).astype("f4")).to("fenced")
        found.append(run(x).item())
    return found, run.answers if compiles else 0, run.reasons if compiles else []


@pytest.mark.parametrize("casts", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_steps(name, casts):
    want, *_ = losses(name, False, casts)
    found, answers, reasons = losses(name, True, casts)
    assert found == want
    assert answers >= CALLS - 6, reasons
