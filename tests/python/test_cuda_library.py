"""Around cuda.jit: reductions, random numbers, vector types, the smaller names."""

import linecache

import numpy as np
import pytest
from numbus import cuda
from numbus.cuda import random as xoroshiro

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("n", [1, 5, 255, 256, 4096, 4097, 100_000])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_reduce(n, dtype):
    add = cuda.reduce(lambda a, b: a + b)
    x = (RNG.random(n) * 100).astype(dtype)
    np.testing.assert_allclose(add(x), x.sum(), rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert add(x) == add(x)
    assert add(x).dtype == dtype
    np.testing.assert_allclose(add(cuda.to_device(x), init=7), x.sum() + 7, rtol=1e-5)
    assert cuda.Reduce(lambda a, b: max(a, b))(x) == x.max()
    np.testing.assert_allclose(add(x, size=n // 2), x[: n // 2].sum(), rtol=1e-5)


def test_reduce_into_an_array():
    @cuda.reduce
    def add(a, b):
        return a + b

    res = cuda.device_array(2, np.float64)
    assert add(np.ones(10), res=res) is None
    assert res.copy_to_host()[0] == 10
    assert add(np.ones(0), init=3) == 3
    with pytest.raises(TypeError, match="has to be 1-d; got 2 dimensions"):
        add(np.ones((2, 2)))
    with pytest.raises(ValueError, match="size does not fit; got 11; expected 0 to 10"):
        add(np.ones(10), size=11)
    with pytest.raises(TypeError, match="got one of 3 parameters"):
        cuda.reduce(lambda a, b, c: a)


MASK = 2**64 - 1


def reference(seed, count):
    """xoroshiro128+ and SplitMix64 in Python's integers."""
    z = (seed + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    s0 = s1 = z ^ (z >> 31)

    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    for _ in range(count):
        yield (s0 + s1) & MASK
        s1 ^= s0
        s0, s1 = rotl(s0, 55) ^ s1 ^ ((s1 << 14) & MASK), rotl(s1, 36)


def test_random_bits():
    @cuda.jit
    def kernel(states, out):
        for i in range(out.size):
            out[i] = xoroshiro.xoroshiro128p_next(states, 0)

    out = np.zeros(20, np.uint64)
    kernel[1, 1](xoroshiro.create_xoroshiro128p_states(2, seed=7), out)
    assert out.tolist() == list(reference(7, 20))
    # what numba.cuda.random gives
    states = np.asarray(xoroshiro.create_xoroshiro128p_states(3, seed=7))
    assert states[1].tolist() == [585177284054532897, 1191517324307048060]
    assert states[2].tolist() == [16135235430649372907, 1778976497224834358]
    later = np.asarray(xoroshiro.create_xoroshiro128p_states(2, seed=7, subsequence_start=1))
    assert later.tolist() == states[1:].tolist()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(f"{k}_{t}", t) for k in ("uniform", "normal") for t in ("float32", "float64")],
)
def test_random_numbers(name, dtype):
    draw = getattr(xoroshiro, f"xoroshiro128p_{name}")

    @cuda.jit
    def kernel(states, out):
        i = cuda.grid(1)
        for k in range(out.shape[1]):
            out[i, k] = draw(states, i)

    out = np.zeros((64, 500), dtype)
    kernel[2, 32](xoroshiro.create_xoroshiro128p_states(64, seed=1), out)
    mean, deviation = (0.5, 12**-0.5) if "uniform" in name else (0, 1)
    assert abs(out.mean() - mean) < 0.02
    assert abs(out.std() - deviation) < 0.02
    assert len(np.unique(out)) > 0.99 * out.size
    if "uniform" in name:
        assert out.min() >= 0
        assert out.max() < 1


def test_vector_types():
    v = cuda.float32x4(1, 2, 3, 4)
    assert (v.x, v.y, v.z, v.w) == (1, 2, 3, 4)
    assert isinstance(v.x, np.float32)
    assert cuda.int32x3(cuda.int32x2(1, 2), 3) == (1, 2, 3)
    with pytest.raises(TypeError, match="wrong number of items; got 1; expected 2"):
        cuda.float64x2(1)

    @cuda.jit
    def kernel(v, out):
        out[0] = v.x + v.w

    out = np.zeros(1, np.float32)
    kernel[1, 1](v, out)
    assert out[0] == 5


def test_vectors_are_made_in_kernels():
    @cuda.jit
    def kernel(out):
        v = cuda.float32x3(1, 2.75, 3)
        w = cuda.int32x2(2.75, 5)
        out[0], out[1], out[2] = v.x, v[1], w.x + w.y

    out = np.zeros(3)
    kernel[1, 1](out)
    cuda.synchronize()
    assert out.tolist() == [1, 2.75, 7]


@pytest.mark.parametrize("name", ["f", "grid", "range", "np"])
def test_functions_named_as_what_the_loops_around_them_call(name):
    space = {"cuda": cuda}
    text = f"def {name}(a, r):\n    for i in (0, 1):\n        r[i] = a[i] + 1\n"
    file = f"<a function named {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    f = cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(space[name])
    np.testing.assert_array_equal(f(np.ones((3, 2))), np.full((3, 2), 2.0))
    text = f"def {name}(a):\n    return a + 1\n"
    linecache.cache[file + "2"] = (len(text), None, text.splitlines(True), file + "2")
    exec(compile(text, file + "2", "exec"), space)
    g = cuda.vectorize("float64(float64)")(space[name])
    np.testing.assert_array_equal(g(np.ones(3)), np.full(3, 2.0))


def test_vectorize_and_guvectorize():
    f = cuda.vectorize("float64(float64)")(lambda a: a + 1)
    np.testing.assert_array_equal(f(np.arange(5.0)), np.arange(5) + 1)

    @cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(x, out):
        t = 0.0
        for v in x:
            t += v
        out[0] = t

    np.testing.assert_array_equal(total(np.ones((3, 4))), [4, 4, 4])


def test_smaller_names():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        cuda.stcg(out, i, cuda.ldca(x, i) + 1)
        for k in cuda.literal_unroll((1, 2.5)):
            out[i] += k

    x, out = np.arange(8.0), np.zeros(8)
    kernel[1, 8](cuda.In(x), cuda.Out(out))
    np.testing.assert_array_equal(out, x + 4.5)
    assert cuda.is_float16_supported()
