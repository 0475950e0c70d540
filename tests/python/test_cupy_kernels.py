"""ElementwiseKernel, ReductionKernel, RawKernel: C text against NumPy, and against a C compiler."""

import numbus as nb
import numbus.compat.cupy as cp
import numpy as np
import pytest
from numbus import _core
from numbus.compat.cupy import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from numbus.compat.cupy.cuda.compiler import CompileException

pytestmark = pytest.mark.numbus
RNG = np.random.default_rng(11)
ON_GPU = _core.is_default_gpu()


def close(got, want, rtol=1e-6):
    np.testing.assert_allclose(cp.asnumpy(got), want, rtol=rtol)


def same(got, want):
    got = cp.asnumpy(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


# --- ElementwiseKernel


SHAPES = [((5,), (5,)), ((4, 5), (5,)), ((4, 1), (1, 5)), ((), (3,)), ((2, 3, 4), (3, 1))]


@pytest.mark.parametrize("shapes", [*SHAPES, ((0, 3), (3,)), ((1,), (1, 1))])
def test_broadcasting(shapes):
    kernel = ElementwiseKernel(
        "float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff"
    )
    x, y = [RNG.random(s).astype("f4") for s in shapes]
    got = kernel(cp.asarray(x), cp.asarray(y))
    close(got, (x - y) ** 2)
    assert got.dtype == np.float32 and got.shape == (x + y).shape


@pytest.mark.parametrize("viewed", [lambda x: x[::2, 1::3], lambda x: x.T, lambda x: x[::-1],
                                  lambda x: x[:, 2]])  # fmt: skip
def test_layouts(viewed):
    kernel = ElementwiseKernel("T x, T y", "T z", "z = 2 * x + y", "axpy")
    x = RNG.random((8, 12))
    d = cp.asarray(x)
    close(kernel(viewed(d), viewed(d) + 1), 3 * viewed(x) + 1)
    out = cp.zeros((8, 12))
    part = viewed(out)
    assert kernel(viewed(d), 1.0, part) is part
    want = np.zeros((8, 12))
    viewed(want)[...] = 2 * viewed(x) + 1
    close(out, want)


def test_outputs_and_numbers():
    kernel = ElementwiseKernel("T x, float32 k", "T y, int32 up", "y = x * k; up = x > k")
    x = RNG.random(10)
    y, up = kernel(cp.asarray(x), 0.5)
    close(y, x * 0.5)
    same(up, (x > 0.5).astype("i4"))
    out = cp.empty(10), cp.empty(10, "i4")
    back = kernel(cp.asarray(x), np.float64(0.5), *out)
    assert back[0] is out[0] and back[1] is out[1]
    same(out[1], (x > 0.5).astype("i4"))
    assert ElementwiseKernel("T x", "T y", "y = x", no_return=True)(cp.ones(3)) is None
    assert isinstance(
        ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)(cp.ones(3)), tuple
    )


