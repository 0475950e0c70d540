"""cuda.jit: kernels, device functions, launching."""

import functools
import inspect
import os

from .. import _core
from ..functions.creation import asarray
from ..kernels import types
from ..kernels._declared import ARRAYS, Declared
from ..kernels._dispatch import Dispatcher, callable_function, flags, resolver
from ..kernels._errors import bind
from ..kernels._resolve import checked_itself, program
from . import _link
from ._streams import core_stream

__all__ = [
    "compile",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "jit",
]

_OPTIONS = {
    "device",
    "inline",
    "forceinline",
    "link",
    "debug",
    "opt",
    "lineinfo",
    "cache",
    "extensions",
    "launch_bounds",
    "lto",
    "shared_memory_carveout",
    "fastmath",
    "max_registers",
    "boundscheck",
    "argtypes",
    "signature",
}


def dimensions(value, what):
    """(x, y, z) of an int or of up to three."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(items) <= 3:
        raise ValueError(
            f"[cuda] {what} has one to three dimensions; got {value!r}; expected such "
            "as 64 or (16, 16)"
        )
    try:
        numbers = [i.__index__() for i in items]
    except (AttributeError, TypeError):
        raise TypeError(
            f"[cuda] {what} has to be made of integers; got {value!r}; expected such as "
            "64 or (16, 16)"
        ) from None
    return (*numbers, *(1 for _ in range(3 - len(numbers))))


def _known(argument):
    """An argument as declared types are compared with it: other libraries' arrays as ours."""
    foreign = not isinstance(argument, ARRAYS) and hasattr(argument, "__cuda_array_interface__")
    return asarray(argument) if foreign else argument


class Launch:
    """A kernel with its grid: what kernel[grid, block] gives."""

    __slots__ = ("geometry", "kernel", "stream")

    def __init__(self, kernel, geometry, stream):
        self.kernel, self.geometry, self.stream = kernel, geometry, stream

    def __call__(self, *args):
        kernel = self.kernel
        if len(args) != kernel._count:
            args = bind(kernel.py_func, args)
        if kernel._declared is not None:
            args = tuple(kernel._declared.fit(kernel.__name__, [_known(a) for a in args])[0])
        (kernel._core or kernel._make()).launch(self.geometry, self.stream, args)


