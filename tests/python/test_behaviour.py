"""Behaviour that programs rely on, one class after the other, against NumPy: values, types,
strides, what is a view, errors.
"""

import itertools

import numbus as nb
import numpy as np
import pytest
from helpers import assert_same_outcome, outcome

pytestmark = pytest.mark.numbus

DATA = {
    "a": np.arange(12.0).reshape(3, 4),
    "f": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "s": np.arange(24.0).reshape(3, 8)[:, ::2],
    "i": np.arange(6, dtype=np.int32).reshape(2, 3) - 2,
    "u": np.array([1, 7, 200], np.uint8),
    "b": np.array([-100, -1, 0, 1, 100], np.int8),
    "h": np.array([-2.5, 0.0, 0.3, 60000.0], np.float16),
    "c": np.array([1 + 2j, -3j, 0]),
    "m": np.array([True, False, True]),
    "n": np.array(2.5),
    "k": np.array(7, np.int16),
    "e": np.zeros((0, 3)),
    "q": np.array([[4.0, 1], [2, 3]]),
}

CASES = {
    "numbers beside dtype=": """
        xp.floor_divide(u, -2, dtype='f8')
        xp.floor_divide(u, 300, dtype='i2')
        xp.floor_divide(u, -2)
        xp.floor_divide(u, -2, dtype='u2')
        xp.add(u, -1, dtype='i2')
        xp.add(u, 1.5, dtype='i2')
        xp.add(u, 1.5, dtype='i2', casting='unsafe')
        xp.add(a, 1j, dtype='f4')
        xp.maximum(b, 300, dtype='f4')
        xp.power(u, -1, dtype='f4')
        xp.power(u, -0.5, dtype='i1')
        xp.add(b, 10**30, dtype='f8')
        xp.add(b, 10**30, dtype='i8')
        xp.add(a, 2, dtype='f8', casting='no')
        xp.less(u, -2, dtype='?')
        xp.absolute(c, dtype='f8')
        xp.absolute(c, dtype='f4')
        xp.absolute(c.astype('c8'), dtype='f8')
    """,
    "empty lists as indices": """
        a[[]]
        a[[[]]]
        a[[[], []]]
        a[:, []]
        a[:, [[]]]
        a[[], []]
        a[[[]], [[]]]
        a[([],)]
        a[[], 1:]
        a[xp.array([], dtype='i8')]
        a[xp.array([])]
        a[[[[]]]]
        e[[]]
        e[[[]]]
        u[[[]]]
        n[[]]
        n[[[]]]
    """,
    "numbers indexed by bool": """
        n[True]
        n[False]
        k[True]
        k[xp.array(True)]
        n[xp.array(False)]
        n[True, None]
        n[None, True]
        n[..., True]
        n[True, False]
        n[True, ...]
        a.sum()[True]
        a.sum()[False]
        a.sum()[True, None]
        a.sum()[None]
        a.sum()[...]
        a.sum()[()]
        a.sum()[0]
        a.max()[xp.bool_(True)]
        i[0, 0][True]
        a[True]
        a[False]
        a[True, 1]
        a[1, True]
        a[..., False]
        u[True, [0, 1]]
        n[[True]]
        n[m]
    """,
    "order": """
        xp.add(a, f, order='F')
        xp.add(f, f)
        xp.add(f, f, order='C')
        xp.add(f, a)
        xp.negative(s, order='K')
        xp.sqrt(f, order='A')
        xp.zeros_like(f)
        xp.ones_like(f, order='C')
        xp.full_like(a, 2, order='F')
        xp.empty_like(f, order='K').strides
        xp.zeros_like(s)
        xp.zeros_like(f, shape=(2, 3, 4))
        xp.full_like(f.T, 1, dtype='i4')
    """,
    "dot into": """
        xp.dot(q, q, out=xp.zeros((2, 2)))
        xp.dot(q, q, out=xp.zeros((2, 2), order='F'))
        xp.dot(q, q, out=xp.zeros((2, 2), 'f4'))
        xp.dot(q, q, out=xp.zeros((2, 4))[:, ::2])
        xp.dot(q, q, out=xp.zeros((3, 2)))
        xp.dot(q, q[0], out=xp.zeros(2))
        xp.dot(q[0], q[0], out=xp.zeros(()))
        xp.dot(q, 2, out=xp.zeros((2, 2)))
        xp.dot(q, q, xp.zeros((2, 2), 'i8'))
        xp.dot(u, 2)
        xp.dot(2, u)
        xp.inner(u, 2)
    """,
    "small integers": """
        xp.angle(b)
        xp.angle(u)
        xp.angle(u, deg=True)
        xp.angle(m)
        xp.angle(b.astype('i2'))
        xp.angle(h)
        xp.angle(c)
        xp.sinc(h)
        xp.sinc(b)
        xp.sinc(h[0])
        xp.vectorize(lambda x: x + 1)(h)
        xp.vectorize(lambda x: x * 2.0)(h)
        xp.vectorize(lambda x: x)(h[:0], )
    """,
    "repeat": """
        xp.repeat(u, True)
        xp.repeat(u, False)
        xp.repeat(u, xp.bool_(True))
        xp.repeat(u, m)
        xp.repeat(u, [True, True, False])
        xp.repeat(n, 3)
        xp.repeat(n, 3, axis=0)
        u.repeat(True)
        xp.repeat(u, 2.0)
        xp.repeat(u, -1)
        xp.repeat(u, [1, 2])
        xp.repeat(a, [1, 0, 2], 0)
        xp.repeat(a, xp.array([2.0, 1, 1]), 0)
    """,
    "arrays without axes": """
        xp.squeeze(n)
        xp.squeeze(n, 0)
        xp.squeeze(n, -1)
        xp.squeeze(n, 1)
        xp.squeeze(n, ())
        n.squeeze(0)
        a.sum().squeeze()
        xp.take(n, 0)
        xp.take(n, [0, 0])
        xp.take(n, 0, axis=0)
        xp.take(n, [[0], [-1]], axis=-1)
        xp.take(n, 1)
        n.take(0)
        n.take([0])
        xp.take(2.5, [0])
        xp.argsort(n)
        xp.argsort(n, 0)
        xp.argsort(n, 1)
        xp.argsort(n, None)
        xp.argsort(3)
        n.argsort()
        xp.argpartition(n, 0)
        xp.sort(n)
        xp.cumsum(n)
        xp.cumsum(n, 0)
        xp.nancumsum(n, 0)
        xp.compress([True], n)
        xp.compress([True], n, 0)
        xp.ptp(n, 0)
        xp.mean(n, 0)
        xp.sum(n, -1)
        xp.packbits(k > 3, 0)
    """,
    "einsum": """
        xp.einsum('->', n)
        xp.einsum('->', 3.5)
        xp.einsum('', n)
        xp.einsum('->', a)
        xp.einsum('ij->', a)
        xp.einsum('...->', n)
        xp.einsum('...->...', n)
        xp.einsum(',->', n, n)
        xp.einsum('ij->ji', a)
        xp.einsum('ii->i', q)
        xp.einsum('ij', a)
        xp.einsum('ji', a)
        xp.einsum('ij->ij', f)
        xp.einsum('ii', q)
        xp.einsum(a, [0, 1], [1, 0])
    """,
    "spreads of integers": """
        xp.std(a, dtype='i8')
        xp.var(i, dtype='i4')
        xp.var(i, 0, dtype='i8', ddof=1)
        xp.std(i, 1, dtype='i8')
        xp.var(a, dtype='?')
        xp.var(c, dtype='f8')
        xp.std(c, dtype='i8')
        a.var(dtype='i8')
        a.std(0, 'i4')
        xp.var(i, dtype='i8', keepdims=True)
        xp.var(i, dtype='i8', where=i > 0)
        xp.var(i, 0, 'i8', xp.zeros(3))
        xp.std(i, 0, 'i8', xp.zeros(3))
        xp.mean(i, dtype='i8')
        xp.mean(u, dtype='u1')
        xp.mean(i, 0, 'i8', xp.zeros(3))
    """,
    # Of power.reduce NumPy gives wrong results along the last axis.
    "reductions under a mask": """
        xp.subtract.reduce(a, where=a > 2, initial=100)
        xp.subtract.reduce(a, 1, where=a > 2, initial=1)
        xp.subtract.reduce(a, where=a > 2)
        xp.divide.reduce(a + 1, where=a > 2, initial=1)
        xp.floor_divide.reduce(a + 1, 1, where=a < 9, initial=1000)
        xp.power.reduce(a, 0, where=a > 1, initial=1.01)
        xp.remainder.reduce(i + 9, 0, where=i > 0, initial=50)
        xp.arctan2.reduce(a, 0, where=a > 4, initial=1)
        xp.fmod.reduce(a + 1, 1, where=a != 2, initial=77, keepdims=True)
        xp.copysign.reduce(a, 1, where=a > 2, initial=-1)
        xp.left_shift.reduce(i.astype('i8') + 2, 0, where=i > 0, initial=1)
        xp.subtract.reduce(a, where=False, initial=4)
        xp.subtract.reduce(a, (0, 1), where=a > 2, initial=4)
        xp.maximum.reduce(a, where=a > 2, initial=-1)
        xp.maximum.reduce(a, where=a > 2)
        xp.fmin.reduce(a, where=a > 2, initial=50)
        xp.hypot.reduce(a, where=a > 2)
        xp.subtract.reduce(e, 0, where=e > 0, initial=3)
    """,
    "powers of two": """
        xp.ldexp(a, 10**30)
        xp.ldexp(a, -10**30)
        xp.ldexp(1.5, 10**30)
        xp.ldexp(h, 10**10)
        xp.ldexp(xp.ones(5000), 10**30)
        xp.ldexp(a, 2**31)
        xp.ldexp(a, 3)
        xp.ldexp(3, 3)
        xp.ldexp(a, 2.0)
        xp.ldexp(u, b[:3])
    """,
    "own data": """
        a.flags.owndata
        a.T.flags.owndata
        a[1:].flags.owndata
        a.copy().flags['OWNDATA']
        a.reshape(-1).flags.owndata
        a.reshape(4, 3).copy().flags.owndata
        (a + 1).flags.owndata
        xp.zeros(3).flags.owndata
        xp.arange(6).reshape(2, 3).flags.owndata
        xp.asarray(a).flags.owndata
        a.view().flags.owndata
        a.ravel().flags.owndata
        f.ravel().flags.owndata
        a.flatten().flags.owndata
        xp.broadcast_to(n, (2, 2)).flags.owndata
        xp.squeeze(a[None]).flags.owndata
        a.real.flags.owndata
        c.real.flags.owndata
        xp.diagonal(q).flags.owndata
        xp.diag(u).flags.owndata
        xp.split(a, 3)[0].flags.owndata
        xp.einsum('ij->ji', a).flags.owndata
        a.astype('f8', copy=False).flags.owndata
        a.astype('f4').flags.owndata
    """,
}
STATEMENTS = {
    "putmask": [
        "xp.putmask(e, e > 0, [])",
        "xp.putmask(e, e > 0, e)",
        "xp.putmask(e, e > 0, 1.0)",
        "xp.putmask(e, e > 0, [1.0, 2])",
        "xp.putmask(a, a > 3, [])",
        "xp.putmask(a, a > 3, [7.0, 8])",
        "xp.putmask(a, a > 30, 7)",
        "xp.putmask(a, a[0] > 3, 7)",
        "xp.putmask(u, u > 3, -1)",
        "xp.putmask(n, True, 4.0)",
    ],
    "written views": [
        "xp.einsum('ij->ji', a)[0] = -1",
        "xp.einsum('ii->i', q)[...] = 5",
        "xp.einsum('ij', a)[1] = 3",
        "xp.squeeze(n, 0)[...] = 9",
        "xp.take(a, 0, 0)[...] = 9",
        "xp.take(a, [0], 0)[...] = 9",
        "xp.repeat(a, 1)[...] = 9",
        "xp.roll(a, 0)[...] = 9",
        "xp.split(a, 3)[1][...] = 9",
        "xp.diagonal(q)[...] = 1",
        "xp.diag(q)[...] = 1",
        "n[True] = 6",
        "n[False] = 6",
        "a[True] = 6",
        "a[False] = 6",
        "a[[[]]] = 6",
        "a[[]] = 6",
        "a[1, True] = 6",
        "n[xp.array(True)] = 1",
        "k[...] = 3",
    ],
}


