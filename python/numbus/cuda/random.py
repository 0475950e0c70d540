"""Random numbers in kernels: xoroshiro128+, a state for each thread.

The generator is that of David Blackman and Sebastiano Vigna, "Scrambled linear pseudorandom
number generators" (2018, arXiv:1805.01407), with the constants 55, 14 and 36 of their first
publication and SplitMix64 for seeds; bits and uniform numbers are those of numba.cuda.random.
Normal float64 numbers differ from the eighth digit on: they are made of 53 random bits here, of 24
there.

States are an array of uint64, two for each thread.
"""

import math

import numpy

from .._core import ndarray
from ..kernels._dispatch import njit
from . import _host

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_state",
    "init_xoroshiro128p_states",
    "init_xoroshiro128p_states_cpu",
    "rotl",
    "uint64_to_unit_float32",
    "uint64_to_unit_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

xoroshiro128p_dtype = numpy.dtype(numpy.uint64)
_U = numpy.uint64
_GOLDEN = _U(0x9E3779B97F4A7C15)
_MIX1 = _U(0xBF58476D1CE4E5B9)
_MIX2 = _U(0x94D049BB133111EB)
_JUMPS = (_U(0xBEAC0467EBA5FACB), _U(0xD86B048B86AA9922))
_ONE = _U(1)
_ZERO = _U(0)


@njit
def init_xoroshiro128p_state(states, index, seed):
    """Sets the state at an index from a 64-bit seed, mixed by SplitMix64."""
    z = _U(seed) + _GOLDEN
    z = (z ^ (z >> _U(30))) * _MIX1
    z = (z ^ (z >> _U(27))) * _MIX2
    z = z ^ (z >> _U(31))
    states[index, 0] = z
    states[index, 1] = z


@njit
def rotl(x, k):
    """The 64 bits of x, rotated to the left by k."""
    return (_U(x) << _U(k)) | (_U(x) >> _U(64 - k))


@njit
def xoroshiro128p_next(states, index):
    """The next 64 random bits of the state at an index."""
    s0 = states[index, 0]
    s1 = states[index, 1]
    result = s0 + s1
    s1 = s1 ^ s0
    states[index, 0] = rotl(s0, 55) ^ s1 ^ (s1 << _U(14))
    states[index, 1] = rotl(s1, 36)
    return result


@njit
def xoroshiro128p_jump(states, index):
    """Advances the state at an index by 2**64 steps."""
    s0 = _ZERO
    s1 = _ZERO
    for i in range(2):
        for b in range(64):
            if (_JUMPS[i] >> _U(b)) & _ONE != _ZERO:
                s0 = s0 ^ states[index, 0]
                s1 = s1 ^ states[index, 1]
            xoroshiro128p_next(states, index)
    states[index, 0] = s0
    states[index, 1] = s1


@njit
def uint64_to_unit_float64(x):
    """A float64 in [0, 1) of the upper 53 bits."""
    return numpy.float64(_U(x) >> _U(11)) * (1.0 / 9007199254740992.0)


@njit
def uint64_to_unit_float32(x):
    """uint64_to_unit_float64 as float32, which scaling by a power of two before or after rounds the
    same: in [0, 1]."""
    return numpy.float32(_U(x) >> _U(11)) * numpy.float32(1.0 / 9007199254740992.0)


@njit
def xoroshiro128p_uniform_float32(states, index):
    """A float32, uniform in [0, 1); advances the state at the index by one step."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@njit
def xoroshiro128p_uniform_float64(states, index):
    """A float64, uniform in [0, 1); advances the state at the index by one step."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@njit
def xoroshiro128p_normal_float32(states, index):
    """A float32, normal with mean 0 and deviation 1 (Box and Muller); takes two steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(numpy.float32(-2.0) * math.log(u1)) * math.cos(numpy.float32(2 * math.pi) * u2)


@njit
def xoroshiro128p_normal_float64(states, index):
    """A float64, normal with mean 0 and deviation 1 (Box and Muller); takes two steps."""
    u1 = xoroshiro128p_uniform_float64(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(2 * math.pi * u2)


@njit
def _fill(states, seed, start):
    n = states.shape[0]
    if n > 0:
        init_xoroshiro128p_state(states, 0, seed)
        for _ in range(start):
            xoroshiro128p_jump(states, 0)
        for i in range(1, n):
            states[i, 0] = states[i - 1, 0]
            states[i, 1] = states[i - 1, 1]
            xoroshiro128p_jump(states, i)


def init_xoroshiro128p_states_cpu(states, seed, subsequence_start=0):
    """Sets states of the host: each one 2**64 steps after the one before.

    states: (n, 2) uint64. subsequence_start: jumps of the first one.
    """
    _fill(states, numpy.uint64(seed % 2**64), int(subsequence_start))


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Sets states of the device: each one 2**64 steps after the one before."""
    made = numpy.empty(states.shape, numpy.uint64)
    init_xoroshiro128p_states_cpu(made, seed, subsequence_start)
    if isinstance(states, ndarray):
        states.copy_to_device(made, stream)
    else:
        states[...] = made


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """New states for n threads on the device, (n, 2) uint64."""
    states = numpy.empty((n, 2), numpy.uint64)
    init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
    return _host.to_device(states, stream)