def test_calls_that_repeat():
    """The second call of a kind goes a shorter way, with the same results and checks."""
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x - y", "again")
    x = RNG.random((3, 4))
    for k in range(3):
        close(kernel(cp.asarray(x), k), x - k)
        d = cp.asarray(x)
        assert kernel(d, 1.0, d) is d
        close(d, x - 1)
    line = cp.arange(10.0)
    for _ in range(3):
        kernel(line[:-1], 0, line[1:])
    close(line, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    with pytest.raises(TypeError, match="z is written to and has to be on the device in use"):
        kernel(line, 1.0, np.zeros(10))
    wide = ElementwiseKernel("int32 k, T x", "T z", "z = x * k")
    for k in (2, 2**31 - 1, -1, 2.9, True):
        close(wide(k, line), line.get() * int(k))
    for stream in (None, cp.cuda.Stream.null, cp.cuda.Stream(non_blocking=True)):
        close(kernel(line, 1.0, stream=stream), line.get() - 1)
        if stream is not None:
            stream.synchronize()


def test_placeholders():
    kernel = ElementwiseKernel("X x, Y y", "X z", "X t = y; z = t + x")
    got = kernel(cp.arange(4, dtype="i4"), cp.asarray([0.9, 1.9, -1.9, 2.5]))
    same(got, np.array([0, 2, 1, 5], "i4"))
    # A number yields to arrays, and decides where there are none.
    two = ElementwiseKernel("T x, T y", "T z", "z = x + y")
    assert two(cp.arange(3, dtype="i2"), 5).dtype == np.int16
    assert two(cp.arange(3, dtype="f4"), 2).dtype == np.float32
    assert (
        ElementwiseKernel("raw T x, S k", "T z", "z = x[i] * k")(cp.arange(3.0), 2, size=3).dtype
        == np.float64
    )


def test_raw_and_size():
    add = ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
    x = np.arange(5.0)
    close(add(cp.asarray(x), cp.asarray(x)), x + x[::-1])
    y = np.arange(24.0).reshape(4, 6)
    close(add(cp.asarray(x), cp.asarray(y)[:, ::2]), x + y[:, ::2].ravel()[4::-1])
    gather = ElementwiseKernel("raw T x, int32 m", "raw T y", "y[i] = x[(i * 3) % m]")
    out = cp.zeros((2, 5))
    gather(cp.asarray(np.arange(10.0)), 10, out, size=10)
    close(out, np.arange(10.0)[np.arange(10) * 3 % 10].reshape(2, 5))
    turned = cp.zeros((5, 2))
    gather(cp.asarray(np.arange(10.0)), 10, turned.T, size=10)
    close(turned.T, out.get())


def test_shapes_of_raw_arrays():
    kernel = ElementwiseKernel(
        "raw T x, raw S y", "int64 h, T v",
        "h = x.shape()[0] * 1000 + x.shape()[1] * 10 + x.ndim + (y.strides()[0] - sizeof(S)); "
        "int r = i / x.shape()[1]; v = x[r * x.shape()[1] + i % x.shape()[1]] + y.size();",
    )  # fmt: skip
    x, y = RNG.random((4, 7)), np.ones(3, "i2")
    h, v = kernel(cp.asarray(x), cp.asarray(y), size=28)
    same(h, np.full(28, 4072))
    close(v, x.ravel() + 3)
    _, v = kernel(cp.asarray(x).T, cp.asarray(y), size=28)
    close(v, x.T.ravel() + 3)


def test_loop_parts():
    kernel = ElementwiseKernel(
        "T x, int32 k", "T y, int32 last", "y = x * q + n; last = i",
        "parts", loop_prep="double q = pow(2.0, (double)k);", after_loop="q = 0;",
    )  # fmt: skip
    y, last = kernel(cp.arange(4.0), 3)
    close(y, np.arange(4.0) * 8 + 4)
    same(last, np.arange(4, dtype="i4"))


def test_in_place_and_overlap():
    double = ElementwiseKernel("T x", "T y", "y = 2 * x")
    x = cp.arange(6.0)
    double(x, x)
    close(x, 2 * np.arange(6.0))
    shift = ElementwiseKernel("T x", "T y", "y = x")
    x = cp.arange(1000.0)
    shift(x[:-1], x[1:])
    close(x, np.r_[0, np.arange(999.0)])


def test_outputs_that_are_not_set_everywhere():
    kernel = ElementwiseKernel("T x", "T y", "if (x > 2) y = x; else if (x < 1) return;")
    out = cp.full(5, -1.0)
    kernel(cp.arange(5.0), out)
    close(out, [-1, -1, -1, 3, 4])
    skip = ElementwiseKernel("T x", "T y", "y = 7; if (x < 2) continue; y = 8;")
    close(skip(cp.arange(4.0)), [7, 7, 8, 8])


STATEMENTS = {
    "for": ("T s = 0; for (int j = 0; j < 5; ++j) { if (j == 3) continue; s += x * j; } y = s;",
            lambda x: x * 7),
    "while": ("int j = 0; y = x; while (true) { y = y + 1; if (++j >= 4) break; }",
              lambda x: x + 4),
    "do": ("int j = 0; y = 0; do { y += x; } while (++j < 3);", lambda x: 3 * x),
    "do continue": ("int j = 0; y = 0; do { if (j++ == 1) continue; y += x; } while (j < 4);",
                    lambda x: 3 * x),
    "nested": ("y = 0; for (int a = 0; a < 3; a++) for (int b = a; b < 3; b++) y += a * b * x;",
               lambda x: x * 7),
    "scopes": ("int v = 1; { int v = 5; y = x * v; } y += v; for (int v = 0; v < 2; v++) y += v;",
               lambda x: x * 5 + 2),
    "comma": ("int a, b; for (a = 0, b = 10; a < b; a++, b--) ; y = x + a;", lambda x: x + 5),
    "chain": ("T a, b; a = b = x * 2; y = a + b;", lambda x: 4 * x),
    "steps": ("int k = 1; int m = k++ + 10 * k--; y = x + m * 100 + ++k;", lambda x: x + 2102),
    "ternary": ("y = x > 1 ? x > 2 ? 3 : 2 : x;",
                lambda x: np.where(x > 2, 3, np.where(x > 1, 2, x))),
    "short": ("int k = 0; bool b = x > 1 && ++k > 0; bool c = x > 1 || (k += 10) > 0; "
              "y = k + b + c;", lambda x: np.where(x > 1, 3, 11)),
    "choice with effects": ("int k = 0; int r = x > 1 ? (k = 3, k + 1) : k++; y = k * 10 + r;",
                            lambda x: np.where(x > 1, 34, 10)),
    "array": ("T w[3] = {1, 2, 3}; T s = 0; for (int k = 0; k < 3; k++) s += w[k] * x; y = s;",
              lambda x: 6 * x),
    "table": ("const int w[2][3] = {{1, 2, 3}, {4, 5}}; y = x + w[1][1] + 10 * w[1][2];",
              lambda x: x + 5),
    "array positions": ("T w[4]; int k = 0; for (; k < 4; k++) w[k] = x; k = 0; w[k++] += 5; "
                     "y = w[0] + w[1] + k;", lambda x: 2 * x + 6),
    "constants": ("y = x + (65536 * 65537 == 65536) + -7 / 2 + -7 % 3 + (1 << 3) "
                  "+ (-16 >> 2) + ~5;",
                  lambda x: x + 1 - 3 - 1 + 8 - 4 - 6),
    "switch": ("y = 0; switch ((int)x) { case 0: y = 10; break; case 1: case 3: y = 20; default: "
               "y += 1; break; case 2: y = 30; }",
               lambda x: np.choose(x.astype(int), [10, 21, 30, 21])),
    "switch in a loop": (
        "y = 0; for (int k = 0; k < 6; ++k) { switch (k) { case 1: continue; case 4: if (x > 1) "
        "break; y += 100; break; default: switch (k) { case 0: y += 1; break; case 5: continue; } "
        "y += 10; } y += x; }",
        lambda x: np.where(x > 1, 31, 131) + 4 * x),
    "casts": ("y = (int)(x * 1.5) + (float)1 / 2 + int(2.9) + static_cast<short>(65537) + T(1);",
              lambda x: np.trunc(x * 1.5) + 0.5 + 2 + 1 + 1),
    "auto": ("auto q = x * 2; const auto r = 3; y = q * r;", lambda x: 6 * x),
    "sizeof": ("y = x + sizeof(T) + sizeof(float);", lambda x: x + 12),
    "literals": ("y = x + 0x10 + 010 + 1e2 + .5 + 2.f + 0b11 + 7u + 3LL;",
                 lambda x: x + 16 + 8 + 100 + 0.5 + 2 + 3 + 7 + 3),
    "typedef": ("typedef float real; real q = 0.5f; y = x * q;", lambda x: x * 0.5),
}  # fmt: skip


@pytest.mark.parametrize("case", STATEMENTS)
def test_statements(case):
    text, want = STATEMENTS[case]
    x = np.array([0.0, 1.0, 2.0, 3.0, 0.5])
    close(ElementwiseKernel("T x", "T y", text, "statements")(cp.asarray(x)), want(x))


FUNCTIONS = {
    "sin": np.sin, "cosf": np.cos, "exp": np.exp, "log1p": np.log1p, "sqrt": np.sqrt,
    "rsqrtf": lambda x: 1 / np.sqrt(x), "fabs": np.abs, "floor": np.floor, "ceilf": np.ceil,
    "tanhf": np.tanh, "exp2": np.exp2, "cbrt": np.cbrt, "exp10": lambda x: 10**x,
    "round": lambda x: np.floor(x + 0.5), "rint": np.rint, "acosh": lambda x: np.arccosh(x + 1),
    "__expf": np.exp, "norm": lambda x: x * x, "abs": np.abs,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions(name, dtype):
    # Values that float32 holds: rounding x would be seen beside the cosine's root.
    x = RNG.uniform(0.1, 2.4, 50).astype("f4").astype(dtype)
    argument = "x + 1" if name == "acosh" else "x"
    got = ElementwiseKernel("T x", "T y", f"y = {name}({argument})")(cp.asarray(x))
    single = dtype == "f4" or name.endswith("f")
    close(got, FUNCTIONS[name](x), 3e-6 if single else 1e-14)


def test_functions_of_two_and_more():
    x, y = RNG.uniform(-3, 3, 40), RNG.uniform(0.5, 3, 40)
    for text, want in {
        "pow(y, x)": y**x, "atan2(x, y)": np.arctan2(x, y), "fmod(x, y)": np.fmod(x, y),
        "hypot(x, y)": np.hypot(x, y), "min(x, y)": np.minimum(x, y), "fmax(x, y)": np.fmax(x, y),
        "max(x, 1.0)": np.maximum(x, 1), "copysign(y, x)": np.copysign(y, x),
        "fdim(x, y)": np.maximum(x - y, 0), "fma(x, y, 1.0)": x * y + 1, "isnan(x) + !isinf(y)": 1,
        "erf(x) + erfc(x)": np.ones(40), "M_PI * x": np.pi * x, "pow(x, 2)": x * x,
        "x > 0 ? INFINITY : -INFINITY": np.where(x > 0, np.inf, -np.inf),
    }.items():  # fmt: skip
        kernel = ElementwiseKernel("float64 x, float64 y", "float64 z", f"z = {text}")
        close(kernel(cp.asarray(x), cp.asarray(y)), np.broadcast_to(want, 40), 1e-12)


def test_preamble():
    preamble = """
    // constants, macros and functions
    #define SQUARE(v) ((v) * (v))
    #define TWICE SQUARE(1) + 1
    #include <cupy/math_constants.h>
    const float HALF = 0.5f, QUARTER = HALF * 0.5f;
    __constant__ int weights[3] = {1, 2, 3};
    template <typename T, typename U>
    __device__ __forceinline__ T mix(T a, U b) { return a * QUARTER + b; }
    __device__ inline int count(int k) { if (k <= 1) return 1; int s = 0;
        for (int j = 0; j < k; ++j) s += weights[j % 3]; return s; }
    __device__ float over(float a) { return 1; }
    __device__ double over(double a) { return 2; }
    """
    kernel = ElementwiseKernel(
        "float32 x, int32 k", "float32 y, float64 o",
        "y = mix(x, (float)SQUARE(k)) + count(k) * (TWICE); o = over(x) * 10 + over((double)x);",
        "uses", preamble=preamble,
    )  # fmt: skip
    x = RNG.random(8).astype("f4")
    y, o = kernel(cp.asarray(x), 5)
    close(y, x * 0.25 + 25 + 9 * 2, 1e-6)
    close(o, np.full(8, 12.0))


def test_functions_that_get_addresses():
    """Pointers to numbers and references come back changed; arrays are passed as they are."""
    kernel = ElementwiseKernel(
        "uint32 seed, int32 m", "float64 mean, uint32 last",
        """
        unsigned int state = seed + i * 7919u;
        double s = 0;
        for (int k = 0; k < m; k++) s += uniform(&state);
        mean = s / m;
        advance(state);
        last = state;
        """, "generator",
        preamble="""
        __device__ unsigned int next(unsigned int *state) {
            *state ^= *state << 13; *state ^= state[0] >> 17; *state ^= *state << 5;
            return *state;
        }
        __device__ double uniform(unsigned int *state) { return next(state) / 4294967296.0; }
        __device__ void advance(unsigned int &s) {
            if (s % 2) return;
            s = s * 1664525u + 1013904223u;
        }
        """,
    )  # fmt: skip
    mean, last = kernel(cp.full(6, 12345, dtype="u4"), 20)
    for i in range(6):
        state, total = 12345 + i * 7919, 0.0
        for _ in range(20):
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
            total += state / 2**32
        if state % 2 == 0:
            state = (state * 1664525 + 1013904223) % 2**32
        assert float(mean[i]) == pytest.approx(total / 20, rel=1e-14) and int(last[i]) == state

    median = ElementwiseKernel(
        "raw T x, int32 w", "T y",
        """
        T v[5];
        for (int k = 0; k < 5; k++) v[k] = x[min(max((int)i + k - 2, 0), w - 1)];
        order(v, 5);
        y = v[2] + 100 * total(&x[1], 2) + first(&v[1]) - v[1];
        """, "median",
        preamble="""
        template <typename T> __device__ void order(T *a, int n) {
            for (int i = 0; i < n; i++)
                for (int j = i + 1; j < n; j++)
                    if (a[j] < a[i]) { T t = a[i]; a[i] = a[j]; a[j] = t; }
        }
        template <class U> __device__ U total(const U* x, int n) {
            U s = 0;
            for (int i = 0; i < n; i++) s += x[i];
            return s;
        }
        template <typename T> __device__ T first(const T x[]) { return *x; }
        """,
    )  # fmt: skip
    x = RNG.random(30)
    padded = np.pad(x, 2, "edge")
    want = np.median([padded[k : k + 30] for k in range(5)], axis=0) + 100 * (x[1] + x[2])
    close(median(cp.asarray(x), 30, size=30), want, 1e-12)
    preamble = "__device__ double f(double *p) { return p[0]; }"
    with pytest.raises(CompileException, match="cannot be written to; got an input"):
        ElementwiseKernel("raw T x", "T y", "y = f(x)", preamble=preamble)(cp.ones(3), size=3)
    preamble = "__device__ int f(int *p) { return *p; }"
    for body, message in [("y = f(3)", "this cannot be assigned to"),
                          ("f(y); y = 1", "another type; got float32; expected int32"),
                          ("int k = 0; f(&k); y = &k", "an address is for functions only"),
                          ("y = *x", "this is no pointer")]:  # fmt: skip
        with pytest.raises(CompileException, match=message):
            ElementwiseKernel("float32 x", "float32 y", body, preamble=preamble)(cp.ones(2, "f4"))


def test_black_scholes():
    kernel = ElementwiseKernel(
        "T s, T x, T t, T r, T v", "T call, T put",
        """
        const T sqrt_t = sqrt(t);
        const T d1 = (log(s / x) + (r + v * v / 2) * t) / (v * sqrt_t);
        const T d2 = d1 - v * sqrt_t;
        const T e = exp(-r * t);
        call = s * cumulative(d1) - x * e * cumulative(d2);
        put = x * e * (1 - cumulative(d2)) - s * (1 - cumulative(d1));
        """, "black_scholes",
        preamble="""
        __device__ inline T cumulative(T x) {
            const T A[5] = {0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
            const T k = 1 / (1 + T(0.2316419) * abs(x));
            T p = 0;
            for (int j = 4; j >= 0; --j) p = k * (A[j] + p);
            T c = T(0.39894228040143267) * exp(-x * x / 2) * p;
            if (x > 0) { c = 1 - c; }
            return c;
        }
        """,
    )  # fmt: skip
    from math import erf

    s, x, t, r, v = RNG.uniform(5, 30, 50), 20.0, RNG.uniform(0.2, 2, 50), 0.02, 0.3
    call, put = kernel(cp.asarray(s), x, cp.asarray(t), r, v)
    d1 = (np.log(s / x) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    normal = np.vectorize(lambda q: 0.5 * (1 + erf(q / 2**0.5)))
    discounted = x * np.exp(-r * t)
    want = s * normal(d1) - discounted * normal(d1 - v * np.sqrt(t))
    np.testing.assert_allclose(call.get(), want, atol=1e-4)
    np.testing.assert_allclose((call - put).get(), s - discounted, rtol=1e-12)


def test_atomics():
    kernel = ElementwiseKernel(
        "raw int32 x", "raw int32 count, raw int32 top",
        "atomicAdd(&count[x[i] % 4], 1); atomicMax(&top[0], x[i]); "
        "int old = atomicAdd(&top[1], 2); if (old < 0) count[0] = -1;", "atomics",
    )  # fmt: skip
    x = RNG.integers(0, 1000, 500).astype("i4")
    count, top = cp.zeros(4, "i4"), cp.zeros(2, "i4")
    kernel(cp.asarray(x), count, top, size=500)
    same(count, np.bincount(x % 4, minlength=4).astype("i4"))
    same(top, np.array([x.max(), 1000], "i4"))


def test_complex_numbers():
    kernel = ElementwiseKernel(
        "complex128 z, float64 k", "complex128 w, float64 r",
        "complex<double> c = complex<double>(k, 1.0); w = z * c + conj(z); "
        "r = norm(z) + real(z) * z.imag() + abs(z);", "complexes",
    )  # fmt: skip
    z = RNG.normal(size=20) + 1j * RNG.normal(size=20)
    w, r = kernel(cp.asarray(z), 2.0)
    close(w, z * (2 + 1j) + z.conj(), 1e-12)
    close(r, abs(z) ** 2 + z.real * z.imag + abs(z), 1e-12)


def test_half_numbers():
    kernel = ElementwiseKernel("float16 x", "float16 y, float32 z", "y = x * 3; z = x / 3;")
    x = np.arange(5, dtype="f2")
    y, z = kernel(cp.asarray(x))
    same(y, x * np.float16(3))
    close(z, x.astype("f4") / np.float32(3))


def test_mandelbrot():
    kernel = ElementwiseKernel(
        "float64 cx, float64 cy, int32 steps", "int32 k",
        """
        double zr = 0, zi = 0;
        int j = 0;
        while (j < steps && zr * zr + zi * zi <= 4.0) {
            double t = zr * zr - zi * zi + cx;
            zi = 2 * zr * zi + cy;
            zr = t;
            j++;
        }
        k = j;
        """, "mandelbrot",
    )  # fmt: skip

    def steps(c, n):
        z = 0j
        for k in range(n):
            if z.real * z.real + z.imag * z.imag > 4:
                return k
            z = complex(z.real * z.real - z.imag * z.imag + c.real, 2 * z.real * z.imag + c.imag)
        return n

    x, y = np.linspace(-2, 0.47, 24), np.linspace(-1.1, 1.13, 20)[:, None]
    got = kernel(cp.asarray(x), cp.asarray(y), 40).get()
    want = np.array([[steps(complex(a, b), 40) for a in x] for b in y[:, 0]])
    # A GPU may multiply and add with one rounding: points at the edge may differ there.
    assert (got != want).mean() <= (0.02 if ON_GPU else 0)


# --- ReductionKernel

L2 = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")


@pytest.mark.parametrize("shape", [(10,), (1000,), (3, 4, 5), (300, 41), (2, 70, 3), (1, 1)])
@pytest.mark.parametrize("viewed", [lambda x: x, lambda x: x.T, lambda x: x[::-1]])
def test_reduction_over_axes(shape, viewed):
    x = RNG.random(shape)
    d, x = viewed(cp.asarray(x)), viewed(x)
    for axis in [None, *range(len(shape)), tuple(range(len(shape)))[-2:]]:
        for keepdims in (False, True):
            want = np.sqrt((x * x).sum(axis=axis, keepdims=keepdims))
            got = L2(d, axis=axis, keepdims=keepdims)
            assert got.shape == want.shape
            close(got, want, 1e-12)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 100_003, 1_000_000])
def test_reduction_of_many_sizes(n):
    x = RNG.integers(-1000, 1000, n)
    total = ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", "0", "total")
    assert int(total(cp.asarray(x))) == x.sum()
    top = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "top")
    assert int(top(cp.asarray(x))) == x.max()
    y = RNG.random(n)
    d = cp.asarray(y)
    assert float(L2(d)) == float(L2(d)), "sums repeat bit for bit"
    close(L2(d), np.linalg.norm(y), 1e-12)