def world(xp):
    """The arrays in their own memory, with the strides of DATA."""
    made = {}
    for name, x in DATA.items():
        whole = x.base if name == "s" else x
        y = xp.array(whole.reshape(3, 8)[:, ::2] if name == "s" else whole, order="K")
        made[name] = y
    return {"xp": xp, "np": np, **made}


@pytest.mark.parametrize("subject", CASES)
def test_expressions(subject):
    for text in filter(None, map(str.strip, CASES[subject].splitlines())):
        names = world(np), world(nb)
        want, got = (outcome(lambda n=n: eval(text, n)) for n in names)  # noqa: B023
        assert_same_outcome(got, want, 1e-6 if "f4" in text or "h" in text else 1e-14, text)
        if isinstance(want, np.ndarray) and want.ndim and subject != "empty lists as indices":
            assert type(got) is not np.ndarray, text


COUNTED = ("floor_divide", "remainder", "arctan2", "copysign")  # where no element is neutral


@pytest.mark.parametrize("subject", ["spreads of integers", "reductions under a mask"])
def test_without_a_fallback(subject):
    for text in filter(None, map(str.strip, CASES[subject].splitlines())):
        names, before = world(nb), nb.stats()["fallbacks"]
        result = outcome(lambda n=names, t=text: eval(t, n))
        counted = nb.stats()["fallbacks"] - before
        assert not counted or any(f"xp.{name}.reduce" in text for name in COUNTED), (text, result)