class ForAll:
    """Launches a kernel over at least `count` threads in one dimension."""

    def __init__(self, kernel, count, tpb, stream, sharedmem):
        if count < 0:
            raise ValueError(f"[forall] negative number of tasks; got {count}; expected 0 or more")
        self.kernel, self.count, self.tpb, self.shared = kernel, count, tpb or 128, sharedmem
        self.stream = stream

    def __call__(self, *args):
        if self.count:
            blocks = -(-self.count // self.tpb)
            self.kernel[blocks, self.tpb, self.stream, self.shared](*args)


class Kernel:
    """A function that runs once for each thread of a grid: kernel[grid, block](arguments).

    Compiled for each combination of argument types, for the device that is the default when it is
    launched: an NVIDIA GPU, or the CPU. Arrays of the host are copied to a GPU, and back where the
    kernel writes to them. Errors in a kernel (raise, and indices out of bounds unless
    boundscheck=False) are raised by the next synchronisation, on a CPU by the launch.
    """

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = options
        self._core = None
        self._count = len(inspect.signature(function).parameters)
        self._launches = {}
        self._declared = None  # the signatures that launches have to fit, where there are some

    def _make(self):
        options = flags(self.targetoptions, ("fastmath", "debug", "boundscheck"))
        if os.environ.get("NUMBA_CUDA_DEBUGINFO") == "1":
            options["debug"] = True
        bounds = self.targetoptions.get("launch_bounds")
        if bounds is not None:
            bounds = bounds if isinstance(bounds, tuple) else (bounds,)
            options["max_threads"] = int(bounds[0])
            options["min_blocks"] = int(bounds[1]) if len(bounds) > 1 else 0
        links = self.targetoptions.get("link") or []
        options["link"] = _link.linker(links, self.py_func.__name__)
        options["links"] = bool(links)
        options["max_registers"] = int(self.targetoptions.get("max_registers") or 0)
        self._core = _core.Kernel(resolver(self), options, self.py_func.__name__)
        return self._core

    def compile(self, signature):
        """Compiles for a signature now, such as 'void(float32[:], int32)'.

        From then on launches take what fits a declared signature: numbers are converted to its
        types, and TypeError is raised for arrays of other types. Raises CompileError where the
        kernel does not compile for it.
        """
        arguments, result = types.signature(signature)
        if result is not None and result.tag != "none":
            raise TypeError(f"[cuda.jit] a kernel returns nothing; got {result!r}; expected void")
        if len(arguments) != self._count:
            raise TypeError(
                f"[{self.__name__}] a signature has the wrong number of arguments; got "
                f"{signature}; expected {self._count}"
            )
        (self._core or self._make()).compile_for(list(arguments))
        self._declared = self._declared or Declared()
        self._declared.add(arguments, None)

    def __getitem__(self, configuration):
        try:
            known = self._launches.get(configuration)
        except TypeError:
            known = None
        if known is not None:
            return known
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise ValueError(
                "[cuda] a launch needs a grid and a block; got "
                f"{configuration!r}; expected kernel[grid, block]"
            )
        shared = parts[3] if len(parts) > 3 else 0
        stream = core_stream(parts[2]) if len(parts) > 2 else None
        if stream is not None:
            # Not remembered: the stream lives no longer than the program wants.
            plain = self[parts[0], parts[1], 0, shared]
            return Launch(self, plain.geometry, stream)
        geometry = _core.geometry(
            dimensions(parts[0], "the grid"), dimensions(parts[1], "the block"), int(shared)
        )
        launch = Launch(self, geometry, None)
        try:
            if len(self._launches) > 256:
                self._launches.clear()
            self._launches[configuration] = launch
        except TypeError:
            pass
        return launch

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """The same as kernel[griddim, blockdim, stream, sharedmem]."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """Launches over ntasks threads: kernel.forall(n)(arguments)."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args, **kwargs):
        raise ValueError(
            f"[{self.py_func.__name__}] a kernel is launched with a grid; got a plain "
            "call; expected kernel[blocks, threads](arguments)"
        )

    def _kernel_function(self):
        return program.function(self.py_func)

    def specialize(self, *args):
        """This kernel: types are found at each launch."""
        return self

    @property
    def overloads(self):
        """The kernel IR of each combination of types it is compiled for."""
        return self._inspect("ir", None)

    def inspect_llvm(self, signature=None):
        """The optimised LLVM IR for the host of each combination of argument types, or of one.

        {(array(float64, 1d, C), float64): text, …}; with a signature, its text.
        """
        return self._inspect("llvm", signature)

    def inspect_asm(self, signature=None):
        """The PTX of each combination of argument types, or of one."""
        return self._inspect("ptx", signature)

    def inspect_sass(self, signature=None):
        """Machine code needs NVIDIA's nvdisasm."""
        raise NotImplementedError("[inspect_sass] not available; expected inspect_asm, for the PTX")

    inspect_lto_ptx = inspect_sass

    @property
    def extensions(self):
        """Argument handlers: there are none."""
        return []

    def inspect_types(self, file=None):
        """Prints the kernel IR of each combination of types."""
        for key, text in self.overloads.items():
            print(key, text, sep="\n", file=file)

    def _inspect(self, what, signature):
        texts = types.by_signature(self._core.inspect(what, 90, 80) if self._core else ())
        return texts if signature is None else types.of_signature(texts, signature)

    def _report(self, block=256, shared=0, signature=None):
        if signature is not None and len(self.overloads) > 1:
            raise NotImplementedError(
                f"[{self.__name__}] figures of one of several signatures; got {signature!r}; "
                "expected none, for the one compiled last"
            )
        return (self._core or self._make()).report(block, shared) or {}

    def get_regs_per_thread(self, signature=None):
        """Registers that a thread uses; 0 without a GPU. Launch it, or compile it, first."""
        return self._report(signature=signature).get("registers", 0)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory; 0 without a GPU."""
        return self._report(signature=signature).get("shared_bytes", 0)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory a thread; 0 without a GPU."""
        return self._report(signature=signature).get("local_bytes", 0)

    def get_max_threads_per_block(self, signature=None):
        """Threads of a block that its registers allow; 0 without a GPU."""
        return self._report(signature=signature).get("max_threads", 0)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory: none is used."""
        return 0

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """The most blocks of a grid whose threads can all wait for each other."""
        x, y, z = dimensions(blockdim, "the block")
        report = self._report(x * y * z, dynsmemsize)
        if not report.get("max_threads"):
            return 1 << 16
        return report["blocks_per_multiprocessor"] * _core.cuda_properties()["MULTIPROCESSOR_COUNT"]

    def report(self, block=256, shared=0):
        """A line on what the last compiled kernel uses on the GPU, and its occupancy."""
        x, y, z = dimensions(block, "the block")
        r = self._report(x * y * z, shared)
        if not r.get("max_threads"):
            return f"{self.py_func.__name__}: no GPU"
        warps = r["blocks_per_multiprocessor"] * -(-x * y * z // 32)
        return (
            f"{self.py_func.__name__}: {r['registers']} registers, {r['shared_bytes']} + {shared} "
            f"bytes shared, {r['local_bytes']} bytes local a thread; {x * y * z} threads a block: "
            f"{r['blocks_per_multiprocessor']} blocks on a multiprocessor, occupancy "
            f"{warps / 64:.0%}"
        )

    def __repr__(self):
        return f"<cuda.jit {self.py_func.__qualname__}>"


def jit(signature_or_function=None, **options):
    """A kernel, or with device=True a function that kernels call.

    Options: device, debug (checks every index and names array, thread and line; on the CPU also
    races in shared memory, and threads that do not meet at one barrier), fastmath, launch_bounds,
    max_registers; inline, forceinline, opt, lineinfo, lto, cache and shared_memory_carveout are
    taken and have nothing to change. A kernel with a signature, or a list of them, is compiled for
    it at once; launches convert numbers to its types and take no other arrays (TypeError). A device
    function's indices are checked as its own debug and boundscheck say, else as its kernel's are;
    races and barriers are looked at where the kernel asks for it.
    """
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(
            f"[cuda.jit] no such option; got {', '.join(sorted(unknown))}; expected one "
            f"of {', '.join(sorted(_OPTIONS))}"
        )
    if options.get("link"):
        options["link"] = _link.checked(options["link"], "cuda.jit")
        if options.get("device"):
            raise NotImplementedError(
                "[cuda.jit] not yet: code that a device function is linked with; got link=… and "
                "device=True; expected link=… of the kernel, or of declare_device"
            )
    if options.get("extensions"):
        raise NotImplementedError(
            "[cuda.jit] argument handlers are not supported; got extensions=…; expected arrays and "
            "numbers"
        )
    given = signature_or_function
    if given is None:
        given = options.get("signature", options.get("argtypes"))
    function = given if given is not None and callable_function(given) else None
    declared = [] if given is None or function is not None else _several(given)
    for s in declared:
        types.signature(s)  # a mistake is told here

    _core.ask_for_gpu()

    def decorate(function):
        if options.get("device"):
            made = Dispatcher(function, {k: v for k, v in options.items() if k == "fastmath"})
            checks = True if options.get("debug") else options.get("boundscheck")
            if checks is not None:
                made._inside = checked_itself(function, bool(checks))
            return made
        kernel = Kernel(function, options)
        for s in declared:
            kernel.compile(s)
        return kernel

    return decorate if function is None else decorate(function)


def _several(given):
    """The signatures of one, or of a list of them."""
    several = isinstance(given, (list, tuple)) and not types.is_arguments(given)
    return list(given) if several else [given]


# Options that have nothing to change in the PTX of a kernel.
_OF_COMPILERS = {"lineinfo", "opt", "inline", "forceinline", "lto"}


def compile_ptx(
    function,
    signature,
    device=False,
    fastmath=False,
    cc=None,
    debug=False,
    abi=None,
    abi_info=None,
    **options,
):
    """(PTX, result type) of a kernel, or with device=True of a function that other code calls.

    For argument types, without a GPU; cc: its compute capability, (9, 0) by default. A device
    function takes numbers and CPointers of numbers. By abi="numba" its first parameter is where the
    result goes, and it returns 0, or 1 where it raises; by abi="c" it returns its result, and what
    it raises ends the kernel (trap). Its name is its own, or that of abi_info={"abi_name": name}.
    Raises NotImplementedError for other types, TypeError for unknown options.
    """
    unknown = set(options) - _OF_COMPILERS
    if unknown:
        known = _OF_COMPILERS | {"device", "fastmath", "cc", "debug", "abi", "abi_info"}
        raise TypeError(f"[compile_ptx] no such option; got {', '.join(sorted(unknown))}; expected "
                        f"one of {', '.join(sorted(known))}")  # fmt: skip
    abi = abi or "numba"
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"[compile] no such ABI; got {abi!r}; expected 'numba' or 'c'")
    if abi == "c" and not device:
        raise NotImplementedError(
            "[compile] kernels have no C ABI; got abi='c'; expected device=True, or abi='numba'"
        )
    if (abi_info and set(abi_info) - {"abi_name"}) or (abi_info and not device):
        raise TypeError(
            f"[compile] no such part of an ABI here; got {', '.join(sorted(abi_info))}; expected "
            "'abi_name', of a device function"
        )
    function = getattr(function, "py_func", function)
    arguments, result = types.signature(signature)
    kernel = Kernel(function, {"fastmath": fastmath, "debug": debug})
    major, minor = cc or (9, 0)
    sm = major * 10 + minor
    if not device:
        text = kernel._make().ptx(list(arguments), sm, 80)
        return text.replace(".entry k(", f".entry {function.__name__}("), result
    if len(arguments) != kernel._count:
        raise TypeError(
            f"[{function.__name__}] a signature has the wrong number of arguments; got "
            f"{signature}; expected {kernel._count}"
        )
    name = _link.function_name((abi_info or {}).get("abi_name", function.__name__), "compile")
    inside = [_link.pointed(t, "compile") for t in arguments]
    if result is not None and result.tag != "none":
        _link.number_of(result, "compile")
    text, found = kernel._make().device_ptx(inside, result, name, abi == "c", sm, 80)
    return text, result or types.from_core([found])[0]


def compile_ptx_for_current_device(function, signature, **options):
    """compile_ptx for the GPU in use."""
    capability = _core.cuda_properties()["compute_capability"]
    return compile_ptx(function, signature, cc=tuple(capability), **options)


def compile(function, signature, output="ptx", device=True, abi=None, **options):
    """compile_ptx of a device function with C's ABI, unless said otherwise; output: 'ptx'."""
    if output != "ptx":
        raise NotImplementedError(f"[compile] no such output; got {output!r}; expected 'ptx'")
    abi = abi or ("c" if device else "numba")
    return compile_ptx(function, signature, device=device, abi=abi, **options)


def compile_for_current_device(function, signature, output="ptx", **options):
    """compile for the GPU in use."""
    capability = _core.cuda_properties()["compute_capability"]
    return compile(function, signature, output, cc=tuple(capability), **options)