def test_reduction_of_two_arrays_and_numbers():
    x, y = RNG.random((6, 1, 300)), RNG.random((5, 1))
    dot = ReductionKernel("T x, T y, T k", "T z", "x * y", "a + b", "z = a * k", "0", "dot")
    close(dot(cp.asarray(x), cp.asarray(y), 2.0, axis=(0, 2)), 2 * (x * y).sum((0, 2)), 1e-12)
    close(dot(cp.asarray(x), cp.asarray(y), 2.0), 2 * (x * y).sum(), 1e-12)


def test_reduction_with_its_own_type_and_outputs():
    stats = ReductionKernel(
        "T x, raw float64 w", "float64 mean, int32 many",
        "x * w[_j % 2]", "a + b",
        "mean = a * _out_ind.size() / _in_ind.size(); many = a > 100;", "0", "stats",
        reduce_type="double",
    )  # fmt: skip
    x = RNG.integers(0, 9, (4, 500)).astype("i4")
    w = np.array([1.0, 2.0])
    mean, many = stats(cp.asarray(x), cp.asarray(w), axis=1)
    want = (x * np.tile(w, 250)).sum(1)
    close(mean, want / 500)
    same(many, (want > 100).astype("i4"))
    out = cp.empty(4)
    length = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert length(cp.asarray(x.astype(float)), axis=1, out=out) is out
    close(out, x.sum(1))


