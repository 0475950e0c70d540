"""Gradients of programs that call one or a few of NumPy's functions, against differences."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from gradient_check import check
from helpers import MODULE

pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="gradients are Numbus's")

X = np.random.default_rng(1).uniform(-1, 1, 30)
W = np.arange(30.0)


def put(np, x):
    y = x * 2
    np.put(y, [1, 2], x[:2])
    np.copyto(y, x, where=np.arange(30) % 3 == 0)
    np.place(y, np.arange(30) == 7, [3.0])
    return (y * W).sum()


def interpolated(np, xp):
    points = np.cumsum(np.exp(xp[:6]))
    values = np.interp(np.array([0.5, 2.0, 3.3, 40.0]), points, xp[6:12], left=xp[0] * 2)
    return (values * np.array([1.0, 2.0, 3.0, 4.0])).sum()


def indices_without_axes(np, x):
    """NumPy takes an array without axes for the integer that it is."""
    at, y = np.array(3), x.reshape(5, 6) * 1
    y[at, np.array(1)] = x[at] ** 2
    y[np.array(4)] = x[:6]
    return (y * y).sum() + np.take(x, at) * x[np.array(-1)] + (y[at] * y[np.array(0), 1:2]).sum()


PROGRAMS = {
    "indices_without_axes": indices_without_axes,
    "number": lambda np, x: np.i0(x.sum()) * np.i0(x[3]) + np.sinc(x[4]),
    "flat": lambda np, x: x.reshape(5, 6).T.flat[3] * x.flat[2],
    "interp_x": lambda np, x: np.interp(x, [-2.0, -0.5, 0.1, 2.0], [1.0, 3.0, 2.0, 5.0]).sum(),
    "interp_fp": lambda np, x: (
        np.interp([0.3, 0.9, -5.0, 5.0], [-2.0, -0.5, 0.1, 2.0], x[:4])
        * np.array([1.0, 2.0, 3.0, 4.0])
    ).sum(),
    "reduceat": lambda np, x: (np.add.reduceat(x * x, [0, 5, 7, 3, 20]) * np.arange(5.0)).sum(),
    "maxacc": lambda np, x: (np.maximum.accumulate(x) * np.arange(30.0)).sum(),
    "minacc": lambda np, x: (
        np.minimum.accumulate(x.reshape(5, 6), axis=0) * np.arange(30.0).reshape(5, 6)
    ).sum(),
    "ravel": lambda np, x: (x.reshape(5, 6).T.ravel() * np.arange(30.0)).sum(),
    "iter": lambda np, x: sum(v * v for v in x),
    "where1": lambda np, x: x[np.where(x > 0)].sum() + x[np.nonzero(x < 0)].prod(),
    "choose": lambda np, x: np.choose(np.arange(30) % 2, [x, x * x]).sum(),
    "select": lambda np, x: np.select([x > 0.3, x < -0.3], [x, x**2], x**3).sum(),
    "tile": lambda np, x: (np.tile(x, 2) * np.arange(60.0)).sum() + np.repeat(x, 3).prod(),
    "trapz": lambda np, x: np.trapezoid(x**2, dx=0.1) + np.diff(x).prod() * 1e3,
    "convolve": lambda np, x: (np.convolve(x, x[:5], "same") ** 2).sum(),
    "corr": lambda np, x: np.corrcoef(x.reshape(3, 10))[0, 1] + np.cov(x.reshape(3, 10)).sum(),
    "percentile": lambda np, x: (
        np.percentile(x, [10, 33.0]).sum() + np.quantile(x.reshape(5, 6), 0.3, axis=1).prod()
    ),
    "average": lambda np, x: np.average(x, weights=np.exp(x)),
    "nan": lambda np, x: np.nansum(x) + np.nanmean(x) * np.nanstd(x) + np.nan_to_num(x).sum(),
    "poly": lambda np, x: np.polyval(x[:4], x[4:]).sum() + np.polyval([1.0, 2.0, 3.0], x).sum(),
    "cross": lambda np, x: (np.cross(x[:3], x[3:6]) ** 2).sum() + np.kron(x[:2], x[:3]).sum() ** 2,
    "einsum": lambda np, x: (
        np.einsum("i,i,j->j", x, x, x).sum() + np.einsum("ii->i", x[:25].reshape(5, 5)).prod()
    ),
    "gradient": lambda np, x: (np.gradient(x) ** 2).sum(),
    "histw": lambda np, x: (np.bincount(np.arange(30) // 10, weights=x) ** 2).sum(),
    "insert": lambda np, x: (
        (np.insert(x, 3, x[0]) * np.arange(31.0)).sum()
        + (np.delete(x, 2) ** 2).sum()
        + np.append(x, x).prod()
    ),
    "triu": lambda np, x: (
        (np.triu(x[:25].reshape(5, 5)) @ np.tril(x[:25].reshape(5, 5))).sum()
        + np.trace(x[:25].reshape(5, 5))
    ),
    "searchs": lambda np, x: x[np.searchsorted(np.sort(x), [0.1, 0.2])].sum(),
    "unwrap": lambda np, x: np.unwrap(x * 6).sum(),
    "sinc": lambda np, x: np.sinc(x).sum() + np.i0(x).sum(),
    "sortaxis": lambda np, x: (
        np.sort(x.reshape(5, 6), axis=0) * np.arange(30.0).reshape(5, 6)
    ).sum(),
    "lexi": lambda np, x: x[np.argmax(x)] * x[np.argmin(x)],
    "complex": lambda np, x: np.abs(np.exp(1j * x).sum()) ** 2 + np.angle(x[0] + 1j * x[1]),
    "float_int": lambda np, x: (x * np.arange(30)).sum() + (x ** np.arange(30)).sum(),
    "tolist": lambda np, x: np.array([v * 2 for v in x]).sum(),
    "stackl": lambda np, x: np.stack([x[i : i + 3] for i in range(5)]).prod(),
    "vander": lambda np, x: np.vander(x[:4], 4).sum(),
    "apply": lambda np, x: np.apply_along_axis(lambda r: (r * r).sum(), 1, x.reshape(5, 6)).sum(),
    "special": lambda np, x: (np.logaddexp(x, 0.5) + np.log1p(np.exp(x))).sum(),
    "put": put,
    "interpolated": interpolated,
    "diag": lambda np, x: (np.diag(x[:5]) @ x[:5]).sum() + np.diag(x[:25].reshape(5, 5)).prod(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_function(xp, mode, name):
    check(xp, PROGRAMS[name], X, rtol=1e-5)


def test_example(tmp_path, monkeypatch, capsys):
    examples = Path(__file__).resolve().parents[2] / "examples"
    if not examples.is_dir():
        pytest.skip("not in a checkout")
    monkeypatch.syspath_prepend(str(examples))
    monkeypatch.setattr("sys.argv", "x --size 40 --steps 20 --iterations 60 --save f.npy".split())
    monkeypatch.chdir(tmp_path)
    example = importlib.import_module("inverse_heat")
    example.main()
    truth = example.hidden(40)
    seen = np.asarray(example.diffuse(truth.copy(), 20))
    found = np.load("f.npy")
    assert np.linalg.norm(found - truth) < np.linalg.norm(seen - truth) / 2.5
    assert "misfit" in capsys.readouterr().out
