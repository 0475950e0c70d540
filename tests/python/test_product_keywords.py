"""Products and @= with every keyword of NumPy's generalised ufuncs, all dtypes for out=."""

import functools
import itertools

import numpy as np
import pytest
from helpers import assert_same, assert_same_outcome, draw, outcome

OPERANDS = {
    "matmul": [((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)),
               ((2, 1, 3, 4), (5, 4, 2))],
    "vecdot": [((4,), (4,)), ((3, 4), (4,)), ((5, 3, 4), (3, 4))],
    "matvec": [((3, 4), (4,)), ((5, 3, 4), (5, 4)), ((3, 4), (5, 4))],
    "vecmat": [((4,), (4, 2)), ((5, 4), (5, 4, 2)), ((5, 4), (4, 2))],
}  # fmt: skip
CASES = [(name, shapes) for name in OPERANDS for shapes in OPERANDS[name]]
DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
KEYWORDS = [
    {"axes": [(0, 1), (0, 1), (0, 1)]},
    {"axes": [(-1, -2), (-2, -1), (-2, -1)]},
    {"axes": [(-2, -1), (-2, -1), (-1, -2)]},
    {"axes": [(-2, -1), (-2, -1), (0, 1)]},
    {"axes": [(1, 0), (1, 0), (0, 1)]},
    {"axes": [(0,), (0,), ()]},
    {"axes": [0, 0]},
    {"axes": [-1, -1, ()]},
    {"axes": [(-2, -1), -1, 0]},
    {"axes": [-1, (-2, -1), 0]},
    {"axes": [(-1,), (-1, -2), (0,)]},
    {"axes": [(0, 1), (0, 1)]},
    {"axes": [(0, 1, 2), (0, 1), (0, 1)]},
    {"axes": [(7, 1), (0, 1), (0, 1)]},
    {"axes": [(0, 0), (0, 1), (0, 1)]},
    {"axes": ((0, 1), (0, 1), (0, 1))},
    {"axes": 3},
    {"axis": 0},
    {"axis": -1},
    {"axis": 9},
    {"axis": 0, "axes": [(0,), (0,), ()]},
    {"keepdims": True},
    {"keepdims": True, "axis": 0},
    {"keepdims": False},
    {"order": "F"},
    {"order": "f"},
    {"order": "C"},
    {"order": "X"},
    {"dtype": "float32"},
    {"dtype": "complex64"},
    {"dtype": "int16"},
    {"dtype": "int16", "casting": "unsafe"},
    {"dtype": "float32", "casting": "safe"},
    {"dtype": "float64", "casting": "no"},
    {"casting": "nonsense", "dtype": "float32"},
    {"subok": False},
    {"subok": 1},
    {"signature": "ff->f"},
    {"sig": "dd->d"},
    {"where": True},
    {"axees": [(0, 1)]},
    {"ordr": "C"},
    {"dtpye": "float32"},
]


