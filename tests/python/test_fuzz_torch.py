"""Programs of tensors, calls and nets in training, as PyTorch 2.15 carried them out."""

import json
import warnings

import calls
import pytest
import tensors
import torch_nets
import training
import transforms
from numbus.compat import torch
from test_fuzz_seeds import FUZZ
from test_tape import nothing_stays  # noqa: F401 - a fixture

pytestmark = pytest.mark.numbus
NETS = (FUZZ / "regressions" / "torch_nets.jsonl").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", NETS, ids=[line.partition(",")[0][1:] for line in NETS])
def test_trained_nets(line):
    seed, plan, wanted = json.loads(line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch_nets.check(torch, seed, plan, wanted) == "alike"


def test_calls_and_their_gradients():
    lines = (FUZZ / "regressions" / "torch_calls.jsonl").read_text("utf-8").splitlines()
    assert len(lines) > 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            seed, plan, wanted, parts = json.loads(line)
            said = calls.check(torch, seed, plan, wanted, parts)
            assert said == "alike", (seed, plan, said)


def test_transforms_of_calls():
    lines = (FUZZ / "regressions" / "transforms.jsonl").read_text("utf-8").splitlines()
    assert len(lines) > 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            seed, plan, wanted = json.loads(line)
            assert transforms.check(torch, seed, plan, wanted) == "alike", (seed, plan)


def test_programs_of_views_and_writes():
    lines = (FUZZ / "regressions" / "tensors.jsonl").read_text("utf-8").splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        programs = [json.loads(line) for line in lines]
        found = {seed: tensors.check(program, torch) for seed, program in programs}
    if torch.ones(1)._array._device == "fenced":  # on which leaves cannot share memory
        found = {k: v for k, v in found.items() if v is None or v[0] != "not yet"}
    assert len(found) > 50 and not any(found.values()), found


@pytest.mark.cpu  # the programs name it
def test_programs_of_training():
    lines = (FUZZ / "regressions" / "training.jsonl").read_text("utf-8").splitlines()
    assert len(lines) > 30
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            seed, plan, wanted = json.loads(line)
            said = training.check(torch, seed, plan, wanted)
            assert said == "alike", (plan["kind"], seed, said)
