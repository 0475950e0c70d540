"""Random nets that PyTorch 2.15 has trained, and calls that it has answered (tests/fuzz)."""

import json
import warnings

import calls
import pytest
import torch_nets
from numbus.compat import torch
from test_fuzz_seeds import FUZZ

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