@pytest.mark.parametrize("text", list(itertools.chain.from_iterable(STATEMENTS.values())))
def test_statements(text):
    names = world(np), world(nb)

    def run(n):
        exec(text, n)

    want, got = (outcome(lambda n=n: run(n)) for n in names)
    assert_same_outcome(got, want, what=text)
    for name in DATA:
        np.testing.assert_array_equal(np.asarray(names[1][name]), names[0][name], f"{text} {name}")


ITERATED = [
    "[x + 1 for x in xp.nditer(a)]",
    "[x + y for x, y in xp.nditer([a, xp.arange(4)])]",
    "[x * 2 for x in xp.nditer(a, flags=['external_loop'])]",
    "[x * 2 for x in xp.nditer(f, order='F')]",
    "[x * 2 for x in xp.nditer(i, flags=['buffered'], op_dtypes=['f8'])]",
    "xp.nditer([a, None]).operands[1] * 0",
    "xp.nditer(a, flags=['multi_index']).multi_index",
    "xp.nditer(a).value",
    "len(xp.nditer(a))",
    "xp.nditer([a, u])",
    "xp.nditer(a, flags=['no such'])",
    "xp.nditer(a)[0]",
    "next(xp.nditer(a.T))",
    "[x.copy() for x in xp.nditer(e, flags=['zerosize_ok'])]",
    "list(xp.nditer(e))",
    "xp.nditer(n).shape",
    "xp.nditer(a).iternext()",
    "xp.nditer(a, op_flags=['readonly']).itviews[0]",
]


