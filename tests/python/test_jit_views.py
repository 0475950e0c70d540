"""Compiled functions: what is a view of an argument, and what a copy, is as in NumPy."""

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

BASE = np.arange(1.0, 49.0)


def _base(*shape):
    return BASE[: int(np.prod(shape))].copy().reshape(shape)


LAYOUTS = {
    "line": lambda: _base(6),
    "steps": lambda: _base(12)[::2],
    "backwards": lambda: _base(6)[::-1],
    "nothing": lambda: np.empty(0),
    "one": lambda: _base(1),
    "matrix": lambda: _base(2, 3),
    "columns": lambda: _base(3, 2).T,
    "both": lambda: _base(4, 6)[::2, ::2],
    "some rows": lambda: _base(4, 6)[1:3],
    "some columns": lambda: _base(4, 6)[:, 1:3],
    "rows backwards": lambda: _base(2, 3)[::-1],
    "one row in steps": lambda: _base(1, 6)[:, ::2],
    "one column": lambda: _base(6, 2)[:, :1],
    "repeated row": lambda: np.lib.stride_tricks.as_strided(_base(3), (2, 3), (0, 8)),
    "no rows": lambda: np.empty((0, 3)),
    "cube": lambda: _base(2, 3, 4),
    "cube reversed": lambda: _base(2, 3, 4).T,
    "cube moved": lambda: _base(2, 3, 4).transpose(1, 0, 2),
    "cube in rows": lambda: _base(2, 6, 4)[:, ::2],
    "cube in steps": lambda: _base(2, 3, 8)[:, :, ::2],
    "cube of one": lambda: _base(2, 6, 4)[:, :1, ::2],
}
EXPRESSIONS = """
np.asarray(a) / np.asarray(a, np.float64) / np.asarray(a, copy=None) / np.array(a)
np.array(a, copy=None) / np.array(a, copy=False) / np.array(a, np.float32, copy=False)
np.asarray(a + 1.0, copy=False) / np.ascontiguousarray(a) / np.asfortranarray(a)
np.ascontiguousarray(a.T) / np.asfortranarray(a.T)
a.astype(np.float64) / a.astype(np.float64, copy=False) / a.astype(np.float32, copy=False)
a.copy() / a.ravel() / a.T.ravel() / a.flatten() / np.ravel(a) / a.T / np.transpose(a)
a.reshape(-1) / a.reshape(a.size) / a.reshape(-1, 1) / a.reshape(1, -1) / np.reshape(a, -1)
a.reshape(a.shape) / a.reshape(a.T.shape) / a.T.reshape(a.shape) / a.T.reshape(-1)
a.reshape(a.shape[0], -1) / a.reshape(-1, a.shape[-1]) / a.reshape(2, -1) / a.reshape(2, 1, -1, 1)
a.reshape(3, -1, 2) / a.reshape(-1, 2, 2) / a.reshape(-3, -2) / a.reshape(4, -1, -1)
a.reshape(7) / a.reshape(-1, 0) / a.reshape(0)
np.take(a, [0, -1], axis=0) / np.take(a, 0, axis=0) / np.take(a, -1, axis=-1) / np.take(a, 9)
np.take(a, np.array([[0], [0]]), axis=-1) / np.take(a, 9, axis=-1) / np.take(a, 9, axis=0)
np.swapaxes(a, 0, -1) / np.moveaxis(a, 0, -1) / np.expand_dims(a, 0) / np.atleast_2d(a)
np.flip(a) / np.flip(a, 0) / np.real(a) / a.real / a[...] / a[None] / a[:] / np.squeeze(a)
np.array_split(a, 2)[0] / np.split(a, 1)[0] / np.concatenate((a,)) / +a / abs(a)
a.swapaxes(0, -1) / np.positive(a) / np.where(a > 0, a, a) / np.clip(a, -9, 99) / np.roll(a, 0)
""".replace(" / ", "\n").split("\n")


def _function(expression, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        f"import numpy as np\n\n\ndef read(a):\n    return {expression}\n\n\n"
        f"def write(a):\n    r = {expression}\n    r[...] = 77.0\n    return r.size\n"
    )
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["read"], space["write"]


def _outcome(function, a):
    memory = a if a.base is None else a.base
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    try:
        return function(a), memory
    except CompileError:
        raise
    except (ValueError, IndexError, TypeError) as error:
        return type(error), memory


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e])
def test_view_or_copy(expression, tmp_path):
    read, write = _function(expression, tmp_path)
    compared = 0
    for name, layout in LAYOUTS.items():
        for function in (read, write):
            want, theirs = _outcome(function, layout())
            try:
                got, ours = _outcome(njit(function), layout())
            except (CompileError, UnsupportedError, NotImplementedError) as error:
                known = isinstance(error, (UnsupportedError, NotImplementedError)) or isinstance(
                    want, type
                )
                assert known, f"{name}: {error}"
                continue
            compared += 1
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name}: the argument's memory")
            if isinstance(want, np.ndarray):
                assert got.shape == want.shape and got.dtype == want.dtype, name
            if isinstance(want, type):
                assert got is want, f"{name}: {got} for {want}"
            else:
                np.testing.assert_array_equal(got, want, err_msg=name)
    assert compared or "squeeze" in expression, "every layout is refused"


FLAGS = ["c_contiguous", "f_contiguous", "contiguous"]


@pytest.mark.parametrize("flag", FLAGS)
def test_flags(flag, tmp_path):
    """What an array's memory is like is seen as the function runs, not in its type alone."""
    for expression in ("a", "a.T", "a[:1]", "a[..., :1]", "a[1:].T", "a[::2]"):
        read, _ = _function(f"{expression}.flags.{flag}", tmp_path)
        for name, layout in LAYOUTS.items():
            assert njit(read)(layout()) == read(layout()), f"{expression} {name}"
