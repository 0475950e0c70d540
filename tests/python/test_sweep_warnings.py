"""A sample of the sweep of warnings (sweep_warnings.py), and the programs that once differed."""

import os

import pytest
import sweep_warnings

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(
        os.environ.get("NUMBUS_DEVICE", "cpu") != "cpu", reason="what warnings are given on a CPU"
    ),
]


@pytest.mark.parametrize("part", range(8))
def test_a_sample(part):
    """Of statements that are not among those known to differ (OPEN)."""
    for seed in range(40 * part, 40 * (part + 1)):
        lines, _ = sweep_warnings.draw(seed, "")
        if sweep_warnings.is_open(lines):
            continue
        found = sweep_warnings.difference(seed)
        assert found is None, f"sweep_warnings.py --seed {seed}: {found}"


def test_what_once_differed():
    for seed in sweep_warnings.kept():
        found = sweep_warnings.difference(seed)
        assert found is None, f"sweep_warnings.py --seed {seed}: {found}"


def test_the_sweep_finds_what_differs(monkeypatch):
    """Where nothing is warned of, most programs differ."""
    told, numpy = sweep_warnings.warned, sweep_warnings.np
    silent = [], None, {}
    monkeypatch.setattr(
        sweep_warnings, "warned", lambda m, *a: told(m, *a) if m is numpy else silent
    )
    assert sum(sweep_warnings.difference(seed) is not None for seed in range(40)) > 10
