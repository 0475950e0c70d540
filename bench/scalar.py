"""Access to single elements: `(a + b*c)[0]`, and `a[i] = a[i-1] + 1` in a Python loop."""

import numpy as np
from common import Library
from numbus_bench.timing import micro

TARGETS = {"expression": ("µs at most", 3.0), "loop": ("times NumPy at most", 3.0)}


def measure(name, quick):
    library = Library(name)
    r = np.random.default_rng(0)
    a, b, c = (library.array(r.random(1000)) for _ in range(3))
    n = 300 if quick else 3000

    z = library.array(np.zeros(1000))

    def loop():
        for i in range(1, 1000):
            z[i] = z[i - 1] + 1
        return z

    got = float((a + b * c)[0])
    want = float(library.host(a)[0] + library.host(b)[0] * library.host(c)[0])
    assert got == want, (got, want)
    assert float(loop()[999]) == 999.0
    return {
        "expression": micro(lambda: float((a + b * c)[0]), n) * 1e6,
        "expression, not converted": micro(lambda: (a + b * c)[0], n) * 1e6,
        "loop": micro(loop, 2 if quick else 20) / 999 * 1e6,
        "read a[i]": micro(lambda: a[5], n) * 1e6,
        "float(a[i])": micro(lambda: float(a[5]), n) * 1e6,
        "write a[i]": micro(lambda: a.__setitem__(5, 1.0), n) * 1e6,
    }


PEERS = ("numpy", "numbus")
UNIT = "µs"
