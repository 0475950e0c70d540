"""Kernels of random numbers: uniform ones of NumPy's streams, and normal ones of our own.

philox gives the stream of np.random.Philox, the 4x64 variant with ten rounds, as raw words and as
NumPy's uniform numbers, of which each thread makes blocks; pcg64 those of np.random.PCG64. Normal
numbers are a stream of our own: Box and Muller's pairs of 4x32 words, with logarithm, sine and
cosine of our own, so that all devices have the same bits: src/routines/random.cpp takes the same
steps on a host.
"""

import math

import numpy as np

from .. import cuda
from ._device import INT, add, array
from ._streams import (
    HALF,
    LOW,
    STRIDE,
    THREADS,
    U32,
    U64,
    at_block,
    counted,
    jumped,
    output,
    pcg64_jumps,
    philox_block,
    product,
    total,
)

F32 = np.float32
ROUNDS = 10
N0, N1 = U64(0xD2511F53), U64(0xCD9E8D57)
V0, V1 = U32(0x9E3779B9), U32(0xBB67AE85)


def philox_small(c0, c1, c2, c3, k0, k1):
    """The four words of 32 bits of a counter, of the 4x32 variant."""
    for _ in range(ROUNDS):
        p0, p1 = N0 * U64(c0), N1 * U64(c2)
        c0, c1, c2, c3 = (
            U32(p1 >> HALF) ^ c1 ^ k0,
            U32(p1 & LOW),
            U32(p0 >> HALF) ^ c3 ^ k1,
            U32(p0 & LOW),
        )
        k0 += V0
        k1 += V1
    return c0, c1, c2, c3


def make_philox(kind):
    each = 8 if kind == "float32" else 4

    def philox(out, n, state):
        """Elements of the stream of a key, two words, from the block of a counter, four words,
        on; `out` is aligned.
        """
        j = cuda.grid(1)
        k0, k1 = state[0], state[1]
        c0, c1, c2, c3 = state[2], state[3], state[4], state[5]
        c0, c1, c2, c3 = counted(c0, c1, c2, c3, U64(j))
        r0, r1, r2, r3 = philox_block(c0, c1, c2, c3, k0, k1)
        first = j * each
        if kind == "uint64":
            e = (r0, r1, r2, r3)
        elif kind == "float64":
            unit = 1.0 / 9007199254740992.0
            e = (
                np.float64(r0 >> U64(11)) * unit,
                np.float64(r1 >> U64(11)) * unit,
                np.float64(r2 >> U64(11)) * unit,
                np.float64(r3 >> U64(11)) * unit,
            )
        else:
            unit = F32(1.0 / 16777216.0)
            e = (
                F32((r0 & LOW) >> U64(8)) * unit,
                F32(r0 >> U64(40)) * unit,
                F32((r1 & LOW) >> U64(8)) * unit,
                F32(r1 >> U64(40)) * unit,
                F32((r2 & LOW) >> U64(8)) * unit,
                F32(r2 >> U64(40)) * unit,
                F32((r3 & LOW) >> U64(8)) * unit,
                F32(r3 >> U64(40)) * unit,
            )
        if first + each <= n:
            i = first
            for v in e:
                out[i] = v
                i += 1
        else:
            i = first
            for v in e:
                if i < n:
                    out[i] = v
                i += 1
            # Another end than the other branch has: LLVM would join the last store of both, which
            # would not be part of a vector any more.
            cuda.threadfence_block()

    return philox


PCG64_WORDS = 16  # of the stream, for each thread of a block


