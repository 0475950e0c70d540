"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

from numpy.typing import DTypeLike
from .. import ndarray
Archive: Any
CUSource: Any
Cubin: Any
CudaSupportError: Any
DeviceNDArray: Any
Event: Any
Fatbin: Any
def In(ary: Any) -> Any:
    """An argument that a kernel reads: a copy on the device, not copied back."""
def InOut(ary: Any) -> Any:
    """An argument that a kernel writes: it is copied back where that is so anyway."""
KernelRuntimeError: Any
LTOIR: Any
LinkableCode: Any
ManagedNDArray: Any
MappedNDArray: Any
MemoryInfo: Any
Object: Any
def Out(ary: Any) -> Any:
    """An argument that a kernel writes: it is copied back where that is so anyway."""
PTXSource: Any
Reduce: Any
Stream: Any
activemask: Any
all_sync: Any
def alloc_pinned(nbytes: Any) -> Any:
    """Pinned memory: an object with the buffer protocol, `.ptr` and `.nbytes`."""
any_sync: Any
def as_cuda_array(obj: Any, sync: Any = True) -> Any:
    """The object as an array of ours, without a copy where it lies on the GPU."""
atomic: Any
ballot_sync: Any
blockDim: Any
blockIdx: Any
brev: Any
cbrt: Any
cg: Any
def close() -> Any:
    """Nothing has to be closed."""
clz: Any
def compile(function: Any, signature: Any, output: Any = 'ptx', device: Any = True, abi: Any = None, **options: Any) -> Any:
    """compile_ptx of a device function with C's ABI, unless said otherwise; output: 'ptx'."""
def compile_for_current_device(function: Any, signature: Any, output: Any = 'ptx', **options: Any) -> Any:
    """compile for the GPU in use."""
def compile_ptx(function: Any, signature: Any, device: Any = False, fastmath: Any = False, cc: Any = None, debug: Any = False, abi: Any = None, abi_info: Any = None, **options: Any) -> Any:
    """(PTX, result type) of a kernel, or with device=True of a function that other code calls."""
def compile_ptx_for_current_device(function: Any, signature: Any, **options: Any) -> Any:
    """compile_ptx for the GPU in use."""
const: Any
def cuda_error() -> Any:
    """Why CUDA could not be initialised; None where it could."""
def current_context(devnum: Any = None) -> Any:
    """The context of the device in use; raises ValueError for another one's."""
def declare_device(name: Any, sig: Any, link: Any = None, use_cooperative: Any = False, abi: Any = 'numba') -> Any:
    """A function of other code that kernels call: declare_device('f', 'float32(float32)')."""
def default_stream() -> Any:
    """The stream of all work that names none, array operations among it."""
def defer_cleanup() -> Any:
    """Memory goes back to a pool, never to the driver: nothing to defer."""
def detect() -> Any:
    """Prints the GPUs; returns whether there is one."""
def device_array(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., strides: Any = None, order: Any = 'C', stream: Any = 0) -> Any:
    """An uninitialised array on the device of kernels, of C or F order."""
def device_array_like(ary: Any, stream: Any = 0) -> Any:
    """An uninitialised array of the shape, dtype and order of another."""
def device_count() -> Any:
    """The number of GPUs; 0 where none can be used."""
eq_sync: Any
def event(timing: Any = True) -> Any:
    """An event."""
def event_elapsed_time(evtstart: Any, evtend: Any) -> Any:
    """Milliseconds between two events that have happened."""
def external_stream(ptr: Any) -> Any:
    """Another library's stream, given by its handle; it has to live as long as it is used here."""
ffs: Any
float32x1: Any
float32x2: Any
float32x3: Any
float32x4: Any
float64x1: Any
float64x2: Any
float64x3: Any
float64x4: Any
fma: Any
fp16: Any
def from_cuda_array_interface(desc: Any, owner: Any = None, sync: Any = True) -> Any:
    """The array that a __cuda_array_interface__ describes; no copy where it is on the GPU."""
def get_current_device() -> Any:
    """The device in use."""
gpus: Any
grid: Any
gridDim: Any
gridsize: Any
def guvectorize(*args: Any, **options: Any) -> Any:
    """numbus.guvectorize with target='cuda'."""
implementation: Any
def initialize() -> Any:
    """The driver is loaded when it is needed: nothing to do."""
int16x1: Any
int16x2: Any
int16x3: Any
int16x4: Any
int32x1: Any
int32x2: Any
int32x3: Any
int32x4: Any
int64x1: Any
int64x2: Any
int64x3: Any
int64x4: Any
int8x1: Any
int8x2: Any
int8x3: Any
int8x4: Any
def is_available() -> Any:
    """Whether a GPU can be used. The first call loads the driver."""
def is_bfloat16_supported() -> Any:
    """Whether bfloat16 can be computed with."""
def is_cuda_array(obj: Any) -> Any:
    """Whether the object has __cuda_array_interface__, or is an array of ours."""