@pytest.mark.parametrize("text", ITERATED)
def test_nditer(text):
    want, got = (outcome(lambda n=n: eval(text, n)) for n in (world(np), world(nb)))
    assert_same_outcome(got, want, what=text, layout=False)
    several = isinstance(want, list) and got
    assert type(got[0] if several else got) is not np.ndarray


def test_nditer_writes():
    a, b = nb.arange(6.0).reshape(2, 3), nb.zeros((2, 3))
    with nb.nditer([a, b], op_flags=[["readwrite"], ["writeonly"]]) as it:
        assert it.operands[0] is a
        for x, y in it:
            x[...] = 2 * x
            y[...] = x + 1
    np.testing.assert_array_equal(np.asarray(a), [[0, 2, 4], [6, 8, 10]])
    np.testing.assert_array_equal(np.asarray(b), [[1, 3, 5], [7, 9, 11]])
    it = nb.nditer(a, flags=["multi_index"], op_flags=["readwrite"])
    for x in it:
        x[...] = it.multi_index[0]
    np.testing.assert_array_equal(np.asarray(a), [[0, 0, 0], [1, 1, 1]])
    it = nb.nditer([b, None])
    for x, y in it:
        y[...] = -x
    np.testing.assert_array_equal(np.asarray(it.operands[1]), [[-1, -3, -5], [-7, -9, -11]])


