"""Functions that write to an array of NumPy's write to its memory, also where new arrays are made
on a device with memory of its own.
"""

import numpy as np
import pytest

nb = pytest.importorskip("numbus")

pytestmark = pytest.mark.cpu
HALF = np.arange(6).reshape(2, 3) % 2 == 0
ONES = np.ones((2, 3))


def nan_to_num(xp, t):
    t[0, 0] = np.nan
    xp.nan_to_num(t, copy=False, nan=7.0)


def shuffle(xp, t):
    xp.random.seed(3)
    xp.random.shuffle(t)


WRITES = {
    "copyto": lambda xp, t: xp.copyto(t, xp.array([9.0, 8, 7])),
    "copyto where": lambda xp, t: xp.copyto(t, xp.array([9.0, 8, 7]), where=xp.array(HALF)),
    "put_along_axis": lambda xp, t: xp.put_along_axis(t, xp.array([[1], [0]]), 99.0, 1),
    "fill_diagonal": lambda xp, t: xp.fill_diagonal(t, 5),
    "fill_diagonal of an array": lambda xp, t: xp.fill_diagonal(t, xp.array([5.0, 6])),
    "nan_to_num": nan_to_num,
    "put": lambda xp, t: xp.put(t, [0, 2], [7, 8]),
    "place": lambda xp, t: xp.place(t, xp.array(HALF), [7, 8]),
    "putmask": lambda xp, t: xp.putmask(t, xp.array(HALF), xp.array([7.0, 8])),
    "add": lambda xp, t: xp.add(t, 1, out=t),
    "add of ours": lambda xp, t: xp.add(xp.array([1.0, 2, 3]), 1, out=t),
    "add.at": lambda xp, t: xp.add.at(t, (xp.array([0, 0]), xp.array([1, 1])), 5.0),
    "add.reduce": lambda xp, t: xp.add.reduce(xp.array(ONES), out=t[1]),
    "sum": lambda xp, t: xp.sum(xp.array(np.ones((3, 4))), axis=1, out=t[0]),
    "shuffle": shuffle,
    "Generator.shuffle": lambda xp, t: xp.random.default_rng(3).shuffle(t),
    "Generator.random": lambda xp, t: xp.random.default_rng(3).random(out=t),
    "matmul": lambda xp, t: xp.matmul(xp.array(np.ones((2, 4))), np.ones((4, 3)), out=t),
    "dot": lambda xp, t: xp.dot(xp.array(np.ones((2, 4))), xp.array(np.ones((4, 3))), out=t),
    "einsum": lambda xp, t: xp.einsum("ij->ij", xp.array(ONES), out=t),
    "clip": lambda xp, t: xp.clip(xp.array(ONES), 2, 3, out=t),
    "take": lambda xp, t: xp.take(xp.array([4.0, 5, 6]), [0, 1, 2], out=t[0]),
    "compress": lambda xp, t: xp.compress([True, False, True, True], xp.arange(4.0), out=t[0]),
    "choose": lambda xp, t: xp.choose(xp.array([0, 1, 0]), [xp.arange(3.0), 7.0], out=t[0]),
    "cumsum": lambda xp, t: xp.cumsum(xp.array(ONES), axis=1, out=t),
    "concatenate": lambda xp, t: xp.concatenate([xp.array(ONES[:1]), ONES[:1] * 2], out=t),
    "median": lambda xp, t: xp.median(xp.array(ONES * 3), axis=0, out=t[1]),
    "round": lambda xp, t: xp.round(xp.array(ONES * 1.26), 1, out=t),
    "divmod": lambda xp, t: xp.divmod(xp.array([5.0, 6, 7]), 2, out=(t[0], t[1])),
    "modf": lambda xp, t: xp.modf(xp.array([5.5, 6, 7]), out=(t[0], t[1])),
    "in place": lambda xp, t: t.__iadd__(xp.array([5.0, 6, 7])),
    "item": lambda xp, t: t.__setitem__(slice(None), xp.array([5.0, 6, 7])),
    "item of a mask": lambda xp, t: t.__setitem__(xp.array([True, False]), xp.array([5.0, 6, 7])),
}


@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("dtype", ["f8", ">f8"])
@pytest.mark.parametrize("name", list(WRITES))
def test_write(name, dtype, device):
    want, got = (np.arange(6.0).reshape(2, 3).astype(dtype) for _ in range(2))
    try:
        WRITES[name](np, want)
    except (TypeError, ValueError) as error:  # a type that NumPy does not write to
        assert dtype == ">f8"
        with nb.device(device), pytest.raises(type(error)):
            WRITES[name](nb, got)
        return
    with nb.device(device):
        WRITES[name](nb, got)
    np.testing.assert_array_equal(got, want)
    assert (want != np.arange(6.0).reshape(2, 3)).any()
