"""Names that mean something inside kernels: threadIdx, shared.array, atomic.add and so on."""


class Name:
    """Stands for something inside a kernel; has no meaning outside of one."""

    def __init__(self, name, doc):
        self._kernel_name = name
        self.__name__ = name.removeprefix("value ")
        self.__doc__ = doc

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            f"[{self.__name__}] called outside of a kernel; expected to stand inside "
            "a function decorated with @cuda.jit"
        )

    def __repr__(self):
        return f"<{self.__name__}>"


class Dim3:
    """x, y and z of an index or an extent, inside kernels."""

    def __init__(self, name, doc):
        self.__name__ = self.__qualname__ = f"cuda.{name}"
        self.__doc__ = doc
        self._kernel_name = (
            f"unsupported cuda.{name} is three numbers; cuda.{name}.x, or cuda.grid(1)"
        )
        for axis in "xyz":
            setattr(self, axis, Name(f"value cuda.{name}.{axis}", doc))


threadIdx = Dim3("threadIdx", "The thread's index in its block.")
blockIdx = Dim3("blockIdx", "The block's index in the grid.")
blockDim = Dim3("blockDim", "The extent of a block in threads.")
gridDim = Dim3("gridDim", "The extent of the grid in blocks.")
laneid = Name("value cuda.laneid", "The thread's number in its warp, 0 to 31.")
warpsize = 32


class _Group:
    """Functions under one name."""

    def __init__(self, name, **functions):
        self.__name__ = f"cuda.{name}"
        for function, doc in functions.items():
            setattr(self, function, Name(f"cuda.{name}.{function}", doc))


shared = _Group(
    "shared",
    array="shared.array(shape, dtype): memory that a block's threads share. "
    "A shape of 0 is what the launch asks for.",
)
local = _Group("local", array="local.array(shape, dtype): memory of one thread.")
const = _Group("const", array_like="const.array_like(array): a global array, as constant memory.")
_old = "returns the old value. On 32- and 64-bit numbers in global or shared memory."
atomic = _Group(
    "atomic",
    add=f"atomic.add(array, index, value): array[index] += value; {_old}",
    sub=f"atomic.sub(array, index, value): array[index] -= value; {_old}",
    and_=f"atomic.and_(array, index, value): array[index] &= value; {_old}",
    or_=f"atomic.or_(array, index, value): array[index] |= value; {_old}",
    xor=f"atomic.xor(array, index, value): array[index] ^= value; {_old}",
    inc=f"atomic.inc(array, index, value): counts up to value, then 0; {_old}",
    dec=f"atomic.dec(array, index, value): counts down to 0, then value; {_old}",
    exch=f"atomic.exch(array, index, value): array[index] = value; {_old}",
    max=f"atomic.max(array, index, value): the larger one, NaN if either is; {_old}",
    min=f"atomic.min(array, index, value): the smaller one, NaN if either is; {_old}",
    nanmax=f"atomic.nanmax(array, index, value): the larger one, ignoring NaN; {_old}",
    nanmin=f"atomic.nanmin(array, index, value): the smaller one, ignoring NaN; {_old}",
    load="atomic.load(array, index): what stands there now, in a loop that waits for other blocks. "
    "On 32- and 64-bit numbers.",
    cas=f"atomic.cas(array, index, old, value): value where old stands; {_old}",
    compare_and_swap=f"atomic.compare_and_swap(array, old, value): on element 0; {_old}",
)

_FUNCTIONS = {
    "grid": "grid(n): the thread's index in the grid, an int or a tuple of n.",
    "gridsize": "gridsize(n): the extent of the grid in threads, an int or a tuple of n.",
    "syncthreads": "Waits until all threads of the block are here.",
    "syncthreads_count": "syncthreads_count(p): for how many threads of the block p holds.",
    "syncthreads_and": "syncthreads_and(p): whether p holds for all threads of the block.",
    "syncthreads_or": "syncthreads_or(p): whether p holds for any thread of the block.",
    "threadfence": "Orders memory for the whole GPU.",
    "threadfence_block": "Orders memory for the block.",
    "threadfence_system": "Orders memory for the GPU and the host.",
    "syncwarp": "syncwarp(mask=all): waits for these lanes of the warp.",
    "activemask": "The lanes that are here now, as bits.",
    "lanemask_lt": "The lanes before this one, as bits.",
    "shfl_sync": "shfl_sync(mask, value, lane): another lane's value.",
    "shfl_up_sync": "shfl_up_sync(mask, value, n): the value of n lanes before.",
    "shfl_down_sync": "shfl_down_sync(mask, value, n): the value of n lanes after.",
    "shfl_xor_sync": "shfl_xor_sync(mask, value, bits): the value of lane (own ^ bits).",
    "all_sync": "all_sync(mask, p): whether p holds for all these lanes.",
    "any_sync": "any_sync(mask, p): whether p holds for any of these lanes.",
    "eq_sync": "eq_sync(mask, p): whether p is the same for all these lanes.",
    "ballot_sync": "ballot_sync(mask, p): the lanes for which p holds, as bits.",
    "match_any_sync": "match_any_sync(mask, value, bits=all): the lanes that have the same value, "
    "as bits; with a constant `bits`, the same low bits.",
    "match_all_sync": "match_all_sync(mask, value): (mask, True) where all are the same, else (0, "
    "False).",
    "popc": "popc(x): the number of bits set.",
    "clz": "clz(x): the number of zero bits in front.",
    "brev": "brev(x): the bits in reverse order.",
    "ffs": "ffs(x): the position of the first bit set, from 1; 0 where none is.",
    "fma": "fma(a, b, c): a * b + c with one rounding.",
    "mul_high": "mul_high(a, b): the upper word of the product of two words of 64 bits.",
    "cbrt": "cbrt(x): the cube root.",
    "selp": "selp(p, a, b): a where p holds, else b; no branch.",
    "nanosleep": "nanosleep(ns): waits about that long.",
}
for _name, _doc in _FUNCTIONS.items():
    globals()[_name] = Name(f"cuda.{_name}", _doc)

# Of the package's own kernels: a CPU has no such product.
on_gpu = Name("cuda.on_gpu", "on_gpu(): whether a GPU runs the kernel, a constant of its code.")
mma_tf32 = Name(
    "cuda.mma_tf32",
    "mma_tf32(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3): the warp's c + a @ b of 16 x 8 and 8 x 8 "
    "numbers in TF32, as PTX's mma.m16n8k8 lays them out: four numbers of float32. Only where "
    "on_gpu() holds.",
)


class GridGroup:
    """All threads of a launch; see cg.this_grid()."""

    sync = Name("cuda.cg.GridGroup.sync", "Waits until all threads of the launch are here.")


class _Cooperative:
    """Cooperative groups: cg.this_grid().sync() waits for all threads of the grid."""

    __name__ = "cuda.cg"
    GridGroup = GridGroup
    this_grid = Name("cuda.cg.this_grid", "The group of all threads of the launch.")


cg = _Cooperative()

__all__ = [
    "atomic",
    "blockDim",
    "blockIdx",
    "cg",
    "const",
    "gridDim",
    "laneid",
    "local",
    "shared",
    "threadIdx",
    "warpsize",
    *_FUNCTIONS,
]
