"""Memory of ours whose address NumPy keeps when the buffer has been given back."""

import numbus as nb
import numpy as np
import pytest


@pytest.mark.parametrize("n", [4, 1000, 5000])
@pytest.mark.parametrize("pending", [False, True])
def test_subclasses_over_memory_of_ours_see_what_is_written(n, pending):
    class Own(nb.ndarray):
        pass

    by_name = lambda *args: nb.ndarray.__new__(Own, *args)  # noqa: E731
    for make in (Own, by_name, np.ndarray):
        a = nb.ones((n, 4))
        if pending:
            a = a / 2.0
        if a.device != "cpu":  # memory that the host cannot read
            with pytest.raises(BufferError, match="keep the address"):
                make(a.shape, float, a)
            continue
        over = make(a.shape, float, a)
        rows = nb.zeros_like(a)
        rows[:, 0] = a[:, 0] * 3
        rows /= 2.0
        a[:] = rows
        nb.synchronize()
        np.testing.assert_array_equal(np.asarray(over), np.asarray(rows))
        a *= 2
        np.testing.assert_array_equal(np.asarray(over), np.asarray(rows) * 2)
        over[1, 1] = 7
        assert a[1, 1] == 7 and (a + a)[1, 1] == 14
        assert isinstance(over, np.ndarray)
