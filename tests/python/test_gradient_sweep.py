"""A sample of gradient_sweep.py, which runs more."""

import pytest
from helpers import MODULE

pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="gradients are Numbus's")


@pytest.mark.parametrize("part", range(12))
def test_sample(part):
    import gradient_sweep

    for name in gradient_sweep.NAMES[part::12]:
        for seed in range(20, 23):
            word, detail = gradient_sweep.check(name, seed)
            assert word not in ("differs", "error"), f"{name} {seed}: {detail}"