def make_pcg64(kind):
    jumps = pcg64_jumps(PCG64_WORDS * THREADS)

    def pcg64(out, n, state):
        """Uniform numbers of the stream from the word of a state on: two words of the state, two of
        the increment, the upper ones first. float32 takes half a word for an element; the fifth
        word of `state` says whether one half is left from before, the sixth which it is.
        """
        begin = cuda.shared.array(2, U64)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        ih, il = state[2], state[3]
        if t == 0:
            begin[0], begin[1] = at_block(jumps, b, state[0], state[1], ih, il)
        cuda.syncthreads()
        sh, sl = jumped(jumps, t, begin[0], begin[1], ih, il)
        ih, il = product(ih, il, STRIDE[2], STRIDE[3])
        i = b * (PCG64_WORDS * THREADS) + t
        if kind == "float32":
            unit = F32(1.0 / 16777216.0)
            left = np.int64(state[4])
            if left != 0 and b == 0 and t == 0:
                out[0] = F32(state[5] >> U64(8)) * unit
            i = 2 * i + left
            for _ in range(PCG64_WORDS):
                w = output(sh, sl)
                if i < n:
                    out[i] = F32((w & LOW) >> U64(8)) * unit
                if i + 1 < n:
                    out[i + 1] = F32(w >> U64(40)) * unit
                sh, sl = product(sh, sl, STRIDE[0], STRIDE[1])
                sh, sl = total(sh, sl, ih, il)
                i += 2 * THREADS
        else:
            unit64 = 1.0 / 9007199254740992.0
            for _ in range(PCG64_WORDS):
                if i < n:
                    out[i] = np.float64(output(sh, sl) >> U64(11)) * unit64
                sh, sl = product(sh, sl, STRIDE[0], STRIDE[1])
                sh, sl = total(sh, sl, ih, il)
                i += THREADS

    return pcg64


# ln(1 + t) / t for sqrt(1/2) <= 1 + t <= sqrt(2), sin(y * pi/2) / y and cos(y * pi/2) in y * y for
# y of [-1/2, 1/2]: interpolated at Chebyshev's points, relative errors below 1e-8.
LOGARITHM = tuple(
    F32(c)
    for c in (
        1.0, -0.49999988, 0.33333325, -0.25001585, 0.20002072, -0.16609126, 0.14180079, -0.13240843,
        0.1291417, -0.07638592,
    )
)  # fmt: skip
SINE = tuple(F32(c) for c in (1.5707964, -0.6459641, 0.07969258, -0.0046812664, 0.00015820653))
COSINE = tuple(F32(c) for c in (1.0, -1.2337005, 0.25366920, -0.02086007, 0.00090362987))
# ln(2), of a number whose unit is that of a float's exponent.
LN2 = F32(F32(math.log(2)) * F32(2.0**-23))
ROOT_HALF = np.int32(0x3F3504F4)  # the bits of the least float above sqrt(1/2)
EXPONENT = np.int32(-(1 << 23))
SIGN = U32(1 << 31)


def horner(coefficients, x):
    total = coefficients[len(coefficients) - 1]
    for k in range(2, len(coefficients) + 1):
        total = cuda.fma(total, x, coefficients[len(coefficients) - k])
    return total


def pair32(w, v):
    """Two normal numbers of two words: the radius of w, the angle of v."""
    # -ln(w / 2**32), of f * 2**-e with f of (sqrt(1/2), sqrt(2)]: in the bits of w as a float.
    bits = F32(w | U32(1)).view(np.int32)
    above = (bits - ROOT_HALF) & EXPONENT
    t = (bits - above).view(F32) - F32(1.0)
    e = F32(np.int32(32 << 23) - above)
    logarithm = horner(LOGARITHM, t) * t
    r = np.sqrt(F32(2.0) * cuda.fma(e, LN2, -logarithm))
    # The angle in quarters of a circle, the nearest whole number of them, and the rest.
    y = F32(np.int32(v << U32(2))) * F32(2.0**-32)
    v += U32(1 << 29)
    s, c = horner(SINE, y * y) * y, horner(COSINE, y * y)
    if v & U32(1 << 30):
        s, c = c, -s
    r = (r.view(U32) ^ (v & SIGN)).view(F32)
    return r * c, r * s


