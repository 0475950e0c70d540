"""Tensors of one number on the host beside tensors of a device, as PyTorch takes them."""

import os

import numpy as np
import pytest
from numbus import tensors as torch

APART = "cuda" if os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda") else "fenced"
CALLS = {
    "mul": lambda a, t: a * t,
    "rsub": lambda a, t: t - a,
    "power": lambda a, t: a**t,
    "clamp": torch.clamp,
    "clamp_max": lambda a, t: torch.clamp(a, max=t),
    "masked_fill": lambda a, t: a.masked_fill(a > 3, t),
    "where": lambda a, t: torch.where(a > 1, t, a),
    "maximum": torch.maximum,
    "compare": lambda a, t: a < t,
    "in place": lambda a, t: a.clone().mul_(t).add_(t),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("grad", [False, True])
def test_calls(name, grad):
    results = []
    for device in ("cpu", APART):
        a = torch.arange(6.0, device=device).reshape(2, 3)
        t = torch.tensor(2.0, device="cpu")
        if grad and name != "compare":
            a, t = a.requires_grad_(), t.requires_grad_()
        for _ in range(4):  # from the third on known calls and passes answer
            a.grad = t.grad = None
            made = CALLS[name](a, t)
            assert str(made.device).startswith(device)
            got = [made.detach()]
            if made.requires_grad:
                made.sum().backward()
                got += [a.grad, t.grad]
                assert t.grad.device.type == "cpu"
            results.append([x.cpu().numpy() for x in got])
    for other in results[1:]:
        for want, got in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_number_on_the_host_is_not_written_to_from_a_device():
    a, t = torch.arange(6.0, device=APART), torch.tensor(2.0)
    with pytest.raises((ValueError, RuntimeError), match=r"different devices|broadcast"):
        t.add_(a)
    assert t.item() == 2


def test_lines_on_two_devices_stay_an_error():
    with pytest.raises((ValueError, RuntimeError), match="different devices"):
        torch.arange(3.0, device=APART) + torch.arange(3.0, device="cpu")