NUMBERS = (True, 1, 300, -1, 1.5, 1j, float("nan"), 2**70)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_copyto_of_numbers(number):
    for dtype in "?bBhHiIlLefdFD":
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe", "no such"):
            text = f"copyto({dtype}, {number!r}, {casting!r})"
            if casting == "unsafe" and number != number and dtype in "?bBhHiIlLFD":
                continue  # what NaN becomes is left open
            if dtype == "?" and number == 2**70:
                continue  # NumPy has no truth of it
            results = []
            for xp in (np, nb):
                x = xp.ones(3, dtype)
                call = outcome(lambda x=x, xp=xp, c=casting: xp.copyto(x, number, c))
                results.append((call, x))
            (want, real), (got, ours) = results
            if isinstance(want, Exception):
                assert isinstance(got, (TypeError, ValueError, OverflowError)), text
                both = isinstance(got, OverflowError) == isinstance(want, OverflowError)
                assert both or casting == "equiv" or dtype == "?", (text, got, want)
            else:
                assert got is None, (text, got)
            np.testing.assert_array_equal(np.asarray(ours), real, text)


VIEWS = ["f8,f8", [("x", "f8")], "V8", "V4", ">f8", ">f4", "S8", "U2", "M8[s]", "m8[D]", "g"]


@pytest.mark.parametrize("dtype", VIEWS, ids=str)
def test_views_of_other_types(dtype):
    """Types that only NumPy has: its view of the same memory, or an error that says so."""
    a, real = nb.arange(6.0), np.arange(6.0)
    want = outcome(lambda: real.view(dtype))
    got = outcome(lambda: a.view(dtype))
    if str(a.device) != "cpu":
        assert isinstance(got, TypeError), got
        assert "dtype of NumPy's on a GPU" in str(got)
    elif isinstance(want, Exception):
        assert isinstance(got, type(want)), got
    else:
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.tobytes() == want.tobytes()
        a[0] = 5.0
        real[0] = 5.0
        assert got.tobytes() == want.tobytes()  # one memory


SWAPPED = np.array([1, 2, 300], ">i4")


