"""Barriers of GPU kernels are not copied: threads of one warp have to wait at one and the same."""

import numpy as np
import pytest
from helpers import MODULE

pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="kernels of Numbus")

KINDS = ["normal", "exponential", "integers64", "integers32", "integers16", "integers8"]


@pytest.mark.parametrize("generator", ["philox", "pcg64"])
@pytest.mark.parametrize("kind", KINDS)
def test_samples(generator, kind):
    """Seven barriers, and one more where a thread finds the beginning of a block's stream."""
    from numbus import cuda
    from numbus.primitives import samples

    if kind.startswith("integers"):
        bits = int(kind[8:])
        word, parsed = "int64", False
        decode, value = samples.make_integers(bits, np.int64)
    else:
        bits, word, parsed = 64, "float64", True
        make = samples.make_normal if kind == "normal" else samples.make_exponential
        decode, value = make(word)
    kernel, _ = samples.make_sample(generator, decode, value, parsed, bits, samples.EACH[bits])
    line = "int64[::1]"
    signature = f"void({word}[::1], {line}, {line}, uint32[::1], int64, uint64[::1])"
    ptx, _ = cuda.compile_ptx(kernel, signature)
    assert ptx.count("bar.sync") == 7 + (generator == "pcg64")
