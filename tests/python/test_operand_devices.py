"""What functions make on the way, and give, lies where their operands do, whatever the default."""

import inspect
import os
import pickle
import warnings

import numbus as nb
import numpy as np
import pytest
from numbus import _core

pytestmark = pytest.mark.numbus

# Arrays on the CPU while new ones go elsewhere: to the GPU, or to the device that only counts.
OTHER = "cuda" if os.environ.get("NUMBUS_DEVICE", "").startswith("cuda") else "null"

NAMES = {
    "v": np.array([3.0, 1.5, -2.0, 0.25, 5.0, 1.0]),
    "w": np.array([0.5, 2.0, 4.0, 1.0, 3.0, 2.5]),
    "m": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
    "i": np.array([2, 0, 1, 1, 2, 0]),
    "k": np.array([[1], [0], [2]]),
    "c": np.array([True, False, True, True, False, False]),
    "u": np.array([1, 0, 7], np.uint8),
    "z": np.array([1 + 2j, -0.5j, 3.0]),
}
# Tried in this order with NumPy; the first that it takes is the call.
GUESSES = """v,v v v,v,v m m,m v,i i i,i [v,v] [m,m] v,2 m,1 c c,v c,v,v u z m,k,1
    'i,i->i',v,v v,[1,2] v,(2,3)""".split()
# Where the first guess that NumPy takes says little, or none is right.
CALLS = {
    "apply_along_axis": "lambda x: x * 2 + np.ones(3), 0, m",
    "apply_over_axes": "np.sum, m, [0]",
    "array": "[v, w]",
    "asarray": "v.tolist(), copy=True",  # no array: where new ones go
    "astype": "v, int",
    "average": "v, weights=w.tolist()",
    "block": "[[m, m], [m, np.zeros((3, 3))]]",
    "bincount": "i, [1.0, 2, 3, 4, 5, 6]",
    "broadcast_arrays": "v, np.ones((2, 6))",
    "broadcast_to": "v, (2, 6)",
    "choose": "i, [v, w, np.zeros(6)]",
    "clip": "v, np.zeros(6), 2.0",
    "concat": "([1.0], v, np.ones(2))",
    "concatenate": "([1.0], v, np.ones(2))",
    "cross": "m, [1.0, 2, 3]",
    "delete": "v, [1, 2]",
    "dsplit": "np.reshape(v, (1, 2, 3)), 3",
    "diag_indices_from": "m",
    "digitize": "v, [0.0, 1, 2, 3]",
    "dot": "m, [1.0, 2, 3]",
    "einsum": "'ij,j->i', m, [1.0, 2, 3]",
    "expand_dims": "v, 0",
    "fill_diagonal": "m, 7",
    "full_like": "v, 3",
    "gradient": "v, 0.5",
    "histogram2d": "v, w, 3",
    "histogramdd": "(v, w), 3",
    "insert": "v, 1, [5.0]",
    "interp": "v, [0.0, 2, 4], [1.0, 2, 3]",
    "isin": "v, [1.0, 5]",
    "kron": "m, np.ones((1, 2))",
    "linspace": "v, 10.0, 4",
    "moveaxis": "m, 0, 1",
    "nan_to_num": "v / np.zeros(6)",
    "pad": "m, 1, 'reflect'",
    "piecewise": "v, [v < 0, v >= 0], [lambda x: -x, lambda x: x * 2]",
    "place": "v, c, [1.0, 2]",
    "polyfit": "v, w, 2",
    "put": "v, [1, 2], [8.0, 9]",
    "put_along_axis": "m, k, 9.0, 1",
    "putmask": "v, c, 9.0",
    "quantile": "v, [0.25, 0.5]",
    "percentile": "v, [25, 50]",
    "repeat": "v, [1, 2, 0, 1, 1, 1]",
    "reshape": "v, (2, 3)",
    "roll": "v, 2",
    "searchsorted": "np.sort(v), [0.0, 2, 4]",
    "partition": "v, range(6)",  # all ranks: nothing is left to order as one likes
    "argpartition": "v, range(6)",
    "select": "[v < 0, v > 2], [v, np.zeros(6)], 1.0",
    "solve": "m, [1.0, 2, 3]",
    "split": "v, 2",
    "take": "v, [1, 2]",
    "take_along_axis": "m, k, 1",
    "swapaxes": "m, 0, 1",
    "tensordot": "m, np.ones((3, 2)), axes=1",
    "tile": "v, (2, 2)",
    "trapezoid": "v, [0.0, 1, 2, 3, 4, 5]",
    "tensorsolve": "m, [1.0, 2, 3]",
    "matrix_power": "m, 3",
    "multi_dot": "[m, m, np.ones((3, 2))]",
    "vander": "v, 3",
    "vdot": "v, w.tolist()",
    "where": "c, v, np.zeros(6)",
}
# Functions that take no array, whose results are not arrays, or that are not to be called here.
SKIPPED = {
    "numpy": """array2string array_repr array_str asarray base_repr bartlett bfloat16 binary_repr
    blackman broadcast_shapes busday_count busday_offset can_cast common_type copyto
    datetime_as_string datetime_data diag_indices einsum_path empty empty_like eye
    format_float_positional format_float_scientific isnat fromfile fromfunction fromiter frombuffer
    frompyfunc fromregex fromstring from_dlpack full genfromtxt getbufsize geterr geterrcall
    get_include get_printoptions hamming hanning identity indices info is_busday isdtype isscalar
    issubdtype kaiser loadtxt load mask_indices may_share_memory min_scalar_type mintypecode
    nested_iters ones printoptions promote_types result_type ravel_multi_index save savetxt savez
    savez_compressed seterr set_printoptions setbufsize seterrcall shares_memory show_config
    show_runtime test tri
    tril_indices triu_indices typename unravel_index zeros arange asmatrix bmat require iterable
    """.split(),
    "linalg": "LinAlgError".split(),
    "fft": "fftfreq rfftfreq".split(),
}  # fmt: skip


