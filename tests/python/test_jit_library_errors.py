"""A hundred mistakes in calls of library functions: an error names the line of the program's that
makes it, and no file or name of Numbus's own.
"""

import linecache
import re

import numpy as np
import pytest
from numbus import njit

MISTAKES = """np.linalg.svd(x, 3, 4, 5, 6)
np.sort(x, axis=7)
np.sum(x, axis='a')
np.concatenate(x)
np.dot(x, 'a')
np.linalg.solve(x, x[:2])
np.zeros('a')
np.arange(1, 2, 0)
np.reshape(x, (2, 2))
np.percentile(x, 101)
np.linspace(0, 1, -1)
np.full(3)
np.interp(x, x, x[:1])
np.histogram(x, bins='auto')
np.searchsorted(x, x, side='up')
np.einsum('ij,jk', x, x)
np.random.normal(0, -1)
np.linalg.cholesky(-np.eye(2))
np.linalg.inv(np.zeros((2, 2)))
np.bincount(np.array([-1]))
np.unravel_index(10, (2, 2))
np.vander(x, 'a')
np.polyfit(x, x, 'a')
np.convolve(x, x[:0])
np.cross(x, x)
np.nope(x)
x.nope()
x.sort(axis=3)
x[1, 2, 3]
x[9]
len(3)
int('a')
float('x')
[1, 'a']
{}['a']
(1, 2)[3]
x + 'a'
'a' + 1
x @ x[:1]
np.matmul(1, 2)
np.split(x, 5)
np.take(x, 9)
np.repeat(x, -1)
np.tile(x, 'a')
np.roll(x, 'a')
np.flip(x, 3)
np.rot90(x)
np.diff(x, -1)
np.diag(np.zeros((1, 1, 1)))
np.kron(x, 'a')
np.partition(x, 99)
np.quantile(x, 2.0)
np.random.choice(0)
np.random.randint(5, 1)
np.random.seed('a')
sum(3)
max([])
min()
sorted(3)
abs('a')
round('a')
chr(-1)
ord('ab')
range('a')
zip(3)
f(x, x)
g(x)
undefined
(lambda a, b: a)(1)
x.reshape(-1, -1)
x.astype('nope')
np.dtype('nope')
x.view(np.nope)
np.frombuffer(x, 'a')
np.array([[1], [1, 2]])
np.array('a')
np.where(x)
np.where(x, 1)
np.select([x], [x, x])
np.clip(x)
np.trapezoid(x, x[:1])
np.cov(x, rowvar='a')
np.linalg.norm(x, 'nope')
np.linalg.matrix_power(x, 2)
np.linalg.eig(x)
np.linalg.lstsq(np.eye(2), x)
np.fft.fft(x, -1)
np.meshgrid(x, indexing='no')
np.pad(x, 'a')
np.unique(x, axis=4)
np.isin(x)
np.nanmax(x[:0])
np.argmax(x[:0])
np.max(x[:0])
np.stack((x, x[:1]))
np.vstack((x, np.eye(2)))
np.delete(x, 9)
np.insert(x, 9, 1)
np.append(x, 1, axis=2)
np.broadcast_to(x, (2, 2))
np.expand_dims(x, 9)
np.squeeze(x, 0)
np.swapaxes(x, 0, 5)
np.moveaxis(x, 0, 5)
np.transpose(x, (1, 0))""".splitlines()
# What no message may hold: our files, Python's own words for a wrong call of our functions, C++.
OURS = re.compile(
    r"/numbus/|kernels/library|missing \d+ required|'self'|Cell is empty|depends on itself|"
    r"AttributeError: '_|_core\.|std::|Traceback|numbus string|lambda>\.<locals"
)


def made(expression, name):
    source = f"def f(x):\n    return {expression}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"np": np, "g": njit(lambda a, b: a)}
    exec(compile(source, name, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_names_the_program(mistake):
    name = f"<mistake {MISTAKES.index(mistake)}>"
    f = made(mistake, name)
    x = np.arange(3.0)
    try:
        got = njit(f)(x.copy())
    except Exception as error:
        said = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
        assert not OURS.search(said), said
        assert f"{name}:2" in said, said
        return
    want = f(x.copy())
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)


def test_one_of_several_calls_is_named():
    """They share the library's function."""

    @njit
    def f(x):
        a = np.linalg.inv(x[0])
        return a, np.linalg.inv(x[1])

    x = np.zeros((2, 2, 2))
    x[0] = np.eye(2)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        f(x)
    (note,) = caught.value.__notes__
    lines = [int(n) for n in re.findall(r"(?:line |\.py:)(\d+)", note)]
    first = f.py_func.__code__.co_firstlineno
    assert lines == [first + 3] and "test_jit_library_errors.py" in note
