"""A sample of the sweep of compiled functions, and the calls that once differed."""

import pytest
import sweep_compiled
from sweep_compiled import AGREES, NOT_YET, REFUSED, difference

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

SAMPLE = sweep_compiled.NAMES[::6]


def expect_no_difference(name, seed):
    found = difference(name, seed)
    answer = found[0] if isinstance(found, tuple) else found
    assert answer in (AGREES, NOT_YET, REFUSED), f"--seed '{name} {seed}': {found}"
    return answer


@pytest.mark.parametrize("part", range(8))
def test_sample(part):
    answers = [expect_no_difference(name, 0) for name in SAMPLE[part::8]]
    assert answers.count(AGREES) > len(answers) // 3


def test_calls_that_differed():
    for name, seed in sweep_compiled.kept():
        expect_no_difference(name, seed)


def test_the_sweep_finds_what_differs(monkeypatch):
    """A body that is wrong shows."""
    monkeypatch.setattr(sweep_compiled, "original", lambda row: lambda m, **axis: m + 1)
    found = [difference("np.flip", seed) for seed in range(12)]
    assert any([isinstance(x, tuple) and x[0] != REFUSED for x in found])
