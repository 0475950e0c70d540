#!/usr/bin/env python3
"""Derives the coefficients and constants of src/passes/math/coeffs.h and of
python/numbus/kernels/library/coefficients.py and writes these files.

Each polynomial is a weighted minimax fit (Remez exchange, mpmath at 60 digits). Coefficients are
rounded from the lowest power up to the target precision, and the rest is fitted again after each
rounding, so that the fit absorbs the rounding errors.
Needs mpmath:  python3 tools/gen_math.py [--check]   (half a minute).
"""

import argparse
import pathlib
import sys
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 60
BITS = {"f32": 24, "f64": 53}


def round_to(x, bits):
    """x rounded to the nearest number with this many significant bits."""
    if x == 0:
        return mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)


def truncate_to(x, bits):
    m, e = mp.frexp(x)
    return mp.ldexp(mp.floor(mp.ldexp(m, bits)), e - bits)


def horner(c, x):
    s = mpf(0)
    for a in reversed(c):
        s = s * x + a
    return s


def remez(xs, g, w, n, first):
    """Minimax c, sum c[i] x**(first+i) ~ g on the grid xs with weights w, and its error."""
    size = len(xs)
    # Start from a Chebyshev-like choice of n+1 grid points.
    ref = [int(mp.nint((1 - mp.cos(mp.pi * i / n)) / 2 * (size - 1))) for i in range(n + 1)]
    best = None
    for _ in range(30):
        a = mp.matrix(n + 1, n + 1)
        rhs = mp.matrix(n + 1, 1)
        for row, i in enumerate(ref):
            t = xs[i] ** first
            for col in range(n):
                a[row, col] = t
                t *= xs[i]
            a[row, n] = (-1) ** row / w[i]
            rhs[row] = g[i]
        sol = mp.lu_solve(a, rhs)
        c = [sol[i] for i in range(n)]
        level = abs(sol[n])
        err = [(horner(c, x) * x**first - y) * v for x, y, v in zip(xs, g, w)]
        worst = max(abs(e) for e in err)
        if best is None or worst < best[1]:
            best = (c, worst)
        if worst <= level * mpf("1.001"):
            break
        # One extremum per run of equal sign, then drop from the ends until n+1 are left.
        runs = []
        for i, e in enumerate(err):
            if runs and (e > 0) == (err[runs[-1]] > 0):
                if abs(e) > abs(err[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
        if len(runs) < n + 1:
            break
        ref = runs
    return best


def lawson(xs, g, w, n, first, rounds=60):
    """The same fit by reweighted least squares: needs no Haar system (powers x.. around zero)."""
    lam = [mpf(1)] * len(xs)
    best = None
    pw = [[v * x ** (first + j) for j in range(n)] for x, v in zip(xs, w)]
    for _ in range(rounds):
        a, rhs = mp.matrix(n, n), mp.matrix(n, 1)
        for row, y, v, l in zip(pw, g, w, lam):
            for i in range(n):
                t = l * row[i]
                rhs[i] += t * y * v
                for j in range(i + 1):
                    a[i, j] += t * row[j]
        for i in range(n):
            for j in range(i):
                a[j, i] = a[i, j]
        sol = mp.lu_solve(a, rhs)
        c = [sol[i] for i in range(n)]
        err = [abs((horner(c, x) * x**first - y) * v) for x, y, v in zip(xs, g, w)]
        worst = max(err)
        if best is None or worst < best[1]:
            best = (c, worst)
        lam = [l * (e / worst + mpf("0.01")) for l, e in zip(lam, err)]
        top = max(lam)
        lam = [l / top for l in lam]
    return best


def fit(f, weight, lo, hi, n, bits, exact=None):
    """n rounded coefficients of f on [lo, hi], minimax in the error times weight."""
    size = 24 * n + 1
    mid, half = (mpf(lo) + hi) / 2, (mpf(hi) - lo) / 2
    xs = [mid - half * mp.cos(mp.pi * (2 * i + 1) / (2 * size)) for i in range(size)]
    xs = [x for x in xs if abs(x) > mpf(10) ** -12]
    w = [abs(weight(x)) for x in xs]
    g = [f(x) for x in xs]
    done = []
    while len(done) < n:
        rest = [y - horner(done, x) for x, y in zip(xs, g)]
        solve = lawson if done and lo < 0 else remez
        c, err = solve(xs, rest, w, n - len(done), len(done))
        # In double the rounding of coefficients after the first ones no longer shows: round all.
        keep = 1 if bits == 24 or (lo >= 0 and len(done) < 3) else len(c)
        done += [round_to(v, bits) for v in c[:keep]]
    err = max(abs(horner(done, x) - y) * v for x, y, v in zip(xs, g, w))
    return done, err


def table():
    """(name, {precision: number of coefficients}, function, weight, lo, hi, comment)."""
    ln2, pi = mp.log(2), mp.pi
    r = ln2 / 2 * mpf("1.0001")
    q = (pi / 4 * mpf("1.0001")) ** 2
    third = mpf(1) / 3
    rt = mp.sqrt
    rows = []

    def row(name, counts, f, weight, lo, hi, comment):
        rows.append((name, counts, f, weight, lo, hi, comment))

    row(
        "exp",
        {"f32": 5, "f64": 10},
        lambda x: (mp.expm1(x) - x) / x**2,
        lambda x: x**2 / mp.exp(x),
        -r,
        r,
        "(exp(r) - 1 - r) / r^2, |r| <= ln2/2, for exp",
    )
    row(
        "expm1",
        {"f32": 6, "f64": 11},
        lambda x: (mp.expm1(x) - x) / x**2,
        lambda x: x**2 / mp.expm1(x),
        -r,
        r,
        "the same, for functions that need exp(r) - 1",
    )
    row(
        "log",
        {"f32": 9, "f64": 20},
        lambda x: (mp.log1p(x) - x + x**2 / 2) / x**3,
        lambda x: x**3 / mp.log1p(x),
        -third,
        third,
        "(log1p(f) - f + f^2/2) / f^3, |f| <= 1/3",
    )
    row(
        "log_short",
        {"f32": 8, "f64": 19},
        lambda x: (mp.log1p(x) - x + x**2 / 2) / x**3,
        lambda x: x**3 / mp.log1p(x),
        -third,
        third,
        "the same, for log, which has no use for more",
    )
    row(
        "sin",
        {"f32": 3, "f64": 6},
        lambda z: (mp.sin(rt(z)) - rt(z)) / rt(z) ** 3,
        lambda z: rt(z) ** 3 / mp.sin(rt(z)),
        0,
        q,
        "(sin(r) - r) / r^3 in z = r^2, |r| <= pi/4",
    )
    row(
        "cos",
        {"f32": 3, "f64": 6},
        lambda z: (mp.cos(rt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mp.cos(rt(z)),
        0,
        q,
        "(cos(r) - 1 + z/2) / z^2 in z = r^2, |r| <= pi/4",
    )
    row(
        "exp2",
        {"f32": 5, "f64": 10},
        lambda x: (mpf(2) ** x - 1 - x * ln2) / x**2,
        lambda x: x**2 / mpf(2) ** x,
        -mpf("0.5"),
        mpf("0.5"),
        "(2^r - 1 - r ln2) / r^2, |r| <= 1/2",
    )
    row(
        "sinh",
        {"f32": 3, "f64": 5},
        lambda z: (mp.sinh(rt(z)) - rt(z)) / rt(z) ** 3,
        lambda z: rt(z) ** 3 / mp.sinh(rt(z)),
        0,
        r * r,
        "(sinh(r) - r) / r^3 in z = r^2, |r| <= ln2/2",
    )
    row(
        "cosh",
        {"f32": 3, "f64": 5},
        lambda z: (mp.cosh(rt(z)) - 1) / z,
        lambda z: z / mp.cosh(rt(z)),
        0,
        r * r,
        "(cosh(r) - 1) / z in z = r^2, |r| <= ln2/2",
    )
    row(
        "tanh",
        {"f32": 3, "f64": 6},
        lambda z: (mp.tanh(rt(z)) - rt(z)) / rt(z) ** 3,
        lambda z: rt(z) ** 3 / mp.tanh(rt(z)),
        0,
        (r / 2) ** 2,
        "(tanh(r) - r) / r^3 in z = r^2, |r| <= ln2/4",
    )
    row(
        "atan",
        {"f32": 5, "f64": 11},
        lambda z: (mp.atan(rt(z)) - rt(z)) / rt(z) ** 3,
        lambda z: rt(z) ** 3 / mp.atan(rt(z)),
        0,
        (mp.sqrt(2) - 1) ** 2 * mpf("1.0001"),
        "(atan(t) - t) / t^3 in z = t^2, 0 <= t <= tan(pi/8)",
    )
    row(
        "asin",
        {"f32": 6, "f64": 13},
        lambda z: (mp.asin(rt(z)) - rt(z)) / rt(z) ** 3,
        lambda z: rt(z) ** 3 / mp.asin(rt(z)),
        0,
        mpf("0.25"),
        "(asin(t) - t) / t^3 in z = t^2, 0 <= t <= 1/2",
    )

    nearest_log = log_table()[1]
    row(
        "log_near",
        {"f32": 4, "f64": 9},
        lambda x: (mp.log1p(x) - x + x**2 / 2) / x**3,
        lambda x: x**3 / mp.log1p(x),
        -nearest_log,
        nearest_log,
        "(log1p(r) - r + r^2/2) / r^3 where log_table has taken the rest",
    )
    row(
        "rcbrt",
        {"f32": 5, "f64": 6},
        lambda x: mp.cbrt(1 / x),
        mp.cbrt,
        mpf(1),
        mpf(2),
        "1 / cbrt(m), 1 <= m <= 2",
    )
    return rows


def log_table():
    """(c, largest |r|): r = m c - 1 is exact in 24 and in 53 bits, and c = 1 beside m = 1.

    The 32 intervals of m, 91/128 to 91/64, are as wide in the bits of m as a 32nd of a binade.
    """

    def at(step):
        return 1 + Fraction(step) / (32 if step >= 0 else 64)

    out, worst = [], Fraction(0)
    for j in range(-18, 14):
        lo, hi = at(j - Fraction(1, 2)), at(j + Fraction(1, 2))
        last = 53 if lo < 1 else 52  # m is a multiple of 2^-last
        best = (max(1 - lo, hi - 1), Fraction(1)) if lo < 1 < hi else None
        for q in range(8 if best is None else 0):
            for n in range(1, 2 ** (q + 1)):
                c = Fraction(n, 2**q)
                r = max(abs(lo * c - 1), abs(hi * c - 1))
                if r < Fraction(2) ** (53 - last - q) and (best is None or r < best[0]):
                    best = (r, c)
        out.append(mpf(best[1].numerator) / best[1].denominator)
        worst = max(worst, best[0])
    return out, mpf(worst.numerator) / worst.denominator


def log_table_rows():
    """(name, values, comment): the factors and, in two parts, the logarithms they take away."""
    c = log_table()[0]
    yield "log_table", c, "c for each 32nd of m, 91/128 to 91/64: m c - 1 is small and exact"
    for p, unit in (("f32", 16), ("f64", 41)):
        hi = [mp.ldexp(mp.nint(mp.ldexp(-mp.log(v), unit)), -unit) for v in c]
        lo = [round_to(-mp.log(v) - h, BITS[p]) for v, h in zip(c, hi)]
        yield f"log_table_hi_{p}", hi, f"-log(c), multiples of 2^-{unit}"
        yield f"log_table_lo_{p}", lo, "the rest of it"


def number(x):
    return float(x).hex() if x != 0 else "0.0"


def split(name, value, parts):
    """value as a sum of constants rounded to the given numbers of bits."""
    out, rest = [], value
    for bits in parts:
        c = round_to(rest, bits)
        rest -= c
        out.append(c)
    return out


def constants():
    """(name, {precision: [values]}, comment)."""
    ln2, pi = mp.log(2), mp.pi
    rows = []

    def row(name, f32, f64, value, comment):
        rows.append(
            (name, {"f32": split(name, value, f32), "f64": split(name, value, f64)}, comment)
        )

    row("ln2", [24, 24], [53, 53], ln2, "ln 2 in two parts; n * first is exact enough with fma")
    row(
        "ln2_short",
        [14, 24],
        [41, 53],
        ln2,
        "ln 2, first part short: k * first is exact for every exponent k",
    )
    row("log2e", [24, 24], [53, 53], 1 / ln2, "1 / ln 2")
    row(
        "pio2",
        [24, 13, 24],
        [53, 33, 53],
        pi / 2,
        "pi/2 for Cody-Waite: n * second is exact for n < 2^11 | 2^20",
    )
    row("two_over_pi", [24], [53], 2 / pi, "2/pi")
    row(
        "log10_2", [14, 24], [41, 53], mp.log10(2), "log10(2), first part short: k * first is exact"
    )
    row("log10e", [24, 24], [53, 53], 1 / mp.log(10), "1 / ln 10")
    row("third", [24], [53], mpf(1) / 3, "1/3")
    row("rcbrt2", [24], [53], 1 / mp.cbrt(2), "1 / cbrt(2)")
    row("rcbrt4", [24], [53], 1 / mp.cbrt(4), "1 / cbrt(4)")
    row("pi_pair", [24, 24], [53, 53], pi, "pi as an unevaluated sum")
    row("pio4", [24, 24], [53, 53], pi / 4, "pi/4 as an unevaluated sum")
    row("pio4x3", [24, 24], [53, 53], 3 * pi / 4, "3/4 pi as an unevaluated sum")
    row("pio2_pair", [24, 24], [53, 53], pi / 2, "pi/2 as an unevaluated sum")
    return rows


def payne_hanek():
    """Windows of the bits of 2/pi: entry j holds bits [g*j, g*j + w) as a number below 1."""
    out = {}
    for p, (g, w, top) in {"f32": (8, 24, 104), "f64": (16, 48, 971)}.items():
        n = top // g + 1 + 3 * (w // g)
        with mp.workprec(2000):
            x = 2 / mp.pi
            vals = []
            for j in range(n):
                t = mp.ldexp(x, g * j)
                t -= mp.floor(t)
                vals.append(mp.ldexp(mp.floor(mp.ldexp(t, w)), -w))
        out[p] = vals
    return out


# erfc_far: x = 4 (1 + q) / (1 - q).
FAR = 4


def python_rows():
    """(name, coefficients, comment) of functions that are written in Python."""

    def near(z):
        return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1

    def far(q):
        x = FAR * (1 + q) / (1 - q)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    def position(x):
        return (mpf(x) - FAR) / (mpf(x) + FAR)

    c, err = fit(near, lambda z: 1 / (near(z) + 1), mpf(0), mpf(1), 13, 53)
    yield "ERF_NEAR", c, err, "erf(x) / x - 1 in x^2, |x| <= 1"
    c, err = fit(far, lambda q: 1 / far(q), position("0.5"), position(28), 23, 53)
    yield "ERFC_FAR", c, err, "(1 + 2x) exp(x^2) erfc(x) in (x - 4) / (x + 4), 1/2 <= x <= 28"

    def by_root(t):
        return mp.loggamma(2 + t) / t if t else 1 - mp.euler

    c, err = fit(by_root, lambda t: 1 / by_root(t), mpf("-0.5"), mpf("0.5"), 20, 53)
    yield "LGAMMA_NEAR", c, err, "lgamma(2 + t) / t, |t| <= 1/2"


def python_text():
    """The file of python_rows()."""
    out = ['"""Coefficients of mathematics.py; written by tools/gen_math.py, do not edit."""', ""]
    for name, values, err, comment in python_rows():
        out.append(f"# {comment}; relative error 2^{float(mp.log(err, 2)):.1f}")
        out += [f"{name} = (", *(f"    {float(v)!r}," for v in values), ")"]
    return "\n".join(out) + "\n"


def c_array(name, values):
    text = f"inline constexpr double {name}[] = {{"
    lines, line = [], text
    for v in values:
        item = number(v) + ", "
        if len(line) + len(item) > 99:
            lines.append(line.rstrip())
            line = "    "
        line += item
    lines.append(line.rstrip(", ") + "};")
    return "\n".join(lines)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument(
        "--check", action="store_true", help="compare with the committed file instead of writing it"
    )
    args = ap.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    path = root / "src/passes/math/coeffs.h"
    out = [
        "// Coefficients of the elementary functions; written by tools/gen_math.py, do not edit.",
        "#pragma once",
        "",
        "// clang-format off",
        "namespace numbus::math::coeffs {",
        "",
    ]
    for name, values, comment in constants():
        out.append(f"// {comment}")
        for p in ("f32", "f64"):
            out.append(c_array(f"{name}_{p}", values[p]))
    out.append("")
    for name, counts, f, weight, lo, hi, comment in table():
        note = []
        arrays = []
        for p in ("f32", "f64"):
            c, err = fit(f, weight, lo, hi, counts[p], BITS[p])
            note.append(f"2^{float(mp.log(err, 2)):.1f}")
            arrays.append(c_array(f"{name}_{p}", c))
        print(name, *note, file=sys.stderr)
        out.append(f"// {comment}; relative error {note[0]} | {note[1]}")
        out += arrays
    out.append("")
    out.append(
        "// Windows of the bits of 2/pi for Payne-Hanek: 24 bits every 8 | 48 bits every 16."
    )
    for p, vals in payne_hanek().items():
        out.append(c_array(f"two_over_pi_bits_{p}", vals))
    out.append("")
    for name, values, comment in log_table_rows():
        out.append(f"// {comment}")
        out.append(c_array(name, values))
    out += ["", "}  // namespace numbus::math::coeffs", ""]
    text = "\n".join(out)
    python = root / "python/numbus/kernels/library/coefficients.py"
    for file, want in ((path, text), (python, python_text())):
        if not args.check:
            file.write_text(want)
        elif file.read_text() != want:
            sys.exit(f"{file.name} differs from what this script derives")


if __name__ == "__main__":
    main()
