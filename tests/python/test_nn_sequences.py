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
