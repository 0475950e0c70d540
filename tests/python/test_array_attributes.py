"""Every attribute, method and operator of arrays, also with what does not fit: on arrays of many
types and layouts each expression has NumPy's value, type, shape and class of error.
"""

import gc
import weakref

import numbus as nb
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus]

EXPRESSIONS = """
    x.T; x.mT; x.base is None; x.dtype; x.flags.c_contiguous; x.flags.behaved; x.flags.carray;
    x.flags['C']; x.flat[0]; x.imag; x.real; x.size; x.itemsize; x.nbytes; x.ndim; x.shape;
    x.all(); x.any(); x.argmax(); x.argmin(); x.argpartition(0); x.argsort(); x.astype('f4');
    x.astype('U5'); x.astype(object); x.astype('S3'); x.byteswap(); x.choose([1,2,3,4,5,6,7]);
    x.clip(1,2); x.compress([1,0]); x.conj(); x.conjugate(); x.copy(); x.cumprod(); x.cumsum();
    x.diagonal(); x.dot(x); x.fill(1); x.flatten(); x.getfield('u1'); x.item(); x.item(0);
    x.max(); x.mean(); x.min(); x.nonzero(); x.partition(0); x.prod(); x.put([0],9); x.ravel();
    x.repeat(2); x.reshape(-1); x.round(); x.setfield(1,'u1');
    x.setflags(write=False); x.sort(); x.squeeze(); x.sum(); x.swapaxes(0,-1); x.take([0]);
    x.tobytes(); x.tolist(); x.to_device('cpu'); x.trace(); x.transpose(); x.view('u1');
    x.view(np.ndarray).shape; x.newbyteorder(); x.ptp(); x.itemset(0,1); x.tostring();
    x.__array__().dtype; x.__copy__(); x.__deepcopy__({}); bool(x);
    int(x); float(x); complex(x); len(x); x.__index__(); list(x); x==None; x is None; x!=[];
    x=='a'; x<'a'; x in [1]; 1 in x; x@x; x**2; -x; ~x; abs(x); divmod(x,2); x//2; x%2; x<<1;
    x&1; x|True; x^1; x[()]; x[...]; x[None]; x[0]; x[-1]; x[True]; x[False]; x[[True,False]];
    x[[0]]; x[[]]; x[()].shape; x[0:1]; x[::-1]; x['a']; x[1.0]; x[None,...,0]; x[(0,)];
    x[[[0]]]; x[np.array(0)]; x[np.newaxis,0]; format(x); format(x,'.2f'); f'{x}'; str(x);
    repr(x); x.tolist().__class__; x.real.dtype; sum(x); max(x); min(x); sorted(x); any(x);
    all(x); x.__class__.__name__; x+[1]; [1]+x; x+(1,); x+None; x+'a'; x*1j; x+np.float32(1);
    x+10**30; x+True; x/0; x//0; x%0; x.dtype.type(3)+x; np.float64(2)*x; np.array([1.])*x;
    x.__setitem__(0,None); x.__setitem__(0,'a'); x.__setitem__(0,'5');
    x.__setitem__(slice(None),1j); x.__setitem__(0,np.nan); x.__setitem__(0,10**30);
    x.__delitem__(0); x.__contains__(1); x.__matmul__(1); x.__divmod__(2); x.__round__();
    round(x); x.sort(order='a'); x.sort(axis=None); x.sum(axis=5); x.sum(axis=(0,0));
    x.sum(dtype='U1'); x.mean(dtype=int); x.max(initial=100); x.max(where=x>1,initial=0);
    x.min(axis=0,keepdims=True); x.argmax(keepdims=True); x.round(2); x.round(-1); x.clip(min=1);
    x.clip(2,1); x.astype(int,casting='safe'); x.astype('f8',copy=False) is x; x.reshape(7);
    x.reshape((-1,-1)); x.transpose(0); x.transpose(0,0); x.swapaxes(0,5); x.repeat([1,2]);
    x.take(99); x.take(99,mode='wrap'); x.take(99,mode='clip'); x.put(99,1); x.searchsorted('a');
    x.view('i3'); x.view('f8'); x.tobytes('F'); x.tolist()*2; x.flatten('F'); x.ravel('K');
    x.copy('F').flags.f_contiguous; x.nonzero()[0]; list(reversed(x)); len(x[::2])
"""
ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.arange(4),
    np.array(3.5),
    np.zeros((0, 3)),
    np.array([True, False]),
    (np.arange(3) + 1j).astype("F"),
    np.arange(12).reshape(3, 4)[::2, ::-1].T,
    np.float16([1, 2]),
]


