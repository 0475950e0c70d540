"""A sample of random nets, trained on the host and on a device with memory of its own."""

import pytest

nb = pytest.importorskip("numbus")
from numbus import _core  # noqa: E402
from random_nets import difference  # noqa: E402

pytestmark = [pytest.mark.cpu, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_sample(seed, late):
    before = nb.seterr(all="ignore")
    _core.set_late_checks(late)
    try:
        assert difference(seed) is None
    finally:
        _core.set_late_checks(False)
        nb.seterr(**before)
