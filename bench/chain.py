"""A chain of 20 float32 operations (log, sqrt, exp, tanh and arithmetic) over three arrays."""

import importlib

import numpy as np
from common import Workload, on_gpu
from numbus_bench.cases import traced
from numbus_bench.timing import sample_of


def code(xp, S, K, T):
    d1 = (xp.log(S / K + 1e-3) + 0.065 * T) / (0.3 * xp.sqrt(T))
    d2 = d1 - 0.3 * xp.sqrt(T)
    return S * (0.5 + 0.5 * xp.tanh(0.797 * d1)) - K * xp.exp(-0.02 * T) * (
        0.5 + 0.5 * xp.tanh(0.797 * d2)
    )


def inputs(n):
    r = np.random.default_rng(0)
    low_high = {"S": (5, 30), "K": (1, 100), "T": (0.25, 10)}
    return {k: r.uniform(*v, n).astype("float32") for k, v in low_high.items()}


def exact(S, K, T):
    """In float64, on the elements that are compared only."""
    return code(np, *[sample_of(x).astype("float64") for x in (S, K, T)])


TEXT = (
    "S*(c5 + c5*tanh(c7*((log(S/K + c0) + c65*T)/(c3*sqrt(T))))) - K*exp(c2*T)*"
    "(c5 + c5*tanh(c7*((log(S/K + c0) + c65*T)/(c3*sqrt(T)) - c3*sqrt(T))))"
)
CONSTANTS = {"c0": 1e-3, "c65": 0.065, "c3": 0.3, "c5": 0.5, "c7": 0.797, "c2": -0.02}


def numexpr():
    ne = importlib.import_module("numexpr")
    names = {k: np.float32(v) for k, v in CONSTANTS.items()}
    return lambda **inputs: ne.evaluate(TEXT, local_dict={**inputs, **names}, global_dict={})


def numba(summed=False):
    nb = importlib.import_module("numba")
    f = np.float32
    c0, c65, c3, c5, c7, c2 = f(1e-3), f(0.065), f(0.3), f(0.5), f(0.797), f(-0.02)

    @nb.njit(inline="always", error_model="numpy")
    def one(s, k, t):
        root = c3 * np.sqrt(t)
        d1 = (np.log(s / k + c0) + c65 * t) / root
        d2 = d1 - root
        return s * (c5 + c5 * np.tanh(c7 * d1)) - k * np.exp(c2 * t) * (c5 + c5 * np.tanh(c7 * d2))

    @nb.njit(parallel=True, error_model="numpy")
    def array(S, K, T):
        out = np.empty_like(S)
        for i in nb.prange(S.size):
            out[i] = one(S[i], K[i], T[i])
        return out

    @nb.njit(parallel=True, error_model="numpy")
    def total(S, K, T):
        s = 0.0
        for i in nb.prange(S.size):
            s += one(S[i], K[i], T[i])
        return s

    return total if summed else array


def size(quick):
    return 1_000_000 if quick else 100_000_000 if on_gpu() else 10_000_000


def workloads(quick):
    n = size(quick)
    programs = {"numexpr": numexpr, "numba": numba, **traced(code)}
    yield Workload(
        name="chain",
        title=f"chain of 20 float32 operations, {n:.0e}",
        make=lambda: inputs(n),
        code=code,
        bytes=16 * n,
        flops=20 * n,
        programs=programs,
        cpu=(("numpy", 5.0),),
        gpu_ms=0.43,
        rtol=2e-5,
        exact=exact,
    )