@pytest.mark.parametrize(
    "text",
    [
        "xp.asarray(x)",
        "xp.add(x, 1)",
        "xp.add(u, x)",
        "x + u",
        "u + x",
        "xp.sum(x)",
        "xp.where(x > 1, x, 0)",
        "xp.sort(x)",
        "xp.concatenate([x, u])",
        "a[:, x[:2]]",
        "xp.array(x)",
        "xp.array(x, 'f4')",
        "xp.take(a, x[:2])",
        "xp.dot(x, x)",
        "a.astype('>f4')",
        "xp.zeros(3, '>f8')",
        "xp.add(u, 1, dtype='>i4')",
        "xp.sum(a, dtype='>f4')",
        "xp.frombuffer(bytes(range(8)), '>i2')",
        "xp.add(u, 1, out=np.zeros(3, '>i8'))",
    ],
)
def test_swapped_bytes(text):
    results = [outcome(lambda n=xp: eval(text, {"x": SWAPPED, **world(n)})) for xp in (np, nb)]
    want, got = results
    if isinstance(want, Exception):
        assert isinstance(got, type(want).__mro__[-3]), (got, want)
        return
    assert not isinstance(got, Exception), got
    assert got.dtype.newbyteorder("=") == np.asarray(want).dtype.newbyteorder("=")
    np.testing.assert_array_equal(np.asarray(got), want)


def test_records():
    made = nb.core.records.fromarrays([[1, 2], [3.0, 4.0]], names="a,b")
    assert made.a.tolist() == [1, 2] and made.dtype.names == ("a", "b")
    assert nb.rec.fromarrays([nb.arange(2), nb.ones(2)], names="x,y").y.tolist() == [1.0, 1.0]
    assert nb.core.records.array is np.rec.array or callable(nb.core.records.array)


class Kept(np.ndarray):
    """A subclass without behaviour of its own."""


class Told(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) for x in inputs]
        return "told", ufunc.__name__, method, getattr(ufunc, method)(*plain, **kwargs).tolist()


class Asked:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "asked", ufunc.__name__, method, sorted(kwargs)


class Refusing:
    __array_ufunc__ = None

    def __radd__(self, other):
        return "added"


@pytest.mark.parametrize(
    "text",
    [
        "xp.add(u, x)",
        "u + x",
        "x + u",
        "xp.sin(x)",
        "xp.add(x, u, dtype='f8')",
        "xp.add.outer(u, x)",
        "xp.multiply.outer(x, u)",
        "xp.add.reduce(x)",
        "xp.add.accumulate(x)",
        "u @ x",
        "xp.matmul(u, x)",
        "u < x",
        "-x",
    ],
)
@pytest.mark.parametrize("kind", [Kept, Told, Asked, Refusing])
def test_array_ufunc(kind, text):
    x = np.arange(1.0, 4).view(kind) if issubclass(kind, np.ndarray) else kind()
    results = [outcome(lambda n=xp: eval(text, {"x": x, **world(n)})) for xp in (np, nb)]
    want, got = results
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), (got, want)
    elif isinstance(want, (np.ndarray, np.generic)):
        assert isinstance(got, Kept) == isinstance(want, Kept), (type(got), type(want))
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    else:
        assert got == want


@pytest.mark.parametrize("value", [[1.0, np.nan], (1, 2), [[True]], 3.0, 5, np.float64(np.nan), 1j])
def test_nan_to_num_in_place_takes_arrays_alone(value):
    """Nothing else can be changed; NumPy has no array of it without a copy."""
    for module in (np, nb):
        with pytest.raises(ValueError):
            module.nan_to_num(value, copy=False)
        module.nan_to_num(value)


VIEWS = {
    "all": lambda a: a,
    "even": lambda a: a[::2],
    "odd": lambda a: a[1::2],
    "third": lambda a: a[2::3],
    "late": lambda a: a[10:],
    "early": lambda a: a[:10],
    "reversed": lambda a: a[9::-1],
    "empty": lambda a: a[:0],
    "element": lambda a: a[7, ...],
    "columns": lambda a: a.reshape(4, 5)[:, 1:3],
    "rows": lambda a: a.reshape(4, 5)[:, 3:],
    "bytes": lambda a: a.view(np.uint8)[3:5],
    "copy": lambda a: a.copy(),
}


