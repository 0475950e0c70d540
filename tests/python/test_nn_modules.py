"""numbus.nn's modules against what PyTorch's gave: names, shapes, texts, results, gradients and
buffers (tests/pytorch/record.py)."""

import json
from collections import OrderedDict

import pytest
from nn_check import close

nb = pytest.importorskip("numbus")
from inputs import Drawn, load  # noqa: E402
from modules_cases import CASES, SHOWN  # noqa: E402
from numbus import nn, tensors  # noqa: E402

pytestmark = pytest.mark.numbus
RECORDED = load("modules.npz")
TEXTS = json.loads(bytes(RECORDED.pop("shown")).decode())
LIMIT = 1e-10
ROUGH = {"Hardsigmoid-1": 1e-7}  # whose derivative PyTorch rounds to float32


def made(text):
    return eval(text, {**{n: getattr(nn, n) for n in nn.__all__}, "OrderedDict": OrderedDict})


def tensor(x, drawn):
    if isinstance(drawn, tuple):
        return tuple(tensor(y, d) for y, d in zip(x, drawn))
    return tensors.tensor(x, requires_grad=drawn.gradient) if isinstance(drawn, Drawn) else x


def flat(results):
    if isinstance(results, tensors.Tensor):
        return [results]
    return [t for r in results for t in flat(r)] if isinstance(results, (tuple, list)) else []


def described(module):
    state = module.state_dict()
    return [repr(module), [[key, list(t.shape)] for key, t in state.items()]]


@pytest.mark.parametrize("text", SHOWN)
def test_shown(text):
    assert described(made(text)) == TEXTS[text]


@pytest.mark.parametrize("name", list(CASES))
def test_against_pytorch(name):
    case = CASES[name]
    module = made(case.text).double().train(case.train)
    assert described(module) == TEXTS[name]
    state = module.state_dict()
    shapes = [(k, tuple(t.shape), t.is_floating_point()) for k, t in state.items()]
    given = {k: tensors.tensor(a) for k, a in case.state(shapes).items()}
    module.load_state_dict(given, strict=False)
    args, words = case.arrays()
    args = [tensor(x, d) for x, d in zip(args, case.inputs)]
    words = {k: tensor(x, case.keywords[k]) for k, x in words.items()}
    for _ in range(case.calls):
        results = flat(module(*args, **words))
    for k, r in enumerate(results):
        close(r, RECORDED[f"{name} value {k}"], LIMIT, f"{name} value {k}")
    for key, b in module.named_buffers():
        close(b, RECORDED[f"{name} buffer {key}"], LIMIT, f"{name} buffer {key}")
    floats = [(k, r) for k, r in enumerate(results) if r.requires_grad]
    if floats:
        seeds = [tensors.tensor(case.cotangent(k, tuple(r.shape))) for k, r in floats]
        sum((r * s).sum() for (_, r), s in zip(floats, seeds)).backward()
    found = {f"{name} gradient {k}": p.grad for k, p in module.named_parameters()}
    for k, x in enumerate(flat([*args, *words.values()])):
        found[f"{name} gradient of input {k}"] = x.grad
    found = {what: g for what, g in found.items() if g is not None}
    assert set(found) == {key for key in RECORDED if key.startswith(f"{name} gradient")}
    for what, g in found.items():
        close(g, RECORDED[what], ROUGH.get(name, LIMIT), what)


@pytest.mark.cpu
@pytest.mark.parametrize("name", list(CASES))
def test_on_another_device_than_that_of_new_arrays(name):
    case = CASES[name]
    module = made(case.text).double().train(case.train)
    state = module.state_dict()
    shapes = [(k, tuple(t.shape), t.is_floating_point()) for k, t in state.items()]
    given = {k: tensors.tensor(a) for k, a in case.state(shapes).items()}
    module.load_state_dict(given, strict=False)
    module.to("fenced")

    def moved(x):
        if isinstance(x, tuple):
            return tuple(moved(y) for y in x)
        return x.detach().to("fenced") if isinstance(x, tensors.Tensor) else x

    args, words = case.arrays()
    args = [moved(tensor(x, d)) for x, d in zip(args, case.inputs)]
    words = {k: moved(tensor(x, case.keywords[k])) for k, x in words.items()}
    with tensors.no_grad():
        for _ in range(case.calls):
            results = flat(module(*args, **words))
    for k, r in enumerate(results):
        assert str(r.device) == "fenced"
        close(r.to("cpu"), RECORDED[f"{name} value {k}"], LIMIT, f"{name} value {k}")
    for key, b in module.named_buffers():
        close(b.to("cpu"), RECORDED[f"{name} buffer {key}"], LIMIT, f"{name} buffer {key}")