def test_reduction_of_nothing():
    close(L2(cp.zeros((0, 3)), axis=0), np.zeros(3))
    mask = ReductionKernel("T x, S m", "T y", "m ? x : 0", "a + b", "y = a", "0", "masked")
    x = RNG.random(40)
    close(mask(cp.asarray(x), cp.asarray(x) > 0.5), x[x > 0.5].sum(), 1e-12)
    assert L2(cp.zeros((3, 0)), axis=0).shape == (0,)
    top = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "top")
    with pytest.raises(ValueError, match="no identity; got an array of shape"):
        top(cp.zeros((0,)))


# --- Mistakes

MISTAKES = [
    ("z = (x - y) * ;", "got ';'; expected a value", 15),
    ("z = x +", "got the end of the text", 8),
    ("z = foo(x)", "no such function: foo", 5),
    ("z = sinn(x)", "expected sin", 5),
    ("x = 3", "'x' cannot be assigned to; got an input", 1),
    ("z = x % y", "expected fmod", 7),
    ("int w = 3; z = w[2]", "has no elements", 16),
    ("if (x > 3 z = 2", r"got 'z'; expected '\)'", 11),
    ("z = q", "'q' is not declared; got 'q'; expected one of i, n, x, y, z", 5),
    ("z = sin(x, y)", "wrong number of arguments of sin; got 2; expected 1", 5),
    ("for (;;) { z = 1; ", "a brace that is not closed", 10),
    ("goto a;", "not supported in kernels; got 'goto'", 1),
    ("switch (x) { }", "a switch over a number that is no integer", 1),
    ("switch (i) { z = 1; }", "expected case, default or '}'", 14),
    ("float *p; z = x;", "no pointers and references", 1),
    ("z = @x", "a character that C does not know", 5),
    ("z = x.y", "no such member", 7),
    ("break;", "a break outside of a loop", 1),
    ("z = x[0]", "expected 'raw … x' among", 5),
    ("int a[x]; z = 1;", "an array's size is not known", 5),
    ("z = __shfl_sync(1, 2, 3);", "no such function", 5),
    ("__shared__ float s[3];", "threads share no memory here", 1),
    ("z = 1; }", "got '}'", 8),
    ("i = 3;", "'i' cannot be assigned to; got the element's index", 1),
    ("return 3;", "an element's code returns nothing", 1),
    ("int x2 = 99999999999999999999;", "too large", 10),
]


