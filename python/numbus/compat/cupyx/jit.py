"""cupyx.jit: rawkernel and its names, which are those of numbus.cuda."""

import functools

from numbus import cuda

from .._missing import missing

__name__ = "cupyx.jit"
__path__ = []  # so that Python asks us what `from … import` does not find

threadIdx, blockIdx, blockDim, gridDim = (
    cuda.threadIdx,
    cuda.blockIdx,
    cuda.blockDim,
    cuda.gridDim,
)
grid, gridsize, laneid, warpsize = cuda.grid, cuda.gridsize, cuda.laneid, cuda.warpsize
syncthreads, syncwarp = cuda.syncthreads, cuda.syncwarp
shfl_sync, shfl_up_sync = cuda.shfl_sync, cuda.shfl_up_sync
shfl_down_sync, shfl_xor_sync = cuda.shfl_down_sync, cuda.shfl_xor_sync
atomic_add, atomic_sub = cuda.atomic.add, cuda.atomic.sub
atomic_exch, atomic_cas = cuda.atomic.exch, cuda.atomic.cas
atomic_min, atomic_max = cuda.atomic.min, cuda.atomic.max
atomic_inc, atomic_dec = cuda.atomic.inc, cuda.atomic.dec
atomic_and, atomic_or, atomic_xor = cuda.atomic.and_, cuda.atomic.or_, cuda.atomic.xor
range = range


class RawKernel:
    """A kernel in Python: kernel(grid, block, arguments), or kernel[grid, block](…)."""

    def __init__(self, function, device=False):
        functools.update_wrapper(self, function)
        self._kernel = cuda.jit(function, device=device)

    def _kernel_function(self):
        return self._kernel._kernel_function()

    def __call__(self, grid, block, args, shared_mem=0, stream=None):
        stream = getattr(stream, "_stream", 0)
        self._kernel[tuple(grid), tuple(block), stream, shared_mem](*args)

    def __getitem__(self, configuration):
        return self._kernel[configuration]


def rawkernel(mode="cuda", device=False):
    """Makes a Python function a kernel: @jit.rawkernel(); device=True: one that kernels call."""
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"[rawkernel] no such mode; got {mode!r}; expected 'cuda' or 'numpy'")
    return lambda function: RawKernel(function, device)


def __getattr__(name):
    if name == "shared_memory":
        return missing(__name__, name, "numba.cuda.shared.array(size, dtype), which runs here")
    return missing(__name__, name)
