"""Machine code that the library carries: no compiler is needed, the bits are the interpreter's."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

PROGRAM = """
import numpy as np, numbus as nb
from numbus import _core
x = nb.array(np.linspace(0.5, 3, 100))
z = nb.array(np.linspace(0.5, 3, 100) * (1 + 2j))
results = [nb.exp(x), nb.arctan2(x, 2.0), x ** 1.5, nb.sin(x.astype("f4")), z * z, nb.exp(z)]
print(_core.prebuilt_count(), _core.stats()["compiles"], _core.stats()["interpreted"])
"""


def test_first_calls_need_no_compiler(core, tmp_path):
    if not core.prebuilt_count():
        pytest.skip("the library carries no code for this processor, or was built without it")
    environment = {**os.environ, "NUMBUS_CACHE_DIR": str(tmp_path), "NUMBUS_DEVICE": "cpu"}
    environment.pop("NUMBUS_AT_ONCE", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    count, compiles, interpreted = map(int, done.stdout.split())
    assert count > 100 and compiles == 0 and interpreted == 0, done.stdout
    assert not list(tmp_path.glob("*.o"))


@pytest.mark.parametrize("t", ["f4", "f8", "c8", "c16", "i4", "i8"])
def test_bits_are_those_of_the_interpreter(xp, core, t):
    rng = np.random.default_rng(7)
    draw = rng.normal(size=(4, 700)) * np.array([[1], [30], [1e-3], [1e5]])
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, 1e300]
    if t[0] == "i":
        values = (draw.ravel() * 10).astype(t)
    else:
        values = np.concatenate([draw.ravel(), np.repeat(special, 10), special * 10])
        if t[0] == "c":
            values = values + 1j * np.roll(values, 7)
        with np.errstate(all="ignore"):
            values = values.astype(t)
    x = xp.array(values[:1000])
    y = xp.array(np.roll(values, 411)[:1000])
    if t[0] == "i":
        y = abs(y) % 7 + 1
    before = core.set_at_once(1024)
    checked = 0
    try:
        for row in core.table():
            function = getattr(core, row["name"], None) or getattr(xp, row["name"], None)
            if function is None or row["nin"] > 2:
                continue
            for operands in [(x, y), (x, 2), (3, y)][: 1 if row["nin"] == 1 else 3]:
                made = []
                for mode in ("interp", "auto"):
                    core.set_mode(mode)
                    try:
                        with warnings.catch_warnings(), np.errstate(all="ignore"):
                            warnings.simplefilter("ignore")
                            made.append(np.asarray(function(*operands[: row["nin"]])))
                    except TypeError:
                        break  # it takes no such type
                if len(made) == 2:
                    checked += 1
                    same = made[0].tobytes() == made[1].tobytes()
                    if not same and made[0].dtype.kind in "fc":  # any NaN is any other's equal
                        reals = [m.view(m.real.dtype) for m in made]
                        bits = [r.view(f"u{r.itemsize}") for r in reals]
                        same = (
                            (bits[0] == bits[1]) | np.isnan(reals[0]) & np.isnan(reals[1])
                        ).all()
                    assert same, row["name"]
    finally:
        core.set_mode("auto")
        core.set_at_once(before)
    assert checked > 20