@pytest.mark.parametrize(("text", "message", "column"), MISTAKES)
def test_mistakes_show_the_place(text, message, column):
    with pytest.raises(CompileException, match=message) as error:
        ElementwiseKernel("float32 x, float32 y", "float32 z", text, "bad")(cp.ones(3, "f4"), 1)
    lines = str(error.value).split("\n")
    assert lines[0].startswith("[ElementwiseKernel] ") and "; expected " in lines[0]
    assert lines[1] == "  in the operation of bad, line 1"
    assert lines[2] == "  " + text
    assert lines[3].index("^") == 1 + column


def test_mistakes_in_other_parts():
    with pytest.raises(CompileException, match=r"in the preamble of p, line 2\n    return q;"):
        preamble = "__device__ float f(float a) {\n  return q; }"
        ElementwiseKernel("T x", "T y", "y = f(x)", "p", preamble=preamble)(cp.ones(2))
    with pytest.raises(CompileException, match=r"\[ReductionKernel\].*\n  in reduce_expr of r"):
        ReductionKernel("T x", "T y", "x", "a +", "y = a", "0", "r")
    with pytest.raises(CompileException, match="an output is not set; got z"):
        ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a", "0", "r")(cp.ones(3))
    with pytest.raises(CompileException, match="no pointers and references here; got 'float32\\*'"):
        ElementwiseKernel("T x", "T y", "float *p; y = x")


