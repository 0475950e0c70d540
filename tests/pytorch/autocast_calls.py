"""The dtypes that calls give within autocast.

`python tests/pytorch/autocast_calls.py`, by hand where PyTorch is installed, runs the expressions
of autocast_calls.txt with PyTorch (2.11, on a CPU) and writes the dtypes of results and of
gradients to autocast_calls.json: of float32, and ("low") of operands in the lower dtype;
tests/python/test_autocast.py runs them with ours.
"""

import json
import pathlib

HERE = pathlib.Path(__file__)
DTYPES = ("bfloat16", "float16")


def expressions():
    return HERE.with_suffix(".txt").read_text("utf-8").splitlines()


def operands(torch, dtype, low):
    """Tensors of float32, or `low`, that require gradients (m, n and c square, v a line, s a stack,
    i images, w their filters), of the lower dtype (l), of float64 (d), and labels (k).
    """

    usual = dtype if low else "float32"

    def made(*shape, kind=usual):
        size = 1
        for n in shape:
            size *= n
        x = (torch.arange(float(size)) * 7 % 11 - 5).reshape(shape) / 4
        return x.to(getattr(torch, kind)).requires_grad_()

    eye = torch.eye(4, dtype=made(1).dtype)
    return {
        "torch": torch, "F": torch.nn.functional, "m": made(4, 4),
        "n": made(4, 4).neg().detach().requires_grad_(),
        "c": (made(4, 4) + eye * 8).detach().requires_grad_(),
        "v": made(4), "s": made(4, 4, 4), "i": made(1, 2, 6, 6), "w": made(2, 2, 3, 3),
        "l": made(4, 4, kind=dtype), "d": made(4, 4, kind="float64"),
        "k": torch.tensor([0, 1, 2, 3]),
    }  # fmt: skip


def found(torch, expression, dtype, low):
    """'float32' or 'float32; m: float32': of the result and of the gradients of leaves; the name of
    the exception.
    """
    known = operands(torch, dtype, low)
    try:
        with torch.autocast("cpu", dtype=getattr(torch, dtype)):
            y = eval(expression, known)
        text = str(y.dtype).removeprefix("torch.").removeprefix("numbus.")
        if y.requires_grad:
            y.float().sum().backward()
            for name, x in known.items():
                if len(name) == 1 and name != "F" and x.grad is not None:
                    kind = str(x.grad.dtype).removeprefix("torch.").removeprefix("numbus.")
                    text += f"; {name}: {kind}"
        return text
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    import torch

    result = {
        f"{t} low" if low else t: {e: found(torch, e, t, low) for e in expressions()}
        for t in DTYPES
        for low in (False, True)
    }
    HERE.with_suffix(".json").write_text(json.dumps(result, indent=0) + "\n", "utf-8")
