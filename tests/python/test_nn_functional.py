"""numbus.nn.functional against what PyTorch gave for the same calls (tests/pytorch/record.py)."""

import warnings

import numpy as np
import pytest
from nn_check import TOLERANCE, close

nb = pytest.importorskip("numbus")
from functional_cases import CASES  # noqa: E402
from inputs import load  # noqa: E402
from numbus import tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.numbus
RECORDED = load("functional.npz")
ROUGH = {"hardsigmoid": 1e-7}  # whose derivative PyTorch rounds to float32


def limit_of(case):
    return max(TOLERANCE[case.dtype], ROUGH.get(case.function, 0))


def compared(case, values):
    for k, value in enumerate(values):
        close(value, RECORDED[f"{case.name} value {k}"], limit_of(case), f"{case.name} value {k}")


def seeds_of(case, values):
    """(number of a result of floats, its cotangent) of all."""
    floats = [k for k, v in enumerate(values) if np.asarray(v).dtype.kind == "f"]
    seeds = case.cotangents([np.shape(values[k]) for k in floats])
    return list(zip(floats, seeds))


@pytest.mark.parametrize("name", list(CASES))
def test_of_arrays(name):
    case = CASES[name]
    args, words = case.arrays()
    every = {**dict(enumerate(args)), **words}
    drawn = case.drawn()
    every |= {key: nb.array(every[key]) for key in drawn}
    keys = [key for key, d in drawn.items() if d.gradient]

    def run(*given):
        full = {**every, **dict(zip(keys, given))}
        ordered = [full[k] for k in range(len(args))]
        found = getattr(F, case.function)(*ordered, **{k: full[k] for k in words})
        return found if isinstance(found, tuple) else (found,)

    given = [every[key] for key in keys]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)  # of 0 / 0, all ignored
        values = run(*given)
    compared(case, values)
    if keys:
        seeds = seeds_of(case, values)

        def loss(*arrays):
            made = run(*arrays)
            return sum((made[k] * nb.array(s)).sum() for k, s in seeds)

        gradients = nb.grad(loss, argnums=tuple(range(len(given))))(*given)
        for key, g in zip(keys, gradients):
            what = f"{name} gradient {key}"
            close(g, RECORDED[what], limit_of(case), what)


def tensors_of(case, change=lambda a: a, device=None):
    """The arguments by their positions and names, those that were drawn as tensors."""
    args, words = case.arrays()
    every = {**dict(enumerate(args)), **words}
    for key, d in case.drawn().items():
        made = tensors.tensor(change(every[key]), requires_grad=d.gradient)
        every[key] = made.to(device).detach().requires_grad_(d.gradient) if device else made
    return every


def called(case, every):
    """(results, gradients by argument) of a call with tensors."""
    args, words = case.arrays()
    values = getattr(F, case.function)(
        *[every[k] for k in range(len(args))], **{k: every[k] for k in words}
    )
    values = values if isinstance(values, tuple) else (values,)
    assert all(isinstance(v, tensors.Tensor) for v in values)
    keys = [key for key, d in case.drawn().items() if d.gradient]
    if keys:
        seeds = seeds_of(case, [v._array for v in values])
        parts = ((values[k] * tensors.tensor(s).to(values[k].device)).sum() for k, s in seeds)
        sum(parts).backward()
    return values, {key: every[key].grad for key in keys}


@pytest.mark.parametrize("name", list(CASES))
def test_of_tensors(name):
    case = CASES[name]
    values, gradients = called(case, tensors_of(case))
    compared(case, values)
    for key, g in gradients.items():
        what = f"{name} gradient {key}"
        close(g, RECORDED[what], limit_of(case), what)


@pytest.mark.cpu
@pytest.mark.parametrize("name", list(CASES))
def test_of_tensors_again(name):
    """What was recorded for other elements is recorded for these."""
    case = CASES[name]

    def other(a):
        return a * a.dtype.type(0.5) if a.dtype.kind in "fc" else a

    for _ in range(2):
        called(case, tensors_of(case, other, "fenced"))
    values, gradients = called(case, tensors_of(case, device="fenced"))
    compared(case, [v.to("cpu") for v in values])
    for key, g in gradients.items():
        what = f"{name} gradient {key}"
        close(g.to("cpu"), RECORDED[what], limit_of(case), what)


@pytest.mark.cpu
@pytest.mark.parametrize("name", list(CASES))
def test_on_another_device_than_that_of_new_arrays(name):
    case = CASES[name]
    args, words = case.arrays()
    every = {**dict(enumerate(args)), **words}
    every |= {key: nb.array(every[key]).to_device("fenced") for key in case.drawn()}
    values = getattr(F, case.function)(
        *[every[k] for k in range(len(args))], **{k: every[k] for k in words}
    )
    values = values if isinstance(values, tuple) else (values,)
    assert [v.device for v in values] == ["fenced"] * len(values)
    compared(case, [v.to_device("cpu") for v in values])