def _plain(value):
    """A value with NumPy's arrays in place of ours."""
    if isinstance(value, (tuple, list)):
        made = map(_plain, value)
        return tuple(made) if isinstance(value, tuple) else list(made)
    return np.asarray(value) if isinstance(value, nb.ndarray) else value


def _is_same(ours, real):
    if isinstance(real, (tuple, list)):
        return len(ours) == len(real) and all(map(_is_same, ours, real))
    if isinstance(real, (np.ndarray, np.generic)):
        ours = np.asarray(ours)
        if ours.dtype != real.dtype or ours.shape != real.shape:
            return False
        return np.array_equal(ours, real, equal_nan=real.dtype.kind in "fc")
    return type(ours) is type(real) and (ours == real or repr(ours) == repr(real))


def _value(text, x):
    try:
        value = eval(text, {"x": x, "np": np})
        return _plain((value, x) if value is None else value)  # or what it did to the array
    except Exception as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [t.strip() for t in EXPRESSIONS.split(";")])
def test_expression(text):
    if text == "x.ptp()" and hasattr(nb.ndarray, "ptp"):
        pytest.skip("another test has loaded CuPy's names, which has this method")
    for a in ARRAYS:
        real, ours = _value(text, a.copy()), _value(text, nb.asarray(a.copy()))
        where = f"{a.dtype} {a.shape}: {ours!r} for {real!r}"
        if isinstance(real, Exception):
            related = isinstance(ours, type(real)) or isinstance(real, type(ours))
            assert isinstance(ours, Exception) and related, where
        else:
            assert not isinstance(ours, Exception) and _is_same(ours, real), where


def test_all_attributes():
    assert not [n for n in dir(np.ndarray) if n[0] != "_" and not hasattr(nb.ndarray, n)]


def test_vectorize_of_texts():
    """A function that would compile is called by NumPy for elements that only it holds."""
    f = nb.vectorize(lambda s: s + "!")
    assert f(np.array(["a", "bc"])).tolist() == ["a!", "bc!"]
    assert f(["a", "bc"]).tolist() == ["a!", "bc!"]
    assert nb.vectorize(lambda s: s * 2)(nb.arange(3)).tolist() == [0, 2, 4]


def test_state_of_pickles():
    a = np.arange(6.0).reshape(2, 3)
    ours = nb.zeros(1)
    for x in (a, np.array([True, False]), np.arange(3, dtype="i2"), np.zeros((0, 3), "c8")):
        for order in "CF":
            ours.__setstate__((1, x.shape, x.dtype, order == "F", x.tobytes(order)))
            assert ours.dtype == x.dtype and ours.shape == x.shape
            np.testing.assert_array_equal(np.asarray(ours), x)
    with pytest.raises(ValueError):
        ours.__setstate__((1, (3,), np.dtype(float), False, b"12"))


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (3, 1), (2, 3, 4), (0, 3), (4,), ()])
def test_imag_of_real_arrays_lies_as_numpys(shape):
    """Zeros in the order of the array's axes."""
    plain = np.ones(shape)
    backwards = plain[..., ::-1] if shape else plain
    for x in (plain, plain.T, np.broadcast_to(plain, (2, *shape)), backwards):
        got = nb.asarray(x).imag
        assert got.shape == x.imag.shape
        assert not np.asarray(got).any()
        if x.size:
            assert got.strides == x.imag.strides, (x.shape, x.strides)


def test_weak_references():
    """Caches hold arrays by them, as NumPy's."""
    for library in (np, nb):
        x = library.arange(5.0)
        known, ended = weakref.WeakValueDictionary(x=x, part=x[1:]), []
        weakref.finalize(x, ended.append, 1)
        gc.collect()
        assert known["x"] is x and "part" not in known and not ended
        part = x[1:]
        del x
        gc.collect()
        assert "x" in known and not ended and float(part.sum()) == 10
        del part
        gc.collect()
        assert "x" not in known and ended == [1]