# ln((1 + s) / (1 - s)) less 2 s, sin(a) less a and cos(a) less 1 in powers of their squares: for m
# of [sqrt(1/2), sqrt(2)) and angles up to a quarter of pi, errors of a few units in the last place.
LOGARITHM64 = tuple(2.0 / k for k in range(3, 20, 2))
SINE64 = tuple((-1) ** (k // 2) / math.factorial(k) for k in range(3, 16, 2))
COSINE64 = tuple((-1) ** (k // 2) / math.factorial(k) for k in range(2, 17, 2))
ONE = U64(0x3FF0000000000000)  # the bits of 1.0
ROOT_HALF64 = U64(0x3FE6A09E667F3BCD)
BIAS = U64(2048 << 52)
BITS52 = U64(52)


def pair64(radius, angle):
    """Two normal numbers of two words."""
    # (x + 1/2) / 2**52 of the upper 52 bits of a word: u = m * 2**e.
    u = ((radius >> U64(12)) | ONE).view(np.float64) - (1.0 - 2.0**-53)
    biased = u.view(U64) - ROOT_HALF64 + BIAS
    e = ((biased >> BITS52) | U64(0x4330000000000000)).view(np.float64) - (2.0**52 + 2048.0)
    m = (u.view(U64) - (((biased >> BITS52) << BITS52) - BIAS)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    logarithm = cuda.fma(s * z, horner(LOGARITHM64, z), 2.0 * s)
    square = -2.0 * cuda.fma(e, 0.69314718055994530942, logarithm)
    r = math.sqrt(square if square > 0.0 else 0.0)
    # The angle in quarters of a circle, the nearest whole number of them, and the rest.
    octant = angle + U64(1 << 61)
    a = ((((octant << U64(2)) >> U64(12)) | ONE).view(np.float64) - 1.5) * 1.57079632679489661923
    q = a * a
    sine, cosine = cuda.fma(a * q, horner(SINE64, q), a), cuda.fma(q, horner(COSINE64, q), 1.0)
    if octant & U64(1 << 62):
        sine, cosine = cosine, -sine
    r = (r.view(U64) ^ (octant & U64(1 << 63))).view(np.float64)
    return r * cosine, r * sine


def make_normal32():
    def philox_normal(out, n, state):
        """Block b has elements b * 2048 on, of which thread t makes every 256th from its own.

        Each 1024 of them are of 256 counters, one a thread. state: the key and the counter.
        """
        key, counter = state[0], state[1]
        t = cuda.threadIdx.x
        begin = cuda.blockIdx.x * (8 * THREADS)
        k0, k1 = U32(key & LOW), U32(key >> HALF)
        c = counter + U64(cuda.blockIdx.x * (2 * THREADS) + t)
        x = philox_small(U32(c & LOW), U32(c >> HALF), U32(0), U32(0), k0, k1)
        c += U64(THREADS)
        y = philox_small(U32(c & LOW), U32(c >> HALF), U32(0), U32(0), k0, k1)
        values = (
            *pair32(x[0], x[1]), *pair32(x[2], x[3]), *pair32(y[0], y[1]), *pair32(y[2], y[3])
        )  # fmt: skip
        i = begin + t
        if begin + 8 * THREADS <= n:
            for v in values:
                out[i] = v
                i += THREADS
        else:
            for v in values:
                if i < n:
                    out[i] = v
                i += THREADS

    return philox_normal


def make_normal64():
    def philox_normal(out, n, state):
        """Block b has elements b * 512 on, of which thread t makes two; state as above."""
        key, counter = state[0], state[1]
        first = cuda.blockIdx.x * (2 * THREADS) + cuda.threadIdx.x
        c = counter + U64(cuda.grid(1))
        w = philox_small(
            U32(c & LOW), U32(c >> HALF), U32(1), U32(0), U32(key & LOW), U32(key >> HALF)
        )
        x, y = pair64((U64(w[0]) << HALF) | U64(w[1]), (U64(w[2]) << HALF) | U64(w[3]))
        if first < n:
            out[first] = x
        if first + THREADS < n:
            out[first + THREADS] = y

    return philox_normal


def load_philox(dtype):
    kind = np.dtype(dtype).name
    add("philox", dtype, make_philox(kind), [array(kind, aligned=True), INT, array("uint64")])


def load_pcg64(dtype):
    kind = np.dtype(dtype).name
    arguments = [array(kind), INT, array("uint64")]
    tile = PCG64_WORDS * THREADS * (2 if kind == "float32" else 1)
    add("pcg64", dtype, make_pcg64(kind), arguments, tile=tile, threads=THREADS)


def load_normal(dtype):
    kernel = make_normal32() if dtype == "float32" else make_normal64()
    add("philox_normal", dtype, kernel, [array(dtype), INT, array("uint64")])
