"""cuda.reduce: combines the elements of an array by a function of two, on the device."""

import functools
import inspect

import numpy

from .._core import ndarray
from ..core import dtypes
from ..kernels._dispatch import Dispatcher
from ..kernels._generate import make, result_dtype
from ._host import device_array, synchronize
from ._kernels import jit
from ._names import blockIdx, shared, syncthreads, threadIdx

__all__ = ["Reduce", "reduce"]

THREADS = 256
BLOCKS = 1024  # at most, so that one block can combine what they give

# Each block combines a run of elements of its own; its threads take turns, so that neighbours read
# neighbours. `live` threads have any.
_LINES = """
def reduce(x, n, run, first, has, out):
    s = shared.array({threads}, T)
    t = threadIdx.x
    begin = blockIdx.x * run
    end = min(begin + run, n)
    live = min({threads}, end - begin)
    if t < live:
        v = T(x[begin + t])
        for k in range(begin + t + {threads}, end, {threads}):
            v = T(f(v, T(x[k])))
        s[t] = v
    syncthreads()
    step = 1
    while step < {threads}:
        if t % (2 * step) == 0 and t + step < live:
            s[t] = T(f(s[t], s[t + step]))
        syncthreads()
        step *= 2
    if t == 0:
        if has:
            out[blockIdx.x] = T(f(first, s[0]))
        else:
            out[blockIdx.x] = s[0]
"""


class Reduce:
    """A reduction by a function of two numbers: Reduce(lambda a, b: a + b)(x).

    The function is associative and commutative. Two kernels: blocks combine their parts in shared
    memory, then one block combines the results. The order of combining depends on the number of
    elements only, so results repeat bit for bit.
    """

    def __init__(self, functor):
        functools.update_wrapper(self, functor)
        count = len(inspect.signature(functor).parameters)
        if count != 2:
            raise TypeError(
                f"[reduce] the function combines two numbers; got one of {count} parameters; "
                "expected 2"
            )
        self._functor = functor
        self._function = (
            functor
            if hasattr(functor, "_kernel_function")
            else Dispatcher(functor, {"error_model": "numpy"})
        )
        self._kernels = {}

    def _kernel(self, dtype):
        kernel = self._kernels.get(dtype)
        if kernel is None:
            found = result_dtype(self._function, [numpy.zeros(0, dtype)] * 2)
            if not dtypes.can_cast(found, dtype, "same_kind"):
                raise TypeError(
                    f"[reduce] the function gives another type; got {found}; expected {dtype}"
                )
            text = _LINES.format(threads=THREADS).strip().split("\n")
            function = make(
                "reduce",
                text,
                f=self._function,
                T=dtype.type,
                shared=shared,
                threadIdx=threadIdx,
                blockIdx=blockIdx,
                syncthreads=syncthreads,
            )
            kernel = self._kernels[dtype] = jit(function)
        return kernel

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """Combines the elements of a 1-d array.

        arr: of the host or the device, 1-d. size: how many elements count, all by default. res: an
        array of the device whose first element gets the result; without it, the result is
        returned. init: combined with the rest, first; the result where there are no elements.
        stream: where the kernels run.
        """
        if arr.ndim != 1:
            raise TypeError(
                f"[reduce] the array has to be 1-d; got {arr.ndim} dimensions; expected 1"
            )
        n = arr.shape[0] if size is None else int(size)
        if not 0 <= n <= arr.shape[0]:
            raise ValueError(f"[reduce] size does not fit; got {n}; expected 0 to {arr.shape[0]}")
        dtype = numpy.dtype(arr.dtype)
        first = dtype.type(init)
        if n == 0:
            if res is None:
                return first
            res[0] = first
            return None
        kernel = self._kernel(dtype)
        run = max(16 * THREADS, -(-n // BLOCKS))
        blocks = -(-n // run)
        parts = device_array(blocks, dtype)
        out = device_array(1, dtype)
        if blocks == 1:
            kernel[1, THREADS, stream](arr, n, run, first, True, out)
        else:
            kernel[blocks, THREADS, stream](arr, n, run, first, False, parts)
            kernel[1, THREADS, stream](parts, blocks, blocks, first, True, out)
        if res is None:
            return out.copy_to_host(stream=stream)[0]
        if isinstance(res, ndarray):
            res[:1] = out
        else:
            res[0] = out.copy_to_host()[0]
        synchronize()
        return None


def reduce(functor):
    """Reduce as a decorator: @cuda.reduce."""
    return Reduce(functor)
