"""Tensors against results that PyTorch gave (tests/pytorch/tensor_calls.py)."""

import gzip
import json
import pathlib
import sys

import numbus.tensors as torch
import numpy
import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "pytorch"
sys.path.insert(0, str(FOLDER))
import tensor_calls  # noqa: E402

CALLS = json.loads(gzip.decompress((FOLDER / "tensor_calls.json.gz").read_bytes()))["calls"]
BOUNDS = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-11}


def _numbers(values):
    return numpy.array([float(v) for v in values])


def _same(got, wanted, bound, what):
    if isinstance(wanted, dict) and "numbers" in wanted:
        assert isinstance(got, dict), f"{what}: {got} for {wanted}"
        for key in ("dtype", "shape", "grad"):
            assert got[key] == wanted[key], f"{what}: {key} {got[key]}, PyTorch {wanted[key]}"
        bound = BOUNDS.get(wanted["dtype"], bound)
        numpy.testing.assert_allclose(
            _numbers(got["numbers"]), _numbers(wanted["numbers"]), rtol=bound, atol=bound,
            err_msg=what,
        )  # fmt: skip
    elif isinstance(wanted, list):
        assert isinstance(got, (list, tuple)) and len(got) == len(wanted), (
            f"{what}: {got}, {wanted}"
        )
        for k, (x, y) in enumerate(zip(got, wanted, strict=True)):
            _same(x, y, bound, f"{what}[{k}]")
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=bound, abs=bound), what
    else:
        assert got == wanted, f"{what}: {got}, PyTorch {wanted}"


def compare(expression, dtype, layout, wanted):
    """Raises AssertionError where our call gives something else than PyTorch's."""
    got = tensor_calls.run(torch, expression, dtype, layout)
    if wanted.get("error") == "NotImplementedError" or ("error" in wanted and dtype == "bool"):
        return  # what PyTorch does not offer may work
    if "error" in wanted:
        assert "error" in got, f"PyTorch raises {wanted['error']}, ours gives {got}"
        return
    if got.get("error") == "NotImplementedError" or got.get("backward") == "NotImplementedError":
        pytest.skip("not yet")
    assert "error" not in got, f"{got}, PyTorch gives {wanted}"
    bound = BOUNDS.get(dtype, 1e-6)
    _same(json.loads(json.dumps(got["made"])), wanted["made"], bound, "result")
    assert got.get("backward") == wanted.get("backward"), f"{got}, PyTorch {wanted}"
    for name in ("leaf_a", "leaf_b", "leaf_q"):
        if name in wanted or name in got:  # None where PyTorch has zeros, or the reverse
            x, y = (_numbers(found.get(name, [0.0])) for found in (got, wanted))
            numpy.testing.assert_allclose(
                *numpy.broadcast_arrays(x, y), rtol=8 * bound, atol=8 * bound, equal_nan=True,
                err_msg="gradient of " + name,
            )  # fmt: skip


BY_EXPRESSION = {}
for _case in CALLS:
    BY_EXPRESSION.setdefault(_case[0], []).append(_case[1:])


@pytest.mark.parametrize("expression", BY_EXPRESSION)
def test_calls(expression):
    failed = []
    for dtype, layout, wanted in BY_EXPRESSION[expression]:
        try:
            compare(expression, dtype, layout, wanted)
        except AssertionError as error:
            failed.append(f"{dtype}, {layout}: {str(error)[:600]}")
        except pytest.skip.Exception:
            pass
    assert not failed, "\n".join(failed)
