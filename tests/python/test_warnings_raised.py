"""Warnings that are errors: the read that carries out the work raises, and gives no number."""

import math
import pickle
import warnings

import numbus as nb
import numpy
import pytest


def bad():
    return nb.log(-nb.ones(5000))


READS = {
    "print": lambda: print(bad().sum()),
    "repr": lambda: repr(bad().sum()),
    "format": lambda: f"{bad().sum():.3f}",
    "float": lambda: float(bad().sum()),
    "complex": lambda: complex(bad().sum()),
    "bool": lambda: bool(bad().sum()),
    "hash": lambda: hash(bad().sum()),
    "floor": lambda: math.floor(bad().sum()),
    "item": lambda: bad().sum().item(),
    "item of an array": lambda: bad().item(3),
    "tolist": lambda: bad().tolist(),
    "tolist of a number": lambda: bad().sum().tolist(),
    "comparison": lambda: 1 if bad().sum() == 1 else 2,
    "any": lambda: bool((bad() > 0).any()),
    "asarray": lambda: numpy.asarray(bad()),
    "array": lambda: numpy.array(bad()),
    "asarray of a number": lambda: numpy.asarray(bad().sum()),
    "array of numbers": lambda: nb.array([bad().sum(), 1.0]).tolist(),
    "memoryview": lambda: memoryview(bad()),
    "bytes": lambda: bad().tobytes(),
    "text of an array": lambda: str(bad()),
    "text without axes": lambda: str(nb.array(bad().sum())),
    "element": lambda: float(bad()[3]),
    "iteration": lambda: [float(x) for x in bad()],
    "pickle": lambda: pickle.dumps(bad()),
    "dlpack": lambda: numpy.from_dlpack(bad()),
    "interface": lambda: bad().__array_interface__,
    "ctypes": lambda: bad().ctypes.data,
    "length of elements chosen": lambda: len(bad()[bad() > 0]),
    "shape of elements chosen": lambda: bad()[bad() > 0].shape,
    "size of elements chosen": lambda: bad()[bad() > 0].size,
    "flat": lambda: list(bad().flat),
}


@pytest.mark.skipif(nb.zeros(1)._device != "cpu", reason="warnings are given on a CPU")
@pytest.mark.parametrize("read", READS)
def test_read_raises(read):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in log"):
            READS[read]()
        # Nobody is told a second time, and what follows is innocent.
        assert float(nb.sqrt(nb.ones(5000)).sum()) == 5000
        assert numpy.asarray(nb.ones(5000) + 1)[0] == 2
        nb._core.give_warnings()


@pytest.mark.skipif(nb.zeros(1)._device != "cpu", reason="warnings are given on a CPU")
def test_an_array_is_read_after_its_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = bad()
        with pytest.raises(RuntimeWarning):
            memoryview(a)
        assert numpy.isnan(numpy.asarray(a)).all()
        assert math.isnan(a[0])
