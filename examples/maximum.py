"""The largest value of each section of a signal, by arrays.

python examples/maximum.py [--module cupy]
python -m numbus examples/maximum.py [--module cupy]
"""

import common
import numpy as np

SECTIONS, BLOCK = 16, 128


def signal(n):
    """n values of float32: a slow swell under fast waves and noise."""
    x = np.linspace(0, 1, n)
    swell = np.sin(9 * x) + 0.3 * np.sin(700 * x)
    return (swell + 0.2 * np.random.default_rng(2).random(n)).astype(np.float32)


def maxima(x):
    return x.reshape(SECTIONS, -1).max(axis=1)


def length(chosen):
    """The wanted number of values, in sections of whole blocks."""
    return max(1, chosen.size // (SECTIONS * BLOCK)) * SECTIONS * BLOCK


def show(chosen, x, top):
    """Saves the maxima and draws them above the signal."""
    common.save(chosen, top)
    lines = {"signal": x[:: max(1, x.size // 1280)], "maximum of each section": np.repeat(top, 80)}
    common.curves(lines, chosen.picture)


def main():
    chosen = common.array_options(__doc__, 1 << 20, "values").parse_args()
    xp = common.array_module(chosen.module)
    x = signal(length(chosen))
    top = common.timed(f"maxima of {x.size} values", maxima, xp.asarray(x), xp=xp)
    show(chosen, x, common.host(top))


if __name__ == "__main__":
    main()