def test_wrong_arguments():
    kernel = ElementwiseKernel("float32 x, T y", "T z", "z = x + y", "wrong")
    x = cp.ones(3, "f4")
    for args, error, message in [
        ((x,), TypeError, "wrong number of arguments; got 1; expected 2, or 3 with the outputs"),
        ((cp.ones(3), x), TypeError, "argument x has another type; got float64; expected float32"),
        ((x, cp.ones(4)), ValueError, "shapes do not broadcast"),
        ((x, x, cp.ones(4, "f4")), ValueError, "another shape|do not broadcast"),
        ((x, x, cp.ones(3)), TypeError, "argument z has another type"),
        ((x, "text"), TypeError, "a type that kernels do not take; got str"),
        ((1.0, 2.0), ValueError, "the number of elements is not known"),
        ((x, x, 3.0), TypeError, "z has to be an array"),
        ((1j, x), TypeError, "a complex number for a real one"),
    ]:
        with pytest.raises(error, match=message):
            kernel(*args)
    with pytest.raises(ValueError, match="size is for raw arrays"):
        kernel(x, x, size=3)
    with pytest.raises(ValueError, match="the size of y is not known"):
        ElementwiseKernel("T x", "raw T y", "y[i] = x")(x)
    with pytest.raises(TypeError, match="the type T of y is not known"):
        ElementwiseKernel("float32 x", "T y", "y = x")(x)
    for text, message in [("float33 x", "no type of an argument; got 'float33'"),
                          ("T", "no declaration of an argument; got 'T'"),
                          ("T n", "a name that means something else; got 'n'"),
                          ("T x, T x", "two arguments of one name")]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            ElementwiseKernel(text, "T z", "z = x")
    with pytest.raises(np.exceptions.AxisError, match="no such axis; got 2"):
        L2(cp.ones((2, 2)), axis=2)