@pytest.mark.parametrize("pending", [False, True])
def test_shared_memory(pending):
    """On devices whose memory the host cannot read, too."""
    ours, theirs = nb.arange(20.0), np.arange(20.0)
    if pending:
        ours, theirs = ours + 1, theirs + 1
    for one, other in itertools.product(VIEWS, VIEWS):
        for name in ("shares_memory", "may_share_memory"):
            want = getattr(np, name)(VIEWS[one](theirs), VIEWS[other](theirs))
            a, b = VIEWS[one](ours), VIEWS[other](ours)
            assert getattr(nb, name)(a, b) == want, (name, one, other)
            assert getattr(np, name)(a, b) == want, (name, one, other)
            assert getattr(nb, name)(a, b, max_work=-1) == getattr(np, name)(
                VIEWS[one](theirs), VIEWS[other](theirs), max_work=-1
            )
    assert nb.shares_memory(ours, "x") is np.shares_memory(theirs, "x")
    assert nb.count_nonzero(ours) == np.count_nonzero(theirs)


@pytest.mark.parametrize(
    "text",
    """a.sum(True)
    np.sum(a, axis=(True,))
    np.max(a, axis=np.True_)
    np.any(a, True)
    np.std(a, True)
    np.argmax(a, True)
    np.nansum(a, True)
    np.count_nonzero(a, True)
    np.add.reduce(a, True)
    np.add.accumulate(a, True)
    np.transpose(a, (True, False))
    np.concatenate([a, a], True)
    np.eye(True)
    np.eye(3, np.False_)
    np.eye(2.0)
    np.eye(3, k=1.5)
    np.identity(True)
    np.eye(3, k=True)
    np.sort(a, True)
    np.zeros((True, 2))
    np.moveaxis(a, True, False)
    np.cumsum(a, True)
    a.cumprod(True)
    np.cumulative_sum(a, axis=True)
    np.nancumsum(a, axis=False)
    np.argsort(a, True)
    np.argpartition(a, 1, True)
    np.argpartition(a, True)
    np.partition(a, True)
    np.take(a, [0], True)
    np.compress([True], a, True)
    np.repeat(a, 2, True)
    np.repeat(a, True)
    np.squeeze(a[:1], False)
    np.vander(a[0], True)
    np.packbits(a.astype(bool), False)
    np.unpackbits(a.astype("u1"), count=True)
    np.trapezoid(a, axis=True)
    np.unwrap(a, axis=True)
    np.bincount(a[0].astype(int), minlength=True)
    np.tensordot(a, a, ([True], [1]))
    np.tensordot(a, a.T, True)
    np.mask_indices(True, np.triu)
    np.fft.fft(a, True)
    np.fft.fft(a, axis=True)
    np.convolve(a[0], a[0], True)
    np.correlate(a[0], a[0], np.True_)
    np.vecdot(a, a, axis=True)
    np.diff(a, True)
    np.flip(a, True)
    np.roll(a, True)
    np.split(a, 3, True)
    np.median(a, True)""".split("\n    "),
)
def test_booleans_for_integers(text):
    """As NumPy: some functions take them, sums, scans and transpositions do not."""
    given = np.arange(6.0).reshape(2, 3)
    try:
        want = eval(text, {"np": np, "a": given})
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            eval(text, {"np": nb, "a": nb.asarray(given)})
    else:
        got = eval(text, {"np": nb, "a": nb.asarray(given)})
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("word", ["blah", "", 3, None])
@pytest.mark.parametrize(
    "text",
    """einsum("ij->i", a, casting=w)
    einsum("ij,kj", a, a, casting=w)
    einsum("", 1, casting=w)
    concatenate([a, a], casting=w or 0)
    add(a, 1, casting=w)
    matmul(a, a.T, casting=w)
    clip(a, 0, 1, casting=w)
    divmod(a, 2, casting=w)
    sort(a, kind=w or "x")
    argsort(a, kind=w or 3)
    partition(a, 1, kind=w)
    searchsorted(a[0], 1, side=w)
    percentile(a, 50, method=w)
    meshgrid(a[0], a[0], indexing=w)
    linalg.qr(a, w)""".split("\n    "),
)
def test_words_that_are_none(text, word):
    """TypeError or ValueError, as NumPy has them; no word is taken unread."""
    given = np.arange(6.0).reshape(2, 3)
    errors = []
    for library in (np, nb):
        space = {name: getattr(library, name) for name in dir(library) if name[0] != "_"}
        with pytest.raises((TypeError, ValueError)) as caught:
            eval(text, space | {"a": library.asarray(given), "w": word})
        errors.append(caught.type)
    assert errors[0] is errors[1]


