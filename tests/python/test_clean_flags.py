"""Calls on plain numbers set no flags of floating-point errors: NumPy, which is asked what to warn
of where one is set, would take longer than the work.
"""

import numbus as nb
import numpy as np
import pytest
from numbus.core import float_errors

pytestmark = [pytest.mark.numbus]

CALLS = """
    a+b; a*b; a-b; a/b; a**2; a+1; 2*a; -a; a>b; a==b; np.sqrt(a); np.exp(a); np.log(a);
    np.sin(a); np.abs(a); np.maximum(a,b); np.minimum(a,0.5); np.where(a>b,a,b);
    np.clip(a,0.2,0.8); np.round(a,2); np.floor(a); a.astype('f4'); a.astype(int); a.copy();
    a[1:]; a[::2]; a[i]; a[m]; a[3]; a.reshape(2,-1); a.T; a.sum(); a.mean(); a.std(); a.var();
    a.min(); a.max(); a.argmax(); a.argsort(); np.sort(a); np.cumsum(a); np.diff(a);
    np.dot(a,b); a@b; np.outer(a[:10],b[:10]); np.linalg.norm(a); np.concatenate([a,b]);
    np.stack([a,b]); np.vstack([a,b]); np.zeros(n); np.ones(n); np.arange(n);
    np.linspace(0,1,n); np.array(l); np.asarray(a); np.unique(i); np.bincount(i); np.median(a);
    np.percentile(a,30); np.histogram(a,5); np.any(a>2); np.all(a>0); np.isnan(a);
    np.nonzero(m); np.argwhere(m); np.searchsorted(b,a); np.interp(a,b,a); np.convolve(a,c);
    np.roll(a,1); np.flip(a); np.repeat(a,2); np.tile(a,2); np.isin(i,k); np.intersect1d(i,k);
    np.gradient(a); np.average(a,weights=b); np.cov(a,b); np.corrcoef(a,b); np.polyfit(a,b,1);
    np.polyval(c,a); np.fft.fft(a); np.fft.rfft(a); np.einsum('i,i->',a,b); np.allclose(a,b);
    np.array_equal(a,b); np.nansum(a); np.nanmean(a); np.count_nonzero(m); a.tolist(); list(a);
    np.take(a,k); np.pad(a,1); np.meshgrid(a[:10],b[:10]); np.cross(v,w); np.trapezoid(a);
    np.digitize(a,b); np.partition(a,3); a.fill(1.5); np.add.reduce(a); a.var(ddof=1);
    a.std(axis=0); A2.var(axis=1); A2.std(axis=0); np.nanvar(a); np.nanstd(a);
    np.linalg.inv(M); np.linalg.det(M); np.linalg.solve(M,v); np.linalg.svd(M);
    np.linalg.eigh(M@M.T); np.linalg.qr(M); np.exp2(a); np.log1p(a); np.log2(a); np.log10(a);
    np.expm1(a); np.tanh(a); np.arctan2(a,b); np.hypot(a,b); np.power(a,b); a%b; a//b;
    np.fmod(a,b); np.cbrt(a); np.sinh(a); np.arcsin(a*0.5); np.logaddexp(a,b);
    np.interp(b,a,b); np.quantile(a,[.1,.9]); np.nanmedian(a); np.histogram(a);
    np.histogram2d(a,b); np.cumprod(a); np.prod(a); np.kron(M,M); np.fft.ifft(a);
    np.fft.fft2(M); np.unwrap(a); np.trapezoid(a,b); np.roots(c); np.vander(c); np.spacing(a);
    np.nextafter(a,b); np.sinc(a); np.i0(a); np.kaiser(10,3); np.geomspace(1,10,5);
    np.logspace(0,1,5); np.heaviside(a,b); a.astype('u1'); (a*100).astype('u1');
    a.astype('f2'); (a+1j).astype('F'); abs(a+1j); np.angle(a+1j); np.exp(a+1j); (a+1j)/(b+1j);
    (a+1j)**2; np.sqrt(a+1j); np.log(a+1j); f/2; np.exp(f); f.mean(); f.std(); f.sum();
    np.dot(f,f); h*2; h.mean(); h.sum(); i/2; i//3; i%3; i**2; i.mean(); i.std(); i/i.max();
    np.sqrt(i); np.log(i+1); np.linalg.norm(M); np.linalg.lstsq(M,v,rcond=None);
    np.linalg.pinv(M); np.linalg.cond(M); np.einsum('ij,j',M,v); np.nan_to_num(a); np.ptp(a);
    np.floor_divide(a,b); divmod(a,b); np.modf(a); np.frexp(a); np.ldexp(a,3); a.clip(0,1);
    np.median(A2,axis=1); np.percentile(A2,30,axis=0); A2.mean(axis=1); A2.max(axis=0);
    np.cov(A2); np.corrcoef(A2); A2@A2.T; np.average(A2,axis=1,weights=A2); np.gradient(A2);
    np.sum(a,where=m); np.mean(a,where=m); np.var(a,where=m); np.bartlett(7); np.blackman(7);
    np.hamming(7); np.round(a,-1)
"""


def _operands(n):
    rng = np.random.default_rng(1)
    x = rng.random(n)
    return dict(
        np=nb,
        n=n,
        a=nb.array(x),
        b=nb.array(np.sort(rng.random(n)) + 0.1),
        c=nb.array([0.5, 0.25, 0.25]),
        i=nb.array(rng.integers(1, min(n, 50), n)),
        k=nb.array([0, 2, 3]),
        m=nb.array(x > 0.3),
        v=nb.array([1.0, 2, 3]),
        w=nb.array([3.0, 0.5, 2]),
        l=x.tolist(),
        M=nb.array([[4.0, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]]),
        A2=nb.array(rng.random((4, max(n // 4, 2)))),
        f=nb.array(x.astype("f4")),
        h=nb.array(x.astype("f2")),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [4, 10, 30, 1000])
def test_numpy_is_not_asked(n, monkeypatch):
    asked, call = [], ""
    monkeypatch.setattr(float_errors, "_run", lambda *_, **__: asked.append(call))
    names = _operands(n)
    for call in [text.strip() for text in CALLS.split(";")]:
        eval(call, names)
        nb.synchronize()
    assert not asked
