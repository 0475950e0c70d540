"""Complex numbers of Python's in loops that compile themselves."""

import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

AFTER = (1, 2, 50)

RESULTS = [
    "z * z + c", "z - c * 0.5", "z / c", "z / 3", "1 / z", "2 * z - 1", "z * True", "-z", "+z",
    "z ** 2 + c", "z ** 3", "z ** 4 * 1e-3", "z ** 0.5", "complex(z.imag, z.real)", "complex(i)",
    "z * 1e300", "z * x", "z + a[1]", "z + 1j", "(1 + 2j) / z", "z.conjugate()", "abs(z) + 0j",
    "f(z)", "f(z, 2)", "c if z == c else z * 0.9", "z if z else c", "z * 0", "z - z", "c / (z - z)",
    "z * (1j if i % 2 else -1j)", "min(z.real, z.imag) + c", "sum([z, c])", "z // 1", "z * 2**60",
]  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("result", RESULTS)
def test_results(result, after):
    check(f"""
        def f(p, q=0.5):
            if abs(p) > 1e3:
                return p * 1e-3
            return p * q - p / (q + 1j)
        def work(log):
            z, c, x, a, s = 0.5 - 0.25j, -0.7 + 0.27j, np.float64(0.5), np.arange(3.0), 0
            for i in range(90):
                try:
                    z = {result}
                except Exception as error:
                    log.append((i, repr(error)))
                    z = c
                if abs(z) > 2 or not z:
                    z = c * (i % 7)
                if abs(z) <= abs(c):
                    s += 1
                if z.real < z.imag:
                    s += 3
                if i % 13 == 0:
                    c = -c * 1.25
            return z, c, s
        log = []
        out = work(log)
    """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_kinds_of_a_name(after):
    check("""
        def escape(c, most):
            z = 0
            for n in range(most):
                if abs(z) > 2:
                    return n
                z = z * z + c
            return most
        def steps(c):
            z, n = c, 0
            while abs(z) <= 2.0 and n < 60:
                z = z * z + c
                n += 1
            return n
        rows, total = [], 0
        for y in range(12):
            for x in range(16):
                n = escape(complex(x / 6 - 2, y / 6 - 1), 60)
                total += n + steps(complex(x / 6 - 2, y / 6 - 1))
                rows.append(n)
        z = 3
        for k in range(70):
            if k % 10 == 0:
                z = k
            z = z * 0.5j
    """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("z", ["3 + 4j", "-2 + 0j", "2j", "0j", "1e200 + 1e200j",
                               "1e-200 + 1e-200j",
                               "complex(1.7e308, 1.7e308)", "complex('nan')", "complex('inf')",
                               "complex(-0.0, -0.0)", "1.2 + 1.6j"])  # fmt: skip
@pytest.mark.parametrize("limit", ["2", "2.0", "5", "0", "float('inf')", "x", "2**60", "abs(1j)"])
def test_absolute_values_beside_their_limit(z, limit, after):
    check(f"""
        z, x, s, log = {z}, 1.0, 0, []
        for i in range(70):
            try:
                if abs(z) > {limit}:
                    s += 1
                if abs(z) == {limit} or not abs(z) >= {limit}:
                    s += 100
            except OverflowError as error:
                log.append(str(error))
            w = z + 0
            z = -z
    """, after)  # fmt: skip
