"""pandas in user scripts takes Numbus's arrays for masks, keys, columns and operands, as it takes
NumPy's: each expression gives the same in a script run by Python and by `python -m numbus`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
ROOT = Path(__file__).resolve().parents[2]
READ = """df[m] | df[x > 1] | df.loc[m] | df.loc[m, 'a'] | df.loc[~m] | df.iloc[i] | df.iloc[m]
df.loc[i] | df[df.a > f] | df.groupby(x).sum() | df.groupby([x, 'k']).mean()
df.groupby(x)['a'].mean() | s.groupby(x).sum() | df.groupby(m).size() | pd.Series(x)
pd.Series(f, index=x) | pd.DataFrame({'u': x, 'v': f})
pd.DataFrame(f.reshape(5, 1), columns=['q']) | pd.DataFrame(x) | pd.Index(x) | pd.Index(f)
s[m] | s[i] | s.loc[m] | s.iloc[i] | s.isin(x) | s.where(m) | s.where(m, f) | s.mask(m, 0)
s + x | x + s | s * f | f - s | s > f | f < s | df['a'] + f | df.assign(z=f)
df.assign(z=lambda d: d.a * f) | pd.cut(f, 3) | pd.cut(s, f) | pd.qcut(x, 2, duplicates='drop')
pd.factorize(x) | pd.unique(x) | pd.concat([s, pd.Series(f)]) | s.reindex(x) | df.set_index(x)
df.drop(i[:1]) | s.take(i) | df.isin(x) | np.where(s > 2, f, 0) | np.sin(s) | np.add(s, f)
np.mean(s) | np.asarray(s) | np.array(df) | s.to_numpy() | df.values | s.values * f
np.dot(df.values.T, f) | s.dot(f) | df.T.dot(f) | df.dot(np.ones(2)) | df @ np.ones(2)
df.query('a in @x') | pd.isna(f) | pd.crosstab(x, m) | pd.crosstab(df.k, x)
df.pivot_table(index=x, values='a') | pd.merge(df, pd.DataFrame({'k': x}), on='k')
df.replace(x[:1], 9) | s.searchsorted(f) | s.rolling(2).mean() | s.clip(f, f + 2)
df.clip(lower=f, axis=0) | s.corr(pd.Series(f)) | df.sample(3, random_state=1)
df.eval('a + @f') | pd.to_numeric(x) | pd.date_range('2020', periods=3)[i % 3]
pd.get_dummies(x) | s.map(lambda v: f[int(v) % 5]) | s.apply(np.sqrt) | df.apply(np.sum)
df.agg(np.mean) | s.repeat(x) | pd.MultiIndex.from_arrays([x, f]) | pd.Series(x).value_counts()
df.rename(columns={'a': 'b'})[m] | df.sort_values('a', key=lambda c: c * f)
df.mask(np.stack([m, m], 1)) | df.where(np.stack([m, m], 1), 0) | s.idxmax() + x.max()
df.nlargest(x.min(), 'a') | df.head(x[1]) | s.shift(x[1]) | s.iloc[x[1]] | s[x[1]]
df.at[x[1], 'a'] | pd.Series(f.mean(), index=x) | pd.Series([f.sum(), f.max()])
pd.DataFrame([{'a': f.mean(), 'b': x.sum()}]) | df.fillna(f.mean()) | s.quantile(f)
np.quantile(s, f)"""
WRITTEN = """d['z'] = f
d['z'] = x > 1 | d.loc[m, 'a'] = 0 | d.loc[m, 'a'] = f[m] | d.iloc[i, 0] = f[i]
d[m] = 7 | d.a = f | d['w'] = f.mean() | d.loc[m] = 3.5 | d.insert(0, 'c', x) | d.index = x
d['a'] += f | d.iloc[:, 0] = f | d[['p', 'q']] = f.reshape(5, 1) * np.ones(2)
d.loc[:, 'r'] = x | d['z'] = np.where(m, d.a, f) | d.columns = np.array([1, 2])
d.iloc[m, 0] = 9"""
SCRIPT = """
import sys
import warnings
import numpy as np, pandas as pd

warnings.simplefilter("error")
x = np.array([3, 1, 2, 1, 3]); f = np.linspace(0, 1, 5); m = x > 1; i = np.array([4, 0, 2])
df = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "k": [1, 2, 1, 2, 1]})
s = pd.Series([5, 4, 3, 2, 1.0])

def written(code):
    d = df.copy()
    exec(code, globals(), {"d": d})
    return d

def text(value):
    return repr(np.asarray(value).tolist() if type(value) is np.ndarray else value)

for kind, cases in (("read", READ), ("written", WRITTEN)):
    for code in cases.replace(chr(10), " | ").split(" | "):
        try:
            found = text(eval(code) if kind == "read" else written(code))
        except Exception as error:
            found = type(error).__name__
        print(code, "=>", ascii(found))
print(type(df[m].values.sum() + x.sum()) is np.float64)
"""


def test_pandas_as_with_numpy(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "script.py"
    path.write_text(f"READ = {READ!r}\nWRITTEN = {WRITTEN!r}\n{SCRIPT}")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    outputs = []
    for runner in ([], ["-m", "numbus"]):
        command = [sys.executable, *runner, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    want, got = outputs
    assert len(want) > 120 and got[-1] == "True"
    assert [pair for pair in zip(got, want, strict=True) if pair[0] != pair[1]] == []


NUMBERS = """
import functools
import numpy as np, pandas as pd
df = pd.DataFrame({"g": list("aab"), "y": [1.0, 2, 5]})
y = df.y.values

def total(v, by=1):
    return np.sum(v.values) * by

print(df.groupby("g").y.agg(lambda v: np.ptp(v.values)).dtype, df.groupby("g").y.agg(np.mean).dtype)
print(df.groupby("g").agg({"y": total}).dtypes, df.groupby("g").y.agg([total, "sum"]).dtypes)
print(df.groupby("g").y.apply(functools.partial(total, by=2)), df.groupby("g").y.agg(u=total))
print(df.pivot_table(index="g", values="y", aggfunc=np.mean).dtypes)
print(pd.pivot_table(df, index="g", values="y", aggfunc=total).dtypes)
print(df.apply(lambda r: np.sqrt(r.y), axis=1), df.y.map(lambda v: np.sqrt(v)).dtype)
print(df.y.apply(lambda v: np.exp(v)), df.groupby("g").y.transform(lambda v: np.sum(v.values)))
print(pd.Series([np.sum(y), np.mean(y)]), pd.Series({"a": np.sum(y)}), pd.Series(np.sum(y)))
print(pd.DataFrame([{"a": np.sum(y), "b": "t"}]).dtypes, pd.DataFrame({"a": [np.sum(y)]}).dtypes)
"""


@pytest.mark.parametrize("device", ["cpu", "fenced"])
def test_numbers_that_functions_return_are_numpys(tmp_path, device):
    script = tmp_path / "returned.py"
    script.write_text(NUMBERS)
    told = []
    for runner in ([], ["-m", "numbus"]):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", *runner, str(script)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "NUMBUS_DEVICE": device},
        )
        assert run.returncode == 0, run.stderr
        told.append(run.stdout)
    assert told[0] == told[1]
