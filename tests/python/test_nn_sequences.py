"""Packed sequences, CTC, bags of rows and L-BFGS: a script that PyTorch ran, too
(tests/pytorch/sequence_calls.py, record.py).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nn_check import close

pytest.importorskip("numbus")
from inputs import load
from numbus import nn, optim
from numbus import tensors as T
from numbus.nn import functional as F
from numbus.nn.utils import rnn

SCRIPT = Path(__file__).resolve().parents[1] / "pytorch" / "sequence_calls.py"
pytestmark = pytest.mark.numbus


def test_results(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "numbus", str(SCRIPT), "found"], cwd=tmp_path, capture_output=True,
        text=True, env=dict(os.environ, NUMBUS_DEVICE="cpu"), timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, recorded = np.load(tmp_path / "found.npz"), load("sequence.npz")
    assert set(found.files) == set(recorded)
    for name, expected in recorded.items():
        close(found[name], expected, 1e-9, name)


def test_mistakes():
    x = T.zeros(4, 2, 3)
    with pytest.raises(RuntimeError, match="decreasing order"):
        rnn.pack_padded_sequence(x, [2, 4])
    with pytest.raises(RuntimeError, match="greater than 0"):
        rnn.pack_padded_sequence(x, [2, 0])
    with pytest.raises(ValueError, match="lengths do not fit"):
        rnn.pack_padded_sequence(x, [5, 2])
    packed = rnn.pack_padded_sequence(x, [4, 2])
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(packed, total_length=3)
    with pytest.raises(ValueError, match="input_size=5"):
        nn.GRU(5, 2)(packed)
    with pytest.raises(ValueError, match="padding_side"):
        rnn.pad_sequence([x], padding_side="up")
    chances = T.zeros(4, 2, 3)
    with pytest.raises(ValueError, match="classes"):
        F.ctc_loss(chances, T.tensor([[1, 3], [1, 1]]), [4, 4], [2, 2])
    with pytest.raises(ValueError, match="input_lengths"):
        F.ctc_loss(chances, T.tensor([[1, 2], [1, 1]]), [4, 5], [2, 2])
    with pytest.raises(ValueError, match="targets"):
        F.ctc_loss(chances, T.tensor([1, 2, 1]), [4, 4], [2, 2])
    bag = nn.EmbeddingBag(4, 2)
    with pytest.raises(ValueError, match="offsets"):
        bag(T.tensor([1, 2, 3]), T.tensor([1, 2]))
    with pytest.raises(IndexError):
        bag(T.tensor([[4]])).tolist()
    with pytest.raises(NotImplementedError, match="per_sample_weights"):
        F.embedding_bag(T.tensor([[1]]), bag.weight, per_sample_weights=T.ones(1, 1))
    with pytest.raises(ValueError, match="one group"):
        optim.LBFGS([{"params": [bag.weight]}, {"params": [T.zeros(1, requires_grad=True)]}])


def test_lines_of_padded_and_packed_sequences():
    lines = [T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0, 5.0])]
    packed = rnn.unpack_sequence(rnn.pack_sequence(lines, enforce_sorted=False))
    for batch_first in (False, True):
        padded = rnn.pad_sequence(lines, batch_first)
        for found in (packed, rnn.unpad_sequence(padded, T.tensor([2, 3]), batch_first)):
            assert [x.tolist() for x in found] == [x.tolist() for x in lines]


def test_older_names_of_first_values():
    with pytest.warns(FutureWarning, match="deprecated name"):
        w = nn.init.constant(T.empty(3), 2.5)
    assert w.tolist() == [2.5, 2.5, 2.5]


def test_drawn_in_place():
    T.manual_seed(0)
    assert abs(float(T.zeros(4000).log_normal_(1, 0.5).log().mean()) - 1) < 0.05
    assert abs(float(T.zeros(4000).geometric_(0.25).mean()) - 4) < 0.4
    assert int(T.zeros(99, dtype=T.int64).geometric_(0.9).min()) == 1
    assert abs(float(T.zeros(4001).cauchy_(2.0, 1.0).median()) - 2) < 0.2
    with pytest.raises(RuntimeError, match="geometric_"):
        T.zeros(3).geometric_(1.5)
