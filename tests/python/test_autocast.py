"""Blocks that cast operands of functions of tensors, compared with PyTorch's dtypes; the scaling of
losses.
"""

import json
import pathlib
import sys

import pytest
from numbus.compat import torch

# The record is of PyTorch's CPU, whose blocks leave tensors of a GPU alone.
pytestmark = pytest.mark.cpu
FOLDER = pathlib.Path(__file__).parents[1] / "pytorch"
sys.path.insert(0, str(FOLDER))
import autocast_calls  # noqa: E402

KNOWN = json.loads((FOLDER / "autocast_calls.json").read_text("utf-8"))
# The record has nothing of PyTorch's own on them: these fail in it, or only on its CPU.
SKIPPED = {
    "F.soft_margin_loss(m, n)", "torch.linalg.det(c)", "torch.nn.LSTM(4, 3)(s)[0]",
    "torch.cross(m[:3, :3], n[:3, :3])", "torch.erfinv(m / 10)",
}  # fmt: skip


@pytest.mark.parametrize("expression", autocast_calls.expressions())
def test_dtypes_are_pytorchs(expression):
    for key, known in KNOWN.items():
        dtype, _, low = key.partition(" ")
        want = known[expression]
        if expression in SKIPPED or not want[0].islower():
            continue
        torch.manual_seed(0)
        assert autocast_calls.found(torch, expression, dtype, bool(low)) == want, key


def test_blocks_nest_and_end():
    m = torch.ones(2, 2)
    bf, f16, f32 = torch.bfloat16, torch.float16, torch.float32
    with torch.autocast("cpu"):
        assert (m @ m).dtype == bf and torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", enabled=False):
            assert (m @ m).dtype == f32
        with torch.autocast("cpu", dtype=f16):
            assert (m @ m).dtype == f16 and torch.get_autocast_dtype("cpu") == f16
        assert (m @ m).dtype == bf
        with torch.autocast("cuda", dtype=f16):  # of other tensors
            assert (m @ m).dtype == bf
    assert (m @ m).dtype == f32 and not torch.is_autocast_enabled("cpu")
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        raise ZeroDivisionError
    assert (m @ m).dtype == f32

    @torch.autocast("cpu")
    def product(x):
        return x @ x

    assert product(m).dtype == bf
    for wrong, error in ((("tpu",), RuntimeError), (("cpu", f32), TypeError)):
        with pytest.raises(error, match="autocast"):
            torch.autocast(*wrong)


@pytest.mark.parametrize("name,rule", [
    ("torch.mv(m, v)", "low"), ("torch.addmv(v, m, v)", "low"), ("torch.mm(m, m)", "low"),
    ("F.linear(m, m)", "low"), ("torch.nn.GRUCell(4, 3)(m)", "low"),
    ("torch.nn.LSTM(4, 3)(m)[0]", "low"), ("torch.exp(l)", "single"), ("torch.sum(l)", "single"),
    ("l.sum()", "single"), ("F.softmax(l, 0)", "single"), ("F.layer_norm(l, (4,))", "single"),
    ("l ** 2", "single"), ("torch.cumsum(l, 0)", "single"), ("F.mse_loss(l, l)", "single"),
    ("torch.norm(l)", "single"), ("torch.addcmul(m, l, l)", "single"), ("F.relu(l)", "low"),
    ("l + l", "low"), ("torch.max(l)", "low"), ("F.max_pool2d(l[None], 2)", "low"),
])  # fmt: skip
def test_lists_of_gpus(name, rule, monkeypatch):
    """PyTorch's documentation of CUDA operations, on tensors that stand for a GPU's."""
    from numbus.tensors import autocasting

    monkeypatch.setattr(
        autocasting, "_is_cast",
        lambda t, device: t.is_floating_point() and t.element_size() <= 4 and device == "cuda",
    )  # fmt: skip
    m = torch.ones(4, 4)
    known = {"torch": torch, "F": torch.nn.functional, "m": m, "v": m[0], "l": m.half()}
    with torch.autocast("cuda"):
        y = eval(name, known)
    assert y.dtype == (torch.float16 if rule == "low" else torch.float32)


