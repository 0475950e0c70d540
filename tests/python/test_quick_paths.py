"""Quick ways of GPU kernels give NumPy's bits: quotients, roots, shifted reads."""

import numpy as np
import pytest

SPECIAL = (0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3e38, -3e38)
POWERS = (-126, -125, -120, -100, -98, 98, 120, 125, 126)


def same_bits(got, want):
    got, bits = np.asarray(got), f"i{want.itemsize}"
    differ = (got.view(bits) != want.view(bits)) & ~(np.isnan(got) & np.isnan(want))
    assert not differ.any(), np.flatnonzero(differ)[:5]


def operands(dtype):
    r = np.random.default_rng(5)
    edge = np.array([*SPECIAL, *(1.5 * 2.0**p for p in POWERS), *(2.0**p for p in POWERS)], dtype)
    x, y = (v.ravel() for v in np.meshgrid(edge, edge))
    n, bits = 4096, 8 * edge.itemsize
    random = [r.integers(0, 2**bits, n, dtype=f"u{bits // 8}").view(dtype) for _ in range(2)]
    # Quotients close to the middle between two numbers.
    b, q = r.uniform(1, 2, n).astype(dtype), r.uniform(1, 2, n).astype(dtype)
    half = np.longdouble(np.finfo(dtype).eps) / 2
    a = ((q.astype(np.longdouble) + half) * b).astype(dtype)
    return np.concatenate([x, random[0], a]), np.concatenate([y, random[1], b])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_and_roots(xp, mode, dtype):
    x, y = operands(dtype)
    with np.errstate(all="ignore"):
        want = x / y, y / x, np.sqrt(x), 1 / y
    a, b = xp.array(x), xp.array(y)
    got = a / b, b / a, xp.sqrt(a), 1 / b
    for g, w in zip(got, want, strict=True):
        same_bits(g, w)
    # One at a time: short bodies are compiled in another way.
    same_bits(a / b, want[0])
    same_bits(xp.sqrt(a), want[2])


def nine(a):
    return (
        a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:]
        + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:]
        + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]
    ) / 9.0  # fmt: skip


def far(a):
    return a[:-4, 2:-2] + a[4:, 2:-2] - a[2:-2, :-4] * a[2:-2, 4:] + a[1:-3, 1:-3] / a[3:-1, 3:-1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 5), (20, 17), (67, 64), (65, 130), (64, 71), (300, 402)])
@pytest.mark.parametrize("f", [nine, far])
def test_shifted_reads(xp, mode, f, shape, dtype):
    a = np.random.default_rng(1).uniform(1, 2, shape).astype(dtype)
    same_bits(f(xp.array(a)), f(a))
    b = xp.array(a)
    b[2:-2, 2:-2] = f(b)[: shape[0] - 4, : shape[1] - 4]
    a[2:-2, 2:-2] = f(a)[: shape[0] - 4, : shape[1] - 4]
    same_bits(b, a)
