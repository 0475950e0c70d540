"""Compiled functions: arguments that NumPy takes by position are read or refused."""

import warnings

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

CALLS = """
a.ravel('F') / a.ravel(order='F') / a.ravel('K') / a.ravel('A') / a.ravel(order='K')
a.flatten('F') / a.flatten(order='K') / a.flatten('A') / np.ravel(a,'F')
np.ravel(a, order='A') / a.reshape(-1, order='F') / np.reshape(a,-1,'F')
np.reshape(a,-1,order='F') / np.reshape(a,(-1,),order='C') / a.reshape((3,2),order='F')
np.array(a,order='F').ravel() / np.asarray(a,np.float64,'F') / a.copy('F') / a.copy(order='K')
np.copy(a,'F') / a.astype(np.float32,'F') / np.sort(a,None) / np.sort(a,0)
a.sum(0,np.float32) / a.sum(None,None) / np.clip(a,1,2,a) / a.mean(0,np.float32) / a.argmax(0)
np.full((2,3),1.5,np.float32) / np.zeros((2,3),np.int8) / np.linspace(0,1,5,False)
np.arange(0,5,1,np.float32) / np.eye(3,4,1,np.int8) / np.round(a,1) / a.round(1)
np.where(a>1) / np.var(a,0,None,None,1) / np.var(a,0,ddof=1) / a.std(0,None,None,1)
np.max(a,0) / np.max(a,None) / np.sum(a,0,None,None,True) / np.cumsum(a,0) / np.cumsum(a,None)
a.cumsum(1) / np.diff(a,2) / np.diff(a,1,0) / np.flip(a,1) / np.roll(a,1,0) / np.repeat(a,2)
np.tile(a,(2,1)) / np.unique(a,True) / np.argsort(a,0) / np.argsort(a,None)
np.searchsorted(a[0],2.5,'right') / np.digitize(a[0],a[0],True) / np.tril(a,1) / np.trace(a,1)
np.diag(a,1) / np.median(a,0) / np.percentile(a,30,0) / np.quantile(a,.3,1)
np.histogram(a,4)[0] / np.bincount(np.array([1,2]),None,5) / np.interp(2.5,a[0],a[0],-1,9)
np.nan_to_num(a,True,1.0) / np.isclose(a,a,0.1,0.1) / np.allclose(a,a+1,1.0,1.0)
np.concatenate((a,a),1) / np.concatenate((a,a),None) / np.stack((a,a),1) / np.append(a,a)
np.append(a,a,1) / np.delete(a,0,0) / np.delete(a,0) / np.insert(a,0,1.0)
np.insert(a,0,1.0,1) / np.take(a,[0],1) / np.expand_dims(a,1) / np.swapaxes(a,0,1)
np.count_nonzero(a,0) / np.nansum(a) / np.average(a,0) / np.average(a,None,a)
np.average(a,0,a) / np.ptp(a,0) / np.cov(a) / np.cov(a,a,True,False) / np.corrcoef(a)
np.cov(a,rowvar=False,bias=True) / np.trapezoid(a,None,2.0) / np.trapezoid(a,dx=2.0,axis=0)
np.gradient(a[0],2.0) / np.vander(a[0],2,True) / np.outer(a,a) / np.kron(a,a) / np.dot(a,a.T)
np.vdot(a,a) / np.inner(a,a) / np.tensordot(a,a,2) / np.matmul(a,a.T) / np.cross(a,a)
np.meshgrid(a[0],a[1])[0] / np.rot90(a,1) / np.rot90(a,2) / np.broadcast_to(a,(2,2,3))
np.array_equal(a,a,True) / np.nanpercentile(a,30) / np.angle(a,True) / np.angle(a)
np.fmod(a,2) / np.heaviside(a,.5) / np.ldexp(a,2) / np.select([a>1],[a],9.0)
np.argwhere(a>1) / np.flatnonzero(a>1) / np.partition(a,1,0) / np.argpartition(a[0],1)
np.unwrap(a[0]) / np.convolve(a[0],a[1],'same') / np.correlate(a[0],a[1],'full')
np.correlate(a[0],a[1]) / np.polyval(a[0],2.0) / np.linalg.norm(a,1)
np.linalg.norm(a,None,0) / np.linalg.norm(a,'fro') / np.linalg.norm(a,np.inf)
np.ediff1d(a,1.0,2.0) / np.intersect1d(a,a) / np.union1d(a,a) / np.setdiff1d(a,a[0])
np.setxor1d(a,a[0]) / np.isin(a,a[0]) / np.isin(a,a[0],False,True) / np.moveaxis(a,0,1)
np.array_split(a,2,1)[0] / np.split(a,3,1)[0] / np.hsplit(a,3)[0] / np.logspace(0,1,5)
np.geomspace(1,8,4) / np.linspace(0,1,5,True,True)[1] / np.tri(3,4,1) / np.indices((2,3))
np.fill_diagonal(a,9.0) / np.put(a,[0],9.0) / np.copyto(a,1.0) / np.resize(a,(3,3))
np.pad(a,1) / np.pad(a,((1,0),(0,2))) / np.pad(a,1,'edge') / np.require(a) / np.nanmax(a,0)
np.nanmean(a) / np.all(a,0) / np.any(a,1) / a.all(0) / a.prod(1) / a.min(0) / a.var(0)
a.argsort(0) / a.repeat(2,1) / a.take([0],1) / a.transpose(1,0) / a.transpose((1,0))
a.swapaxes(0,1) / a.clip(1,2) / a.dot(a.T) / a.trace(1) / a.diagonal(1) / a.item(1)
a.item(1,2) / a.view(np.int64) / a.nonzero() / a.searchsorted(2.0) / a.conj() / a.any()
a.max(1) / a.choose(a) / a.partition(1) / a.fill(2.0) / a.sort(0) / a.resize(3,2)
np.float64(2.5).round(1) / np.prod(a,0) / np.nanstd(a,0) / np.nanvar(a,ddof=1)
np.nancumsum(a) / np.max(a,0,initial=5.0) / np.sum(a,where=a>2) / np.sum(a,initial=5.0)
np.min(a,1,keepdims=True) / a.sum(axis=(0,1)) / a.sum(axis=-1,keepdims=True)
np.argmax(a,1,keepdims=True) / np.mean(a,where=a>2) / np.std(a,1,ddof=1,keepdims=True)
""".replace(" / ", "\n").split("\n")
NUMBERS = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 0.5]])


def _function(expression, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n\n\ndef f(a):\n    return {expression}\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["f"]


def _outcome(function, a):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(a)
        except CompileError:
            raise
        except Exception as error:
            return type(error)


def _compare(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            _compare(g, w)
    elif want is None or isinstance(want, type):
        assert got is want
    else:
        assert np.shape(got) == np.shape(want)
        if isinstance(want, np.ndarray):
            assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, 1e-6)


@pytest.mark.parametrize("expression", [e for e in CALLS if e])
def test_as_numpy(expression, tmp_path):
    """Of an array in Fortran's order, where an order that is not read shows."""
    function = _function(expression, tmp_path)
    theirs, ours = NUMBERS.copy("F"), NUMBERS.copy("F")
    want = _outcome(function, theirs)
    try:
        got = _outcome(njit(function), ours)
    except UnsupportedError:
        pytest.skip("not yet")
    except CompileError:
        assert want in (TypeError, AttributeError)
        return
    _compare(got, want)
    np.testing.assert_array_equal(ours, theirs)
