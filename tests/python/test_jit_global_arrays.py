"""Global arrays of Numbus's in compiled functions: constants, with the elements of compilation."""

import itertools
import os
import subprocess
import sys

import numbus as nb
import numpy as np
import pytest
from numbus import cuda, guvectorize, kernels, njit, stencil
from numbus.kernels import UnsupportedError

DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128")


def reading(table):
    return (
        njit(lambda i, j: table[i, j]),
        njit(lambda x: (table.shape, table.sum(), table.dtype == x.dtype)),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_those_of_numpy(dtype):
    rng = np.random.default_rng(len(dtype))
    real = (rng.random((3, 4)) * 50).astype(dtype)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a[1:2]):
        its = view(real)
        read, described = reading(view(nb.array(real)))
        for i, j in itertools.product(*map(range, its.shape)):
            assert read(i, j) == its[i, j]
        whole = described(its)
        assert whole[0] == its.shape and whole[2]
        np.testing.assert_allclose(whole[1], its.sum(), rtol=1e-2)


def test_elements_of_recorded_work_are_settled():
    table = nb.arange(5.0) * 2 + 1
    assert njit(lambda i: table[i])(3) == 7.0
    tables = (nb.arange(3.0), nb.ones((2, 2), np.int32))
    assert njit(lambda i: tables[0][i] + tables[1][i, i])(1) == 2.0
    scalar = nb.array(5.0)
    assert njit(lambda i: scalar[()] + i)(1) == 6.0


def test_later_changes_are_seen_by_later_compilations_only():
    table = nb.array([1.0, 2.0])
    read = njit(lambda i: table[i] * 2)
    assert read(1) == 4.0
    table[1] = 50.0
    assert read(1) == 4.0
    assert read(np.int8(1)) == 100.0
    read.recompile()
    assert read(1) == 100.0


@pytest.mark.parametrize("device", ("cpu", "fenced"))
def test_all_that_compile_read_them(device):
    table = nb.to_device(nb.array([1.0, 2.0, 4.0]), device)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def scaled(a, b):
        for i in range(len(a)):
            b[i] = a[i] * table[2]

    @stencil
    def near(a):
        return a[-1] * table[1]

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < 3:
            out[i] = cuda.const.array_like(table)[i] + table[0]

    x = np.arange(3.0)
    assert njit(lambda i: table[i])(2) == 4.0
    assert kernels.vectorize(lambda i: table[i])(np.arange(3)).tolist() == [1.0, 2.0, 4.0]
    assert scaled(x).tolist() == [0.0, 4.0, 8.0]
    assert near(x).tolist() == [0.0, 0.0, 2.0]
    out = np.zeros(3)
    kernel[1, 4](out)
    assert out.tolist() == [2.0, 3.0, 5.0]


def test_a_store_is_an_error_with_its_line():
    table = nb.zeros(3)

    def stores(i):
        table[i] = 1.0

    def changes(i):
        table.sort()
        return i

    for wrong in (stores, changes):
        with pytest.raises(UnsupportedError, match="table"):
            njit(wrong)(1)
    assert table.tolist() == [0.0, 0.0, 0.0]


def test_what_a_derivative_is_taken_of_is_not_frozen():
    def loss(x):
        return njit(lambda i: x[i] * 2)(1)

    with pytest.raises(UnsupportedError, match="derivative"):
        nb.grad(loss)(nb.array([1.0, 2.0]))


def test_vectorize_of_numpys_kind_sees_changes():
    for table in (nb.array([1.0, 2.0]), np.array([1.0, 2.0])):
        inner = njit(lambda i, table=table: table[i])
        for reads in (lambda i, table=table: table[i], lambda i, table=table: table[i] + 0):
            function = nb.vectorize(lambda i, reads=reads: reads(i))
            assert function(np.arange(2)).tolist() == [1.0, 2.0]
        direct = nb.vectorize(lambda i: table[i])  # noqa: B023
        assert direct(np.arange(2)).tolist() == [1.0, 2.0]
        table[0] = 9.0
        assert direct(np.arange(2)).tolist() == [9.0, 2.0]
        assert inner(1) == 2.0


def test_stored_code_holds_the_elements(tmp_path):
    text = (
        "import sys, numbus as nb\n"
        "table = nb.array([1.0, float(sys.argv[1])])\n"
        "f = nb.njit(lambda i: table[i])\n"
        "print(f(1), f.stats.cache_hits.total())\n"
    )
    script = tmp_path / "s.py"
    script.write_text(text)
    env = os.environ | {"NUMBUS_CACHE_DIR": str(tmp_path / "cache")}
    given = []
    for value in ("2", "3", "2"):
        command = [sys.executable, str(script), value]
        run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        given.append(run.stdout.split()[0])
    assert given == ["2.0", "3.0", "2.0"]
