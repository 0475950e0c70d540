"""A sample of the sweep (sweep.py), and the calls that once differed."""

import numpy as np
import pytest
import sweep
from numbus import _core as core

pytestmark = pytest.mark.numbus


@pytest.mark.parametrize("name", sweep.NAMES)
def test_sample(name):
    for seed in range(12):
        found = sweep.difference(name, seed)
        assert found is None, f"sweep.py --seed '{name} {seed}': {found}"


@pytest.mark.parametrize("at_once", [0, 1024])
def test_calls_that_differed(at_once):
    core.set_at_once(at_once)
    for name, seed in sweep.kept():
        found = sweep.difference(name, seed)
        assert found is None, f"sweep.py --seed '{name} {seed}': {found}"


def test_the_sweep_reaches_orders_and_keywords():
    """What the calls are made of, so that the generator does not run dry unseen."""
    seen = set()
    for seed in range(200):
        rng = sweep.Choices(f"np.add {seed}")
        rng.wide = True
        args, keywords = sweep.arguments(sweep.ROWS["np.add"], rng)
        seen |= set(keywords) | {str(np.ndim(args[0])), str(np.size(args[0]))}
        seen |= {str(keywords["order"])} if "order" in keywords else set()
    wanted = {"out", "where", "order", "casting", "dtype", "subok", "0", "1", "C", "F", "A", "K"}
    assert wanted <= seen