def functions(module, where):
    for name in sorted(module.__all__ if hasattr(module, "__all__") else dir(module)):
        value = getattr(module, name, None)
        if name[0] != "_" and callable(value) and not isinstance(value, type):
            if name not in SKIPPED[where]:
                yield where, name


MODULES = {"numpy": np, "linalg": np.linalg, "fft": np.fft}
EVERY = [each for where, module in MODULES.items() for each in functions(module, where)]


def call(xp, where, name, text, values):
    home = xp if where == "numpy" else getattr(xp, where)
    names = {"np": np, **values}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"f({text})", {**names, "f": getattr(home, name)}), names


def the_call(where, name):
    """The arguments, as text, and what NumPy makes of them; None where it takes no array."""
    for text in [CALLS[name]] if name in CALLS else GUESSES:
        try:
            return text, *call(np, where, name, text, {k: x.copy() for k, x in NAMES.items()})
        except Exception:
            assert name not in CALLS, text
    return None


def compare(got, want, what):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for g, w in zip(got, want):
            compare(g, w, what)
    elif isinstance(want, (np.ndarray, np.generic)) and want.dtype.kind in "biufc":
        if type(got) in (nb.ndarray, nb.generic) and not (type(got) is nb.generic and known(got)):
            assert got.device == "cpu", what
        got = np.asarray(got)
        assert got.shape == np.shape(want), what
        np.testing.assert_allclose(got, want, 1e-9, 1e-12, err_msg=what)


def known(x):
    """A number that has been read is on no device."""
    return _core.get_device() == x.device


@pytest.mark.parametrize("where, name", EVERY)
def test_results_lie_where_the_operands_do(where, name):
    found = the_call(where, name)
    assert found is not None, "no guess fits: CALLS has to tell how this is called"
    text, want, changed = found
    with nb.device("cpu"):
        values = {k: nb.array(x) for k, x in NAMES.items()}
    with nb.device(OTHER):
        got, names = call(nb, where, name, text, values)
        assert str(nb.device()).startswith(OTHER)  # as before
        compare(got, want, f"{name}({text})")
    for k in NAMES:
        compare(names[k], changed[k], f"{k} after {name}({text})")


