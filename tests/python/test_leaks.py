"""No result is an array of NumPy's where Numbus could hold it: every function, method and
attribute, of arrays at rest, pending, of few and of many elements.
"""

import importlib
import warnings

import numpy as np
import pytest
from helpers import MODULE, leaks
from signature_calls import CALLS, DATA, METHODS

pytestmark = pytest.mark.numbus
MORE = {
    "linalg.eig": "q", "linalg.eigh": "h @ h.T", "linalg.svd": "x", "linalg.qr": "x",
    "linalg.slogdet": "q", "linalg.lstsq": "x, u", "linalg.multi_dot": "[x, y.T, x]",
    "linalg.tensorinv": "q.reshape(3, 3), 1", "ma.getdata": "x",
    "lib.stride_tricks.as_strided": "x",
    "lib.stride_tricks.sliding_window_view": "v, 2", "apply_along_axis": "xp.sort, 0, x",
    "fromfunction": "lambda a, b: a + b, (2, 3)", "unravel_index": "j, (5, 5)",
    "ix_": "[0, 1], [True, False]", "mgrid.__getitem__": "(slice(0, 3), slice(0, 2))",
    "ogrid.__getitem__": "(slice(0, 3), slice(0, 2))", "r_.__getitem__": "(x[0], 5)",
    "c_.__getitem__": "(v, w)", "broadcast_arrays": "x, x[0]", "vectorize(abs)": "x",
    "random.rand": "3, 2", "random.randn": "3", "random.randint": "5, size=4",
    "random.permutation": "v", "random.choice": "v, 3", "random.normal": "0, 1, (2, 3)",
    "random.default_rng(1).random": "4", "random.default_rng(1).integers": "9, size=4",
    "random.default_rng(1).permutation": "x", "random.default_rng(1).shuffle": "v",
    "random.default_rng(1).permuted": "x", "random.default_rng(1).choice": "v, 3",
    "random.default_rng(1).multivariate_normal": "[0, 0], [[1, 0], [0, 1]], 3",
    "random.default_rng(1).dirichlet": "[1, 2]", "random.RandomState(3).uniform": "size=4",
    "random.Generator(xp.random.Philox(1)).standard_normal": "(2, 3)",
    "polynomial.polynomial.polyval": "v, [1, 2, 3]", "polynomial.polynomial.polyfit": "v, w, 1",
    "polynomial.chebyshev.chebval": "v, [1, 2, 3]", "polynomial.polynomial.polyroots": "u",
    "char.str_len": "np.array(['a'])", "lib.scimath.sqrt": "x", "emath.log": "x",
    "add.outer": "v, w", "add.at": "v, [0, 1], 2", "maximum.accumulate": "x",
    "add.reduceat": "v, [0, 2]",
}  # fmt: skip
ATTRIBUTES = "T mT real imag base flat.base flat.copy()".split()


def results(xp, data, name, text, method):
    """What a call gives, and what it leaves in its operands."""
    given = {"xp": xp, "np": np, **data}
    if method:
        prefix, _, rest = text.partition("; ")
        return eval(f"({prefix}).{name}({rest})", given), given
    return eval(f"xp.{name}({text})", given), given


def cases():
    for name, text in {**CALLS, **MORE}.items():
        yield name, text, False
    for name, text in METHODS.items():
        yield name, text, True


PREPARED = {
    "pending": lambda x: x + 0 if x.dtype.kind != "b" else x | False,
    "few": lambda x: x,
}


@pytest.mark.parametrize("how", PREPARED)
@pytest.mark.parametrize("name,text,method", cases())
def test_no_arrays_of_numpy(core, name, text, method, how):
    xp = importlib.import_module(MODULE)
    data = {key: PREPARED[how](xp.array(x)) for key, x in DATA.items()}
    before = core.answer_few(how == "few")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                got, left = results(xp, data, name, text, method)
            except (TypeError, ValueError, AttributeError, np.linalg.LinAlgError):
                with pytest.raises((TypeError, ValueError, AttributeError, np.linalg.LinAlgError)):
                    results(np, DATA, name, text, method)
                return
    finally:
        core.answer_few(before)
    assert not leaks(got), (name, text)
    assert not leaks([left[key] for key in DATA])


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(xp, name):
    for key in ("x", "t", "c", "m"):
        assert not leaks(eval(f"a.{name}", {"a": xp.array(DATA[key])[::1]}))
