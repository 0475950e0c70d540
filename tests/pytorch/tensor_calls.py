"""Calls of tensors that are run with PyTorch and with numbus.tensors, and compared.

`record_tensors.py` runs them with PyTorch and writes what it finds to tensor_calls.json.gz;
tests/python/test_tensors.py runs them with ours. An expression of tensor_calls.txt knows `torch`
and the operands below.
"""

import pathlib

import numpy

DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "float16")
LAYOUTS = ("plain", "transposed", "strided")


def _expressions():
    """Two lists: for all dtypes, for floats."""
    text = pathlib.Path(__file__).with_suffix(".txt").read_text("utf-8")
    parts = text.split("\n#")
    return [[line for line in part.splitlines()[1:] if line] for part in parts]


def cases():
    """(expression, dtype, layout) of all calls."""
    each, of_floats = _expressions()
    for n, expression in enumerate(each):
        for dtype in DTYPES:
            yield expression, dtype, LAYOUTS[n % 3] if dtype != "float64" else "plain"
        yield expression, "float64", "transposed"
        yield expression, "float64", "strided"
    for expression in of_floats:
        for dtype in ("float64", "float32"):
            yield expression, dtype, "plain"


def _numbers(rng, dtype, shape):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return (rng.integers(-16, 17, shape) / 8 + 0.03125).astype(dtype)
    return rng.integers(1 if dtype == "uint8" else -4, 5, shape).astype(dtype)


def operands(torch, dtype, layout):
    """The tensors by name; those that are floating point require gradients."""
    rng = numpy.random.default_rng(len(dtype) * 7 + len(layout))
    found = {}
    for name in "ab":
        x = _numbers(rng, dtype, (3, 4))
        if name == "b" and dtype != "bool":
            x[x == 0] = 1
        if layout == "transposed":
            t = torch.from_numpy(numpy.ascontiguousarray(x.T))
        elif layout == "strided":
            wide = numpy.zeros((3, 8), x.dtype)
            wide[:, ::2] = x
            t = torch.from_numpy(wide)
        else:
            t = torch.from_numpy(x)
        if dtype.startswith("float"):
            t.requires_grad_()
        found["leaf_" + name] = t
        if layout == "transposed":
            t = t.t()
        if layout == "strided":
            t = t[:, ::2]
        found[name] = t
    found["m"] = torch.from_numpy(rng.integers(0, 2, (3, 4)).astype(bool))
    found["i"] = torch.tensor([2, 0])
    found["j"] = torch.tensor([1, 3, 0])
    found["k"] = torch.from_numpy(rng.integers(0, 3, (3, 4)))
    found["p"] = torch.from_numpy(rng.permuted(numpy.tile(numpy.arange(4), (3, 1)), axis=1))
    found["n"] = torch.from_numpy((numpy.arange(12).reshape(3, 4) * 7 % 12).astype("u1") * 16)
    found["s"] = torch.tensor(1.25)
    found["z"] = torch.zeros((0, 3))
    if dtype.startswith("float"):
        q = rng.integers(-8, 9, (4, 4)) / 8
        found["q"] = torch.from_numpy((q @ q.T + 2 * numpy.eye(4)).astype(dtype)).requires_grad_()
        found["leaf_q"] = found["q"]
    return found


def store(x, where, value):
    x[where] = value
    return x


def _plain(x):
    """Numbers as JSON has them."""
    a = numpy.asarray(x)
    if a.dtype.kind == "c":
        a = a.view(a.real.dtype)
    return [
        repr(v) if isinstance(v, float) and not numpy.isfinite(v) else v
        for v in a.reshape(-1).astype("f8" if a.dtype.kind == "f" else a.dtype).tolist()
    ]


def _shown(torch, x):
    if isinstance(x, torch.Tensor):
        y = x.detach()
        return {
            "dtype": str(x.dtype).split(".")[1],
            "shape": list(x.shape),
            "numbers": _plain(y.cpu().numpy()),
            "grad": bool(x.requires_grad),
        }
    if isinstance(x, (tuple, list)):
        return [_shown(torch, y) for y in x]
    return x


def run(torch, expression, dtype, layout):
    """What a call gives: its result, and the derivatives of a sum of its elements with weights."""
    known = operands(torch, dtype, layout)
    try:
        made = eval(expression, {"torch": torch, "store": store, **known})
    except Exception as error:
        return {"error": type(error).__name__}
    result = {"made": _shown(torch, made)}
    parts = made if isinstance(made, (tuple, list)) else [made]
    total = None
    for x in parts:
        if isinstance(x, torch.Tensor) and x.requires_grad:
            weights = torch.arange(1, x.numel() + 1).reshape(x.shape).to(x.dtype)
            part = (x * weights).sum()
            total = part if total is None else total + part
    if total is not None:
        try:
            total.backward()
        except Exception as error:
            return result | {"backward": type(error).__name__}
        for name in ("leaf_a", "leaf_b", "leaf_q"):
            if name in known and known[name].grad is not None:
                result[name] = _plain(known[name].grad.detach().cpu().numpy())
    return result