@pytest.mark.parametrize("letter", "?bBhHiIlLqQefdFD")
def test_sort_in_place_of_few(letter):
    """NumPy sorts them where they lie: parts, rows turned round, what other views see."""
    rng = np.random.default_rng(ord(letter))
    given = (rng.standard_normal((4, 6)) * 50).astype(letter)
    if given.dtype.kind in "fc":
        given[1, 2], given[2, 0], given[3, 3], given[3, 4] = np.nan, -np.inf, -0.0, 0.0
    for text in ("a", "a[0]", "a[:, ::-2]", "a.T", "a[1:3, 2:4]", "a[0, :0]", "a[::-1]"):
        for axis in (-1, 0, True):
            x, y = given.copy(), nb.asarray(given.copy())
            whole = y.copy()
            eval(text, {"a": x}).sort(axis) if eval(text, {"a": x}).ndim > 1 else x[0].sort()
            part = eval(text, {"a": y})
            part.sort(axis) if part.ndim > 1 else y[0].sort()
            if letter == "e":  # NumPy's sort of half floats makes NaNs of its own
                np.testing.assert_array_equal(np.asarray(y), x)
            else:
                assert np.asarray(y).tobytes() == x.tobytes()
            assert np.asarray(whole).tobytes() == given.tobytes()
    frozen = nb.asarray(given.copy())
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        frozen.sort()
    pending = nb.asarray(given.copy())
    double = pending * 2
    pending.sort()
    np.testing.assert_array_equal(np.asarray(double), given * 2)


@pytest.mark.parametrize("dtype", [None, float, "f", int])
@pytest.mark.parametrize("wishes", [None, "C", "F", ["W"], ["c", "writeable"], ["O", "A"], "E"])
def test_require(dtype, wishes):
    whole = np.arange(12.0).reshape(3, 4)
    for text in ("a", "a.T", "a[:, ::2]", "a[1]", "frozen(a)"):

        def frozen(a):
            a.flags.writeable = False
            return a

        got, want = [
            m.require(x, dtype, wishes)
            for m, x in [
                (m, eval(text, {"a": m.asarray(whole.copy()), "frozen": frozen})) for m in (nb, np)
            ]
        ]
        assert got.dtype == want.dtype and got.strides == want.strides
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE"):
            assert got.flags[flag] == want.flags[flag], (text, flag)
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("start", [0, 8, 24, 72, 80, 88, 120])
def test_indices_in_foreign_memory(start):
    """An index beside the elements, or among them, in memory that is NumPy's."""
    results = []
    for library in (np, nb):
        memory = np.zeros(160, np.uint8)
        x = library.asarray(memory[:80].view(float))
        k = library.asarray(memory[start : start + 24].view(np.int64))
        x.put(k, library.asarray([1.0, 2.0, 3.0]))
        x.put([0, 9], 5.0)
        results.append(np.asarray(x).tobytes())
    assert results[0] == results[1]