def is_float16_supported() -> Any:
    """Whether float16 can be computed with."""
def is_fp8_supported() -> Any:
    """Whether 8-bit floats can be computed with: not yet."""
def is_supported_version() -> Any:
    """Whether the driver's CUDA version is supported."""
def jit(signature_or_function: Any = None, **options: Any) -> Any:
    """A kernel, or with device=True a function that kernels call."""
laneid: Any
lanemask_lt: Any
ldca: Any
ldcg: Any
ldcs: Any
ldcv: Any
ldlu: Any
def legacy_default_stream() -> Any:
    """The stream of all work that names none, array operations among it."""
libdevice: Any
def list_devices() -> Any:
    """All GPUs; without one, the CPU that stands in."""
literal_unroll: Any
local: Any
def managed_array(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., strides: Any = None, order: Any = 'C', stream: Any = 0, attach_global: Any = True) -> Any:
    """A ManagedNDArray: a NumPy array whose memory moves to where it is used."""
def mapped(*arylist: Any, stream: Any = 0, portable: Any = False) -> Any:
    """The arrays as arrays of the device over the same memory, while the block lasts: one, or a
    list. The end of the block waits for kernels that use them; they must not be used after it."""
def mapped_array(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., strides: Any = None, order: Any = 'C', stream: Any = 0, portable: Any = False, wc: Any = False) -> Any:
    """A MappedNDArray: a NumPy array in pinned memory that kernels read and write in place."""
def mapped_array_like(ary: Any, stream: Any = 0, portable: Any = False, wc: Any = False) -> Any:
    """mapped_array of the shape, dtype and order of another."""
match_all_sync: Any
match_any_sync: Any
def memory_stats(device: Any = 0) -> Any:
    """A dict of used_bytes, pooled_bytes, peak_bytes, limit and spilled_bytes of a device."""
def memset(ary: Any, value: Any, stream: Any = 0) -> Any:
    """Sets every byte of a contiguous array on the device, in the stream."""
mul_high: Any
nanosleep: Any
def per_thread_default_stream() -> Any:
    """The stream of all work that names none, array operations among it."""
def pinned(*arylist: Any) -> Any:
    """Pins arrays while the block lasts: copies between them and a GPU are fast, and in a stream
    they run while the program goes on. The end of the block waits for these."""
def pinned_array(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., strides: Any = None, order: Any = 'C') -> Any:
    """A NumPy array in pinned memory: copies between it and a GPU are fast, and in a stream they
    run while the program goes on."""
def pinned_array_like(ary: Any) -> Any:
    """pinned_array of the shape, dtype and order of another."""
popc: Any
def profile_start() -> Any:
    """For profilers; does nothing."""
def profile_stop() -> Any:
    """For profilers; does nothing."""
def profiling() -> Any:
    """For profilers; does nothing."""
random: Any
def reduce(functor: Any) -> Any:
    """Reduce as a decorator: @cuda.reduce."""
reduction: Any
def require_context(function: Any) -> Any:
    """The function: a context is made when one is needed."""
def reset_peak(device: Any = 0) -> Any:
    """Has peak_bytes of `memory_stats` begin anew from what is used now."""
runtime: Any
def select_device(device_id: Any) -> Any:
    """Makes a GPU the one in use."""
selp: Any
def set_limit(nbytes: Any, device: Any = 0) -> Any:
    """Bounds the memory that Numbus takes on a device; 0 is the whole of it."""
shared: Any
shfl_down_sync: Any
shfl_sync: Any
shfl_up_sync: Any
shfl_xor_sync: Any
stcg: Any
stcs: Any
def stream() -> Any:
    """A new stream."""
stwb: Any
stwt: Any
def synchronize() -> None:
    """Waits for all work, and raises what a kernel has noted."""
syncthreads: Any
syncthreads_and: Any
syncthreads_count: Any
syncthreads_or: Any
syncwarp: Any
threadIdx: Any
threadfence: Any
threadfence_block: Any
threadfence_system: Any
def to_device(obj: Any, stream: Any = 0, copy: Any = True, to: Any = None) -> ndarray:
    """The array on the device of kernels; a copy, also on a CPU."""
def trim(device: Any = 0) -> Any:
    """Gives pooled memory that nobody uses back to the system, all of it and at once."""
uint16x1: Any
uint16x2: Any
uint16x3: Any
uint16x4: Any
uint32x1: Any
uint32x2: Any
uint32x3: Any
uint32x4: Any
uint64x1: Any
uint64x2: Any
uint64x3: Any
uint64x4: Any
uint8x1: Any
uint8x2: Any
uint8x3: Any
uint8x4: Any
def used_bytes(device: Any = 0) -> Any:
    """The bytes that arrays and pending work hold."""
def vectorize(*args: Any, **options: Any) -> Any:
    """numbus.vectorize with target='cuda'."""
warpsize: Any