METHODS = """v.sum() m.mean(axis=0) v.clip(np.zeros(6),2.0) v.take([1,2]) v.repeat([1,2,0,1,1,1])
    v.round(1) m.trace() m.diagonal() m.cumsum(1) v.argsort() i.choose(np.zeros((6,6)).tolist())
    np.sort(v).searchsorted([1.0,2])
    m.dot([1.0,2,3]) v.compress([True,False,True]) v.std() v[[1,2]] v[i]
    v[np.array([0,3])] m[[0,1],[1,2]] v[c] v[[True,False]*3] v.imag m.flat[1:4] v+np.ones(6)
    np.ones(6)-v m@np.ones(3) np.ones(3)@m v>[1.0]*6 divmod(v,np.full(6,2.0)) v.astype(object)
    m.argmax(1) m.all() v.partition(2) i.choose([v,w,v]) z.conj() u.byteswap() m.tolist()
    np.add(v,np.ones(6)) np.where(c,v,np.zeros(6)) np.add.reduce(v) np.add.outer(v,np.ones(2))
    np.add.accumulate(v) np.maximum.reduceat(v,[0,3]) np.c_[v,[1.0]*6] np.r_[v,1.0]
    """.split()  # fmt: skip


@pytest.mark.parametrize("text", METHODS)
def test_methods_and_operators(text):
    want = eval(text, {"np": np, **NAMES})
    with nb.device("cpu"):
        names = {k: nb.array(x) for k, x in NAMES.items()}
    rows = nb if "_[" in text else np
    with nb.device(OTHER):
        compare(eval(text, {"np": rows, **names}), want, text)


@pytest.mark.parametrize("text", [
    "v[[1, 2]] = [8.0, 9]", "v[c] = np.arange(3.0)", "v[np.array([1])] = 7", "v += np.ones(6)",
    "v[1:3] = [4, 5]", "v.flat[1:3] = 9", "z.real = np.ones(3)", "np.add.at(v, [1, 1], [2.0, 3])",
    "v.sort()", "np.multiply(v, 2, out=v)", "v[c] += 1", "v.put([0, 1], [5, 6])", "v.fill(2)",
])  # fmt: skip
def test_assignments(text):
    worlds = [{k: x.copy() for k, x in NAMES.items()}]
    with nb.device("cpu"):
        worlds.append({k: nb.array(x) for k, x in NAMES.items()})
    with nb.device(OTHER):
        for names in worlds:
            exec(text, {"np": np}, names)
        for k in NAMES:
            compare(worlds[1][k], worlds[0][k], text)


def test_samples_of_an_array():
    with nb.device("cpu"):
        v = nb.array(NAMES["v"])
    with nb.device(OTHER):
        rng = nb.random.default_rng(0)
        for x in (rng.permutation(v), rng.choice(v, 3), nb.random.permutation(v)):
            assert x.device == "cpu"
        rng.shuffle(v)
        assert v.device == "cpu" and str(rng.random(3).device).startswith(OTHER)


def test_the_choice_of_a_callback_ends_with_it():
    seen = []

    def column(x):
        with nb.device("cpu"):
            seen.append(nb.ones(1).device)
        seen.append(nb.ones(1).device)
        return x

    with nb.device("null"):
        m = nb.ones((2, 2))
    before = str(nb.device())
    nb.apply_along_axis(column, 0, m)
    assert seen == ["cpu", "null"] * 2 and str(nb.device()) == before


def test_a_failure_leaves_the_device_as_it_was():
    with nb.device("null"):
        v = nb.ones(3)
    before = str(nb.device())
    with pytest.raises(ValueError):
        nb.concatenate([v, nb.ones((2, 2))])
    assert nb.ones(1).device == before if before != "cuda" else nb.ones(1).device[:4] == "cuda"


def test_they_are_functions_to_their_users():
    assert inspect.signature(nb.clip).parameters.keys() >= {"a", "a_min", "out"}
    assert nb.clip.__name__ == "clip" and nb.clip.__module__ == "numbus" and nb.clip.__doc__
    assert pickle.loads(pickle.dumps(nb.clip)) is nb.clip
    method = nb.arange(5).clip
    assert method(1, 2).tolist() == [1, 1, 2, 2, 2] and inspect.isroutine(nb.clip)
    with pytest.raises(TypeError, match="unexpected keyword"):
        nb.take(nb.ones(2), [0], never=1)
