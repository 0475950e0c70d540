"""What is measured: one computation on one size, as NumPy code and by hand for each library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Case", "Once", "fill", "jax_program", "torch_program", "traced"]

# Inputs that are smaller than this together are made several times and taken in turn, so that a
# rate of memory is not one of caches: more than the last-level caches of today's machines.
ROTATION = 384e6


@dataclass
class Case:
    """A computation: `code(xp, **inputs)`, or `programs[library]() -> f(**inputs)`.

    Programs are found under 'library:device' or 'library'; NumPy, Numbus and CuPy run `code`
    where they have no program of their own. A builder is called once a suite: what it compiles
    serves every size, as it would a user.

    name: unique within its suite. operation, size: what a chart's row says; n: the size as a
    number. make(i): the i-th set of inputs, a dict; arrays go to the device, all else stays as it
    is. bytes, flops: what has to move and be done at the least, however it is programmed.
    reference(**inputs): NumPy's result where `code` is not it. see(xp, result): what of a result
    is compared, if not all.
    """

    name: str
    operation: str
    size: str
    n: float
    make: Callable[[int], dict]
    bytes: float
    flops: float = 0.0
    code: Callable | None = None
    programs: dict[str, Callable] = field(default_factory=dict)
    reference: Callable | None = None
    see: Callable | None = None
    dtype: str = "float64"
    rtol: float = 1e-12
    reads_only: bool = False  # no array is written: the limit is reading, not copying
    data: str = ""  # cases with the same key have the same inputs, which then stay in place
    input_bytes: float = 0.0
    memory: float = 0.0  # bytes for inputs, results and temporaries at once
    rotate: bool = False
    stays: bool = False  # inputs stay on the host: bringing them over is part of the work
    calls: int = 1  # calls in one sample, which is divided by it
    link: str = ""  # 'to', 'from' or 'both': the limit is the link
    headline: bool = False  # counts in the mean over all workloads
    baseline: str = ""  # the case whose NumPy time this one is compared with, if not its own

    def sets(self, quick=False):
        """How many sets of inputs are taken in turn."""
        if not self.rotate or not self.input_bytes:
            return 1
        return int(min(64, max(1, np.ceil((8e6 if quick else ROTATION) / self.input_bytes))))

    def expected(self, inputs):
        """NumPy's result, as it is compared."""
        if self.reference is not None:
            return self.reference(**inputs)
        result = self.code(np, **inputs)
        return result if self.see is None else self.see(np, result)


class Once:
    """Something made when it is first asked for, so that it belongs to no timed run: for inputs of
    one shape and dtype, or with `each` for this very input.
    """

    def __init__(self, make, each=False):
        self.make, self.each = make, each
        self.given = self.made = None

    def __call__(self, x):
        old = self.given
        same = old is x or (
            not self.each and old is not None and (old.shape, old.dtype) == (x.shape, x.dtype)
        )
        if not same:
            self.made = None  # before there are two of them
            self.given, self.made = x, self.make(x)
        return self.made


def fill(shape, dtype="float64", seed=0):
    """Random numbers in [0, 1); of large arrays, a block of 4 million of them again and again."""
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    block = np.random.default_rng(seed).random(min(flat.size, 1 << 22), dtype)
    for low in range(0, flat.size, block.size):
        part = flat[low : low + block.size]
        part[:] = block[: part.size]
    return out


@functools.cache
def jax_program(code):
    """The same code, compiled by JAX."""

    def build():
        import jax
        import jax.numpy as jnp

        return jax.jit(lambda **inputs: code(jnp, **inputs))

    return build


@functools.cache
def torch_program(code, compiled=False):
    """The same code with PyTorch's functions, step by step or compiled."""

    def build():
        import torch

        def run(**inputs):
            return code(torch, **inputs)

        return torch.compile(run) if compiled else run

    return build


def traced(code):
    """Programs for JAX and PyTorch from code that works with either module's names."""
    return {
        "jax": jax_program(code),
        "torch": torch_program(code),
        "torch.compile": torch_program(code, compiled=True),
    }
