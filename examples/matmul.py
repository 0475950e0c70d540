"""Matrix product by the library that the array module calls.

python examples/matmul.py [--module cupy]
python -m numbus examples/matmul.py [--module cupy]
"""

import common
import numpy as np


def waves(n):
    """Two n × n matrices of float32, whose product shows waves and some noise."""
    x = np.linspace(0, 1, n)
    noise = np.random.default_rng(3).random((n, n)) - 0.5
    a = np.sin(25 * x[:, None] * x[None, :]) + noise
    b = np.cos(17 * (x[:, None] - x[None, :] ** 2))
    return a.astype(np.float32), b.astype(np.float32)


def main():
    chosen = common.array_options(__doc__, 512, "rows and columns").parse_args()
    xp = common.array_module(chosen.module)
    a, b = (xp.asarray(m) for m in waves(chosen.size))
    c = common.host(common.timed(f"{chosen.size}² by the library", xp.matmul, a, b, xp=xp))
    common.save(chosen, c)
    common.colour_map(c, chosen.picture)


if __name__ == "__main__":
    main()