def operands(shapes, dtype="float64"):
    return [draw(shape, dtype, -3, 3, seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize(("name", "shapes"), CASES, ids=str)
def test_keywords(xp, name, shapes, keywords):
    x, y = operands(shapes)
    a, b = xp.array(x), xp.array(y)
    want = outcome(lambda: getattr(np, name)(x, y, **keywords))
    got = outcome(lambda: getattr(xp, name)(a, b, **keywords))
    tolerance = 1e-5 if keywords.get("dtype") in ("float32", "complex64") else 1e-13
    tolerance = 1e-5 if "signature" in keywords else tolerance
    assert_same_outcome(got, want, tolerance, f"{name} {shapes} {keywords}")


@pytest.mark.parametrize(("name", "shapes"), CASES, ids=str)
def test_out(xp, name, shapes):
    """out= of every dtype, casting rule, layout and wrong shape."""
    for source, target, casting in itertools.product(
        DTYPES, DTYPES, [None, "no", "safe", "same_kind", "unsafe"]
    ):
        x, y = operands(shapes, source)
        kwargs = {} if casting is None else {"casting": casting}
        shape = getattr(np, name)(x, y).shape
        want_out, got_out = np.zeros(shape, target), xp.zeros(shape, target)
        given = [(np, x, y, want_out), (xp, xp.array(x), xp.array(y), got_out)]
        want, got = (
            outcome(functools.partial(getattr(m, name), a, b, out=out, **kwargs))
            for m, a, b, out in given
        )
        what = f"{name} {shapes} {source} into {target} {casting}"
        tolerance = 2e-3 if "float16" in (source, target) else 1e-5
        if target in ("float32", "float64", "complex128") and source in ("float64", "complex128"):
            tolerance = 1e-6
        assert_same_outcome(got, want, tolerance, what)
        assert_same(got_out, want_out, tolerance, what)
        if not isinstance(want, Exception):
            assert got is got_out, what


@pytest.mark.parametrize(("name", "shapes"), CASES, ids=str)
def test_out_of_other_layouts(xp, name, shapes):
    x, y = operands(shapes)
    shape = getattr(np, name)(x, y).shape
    for make in (
        lambda m: m.zeros(shape, order="F"),
        lambda m: m.zeros(tuple([2 * n for n in shape]))[
            tuple([slice(None, None, 2)] * len(shape))
        ],
        lambda m: (m.zeros(shape),),
        lambda m: m.zeros((*shape, 1)),
        lambda m: m.zeros((7, *shape[1:])),
        lambda m: [0.0],
        lambda m: None,
    ):
        want_out, got_out = make(np), make(xp)
        want = outcome(lambda t=want_out: getattr(np, name)(x, y, out=t))
        got = outcome(lambda t=got_out: getattr(xp, name)(xp.array(x), xp.array(y), out=t))
        assert_same_outcome(got, want, 1e-13, f"{name} {shapes}", layout=want_out is None)


def test_dot_out(xp):
    """dot takes an out that it could have made itself, and no other."""
    for source, target, order in itertools.product(DTYPES, DTYPES, "CF"):
        for shapes in (
            ((3, 4), (4, 2)),
            ((4,), (4,)),
            ((3, 4), (4,)),
            ((2, 3, 4), (4, 2)),
            ((), (2, 3)),
        ):
            x, y = operands(shapes, source)
            shape = np.dot(x, y).shape
            want_out, got_out = np.zeros(shape, target, order), xp.zeros(shape, target, order)
            want = outcome(lambda a=x, b=y, t=want_out: np.dot(a, b, out=t))
            got = outcome(lambda a=x, b=y, t=got_out: xp.dot(xp.array(a), xp.array(b), out=t))
            what = f"{shapes} {source} {target} {order}"
            if shapes[0] == () and (source != target or order == "F"):
                continue  # NumPy refuses some of these, by the type
            assert_same_outcome(got, want, 2e-3 if source == "float16" else 1e-5, what)
            assert_same(got_out, want_out, 2e-3 if source == "float16" else 1e-5, what)


IN_PLACE = [((3, 3), (3, 3)), ((5, 3, 3), (3, 3)), ((5, 3, 3), (5, 3, 3)), ((4,), (4, 4)),
            ((4,), (4, 2)), ((3, 4), (4, 2)), ((3, 3), (3,)), ((3,), (3,)), ((), (3, 3)),
            ((3, 3), ()), ((3, 3), (5, 3, 3)), ((2, 3), (3, 3)), ((3, 2), (3, 3))]  # fmt: skip


@pytest.mark.parametrize("shapes", IN_PLACE, ids=str)
def test_in_place(xp, shapes):
    """a @= b writes into a, which every name and view of it sees."""
    for left, right in itertools.product(DTYPES, DTYPES):
        x, y = draw(shapes[0], left, 0, 3, 1), draw(shapes[1], right, 0, 3, 2)
        worlds = []
        for module in (np, xp):
            a, b = module.array(x), module.array(y)
            names = {"a": a, "b": b, "alias": a, "view": a[...]}
            error = outcome(lambda names=names: exec("a @= b", names))
            worlds.append((names, error))
        (want, error), (got, ours) = worlds
        what = f"{shapes} {left} @= {right}"
        tolerance = 2e-3 if left == "float16" or right == "float16" else 1e-5
        assert_same_outcome(ours, error, what=what)
        for name in ("a", "b", "alias", "view"):
            assert_same(got[name], want[name], tolerance, f"{what}: {name}")
        assert (got["a"] is got["alias"]) == (want["a"] is want["alias"]), what


def test_in_place_of_itself(xp):
    a = xp.array([[1.0, 2.0], [3.0, 4.0]])
    view = a.T
    a @= a
    assert a.tolist() == [[7.0, 10.0], [15.0, 22.0]] and view.tolist() == [
        [7.0, 15.0],
        [10.0, 22.0],
    ]
    a @= a.T
    assert a.tolist() == [[149.0, 325.0], [325.0, 709.0]]


def test_in_place_refuses(xp):
    a = xp.ones((2, 2))
    a.flags.writeable = False
    with pytest.raises(ValueError):
        a @= xp.ones((2, 2))
    assert a.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.numbus
def test_operands_that_answer_themselves(xp):
    """An operand without __array_ufunc__ does the product itself, as with NumPy."""

    class Mine:
        __array_ufunc__ = None

        def __rmatmul__(self, other):
            return "mine"

    assert xp.ones((2, 2)) @ Mine() == "mine"
    a = xp.ones((2, 2))
    a @= Mine()
    assert a == "mine"