# --- RawKernel, RawModule

SOURCE = r"""
extern "C" __global__ void axpy(const float* x, float* y, float a, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__device__ float factor = 3.0f;
extern "C" __global__ void scale(float* y) { y[threadIdx.x] *= factor; }
template <typename T> __global__ void fill(T* y, T v) { y[threadIdx.x] = v; }
"""
needs_nvrtc = pytest.mark.skipif(
    not ON_GPU or not hasattr(_core, "nvrtc_compile"), reason="needs a GPU and NVRTC"
)


def test_pythons_ints_for_ints():
    """A launch that says which argument is shorter is repeated with a shorter one."""
    from numbus.compat.cupy._raw import Function

    launches = []

    class Kernel:
        def launch(self, grid, block, shared, args, cooperative, stream):
            if args[1].nbytes != 4:
                raise TypeError("[k] argument 1 has another size; got 8 bytes; expected 4 bytes")
            launches.append((grid, block, shared, args, cooperative))

    class Module:
        def function(self, name):
            return Kernel()

    function = Function(Module(), "k")
    function((2,), (8, 4), (1, 2), shared_mem=16)
    function(1, 1, (2**40, -1))
    assert launches[0] == ((2, 1, 1), (8, 4, 1), 16, [1, 2], False)
    assert [type(a) for _, _, _, args, _ in launches for a in args] == [np.int64, np.int32] * 2
    for wrong in (2.0, 2**40, np.int64(2)):
        with pytest.raises(TypeError, match="argument 1 has another size"):
            function(1, 1, (1, wrong))


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_raw_kernels_need_a_gpu():
    kernel = RawKernel(SOURCE, "axpy")
    with pytest.raises(
        RuntimeError, match=r"\[RawKernel\] CUDA C\+\+ runs on NVIDIA GPUs only; got"
    ):
        kernel((1,), (32,), (cp.ones(3, "f4"), cp.ones(3, "f4"), np.float32(2), 3))
    with pytest.raises(RuntimeError, match=r"\[RawModule\].*expected .*ElementwiseKernel"):
        RawModule(code=SOURCE).get_function("axpy")
    with pytest.raises(TypeError, match="one of code and path is needed"):
        RawModule()
    with pytest.raises(TypeError, match="options are no tuple"):
        RawKernel(SOURCE, "axpy", options="-O3")


