"""What is recorded remembers the line of its call; the frames of the call are not kept for that."""

import weakref

import numpy
import pytest
from numbus import nn, tensors


class Local:
    """What a function holds while it runs."""


def nested(depth):
    net = nn.Linear(3, 3)
    for _ in range(depth):
        net = nn.Sequential(net)
    return net


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 5, 8, 12, 16])
def test_functions_that_record_give_back_their_frames(depth):
    net = nested(depth)
    x = tensors.from_numpy(numpy.ones((2, 3), "f4"))

    def step():
        local = Local()
        net(x).sum().backward()
        return weakref.ref(local)

    assert [step()() for _ in range(3)] == [None] * 3