def test_training_in_bfloat16_learns():
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    x = torch.randn(64, 4)
    y = x.sum(1, keepdim=True)
    adam = torch.optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        adam.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(x)
            loss = torch.nn.functional.mse_loss(out, y)
        assert out.dtype == torch.bfloat16 and loss.dtype == torch.float32
        loss.backward()
        assert all(p.grad.dtype == torch.float32 for p in net.parameters())
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


def scaled(scaler, p, value, optimizer):
    """One step whose gradient is `value`."""
    p.grad = None
    scaler.scale((p * value).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return scaler.get_scale(), p.tolist()


def test_scaler_leaves_out_steps_and_grows():
    p = torch.ones(2, requires_grad=True)
    sgd = torch.optim.SGD([p], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    assert scaled(scaler, p, 1.0, sgd) == (8.0, [0.5, 0.5])
    assert scaled(scaler, p, 1.0, sgd) == (16.0, [0.0, 0.0])
    assert scaled(scaler, p, float("inf"), sgd) == (8.0, [0.0, 0.0])
    assert scaled(scaler, p, float("nan"), sgd) == (4.0, [0.0, 0.0])
    assert scaled(scaler, p, 2.0, sgd) == (4.0, [-1.0, -1.0])
    again = torch.amp.GradScaler("cpu")
    again.load_state_dict(scaler.state_dict())
    assert scaled(again, p, 2.0, sgd) == (8.0, [-2.0, -2.0])
    scaler.update(3.0)
    assert scaler.get_scale() == 3.0


def test_scaler_refuses_what_is_out_of_order():
    p = torch.ones(2, requires_grad=True)
    sgd = torch.optim.SGD([p], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    with pytest.raises(AssertionError, match="update"):
        scaler.update()
    with pytest.raises(AssertionError, match="step"):
        scaler.step(sgd)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(p.sum()).backward()
    scaler.unscale_(sgd)
    assert p.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="twice"):
        scaler.unscale_(sgd)
    scaler.step(sgd)
    with pytest.raises(RuntimeError, match="twice"):
        scaler.step(sgd)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(sgd)
    half = torch.ones(2, dtype=torch.float16, requires_grad=True)
    half.sum().backward()
    with pytest.raises(ValueError, match="float16"):
        scaler.step(torch.optim.SGD([half], lr=0.5))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_tensors(dtype, tmp_path):
    t = getattr(torch, dtype)
    x = torch.tensor([1.5, -2.25, 3.0], dtype=t)
    assert x.dtype == t and x.element_size() == 2 and str(t) == f"torch.{dtype}"
    assert getattr(x.float(), "half" if dtype == "float16" else "bfloat16")().dtype == t
    assert x.tolist() == [1.5, -2.25, 3.0] and x.to(torch.float64).dtype == torch.float64
    assert (
        (x + 1).dtype == t and (x * 2.5).dtype == t and (x + torch.ones(3)).dtype == torch.float32
    )
    assert torch.finfo(t).bits == 16
    assert torch.div(x, 2, rounding_mode="trunc").tolist() == [0.0, -1.0, 1.0]
    assert (x.sum() * torch.ones(3)).dtype == torch.float32 and (x * x.sum()).dtype == t
    net = torch.nn.Linear(3, 2).to(t)
    y = net(x)
    assert y.dtype == t
    y.sum().backward()
    assert net.weight.grad.dtype == t
    torch.save({"x": x}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt")["x"].tolist() == x.tolist()
    from numbus.nn.serialization import safetensors

    safetensors.save_file({"x": x}, tmp_path / "x.safetensors")
    assert safetensors.load_file(tmp_path / "x.safetensors")["x"].tolist() == x.tolist()
    assert repr(x) == f"tensor([ 1.5000, -2.2500,  3.0000], dtype=torch.{dtype})"