@needs_nvrtc
def test_raw_kernel():
    kernel = RawKernel(SOURCE, "axpy")
    x, y = cp.arange(100, dtype="f4"), cp.ones(100, "f4")
    kernel((1,), (128,), (x, y, np.float32(2), np.int32(100)))
    close(y, 1 + 2 * np.arange(100, dtype="f4"))
    kernel((1,), (128,), (x, y, np.float32(0), 100))  # a Python int for an int
    with pytest.raises(TypeError, match="argument 2 has another size"):
        kernel((1,), (128,), (x, y, 2.0, 100))
    assert kernel.num_regs > 0 and kernel.max_threads_per_block >= 128
    with pytest.raises(CompileException, match="error"):
        RawKernel("this is no C", "f")((1,), (1,), ())


@needs_nvrtc
def test_raw_module():
    module = RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=["fill<float>"])
    y = cp.ones(8, "f4")
    module.get_function("scale")((1,), (8,), (y,))
    close(y, np.full(8, 3.0, "f4"))
    module.get_function("fill<float>")((1,), (8,), (y, np.float32(5)))
    close(y, np.full(8, 5.0, "f4"))
    factor = cp.ndarray((1,), "f4", module.get_global("factor"))
    factor[0] = 2
    module.get_function("scale")((1,), (8,), (y,))
    close(y, np.full(8, 10.0, "f4"))


def test_kernels_are_numbus_arrays():
    out = ElementwiseKernel("T x", "T y", "y = x + 1")(nb.arange(3.0))
    assert type(out) is type(nb.arange(3.0)) and isinstance(out, nb.ndarray)
